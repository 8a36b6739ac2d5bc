"""A command that is no Python program, such as `make` or a shell's script: what it starts in Python is debugged."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.e2e.api import Api, Refused, Session
from tests.e2e.served import alive, until
from tests.e2e.test_configured_adapters import below
from tests.programs import Program

Write = Callable[..., Program]
SHELL = shutil.which("sh") or "/bin/sh"

COUNTS = """
    import sys

    def count(limit):
        number = 0
        while number < limit:
            number += 1  # @count
        return number  # @done

    print("begun", flush=True)
    print("counted", count(int(sys.argv[1])), flush=True)
    sys.exit(3)
"""


def of_shell(program: Program, *words: str, then: str = "exit $?") -> dict[str, Any]:
    """A launch of a shell that runs the program by this Python, and goes on."""
    line = f"'{sys.executable}' '{program.path}' {' '.join(words)}; {then}"
    return {"script": SHELL, "args": ["-c", line], "debug_subprocesses": True}


async def launched(api: Api, **body: Any) -> tuple[Session, dict[str, Any]]:
    session = await api.session()
    return session, await session.post("/launch", **{"wait": 60, **body})


async def test_what_a_shell_starts_stops_steps_and_ends_with_the_code_of_the_shell(
    api: Api, program: Write
) -> None:
    counts = program(COUNTS)
    session = await api.session()
    await session.breakpoint(counts.text, counts.line("count"))
    stop = await session.post("/launch", wait=60, **of_shell(counts, "3"))
    assert (stop["status"], stop["current_location"]["line"]) == ("paused", counts.line("count"))
    assert (stop["program"]["script"], stop["program"]["args"][0]) == (SHELL, "-c")
    assert (await session.locals())["number"]["value"] == "0"
    (known,) = (await session.get("/breakpoints"))["breakpoints"]
    await session.delete(f"/breakpoints/{known['id']}")
    await session.breakpoint(counts.text, counts.line("done"))
    stop = await session.resume()
    assert stop["current_location"]["line"] == counts.line("done")
    assert (await session.evaluate("number * 2"))["result"] == "6"
    end = await session.resume()
    assert (end["status"], end["exit_code"]) == ("terminated", 3)
    assert await session.printed() == "begun\ncounted 3\n"


async def test_it_is_paused_changed_and_terminated_though_the_shell_lives_on(
    api: Api, program: Write
) -> None:
    counts = program(COUNTS)
    before = below()
    session, _ = await launched(api, **of_shell(counts, "10000000000", then="sleep 600"), wait=0)

    assert "begun" in await session.until_printed("begun\n")
    paused = await session.post("/pause", wait=60)
    assert (paused["stop_reason"], paused["current_location"]["path"]) == ("pause", counts.text)
    await session.breakpoint(counts.text, counts.line("count"))
    assert (await session.resume())["current_location"]["line"] == counts.line("count")
    started = below() - before
    told = await session.post("/terminate")
    assert told["status"] == "terminated"
    await until(lambda: not alive(started), "all of them to be gone")


async def test_another_run_of_the_command_is_as_the_first(api: Api, program: Write) -> None:
    counts = program(COUNTS)
    session = await api.session()
    await session.breakpoint(counts.text, counts.line("done"))
    for verb in ("launch", "restart"):
        body = of_shell(counts, "2") if verb == "launch" else {}
        stop = await session.post(f"/{verb}", wait=60, **body)
        assert stop["current_location"]["line"] == counts.line("done"), verb
    assert (await session.resume())["exit_code"] == 3


async def test_a_failure_of_what_it_starts_is_a_stop(api: Api, program: Write) -> None:
    fails = program("def price(name):\n    return {}[name]  # @price\n\nprice('milk')\n")
    session, stop = await launched(api, **of_shell(fails), stop_on_exception="uncaught")
    assert (stop["stop_reason"], stop["current_location"]["line"]) == (
        "exception",
        fails.line("price"),
    )
    assert (await session.locals())["name"]["value"] == "'milk'"
    assert (await session.resume())["exit_code"] == 1


async def test_it_runs_as_a_shell_would_have_it(api: Api, tmp_path: Path) -> None:
    """Its name, its environment, its standard input, the signals that Python ignores, its exit code."""
    script = tmp_path / "tool"
    script.write_text(
        '#!/bin/sh\necho "$0" "$@" "$COLOUR"; read line; echo "read $line"; '
        "grep SigIgn /proc/self/status; exit 7\n"
    )
    script.chmod(0o755)
    # As in a fresh program, whatever those who run the tests have had them ignore.
    asked = ["env", "--default-signal", "grep", "SigIgn", "/proc/self/status"]
    ignored = (await trio.run_process(asked, capture_stdout=True)).stdout.decode()
    body: dict[str, Any] = {"script": str(script), "args": ["a b"], "debug_subprocesses": True}
    env = {"COLOUR": "red", "PATH": f"{tmp_path}:/usr/bin:/bin"}
    session, end = await launched(api, **body, env=env, stdin_inputs=["one"])
    assert (end["status"], end["exit_code"]) == ("terminated", 7)
    name = str(script)  # as the system gives it to the interpreter of a script
    assert await session.printed() == f"{name} a b red\nread one\n{ignored}"


async def test_it_has_the_word_that_a_shell_gives_it(api: Api, tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    shutil.copy(shutil.which("cat") or "/bin/cat", tool)
    for path, word in ((f"{tmp_path}:/usr/bin:/bin", "tool"), ("/usr/bin:/bin", str(tool))):
        session, end = await launched(
            api, script=str(tool), args=["/nosuch"], env={"PATH": path}, debug_subprocesses=True
        )
        assert end["exit_code"] == 1
        assert (await session.printed("stderr")).startswith(f"{word}: ")


async def test_what_cannot_be_run_is_said_as_by_a_shell(api: Api, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    bad.write_text("#!/no/such/interpreter\n")
    bad.chmod(0o755)
    session, end = await launched(api, script=str(bad), debug_subprocesses=True)
    assert (end["status"], end["exit_code"]) == ("terminated", 126)
    assert await session.printed("stderr") == f"{bad}: No such file or directory\n"


async def test_without_its_children_a_command_is_refused_with_what_to_do(api: Api) -> None:
    for children in ({}, {"debug_subprocesses": "auto"}, {"debug_subprocesses": False}):
        session = await api.session()
        with pytest.raises(Refused) as refused:
            await session.post("/launch", script=SHELL, args=["-c", "true"], **children)
        assert refused.value.code == "LAUNCH_SYNTAX_ERROR"
        assert '"debug_subprocesses": true' in refused.value.details["suggestion"]
        assert (await session.get("/status"))["status"] == "created"


@pytest.mark.parametrize(
    "field", [{"python_args": ["-O"]}, {"launch_mode": "plain"}, {"stop_on_entry": True}]
)
async def test_what_only_a_python_program_has_is_refused(api: Api, field: dict[str, Any]) -> None:
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await session.post("/launch", script=SHELL, args=[], debug_subprocesses=True, **field)
    assert (refused.value.status, refused.value.code) == (400, "INVALID_REQUEST")
    assert refused.value.details["errors"][0]["field"] == next(iter(field))
    assert (await session.get("/status"))["status"] == "created"


async def test_who_wrote_in_what_the_command_became_is_asked_of_a_record(
    api: Api, program: Write
) -> None:
    """A second run of the command was told to have gone otherwise, though no run can be brought there."""
    counts = program(COUNTS)
    session = await api.session()
    await session.breakpoint(counts.text, counts.line("done"))
    line = f"exec '{sys.executable}' '{counts.path}' 3"
    await session.launch(SHELL, args=["-c", line], debug_subprocesses=True, wait=60)
    with pytest.raises(Refused, match="it stopped in a child process") as refused:
        await session.post("/history", expression="number")
    assert refused.value.code == "NOT_SUPPORTED"
    assert "record" in refused.value.details["suggestion"]
