"""Standard input: who waits for it says so and for what, and nobody else has to wait for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from relay import Hub
from relay.process.stdin_queue import QUEUE_BYTES
from relay.session.debuggee import stdin_watch
from tests.e2e.api import Api, Refused, Session
from tests.programs import Program

RUNGS = ("fast", "plain", "adapter")
Write = Callable[..., Program]

SYSCALLS = Path("/proc/self/syscall")


class Prompts:
    """The requests for input of one session, as they come."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._cursor: dict[str, str] = {}

    async def next(self) -> str:
        """The prompt of the next request; the session waits for it now."""
        page = await self._session.get(
            "/events", types="input_requested,terminated", timeout=60, limit=1, **self._cursor
        )
        assert page["events"], "nobody asked for input within 60 s"
        self._cursor = {"cursor": page["next_cursor"]}
        (event,) = page["events"]
        assert event["type"] == "input_requested", event
        prompt: str = event["body"]["prompt"]
        view = await self._session.get()
        assert (view["status"], view["waiting_for_input"]) == ("running", prompt)
        status = await self._session.get("/status")
        assert (status["status"], status["prompt"]) == ("waiting_for_input", prompt)
        return prompt


async def ended(session: Session) -> dict[str, Any]:
    page = await session.get("/events", timeout=60, types="terminated")
    assert page["events"], "the program did not end within 60 s"
    body: dict[str, Any] = page["events"][0]["body"]
    return body


# Waiting ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rung", "console"),
    [*((rung, "internalConsole") for rung in RUNGS), ("fast", "integratedTerminal")],
)
async def test_a_program_that_waits_for_input_says_so_with_its_prompt(
    api: Api, program: Write, rung: str, console: str
) -> None:
    script = program("""
        import sys
        print("Welcome")
        name = input("Enter your name: ")
        print("Age, in years? ", end="")
        age = sys.stdin.readline()
        print("Hello", name, int(age))
        print(sys.stdin.buffer.read())
    """)
    session = await api.session()
    await session.launch(script.text, wait=0, launch_mode=rung, console=console)
    prompts = Prompts(session)
    assert await prompts.next() == "Enter your name: "
    await session.post("/input", input="Ada\n")
    assert await prompts.next() == "Age, in years? "
    await session.post("/input", input="36\n")
    assert await prompts.next() == ""
    await session.post("/input", eof=True)
    assert (await ended(session))["exit_code"] == 0
    view = await session.get()
    assert (view["status"], view["waiting_for_input"]) == ("terminated", None)
    expected = "Welcome\nEnter your name: Age, in years? Hello Ada 36\nb''\n"
    assert await session.printed() == expected


async def test_half_a_line_is_no_answer_and_the_question_stands(api: Api, program: Write) -> None:
    script = program("""
        print(input("word? "))
    """)
    session = await api.session()
    await session.launch(script.text, wait=0)
    prompts = Prompts(session)
    assert await prompts.next() == "word? "
    await session.post("/input", input="hal")
    assert await prompts.next() == "word? "
    await session.post("/input", input="ves\n")
    assert (await ended(session))["exit_code"] == 0
    assert await session.printed() == "word? halves\n"


async def test_a_program_that_goes_on_waits_no_more(api: Api, program: Write) -> None:
    script = program("""
        import time
        input("go? ")
        print("gone")
        time.sleep(600)
    """)
    session = await api.session()
    await session.launch(script.text, wait=0)
    await Prompts(session).next()
    await session.post("/input", input="\n")
    await session.until_printed("gone\n")
    assert (await session.get())["waiting_for_input"] is None
    assert (await session.get("/status"))["status"] == "running"
    assert len(await session.events("input_requested")) == 1


async def test_a_thread_that_waits_is_told_while_the_others_work(api: Api, program: Write) -> None:
    script = program("""
        import sys, threading
        answered = threading.Event()

        def ask():
            for line in sys.stdin:
                print("heard", line, end="")
                answered.set()

        threading.Thread(target=ask, daemon=True).start()
        while not answered.wait(0.01):
            pass
        here = 1  # @here
    """)
    session = await api.session()
    await session.breakpoint(script.text, script.line("here"))
    await session.launch(script.text, wait=0)
    prompts = Prompts(session)
    await prompts.next()
    await session.post("/input", input="you\n")
    page = await session.get("/events", types="stopped", timeout=60)
    assert page["events"][0]["body"]["location"]["line"] == script.line("here")
    # The thread asks again, or will; stopped is stopped.
    assert (await session.get("/status"))["status"] == "paused"
    assert (await session.resume())["status"] == "terminated"


async def test_where_nobody_may_look_from_outside_the_program_says_it_itself(
    api: Api, program: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stdin_watch, "READ_CALLS", {})
    session = await api.session()
    await session.launch(program("print(input('blind? '))").text, wait=0)
    prompts = Prompts(session)
    assert await prompts.next() == "blind? "
    await session.post("/input", input="not ")
    assert await prompts.next() == "blind? "
    await session.post("/input", input="at all\n")
    assert (await ended(session))["exit_code"] == 0


@pytest.mark.skipif(not SYSCALLS.exists(), reason="this system does not show what threads do")
@pytest.mark.parametrize("rung", ["fast", "adapter"])
async def test_reads_beneath_python_are_seen_from_outside(
    api: Api, program: Write, rung: str
) -> None:
    script = program("""
        import os
        print("bare? ", end="", flush=True)
        print(os.read(0, 100))
        print("copy? ", end="", flush=True)
        print(os.read(os.dup(0), 100))
    """)
    session = await api.session()
    await session.launch(script.text, wait=0, launch_mode=rung)
    prompts = Prompts(session)
    assert await prompts.next() == "bare? "
    await session.post("/input", input="one\n")
    assert await prompts.next() == "copy? "
    await session.post("/input", input="two\n")
    assert (await ended(session))["exit_code"] == 0
    assert await session.printed() == "bare? b'one\\n'\ncopy? b'two\\n'\n"


async def test_a_step_over_a_question_ends_with_its_answer(api: Api, program: Write) -> None:
    script = program("""
        first = 1  # @first
        name = input("name? ")  # @ask
        last = 2  # @last
    """)
    session = await api.session()
    await session.breakpoint(script.text, script.line("first"))
    await session.launch(script.text)
    assert (await session.post("/step-over"))["current_location"]["line"] == script.line("ask")
    cursor = (await session.get("/events"))["next_cursor"]
    step = await session.post("/step-into", wait=0)
    assert step["status"] == "running"
    assert await Prompts(session).next() == "name? "
    await session.post("/input", input="Ada\n")
    page = await session.get("/events", types="stopped", timeout=60, cursor=cursor)
    assert page["events"], "the step did not end within 60 s"
    view = await session.get()
    # No step leads into what watches the input.
    assert view["current_location"]["line"] == script.line("last")
    assert (await session.locals())["name"]["value"] == "'Ada'"
    assert view["waiting_for_input"] is None


# Queued at the start --------------------------------------------------------------------------

SUM = """
    print("sum", int(input("a? ")) + int(input("b? ")))
    try:
        input("more? ")
    except EOFError:
        print("end")
"""


@pytest.mark.parametrize("rung", RUNGS)
async def test_lines_queued_at_launch_are_read_first_and_ask_nobody(
    api: Api, program: Write, rung: str
) -> None:
    script = program(SUM)
    session = await api.session()
    await session.launch(script.text, wait=0, launch_mode=rung, stdin_inputs=["1", "2\n"])
    assert await Prompts(session).next() == "a? b? sum 3\nmore? ".rpartition("\n")[2]
    assert len(await session.events("input_requested")) == 1
    await session.post("/input", eof=True)
    assert (await ended(session))["exit_code"] == 0
    assert await session.printed() == "a? b? sum 3\nmore? end\n"


async def test_lines_queued_at_launch_reach_a_terminal(api: Api, program: Write) -> None:
    script = program(SUM)
    session = await api.session()
    result = await session.launch(
        script.text, stdin_inputs=["20", "22", "no"], console="integratedTerminal"
    )
    assert (result["status"], result["exit_code"]) == ("terminated", 0)
    assert await session.printed() == "a? b? sum 42\nmore? "


@pytest.mark.parametrize(
    "inputs",
    ["text", [1], ["a\0b"], [None], {"a": 1}, ["x" * (QUEUE_BYTES // 2)]],
    ids=["text", "number", "nul", "null", "object", "much"],
)
async def test_bad_lines_at_launch_change_nothing(api: Api, program: Write, inputs: Any) -> None:
    script = program(SUM)
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await session.launch(script.text, stdin_inputs=inputs)
    assert (refused.value.status, refused.value.code) == (400, "INVALID_REQUEST")
    assert refused.value.details["errors"][0]["field"].startswith("stdin_inputs")
    assert (await session.get())["status"] == "created"


# Too early, too late, too much ------------------------------------------------------------------


async def test_input_without_a_running_program_is_refused(api: Api, program: Write) -> None:
    session = await api.session()
    for _ in range(2):
        for body in ({"input": "x\n"}, {"eof": True}):
            with pytest.raises(Refused) as refused:
                await session.post("/input", **body)
            assert (refused.value.status, refused.value.code) == (409, "INVALID_SESSION_STATE")
        if (await session.get())["status"] == "created":
            await session.launch(program("pass").text)
    assert (await session.get())["status"] == "terminated"


async def test_what_can_be_no_text_is_refused(api: Api, program: Write) -> None:
    session = await api.session()
    await session.launch(program("input()").text, wait=0)
    for bad in ("\0", 3, None, ["x"]):
        with pytest.raises(Refused) as refused:
            await session.post("/input", input=bad)
        assert refused.value.code == "INVALID_REQUEST"
    # Half of a surrogate pair, which JSON can say and no encoding can.
    response = await api.client.post(
        f"{session.path}/input",
        content=b'{"input": "\\ud800"}',
        headers={"Content-Type": "application/json"},
    )
    assert response.json()["error"]["code"] == "INVALID_REQUEST"
    assert (await session.get())["status"] == "running"


async def test_a_program_that_does_not_read_holds_up_nobody(api: Api, program: Write) -> None:
    script = program("""
        import sys
        before = 1  # @before
        print(len(sys.stdin.read()))
    """)
    session = await api.session()
    await session.breakpoint(script.text, script.line("before"))
    assert (await session.launch(script.text))["status"] == "paused"
    size = 9_000_000
    assert await session.post("/input", input="x" * size) == {"written": size}
    with pytest.raises(Refused) as refused:
        await session.post("/input", input="y" * size)
    assert (refused.value.status, refused.value.code) == (413, "PAYLOAD_TOO_LARGE")
    assert 0 < refused.value.details["waiting_bytes"] < size
    assert refused.value.details["max_bytes"] == QUEUE_BYTES
    assert (await session.evaluate("1 + 1"))["result"] == "2"
    await session.post("/input", input="z", eof=True)
    result = await session.resume()
    assert (result["status"], result["exit_code"]) == ("terminated", 0)
    assert await session.printed() == f"{size + 1}\n"


async def test_a_session_with_unread_input_is_deleted_at_once(api: Api, program: Write) -> None:
    session = await api.session()
    await session.launch(program("import time\ntime.sleep(600)\n").text, wait=0)
    await session.post("/input", input="x" * 5_000_000)
    assert (await session.delete())["deleted"] is True


async def test_what_a_program_refuses_to_read_is_told(api: Api, program: Write) -> None:
    script = program("""
        import os, time
        before = 1  # @before
        os.close(0)
        print("closed")
        time.sleep(600)
    """)
    session = await api.session()
    await session.breakpoint(script.text, script.line("before"))
    await session.launch(script.text)
    await session.post("/input", input="x" * 1_000_000)
    await session.resume(wait=0)
    page = await session.get("/events", types="warning", timeout=60)
    assert "closed its standard input" in page["events"][0]["body"]["message"]
    with pytest.raises(Refused) as refused:
        await session.post("/input", input="more\n")
    assert (refused.value.status, refused.value.code) == (409, "STDIN_CLOSED")
    assert (await session.get())["status"] == "running"


async def test_a_read_that_is_reported_after_the_end_of_the_input_asks_for_nothing(
    opened: tuple[Hub, Api], program: Write
) -> None:
    """The probe's word of it may be on its way while a client ends the input."""
    hub, api = opened
    session = await api.session()
    source = "import sys, time\nsys.stdin.read()\ntime.sleep(600)\n"
    await session.launch(program(source).text, wait=0)
    await session.get("/events", types="input_requested", timeout=60)
    await session.post("/input", eof=True)
    watch = hub.get(session.id).require_program("look").stdin_watch
    assert watch is not None
    watch.reported(waiting=True)
    assert hub.get(session.id).waiting_for_input is None
