"""Which calls the further runs of `relay diff` record: as many as it takes to say what differs first."""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from relay.config import load_settings
from relay.operations.compare import side_runs, two_runs, whole_calls
from relay.operations.compare.answer import Answer
from relay.operations.compare.readings import Readings
from relay.operations.compare.recorded_calls import RecordedRun
from relay.operations.compare.recorded_run import Ran, run_recorded
from relay.operations.compare.sides import sides_of_commands
from relay.operations.compare.whole_calls import Whole
from tests.debuggers.bootstrap_runner import installed_python
from tests.programs import Program

VERSIONS = ["3.11", "3.12", "3.13"]


class Comparisons:
    """Of a script without an argument beside itself with one; `runs` are those that were made, as they were read."""

    def __init__(self, folder: Path, version: str, patch: pytest.MonkeyPatch) -> None:
        self._folder, self._patch = folder, patch
        self._settings = load_settings(project_root=folder, python_path=installed_python(version))
        self.version = version
        self.runs: list[tuple[Ran, RecordedRun]] = []

    async def record(self, *given: Any, **named: Any) -> Ran:
        """A run, while its file is there."""
        ran = await run_recorded(*given, **named)
        self.runs.append((ran, Readings(str, (ran.side, ran.side)).read(ran)[0]))
        return ran

    async def of(self, source: str, **constants: float) -> tuple[Program, Answer]:
        """constants: of the product, with another value; REACH is that of all further runs."""
        script = Program.write(self._folder / "main.py", source)
        for name, value in constants.items():
            for module in (whole_calls, side_runs, two_runs):
                if hasattr(module, name):
                    self._patch.setattr(module, name, value)
        command = {"script": script.text}
        sides = await sides_of_commands(command, {**command, "args": ["x"]})
        return script, await two_runs.compare_runs(self._settings, sides, [])


@pytest.fixture(params=VERSIONS)
def comparisons(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Comparisons:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RELAY_STATE_DIR", str(tmp_path / ".state"))
    found = Comparisons(tmp_path, request.param, monkeypatch)
    monkeypatch.setattr(side_runs, "run_recorded", found.record)
    return found


async def test_further_runs_record_nothing_behind_what_differs(comparisons: Comparisons) -> None:
    """From there on the program has no events of ours."""
    source = """
    import sys

    def price(n):  # @price
        return n + len(sys.argv)

    def look(n):
        return n

    look(0)
    price(3)
    for n in range(1000):
        look(n)
    if sys.version_info >= (3, 12):
        print("events", sum(map(sys.monitoring.get_events, (2, 3, 4))))
    """
    script, answer = await comparisons.of(source, REACH=20)
    lines = answer.text.splitlines()
    assert lines[0] == f"first call that differs: price at main.py:{script.line('price')}"
    assert "1 of 22 calls with equal arguments differ; the runs go on beyond" in lines[-1]
    assert [(len(run.calls), run.is_cut) for _, run in comparisons.runs] == [(1002, False)] * 2 + [
        (22, True)
    ] * 2
    if comparisons.version != "3.11":
        events = [ran.printed[0].split()[-1] != "0" for ran, _ in comparisons.runs]
        assert events == [True, True, False, False]


DRAWS = """
    import random
    import sys

    def draw():
        return random.SystemRandom().random()

    def look(n):
        return n

    def price(n):  # @price
        return n + len(sys.argv)

    draw()
    for n in range(200):
        look(n)
    price(3)
    for n in range(200):
        look(n)
"""


async def test_where_chance_made_the_first_difference_all_calls_count(
    comparisons: Comparisons,
) -> None:
    """What differs but for chance lies behind what the first further runs have recorded."""
    script, answer = await comparisons.of(DRAWS, REACH=20)
    assert answer.text.startswith(
        f"first call that differs: price at main.py:{script.line('price')}"
    )
    assert "1 of 402 calls" in answer.text, answer.text
    counts = [len(run.calls) for _, run in comparisons.runs]
    assert min(counts) < 30
    assert counts[-1] == 402


async def test_where_chance_made_the_first_difference_in_brief_the_next_is_looked_at_whole(
    comparisons: Comparisons,
) -> None:
    """All calls were recorded whole for it, which may take long."""
    script, answer = await comparisons.of(DRAWS, REACH=20, WHOLE_SECONDS=-1.0)
    first, *_, last = answer.text.splitlines()
    assert first == f"first call that differs: price at main.py:{script.line('price')}"
    assert last == "values were compared whole in calls 182 to 222, else in brief"
    assert not [run.count for _, run in comparisons.runs if run.whole is None and not run.is_cut]


async def test_what_is_weaker_than_a_result_is_not_told_for_it_as_the_recording_ended_before(
    comparisons: Comparisons,
) -> None:
    """In brief `rate` is the first to give something else; whole, it is given another order. What it is called by ends
    behind the recording, in which `spoil` is the only one left: it gave another order to `note`."""
    source = """
    import sys

    class Order:
        def __init__(self):
            self.lines = [[n, str(n)] for n in range(30)]
            self.rates = {"tax": {"rates": [1, 1]}}

    def look(n):
        return n

    def note(order):
        return None

    def spoil(order):  # @spoil
        order.rates["tax"]["rates"][1] = len(sys.argv)
        note(order)

    def rate(order):
        return order.rates["tax"]["rates"][1]

    def price(n):  # @price
        found = n * rate(ORDER)
        for one in range(800):
            look(one)
        return found

    ORDER = Order()
    spoil(ORDER)
    for n in range(100):
        look(n)
    price(3)
    """
    answers = []
    for seconds in (60.0, -1.0):
        script, answer = await comparisons.of(source, REACH=20, WHOLE_SECONDS=seconds)
        answers.append(answer.text.splitlines())
    at_once, closer = answers
    assert at_once[0] == f"first call that differs: price at main.py:{script.line('price')}"
    changed = "before it, arguments are changed otherwise by spoil"
    assert f"{changed} at main.py:{script.line('spoil')}" in at_once
    assert closer[:-2] == at_once[:-1]
    assert True in [run.is_cut for _, run in comparisons.runs]


async def test_what_is_told_beside_options_is_recorded_too(comparisons: Comparisons) -> None:
    """It may be far behind them."""
    source = """
    import argparse
    import sys

    def options():
        parser = argparse.ArgumentParser()
        parser.add_argument("name", nargs="?")
        return parser.parse_args()

    def look(n):
        return n

    def price(n):  # @price
        return n + len(sys.argv)

    options()
    for n in range(100):
        look(n)
    price(3)
    for n in range(100):
        look(n)
    """
    script, answer = await comparisons.of(source, REACH=20)
    assert answer.text.startswith("first call that differs: options at main.py:")
    assert f"next that gives no options: price at main.py:{script.line('price')}" in answer.text
    assert [run.count for _, run in comparisons.runs][-1] < 200


async def test_of_equal_programs_as_much_is_compared_whole_as_there_is_time_for(
    comparisons: Comparisons,
) -> None:
    """It took as long as all their values take."""
    source = """
    class Order:
        def __init__(self):
            self.lines = [[n, str(n)] for n in range(60)]

    def look(order, n):
        order.lines[n % 60][0] = n

    order = Order()
    for n in range(3000):
        look(order, n)
    """
    _, answer = await comparisons.of(source, WHOLE_SECONDS=0.01, WHOLE_SECONDS_OF_EQUAL_RUNS=0.03)
    counted, whole = answer.text.splitlines()
    assert answer.differs is False
    assert counted.startswith("no call differs: 3001 with equal arguments, of 3001 and 3001")
    ends = [run.whole[1] for _, run in comparisons.runs if run.whole]
    assert ends[0] == ends[1] < ends[2] == ends[3] < 3001
    assert whole == f"values were compared whole in calls 1 to {ends[3]}, else in brief"


async def test_a_side_that_makes_many_more_calls_is_not_recorded_whole_to_its_end(
    comparisons: Comparisons,
) -> None:
    """What fails early shows what differs in few calls; all values of the other side took as long as these take."""
    source = """
    import sys

    class Order:
        def __init__(self):
            self.lines = [[n, str(n)] for n in range(60)]

    def price(n):  # @price
        return n + len(sys.argv)

    def look(order, n):
        order.lines[n % 60][0] = n

    order = Order()
    if price(3) == 5:
        for n in range(2000):
            look(order, n)
    """
    script, answer = await comparisons.of(source, REACH=20, WHOLE_SECONDS=0.02)
    assert answer.text.startswith(
        f"first call that differs: price at main.py:{script.line('price')}"
    )
    first, second = [run for _, run in comparisons.runs][:2]
    assert first.whole is None
    assert second.whole is not None
    assert (len(first.calls), len(second.calls)) == (2, 2002)
    assert second.whole[1] < 2002
    assert all(run.count < 50 for _, run in comparisons.runs[2:])


MANY_KINDS = """
    import threading

    class Box:
        def __init__(self):
            self.items = []

        def put(self, item):
            self.items.append(item)
            if len(self.items) % 3 == 0:
                raise ValueError(len(self.items))
            return self.items

    def numbers(count):
        for n in range(count):
            yield twice(n)

    def twice(n):
        return n * 2

    def fill(box, count):
        for n in numbers(count):
            try:
                box.put(n)
            except ValueError:
                twice(-n)
        return box

    def main():
        box = Box()
        worker = threading.Thread(target=fill, args=(box, 4))
        worker.start()
        worker.join()
        waiting = numbers(2)
        next(waiting)
        for count in range(5):
            fill(box, count)
        return list(waiting)

    main()
"""


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_run_until_a_call_is_what_a_recording_until_there_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    script = Program.write(tmp_path / "main.py", MANY_KINDS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RELAY_STATE_DIR", str(tmp_path / ".state"))
    side, _ = await sides_of_commands({"script": script.text}, {"script": script.text})
    settings = load_settings(project_root=tmp_path, python_path=installed_python(version))

    async def recording(until: int | None) -> Ran:
        stream = tmp_path / f"{until}.jsonl"
        return await run_recorded(settings, side, [], stream, None, whole=Whole(until=until))

    every = await recording(None)
    readings = Readings(str, (side, side))
    total = readings.read(every)[0].count
    for until in (1, 7, total // 2, total - 1, total):
        ended = await recording(until)
        cut, found = readings.read(every)[0].until(until), readings.read(ended)[0]
        assert facts(cut) == facts(found), until
        assert cut.is_cut == found.is_cut == (until < total)


def facts(run: RecordedRun) -> dict[str, Any]:
    """What says which calls it has, and what of them is compared."""
    of_call = attrgetter("parent", "arguments", "each", "is_whole")
    over = attrgetter("outcome", "changes", "ended", "begun")
    key = {number: function.key for number, function in run.functions.items()}
    return {
        "calls": {
            call.number: (key[call.function], *of_call(call), *over(call))
            for call in run.calls.values()
        },
        "open": {call.number: (key[call.function], *of_call(call)) for call in run.open.values()},
        "children": run.children,
        "trees": run.trees,
    }
