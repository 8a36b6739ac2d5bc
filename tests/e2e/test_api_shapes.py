"""Every endpoint answers in the shape that the API document gives it, and that OpenAPI tells.

Every response of this module goes through a witness, which holds it against the OpenAPI
document; the shapes of the API document stand in `seed_schemas.py`.
"""

from __future__ import annotations

import copy
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio

from tests.e2e.api import Api, Refused, Session
from tests.e2e.seed_schemas import SHAPES, TIME
from tests.e2e.witness import Undocumented, Witness, problems_of, served_document
from tests.programs import Program

SECONDS = 60

TOUR = """
    import sys
    import threading
    import time

    # @comment
    released = False

    def helper(items):
        total = sum(items)  # @total
        return [total]

    def spin():
        while not released:
            time.sleep(0.01)

    def main():
        items = list(range(10_000))
        config = {"debug": True}
        print("to stdout")
        print("to stderr", file=sys.stderr)
        result = helper(items)  # @call
        after = len(result)  # @after
        worker = threading.Thread(target=print, args=("in a thread",))
        worker.start()
        worker.join()
        spin()
        raise ValueError("the end")  # @raise

    main()
"""


@pytest.fixture
async def witness(api: Api) -> Witness:
    """Watches every response of `api`."""
    return Witness().watch(api)


def assert_shapes(witness: Witness) -> set[tuple[str, str]]:
    """Every success so far has the shape of its endpoint; gives the endpoints seen."""
    seen = set()
    for method, path, status, body in witness.answers:
        shape = SHAPES.get((method, path))
        if shape is None or status >= 300:
            continue
        problems = problems_of(body["data"], shape)
        assert not problems, "\n  ".join([f"{method} {path}: {body['data']}", *problems])
        seen.add((method, path))
    return seen


async def test_every_endpoint_has_its_shape(
    api: Api, witness: Witness, program: Callable[..., Program]
) -> None:
    tour = program(TOUR)
    await visit_server(api)
    session = await visit_breakpoints(api, tour)
    await visit_stop(session, tour)
    await visit_steps(session, tour)
    await visit_run(session)
    await visit_end(session, tour)
    await visit_attached(api, program)
    assert assert_shapes(witness) == set(SHAPES)


async def visit_server(api: Api) -> None:
    await api.get("/health")
    info = await api.get("/info")
    assert {path for _, path in SHAPES} <= {p.removeprefix("/api/v1") for p in info["endpoints"]}


async def visit_breakpoints(api: Api, tour: Program) -> Session:
    session = await api.session(name="tour", timeout_minutes=5)
    await session.get()
    call = {"source": {"path": tour.text}, "line": tour.line("call"), "condition": "items"}
    blank = {
        "source": {"path": tour.text},
        "line": tour.line("comment"),
        "hit_condition": ">5",
        "enabled": False,
    }
    log = {
        "source": {"path": tour.text},
        "line": tour.line("after"),
        "log_message": "after {after}",
    }
    set_ = await session.post("/breakpoints", breakpoints=[call, blank, log])
    assert [bp["verified"] for bp in set_["breakpoints"]] == [True, False, True]
    assert set_["breakpoints"][1]["message"].startswith("No executable code at line")
    listed = await session.get("/breakpoints", verified="true")
    assert listed["total"] == 2
    await session.delete("/breakpoints/bp_2")
    return session


async def visit_stop(session: Session, tour: Program) -> None:
    launched = await session.launch(tour.text, args=["--verbose"], env={"DEBUG": "1"})
    assert launched["program"] == {
        "script": tour.text,
        "args": ["--verbose"],
        "cwd": str(tour.path.parent),
    }
    assert (await session.get())["program"]["env"] == {"DEBUG": "1"}
    await session.api.get("/sessions", status="paused")
    await session.get("/threads")
    assert (await session.get("/stacktrace", levels=1))["total_frames"] == 2
    await session.get("/stacktrace")
    seen = await session.locals()
    assert seen["items"]["indexed_variables"] == 10_000
    assert seen["items"]["truncated"] is True
    assert seen["config"]["named_variables"] == 1
    page = await session.get(
        "/variables", variables_reference=seen["items"]["variables_reference"], start=100, count=100
    )
    assert [v["value"] for v in page["variables"]] == [str(n) for n in range(100, 200)]
    await visit_values(session)


async def visit_values(session: Session) -> None:
    assert (await session.evaluate("len(items) * 2"))["result"] == "20000"
    assert (await session.evaluate("config"))["variables_reference"] > 0
    failed = await session.evaluate("undefined_var")
    assert failed["error"] == "NameError: name 'undefined_var' is not defined"


async def visit_steps(session: Session, tour: Program) -> None:
    inside = await session.post("/step-into")
    assert inside["current_location"]["line"] == tour.line("total")
    await session.post("/step-over", granularity="line")
    out = await session.post("/step-out")
    assert out["return_value"]["value"] == "[49995000]"


async def visit_run(session: Session) -> None:
    cursor = (await session.get("/events", limit=1000))["next_cursor"]
    assert (await session.post("/continue"))["status"] == "running"
    await session.get("/threads")
    with trio.fail_after(30):  # a pause that comes just at the log message's line takes its place
        printed: list[str] = []
        while "console" not in printed:
            page = await session.get("/events", types="output", cursor=cursor, timeout=30)
            cursor = page["next_cursor"]
            printed += [event["body"]["category"] for event in page["events"]]
    with trio.fail_after(30):  # it may not have got there yet
        while (await session.post("/pause"))["current_location"]["function"] != "spin":
            await session.post("/continue")


async def visit_end(session: Session, tour: Program) -> None:
    await session.evaluate("globals().update(released=True)")
    stopped = await session.resume()
    assert stopped["current_location"]["line"] == tour.line("raise")
    assert (await session.get())["exception"]["type"] == "ValueError"
    assert (await session.resume())["exit_code"] == 1
    await session.get()
    printed = await session.get("/output")
    assert {entry["category"] for entry in printed["entries"]} == {"stdout", "stderr", "console"}
    assert printed["has_more"] is False
    events = await session.get("/events", limit=1000)
    kinds = {event["type"] for event in events["events"]}
    assert kinds >= {"stopped", "continued", "terminated", "output", "breakpoint", "thread"}
    assert (await session.delete())["final_status"] == "terminated"


TARGET = """
    import sys
    import debugpy

    print(debugpy.listen(("127.0.0.1", 0))[1], flush=True)
    sys.stdin.read()
"""


@asynccontextmanager
async def listening_target(target: Program) -> AsyncIterator[tuple[int, int]]:
    """Port and pid of a Python process that lets debuggers in."""
    process = await trio.lowlevel.open_process(
        [sys.executable, "-X", "frozen_modules=off", target.text],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdio is not None
    async with process.stdio:
        try:
            with trio.fail_after(SECONDS):
                yield int(await process.stdio.receive_some()), process.pid
                await process.stdio.send_eof()
                await process.wait()
        finally:
            process.kill()
            with trio.CancelScope(shield=True):
                await process.wait()


async def visit_attached(api: Api, program: Callable[..., Program]) -> None:
    async with listening_target(program(TARGET, name="target.py")) as (port, pid):
        session = await api.session()
        attached = await session.post("/attach", host="127.0.0.1", port=port, connect_timeout=60)
        assert (attached["status"], attached["port"], attached["pid"]) == ("running", port, pid)
        await session.get()
        await session.delete()


async def test_the_served_document_has_every_endpoint(api: Api) -> None:
    document = (await api.client.get("/openapi.json")).json()
    assert document == served_document()
    assert len(SHAPES) == 23
    for method, path in SHAPES:
        assert method.lower() in document["paths"][path]


async def test_a_session_that_was_never_launched_has_its_shape(api: Api, witness: Witness) -> None:
    session = await api.session()
    await session.get()
    await session.get("/breakpoints")
    await session.get("/output")
    await session.get("/events")
    await api.get("/sessions")
    deleted = await session.delete()
    assert (deleted["final_status"], deleted["runtime_seconds"]) == ("terminated", 0)
    assert len(assert_shapes(witness)) == 7


async def test_sessions_come_a_page_at_a_time(
    api: Api, witness: Witness, program: Callable[..., Program]
) -> None:
    names = [f"page-{number}" for number in range(5)]
    sessions = [await api.session(name=name) for name in names]
    whole = await api.get("/sessions")
    assert (whole["offset"], whole["limit"], whole["has_more"]) == (0, 100, False)
    assert [item["name"] for item in whole["items"]] == names
    assert await page_of(api, offset=0, limit=2) == (names[:2], True)
    assert await page_of(api, offset=3, limit=2) == (names[3:], False)
    assert await page_of(api, offset=4, limit=1000) == (names[4:], False)
    assert await page_of(api, offset=5) == ([], False)
    assert await page_of(api, offset=10**20) == ([], False)
    await sessions[1].launch(program("pass").text)
    assert (await api.get("/sessions", status="terminated"))["total"] == 1
    created = await api.get("/sessions", status="created", limit=1)
    assert (created["total"], created["has_more"], len(created["items"])) == (4, True, 1)
    assert_shapes(witness)


async def page_of(api: Api, **query: int) -> tuple[list[str], bool]:
    page = await api.get("/sessions", **query)
    assert page["total"] == 5
    assert page["offset"] == query["offset"]
    return [item["name"] for item in page["items"]], page["has_more"]


CHATTY = """
    import sys

    for number in range(7):
        print("line", number, flush=True)
        print("error", number, file=sys.stderr, flush=True)
"""


@pytest.mark.parametrize(
    ("listing", "items"), [("/output", "entries"), ("/events", "events")], ids=["output", "events"]
)
async def test_cursors_lead_through_a_listing(
    api: Api, witness: Witness, program: Callable[..., Program], listing: str, items: str
) -> None:
    session = await api.session()
    await session.launch(program(CHATTY).text)
    whole = await session.get(listing, limit=1000)
    assert whole["has_more"] is False
    pages: list[Any] = []
    query: dict[str, Any] = {"limit": 3}
    while not pages or pages[-1]["has_more"]:
        pages.append(await session.get(listing, **query))
        assert len(pages[-1][items]) <= 3
        query["cursor"] = pages[-1]["next_cursor"]
    assert [entry for page in pages for entry in page[items]] == whole[items]
    assert len(pages) == -(-len(whole[items]) // 3)
    after = await session.get(listing, cursor=whole["next_cursor"])
    assert (after[items], after["has_more"]) == ([], False)
    assert after["next_cursor"] == whole["next_cursor"]
    # The same cursor gives the same page again, also under its other name.
    assert await session.get(listing, since=pages[0]["next_cursor"], limit=3) == pages[1]
    assert_shapes(witness)


async def test_events_are_numbered_without_gaps(
    api: Api, witness: Witness, program: Callable[..., Program]
) -> None:
    session = await api.session()
    await session.launch(program(CHATTY).text)
    events = (await session.get("/events", limit=1000))["events"]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[-1]["type"] == "terminated"


async def test_output_comes_by_category_and_in_order(
    api: Api, witness: Witness, program: Callable[..., Program]
) -> None:
    session = await api.session()
    await session.launch(program(CHATTY).text)
    for category, word in (("stdout", "line"), ("stderr", "error")):
        expected = "".join(f"{word} {number}\n" for number in range(7))
        assert await session.printed(category) == expected
    assert (await session.get("/output", category="console"))["entries"] == []


REQUESTS = [("GET", "/health"), ("GET", "/sessions/sess_00000000"), ("POST", "/sessions")]


@pytest.mark.parametrize(("method", "path"), REQUESTS)
async def test_a_request_id_comes_back(api: Api, witness: Witness, method: str, path: str) -> None:
    mine = f"step 7 of {uuid.uuid4()}"
    response = await api.client.request(method, path, headers={"X-Request-ID": mine})
    assert response.headers["X-Request-ID"] == mine
    assert response.json()["meta"]["request_id"] == mine


@pytest.mark.parametrize(("method", "path"), REQUESTS)
async def test_a_request_without_id_gets_a_new_one(
    api: Api, witness: Witness, method: str, path: str
) -> None:
    answers = [await api.client.request(method, path) for _ in range(2)]
    ids = {answer.json()["meta"]["request_id"] for answer in answers}
    assert len(ids) == 2
    assert {uuid.UUID(text).version for text in ids} == {4}
    assert {answer.headers["X-Request-ID"] for answer in answers} == ids


async def test_every_answer_says_when_and_in_which_encoding(api: Api, witness: Witness) -> None:
    for method, path in REQUESTS:
        response = await api.client.request(method, path)
        assert response.headers["Content-Type"] == "application/json; charset=utf-8"
        assert problems_of(response.json()["meta"]["timestamp"], TIME) == []


async def test_the_witness_is_awake(api: Api) -> None:
    """A check that passes everything would prove nothing."""
    witness = Witness(copy.deepcopy(served_document())).watch(api)
    health = witness.document["components"]["schemas"]["Health"]
    health["properties"]["version"] = {"type": "integer"}
    with pytest.raises(Undocumented, match="version"):
        await api.get("/health")
    with pytest.raises(Refused, match="404"):
        await api.get("/sessions/sess_00000000")
    del witness.document["paths"]["/sessions/{session_id}"]["get"]["responses"]["404"]
    with pytest.raises(Undocumented, match="404 is no documented status"):
        await api.get("/sessions/sess_00000000")
