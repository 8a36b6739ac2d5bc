"""relay.Client and relay.AsyncClient: the same verbs, models and errors, over a real relay."""

from __future__ import annotations

import contextlib
import gc
import json
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

import relay
from relay import AsyncClient, Client, Settings, errors
from relay.client import AsyncSession, Session
from relay.client.calls import error_of, reader
from relay.client.following import Following
from relay.faces.http.sse import HEARTBEAT, OPENING, encode
from relay.models.breakpoints import BreakpointSpec
from relay.models.launch import LaunchRequest
from relay.models.output import OutputEntry
from relay.operations.output.streaming import StreamItem
from relay.routes.table import TABLE
from tests.e2e.api import Api
from tests.e2e.conftest import running_relay
from tests.programs import Program


def in_thread(work: Callable[[], Any]) -> Any:
    return trio.to_thread.run_sync(work)


def url_of(api: Api) -> str:
    return str(api.client.base_url)


# The table ------------------------------------------------------------------------------


def test_both_clients_have_a_verb_for_every_route() -> None:
    for line in TABLE:
        blocking, asynchronous = (
            (Session, AsyncSession) if "{session_id}" in line.path else (Client, AsyncClient)
        )
        assert getattr(blocking, line.name) is getattr(asynchronous, line.name) is line


def test_a_verb_has_the_name_and_the_route_that_it_is() -> None:
    with Client("http://127.0.0.1:1") as client:
        method = client.session("sess_1").step_over
        assert method.__name__ == "step_over"
        assert method.__doc__ is not None
        assert "POST /sessions/{session_id}/step-over" in method.__doc__


@pytest.mark.parametrize(
    ("code", "spared"),
    [
        ("import relay", {"httpx", "trio", "pydantic"}),
        ("import relay.__main__", {"httpx", "trio", "relay.models", "rich"}),
        ("from relay import Hub, Settings, open_relay", {"httpx", "quart"}),
        (
            "from relay import Client",
            {
                "relay.hub",
                "relay.session",
                "relay.client.asynchronous",
                "relay.operations",
                "relay.faces",
            },
        ),
        (
            "from relay import AsyncClient",
            {"relay.hub", "relay.session", "relay.operations", "relay.faces"},
        ),
    ],
)
def test_what_is_not_used_is_not_imported(code: str, spared: set[str]) -> None:
    """A command waits for each import."""
    asked = f"import sys; {code}; assert not {spared!r} & set(sys.modules), sorted(sys.modules)"
    subprocess.run([sys.executable, "-c", asked], check=True, timeout=60)


def test_the_relay_has_what_it_names() -> None:
    for name in relay.__all__:
        assert getattr(relay, name)
    with pytest.raises(AttributeError, match="Cleint"):
        _ = relay.Cleint


# Sessions -------------------------------------------------------------------------------

BASKET = """
def total(order):
    result = 0
    for name, count in order:
        result += len(name) * count  # @sum
    return result

print("total\\x85\\u2028", total([("bread", 2), ("cheese", 1)]))
print("hello", input("name? "))
"""


async def test_a_whole_session_from_a_blocking_program(
    api: Api, program: Callable[..., Program]
) -> None:
    await in_thread(partial(blocking_session, url_of(api), program(BASKET)))


def blocking_session(url: str, script: Program) -> None:
    with Client(url) as client:
        assert client.health().active_sessions == 0
        assert "/health" in client.request("GET", "/openapi.json")["paths"]
        assert "/health" in client.request("GET", "/api/v1/openapi.json")["paths"]
        with pytest.raises(errors.RouteNotFound):  # it stays with the server that has its token
            client.request("GET", "http://elsewhere.invalid/health")
        assert client.change_config(max_sessions=7).max_sessions == 7
        assert "relay_sessions_limit 7.0" in client.metrics()
        with client.create_session(
            name="basket",
            breakpoints=[BreakpointSpec(file=script.text, line=script.line("sum"))],
            launch=LaunchRequest(script=script.text, wait=30, include=["locals"]),
        ) as session:
            look_around(client, session, script)
            event_cursor = talk(session)
            kinds = [told.kind for told in session.events(cursor=event_cursor)]
            assert kinds[-2:] == ["terminated", "end"]
            assert client.sessions(status="terminated").total == 1  # type: ignore[arg-type]
        with pytest.raises(errors.SessionNotFound) as gone:
            session.view()
        assert gone.value.details["session_id"] == session.id
        assert "GET /api/v1/sessions" in gone.value.details["suggestion"]


def look_around(client: Client, session: Any, script: Program) -> None:
    created = session.created
    assert created.status == "paused"
    assert [v.name for v in created.stop.locals] == ["order", "result", "name", "count"]
    (breakpoint,) = created.breakpoints
    assert session.evaluate("len(name) * count").result == "10"
    assert session.evaluate("1 / 0").error.startswith("ZeroDivisionError")
    with pytest.raises(errors.EvaluateError) as mistake:
        session.evaluate("1 +")
    assert mistake.value.status == 400
    assert session.stack(levels=1).frames[0].name == "total"
    summary = session.frame_variables(0, summary=True)
    assert [v.type for v in summary.variables] == ["list", "int", "str", "int"]
    changed = session.set_variable(summary.variables_reference, name="result", value="100")
    assert changed.value == "100"
    assert (
        session.change_breakpoint(breakpoint.id, condition="count == 1").condition == "count == 1"
    )
    assert session.change_breakpoint(breakpoint.id, condition=None).condition is None
    assert session.add_watch("result").expression == "result"
    result = session.continue_(wait=30, include=["watches"])
    assert result.stop.watches[0].result == "110"
    assert session.delete_breakpoint(breakpoint.id).deleted
    assert session.request("GET", "/status")["status"] == "paused"
    assert client.request("get", f"/sessions/{session.id}/stacktrace", query={"levels": 1})


def talk(session: Any) -> str:
    """Let the program ask, answer it, and follow what it prints; a cursor from before."""
    cursor: str = session.event_page(limit=1000).next_cursor
    session.continue_()
    assert session.event_page(cursor=cursor, types=["input_requested"], timeout=30).events
    assert session.status().prompt == "name? "
    session.send_input("Ada\n")
    printed = list(session.follow_output(category="stdout"))
    text = "".join(told.data.output for told in printed if told.kind == "output")
    assert text == "total\x85\u2028 116\nname? hello Ada\n"
    assert printed[-1].data.exit_code == 0
    again = list(session.follow_output(category="stdout", cursor=printed[0].cursor))
    assert again == printed[1:]
    exported = session.export()
    copy = session.client.import_session(**exported.model_dump(mode="json"))
    assert copy.view().status == "created"
    copy.delete()
    return cursor


async def test_an_asynchronous_program_follows_events_and_is_cancelled_cleanly(
    api: Api, program: Callable[..., Program]
) -> None:
    script = program("import time\nprint('ready')\nhere = 1  # @here\ntime.sleep(600)\n")
    async with AsyncClient(url_of(api)) as client:
        with trio.move_on_after(60) as scope:
            async with await client.create_session() as session, trio.open_nursery() as nursery:
                seen: list[str] = []
                stopped = trio.Event()

                async def follow() -> None:
                    async for told in session.events(types=["stopped", "continued"]):
                        seen.append(told.kind)
                        stopped.set()

                nursery.start_soon(follow)
                await session.set_breakpoints(file=script.text, line=script.line("here"))
                result = await session.launch(script=script.text, wait=30)
                assert result.current_location is not None
                await stopped.wait()
                assert (await session.scopes()).scopes[0].name
                await session.continue_()
                scope.cancel()  # while it follows a stream
                await trio.sleep_forever()
        assert scope.cancelled_caught
        assert seen[0] == "stopped"
        assert (await client.sessions()).total == 0, "a cancelled block deletes its session, too"
        with pytest.raises(errors.InvalidRequest) as refused:
            await client.create_session(name=5, launch=LaunchRequest(module="m"))  # type: ignore[arg-type]
        assert refused.value.details["errors"][0]["field"] == "name"
        assert "name: must be a string" in str(refused.value)
        with pytest.raises(errors.InvalidRequest) as unknown:
            await client.create_session(nmae="a", breakpoints=[{"function": "a b"}])  # type: ignore[call-arg,list-item]
        found = {item["field"]: item["message"] for item in unknown.value.details["errors"]}
        assert "did you mean 'name'?" in found["nmae"]
        assert found["breakpoints[0].function"].startswith("must name a function, such as ")
        with pytest.raises(errors.InvalidRequest, match=r"^expression: must be a string$"):
            await client.session("sess_1").evaluate(5)  # type: ignore[arg-type]
        with pytest.raises(errors.RouteNotFound, match=r"sessions/\.\./health"):
            await client.session("../health").status()
        with pytest.raises(errors.SessionNotFound):
            await anext(client.session("sess_00000000").events())


async def test_a_stream_that_is_left_leaves_no_generator_unfinished(api: Api) -> None:
    """One that was, trio warns of as it is collected: here at once."""
    async with AsyncClient(url_of(api)) as client, await client.create_session() as session:
        await session.set_breakpoints(function="never")
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            async with contextlib.aclosing(session.events()) as events:
                async for event in events:
                    assert event.kind == "breakpoint"
                    break
            del events
            gc.collect()
        assert [str(one.message) for one in warned] == []
        assert (await client.health()).status == "healthy"


async def test_what_a_block_failed_with_is_told_though_its_session_cannot_be_deleted() -> None:
    with Client("http://127.0.0.1:1") as client:
        with pytest.raises(LookupError, match="mine"), client.session("sess_1"):
            raise LookupError("mine")
        with pytest.raises(errors.RelayUnreachable), client.session("sess_1"):
            pass
    async with AsyncClient("http://127.0.0.1:1") as client_of_trio:
        with pytest.raises(LookupError, match="mine"):
            async with client_of_trio.session("sess_1"):
                raise LookupError("mine")
        with pytest.raises(errors.RelayUnreachable):
            async with client_of_trio.session("sess_1"):
                pass


# Where it is ----------------------------------------------------------------------------


async def test_a_unix_socket_and_a_token_are_found_as_given_or_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(
        port=0, state_dir=tmp_path / "state", project_root=tmp_path, token="a long secret"
    )
    for name in ("RELAY_URL", "RELAY_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    async with running_relay(settings) as api:
        async with AsyncClient(url_of(api)) as client:
            with pytest.raises(errors.Unauthorized):
                await client.health()
        monkeypatch.setenv("RELAY_URL", url_of(api))
        monkeypatch.setenv("RELAY_TOKEN", "a long secret")
        async with AsyncClient() as client:
            assert (await client.config()).token_required
    socket_settings = settings.model_copy(update={"uds": tmp_path / "relay.sock", "token": None})
    monkeypatch.delenv("RELAY_TOKEN")
    async with trio.open_nursery() as nursery, relay.open_relay(socket_settings) as hub:
        from relay.faces.http.server import serve

        url = await nursery.start(partial(serve, hub, socket_settings))
        async with AsyncClient(uds=tmp_path / "relay.sock") as client:
            assert (await client.health()).status == "healthy"
        monkeypatch.setenv("RELAY_URL", url)
        await in_thread(health)
        nursery.cancel_scope.cancel()
    with pytest.raises(errors.RelayUnreachable, match="unix:") as refused:
        await in_thread(health)
    assert "relay serve" in refused.value.details["suggestion"]
    for wrong in ("127.0.0.1:5679", "ftp://host", "http://", "http://a:99999", "http://[::1", ""):
        with pytest.raises(ValueError, match="no address of a relay"):
            Client(wrong)
    for wrong in ("two\nlines", "größer"):
        with pytest.raises(ValueError, match="printable ASCII") as refusal:
            Client(token=wrong)
        assert wrong not in str(refusal.value)


def health() -> None:
    with Client() as client:
        assert client.health().status == "healthy"


async def test_what_answers_but_is_no_relay_is_told_as_that() -> None:
    async def answer(stream: trio.SocketStream) -> None:
        async with stream:
            await stream.receive_some()
            await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    async with trio.open_nursery() as nursery:
        (listener,) = await nursery.start(partial(trio.serve_tcp, answer, 0, host="127.0.0.1"))
        url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
        async with AsyncClient(url) as client:
            with pytest.raises(errors.RelayUnreachable, match="is no relay"):
                await client.health()
        nursery.cancel_scope.cancel()


OF_ANOTHER_VERSION = {
    "GET /api/v1/health": (200, {"status": "healthy", "version": "0.0.1"}),
    "POST /api/v1/sessions": (201, {"session_id": "sess_00000001", "state": "new"}),
    "DELETE /api/v1/sessions/sess_00000001": (200, {}),
    "POST /api/v1/sessions/sess_1/hang-report": (200, {"text": "nothing hangs"}),
    "POST /api/v1/sessions/sess_1/evaluate": (400, "INVALID_REQUEST"),
    "GET /api/v1/sessions/sess_1/dap-log": (404, "ROUTE_NOT_FOUND"),
    "GET /api/v1/sessions/sess_1/report": (400, "SESSION_GONE"),
}


async def answer_as_another_version(asked: list[str], stream: trio.SocketStream) -> None:
    """Answers by OF_ANOTHER_VERSION, each on a connection of its own."""
    async with stream:
        received = b""
        while b"\r\n\r\n" not in received:
            received += await stream.receive_some()
        length = re.search(rb"(?i)content-length: (\d+)", received)
        while length and len(received.partition(b"\r\n\r\n")[2]) < int(length[1]):
            received += await stream.receive_some()
        head = received.partition(b" HTTP/1.1")[0].decode().partition("?")[0]
        asked.append(head)
        status, data = OF_ANOTHER_VERSION[head]
        complaint = {"field": "max_value", "message": "is unknown (known: expression)"}
        body = {"success": status < 300, "data": data, "error": None, "meta": {}}
        if isinstance(data, str):
            details = {"errors": [complaint], "suggestion": "Correct what is named"}
            body["error"] = {"code": data, "message": "max_value: is unknown", "details": details}
        content = json.dumps(body).encode()
        fields = f"Content-Type: application/json\r\nContent-Length: {len(content)}"
        answer = f"HTTP/1.1 {status} -\r\nConnection: close\r\n{fields}\r\n\r\n".encode()
        await stream.send_all(answer + content)


@pytest.mark.parametrize("is_blocking", [True, False])
async def test_what_another_version_answers_otherwise_is_told_with_both_versions(
    is_blocking: bool,
) -> None:
    """And a session that it has made, which nobody could name, is taken away."""
    asked: list[str] = []
    serve = partial(answer_as_another_version, asked)
    async with trio.open_nursery() as nursery:
        (listener,) = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
        url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"

        async def refusal(name: str, *words: Any) -> errors.RelayError:
            call = partial(blocking_call, url, name, *words)
            with pytest.raises(errors.RelayError) as refused:
                await (in_thread(call) if is_blocking else awaited_call(url, name, *words))
            return refused.value

        versions = f"the relay at {url} is of version 0.0.1, this one is {relay.__version__}: "
        for call, why, kind in (
            (("create_session",), "its answer is no CreatedSession", errors.RelayUnreachable),
            (("hang_report",), "its answer is no HangReport", errors.RelayUnreachable),
            (("evaluate", "x"), "max_value: is unknown", errors.InvalidRequest),
            (("dap_log",), "max_value: is unknown", errors.RouteNotFound),
        ):
            error = await refusal(*call)
            assert (type(error).code, error.message) == (kind.code, versions + why)
            assert "relay stop" in str(error.suggestion)
        assert "DELETE /api/v1/sessions/sess_00000001" in asked
        other = await refusal("report")
        assert (other.code, other.message) == ("SESSION_GONE", "max_value: is unknown")
        nursery.cancel_scope.cancel()


def blocking_call(url: str, name: str, *words: Any) -> None:
    with Client(url) as client:
        getattr(client if name == "create_session" else client.session("sess_1"), name)(*words)


async def awaited_call(url: str, name: str, *words: Any) -> None:
    async with AsyncClient(url) as client:
        of = client if name == "create_session" else client.session("sess_1")
        await getattr(of, name)(*words)


# Without IO -----------------------------------------------------------------------------


def test_an_error_of_a_newer_relay_keeps_its_code_and_its_way_out() -> None:
    error = error_of("BRAND_NEW", "what", {"suggestion": "do this", "suggestions": 1})
    assert type(error) is errors.RelayError
    assert (error.code, error.message) == ("BRAND_NEW", "what")
    assert error.details == {"suggestion": "do this", "suggestions": 1}


def test_a_stream_that_breaks_goes_on_where_it_was_and_gives_up_when_nothing_comes() -> None:
    following: Following[OutputEntry] = Following(None, reader(OutputEntry))  # type: ignore[arg-type]
    entry = (
        b'id: c1\nevent: output\ndata: {"category":"stdout","output":"a: b",'
        b'"timestamp":"2026-01-01T00:00:00.000Z","of_a_newer_relay":1}\n\n'
    )
    told = [told for byte in entry for told in following.take(bytes([byte]))]
    assert [(t.cursor, t.kind, t.data.output) for t in told] == [("c1", "output", "a: b")]  # type: ignore[union-attr]
    assert list(following.take(b"retry: 1000\n\n: still here\n\nid: c2\nev")) == []
    following.connection_ended("there", "cut")
    assert following.headers["Last-Event-ID"] == "c1"
    with pytest.raises(errors.RelayUnreachable, match="cut"):
        following.connection_ended("there", "cut")
    end = (
        b'id: c3\nevent: end\ndata: {"session_status":"terminated","reason":null,"exit_code":0}\n\n'
    )
    assert [t.kind for t in following.take(end)] == ["end"]
    following.connection_ended("there", "cut")
    assert following.over


@given(
    st.lists(st.text() | st.text("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029: a"), min_size=1),
    st.sampled_from([b"\n", b"\r\n"]),
    st.integers(1, 50),
)
def test_what_a_program_prints_ends_no_line_of_a_stream(
    texts: list[str], end: bytes, size: int
) -> None:
    moment = "2026-01-01T00:00:00.000Z"
    entries = [OutputEntry(category="stdout", output=text, timestamp=moment) for text in texts]
    items = [StreamItem(f"c{n}", "output", entry) for n, entry in enumerate(entries)]
    sent = (OPENING + encode(items) + HEARTBEAT).replace(b"\n", end)
    following: Following[OutputEntry] = Following(None, reader(OutputEntry))  # type: ignore[arg-type]
    pieces = [sent[at : at + size] for at in range(0, len(sent), size)]
    told = [told for piece in pieces for told in following.take(piece)]
    assert [(one.cursor, one.data) for one in told] == [(one.cursor, one.data) for one in items]
