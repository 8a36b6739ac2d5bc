"""What a data breakpoint that never fires costs loops that write places of the same name, or beside it.

Each loop takes the processor time of its thread, once plainly and once under `relay run --watch`, in
turns. `one.x` is a slot, which no dict watcher can report; `items[0]` an item of a list, `table['w']` one
of a dict, `plain.x` an attribute and `total` a global.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from pathlib import Path

from benchmarks.unanswered_questions import relay_run, said_by

ROUNDS_OF_A_LOOP = 300_000
MARK = "# the data breakpoint is set here"

PROGRAM = f"""\
import json, time


class Point:
    __slots__ = ("x", "y")

    def __init__(self, x=0):
        self.x = x
        self.y = 0

    def put(self, value):
        self.x = value

    def put_both(self, value):
        self.x = value
        self.y = value

    def put_rest(self, value):
        self.y = value


class Plain:
    def __init__(self):
        self.x = self.y = 0


total = count = 0


def calls(function):
    for number in range({ROUNDS_OF_A_LOOP}):
        function(number)


def writes(point):
    for number in range({ROUNDS_OF_A_LOOP}):
        point.x = number


def writes_items(into):
    for number in range({ROUNDS_OF_A_LOOP}):
        into[0] = number


def writes_keys(into):
    for number in range({ROUNDS_OF_A_LOOP}):
        into["k"] = number


def writes_rest(point):
    for number in range({ROUNDS_OF_A_LOOP}):
        point.y = number


def writes_same(point):
    for number in range({ROUNDS_OF_A_LOOP}):
        point.x = 0


def writes_next(into):
    for number in range({ROUNDS_OF_A_LOOP}):
        into[1] = number


def writes_globals(_):
    global count
    for number in range({ROUNDS_OF_A_LOOP}):
        count = number


def pushes(to):
    for number in range({ROUNDS_OF_A_LOOP}):
        to.append(number)
        to.pop()


def appends(to):
    for number in range({ROUNDS_OF_A_LOOP}):
        to.append(number)


def reads(from_):
    for number in range({ROUNDS_OF_A_LOOP}):
        from_["k"]


def seconds(loop, given):
    started = time.thread_time()
    loop(given)
    return time.thread_time() - started


def main(one, other, items, table, plain):
    global total
    found = {{}}  {MARK}
    found = {{
        "a method that sets x of another object": seconds(calls, other.put),
        "one that sets x and y": seconds(calls, other.put_both),
        "a new object": seconds(calls, Point),
        "a loop of writes to x of another object": seconds(writes, other),
        "a loop of writes to items of another list": seconds(writes_items, [0]),
        "a method that sets y": seconds(calls, other.put_rest),
        "a loop of writes to items of another dict": seconds(writes_keys, {{}}),
        "a loop of appends to another list": seconds(appends, []),
        "a loop of appends to that list, and pops": seconds(pushes, items),
        "a loop of writes to another item of that list": seconds(writes_next, items),
        "a loop of writes to another key of that dict": seconds(writes_keys, table),
        "a loop of writes to another attribute of that object": seconds(writes_rest, plain),
        "a loop of writes to x of another such object": seconds(writes, Plain()),
        "a loop that gives the slot the value that it has": seconds(writes_same, one),
        "a loop that gives the attribute the value that it has": seconds(writes_same, plain),
        "a loop of writes to another global": seconds(writes_globals, None),
        "a loop of reads of an item": seconds(reads, {{"k": 1}}),
    }}
    started = time.thread_time()
    for number in range({ROUNDS_OF_A_LOOP}):
        other.x = number
    found["where the program stopped: writes to x of another object"] = time.thread_time() - started
    started, into = time.thread_time(), {{}}
    for number in range({ROUNDS_OF_A_LOOP}):
        into["k"] = number
    found["where the program stopped: writes to items of another dict"] = time.thread_time() - started
    started = time.thread_time()
    for number in range({ROUNDS_OF_A_LOOP}):
        other.put_rest(number)
    found["where the program stopped: calls of a method that sets y"] = time.thread_time() - started
    one.x = items[0] = table["w"] = plain.x = total = 1
    print(json.dumps(found))


main(Point(), Point(), [0, 2], {{"w": 0}}, Plain())
"""


def watched(python: str, rounds: int) -> dict[str, dict[str, float]]:
    """By watched place and loop, how many times as long it takes: medians of the rounds.

    Raises BenchmarkError.
    """
    line = next(n for n, text in enumerate(PROGRAM.splitlines(), 1) if MARK in text)
    ways: dict[str, list[dict[str, float]]] = {
        "": [],
        "one.x": [],
        "items[0]": [],
        "table['w']": [],
        "plain.x": [],
        "total": [],
    }
    with tempfile.TemporaryDirectory(prefix="relay-watched-") as scratch:
        program = Path(scratch) / "program.py"
        program.write_text(PROGRAM)
        for _ in range(rounds):
            for place, runs in ways.items():
                watch = [*relay_run(python), "--watch", f"{program}:{line}:{place}", "--"]
                argv = [*(watch if place else [python]), str(program)]
                runs.append(json.loads(said_by(argv, program.parent)))
    plain = ways.pop("")
    return {
        place: {
            loop: _median(runs, loop) / _median(plain, loop) for loop in (plain[0] if plain else ())
        }
        for place, runs in ways.items()
    }


def _median(runs: list[dict[str, float]], loop: str) -> float:
    return statistics.median(run[loop] for run in runs)


def table(found: dict[str, dict[str, float]]) -> str:
    """Markdown."""
    rows = [f"| in the loop | {' | '.join(found)} |", f"| --- |{' ---: |' * len(found)}"]
    for loop in next(iter(found.values())):
        ratios = [f"{one[loop]:.1f}" for one in found.values()]
        rows += [f"| {loop} | {' | '.join(ratios)} |"]
    return "\n".join(rows)
