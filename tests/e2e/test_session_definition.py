"""Creating in one call, changing, cloning, exporting and importing sessions."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from relay import Settings
from relay.process.ports import free_port
from relay.session.session import Session as OwnSession
from tests.e2e.api import Api, Refused, Session
from tests.e2e.conftest import running_relay
from tests.e2e.test_attach import LOOP, target
from tests.programs import Program

Write = Callable[..., Program]

SCRIPT = """
    import sys

    def work(n):
        return n * 2  # @work

    print(work(int(sys.argv[1])))
    raise KeyError("end")
"""


async def refused(api: Api, method: str, path: str, body: dict[str, Any]) -> Refused:
    with pytest.raises(Refused) as refusal:
        await api.call(method, path, json=body)
    return refusal.value


# One call ---------------------------------------------------------------------------------


async def test_one_call_creates_configures_and_launches(api: Api, program: Write) -> None:
    script = program(SCRIPT)
    await api.post(
        "/breakpoint-profiles",
        name="usual",
        breakpoints=[{"file": script.text, "line": script.line("work"), "condition": "n > 100"}],
    )
    created = await api.post(
        "/sessions",
        name="one call",
        breakpoint_profiles=["usual"],
        breakpoints=[{"file": script.text, "line": script.line("work"), "condition": "n > 1"}],
        exception_breakpoints={"filters": ["raised"], "types": ["KeyError"]},
        launch={"script": script.text, "args": ["2"], "wait": 30, "include": ["locals"]},
    )
    assert created["status"] == "paused"
    assert created["name"] == "one call"
    assert created["current_location"]["line"] == script.line("work")
    (placed,) = created["breakpoints"]
    assert (placed["id"], placed["verified"], placed["condition"]) == ("bp_1", True, "n > 1")
    assert [v["name"] for v in created["stop"]["locals"]] == ["n"]
    stop = await Session(api, created["session_id"]).resume()
    assert stop["stop_reason"] == "exception"


async def test_one_call_attaches_in_either_spelling(api: Api, program: Write) -> None:
    loop = program(LOOP)
    for in_short in (False, True):
        port = free_port()
        where = {"host": "127.0.0.1", "port": port}
        body: dict[str, Any] = {"mode": "attach", **where} if in_short else {"attach": where}
        listen = ["-X", "frozen_modules=off", "-m", "debugpy", "--listen", f"127.0.0.1:{port}"]
        with target(*listen, loop.text) as process:
            created = await api.post("/sessions", **body)
            assert created["status"] == "running"
            assert created["pid"] == process.pid
            session = Session(api, created["session_id"])
            assert (await session.post("/detach"))["pid"] == process.pid
            assert (await session.get("/status"))["reason"] == "detached"
            assert process.poll() is None


async def test_terminate_ends_an_attached_program(api: Api, program: Write) -> None:
    port = free_port()
    listen = ["-X", "frozen_modules=off", "-m", "debugpy", "--listen", f"127.0.0.1:{port}"]
    with target(*listen, program(LOOP).text) as process:
        created = await api.post("/sessions", mode="attach", host="127.0.0.1", port=port)
        session = Session(api, created["session_id"])
        error = await refused(api, "POST", f"{session.path}/restart", {})
        assert error.code == "INVALID_SESSION_STATE"
        ended = await session.post("/terminate")
        assert ended["status"] == "terminated"
        process.wait(timeout=60)  # raises if it lives


async def test_a_start_that_fails_leaves_a_session_that_can_be_mended_and_restarted(
    api: Api, program: Write
) -> None:
    script = program("def broken(:\n")
    error = await refused(api, "POST", "/sessions", {"launch": {"script": script.text}})
    assert error.code == "LAUNCH_SYNTAX_ERROR"
    assert error.details["message"] == error.details["error_message"] != ""
    session = Session(api, error.details["session_id"])
    assert (await session.get())["status"] == "created"
    program("print('mended')\n")
    assert (await session.post("/restart", wait=30))["exit_code"] == 0
    assert await session.printed() == "mended\n"
    error = await refused(api, "POST", "/sessions", {"mode": "attach", "port": free_port()})
    assert error.code == "ATTACH_REFUSED"
    assert (await Session(api, error.details["session_id"]).get())["status"] == "created"


async def test_bad_parts_create_nothing(api: Api, program: Write) -> None:
    script = program("here = 1\n")
    good = {"file": script.text, "line": 1}
    for body, code in (
        ({"breakpoints": [good, {**good, "line": 99}]}, "BREAKPOINT_INVALID_LINE"),
        ({"breakpoints": [{**good, "condition": "1 +"}]}, "BREAKPOINT_INVALID_CONDITION"),
        ({"breakpoints": [{"file": "no.py", "line": 1}]}, "BREAKPOINT_FILE_NOT_FOUND"),
        ({"breakpoint_profiles": ["none"]}, "PROFILE_NOT_FOUND"),
        (
            {"exception_breakpoints": {"filters": ["raised"], "condition": "1 +"}},
            "BREAKPOINT_INVALID_CONDITION",
        ),
        ({"launch": {"script": "a.py", "module": "b"}}, "INVALID_REQUEST"),
        ({"launch": {"script": "a.py"}, "attach": {"pid": 1}}, "INVALID_REQUEST"),
        ({"mode": "attach"}, "INVALID_REQUEST"),
        ({"mode": "attach", "pid": 1, "port": 1}, "INVALID_REQUEST"),
        ({"mode": "attach", "launch": {"script": "a.py"}}, "INVALID_REQUEST"),
        ({"mode": "attach", "attach": {"pid": 1}, "port": 1}, "INVALID_REQUEST"),
        ({"mode": "launch", "attach": {"pid": 1}}, "INVALID_REQUEST"),
        ({"pid": 1}, "INVALID_REQUEST"),
    ):
        assert (await refused(api, "POST", "/sessions", body)).code == code, body
    assert (await api.get("/sessions"))["total"] == 0


async def test_the_limit_names_what_could_be_deleted(tmp_path: Any, program: Write) -> None:
    settings = Settings(port=0, state_dir=tmp_path / "s", project_root=tmp_path, max_sessions=3)
    async with running_relay(settings) as api:
        sessions = [await api.session() for _ in range(3)]
        await sessions[1].launch(program("").text)
        for method, path in (
            ("POST", "/sessions"),
            ("POST", f"{sessions[0].path}/clone"),
            ("POST", "/sessions/import"),
        ):
            body = {"format": 1} if path.endswith("import") else {}
            error = await refused(api, method, path, body)
            assert (error.status, error.code) == (429, "SESSION_LIMIT_REACHED")
            assert error.details["deletable"] == [sessions[n].id for n in (1, 0, 2)]
        await sessions[1].delete()
        await api.session()


# Settings ---------------------------------------------------------------------------------


async def test_settings_can_be_changed(api: Api, program: Write, tmp_path: Any) -> None:
    session = await api.session(timeout_minutes=5)
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    body = {
        "name": "new",
        "timeout_minutes": 90,
        "stop_on_entry": True,
        "project_root": "elsewhere",
    }
    changed = await api.call("PATCH", session.path, json=body)
    assert changed["name"] == "new"
    assert changed["config"]["timeout_minutes"] == 90
    assert changed["config"]["project_root"] == str(folder)
    unchanged = await api.call("PATCH", session.path, json={"name": None})
    assert (unchanged["name"], unchanged["config"]) == ("new", changed["config"])
    script = program("a = 1\n", "elsewhere/main.py")
    assert (await session.launch("main.py"))["stop_reason"] == "entry"
    for bad, code in (
        ({"project_root": "no/such"}, "INVALID_SESSION_STATE"),
        ({"timeout_minutes": 0}, "INVALID_REQUEST"),
        ({"timeout_minutes": "9"}, "INVALID_REQUEST"),
        ({"name": ""}, "INVALID_REQUEST"),
        ({"adapter": "perl"}, "INVALID_REQUEST"),
    ):
        assert (await refused(api, "PATCH", session.path, bad)).code == code
    await session.resume()
    for bad in ({"project_root": "no/such"}, {"python_path": script.text}):
        assert (await refused(api, "PATCH", session.path, bad)).code == "INVALID_REQUEST"
    assert (await session.get())["config"] == changed["config"]


async def test_ping_tells_how_long_the_session_is_kept(api: Api) -> None:
    session = await api.session(timeout_minutes=5)
    for ping in (await session.get("/ping"), await session.post("/ping")):
        assert ping["status"] == "created"
        assert ping["timeout_minutes"] == 5
        assert ping["warning"] is None
        assert ping["expires_at"] > (await session.get())["created_at"]


# Documents --------------------------------------------------------------------------------


async def full_session(api: Api, script: Program) -> Session:
    """One with something in every part of its document, which has stopped and ended."""
    session = await api.session(name="full", timeout_minutes=9, stop_on_entry=False)
    line = script.line("work")
    await session.breakpoint(script.text, 1, enabled=False, hit_condition="% 2")
    await session.breakpoint(script.text, line, condition="n == 2")
    await session.breakpoint(script.text, line + 2, log_message="n is {n}")
    await session.post("/breakpoints", function="work", enabled=False)
    await session.post("/exception-breakpoints", filters=["uncaught"], types=["KeyError"])
    await session.post("/watch", expression="n + 1")
    await session.launch(script.text, args=["2"], env={"COLOUR": "red"}, include=["locals"])
    await session.post("/terminate")
    return session


DOCUMENT_PARTS = {
    "format",
    "name",
    "adapter",
    "config",
    "launch",
    "attach",
    "breakpoints",
    "exception_breakpoints",
    "watches",
}


async def test_an_exported_session_can_be_imported_elsewhere(
    api: Api, program: Write, tmp_path: Any
) -> None:
    script = program(SCRIPT)
    session = await full_session(api, script)
    document = await session.get("/export")
    assert set(document) == DOCUMENT_PARTS
    assert document["launch"] == {"script": script.text, "args": ["2"], "env": {"COLOUR": "red"}}
    assert len(document["breakpoints"]) == 4
    assert document["exception_breakpoints"] == {"filters": ["uncaught"], "types": ["KeyError"]}
    other = Settings(port=0, state_dir=tmp_path / "other", project_root=tmp_path)
    async with running_relay(other) as elsewhere:
        created = await elsewhere.post("/sessions/import", **json.loads(json.dumps(document)))
        assert created["status"] == "created"
        imported = Session(elsewhere, created["session_id"])
        assert await imported.get("/export") == document
        stop = await imported.post("/restart", wait=30, include=["locals", "watches"])
        assert stop["status"] == "paused"
        assert stop["stop"]["watches"][0]["result"] == "3", stop


async def test_a_clone_is_the_same_session_again_and_independent(api: Api, program: Write) -> None:
    script = program(SCRIPT)
    session = await full_session(api, script)
    created = await session.post("/clone")
    assert created["name"] == "copy of full"
    assert created["status"] == "created"
    clone = Session(api, created["session_id"])
    original = await session.get("/export")
    assert await clone.get("/export") == {**original, "name": "copy of full"}
    await clone.delete("/breakpoints/bp_1")
    await clone.breakpoint(script.text, 1)
    assert await session.get("/export") == original
    named = await session.post("/clone", name="second")
    assert named["name"] == "second"
    assert (await clone.post("/restart", wait=30))["status"] == "paused"
    assert (await session.get())["status"] == "terminated"


async def test_a_clone_that_cannot_be_kept_is_none(
    api: Api, program: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, session = program(SCRIPT), await api.session()
    await session.breakpoint(script.text, script.line("work"))

    async def keep(self: OwnSession) -> None:
        if len(self.breakpoints):
            raise OSError("as by a fault of the relay")

    monkeypatch.setattr(OwnSession, "keep", keep)
    assert (await refused(api, "POST", f"{session.path}/clone", {})).code == "INTERNAL_ERROR"
    listed = (await api.get("/sessions"))["items"]
    assert [one["session_id"] for one in listed] == [session.id]


async def test_a_bad_document_is_refused_and_imports_nothing(api: Api, program: Write) -> None:
    script = program("here = 1\n")
    point = {"file": script.text, "line": 1}
    for body, code in (
        ({}, "INVALID_REQUEST"),
        ({"format": 2}, "INVALID_REQUEST"),
        ({"format": "1"}, "INVALID_REQUEST"),
        ({"format": 1, "surprise": 1}, "INVALID_REQUEST"),
        ({"format": 1, "adapter": "cobol"}, "INVALID_REQUEST"),
        ({"format": 1, "config": {"timeout_minutes": 0}}, "INVALID_REQUEST"),
        ({"format": 1, "config": {"project_root": "/no/such"}}, "INVALID_REQUEST"),
        ({"format": 1, "launch": {"args": []}}, "INVALID_REQUEST"),
        ({"format": 1, "launch": {"script": "a"}, "attach": {"pid": 1}}, "INVALID_REQUEST"),
        ({"format": 1, "breakpoints": [{**point, "line": 9}]}, "BREAKPOINT_INVALID_LINE"),
        ({"format": 1, "watches": [{"expression": "1 +"}]}, "EVALUATE_ERROR"),
    ):
        assert (await refused(api, "POST", "/sessions/import", body)).code == code, body
    assert (await api.get("/sessions"))["total"] == 0


async def test_ten_sessions_live_side_by_side_each_with_an_id_of_its_own(
    api: Api, program: Write
) -> None:
    script = program("import sys\nhere = sys.argv[1]\nthere = 1  # @there\n")
    sessions = [await api.session(name=str(number)) for number in range(10)]
    for number, session in enumerate(sessions):
        await session.breakpoint(script.text, script.line("there"))
        await session.launch(script.text, wait=0, args=[str(number)])
    for session in sessions:
        await session.get("/events", types="stopped", timeout=30)
    listed = (await api.get("/sessions"))["items"]
    assert [item["session_id"] for item in listed] == [session.id for session in sessions]
    assert len({item["session_id"] for item in listed}) == 10
    assert {item["status"] for item in listed} == {"paused"}
    for number, session in enumerate(sessions):
        assert (await session.evaluate("here"))["result"] == repr(str(number))
