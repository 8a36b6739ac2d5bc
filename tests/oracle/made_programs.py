"""Modules whose functions are drawn by lot: `Made(seed).module()`, and `calls` of it.

Functions call those that were drawn before them, so all calls come to an end. Each takes a number.
"""

from __future__ import annotations

import random
import textwrap
from collections.abc import Callable

HEAD = """
import asyncio, contextlib, dataclasses, functools, re

class Trouble(Exception):
    pass

def num(value):
    if isinstance(value, int):
        return value % 1009
    return len(value) if hasattr(value, "__len__") else 7

def wrapped(function):
    @functools.wraps(function)
    def around(*args, **more):
        return function(*args, **more)
    return around
"""

STATEMENTS = """
{local} = {value}
{local} = {value}
{local} = {call}
{local} = {call}
items.append({value})
table[{value} % 3] = {call}
{local} = sum([num({call}) for one in range(2)])
{local} = sum(num(one) for one in items[:2])
items.sort(key=lambda one: num(one) % 3)
{local} = functools.reduce(lambda one, other: one + other, [{value}, {value}, 1])
{local} = num(re.sub("[ab]", lambda found: str(num(found.group())), "abc"))
if ({local} := {call}) > 3: c = {value}
if {value} % 5 == 4: return {call}
if {value} % 7 == 6: raise {error}({value})
"""

BLOCKS = """
for one in range(2):
if {value} > {value}:|else:
while left > 0:|    left -= 1
try:|    c = 1 // ({value} % 2)|except ZeroDivisionError as error:
try:|    {local} = {call}|except (LookupError, ValueError):|    raise Trouble({value}) from None
try:|    {local} = {call}|except Exception as error:|    raise
try:|finally:|    c = {call}
with contextlib.suppress(KeyError, Trouble):
def inner(one, *more, two={value}):|    nonlocal b|    b += one % 5|    return {call}|c = inner(a, b)
"""

UNITS = (
    """
def {name}(n):
    a, b, c, left = n, 2, {digit}, 2
    items, table = [3, 1], {{}}
{body}
    return {given}
""",
    """
def {name}(n):
    a, b, c, left = n, 2, {digit}, 2
    items, table = [3, 1], {{}}
{body}
    return {given}
""",
    """
@wrapped
def {name}(n, *rest, two=2, **more):
    return {call} + two + len(rest) + len(more)
""",
    """
@functools.lru_cache(maxsize=None)
def {name}(n):
    return {call}
""",
    """
def {name}(n):
    n = abs(n) % 7
    return {call} if n < 2 else num({name}(n - 1)) + num({name}(n - 2)) % {digit}
""",
    """
class {title}:
    def __init__(self, n):
        self.n, self.parts = n, []
    def step(self, n):
        self.parts.append(n)
        return {call}
    @property
    def size(self):
        return len(self.parts) + num(self.n)
    @classmethod
    def make(cls, n):
        return cls(n % 5)
    @staticmethod
    def plain(n):
        return {call}
    def __eq__(self, other):
        return self.n == other.n
    def __hash__(self):
        return 1
    def __repr__(self):
        raise ValueError(self.n)
    def __call__(self, n):
        return self.step(n) + self.plain(n)
def {name}(n):
    one, other = {title}(n), {title}.make(n)
    known = {{one: 1, other: 2}}
    return one.step(n) + other(n) + one.size + len(known)
""",
    """
def {name}_each(n):
    total = 0
    try:
        for one in range(n % 4):
            got = yield {call}
            total += got or 0
    except ValueError:
        yield "caught"
    finally:
        num(total)
    return total
def {name}_all(n):
    total = yield from {name}_each(n + 2)
    yield total
def {name}(n):
    each = {name}_each(3)
    first = next(each)
    for given in (lambda: each.send(2), lambda: each.throw(ValueError(n)), lambda: next(each)):
        try:
            first = given()
        except (StopIteration, ValueError) as error:
            first = num(error.args)
    return list({name}_all(n)), first
""",
    """
async def {name}_leaf(n):
    await asyncio.sleep(0)
    if n % 5 == {digit}:
        raise ValueError(n)
    return {call}
async def {name}_top(n):
    try:
        return await {name}_leaf(n)
    except ValueError:
        return [one async for one in {name}_each(n % 3)]
async def {name}_each(n):
    for one in range(n):
        yield {call}
        await asyncio.sleep(0)
async def {name}_both(n):
    task = asyncio.ensure_future({name}_top(n + 1))
    return await asyncio.gather({name}_leaf(n), {name}_top(n), task, return_exceptions=True)
def {name}(n):
    return asyncio.run({name}_both(n))
""",
    """
@contextlib.contextmanager
def {name}_within(n):
    try:
        yield {call}
    except KeyError:
        raise Trouble(n)
class {title}:
    def __enter__(self):
        return self
    def __exit__(self, kind, error, traceback):
        return kind is ValueError
def {name}(n):
    with {name}_within(n) as one, {title}():
        if n % 3 == 1:
            raise ValueError(n)
        if n % 3 == 2:
            raise KeyError(one)
    return {call}
""",
    """
@dataclasses.dataclass
class {title}:
    x: int
    y: list = dataclasses.field(default_factory=lambda: [1])
    def __post_init__(self):
        self.y.append(num(self.x))
    def area(self):
        return self.x * len(self.y)
def {name}(n):
    made = {title}(n)
    return made.area() + dataclasses.replace(made, x={digit}).area() + {call}
""",
    """
def {name}_change(items, table):
    items.append(len(items))
    table["k"] = items
def {name}(n):
    items, table = [n], {{}}
    for one in range(3):
        {name}_change(items, table)
    for one in range(20):
        num(one % 3)
        if one % 6 == 5:
            with contextlib.suppress(ValueError):
                {name}_fails(one % 2)
    return items
def {name}_fails(n):
    raise ValueError(num(n))
""",
    """
def {name}_several(n):
    raise ExceptionGroup("several", [ValueError(n), KeyError(n)])
def {name}(n):
    try:
        {name}_several(n)
    except* ValueError as group:
        n = num(group.exceptions)
    except* KeyError:
        n = {call}
    return n
""",
)


class Made:
    """What is drawn with one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names: list[str] = []

    def _value(self) -> str:
        draw = self.random.choice
        return draw(("n", "3", "7", f"(n + {draw('1234')})", f"(n * {draw('23')} - {draw('15')})"))

    def _call(self) -> str:
        """Few are calls of what was drawn before: their numbers would grow without bounds."""
        if self.names and self.random.random() < 0.6:
            return f"num({self.random.choice(self.names)}({self._value()}))"
        return f"num({self._value()})"

    def _filled(self, text: str) -> str:
        drawn: dict[str, Callable[[], str]] = {
            "{value}": self._value,
            "{call}": self._call,
            "{local}": lambda: self.random.choice("abc"),
            "{error}": lambda: self.random.choice(("ValueError", "KeyError", "Trouble")),
        }
        for mark, draw in drawn.items():
            while mark in text:
                text = text.replace(mark, draw(), 1)
        return text

    def _statements(self, depth: int) -> list[str]:
        found = []
        for _ in range(self.random.randrange(1, 4)):
            if depth < 2 and self.random.random() < 0.4:
                for part in self.random.choice(BLOCKS.split("\n")[1:-1]).split("|"):
                    found.append(self._filled(part))
                    if part.endswith(":") and not part.startswith("def"):
                        found += [f"    {line}" for line in self._statements(depth + 1)]
            else:
                found.append(self._filled(self.random.choice(STATEMENTS.split("\n")[1:-1])))
        return found

    def module(self, units: int = 10) -> str:
        parts = [HEAD]
        for number in range(units):
            name = f"work{number}"
            body = textwrap.indent("\n".join(self._statements(0)), "    ")
            unit = self.random.choice(UNITS).replace("{call}", "{{call}}").format(
                name=name,
                title=f"Thing{number}",
                digit=self.random.randrange(1, 6),
                given=self.random.choice(("a", "items", "(a, b)", "str(c)", "None", "table")),
                body=body.replace("{", "{{").replace("}", "}}"),
            )  # fmt: skip
            parts.append(self._filled(unit).replace("{{", "{").replace("}}", "}"))
            self.names.append(name)
        return "\n".join(parts)

    def calls(self, most: int = 6) -> list[str]:
        """Calls of the module's functions."""
        chosen = self.random.sample(self.names, min(most, len(self.names)))
        return [f"{name}({self.random.randrange(9)})" for name in chosen]
