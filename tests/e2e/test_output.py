"""Output and input: whole, in order, to the last byte, whatever ends the program."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from relay import Settings
from tests.e2e.api import Api, Refused, Session
from tests.e2e.conftest import running_relay
from tests.programs import Program

RUNGS = ("fast", "plain", "adapter")
Write = Callable[..., Program]


async def pages(session: Session, **params: Any) -> list[dict[str, Any]]:
    """Every page of the output, by its cursors."""
    found = [await session.get("/output", **params)]
    while found[-1]["has_more"]:
        found.append(await session.get("/output", **params, cursor=found[-1]["next_cursor"]))
    return found


def text_of(answers: Iterable[dict[str, Any]]) -> str:
    return "".join(entry["output"] for page in answers for entry in page["entries"])


# To the last byte --------------------------------------------------------------------

DEATHS = {
    "exit": ("raise SystemExit(3)", 3),
    "os_exit": ("os._exit(4)", 4),
    "kill": ("os.kill(os.getpid(), signal.SIGKILL)", -9),
    "segfault": ("import ctypes; ctypes.string_at(0)", -11),
    "abort": ("os.abort()", -6),
}


@pytest.mark.parametrize("death", DEATHS)
@pytest.mark.parametrize("rung", RUNGS)
async def test_all_that_was_written_before_a_sudden_death_is_there(
    api: Api, program: Write, rung: str, death: str
) -> None:
    how, code = DEATHS[death]
    script = program(f"""
        import os, signal, sys
        for number in range(3000):
            print("line", number)
            print("error", number, file=sys.stderr)
        os.write(1, b"last word")
        os.write(2, b"last groan")
        {how}
    """)
    session = await api.session()
    ended = await session.launch(script.text, launch_mode=rung, stop_on_exception=False)
    assert (ended["status"], ended["exit_code"]) == ("terminated", code)
    lines = "".join(f"line {number}\n" for number in range(3000))
    errors = "".join(f"error {number}\n" for number in range(3000))
    assert await session.printed("stdout") == lines + "last word"
    assert (await session.printed("stderr")).startswith(errors + "last groan")


@pytest.mark.parametrize("rung", RUNGS)
async def test_what_was_printed_before_a_stop_is_there_when_the_stop_is(
    api: Api, program: Write, rung: str
) -> None:
    script = program("""
        import sys
        for number in range(20):
            print("whole", number)
            print("no newline", number, end="")
            sys.stderr.write("E%d" % number)
            here = number  # @stop
            print()
    """)
    session = await api.session()
    await session.breakpoint(script.text, script.line("stop"))
    stop = await session.launch(script.text, launch_mode=rung)
    out = err = ""
    for number in range(20):
        assert stop["status"] == "paused"
        out += f"whole {number}\nno newline {number}"
        err += f"E{number}"
        assert await session.printed("stdout") == out
        assert await session.printed("stderr") == err
        out += "\n"
        stop = await session.resume()
    assert stop["status"] == "terminated"
    assert await session.printed("stdout") == out


async def test_output_events_stand_before_the_stop_that_they_precede(
    api: Api, program: Write
) -> None:
    script = program("""
        print("one")
        first = 1  # @first
        print("two")
        second = 2  # @second
    """)
    session = await api.session()
    await session.breakpoint(script.text, script.line("first"))
    await session.breakpoint(script.text, script.line("second"))
    await session.launch(script.text)
    await session.resume()
    seen = [
        event["body"].get("output") or event["type"]
        for event in await session.events("output", "stopped")
    ]
    assert seen == ["one\n", "stopped", "two\n", "stopped"]


# Floods -------------------------------------------------------------------------------


async def test_a_flood_comes_whole_through_pages(tmp_path: Any, program: Write) -> None:
    script = program("""
        import sys
        for number in range(200_000):
            sys.stdout.write("%d\\n" % number)
    """)
    settings = Settings(
        port=0,
        state_dir=tmp_path / "state",
        project_root=tmp_path,
        output_limit_bytes=64 * 1024 * 1024,
    )
    async with running_relay(settings) as api:
        session = await api.session()
        ended = await session.launch(script.text, wait=120)
        assert ended["exit_code"] == 0
        found = await pages(session, limit=1000)
        assert len(found) == 200
        assert {page["dropped"] for page in found} == {0}
        assert text_of(found) == "".join(f"{number}\n" for number in range(200_000))


async def test_over_the_cap_the_oldest_go_and_are_counted(tmp_path: Any, program: Write) -> None:
    script = program("""
        for number in range(10_000):
            print(number)
    """)
    settings = Settings(
        port=0, state_dir=tmp_path / "state", project_root=tmp_path, output_limit_bytes=100_000
    )
    async with running_relay(settings) as api:
        session = await api.session()
        await session.launch(script.text, wait=60)
        found = await pages(session, limit=1000)
        printed = "".join(f"{number}\n" for number in range(10_000))
        kept, dropped = text_of(found), found[0]["dropped"]
        assert printed.endswith(kept)
        gone = printed.removesuffix(kept).count("\n")
        # Python writes 8 KB at once: a line in which a write ends may come as two entries.
        assert 0 < gone <= dropped <= gone + len(printed) // 8192
        assert {page["dropped"] for page in found[1:]} <= {0}


@pytest.mark.parametrize(("rung", "count"), [("fast", 20_000), ("plain", 4000), ("adapter", 4000)])
async def test_logpoints_arrive_all_and_in_order(
    api: Api, program: Write, rung: str, count: int
) -> None:
    script = program(f"""
        for number in range({count}):
            total = number * 2  # @log
        print("done")
    """)
    session = await api.session()
    await session.breakpoint(
        script.text, script.line("log"), log_message="n={number} {{literally}}"
    )
    ended = await session.launch(script.text, wait=240, launch_mode=rung)
    assert ended["exit_code"] == 0
    lines = (await session.printed("console")).splitlines()
    assert lines == [f"n={number} {{literally}}" for number in range(count)]
    assert await session.printed("stdout") == "done\n"


# Categories, bytes, terminals ----------------------------------------------------------


async def test_a_category_is_paged_by_itself(api: Api, program: Write) -> None:
    script = program("""
        import sys
        for number in range(500):
            print("out", number)
            print("err", number, file=sys.stderr)
    """)
    session = await api.session()
    await session.launch(script.text)
    for category, word in (("stdout", "out"), ("stderr", "err")):
        found = await pages(session, category=category, limit=7)
        assert {entry["category"] for page in found for entry in page["entries"]} == {category}
        assert text_of(found) == "".join(f"{word} {number}\n" for number in range(500))
        last = await session.get("/output", category=category, cursor=found[-1]["next_cursor"])
        assert (last["entries"], last["has_more"]) == ([], False)


async def test_a_cursor_of_another_listing_is_refused(api: Api) -> None:
    session = await api.session()
    events = await session.get("/events")
    with pytest.raises(Refused) as refused:
        await session.get("/output", cursor=events["next_cursor"])
    assert refused.value.code == "INVALID_PARAMETER"


@pytest.mark.parametrize("rung", RUNGS)
async def test_bytes_that_are_no_utf8_are_shown_escaped(
    api: Api, program: Write, rung: str
) -> None:
    script = program("""
        import os
        os.write(1, bytes(range(128, 256)) + b"\\n")
        for piece in ("gr\\u00fc\\u00df \\U0001f41b\\n".encode()[i:i + 1] for i in range(12)):
            os.write(1, piece)
        os.write(1, b"cut \\xf0\\x9f")
    """)
    session = await api.session()
    await session.launch(script.text, launch_mode=rung)
    escaped = "".join(f"\\x{number:02x}" for number in range(128, 256))
    assert await session.printed() == f"{escaped}\ngrüß 🐛\ncut \\xf0\\x9f"


@pytest.mark.parametrize("rung", RUNGS)
async def test_a_terminal_is_one_stream_and_a_terminal(api: Api, program: Write, rung: str) -> None:
    script = program("""
        import os, sys
        print([stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)])
        print("to stderr", file=sys.stderr)
        print(os.ttyname(0) == os.ttyname(1) == os.ttyname(2), open("/dev/tty").isatty())
        print("hello", input("name? "))
    """)
    session = await api.session()
    await session.launch(script.text, wait=0, launch_mode=rung, console="integratedTerminal")
    await until_printed(session, "name? ")
    await session.post("/input", input="tty\n")
    await until_over(session)
    expected = "[True, True, True]\nto stderr\nTrue True\nname? hello tty\n"
    assert await session.printed("stdout") == expected
    assert await session.printed("stderr") == ""


# Input ------------------------------------------------------------------------------------

ECHO = """
    import sys
    for line in sys.stdin:
        print("got", repr(line))
    print("end of file")
"""


@pytest.mark.parametrize("route", ["/input", "/stdin"])
@pytest.mark.parametrize("rung", RUNGS)
async def test_input_reaches_the_program_until_end_of_file(
    api: Api, program: Write, rung: str, route: str
) -> None:
    script = program(ECHO)
    session = await api.session()
    await session.launch(script.text, wait=0, launch_mode=rung)
    assert await session.post(route, input="grüße\n") == {"written": 8}
    await until_printed(session, "got 'grüße\\n'\n")
    assert await session.post(route, input="rest", eof=True) == {"written": 4}
    assert (await until_over(session))["exit_code"] == 0
    assert await session.printed() == "got 'grüße\\n'\ngot 'rest'\nend of file\n"


async def test_input_after_end_of_file_is_refused(api: Api, program: Write) -> None:
    script = program("""
        import sys, time
        sys.stdin.read()
        print("read")
        time.sleep(600)
    """)
    session = await api.session()
    await session.launch(script.text, wait=0)
    await session.post("/input", eof=True)
    await until_printed(session, "read\n")
    with pytest.raises(Refused) as refused:
        await session.post("/input", input="more\n")
    assert (refused.value.status, refused.value.code) == (409, "STDIN_CLOSED")


async def test_much_input_waits_for_a_slow_reader(api: Api, program: Write) -> None:
    script = program("""
        import sys
        print("stopped first")  # @before
        print(len(sys.stdin.read()))
    """)
    session = await api.session()
    await session.launch(script.text, wait=0)
    written = await session.post("/input", input="x" * 1_000_000, eof=True)
    assert written == {"written": 1_000_000}
    await until_over(session)
    assert (await session.printed()).splitlines()[-1] == "1000000"


async def until_printed(session: Session, text: str) -> None:
    """Until the program's output ends with `text`; the test's own deadline is generous."""
    cursor = None
    while not (await session.printed()).endswith(text):
        params = {"timeout": 30, "types": "output,terminated"}
        page = await session.get("/events", **params, **({"cursor": cursor} if cursor else {}))
        assert page["events"], f"{text!r} was not printed within 30 s"
        cursor = page["next_cursor"]


async def until_over(session: Session) -> dict[str, Any]:
    page = await session.get("/events", timeout=30, types="terminated")
    assert page["events"], "the program did not end within 30 s"
    body: dict[str, Any] = page["events"][0]["body"]
    return body
