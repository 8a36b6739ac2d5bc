"""What a call costs that goes by under `--until-result`, by the kinds of its values.

Functions of three lines each, one of them with a loop, which take next to no time themselves, so that
what the relay adds can be seen: 5,000 calls of one in the plain program, and under a trace that no call ends. In
processor time of the program's own thread, which the program takes itself.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from benchmarks.unanswered_questions import relay_run, said_by

CALLS = 5_000

PROGRAM = f"""\
import json, sys, time
from dataclasses import dataclass, field


class Box:
    def __init__(self, width, height):
        self.width, self.height = width, height

    def area(self):
        width = self.width
        height = self.height
        return width * height

    def grow(self, by):
        self.width += by
        return self.width


@dataclass
class Order:
    number: int
    price: float
    tags: list = field(default_factory=list)


def numbers(total, people):
    part = total // people
    rest = total - part * people
    return part + rest


def texts(text):
    found = text.split()
    longest = max(found, key=len)
    return longest.upper()


def reads_object(box):
    width = box.width
    height = box.height
    return width * height


def reads_dataclass(order, rate):
    gross = order.price * order.number
    tax = gross * rate
    return gross - tax


def reads_list(prices):
    low = min(prices)
    high = max(prices)
    return high - low


def reads_dict(table, key):
    found = table[key]
    more = table.get("more", 0)
    return found + more


def reads_lists_in_list(rows):
    first = rows[0]
    width = len(first)
    return width * len(rows)


def reads_dataclasses_in_list(orders):
    first = orders[0]
    last = orders[-1]
    return last.price - first.price


def makes_list(a, b):
    both = [a, b]
    both.append(a + b)
    return both


def makes_dataclass(number):
    price = number * 2.0
    order = Order(number, price)
    return order


def changes_list(items, one):
    items.append(one)
    items.pop(0)
    return len(items)


def grows_long_list(items, one):
    items.append(one)
    return len(items)


def changes_dataclass(order, by):
    order.price += by
    order.number = 1
    return order


def sums_ten(prices):
    total = 0
    for price in prices:
        total += price
    return total


def calls_own(a, b):
    part = numbers(a, b)
    rest = part * 2
    return rest


def main(kind):
    box, order = Box(3, 4), Order(3, 2.5, ["a", "b"])
    function, *given = {{
        "numbers": (numbers, 100, 7),
        "texts": (texts, "one of the words"),
        "reads_object": (reads_object, box),
        "Box.area": (box.area,),
        "reads_dataclass": (reads_dataclass, order, 0.2),
        "reads_list": (reads_list, [3.5, 1.5, 2.5]),
        "reads_dict": (reads_dict, {{"a": 1, "b": 2}}, "a"),
        "reads_lists_in_list": (reads_lists_in_list, [[1, 2], [3, 4]]),
        "reads_dataclasses_in_list": (reads_dataclasses_in_list, [Order(n, n / 2) for n in range(4)]),
        "makes_list": (makes_list, 1, 2),
        "makes_dataclass": (makes_dataclass, 3),
        "changes_list": (changes_list, [1, 2, 3], 4),
        "grows_long_list": (grows_long_list, [], 4),
        "Box.grow": (box.grow, 1),
        "changes_dataclass": (changes_dataclass, order, 1),
        "sums_ten": (sums_ten, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
        "calls_own": (calls_own, 100, 7),
    }}[kind]
    started = time.thread_time()
    for _ in range({CALLS}):
        function(*given)
    print(json.dumps({{kind: time.thread_time() - started}}))


if __name__ == "__main__":
    main(sys.argv[1])
"""

KINDS = tuple(line.split('"')[1] for line in PROGRAM.splitlines() if line.startswith('        "'))


def passing(
    python: str, rounds: int, kinds: tuple[str, ...] = KINDS
) -> dict[str, dict[str, float]]:
    """Microseconds of a call by kind: "plain", and what the trace "added", best of the rounds.

    Raises BenchmarkError.
    """
    found = {}
    with tempfile.TemporaryDirectory(prefix="relay-passing-") as scratch:
        program = Path(scratch) / "program.py"
        program.write_text(PROGRAM)
        for kind in kinds:
            traced = [*relay_run(python), "--trace", kind, "--until-result", "result == -1", "--"]
            seconds = {}
            for way, argv in (("plain", [python]), ("traced", traced)):
                runs = [said_by([*argv, str(program), kind], program.parent) for _ in range(rounds)]
                seconds[way] = min(json.loads(one)[kind] for one in runs) / CALLS * 1e6
            plain = seconds["plain"]
            found[kind] = {"plain": plain, "added": seconds["traced"] - plain}
    return found


def table(found: dict[str, dict[str, float]]) -> str:
    """Markdown."""
    rows = ["| function | plain, µs a call | a call that goes by |", "| --- | ---: | ---: |"]
    for kind, cost in found.items():
        rows.append(f"| {kind.replace('_', ' ')} | {cost['plain']:.2f} | +{cost['added']:.2f} |")
    return "\n".join(rows)
