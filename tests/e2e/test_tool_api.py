"""The run-to-breakpoint tool API, over a real relay: to the letter of its document."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio
from openapi_spec_validator import OpenAPIV31SpecValidator

from relay import Settings, open_relay
from relay.errors import catalog
from relay.faces.common.tool_calls import CALLS
from relay.faces.tool.document import document, errors_of
from relay.operations.tool import calls as operations
from tests.e2e.api import Api
from tests.e2e.conftest import running_relay
from tests.e2e.served import until
from tests.programs import Program

Write = Callable[..., Program]

LOOP = """
    import os, sys
    def total(numbers, label):
        result = 0
        for number in numbers:
            result += number  # @add
        return result  # @return
    big, nested = "x" * 1000, [[n] * 9 for n in range(900)]
    answer = total([10, 20, 12.5], sys.argv[1])  # @call
    print(label := os.environ["MODE"], answer)  # @print
    """


class Tool:
    """A client of the tool API; each answer is compared with the document's fields."""

    def __init__(self, api: Api) -> None:
        self.client = httpx.AsyncClient(
            verify=False,
            base_url=str(api.client.base_url).replace("/api/v1/", "/tool/v0/"),
            timeout=60,
            trust_env=False,
        )

    async def call(self, name: str, session: str = "", **body: Any) -> Any:
        call = CALLS[name]
        path = call.path.replace("{sessionId}", session)
        sent: dict[str, Any] = {"json": body} if call.body is not None else {}
        response = await self.client.request(call.method, path, **sent)
        answer = response.json()
        assert response.status_code == 200, answer
        fields = {field.alias for field in call.result.model_fields.values()}
        assert set(answer) == fields
        return answer

    async def refused(self, method: str, path: str, **kwargs: Any) -> tuple[int, str, str]:
        response = await self.client.request(method, path, **kwargs)
        answer = response.json()
        assert set(answer) == {"error"}, answer
        assert set(answer["error"]) == {"type", "message"}
        assert response.headers["x-request-id"]
        return response.status_code, answer["error"]["type"], answer["error"]["message"]


@asynccontextmanager
async def connected(settings: Settings) -> AsyncIterator[Tool]:
    async with running_relay(settings) as api:
        tool = Tool(api)
        async with tool.client:
            yield tool


@pytest.fixture
async def tool(settings: Settings) -> AsyncIterator[Tool]:
    async with connected(settings) as tool:
        yield tool


async def test_a_session_runs_from_place_to_place_and_ends(tool: Tool, program: Write) -> None:
    script = program(LOOP, "src/main.py")
    env = {"MODE": "fast"}
    session = (await tool.call("sessions_create", entry="src/main.py", args=["l"], env=env))[
        "sessionId"
    ]
    idle = await tool.call("sessions_state", session)
    assert idle == {"status": "idle", "lastBreakpoint": None, "timings": None}

    where = {"file": "src/main.py", "line": script.line("add")}
    first = await tool.call("sessions_breakpoint", session, **where)
    assert first == {
        "hit": True,
        "frameInfo": {"file": script.text, "line": where["line"]},
        "locals": {
            "numbers": {"type": "list", "repr": "[10, 20, 12.5]", "isTruncated": False},
            "label": {"type": "str", "repr": "'l'", "isTruncated": False},
            "result": {"type": "int", "repr": "0", "isTruncated": False},
            "number": {"type": "int", "repr": "10", "isTruncated": False},
        },
        "completed": False,
        "error": None,
    }
    second = await tool.call("sessions_continue", session, **where)
    assert second["locals"]["result"]["repr"] == "10"
    state = await tool.call("sessions_state", session)
    assert state["status"] == "paused"
    assert state["lastBreakpoint"] == {**where, "hitCount": 2}
    assert 0 < state["timings"]["lastRunMs"] < 60_000
    assert 0 < state["timings"]["totalCpuTimeMs"] < 60_000

    # Its own line only: the loop goes on without a stop, and counts of places are apart.
    after = await tool.call(
        "sessions_continue", session, file="src/main.py", line=script.line("print")
    )
    assert after["hit"]
    assert after["locals"]["answer"] == {"type": "float", "repr": "42.5", "isTruncated": False}
    assert "__name__" not in after["locals"]
    for name in ("big", "nested"):
        cut = after["locals"][name]
        assert cut["isTruncated"]
        assert 60 < len(cut["repr"]) <= 256
    assert (await tool.call("sessions_state", session))["lastBreakpoint"]["hitCount"] == 1

    over = {"hit": False, "frameInfo": None, "locals": None, "completed": True, "error": None}
    assert await tool.call("sessions_continue", session, **where) == over
    assert await tool.call("sessions_continue", session, **where) == over
    assert (await tool.call("sessions_state", session))["status"] == "completed"

    # Another run of the same session counts anew.
    again = await tool.call("sessions_breakpoint", session, **where)
    assert again["locals"]["result"]["repr"] == "0"
    assert (await tool.call("sessions_state", session))["lastBreakpoint"]["hitCount"] == 1
    assert await tool.call("sessions_end", session) == {"ended": True}
    gone = await tool.refused("GET", f"/sessions/{session}")
    assert gone[:2] == (404, "SessionNotFound")


async def test_what_goes_wrong_in_the_program_is_an_answer(tool: Tool, program: Write) -> None:
    broken = program(
        """
        import sys
        def divide(a, b):
            return a / b
        if sys.argv[1:]:
            sys.exit(3)
        divide(1, 0)
        never = 1  # @never
        """,
        "broken.py",
    )
    never = {"file": "broken.py", "line": broken.line("never")}
    failing = (await tool.call("sessions_create", entry="broken.py"))["sessionId"]
    answer = await tool.call("sessions_breakpoint", failing, **never)
    error = answer.pop("error")
    assert answer == {"hit": False, "frameInfo": None, "locals": None, "completed": False}
    assert (error["type"], error["message"]) == ("ZeroDivisionError", "division by zero")
    assert error["traceback"].startswith("Traceback (most recent call last):")
    assert "in divide" in error["traceback"]
    assert (await tool.call("sessions_state", failing))["status"] == "error"
    ended = await tool.call("sessions_continue", failing, **never)
    assert (ended["completed"], ended["error"]) == (False, error)
    assert (await tool.call("sessions_state", failing))["status"] == "error"

    leaving = (await tool.call("sessions_create", entry="broken.py", args=["x"]))["sessionId"]
    left = await tool.call("sessions_breakpoint", leaving, **never)
    assert left["completed"]
    assert left["error"]["type"] == "SystemExit"
    assert "3" in left["error"]["message"]

    program("x = 1\nif x\n    pass\n", "typo.py")
    typo = (await tool.call("sessions_create", entry="typo.py"))["sessionId"]
    refused = await tool.call("sessions_breakpoint", typo, file="typo.py", line=1)
    assert refused["error"]["type"] == "SyntaxError"
    assert "line 2" in refused["error"]["traceback"]
    assert (await tool.call("sessions_state", typo))["status"] == "idle"


async def test_a_run_that_takes_too_long_is_told_and_not_lost(
    tool: Tool, program: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = program(
        """
        import os, time
        while not os.path.exists("go"):
            time.sleep(0.01)
        here = 1  # @here
        there = 2  # @there
        """,
        "slow.py",
    )
    session = (await tool.call("sessions_create", entry="slow.py"))["sessionId"]
    here = {"file": "slow.py", "line": script.line("here")}
    monkeypatch.setattr(operations, "RUN_SECONDS", 0.2)
    late = await tool.call(
        "sessions_breakpoint", session, file="slow.py", line=script.line("there")
    )
    assert late["error"]["type"] == "TimeoutError"
    assert not late["completed"]
    assert (await tool.call("sessions_state", session))["status"] == "running"
    # Another place takes over; the program comes there between two calls.
    assert (await tool.call("sessions_continue", session, **here))["error"][
        "type"
    ] == "TimeoutError"
    (tmp_path / "go").touch()
    monkeypatch.setattr(operations, "RUN_SECONDS", 20.0)
    with trio.fail_after(60):
        while (await tool.call("sessions_state", session))["status"] == "running":
            pass
    state = await tool.call("sessions_state", session)
    assert state["lastBreakpoint"] == {**here, "hitCount": 1}
    found = await tool.call("sessions_continue", session, **here)
    assert found["hit"]
    assert "here" not in found["locals"]
    assert (await tool.call("sessions_state", session))["lastBreakpoint"]["hitCount"] == 1


async def test_one_run_at_a_time_and_the_end_of_the_session_ends_it(
    tool: Tool, program: Write, tmp_path: Path
) -> None:
    script = program(
        """
        import pathlib, time
        pathlib.Path("began").touch()
        time.sleep(600)
        here = 1  # @here
        """,
        "asleep.py",
    )
    session = (await tool.call("sessions_create", entry="asleep.py"))["sessionId"]
    path = f"/sessions/{session}/breakpoint"
    body = {"file": "asleep.py", "line": script.line("here")}
    told: list[tuple[int, str, str]] = []

    async def run() -> None:
        told.append(await tool.refused("POST", path, json=body))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        await until((tmp_path / "began").exists, "it did not begin")
        busy = await tool.refused("POST", path, json=body)
        assert busy[:2] == (409, "InvalidSessionState")
        assert "another call waits" in busy[2]
        assert await tool.call("sessions_end", session) == {"ended": True}
    assert told[0][:2] == (409, "InvalidSessionState")
    assert "was ended" in told[0][2]


async def test_bad_input_is_refused_in_the_documents_shape_and_creates_nothing(
    tool: Tool, program: Write, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    program("x = 1\n\n# nothing\n", "ok.py")
    outside = tmp_path_factory.mktemp("outside") / "secret.py"
    outside.write_text("secret = 1\n")
    (tmp_path / "link.py").symlink_to(outside)
    (tmp_path / "folder").symlink_to(outside.parent)
    bad_bodies: list[tuple[dict[str, Any], str]] = [
        ({}, "entry: is required"),
        ({"entry": 3}, "entry: must be a string"),
        ({"entry": str(tmp_path / "ok.py")}, "relative to the project root"),
        ({"entry": "~/ok.py"}, "relative to the project root"),
        ({"entry": "folder/../ok.py"}, "'..'"),
        ({"entry": "missing.py"}, "no such file"),
        ({"entry": "link.py"}, "leads out"),
        ({"entry": "folder/secret.py"}, "leads out"),
        ({"entry": "ok.py", "args": ["a"] * 21}, "at most 20"),
        ({"entry": "ok.py", "args": ["a" * 513]}, "at most 512"),
        ({"entry": "ok.py", "env": {str(n): "" for n in range(51)}}, "at most 50"),
        ({"entry": "ok.py", "env": {"k" * 65: ""}}, "64"),
        ({"entry": "ok.py", "env": {"k": "v" * 1025}}, "1024"),
        ({"entry": "ok.py", "env": {"a=b": ""}}, "env"),
        ({"entry": "ok.py", "pythonPath": "python3"}, "absolute path"),
        ({"entry": "ok.py", "pythonPath": "/no/python"}, "no such executable"),
        ({"entry": "ok.py", "python_path": "/x"}, "did you mean 'pythonPath'"),
    ]
    for body, said in bad_bodies:
        status, kind, message = await tool.refused("POST", "/sessions", json=body)
        assert (status, kind) == (400, "InvalidRequest")
        assert said in message
    both = await tool.refused("POST", "/sessions", json={"args": 1})
    assert "entry: is required; " in both[2] or "; entry: is required" in both[2]

    session = (await tool.call("sessions_create", entry="ok.py"))["sessionId"]
    run = f"/sessions/{session}/breakpoint"
    for body, kind in (
        ({"file": "ok.py"}, "InvalidRequest"),
        ({"file": "ok.py", "line": 0}, "InvalidRequest"),
        ({"file": "ok.py", "line": True}, "InvalidRequest"),
        ({"file": "link.py", "line": 1}, "InvalidRequest"),
        ({"file": "ok.py", "line": 99}, "BreakpointInvalidLine"),
        ({"file": "ok.py", "line": 3}, "BreakpointInvalidLine"),
    ):
        assert (await tool.refused("POST", run, json=body))[:2] == (400, kind), body
    for method, path, expected in (
        ("POST", "/sessions/none/continue", (404, "SessionNotFound")),
        ("POST", f"/sessions/{session}/continue", (409, "InvalidSessionState")),
        ("PUT", "/sessions", (405, "MethodNotAllowed")),
        ("GET", "/nothing", (404, "RouteNotFound")),
        ("GET", f"/sessions/{session}?x=1", (400, "InvalidParameter")),
    ):
        place: dict[str, Any] = {"json": {"file": "ok.py", "line": 1}} if method == "POST" else {}
        assert (await tool.refused(method, path, **place))[:2] == expected
    assert (await tool.refused("POST", run, content=b"{"))[:2] == (415, "UnsupportedMediaType")
    foreign = await tool.refused("GET", f"/sessions/{session}", headers={"Host": "evil.example"})
    assert foreign[:2] == (403, "Forbidden")
    assert (await tool.call("sessions_state", session))["status"] == "idle"
    sessions = await tool.client.get("/../../api/v1/sessions")
    assert [item["session_id"] for item in sessions.json()["data"]["items"]] == [session]


async def test_the_document_is_valid_and_served_and_has_every_call(tool: Tool) -> None:
    served = (await tool.client.get("/openapi.json")).json()
    assert served == document()
    assert list(OpenAPIV31SpecValidator(served).iter_errors()) == []
    names = {op["operationId"] for path in served["paths"].values() for op in path.values()}
    assert names == set(CALLS)
    known = set(catalog().values())
    assert all(set(errors_of(call)) <= known for call in CALLS.values())
    whole = (await tool.client.get("/../../api/v1/openapi.json")).json()
    assert whole["externalDocs"]["url"] == "/tool/v0/openapi.json"


async def test_the_calls_serve_a_face_without_http(settings: Settings, program: Write) -> None:
    program("x = 1\n", "ok.py")
    async with open_relay(settings) as hub:
        create, state = CALLS["sessions_create"], CALLS["sessions_state"]
        made = await create.operation(hub, create.model.model_validate({"entry": "ok.py"}))
        shown = made.model_dump()
        told = await state.operation(hub, state.model.model_validate(shown))
        assert told.model_dump(mode="json")["status"] == "idle"
