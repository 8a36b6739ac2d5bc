"""Functions drawn by lot: a call that is found among others is recorded as if it alone had been traced."""

from __future__ import annotations

import random
import textwrap
from collections.abc import Callable

import pytest

from tests.e2e.api import Api
from tests.e2e.test_trace import paused
from tests.e2e.test_trace_until import is_recorded_as_alone
from tests.programs import Program

Write = Callable[..., Program]

FUNCTIONS = 25
CALLS, MANY = 4, 60
HEAD = """
import contextlib
import dataclasses

@dataclasses.dataclass
class Order:
    number: int = 0
    tags: list = dataclasses.field(default_factory=list)

class Box:
    def __init__(self):
        self.width = 0
    def grow(self, by):
        self.width += by
        return self.width

class HighBox(Box):
    @property
    def width(self):
        self.looks = getattr(self, "looks", 0) + 1
        return self.looks
    @width.setter
    def width(self, value):
        self.set_to = value

class Several(list):
    def __getitem__(self, place):
        self.append(0)
        return super().__getitem__(place)

@contextlib.contextmanager
def longer(items):
    items.append(1)
    yield items
    items.pop()

def twice(value):
    both = [value]
    both.append(value)
    return both

def change(items):
    items.append(len(items))

def up_to(number):
    yield from range(min(number, 3))
"""
STATEMENTS = """
{local} = {value}
{local} = {value}
{local} += {value}
{local} += {value}
a, b = b, a
b = c = {value}
more = items
items = [{value}, {value}]
items = items + [{value}]
items.append({value})
change(items)
c = len(twice({value}))
box.width = {value}
box.grow({value})
order.number += 1
order.tags.append({value})
found = [{value} for one in range(2)]
found = sum(one * {local} for one in items[:4])
gone = {value}; del gone
text = "x" * 3; other = text.upper(); text = other + text
for a in up_to(a): c = a
"""
BLOCKS = """
for one in range(3):|
for one in items[:3]:|
for place, one in enumerate(items[:3]):|
for one in list(more)[:2]:|
if {value} > {value}:|
if {value} > {value}:|else:
while left > 0:|    left -= 1
with longer(items):|
try:|    a = 1 // ({value})|except ZeroDivisionError as error:
def inner():|    nonlocal b, c|    b += 1|    return c
"""
VALUES = (
    *("a", "b", "c", "n", "1", "2", "a + b", "b - 1", "a * 2 % 7", "max(a, b)", "box.width"),
    *("len(items)", "len(more)", "sum(items[:5])", "order.number", "items[0] if items else 0"),
)


class Lots:
    """Draws the code of functions."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def _filled(self, text: str) -> str:
        while "{" in text:
            text = text.replace("{local}", self.random.choice("abcd"), 1)
            text = text.replace("{value}", self.random.choice(VALUES), 1)
        return text

    def statements(self, depth: int) -> list[str]:
        found = []
        for _ in range(self.random.randrange(1, 4 if depth else 7)):
            if depth < 3 and self.random.random() < 0.3:
                found += self._block(depth)
            else:
                found.append(self._filled(self.random.choice(STATEMENTS.split("\n")[1:-1])))
        return found

    def _block(self, depth: int) -> list[str]:
        head, *parts = self.random.choice(BLOCKS.split("\n")[1:-1]).split("|")
        found = ["left = 2"] if head.startswith("while") else []
        found.append(self._filled(head))
        if head.startswith("def"):
            return [*found, *parts, "d = inner()"]
        found += self._inside(depth)
        for part in parts:
            if part:
                found.append(self._filled(part))
            if part.endswith(":"):
                found += self._inside(depth)
        return found

    def _inside(self, depth: int) -> list[str]:
        return ["    " + line for line in self.statements(depth + 1)]

    def function(self, name: str) -> str:
        begin = ["b = c = d = 0", "more = []", "a = 2"]
        self.random.shuffle(begin)
        result = self.random.choice(("a", "items", "(a, b, c)", "None", "box"))
        body = [*begin, *self.statements(0), f"return {result}"]
        return f"def {name}(n, items, box, order):\n" + textwrap.indent("\n".join(body), "    ")


def program_of(lots: Lots, count: int) -> str:
    """Each function is called so many times, from the tenth on now and then with other types."""
    functions = [lots.function(f"work{number}") for number in range(FUNCTIONS)]
    calls = [
        "def main():",
        "    items, box, order = [3], Box(), Order()",
        f"    for work in ({', '.join(f'work{number}' for number in range(FUNCTIONS))}):",
        f"        for n in range({count}):",
        "            given = Several(items[:4]) if n % 10 == 9 else items[:4]",
        "            boxed = HighBox() if n % 23 == 22 else box",
        "            with contextlib.suppress(ZeroDivisionError):",
        "                work(n, given, boxed, order)",
        "main()  # @main",
    ]
    return "\n\n".join([HEAD, *functions, "\n".join(calls)]) + "\n"


@pytest.mark.parametrize(
    ("seed", "calls"), [(0, CALLS), (1, CALLS), (2, CALLS), (3, MANY), (4, MANY)]
)
async def test_functions_by_lot_are_recorded_as_if_the_call_alone_had_been_traced(
    api: Api, program: Write, seed: int, calls: int
) -> None:
    lots = Lots(seed)
    drawn = program(program_of(lots, calls))
    one, other = [await paused(api, drawn, "main") for _ in range(2)]
    for number in range(FUNCTIONS):
        until = f"n == {lots.random.randrange(calls)}"
        await is_recorded_as_alone(one, other, f"work{number}", until)
