"""What does not exist, or not now: the documented error, and nothing changes.

Every route stands in the table of states: a new one must be added, and says so by a
failing test.
"""

from __future__ import annotations

import itertools
import os
import socket
from collections.abc import AsyncIterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from relay import Settings
from relay.faces.http.routes import ROUTES
from tests.e2e.api import Api, Refused, Session
from tests.e2e.refusals import (
    VALID,
    WAITING,
    Write,
    created,
    fields_of,
    filled,
    key,
    paused,
    refused,
    running,
    state_of,
    terminated,
    witnessed_relay,
)
from tests.programs import Program


@pytest.fixture
async def api(settings: Settings) -> AsyncIterator[Api]:
    """As everywhere, with a witness."""
    async with witnessed_relay(settings) as api:
        yield api


# What does not exist -----------------------------------------------------------------------

SESSION_IDS = ["sess_00000000", "sess_", "nope", "SESS_00000000", "0", "-", "%00", "%F0%9F%90%9B"]


async def test_unknown_sessions(api: Api) -> None:
    """Every route with two of them, and one route with each: one function finds the session."""
    routes = [key(route) for route in ROUTES if "{session_id}" in route.path]
    asked = list(itertools.product(routes, SESSION_IDS[:2]))
    asked += [(routes[0], session_id) for session_id in SESSION_IDS[2:]]
    for (method, path), session_id in asked:
        where, request = filled(path, session_id), VALID.get((method, path), {})
        await refused(api, "SESSION_NOT_FOUND", method, where, **request)


async def test_a_deleted_session_is_unknown(api: Api, program: Write) -> None:
    session = await created(api, program)
    await session.delete()
    error = await refused(api, "SESSION_NOT_FOUND", "GET", session.path)
    assert error.details["session_id"] == session.id


async def test_unknown_breakpoints(api: Api, program: Write) -> None:
    session = await created(api, program)
    before = await state_of(session)
    for breakpoint_id in ("bp_2", "bp_0", "bp_01", "1", "BP_1", "bp_1%20", "%00"):
        where = f"{session.path}/breakpoints/{breakpoint_id}"
        await refused(api, "BREAKPOINT_NOT_FOUND", "DELETE", where)
        assert await state_of(session) == before, breakpoint_id


UNKNOWN_THREADS = (0, -1, 999_999, 2**31, 2**63, 10**30)


async def test_unknown_threads(api: Api, program: Write) -> None:
    session = await paused(api, program)
    before = await state_of(session)
    for thread in UNKNOWN_THREADS:
        for path in ("/continue", "/step-over", "/step-into", "/step-out"):
            error = await refused(
                api, "THREAD_NOT_FOUND", "POST", session.path + path, json={"thread_id": thread}
            )
            assert error.details["threads"] == [before[0]["stopped_thread_id"]]
        where = f"{session.path}/stacktrace"
        await refused(api, "THREAD_NOT_FOUND", "GET", where, params={"thread_id": thread})
    assert await state_of(session) == before


async def test_a_running_program_has_no_unknown_threads_to_pause(api: Api, program: Write) -> None:
    session = await running(api, program)
    for thread in UNKNOWN_THREADS:
        where, body = f"{session.path}/pause", {"thread_id": thread}
        await refused(api, "THREAD_NOT_FOUND", "POST", where, json=body)
    assert (await session.get())["status"] == "running"


async def test_unknown_frames(api: Api, program: Write) -> None:
    session = await paused(api, program)
    await session.get("/stacktrace")  # the debugger tells of modules when it first shows a stack
    before = await state_of(session)
    for frame in (2, 999, 2**31, 10**30):
        where, query = f"{session.path}/scopes", {"frame_id": frame}
        error = await refused(api, "FRAME_NOT_FOUND", "GET", where, params=query)
        assert error.details["total_frames"] == 2
        where, body = f"{session.path}/evaluate", {"expression": "1", "frame_id": frame}
        await refused(api, "FRAME_NOT_FOUND", "POST", where, json=body)
        assert await state_of(session) == before, frame


UNKNOWN_REFERENCES = (0, -1, 1, 999_999, 2**31, 2**63, -(10**30), 10**30)


async def unknown_reference(session: Session, reference: int) -> Refused:
    where, query = f"{session.path}/variables", {"variables_reference": reference}
    return await refused(session.api, "VARIABLE_NOT_FOUND", "GET", where, params=query)


async def test_unknown_references(api: Api, program: Write) -> None:
    session = await paused(api, program)
    before = await state_of(session)
    for reference in UNKNOWN_REFERENCES:
        await unknown_reference(session, reference)
    assert await state_of(session) == before


async def test_stale_references_say_that_they_are_stale(api: Api, program: Write) -> None:
    session = await paused(api, program)
    old = {s["variables_reference"] for s in (await session.get("/scopes"))["scopes"]}
    old |= {v["variables_reference"] for v in (await session.locals()).values()} - {0}
    old.add((await session.evaluate("config"))["variables_reference"])
    await session.post("/step-over")
    await session.locals()
    for reference in old:
        error = await unknown_reference(session, reference)
        assert "not of this stop" in error.message
        assert "die when the program runs" in error.details["suggestion"]


async def test_pages_beyond_the_end_are_empty(api: Api, program: Write) -> None:
    session = await paused(api, program)
    seen = await session.locals()
    for start in (10, 100, 2**31, 2**63, 10**30):
        for name in ("items", "names", "config"):
            reference = seen[name]["variables_reference"]
            page = await session.get("/variables", variables_reference=reference, start=start)
            assert (page["variables"], page["has_more"]) == ([], False), (name, start)
        stack = await session.get("/stacktrace", start_frame=start)
        assert (stack["frames"], stack["total_frames"]) == ([], 2), start


# Wrong states ------------------------------------------------------------------------------

PAUSED = "paused"
LIVE = "running or paused"
REQUIRED: Mapping[tuple[str, str], str | None] = {
    ("GET", "/health"): None,
    ("GET", "/info"): None,
    ("GET", "/processes"): None,
    ("GET", "/config"): None,
    ("PATCH", "/config"): None,
    ("POST", "/shutdown"): None,
    ("GET", "/metrics"): None,
    ("GET", "/log"): None,
    ("POST", "/sessions"): None,
    ("GET", "/sessions"): None,
    ("GET", "/sessions/{session_id}"): None,
    ("DELETE", "/sessions/{session_id}"): None,
    ("PATCH", "/sessions/{session_id}"): None,
    ("GET", "/sessions/{session_id}/status"): None,
    ("GET", "/sessions/{session_id}/ping"): None,
    ("POST", "/sessions/{session_id}/ping"): None,
    ("POST", "/sessions/{session_id}/clone"): None,
    ("GET", "/sessions/{session_id}/export"): None,
    ("POST", "/sessions/import"): None,
    ("POST", "/sessions/{session_id}/restart"): None,
    ("POST", "/sessions/{session_id}/terminate"): LIVE,
    ("POST", "/sessions/{session_id}/detach"): LIVE,
    ("POST", "/sessions/{session_id}/launch"): "created",
    ("POST", "/sessions/{session_id}/attach"): "created",
    ("POST", "/sessions/{session_id}/breakpoints"): None,
    ("GET", "/sessions/{session_id}/breakpoints"): None,
    ("DELETE", "/sessions/{session_id}/breakpoints"): None,
    ("GET", "/sessions/{session_id}/breakpoints/{breakpoint_id}"): None,
    ("PATCH", "/sessions/{session_id}/breakpoints/{breakpoint_id}"): None,
    ("DELETE", "/sessions/{session_id}/breakpoints/{breakpoint_id}"): None,
    ("POST", "/sessions/{session_id}/exception-breakpoints"): None,
    ("GET", "/sessions/{session_id}/exception-breakpoints"): None,
    ("GET", "/breakpoint-profiles"): None,
    ("POST", "/breakpoint-profiles"): None,
    ("GET", "/breakpoint-profiles/{name}"): None,
    ("PUT", "/breakpoint-profiles/{name}"): None,
    ("DELETE", "/breakpoint-profiles/{name}"): None,
    ("POST", "/sessions/{session_id}/breakpoint-profiles/{name}/apply"): None,
    ("POST", "/sessions/{session_id}/continue"): PAUSED,
    ("POST", "/sessions/{session_id}/pause"): "running",
    ("POST", "/sessions/{session_id}/step-over"): PAUSED,
    ("POST", "/sessions/{session_id}/step-into"): PAUSED,
    ("GET", "/sessions/{session_id}/step-in-targets"): PAUSED,
    ("POST", "/sessions/{session_id}/step-out"): PAUSED,
    ("POST", "/sessions/{session_id}/step-back"): PAUSED,
    ("POST", "/sessions/{session_id}/reverse-continue"): PAUSED,
    ("POST", "/sessions/{session_id}/restart-frame"): PAUSED,
    ("POST", "/sessions/{session_id}/set-expression"): PAUSED,
    ("GET", "/sessions/{session_id}/threads"): LIVE,
    ("POST", "/sessions/{session_id}/run-to"): PAUSED,
    ("POST", "/sessions/{session_id}/goto"): PAUSED,
    ("POST", "/sessions/{session_id}/trace"): PAUSED,
    ("GET", "/sessions/{session_id}/trace"): None,
    ("POST", "/sessions/{session_id}/calls"): PAUSED,
    ("GET", "/sessions/{session_id}/calls"): None,
    ("POST", "/sessions/{session_id}/data-breakpoints"): PAUSED,
    ("GET", "/sessions/{session_id}/data-breakpoints"): None,
    ("DELETE", "/sessions/{session_id}/data-breakpoints/{data_breakpoint_id}"): None,
    ("POST", "/sessions/{session_id}/history"): PAUSED,
    ("POST", "/sessions/{session_id}/threads/{thread_id}/continue"): PAUSED,
    ("POST", "/sessions/{session_id}/threads/{thread_id}/pause"): LIVE,
    ("POST", "/sessions/{session_id}/threads/{thread_id}/step-over"): PAUSED,
    ("POST", "/sessions/{session_id}/threads/{thread_id}/step-into"): PAUSED,
    ("POST", "/sessions/{session_id}/threads/{thread_id}/step-out"): PAUSED,
    ("GET", "/sessions/{session_id}/threads/{thread_id}/stacktrace"): LIVE,
    ("GET", "/sessions/{session_id}/tasks"): LIVE,
    ("POST", "/sessions/{session_id}/hang-report"): LIVE,
    ("GET", "/sessions/{session_id}/stacktrace"): LIVE,
    ("GET", "/sessions/{session_id}/scopes"): PAUSED,
    ("GET", "/sessions/{session_id}/variables"): PAUSED,
    ("POST", "/sessions/{session_id}/evaluate"): PAUSED,
    ("GET", "/sessions/{session_id}/frames/{frame_id}/scopes"): PAUSED,
    ("GET", "/sessions/{session_id}/frames/{frame_id}/variables"): LIVE,
    (
        "GET",
        "/sessions/{session_id}/frames/{frame_id}/variables/{variables_reference}/children",
    ): PAUSED,
    ("GET", "/sessions/{session_id}/scopes/{variables_reference}/variables"): PAUSED,
    ("GET", "/sessions/{session_id}/variables/{variables_reference}"): PAUSED,
    ("POST", "/sessions/{session_id}/variables/{variables_reference}/set"): PAUSED,
    ("POST", "/sessions/{session_id}/watch"): None,
    ("GET", "/sessions/{session_id}/watch"): None,
    ("DELETE", "/sessions/{session_id}/watch/{watch_id}"): None,
    ("POST", "/sessions/{session_id}/completions"): PAUSED,
    ("POST", "/sessions/{session_id}/hover"): PAUSED,
    ("GET", "/sessions/{session_id}/exception"): PAUSED,
    ("GET", "/sessions/{session_id}/modules"): LIVE,
    ("GET", "/sessions/{session_id}/frames/{frame_id}/source"): PAUSED,
    ("GET", "/sessions/{session_id}/source"): None,
    ("GET", "/sessions/{session_id}/output"): None,
    ("DELETE", "/sessions/{session_id}/output"): None,
    ("GET", "/sessions/{session_id}/output/stream"): None,
    ("GET", "/sessions/{session_id}/events/stream"): None,
    ("GET", "/sessions/{session_id}/events"): None,
    ("GET", "/sessions/{session_id}/timeline/stream"): None,
    ("GET", "/sessions/{session_id}/timeline"): None,
    ("GET", "/sessions/{session_id}/dap-log"): None,
    ("POST", "/sessions/{session_id}/hold"): None,
    ("DELETE", "/sessions/{session_id}/hold"): None,
    ("POST", "/sessions/{session_id}/input"): LIVE,
    ("POST", "/sessions/{session_id}/stdin"): LIVE,
    ("GET", "/sessions/{session_id}/report"): None,
    ("GET", "/sessions/{session_id}/breakpoints/{breakpoint_id}/captures"): None,
    ("DELETE", "/sessions/{session_id}/breakpoints/{breakpoint_id}/captures"): None,
}
"""The state that each route needs; None: any."""

STATES = {"created": created, "running": running, "paused": paused, "terminated": terminated}


def test_the_table_of_states_is_whole() -> None:
    assert set(REQUIRED) == set(map(key, ROUTES))


@pytest.mark.parametrize("status", STATES)
async def test_operations_in_the_wrong_state_are_refused(
    api: Api, program: Write, status: str
) -> None:
    await assert_wrong_states_are_refused(await STATES[status](api, program), status)


async def assert_wrong_states_are_refused(session: Session, status: str) -> None:
    before = await state_of(session)
    assert before[0]["status"] == status
    for (method, path), required in REQUIRED.items():
        if required is None or status in required.split(" or "):
            continue
        where, request = filled(path, session.id), VALID.get((method, path), {})
        error = await refused(session.api, "INVALID_SESSION_STATE", method, where, **request)
        assert error.details["current_state"] == status, where
        assert error.details["required_state"] == required, where
        assert await state_of(session) == before, where


async def test_who_launches_a_paused_session_is_not_sent_to_resume_it(
    api: Api, program: Write
) -> None:
    session = await STATES["paused"](api, program)
    for verb, request in (("launch", {"script": "main.py"}), ("attach", {"pid": os.getpid()})):
        where = f"/sessions/{session.id}/{verb}"
        error = await refused(api, "INVALID_SESSION_STATE", "POST", where, json=request)
        assert error.details["suggestion"].startswith("Create a new session"), where


HELD_UP = """
    import os

    if "RELAY_TEST_GATE" in os.environ:
        open(os.environ.pop("RELAY_TEST_GATE")).read()
"""
"""An interpreter that starts when somebody has opened and closed the gate."""


async def test_operations_on_a_session_that_is_launching_are_refused(
    api: Api, program: Write, tmp_path: Path
) -> None:
    session = await created(api, program)
    Program.write(tmp_path / "site" / "sitecustomize.py", HELD_UP)
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    env = {"PYTHONPATH": str(tmp_path / "site"), "RELAY_TEST_GATE": str(gate)}
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(session.launch, "main.py", env=env))
        with trio.fail_after(30):
            opened = await trio.to_thread.run_sync(gate.open, "w", abandon_on_cancel=True)
        with opened:
            await assert_wrong_states_are_refused(session, "launching")
    assert (await session.get())["status"] == "paused"


@pytest.mark.parametrize("status", STATES)
async def test_operations_for_any_state_are_answered_in_each(
    api: Api, program: Write, tmp_path: Path, status: str
) -> None:
    session = await STATES[status](api, program)
    before = await state_of(session)
    await api.call("PUT", "/breakpoint-profiles/profile", json={"breakpoints": []})
    for (method, path), required in REQUIRED.items():
        if path == "/metrics":  # the one answer without an envelope
            assert (await api.client.get(path)).status_code == 200
        elif path == "/log":  # of a relay that is a process of its own
            await refused(api, "NOT_SUPPORTED", method, path)
        elif path.endswith("/captures"):
            error = await refused(api, "INVALID_REQUEST", method, filled(path, session.id))
            assert "captures nothing" in error.message
        elif required is None and method == "GET" and not path.endswith("/stream"):
            await api.call(method, filled(path, session.id), **VALID.get((method, path), {}))
    assert await state_of(session) == before
    where = {"file": "main.py", "line": Program(tmp_path / "main.py").line("last")}
    (placed,) = (await session.post("/breakpoints", **where))["breakpoints"]
    assert placed["verified"] is True
    await session.delete(f"/breakpoints/{placed['id']}")
    assert (await state_of(session))[:2] == before[:2]
    assert (await session.delete())["final_status"] == "terminated"


# What the file system, the interpreter and the network refuse --------------------------------


def bad_launches() -> Mapping[str, tuple[str, Any]]:
    long = "x" * 200_000
    return {
        "no script": ("LAUNCH_SCRIPT_NOT_FOUND", {"script": "mian.py"}),
        "a script below a file": ("LAUNCH_SCRIPT_NOT_FOUND", {"script": "main.py/x.py"}),
        "a long path": ("LAUNCH_SCRIPT_NOT_FOUND", {"script": "x/" * 1000}),
        "a long name": ("INVALID_REQUEST", {"script": "x" * 300}),
        "a broken script": ("LAUNCH_SYNTAX_ERROR", {"script": "broken.py"}),
        "no directory": ("INVALID_REQUEST", {"script": "main.py", "cwd": "nowhere"}),
        "a file as directory": ("INVALID_REQUEST", {"script": "main.py", "cwd": "main.py"}),
        "a window": ("NOT_SUPPORTED", {"script": "main.py", "console": "externalTerminal"}),
        "-c": ("INVALID_REQUEST", {"script": "main.py", "python_args": ["-c", "pass"]}),
        "-m": ("INVALID_REQUEST", {"script": "main.py", "python_args": ["-m", "pdb"]}),
        "no option": ("INVALID_REQUEST", {"script": "main.py", "python_args": ["other.py"]}),
        "a long argument": ("LAUNCH_FAILED", {"script": "main.py", "args": [long]}),
        "a long variable": ("LAUNCH_FAILED", {"script": "main.py", "env": {"A": long}}),
    }


@pytest.mark.parametrize(
    ("script", "way"),
    [
        ("pytest", 'for a module give "module": "pytest"'),
        ("pytest -q tests", "Use script or module with args"),
        ("main.py --flag", "Use script or module with args"),
        ("-m pytest", "Use script or module with args"),
        ("mian.py", "Did you mean"),
        ("mian", "Did you mean"),
        ("no where", "Check the path; relative paths"),
    ],
)
async def test_a_script_that_is_none_is_told_with_what_may_be_meant(
    api: Api, program: Write, script: str, way: str
) -> None:
    session = await created(api, program)
    with pytest.raises(Refused) as told:
        await session.post("/launch", script=script)
    assert told.value.code == "LAUNCH_SCRIPT_NOT_FOUND"
    assert way in told.value.details["suggestion"]


async def test_a_refused_launch_leaves_the_session_created(api: Api, program: Write) -> None:
    session = await created(api, program)
    program("def f(:\n", name="broken.py")
    before = await state_of(session)
    for name, (code, body) in bad_launches().items():
        await refused(api, code, "POST", f"{session.path}/launch", json=body)
        assert (await state_of(session))[:2] == before[:2], name
    assert (await session.launch("main.py"))["status"] == "paused"


async def test_a_syntax_error_is_shown_with_its_place(api: Api, program: Write) -> None:
    session = await created(api, program)
    broken = program("x = 1\nif x == 1\n    pass\n", name="broken.py")
    body = {"script": broken.text}
    error = await refused(api, "LAUNCH_SYNTAX_ERROR", "POST", f"{session.path}/launch", json=body)
    details = error.details
    assert (details["file"], details["line"], details["offset"]) == (broken.text, 2, 10)
    assert details["error_message"] == "expected ':'"
    assert details["text"].strip() == "if x == 1"


async def test_a_session_needs_what_it_names(api: Api, program: Write) -> None:
    program(WAITING)
    for field, value in (
        ("project_root", "nowhere"),
        ("project_root", "main.py"),
        ("python_path", "nowhere"),
        ("python_path", "main.py"),
        ("python_path", "/"),
    ):
        error = await refused(api, "INVALID_REQUEST", "POST", "/sessions", json={field: value})
        assert fields_of(error) == [field], value
        assert (await api.get("/sessions"))["total"] == 0, value


async def test_an_interpreter_that_is_none_fails_the_launch(api: Api, program: Write) -> None:
    program(WAITING)
    session = await api.session(python_path="/bin/true")
    before = await state_of(session)
    body = {"script": "main.py"}
    await refused(api, "LAUNCH_FAILED", "POST", f"{session.path}/launch", json=body)
    assert (await state_of(session))[:2] == before[:2]


BAD_PLACES: Mapping[str, tuple[str, Any]] = {
    "no file": ("BREAKPOINT_FILE_NOT_FOUND", {"file": "mian.py"}),
    "a directory": ("BREAKPOINT_FILE_NOT_FOUND", {"file": "."}),
    "a device": ("BREAKPOINT_FILE_NOT_FOUND", {"file": "/dev/null"}),
    "past the end": ("BREAKPOINT_INVALID_LINE", {"line": 1000}),
    "far past the end": ("BREAKPOINT_INVALID_LINE", {"line": 2**31 - 1}),
    "condition": ("BREAKPOINT_INVALID_CONDITION", {"condition": "items >"}),
    "statement": ("BREAKPOINT_INVALID_CONDITION", {"condition": "x = 1"}),
    "empty condition": ("BREAKPOINT_INVALID_CONDITION", {"condition": ""}),
    "two lines": ("BREAKPOINT_INVALID_CONDITION", {"condition": "items\nx = 1"}),
    "word": ("BREAKPOINT_INVALID_CONDITION", {"hit_condition": "often"}),
    "fraction": ("BREAKPOINT_INVALID_CONDITION", {"hit_condition": "5.0"}),
    "unequal": ("BREAKPOINT_INVALID_CONDITION", {"hit_condition": "!= 3"}),
    "modulo zero": ("BREAKPOINT_INVALID_CONDITION", {"hit_condition": "% 0"}),
    "log message": ("BREAKPOINT_INVALID_CONDITION", {"log_message": "item {items"}),
}


async def test_one_bad_breakpoint_refuses_its_whole_batch(api: Api, program: Write) -> None:
    session = await created(api, program)
    before = await state_of(session)
    good = {"file": "main.py", "line": program(WAITING).line("last")}
    for name, (code, bad) in BAD_PLACES.items():
        batch = {"breakpoints": [good, {**good, **bad}]}
        error = await refused(api, code, "POST", f"{session.path}/breakpoints", json=batch)
        assert error.details["file"], name
        assert await state_of(session) == before, name


async def test_a_line_past_the_end_names_the_last_one(api: Api, program: Write) -> None:
    session = await created(api, program)
    lines = len(program(WAITING).path.read_text().splitlines())
    where, body = f"{session.path}/breakpoints", {"file": "main.py", "line": lines + 1}
    error = await refused(api, "BREAKPOINT_INVALID_LINE", "POST", where, json=body)
    assert error.details["max_line"] == lines


def closed_port() -> int:
    """A port on which nobody listens, as far as anybody can know."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def bad_targets() -> Mapping[str, tuple[str, Any]]:
    return {
        "closed port": ("ATTACH_REFUSED", {"host": "127.0.0.1", "port": closed_port()}),
        "no host": ("ATTACH_REFUSED", {"host": "no-such-host.invalid", "port": 1}),
        "empty label": ("ATTACH_REFUSED", {"host": "..", "port": 1}),
        "long label": ("ATTACH_REFUSED", {"host": "x" * 100, "port": 1}),
        "blank": ("ATTACH_REFUSED", {"host": " ", "port": 1}),
        "no process": ("ATTACH_FAILED", {"pid": 2**22 + 1}),
        "beyond any process": ("ATTACH_FAILED", {"pid": 2**31 - 1}),
        "not Python": ("ATTACH_FAILED", {"pid": 1}),
    }


async def test_a_refused_attach_leaves_the_session_created(api: Api, program: Write) -> None:
    session = await created(api, program)
    before = await state_of(session)
    for name, (code, body) in bad_targets().items():
        await refused(api, code, "POST", f"{session.path}/attach", json=body)
        assert (await state_of(session))[:2] == before[:2], name
    assert (await session.launch("main.py"))["status"] == "paused"


BAD_EXPRESSIONS = ["1 +", "items[", "def f(:", "'", "items items", "x = "]


async def test_expressions_that_do_not_parse(api: Api, program: Write) -> None:
    session = await paused(api, program)
    before = await state_of(session)
    for context in ("repl", "watch", "hover"):
        for expression in BAD_EXPRESSIONS:
            body = {"expression": expression, "context": context}
            where = f"{session.path}/evaluate"
            error = await refused(api, "EVALUATE_ERROR", "POST", where, json=body)
            assert "SyntaxError" in error.message
    assert await state_of(session) == before


async def test_looking_takes_no_statements(api: Api, program: Write) -> None:
    session = await paused(api, program)
    for context in ("watch", "hover"):
        where, body = f"{session.path}/evaluate", {"expression": "items = 1", "context": context}
        await refused(api, "EVALUATE_ERROR", "POST", where, json=body)
        assert (await session.locals())["items"]["type"] == "list", context


async def test_the_session_limit_names_what_can_be_deleted(api: Api) -> None:
    sessions = [await api.session() for _ in range(10)]
    error = await refused(api, "SESSION_LIMIT_REACHED", "POST", "/sessions")
    assert error.details["deletable"] == [session.id for session in sessions]
    await sessions[3].delete()
    await api.session()
