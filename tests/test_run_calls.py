"""`relay run --calls`: which own functions a run called, after each stop and at its end."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.programs import Program
from tests.relays import completed

SECONDS = 90

CART = """
    import json

    def total(items):
        return sum(map(price, items))

    def price(name):
        return {"apple": 3, "pear": 4}[name]  # @price

    def load(text):
        return json.loads(text)

    print(total(load('["apple", "apple", "pear"]')))
    print(total(["plum"]))
"""


@pytest.fixture
def cart(tmp_path: Path) -> Program:
    return Program.write(tmp_path / "main.py", CART)


Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """run("--calls", …) runs `relay run` in the directory of the program."""

    def ran(*words: str) -> subprocess.CompletedProcess[str]:
        return completed([sys.executable, "-m", "relay", "run", *words], tmp_path, SECONDS)

    return ran


@pytest.mark.parametrize("program", [["main.py"], ["-m", "main"]], ids=["script", "module"])
def test_the_calls_of_a_run_are_shown_at_its_end(
    run: Run, cart: Program, program: list[str]
) -> None:
    at = cart.line
    done = run("--calls", "--", *program)
    assert (done.returncode, done.stdout) == (1, "10\n")
    assert done.stderr.partition("[calls] ")[2].splitlines() == [
        "7 calls of 3 functions",
        """load(text='["apple", "apple", "pear"]') → ['apple', 'apple', 'pear']""",
        "total(items=['apple', 'apple', 'pear']) → 10",
        "  price(name='apple') → 3 ×2",
        "  price(name='pear') → 4",
        f"total(items=['plum']) raised at line {at('price') - 3}",
        f"  price(name='plum') raised KeyError: 'plum' at line {at('price')}",
        "[end] exit code 1, 0 stops",
    ]


def test_after_each_stop_come_the_calls_since_the_one_before(run: Run, cart: Program) -> None:
    at = cart.line
    place = f"main.py:{at('price')}:name != 'apple'"
    done = run("--json", "--calls", "main.py,json.decoder", "--break", place, "--", "main.py")
    said = [json.loads(line) for line in done.stdout.splitlines()]
    found = [one for one in said if one["type"] in ("stop", "calls")]
    assert [one["type"] for one in found] == ["stop", "calls", "stop", "calls", "calls"]
    first, second, last = (one for one in found if one["type"] == "calls")
    assert "JSONDecoder.decode(" in first["text"]
    assert first["text"].splitlines()[-2:] == [
        "  price(name='apple') → 3 ×2",
        "  price(name='pear') is not over",
    ]
    assert second["text"].splitlines()[1:] == [
        "total(items=['plum']) is not over",
        "  price(name='plum') is not over",
    ]
    assert (last["calls"], last["complete"]) == (0, True)
    assert all(len(one["text"]) <= 700 for one in (first, second, last))


def test_the_call_that_led_to_a_failure_is_the_last_though_an_equal_one_was_made_long_ago(
    run: Run, tmp_path: Path
) -> None:
    program = Program.write(
        tmp_path / "main.py",
        """
        def is_there(name):
            return name == "apple"

        def prepare(number):
            return number

        is_there("plum")
        for number in range(40):
            prepare(number)
        is_there("apple")
        assert is_there("plum")
        """,
    )

    ran = run("--calls", "--max-chars", "300", "--", str(program.path))

    tree = ran.stderr.partition("[calls]")[2].splitlines()
    lines = [line for line in tree if "is_there(" in line or "prepare(" in line]
    assert lines[-2:] == [
        "is_there(name='apple') → True",
        "is_there(name='plum') → False ×2",
    ]
    assert "prepare(number=39) → 39" in lines


def test_each_call_is_in_the_thread_that_made_it_though_the_system_gives_idents_again(
    run: Run, tmp_path: Path
) -> None:
    names = [f"{name} thread" for name in ("an", "ill", "odd", "shy", "wry", "sly", "hot", "out")]
    Program.write(
        tmp_path / "main.py",
        f"""
        import threading

        def work(name):
            return len(name)

        for name in {[*names, names[0], "job 1", "job 2", "job 3"]!r}:
            one = threading.Thread(target=work, args=(name,), name=name)
            one.start()
            one.join()
        """,
    )
    done = run("--calls", "--", "main.py")
    wanted = ["12 calls of 1 function"]
    for name in names:
        call = f"work(name={name!r}) → {len(name)}"
        wanted += [f"[{name}]", f"{call} ×2" if name == names[0] else call]
    wanted += ["[job 1, job 2, … 1 more]", *[f"work(name='job {n}') → 5" for n in (1, 2, 3)]]
    assert done.stderr.partition("[calls] ")[2].splitlines()[:-1] == wanted


@pytest.mark.parametrize("room", ["300", "3000"])
def test_what_is_left_out_adds_up_though_most_calls_were_only_counted(
    run: Run, tmp_path: Path, room: str
) -> None:
    Program.write(
        tmp_path / "main.py",
        """
        def inner(number):
            return number

        def outer(number):
            return inner(number) + inner(-number)

        def all_of(numbers):
            for number in numbers:
                outer(number)
            raise ValueError(number)

        for number in range(7000):
            outer(number)
        all_of(range(5000))
        """,
    )
    done = run("--calls", "--max-chars", room, "--", "main.py")
    head, *lines = done.stderr.partition("[calls] ")[2].splitlines()[:-1]
    assert head.startswith(f"{7000 * 3 + 1 + 5000 * 3:,} calls of 3 functions, ")
    left = int(head.split(", ")[1].split()[0].replace(",", ""))
    marks = re.findall(r" \(\+([\d,]+)\)$", "\n".join(lines), re.MULTILINE)
    assert sum(int(mark.replace(",", "")) for mark in marks) == left
    assert left > 35_000


def test_a_record_that_went_with_a_program_at_a_stop_is_said_once(run: Run, cart: Program) -> None:
    here = f"main.py:{cart.line('price')}"
    done = run("--calls", "--break", here, "--eval", "__import__('os')._exit(3)", "--", "main.py")
    assert done.returncode == 3
    _, *calls = done.stderr.split("[calls] ")
    assert [text.count("\nIncomplete: the program ended at once") for text in calls] == [1]


def test_where_nothing_was_called_since_a_stop_no_code_is_missing(run: Run, cart: Program) -> None:
    """The way to where own code may lie was shown behind the tree of just that code."""
    done = run("--calls", "--on-exception", "--", "main.py")
    _, *calls = done.stderr.split("[calls] ")
    assert [text.partition("\n")[0] for text in calls] == [
        "7 calls of 3 functions",
        "none since the stop before",
    ]
    assert "own code is what lies in" not in done.stderr


def test_a_focus_that_is_nowhere_is_refused(run: Run, cart: Program) -> None:
    done = run("--calls", "no/such.py", "--", "main.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--calls: focus: there is no file or folder" in done.stderr
    inner = Program.write(cart.path.parent / "src" / "kit.py", "")
    done = run("--calls", "kit.py", "--", "main.py")
    assert done.stderr.splitlines()[-1] == f"  Did you mean {inner.text}?"


def test_where_nothing_of_a_focus_was_called_it_is_said_what_there_is(
    run: Run, cart: Program, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    done = run("--calls", "empty,pric,price", "--", "main.py")
    assert done.stderr.partition("[calls] ")[2].splitlines()[0] == (
        "0 calls of 0 functions; nothing in empty was called; "
        "no function of a module pric was called: did you mean main.py:price?; "
        "no function of a module price was called: a function is named with its file, main.py:price"
    )


def test_a_run_that_is_ended_by_force_shows_its_calls_up_to_then(run: Run, tmp_path: Path) -> None:
    text = """
        import threading

        def twice(n):
            return n * 2

        def wait(lock):
            lock.acquire()

        twice(4)
        wait(threading.Semaphore(0))
    """
    Program.write(tmp_path / "main.py", text)
    done = run("--calls", "--timeout", "1", "--", "main.py")
    assert done.returncode == 124
    shown = done.stderr.partition("[calls] ")[2].splitlines()
    assert shown[:2] == ["2 calls of 2 functions", "twice(n=4) → 8"]
    assert shown[2].startswith("wait(lock=<Semaphore")
    assert shown[2].endswith(" is not over")
    assert shown[3].startswith("[end] ended by --timeout")


def test_calls_that_went_with_the_program_are_said_to_be_gone(run: Run, tmp_path: Path) -> None:
    text = "import signal, threading\ndef leave(n): signal.pthread_kill(threading.get_ident(), 9)\nleave(2)\n"
    (tmp_path / "main.py").write_text(text)
    done = run("--calls", "--", "main.py")
    reason = "the program ended at once, and what was recorded, if anything, went with it"
    assert f"\nIncomplete: {reason}\n" in done.stderr.partition("[calls] ")[2]


def test_calls_of_the_debugger_are_none_of_the_library_that_is_asked_about(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "main.py").write_text("def work(n):\n    return n\n\nwork(1)\n")
    done = run("--calls", "os", "--", "main.py")
    assert "[calls] 0 calls of 0 functions" in done.stderr


TASKS = """
    import asyncio

    async def source():
        try:
            await never()
        finally:
            closed()

    async def never():
        try:
            missing()
        except KeyError:
            await asyncio.sleep(600)

    def missing():
        raise KeyError("missing")

    def closed():
        pass

    def wrong():
        return 3

    async def runner():
        tasks = [asyncio.ensure_future(source()) for _ in range(12)]
        await asyncio.sleep(0)
        result.set_exception(await error())
        await asyncio.gather(*tasks)

    async def error():
        try:
            await fails()
        except AssertionError as found:
            return found

    async def fails():
        assert wrong() == 2  # @fails

    async def main():
        global result
        result = asyncio.get_running_loop().create_future()
        running = asyncio.ensure_future(runner())
        try:
            await result
        finally:
            running.cancel()
            await asyncio.wait([running])

    def test_main():
        asyncio.run(main())
"""


def test_the_call_that_failed_is_shown_before_those_that_were_cancelled_since(
    run: Run, tmp_path: Path
) -> None:
    suite = Program.write(tmp_path / "test_main.py", TASKS)
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:trio", suite.text)
    done = run("--calls", "--on-exception", "--until", "1", "--", *words)
    tree = done.stderr.partition("[calls] ")[2]
    line = suite.line("fails")
    assert f"  fails() raised AssertionError: assert 3 == 2 at line {line}" in tree
    assert "  wrong() → 3" in tree
