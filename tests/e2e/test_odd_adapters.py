"""Adapters of odd ways: what real debuggers do differently, and what broken ones do."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from relay import Settings
from relay.operations.execution import stepping
from tests.e2e.api import Api, Refused, Session
from tests.e2e.conftest import running_relay
from tests.e2e.served import alive, until
from tests.e2e.test_configured_adapters import below
from tests.editor.joining import editor, join, stack, terms
from tests.perl import driver
from tests.programs import Program
from tests.relays import environment

ADAPTER = str(Path(__file__).with_name("odd_adapter.py"))
MANY = 6
"""The adapter's reference of a value with 3 named children and 300 indexed ones."""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program.write(tmp_path / "odd.txt", "one  # @one\ntwo  # @two\nthree  # @three\n")


@asynccontextmanager
async def odd(settings: Settings, *habits: str, **more: Any) -> AsyncIterator[Api]:
    entry = {"command": [sys.executable, ADAPTER, *habits]}
    values = settings.model_dump() | {"adapters": {"odd": entry}} | more
    before = below()
    async with running_relay(Settings(**values)) as api:
        yield api
        started = below() - before
    await until(lambda: not alive(started), "all of them to be gone")


async def stopped(api: Api, program: Program, **more: Any) -> Session:
    session = await api.session(adapter="odd")
    await session.breakpoint(program.text, program.line("one"), **more)
    told = await session.launch(program.text)
    assert (told["status"], told["stop_reason"]) == ("paused", "breakpoint"), told
    return session


@pytest.mark.parametrize(
    "habits",
    ["early", "launches-late", "early launches-late", "asks", "nulls", "plain", "wrong"],
)
async def test_a_whole_session(settings: Settings, program: Program, habits: str) -> None:
    """Orders of the handshake, requests of its own, nulls, few capabilities, wrong types."""
    async with odd(settings, *habits.split()) as api:
        session = await api.session(adapter="odd")
        await session.breakpoint(program.text, program.line("one"))
        told = await session.launch(program.text)
        assert told["status"] == "paused"
        assert (await session.get("/threads"))["threads"][0]["name"] == "only"
        assert (await session.locals())["n"]["value"] == "1"
        assert (await session.post("/step-over"))["current_location"]["line"] == 2
        assert (await session.resume())["current_location"]["line"] == 3
        end = await session.resume()
        assert (end["status"], end["exit_code"]) == ("terminated", 3)


async def test_an_expression_is_no_command_of_the_debuggers(
    settings: Settings, program: Program
) -> None:
    """gdb takes `n` in the context `repl` for its `next`."""
    entry = {"command": [sys.executable, ADAPTER, "commands"], "repl_runs_commands": True}
    async with odd(settings, adapters={"odd": entry}) as api:
        session = await stopped(api, program)
        for asked in ({}, {"context": "repl"}, {"context": "watch"}):
            found = await session.post("/evaluate", expression="n", **asked)
            assert found["result"] == "1", (asked, found)


@pytest.mark.parametrize(
    ("habits", "code"),
    [
        ("hides-signals by-a-signal", -11),
        ("hides-signals", 0),
        ("by-a-signal", 3),
        ("hides-signals plain refuses", 0),
    ],
)
async def test_an_exit_code_that_stands_for_a_signal_is_looked_into(
    settings: Settings, program: Program, habits: str, code: int
) -> None:
    """gdb says 0 of a program that a signal has ended, and has the signal in an expression."""
    signal = "nosuch" if "refuses" in habits else "$_exitsignal"
    entry = {"command": [sys.executable, ADAPTER, *habits.split()], "exit_signal": signal}
    async with odd(settings, adapters={"odd": entry}) as api:
        session = await api.session(adapter="odd")
        end = await session.launch(program.text)
        while end["status"] == "paused":
            end = await session.resume()
        assert (end["status"], end["exit_code"]) == ("terminated", code)


@pytest.mark.parametrize(
    ("habits", "wanted", "sent"),
    [
        ("stops-unasked", "uncaught", ["panic"]),
        ("stops-unasked", False, []),
        ("", "uncaught", []),
    ],
)
async def test_an_adapter_that_stops_at_failures_by_itself_is_not_hindered(
    settings: Settings, program: Program, habits: str, wanted: Any, sent: list[str]
) -> None:
    """Delve stops at a panic unless it is sent a list without that."""
    async with odd(settings, *habits.split()) as api:
        session = await api.session(adapter="odd")
        await session.launch(program.text, stop_on_exception=wanted)
        messages = (await session.get("/dap-log", limit=200))["messages"]
        (asked,) = (
            one["message"]["arguments"]["filters"]
            for one in messages
            if one["message"].get("command") == "setExceptionBreakpoints"
            and one["message"]["type"] == "request"
        )
        assert asked == sent


async def test_local_variables_of_several_scopes(settings: Settings, program: Program) -> None:
    """As gdb has arguments and locals: all, the first of two of a name, a page at a time."""
    async with odd(settings, "two-scopes") as api:
        session = await stopped(api, program)
        whole = await session.get("/frames/0/variables")
        assert [one["name"] for one in whole["variables"]] == ["a", "n", "many"]
        page = await session.get("/frames/0/variables", offset=1, limit=1)
        assert [one["name"] for one in page["variables"]] == ["n"]
        assert (page["variables"][0]["value"], page["total"], page["has_more"]) == ("0", 3, True)


@pytest.mark.parametrize("habits", ["ends-early", "ends-early launches-late"])
async def test_a_program_that_ends_before_it_is_configured_has_run(
    settings: Settings, program: Program, habits: str
) -> None:
    async with odd(settings, *habits.split()) as api:
        session = await api.session(adapter="odd")
        await session.breakpoint(program.text, program.line("one"))
        told = await session.launch(program.text)
        assert (told["status"], told["exit_code"]) == ("terminated", 3)


async def test_one_that_knows_no_functions_is_not_told_of_any(
    settings: Settings, program: Program
) -> None:
    """It would refuse the request, and with it the launch."""
    async with odd(settings) as api:
        session = await api.session(adapter="odd")
        await session.post("/breakpoints", breakpoints=[{"function": "main"}])
        told = await session.launch(program.text)
        assert told["status"] == "paused"
        (named,) = (await session.get("/breakpoints"))["breakpoints"]
        assert (named["verified"], named["message"]) == (
            False,
            "The odd adapter cannot stop in a function by its name",
        )


async def test_what_listens_nowhere_cannot_be_attached_to(settings: Settings) -> None:
    listens = {"command": ["absent"], "attach_port": {}}
    async with odd(settings, adapters={"odd": listens}) as api:
        session = await api.session(adapter="odd")
        targets = {
            "nothing listens on 127.0.0.1:1": "127.0.0.1",
            "there is no host '..'": "..",
            f"there is no host '{'x' * 100}'": "x" * 100,
        }
        for words, host in targets.items():
            with pytest.raises(Refused) as refused:
                await session.post("/attach", host=host, port=1)
            assert (refused.value.status, refused.value.code) == (502, "ATTACH_REFUSED")
            assert refused.value.message == words
            assert "debugpy" not in refused.value.details["suggestion"]
        assert (await session.get())["status"] == "created"


async def test_no_stop_is_lost(settings: Settings, program: Program) -> None:
    """Without a thread, without exceptionInfo, without a stack."""
    async with odd(settings, "no-thread") as api:
        session = await stopped(api, program)
        assert (await session.get("/stacktrace"))["frames"][0]["line"] == 1
    async with odd(settings, "raises") as api:
        session = await api.session(adapter="odd")
        await session.breakpoint(program.text, program.line("one"))
        assert (await session.launch(program.text))["stop_reason"] == "exception"
        (told,) = await session.events("stopped")
        assert told["body"]["exception_info"]["description"] == "it went wrong"
    async with odd(settings, "no-stack") as api:
        session = await stopped(api, program)
        assert (await session.get("/status"))["location"] is None
        with pytest.raises(Refused, match="unknown goroutine"):
            await session.get("/stacktrace")
        assert (await session.resume())["status"] == "paused"


@pytest.mark.parametrize("habits", ["", "pages-nothing"])
async def test_pages_of_children(settings: Settings, program: Program, habits: str) -> None:
    """Items first; whether or not the adapter pages, and though it pages indexed ones only."""
    async with odd(settings, *habits.split()) as api:
        session = await stopped(api, program)
        await session.locals()

        async def page(start: int, count: int, **more: Any) -> tuple[list[str], int, bool]:
            told = await session.get(
                "/variables", variables_reference=MANY, start=start, count=count, **more
            )
            names = [one["name"] for one in told["variables"]]
            return names, told["total"], told["has_more"]

        assert await page(0, 2) == (["[0]", "[1]"], 303, True)
        assert await page(100, 2) == (["[100]", "[101]"], 303, True)
        assert await page(299, 3) == (["[299]", "name0", "name1"], 303, True)
        assert await page(301, 9) == (["name1", "name2"], 303, False)
        assert await page(900, 2) == ([], 303, False)
        assert await page(10, 2, filter="indexed") == (["[10]", "[11]"], 300, True)
        assert await page(1, 5, filter="named") == (["name1", "name2"], 3, False)


async def test_the_adapters_own_words_reach_the_client(
    settings: Settings, program: Program
) -> None:
    async with odd(settings) as api:
        session = await stopped(api, program)
        told = await session.evaluate("nosuch")
        assert told["error"] == "could not find symbol value for nosuch"
        report = (await session.get("/report"))["report"]
        assert report.startswith("breakpoint bp_1: odd.txt:1 in main\n>1 one")


async def test_a_refused_step_leaves_the_program_where_it_is(
    settings: Settings, program: Program
) -> None:
    async with odd(settings, "refuses-steps") as api:
        session = await stopped(api, program)
        with pytest.raises(Refused, match="cannot step now"):
            await session.post("/step-over")
        status = await session.get("/status")
        assert (status["status"], status["location"]["line"]) == ("paused", 1)
        assert (await session.locals())["n"]["value"] == "1"
        assert (await session.resume())["current_location"]["line"] == 2


async def test_threads_that_are_told_at_a_stop_only(settings: Settings, program: Program) -> None:
    async with odd(settings, "no-threads-while-running", "runs-on") as api:
        session = await stopped(api, program)
        await session.get("/threads")
        assert (await session.resume(wait=0))["status"] == "running"
        (thread,) = (await session.get("/threads"))["threads"]
        assert (thread["name"], thread["status"]) == ("only", "running")
        assert (await session.post("/pause"))["stop_reason"] == "pause"


async def test_a_pause_that_is_told_as_its_signal_is_a_pause(
    settings: Settings, program: Program
) -> None:
    async with odd(settings, "pauses-by-signal", "runs-on") as api:
        session = await stopped(api, program)
        await session.resume(wait=0)
        paused = await session.post("/pause", include=["report"])
        assert (paused["status"], paused["stop_reason"]) == ("paused", "pause")
        assert "SIGSTOP" not in paused["stop"]["report"]
    async with odd(
        settings, "is-sent-sigstop"
    ) as api:  # by somebody else: nobody has asked for a pause
        session = await stopped(api, program)
        assert (await session.resume())["stop_reason"] == "exception"


@pytest.mark.parametrize("wait", [0, 30])
async def test_a_pause_that_was_forgotten_is_asked_for_again(
    settings: Settings, program: Program, wait: float
) -> None:
    """As lldb 14 does until it has sent the program on: it answers, and does nothing."""
    async with odd(settings, "forgets-a-pause", "runs-on") as api:
        session = await stopped(api, program)
        await session.resume(wait=0)
        seen = (await session.get("/events"))["next_cursor"]
        await session.post("/pause", wait=wait)
        page = await session.get("/events", types="stopped", cursor=seen, timeout=30)
        (stop,) = page["events"]
        assert stop["body"]["reason"] == "pause"


async def test_a_pause_that_is_slow_is_asked_for_once(
    settings: Settings, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with rdbg, whose program is in a call of C code: each pause would be a stop of its own."""
    monkeypatch.setattr(stepping, "JUST_RESUMED", 0)  # as if it had run for long
    async with odd(settings, "stops-late", "runs-on") as api:
        session = await stopped(api, program)
        await session.resume(wait=0)
        assert (await session.post("/pause", wait=30))["stop_reason"] == "pause"
        await session.resume(wait=0)
        await session.get("/threads")  # what is told by then has been seen
        assert (await session.get(""))["status"] == "running"


async def test_what_it_would_take_for_a_plain_breakpoint_is_not_sent(
    settings: Settings, program: Program
) -> None:
    async with odd(settings, "plain") as api:
        session = await stopped(api, program)
        kinds = ({"log_message": "x"}, {"condition": "1"}, {"hit_condition": "2"})
        for kind, what in zip(kinds, ("logpoints", "conditions", "hit conditions"), strict=True):
            told = await session.breakpoint(program.text, program.line("two"), **kind)
            assert (told["verified"], what in told["message"]) == (False, True), told
            await session.delete(f"/breakpoints/{told['id']}")


@pytest.mark.parametrize("habits", ["no-exit-code", "no-terminated", "no-terminated leaves"])
async def test_an_end_is_an_end(settings: Settings, program: Program, habits: str) -> None:
    async with odd(settings, *habits.split()) as api:
        session = await stopped(api, program)
        await session.resume()
        await session.resume()
        end = await session.resume()
        code = None if habits == "no-exit-code" else 3
        assert (end["status"], end.get("exit_code")) == ("terminated", code)
        assert (await session.get("/status"))["reason"] == "target_exited"


@pytest.mark.parametrize(
    ("habit", "told"),
    [
        ("dies", "hung up during initialize"),
        ("garbage", "broke the protocol during initialize.*Welcome to the debugger"),
        ("refuses-launch", "no such program here"),
        ("mute", "waiting for its answer to initialize"),
        ("never-ready", "waiting for its initialized event"),
    ],
)
async def test_a_start_that_fails_says_why(
    settings: Settings, program: Program, habit: str, told: str
) -> None:
    limit = 8.0 if habit in ("mute", "never-ready") else 30.0
    async with odd(settings, habit, launch_timeout_seconds=limit) as api:
        session = await api.session(adapter="odd")
        with pytest.raises(Refused, match=told) as refused:
            await session.launch(program.text)
        assert refused.value.code == "LAUNCH_FAILED"
        assert refused.value.details["adapter"] == "odd"
        if habit == "dies":
            assert refused.value.details["stderr"] == "I have no licence\n"
        assert (await session.get())["status"] == "created"


async def test_an_adapter_that_is_gone_or_clings(settings: Settings, program: Program) -> None:
    async with odd(settings, "exits") as api:
        session = await api.session(adapter="odd")
        assert (await session.launch(program.text))["status"] == "failed"
    async with odd(settings, "clings") as api:
        session = await stopped(api, program)
        await session.delete()


async def test_data_breakpoints_are_passed_on(settings: Settings, program: Program) -> None:
    async with odd(settings, "watches") as api:
        session = await stopped(api, program)
        placed = await session.post("/data-breakpoints", expression="n", condition="n > 1")
        assert (placed["verified"], placed["how"]) == (True, "debugger")
        for expression, words in (("many", "4 bytes"), ("nobody", "no variable nobody here")):
            with pytest.raises(Refused, match=words):
                await session.post("/data-breakpoints", expression=expression)
        assert (await session.resume())["stop_reason"] == "data_breakpoint"
        await session.delete(f"/data-breakpoints/{placed['id']}")
        assert (await session.get("/data-breakpoints")) == {"data_breakpoints": []}
        assert (await session.resume())["stop_reason"] == "breakpoint"
    async with odd(settings) as api:
        session = await stopped(api, program)
        with pytest.raises(Refused, match="data changes"):
            await session.post("/data-breakpoints", expression="n")


async def test_motion_backwards_is_passed_on(settings: Settings, program: Program) -> None:
    async with odd(settings, "turns") as api:
        session = await stopped(api, program)
        assert (await session.get())["extras"] == ["restart_frame", "step_back"]
        assert (await session.post("/step-over"))["current_location"]["line"] == 2
        assert (await session.resume())["current_location"]["line"] == 3
        back = await session.post("/step-back")
        assert (back["stop_reason"], back["current_location"]["line"]) == ("step", 2)
        with pytest.raises(Refused, match="I go back by lines"):
            await session.post("/step-back", granularity="statement")
        begun = await session.post("/reverse-continue", wait=20)
        assert (begun["stop_reason"], begun["current_location"]["line"]) == ("entry", 1)
        frames = (await session.get("/stacktrace"))["frames"]
        assert [frame["line"] for frame in frames] == [1, 9]
        again = await session.post("/restart-frame", frame_id=1)
        assert again["stop_reason"] == "restart"
        with pytest.raises(Refused) as refused:
            await session.post("/restart-frame", frame_id=7)
        assert refused.value.code == "FRAME_NOT_FOUND"


async def test_what_a_debugger_says_later_that_it_can_is_learned(
    settings: Settings, program: Program
) -> None:
    async with odd(settings, "learns") as api:
        session = await stopped(api, program)
        assert (await session.get())["extras"] == ["step_back"]
        await session.post("/step-over")
        assert (await session.post("/step-back"))["current_location"]["line"] == 1


async def test_an_expression_is_set_by_the_debugger(settings: Settings, program: Program) -> None:
    async with odd(settings, "sets") as api:
        session = await stopped(api, program)
        assert (await session.get())["extras"] == ["set_expression"]
        told = await session.post("/set-expression", expression="n", value="2")
        assert (told["name"], told["value"], told["type"]) == ("n", "2", "int")
        with pytest.raises(Refused, match="not an lvalue") as refused:
            await session.post("/set-expression", expression="1", value="2")
        assert refused.value.code == "EVALUATE_ERROR"


async def test_what_a_debugger_has_not_said_that_it_can_is_refused(
    settings: Settings, program: Program
) -> None:
    async with odd(settings) as api:
        session = await stopped(api, program)
        assert (await session.get())["extras"] == []
        for path, words in (
            ("/step-back", "the odd adapter cannot run backwards"),
            ("/reverse-continue", "the odd adapter cannot run backwards"),
            ("/restart-frame", "the odd adapter cannot restart a frame"),
            ("/set-expression", "the odd adapter cannot set an expression"),
        ):
            more = {"expression": "n", "value": "2"} if "set" in path else {}
            with pytest.raises(Refused, match=words) as refused:
                await session.post(path, **more)
            assert (refused.value.status, refused.value.code) == (501, "NOT_SUPPORTED")
        assert (await session.get("/stacktrace"))["frames"][0]["line"] == 1


async def test_an_editor_goes_back_where_the_debugger_does(
    settings: Settings, program: Program
) -> None:
    async with odd(settings, "turns", "sets") as api:
        session = await stopped(api, program)
        await session.post("/step-over")
        async with editor(terms(api)) as peer:
            await join(peer)
            said = await peer.event("capabilities")
            assert said["capabilities"] == {
                "supportsStepBack": True,
                "supportsRestartFrame": True,
                "supportsSetExpression": True,
            }
            await peer.event("stopped")
            await peer.ask("stepBack", threadId=1)
            assert (await peer.event("stopped"))["reason"] == "step"
            await peer.ask("reverseContinue", threadId=1)
            why = await peer.event("stopped")
            assert why["reason"] == "entry"
            frame = (await stack(peer, why))[0]["id"]
            changed = await peer.ask("setExpression", expression="n", value="5", frameId=frame)
            assert changed["value"] == "5"
            await peer.ask("restartFrame", frameId=frame)
            assert (await peer.event("stopped"))["reason"] == "restart"
    async with odd(settings) as api:
        session = await stopped(api, program)
        async with editor(terms(api, session.id)) as peer:
            await join(peer)
            why = await peer.event("stopped")
            for command, more in (
                ("stepBack", {"threadId": 1}),
                ("reverseContinue", {"threadId": 1}),
                ("restartFrame", {"frameId": (await stack(peer, why))[0]["id"]}),
                ("setExpression", {"expression": "n", "value": "1"}),
            ):
                with pytest.raises(driver.Refused, match="the odd adapter cannot"):
                    await peer.ask(command, **more)


async def run(program: Program, *options: str, habits: str = "", **entry: Any) -> tuple[int, str]:
    """`relay run` of the program: the exit code, and what was written to standard error."""
    folder = program.path.parent
    state = folder / "state"
    state.mkdir(exist_ok=True)
    odd = {"command": [sys.executable, ADAPTER, *habits.split()], **entry}
    (state / "config.json").write_text(json.dumps({"adapters": {"odd": odd}}))
    done = await trio.run_process(
        [*(sys.executable, "-m", "relay", "run", "--adapter", "odd"), *options, program.path.name],
        cwd=folder,
        env=environment(state),
        check=False,
        capture_stdout=True,
        capture_stderr=True,
    )
    return done.returncode, done.stderr.decode()


async def test_a_run_that_could_watch_nothing_does_not_run(program: Program) -> None:
    """Some say so only as they start: the program does not run then, and nothing advises a new start."""
    code, told = await run(program, "--watch", "odd.txt:1:n")
    assert (code, told.splitlines()[0]) == (
        1,
        "relay: the odd adapter cannot stop when data changes",
    )
    assert "stop 1" not in told
    code, told = await run(program, "--watch", "odd.txt:1:n", habits="watches")
    assert "[not watched]" not in told
    assert code == 3, "its program ends so"


async def test_who_wrote_a_value_is_no_question_for_it(program: Program) -> None:
    code, told = await run(program, "--why", "n", "--break", "odd.txt:1")
    said = "relay: --why n: the odd adapter cannot say who wrote a value"
    assert (code, told.splitlines()[0]) == (1, said)
    assert "stop 1" not in told


async def test_exceptions_for_which_no_filter_is_named(
    settings: Settings, program: Program
) -> None:
    """Setting them would change nothing, and never stop: so it is refused, or a run says it."""
    async with odd(settings) as api:
        session = await api.session(adapter="odd")
        for name in ("raised", "uncaught"):
            with pytest.raises(Refused, match=f"no filter for {name} exceptions") as refused:
                await session.post("/exception-breakpoints", filters=[name])
            assert refused.value.code == "NOT_SUPPORTED"
        with pytest.raises(Refused, match="no filter for raised exceptions"):
            await session.launch(program.text, stop_on_exception="raised")
        await session.post("/exception-breakpoints", filters=[])
    _, told = await run(program, "--on-exception")
    assert "[note] --on-exception: the odd adapter has no filter for uncaught exceptions" in told
    filters = {"raised": ["all"]}
    entry = {"command": [sys.executable, ADAPTER], "exception_filters": filters}
    async with odd(settings, adapters={"odd": entry}) as api:
        session = await api.session(adapter="odd")
        await session.post("/exception-breakpoints", filters=["raised", "uncaught"])
        with pytest.raises(Refused, match="no filter for uncaught exceptions"):
            await session.post("/exception-breakpoints", filters=["uncaught"])
    _, told = await run(program, "--on-exception", exception_filters={"uncaught": ["all"]})
    assert "[note]" not in told
