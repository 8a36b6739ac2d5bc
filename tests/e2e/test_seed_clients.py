"""The clients of the API document's section 8 do what they are for, as they are printed.

Their text is kept in `clients/`; only the port and the project's path are replaced.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.e2e import seed_programs
from tests.e2e.api import Api, Session

CLIENTS = Path(__file__).with_name("clients")
SECONDS = 60
"""Far more than any of them takes."""

MISSING = [tool for tool in ("bash", "curl", "jq") if shutil.which(tool) is None]
needs_tools = pytest.mark.skipif(
    # In CI they must be there: running into their absence is the better message.
    bool(MISSING) and not os.environ.get("CI"),
    reason=f"the printed shell clients need {', '.join(MISSING)}",
)


def printed_client(name: str, api: Api, project: Path) -> str:
    """The client's text, with this relay's port and this project's path."""
    text = (CLIENTS / name).read_text()
    port = api.client.base_url.port
    return text.replace("localhost:5679", f"localhost:{port}").replace(
        "/Users/dev/myproject", str(project)
    )


def environment() -> dict[str, str]:
    """The environment without proxies: nothing may stand between client and loopback."""
    return {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}


async def run(*command: str, text: str, cwd: Path) -> str:
    """What the client prints to its end, reading its program from standard input."""
    with trio.fail_after(SECONDS):
        done = await trio.run_process(
            command,
            stdin=text.encode(),
            capture_stdout=True,
            capture_stderr=True,
            check=False,
            env=environment(),
            cwd=cwd,
        )
    assert (done.returncode, done.stderr.decode()) == (0, ""), done.stdout.decode()
    return done.stdout.decode()


async def run_shell(name: str, api: Api, project: Path) -> str:
    script = project / name
    script.write_text(printed_client(name, api, project))
    return await run("bash", str(script), text="", cwd=project)


def sections(printed: str) -> dict[str, str]:
    """What a shell client prints under each `=== heading ===`."""
    _, *parts = re.split(r"=== (.+?) ===\n", "\n" + printed)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def objects(text: str) -> list[Any]:
    """The JSON values that stand in the text one after the other."""
    found, rest = [], text.strip()
    while rest:
        value, end = json.JSONDecoder().raw_decode(rest)
        found.append(value)
        rest = rest[end:].strip()
    return found


def only(text: str) -> Any:
    (value,) = objects(text)
    return value


@needs_tools
async def test_basic_session(api: Api, tmp_path: Path) -> None:
    main = seed_programs.csv_project(tmp_path)
    seen = sections(await run_shell("basic.sh", api, tmp_path))

    assert re.fullmatch(r"Session ID: sess_[0-9a-f]{8}\n", seen["Creating session"])
    (placed,) = only(seen["Setting breakpoint"])
    assert (placed["id"], placed["verified"], placed["line"]) == ("bp_1", True, 25)
    launched = only(seen["Launching program"])
    assert launched["program"] == {
        "script": main.text,
        "args": ["--input", "data.csv"],
        "cwd": str(tmp_path),
    }
    assert launched["pid"] > 0
    assert seen["Waiting for breakpoint"] == "Paused!\n"
    assert only(seen["Current location"])["line"] == 25
    assert only(seen["Current location"])["function"] == "process"
    assert [frame["name"] for frame in only(seen["Stack trace"])] == ["process", "<module>"]
    local = {variable["name"]: variable for variable in only(seen["Local variables"])}
    assert (local["verbose"]["value"], local["verbose"]["type"]) == ("False", "bool")
    assert local["data"]["indexed_variables"] == 3
    assert only(seen["Evaluating expression"])["result"] == "3"
    assert only(seen["Step over"])["line"] == 26
    assert only(seen["Continuing"])["continued"] is True
    assert seen["Waiting for completion"] == "Program terminated\n"
    assert [(e["category"], e["output"]) for e in only(seen["Program output"])] == [
        ("stdout", "total 12\n")
    ]
    deleted = only(seen["Cleaning up"])
    assert (deleted["deleted"], deleted["final_status"]) == (True, "terminated")
    assert deleted["exit_code"] == 0
    assert (await api.get("/sessions"))["total"] == 0


async def standstill(session: Session) -> Any:
    """The session, once its program stands still."""
    page = await session.get("/events")
    with trio.fail_after(SECONDS):
        while page["session_status"] == "running":
            cursor = page["next_cursor"]
            page = await session.get(
                "/events", cursor=cursor, types="stopped,terminated", timeout=30
            )
    return await session.get()


@needs_tools
async def test_conditional_breakpoints(api: Api, tmp_path: Path) -> None:
    seed_programs.write(tmp_path, "processor.py", seed_programs.PROCESSOR)
    answers = objects(await run_shell("conditional.sh", api, tmp_path))

    placed = [bp for answer in answers[:-1] for bp in answer["data"]["breakpoints"]]
    assert [(bp["id"], bp["line"], bp["verified"]) for bp in placed] == [
        ("bp_1", 42, True),
        ("bp_2", 45, True),
        ("bp_3", 48, True),
    ]
    session = Session(api, answers[-1]["data"]["session_id"])
    assert (await standstill(session))["current_location"]["line"] == 45
    assert (await session.evaluate("i"))["result"] == "49"
    assert (await session.resume())["current_location"]["line"] == 42
    assert (await session.evaluate("len(items)"))["result"] == "101"
    assert (await session.resume())["status"] == "terminated"
    assert (await session.printed("console")).splitlines() == [
        f"Processing item {i}: item-{i}" for i in range(seed_programs.ITEMS)
    ]
    assert (await session.printed("stdout")).startswith("102 ")


@needs_tools
async def test_exception(api: Api, tmp_path: Path) -> None:
    buggy = seed_programs.write(tmp_path, "buggy_script.py", seed_programs.BUGGY)
    seen = sections(await run_shell("exception.sh", api, tmp_path))

    raised = only(seen["Exception caught!"])
    assert raised["type"] == "ValueError"
    assert raised["message"] == "invalid literal for int() with base 10: 'two'"
    assert f'File "{buggy.text}", line 4, in convert' in raised["traceback"]
    frames = only(seen["Stack trace at exception"])
    assert (frames[0]["name"], frames[0]["line"]) == ("convert", 4)
    assert {f["source"]["path"] for f in frames} == {buggy.text}
    (culprit,) = only(seen["Variables at crash"])
    assert (culprit["name"], culprit["value"]) == ("problematic_var", "'two'")
    kind, text, deleted = objects(seen["Diagnosing cause"])
    assert (kind["result"], kind["type"]) == ("<class 'str'>", "type")
    assert text["type"] == "str"
    assert "two" in text["result"]
    assert deleted["data"]["deleted"] is True


@asynccontextmanager
async def typed_shell(cwd: Path) -> AsyncIterator[trio.StapledStream[Any, Any]]:
    """A bash to which somebody types a script; the stream is its input and its output."""
    process = await trio.lowlevel.open_process(
        ["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(), cwd=cwd
    )
    assert process.stdio is not None
    async with process.stdio:
        try:
            yield process.stdio
        finally:
            process.kill()
            with trio.CancelScope(shield=True):
                await process.wait()


@needs_tools
async def test_multiple_files(api: Api, tmp_path: Path) -> None:
    """The script asks for the stack `when paused`, so the rest is typed when it is."""
    files = seed_programs.multifile_project(tmp_path)
    script = printed_client("multifile.sh", api, tmp_path)
    start, when_paused, rest = script.partition("# When paused")
    assert when_paused
    with trio.fail_after(SECONDS):
        async with typed_shell(tmp_path) as shell:
            await shell.send_all(f"{start}\necho typed\n".encode())
            first = b""
            while not first.endswith(b"typed\n"):
                first += await shell.receive_some()
            placed, launched = objects(first.decode().removesuffix("typed\n"))
            session = Session(api, launched["data"]["session_id"])
            assert (await standstill(session))["current_location"]["line"] == 15
            await shell.send_all((when_paused + rest).encode())
            await shell.send_eof()
            last = b"".join([piece async for piece in shell.receive_stream]).decode()

    assert [bp["verified"] for bp in placed["data"]["breakpoints"]] == [True, True, True]
    *frames, stepped, location, continued = objects(sections(last)["Multi-file stack trace"])
    assert frames == [
        {"name": "main", "file": files["main.py"].text, "line": 15},
        {"name": "<module>", "file": files["main.py"].text, "line": 18},
    ]
    assert stepped["data"]["stop_reason"] == "step"
    assert location["path"] == files["utils/helpers.py"].text
    assert location["function"] == "load"
    assert continued["data"]["continued"] is True
    await stops_in_the_other_files(session, files["models/data.py"].text)


async def stops_in_the_other_files(session: Session, third: str) -> None:
    """What the script leaves behind goes on: two more stops, then the end."""
    now = (await standstill(session))["current_location"]
    assert (now["path"], now["line"]) == (third, 78)
    frames = (await session.get("/stacktrace"))["frames"]
    assert len({frame["source"]["path"] for frame in frames}) == 3
    assert (await session.resume())["current_location"]["line"] == 42
    assert (await session.resume())["exit_code"] == 0


async def test_python_client(api: Api, tmp_path: Path) -> None:
    main = seed_programs.csv_project(tmp_path)
    text = printed_client("client.py.txt", api, tmp_path)
    printed = (await run(sys.executable, "-", text=text, cwd=tmp_path)).splitlines()

    assert re.fullmatch(r"Created session: sess_[0-9a-f]{8}", printed[0])
    assert printed[1:3] == ["Set 1 breakpoint(s)", "Program launched"]
    assert f"{main.text}" in printed[3]
    assert "'line': 25" in printed[3]
    assert printed[4:7] == [
        "Stack trace (2 frames):",
        f"  process at {main.text}:25",
        f"  <module> at {main.text}:{len(main.path.read_text().splitlines())}",
    ]
    assert printed[7] == "Local variables:"
    assert "  verbose = True (bool)" in printed
    assert printed[-6:-4] == ["Evaluation result: 6 (int)", "Program terminated"]
    assert printed[-4].startswith("Program output (")
    assert printed[-3:] == [
        "  [stdout] summing 3 orders",
        "  [stdout] total 12",
        "Session cleaned up",
    ]
