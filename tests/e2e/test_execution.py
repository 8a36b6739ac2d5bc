"""Running, stepping, pausing, and evaluating at a stop: what is answered, and when."""

from __future__ import annotations

import json
import math
import sys
from base64 import b64decode
from collections.abc import Callable
from typing import Any

import pytest
import trio

from relay import Hub, Settings
from relay.faces.http.routes import ROUTES
from relay.operations.inspect.snapshot import ENVELOPE, SKELETON
from tests.e2e.api import Api, Refused, Session
from tests.e2e.conftest import running_relay
from tests.e2e.rungs import on_every_rung
from tests.programs import Program
from tests.relays import ANSWER_SECONDS, impatient

Write = Callable[..., Program]

CALLS = """
    def inner(value):
        doubled = value * 2  # @doubled
        return doubled  # @inner_return

    def outer(value):
        first = inner(value)  # @call
        second = inner(first)  # @second
        return second  # @outer_return

    result = outer(5)  # @main
    print("done", result)  # @last
"""


def place(answer: dict[str, Any]) -> tuple[int, str]:
    assert answer["status"] == "paused", answer
    at = answer["current_location"]
    return at["line"], at["function"]


async def stopped_at(api: Api, program: Program, mark: str, **more: Any) -> Session:
    session = await api.session()
    await session.breakpoint(program.text, program.line(mark))
    at = await session.launch(program.text, **more)
    assert place(at)[0] == program.line(mark)
    return session


# Steps ---------------------------------------------------------------------------------------

STEPS = ("step-over", "step-into", "step-out")


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
async def test_steps_tell_place_and_return_value(api: Api, program: Write, mode: str) -> None:
    calls = program(CALLS)
    session = await stopped_at(api, calls, "call", launch_mode=mode)
    into = await session.post("/step-into")
    assert place(into) == (calls.line("doubled"), "inner")
    assert into["stop_reason"] == "step"
    out = await session.post("/step-out")
    assert place(out) == (calls.line("call"), "outer")
    assert (out["return_value"]["type"], out["return_value"]["value"]) == ("int", "10")
    assert out["return_value"]["function"].endswith("inner")
    over = await session.post("/step-over")
    assert place(over) == (calls.line("second"), "outer")
    over = await session.post("/step-over")
    assert place(over) == (calls.line("outer_return"), "outer")
    assert over["return_value"]["value"] == "20"
    locals_ = await session.locals()
    assert {name: v["value"] for name, v in locals_.items()} == {
        "value": "5",
        "first": "10",
        "second": "20",
    }


async def test_a_step_without_a_call_has_no_return_value(api: Api, program: Write) -> None:
    calls = program(CALLS)
    session = await stopped_at(api, calls, "doubled")
    over = await session.post("/step-over")
    assert place(over) == (calls.line("inner_return"), "inner")
    assert "return_value" not in over


@pytest.mark.parametrize(("mode", "verb"), on_every_rung(STEPS))
async def test_a_step_from_the_last_line_ends_the_program(
    api: Api, program: Write, mode: str, verb: str
) -> None:
    ending = program("""
        import sys
        sys.exitfunc = None
        raise SystemExit(3)  # @last
    """)
    session = await stopped_at(api, ending, "last", launch_mode=mode)
    ended = await session.post(f"/{verb}")
    assert ended["status"] == "terminated"
    assert ended["exit_code"] == 3


@pytest.mark.parametrize(("mode", "verb"), on_every_rung(STEPS))
async def test_a_step_over_the_last_print_ends_with_its_output(
    api: Api, program: Write, mode: str, verb: str
) -> None:
    calls = program(CALLS)
    session = await stopped_at(api, calls, "last", launch_mode=mode)
    ended = await session.post(f"/{verb}", include=["output"])
    assert (ended["status"], ended["exit_code"]) == ("terminated", 0)
    assert ended["stop"]["output"] == "done 20\n"


RAISES = """
    def fails():
        raise ValueError("no")  # @raise

    def tries():
        try:
            fails()  # @try
        except ValueError:
            return "handled"  # @handled

    tries()
    print("after")
"""


@pytest.mark.parametrize(("mode", "verb"), on_every_rung(STEPS))
async def test_a_step_from_a_line_that_raises_does_not_run_away(
    api: Api, program: Write, mode: str, verb: str
) -> None:
    raises = program(RAISES)
    session = await stopped_at(api, raises, "raise", launch_mode=mode)
    at = await session.post(f"/{verb}")
    while at["status"] == "paused" and place(at)[0] != raises.line("handled"):
        assert place(at)[1] == "tries"
        at = await session.post("/step-over")
    assert place(at) == (raises.line("handled"), "tries")


async def test_step_into_library_code(api: Api, program: Write) -> None:
    written = program("""
        import textwrap
        textwrap.dedent("  a")  # @call
    """)
    session = await stopped_at(api, written, "call")
    at = await session.post("/step-into")
    assert at["current_location"]["function"] == "dedent"
    assert at["current_location"]["path"].endswith("textwrap.py")
    back = await session.post("/step-out")
    assert place(back)[0] == written.line("call")


GATED = """
    import os, sys

    def wait_for_gate():
        return sys.stdin.readline()

    wait_for_gate()  # @gate
    after = 1  # @after
"""


async def test_a_step_that_outlasts_its_wait_answers_running_and_the_stop_comes(
    api: Api, program: Write
) -> None:
    gated = program(GATED)
    session = await stopped_at(api, gated, "gate")
    cursor = (await session.get("/events", limit=1000))["next_cursor"]
    answer = await session.post("/step-over", wait=0.2)
    assert answer["status"] == "running"
    with pytest.raises(Refused) as refused:
        await session.post("/step-over")
    assert (refused.value.status, refused.value.code) == (409, "INVALID_SESSION_STATE")
    await session.post("/input", input="go\n")
    page = await session.get("/events", types="stopped", timeout=30, cursor=cursor)
    assert page["events"][0]["body"]["location"]["line"] == gated.line("after")
    assert (await session.get())["status"] == "paused"


async def test_continue_answers_at_once_or_waits(api: Api, program: Write) -> None:
    gated = program(GATED)
    session = await stopped_at(api, gated, "gate")
    await session.breakpoint(gated.text, gated.line("after"))
    at_once = await session.post("/continue")
    assert (at_once["status"], at_once["continued"]) == ("running", True)
    await session.post("/input", input="go\n")
    await session.get("/events", types="terminated", timeout=0.01)
    page = await session.get("/events", types="stopped", timeout=30, limit=1000)
    assert page["events"]
    ended = await session.resume()
    assert (ended["status"], ended["exit_code"]) == ("terminated", 0)


async def test_two_clients_step_at_once(api: Api, program: Write) -> None:
    """One wins, or they go one after the other; the program is where its line count says."""
    body = "\n".join(f"line_{n} = {n}" for n in range(40))
    many = program(body + "\n")
    session = await api.session()
    await session.launch(many.text, stop_on_entry=True)
    taken: list[dict[str, Any]] = []
    refused: list[tuple[int, str]] = []

    async def step() -> None:
        try:
            answer = await session.post("/step-over")
        except Refused as error:
            refused.append((error.status, error.code))
        else:
            # "running" if the other client has stepped on before this answer was made.
            assert answer["status"] in ("paused", "running")
            taken.append(answer)

    for _ in range(10):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(step)
            nursery.start_soon(step)
    assert len(taken) + len(refused) == 20
    assert set(refused) <= {(409, "INVALID_SESSION_STATE")}
    assert len(taken) >= 10
    at = await session.get()
    assert at["status"] == "paused"
    assert at["current_location"]["line"] == 1 + len(taken)


# Pause ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
async def test_pause_of_a_busy_loop(api: Api, program: Write, mode: str) -> None:
    busy = program("""
        count = 0
        print("busy", flush=True)
        while True:
            count += 1
    """)
    session = await api.session()
    await session.launch(busy.text, wait=0, launch_mode=mode)
    await session.get("/events", types="output", timeout=30)
    at = await session.post("/pause")
    assert at["stop_reason"] == "pause"
    first = int((await session.evaluate("count"))["result"])
    with trio.fail_after(30):
        while int((await session.evaluate("count"))["result"]) == first:
            assert (await session.resume(wait=0.05))["status"] == "running"
            await session.post("/pause")


@pytest.mark.parametrize("mode", ["fast", "adapter"])
@pytest.mark.parametrize(
    "loop",
    [
        "while True: state.n += 1",
        "for _ in iter(int, 1): state.n += 1",
        "sum(state.__setattr__('n', n) is None for n in itertools.count())",
        "[state.__setattr__('n', n) for n in itertools.count() if not n]",
    ],
)
async def test_pause_of_a_loop_that_is_on_one_line(
    api: Api, program: Write, mode: str, loop: str
) -> None:
    """From Python 3.12 on its line is an event once, and none follows."""
    busy = program(f"""
        import itertools, types
        state = types.SimpleNamespace(n=0)

        def spin():
            {loop}  # @loop

        print("busy", flush=True)
        spin()
    """)
    session = await api.session()
    await session.breakpoint(busy.text, busy.line("loop"))
    await session.launch(busy.text, wait=30, launch_mode=mode)
    (placed,) = (await session.get("/breakpoints"))["breakpoints"]
    await session.delete(f"/breakpoints/{placed['id']}")
    assert (await session.resume(wait=0))["status"] == "running"
    for _ in range(3):
        at = await session.post("/pause")
        assert (at["status"], at["stop_reason"], place(at)[0]) == (
            "paused",
            "pause",
            busy.line("loop"),
        )
        seen = [(await session.evaluate("state.n"))["result"] for _ in range(2)]
        assert seen[0] == seen[1]
        assert (await session.resume(wait=0))["status"] == "running"


async def it_stands(session: Session, counter: str) -> None:
    """What a thread counts up does not change any more; it may have to come to its next jump first."""
    seen = [(await session.evaluate(counter))["result"] for _ in range(2)]
    with trio.fail_after(30):
        while seen[-1] != seen[-2]:
            seen.append((await session.evaluate(counter))["result"])
    seen = [(await session.evaluate(counter))["result"] for _ in range(3)]
    assert seen == seen[:1] * 3


async def test_a_loop_on_one_line_stands_for_the_stop_of_another_thread(
    api: Api, program: Write
) -> None:
    """It stands within the line, and its own breakpoint there has no other hit for it."""
    written = program("""
        import threading
        state = {"n": 0, "goes": True}

        def spin():
            while state["goes"]: state["n"] += 1  # @loop

        def work(number):
            return number  # @here

        thread = threading.Thread(target=spin)
        thread.start()
        while not state["n"]:
            pass
        for number in range(3):
            work(number)
        state["goes"] = False
        thread.join()
    """)
    session = await api.session()
    await session.breakpoint(written.text, written.line("here"))
    await session.breakpoint(written.text, written.line("loop"), log_message="once")
    at = await session.launch(written.text, wait=30)
    for _ in range(3):
        assert place(at) == (written.line("here"), "work")
        await it_stands(session, "state['n']")
        at = await session.resume(wait=30)
    assert at["status"] == "terminated"
    if sys.version_info >= (3, 12):
        assert [one["hit_count"] for one in (await session.get("/breakpoints"))["breakpoints"]] == [
            3,
            1,
        ]


async def test_pause_of_a_blocked_program_says_running_and_stops_when_it_comes_back(
    api: Api, program: Write
) -> None:
    gated = program(GATED)
    session = await api.session()
    await session.launch(gated.text, wait=0)
    page = await session.get("/events", types="input_requested", timeout=30)
    answer = await session.post("/pause", wait=0.3)
    assert answer["status"] == "running"
    assert (await session.get())["status"] == "running"
    cursor = page["next_cursor"]
    await session.post("/input", input="go\n")
    page = await session.get("/events", types="stopped", timeout=30, cursor=cursor)
    assert page["events"][0]["body"]["reason"] == "pause"
    assert (await session.resume())["status"] == "terminated"


THREADS = """
    import threading

    gate = threading.Event()
    ready = threading.Barrier(3)

    def work(number):
        ready.wait()
        local = number * 10
        gate.wait()
        local += 1  # @worker
        local += 1  # @worker_next
        return local

    workers = [threading.Thread(target=work, args=(n,), name=f"worker-{n}") for n in (1, 2)]
    for worker in workers:
        worker.start()
    ready.wait()
    here = 1  # @main
    here = 2  # @main_next
    gate.set()
    for worker in workers:
        worker.join()
"""


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
async def test_a_stop_stops_every_thread_and_each_can_be_looked_at(
    api: Api, program: Write, mode: str
) -> None:
    threads = program(THREADS)
    session = await stopped_at(api, threads, "main", launch_mode=mode)
    listed = await session.get("/threads")
    by_name = {thread["name"]: thread for thread in listed["threads"]}
    assert set(by_name) == {"MainThread", "worker-1", "worker-2"}
    assert {thread["status"] for thread in listed["threads"]} == {"paused"}
    assert by_name["MainThread"]["is_current"] is True
    assert listed["stopped_thread_id"] == by_name["MainThread"]["id"]
    stack = await session.get("/stacktrace", thread_id=by_name["worker-1"]["id"])
    assert "work" in [frame["name"] for frame in stack["frames"]]
    with pytest.raises(Refused) as refused:
        await session.get("/stacktrace", thread_id=987654)
    assert refused.value.code == "THREAD_NOT_FOUND"


@pytest.mark.parametrize(
    ("asked", "code"),
    [({"thread_id": 987654}, "THREAD_NOT_FOUND"), ({"summary": "true"}, "NOT_SUPPORTED")],
)
async def test_what_a_running_program_has_not_is_refused_as_documented(
    api: Api, program: Write, asked: dict[str, Any], code: str
) -> None:
    busy = program("import time\nwhile True:\n    time.sleep(0.01)\n")
    session = await api.session()
    await session.launch(busy.text, wait=0)
    with pytest.raises(Refused) as refused:
        await session.get("/frames/0/variables", **asked)
    assert refused.value.code == code
    (route,) = (r for r in ROUTES if r.path.endswith("/frames/{frame_id}/variables"))
    assert code in {error.code for error in route.all_errors}


@pytest.mark.parametrize("verb", ["step-over", "continue", "pause"])
async def test_a_thread_that_does_not_exist_is_refused(api: Api, program: Write, verb: str) -> None:
    busy = program("while True:\n    pass  # @pass\n")
    session = await stopped_at(api, busy, "pass")
    if verb == "pause":
        placed = (await session.get("/breakpoints"))["breakpoints"][0]
        await session.delete(f"/breakpoints/{placed['id']}")
        await session.post("/continue")
    with pytest.raises(Refused) as refused:
        await session.post(f"/{verb}", thread_id=987654)
    assert (refused.value.status, refused.value.code) == (404, "THREAD_NOT_FOUND")


async def test_a_breakpoint_stops_in_the_thread_that_hits_it(api: Api, program: Write) -> None:
    threads = program(THREADS)
    session = await stopped_at(api, threads, "worker")
    at = await session.get()
    listed = await session.get("/threads")
    current = next(thread for thread in listed["threads"] if thread["is_current"])
    assert current["name"].startswith("worker-")
    assert at["stopped_thread_id"] == current["id"]
    over = await session.post("/step-over", thread_id=current["id"])
    assert over["thread_id"] in {thread["id"] for thread in listed["threads"]}
    assert place(over)[1] == "work"


async def test_pause_of_a_program_with_threads(api: Api, program: Write) -> None:
    written = program("""
        import threading

        def spin():
            while True:
                pass

        for number in range(3):
            threading.Thread(target=spin, daemon=True, name=f"spin-{number}").start()
        print("spinning", flush=True)
        spin()
    """)
    session = await api.session()
    await session.launch(written.text, wait=0)
    await session.get("/events", types="output", timeout=30)
    at = await session.post("/pause")
    assert at["status"] == "paused"
    listed = (await session.get("/threads"))["threads"]
    assert len(listed) == 4
    assert {thread["status"] for thread in listed} == {"paused"}


# What comes along --------------------------------------------------------------------------


RICH = """
    def work(name, numbers):
        total = sum(numbers)
        print("working on", name)
        return total  # @stop

    def main():
        big = "x" * 5000
        for number in range(100):
            print("line", number)
        return work("rich", list(range(1000)))  # @call

    main()  # @main
"""
ALL = ["location", "source", "locals", "stack", "output", "watches", "exception"]


async def test_include_brings_every_part_along(api: Api, program: Write) -> None:
    rich = program(RICH)
    session = await api.session()
    await session.breakpoint(rich.text, rich.line("stop"))
    at = await session.launch(rich.text, include=ALL)
    stop = at["stop"]
    assert stop["location"]["line"] == rich.line("stop")
    assert stop["location"]["function"] == "work"
    assert rich.line("stop") in {item["line"] for item in stop["source"]}
    shown = {item["line"]: item["text"] for item in stop["source"]}
    assert shown[rich.line("stop")] == "    return total  # @stop"
    assert {item["name"]: item["value"] for item in stop["locals"]}["total"] == "499500"
    assert [(frame["name"], frame["line"]) for frame in stop["stack"]] == [
        ("work", rich.line("stop")),
        ("main", rich.line("call")),
        ("<module>", rich.line("main")),
    ]
    assert stop["output"].endswith("line 99\nworking on rich\n")
    assert stop["watches"] == []
    assert "exception" not in stop
    assert stop["truncated"] == []


@pytest.mark.parametrize("max_chars", [200, 700, 1000, 2000, 5000])
async def test_max_chars_bounds_the_whole_answer_and_names_the_cuts(
    api: Api, program: Write, max_chars: int
) -> None:
    rich = program(RICH)
    session = await api.session()
    await session.breakpoint(rich.text, rich.line("stop"))
    response = await api.client.post(
        f"{session.path}/launch",
        json={"script": rich.text, "wait": 30, "include": ALL, "max_chars": max_chars},
    )
    stop = response.json()["data"]["stop"]
    assert set(stop["truncated"]) <= set(ALL)
    assert bool(stop["truncated"]) == (max_chars < 5000)
    assert len(stop["truncated"]) == len(set(stop["truncated"]))
    numbers = [line["line"] for line in stop["source"]]
    assert not numbers or rich.line("stop") in numbers
    for whole in set(ALL) - set(stop["truncated"]) - {"exception"}:
        assert whole in stop
    fixed = {name: one for name, one in response.json()["data"].items() if name != "stop"}
    never_cut = len(json.dumps([fixed, stop["location"]], separators=(",", ":")))
    assert len(response.text) <= max(max_chars, never_cut + ENVELOPE + SKELETON)


LOUD = """
    def fall(depth, other={str(i): "v" * 50 for i in range(50)}):
        many = list(range(500))
        signs = chr(1) * 5000
        if depth:
            return fall(depth - 1)
        print(signs)
        raise ValueError(signs)  # @raised

    fall(40)
"""


@pytest.mark.parametrize("max_chars", [1500, 2000, 5000, 20_000])
async def test_max_chars_counts_what_stands_in_the_answer(
    api: Api, program: Write, max_chars: int
) -> None:
    loud = program(LOUD)
    session = await api.session()
    await session.post("/watch", expression="other")
    response = await api.client.post(
        f"{session.path}/launch",
        json={"script": loud.text, "wait": 30, "include": ALL, "max_chars": max_chars},
    )
    assert max_chars / 2 < len(response.text) <= max_chars
    stop = response.json()["data"]["stop"]
    assert loud.line("raised") in [line["line"] for line in stop["source"]]
    assert stop["exception"]["traceback"]


# Evaluate ----------------------------------------------------------------------------------


STATE = """
    import os

    class Broken:
        def __repr__(self):
            raise RuntimeError("no repr")

    def work(argument):
        number = 1
        text = "text"
        million = list(range(1_000_000))
        circular = [1]
        circular.append(circular)
        raw = bytes(range(256)) * 10
        long = "y" * 100_000
        broken = Broken()
        nothing = 0  # @stop
        print("number is", number)  # @print
        return number

    work("a")
"""


async def test_statements_change_the_frame(api: Api, program: Write) -> None:
    state = program(STATE)
    session = await stopped_at(api, state, "stop")
    assigned = await session.evaluate("number = 41\nnumber += 1")
    assert assigned.get("error") is None
    assert (await session.evaluate("number"))["result"] == "42"
    assert (await session.evaluate("[number + n for n in range(2)]"))["result"] == "[42, 43]"
    await session.evaluate("import math")
    assert (await session.evaluate("math.floor(2.5)"))["result"] == "2"
    await session.post("/step-over")
    ended = await session.resume(include=["output"])
    assert ended["stop"]["output"] == "number is 42\n"


async def test_print_in_evaluate_is_the_programs_output(api: Api, program: Write) -> None:
    state = program(STATE)
    session = await stopped_at(api, state, "stop")
    await session.evaluate("print('from evaluate', number)")
    assert await session.until_printed("from evaluate 1\n") == "from evaluate 1\n"


@pytest.mark.parametrize("expression", ["1 +", "a b", "def f(:", "(", "'open"])
async def test_a_syntax_error_is_refused(api: Api, program: Write, expression: str) -> None:
    state = program(STATE)
    session = await stopped_at(api, state, "stop")
    with pytest.raises(Refused) as refused:
        await session.evaluate(expression)
    assert (refused.value.status, refused.value.code) == (400, "EVALUATE_ERROR")
    assert "SyntaxError" in refused.value.message
    assert (await session.evaluate("number"))["result"] == "1"


@pytest.mark.parametrize("context", ["watch", "hover"])
async def test_watch_and_hover_take_expressions_only(
    api: Api, program: Write, context: str
) -> None:
    state = program(STATE)
    session = await stopped_at(api, state, "stop")
    assert (await session.evaluate("number + 1", context=context))["result"] == "2"
    with pytest.raises(Refused) as refused:
        await session.evaluate("number = 2", context=context)
    assert refused.value.code == "EVALUATE_ERROR"


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("nowhere", "NameError: name 'nowhere' is not defined"),
        ("exit(3)", "SystemExit: 3"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("[].pop()", "IndexError: pop from empty list"),
    ],
)
async def test_an_exception_is_an_answer(
    api: Api, program: Write, expression: str, error: str
) -> None:
    state = program(STATE)
    session = await stopped_at(api, state, "stop")
    answer = await session.evaluate(expression)
    assert answer["error"] == error
    assert (await session.evaluate("number"))["result"] == "1"


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
async def test_a_program_that_ends_itself_in_evaluate_is_told(
    api: Api, program: Write, mode: str
) -> None:
    state = program(STATE)
    session = await stopped_at(api, state, "stop", launch_mode=mode)
    with pytest.raises(Refused) as refused:
        await session.evaluate("os._exit(7)")
    assert refused.value.code == "INVALID_SESSION_STATE"
    ended = await session.get()
    assert (ended["status"], ended["exit_code"]) == ("terminated", 7)


async def test_a_million_items_are_paged(api: Api, program: Write) -> None:
    state = program(STATE)
    session = await stopped_at(api, state, "stop")
    million = (await session.locals())["million"]
    assert million["indexed_variables"] == 1_000_000
    assert million["length"] == 1_000_000
    reference = million["variables_reference"]
    page = await session.get("/variables", variables_reference=reference, start=0, count=10)
    assert [v["value"] for v in page["variables"]] == [str(n) for n in range(10)]
    assert (page["total"], page["has_more"]) == (1_000_000, True)
    page = await session.get("/variables", variables_reference=reference, start=999_995, count=10)
    assert [v["name"] for v in page["variables"]] == [str(n) for n in range(999_995, 1_000_000)]
    assert page["has_more"] is False


async def test_values_are_whole_or_say_what_they_lack(api: Api, program: Write) -> None:
    state = program(STATE)
    session = await stopped_at(api, state, "stop")
    found: dict[str, Any] = {}
    for name in ("circular", "raw", "long", "broken"):
        found[name] = await session.evaluate(name)
    assert found["long"]["truncated"] is True
    assert found["long"]["length"] == 100_000
    raw = bytes(range(256)) * 10
    assert found["raw"]["length"] == len(raw)
    assert raw.startswith(b64decode(found["raw"]["base64"]))
    assert "Broken" in found["broken"]["result"]
    page = await session.get(
        "/variables", variables_reference=found["circular"]["variables_reference"]
    )
    inner = page["variables"][1]
    assert inner["circular"] is True
    assert inner["variables_reference"] != 0


# What hangs --------------------------------------------------------------------------------


LIMIT = 1.0
"""Seconds that the relay waits for an answer that does not come."""


HANGS = """
    import threading

    class Hangs:
        def __repr__(self):
            while True:
                pass

    def make():
        return Hangs()

    def work():
        value = Hangs()
        made = make()  # @make
        done = 1  # @stop
        done = 2  # @next

    thread = threading.Thread(target=work)
    %s
"""


@pytest.mark.parametrize(
    ("mode", "where"), on_every_rung(["work()", "thread.start(); thread.join()"])
)
async def test_a_repr_that_hangs_times_out_and_the_session_goes_on(
    opened: tuple[Hub, Api], program: Write, mode: str, where: str
) -> None:
    hub, api = opened
    hangs = program(HANGS % where)
    session = await stopped_at(api, hangs, "stop", launch_mode=mode)
    begun = trio.current_time()
    with impatient(hub, LIMIT), pytest.raises(Refused) as refused:
        await session.evaluate("value")
    assert (refused.value.status, refused.value.code) == (504, "DEBUGPY_TIMEOUT")
    assert refused.value.details["timeout_seconds"] == LIMIT
    assert refused.value.details["interrupted"] is True
    assert LIMIT <= trio.current_time() - begun < ANSWER_SECONDS
    assert (await session.evaluate("made is value"))["result"] == "False"
    at = await session.post("/step-over")
    assert place(at) == (hangs.line("next"), "work")
    assert (await session.resume())["exit_code"] == 0


@pytest.mark.parametrize("verb", ["step-over", "step-out"])
async def test_a_return_value_that_hangs_does_not_lose_the_stop(
    opened: tuple[Hub, Api], program: Write, verb: str
) -> None:
    hub, api = opened
    hangs = program(HANGS % "work()")
    session = await stopped_at(api, hangs, "make")
    if verb == "step-out":
        await session.post("/step-into")
    with impatient(hub, LIMIT):
        at = await session.post(f"/{verb}", wait=30)
    assert place(at)[1] == "work"
    assert (await session.evaluate("1 + 1"))["result"] == "2"


async def test_a_loop_in_evaluate_is_interrupted(opened: tuple[Hub, Api], program: Write) -> None:
    hub, api = opened
    state = program(STATE)
    session = await stopped_at(api, state, "stop")
    with impatient(hub, LIMIT), pytest.raises(Refused) as refused:
        await session.evaluate("while True: number += 1")
    assert refused.value.code == "DEBUGPY_TIMEOUT"
    assert (await session.evaluate("text"))["result"] == "'text'"
    with impatient(hub, LIMIT), pytest.raises(Refused):
        await session.evaluate("__import__('time').sleep(600)")
    assert math.isfinite(float((await session.evaluate("number"))["result"]))
    assert (await session.resume())["status"] == "terminated"


# Code that keeps the interpreter to itself ------------------------------------------------------

KEEPS_THE_GIL = """
    import ctypes

    with_gil, byte = ctypes.PyDLL(None), ctypes.create_string_buffer(1)
    with_gil.read(0, byte, 1)  # @keeps
    print("done", byte.value)  # @done
"""


@pytest.mark.parametrize(
    ("mode", "how"), on_every_rung(["/continue", "/step-over", "/threads/{}/continue"])
)
async def test_a_resume_is_answered_before_code_that_lets_nobody_run(
    settings: Settings, program: Write, mode: str, how: str
) -> None:
    """The answer would come when that code returns, which is when we say so."""
    script = program(KEEPS_THE_GIL)
    async with running_relay(settings) as api:
        session = await stopped_at(api, script, "keeps", launch_mode=mode)
        thread = (await session.get("/threads"))["threads"][0]["id"]
        await session.evaluate("byte.value")  # what was looked at is let go as it resumes
        cursor = (await session.get("/events", limit=1000))["next_cursor"]
        assert (await session.post(how.format(thread), wait=0))["status"] == "running"
        await session.post("/input", input="!")
        if how == "/step-over":
            await session.get("/events", types="stopped", timeout=30, cursor=cursor)
            assert (await session.get())["current_location"]["line"] == script.line("done")
            await session.resume()
        await session.get("/events", types="terminated", timeout=30)
        assert await session.printed() == "done b'!'\n"
