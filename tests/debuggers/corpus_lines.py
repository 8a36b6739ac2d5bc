"""A program in which every line with code runs.

Lines without code in any Python are marked; the tests compare the rest with the
line events of the interpreter and with the stops of the debugger. The odd style is
the purpose: nothing may tidy this file up.
"""

# fmt: off
# ruff: noqa: C416, E701, E702, E731, F841, PIE790, RET503, UP004, UP032, UP033
# mypy: ignore-errors

from __future__ import annotations

import asyncio
import contextlib
import functools

unset: int  # evaluated lazily
number: int = 1
text = """first
second {}
""".format(
    number,
)


def same(function):
    return function


@same
@functools.lru_cache(
    maxsize=None,
)
def decorated(
    first=1,
    second: int = (  # annotated
        2
    ),
):
    """A docstring
    over lines.  # no code
    """
    return (
        first
        + second
    )


def declarations():
    global counted  # no code
    counted = 1
    inner = 0

    def nested():
        nonlocal inner  # no code
        inner = counted
        pass

    nested()
    if False:
        print("optimised away")  # no code
    if 0:
        print("optimised away")  # no code
    while 0:
        print("optimised away")  # no code
    "a constant"
    assert inner, "kept without -O"
    return inner
    print("unreachable")  # no code


def branches(value):
    if value == 0:
        result = "zero"
    elif value == 1:
        result = "one"
    else:  # no code
        result = "many"
    return result


def loops():
    total = 0
    for index in range(2):
        if index:
            continue
        total += index
    else:  # no code
        total += 1
    while True:
        total += 1
        if total > 3:
            break
    return total


def trying():
    try:
        raise ValueError
    except (
        KeyError,
        ValueError,
    ) as error:
        caught = error
    else:  # no code
        caught = None  # never run
    finally:  # no code
        done = True
    try:
        pass
    finally:  # no code
        done = False
    try:
        number = 1
    except KeyError:  # never run
        number = 2  # never run
    return caught, done, number


def grouped():
    try:
        raise ExceptionGroup("group", [ValueError()])
    except* ValueError:
        pass


def calls(*arguments, **named):
    return calls_again(
        arguments,
        # a comment between arguments

        named.get(
            "name",
            1,
        ),
        *[
            1,
            2,
        ],
    )


def calls_again(*arguments):
    joined = f"""{
        len(
            arguments
        )
    } and {
        arguments
    }
    """
    chained = (
        joined
        .strip()
        .upper()
    )
    folded = "a" \
        "b" \
        "c"
    constant = (
        1,
        2,
    )
    mapping = {
        "a": joined,
        "b": chained,
    }
    return folded, constant, mapping


def comprehensions(items):
    doubled = [
        item * 2
        for item in items
        if item
    ]
    keyed = {
        item: item
        for item in items
    }
    unique = {item for item in items}
    lazy = (
        item
        for item in items
    )
    return doubled, keyed, unique, list(lazy)


def lambdas():
    one = lambda: 1
    two = lambda value: (
        value,
        one(),
    )
    return two(
        2
    )


def generate():
    yield 1
    received = yield
    yield from (
        received,
        2,
    )


class Plain:
    """A docstring."""

    declared: int
    assigned = 1

    def one_line(self): return self.assigned

    @property
    def attribute(self):
        return self.one_line()

    @staticmethod
    def empty():
        """Only a docstring."""

    def ellipsis(self): ...

    class Inner(
        object,
    ):
        pass


def contexts():
    with contextlib.nullcontext() as one, contextlib.nullcontext():
        first = one
    with (
        contextlib.nullcontext(1) as two,
        contextlib.nullcontext(2) as three,
    ):
        second = two, three
    with contextlib.suppress(ValueError):
        raise ValueError
    return first, second


def matching(value):
    match value:
        case 0:
            return "zero"
        case [first, *_] if first:
            return first
        case {
            "key": found,
        }:
            return found
        case int() | str():
            return "scalar"
        case _:
            pass
    return None


async def ticks():
    for value in range(2):
        yield value
        await asyncio.sleep(0)


async def asynchronous():
    async with contextlib.AsyncExitStack() as stack:
        kept = stack
    async for value in ticks():
        last = value
    listed = [
        value
        async for value in ticks()
    ]
    gathered = await asyncio.gather(
        asyncio.sleep(0),
        asyncio.sleep(
            0
        ),
    )
    return kept, last, listed, gathered


def scattered():
    one = 1; two = 2
    if one: two = 3
    for _ in range(1): pass
    shorter = one if two else 0  # a conditional
    longer = (
        one
        if two
        else 0  # never run
    )
    either = (
        one - one
        or two
    )
    both = (
        one
        and two
    )
    compared = (
        one
        < two
        < 3
    )
    one += (
        two
    )
    del two
    items = [0, 1]
    items[
        0
    ] = one
    (
        first,
        second,
    ) = items
    if (
        first
        and second
    ):
        pass
    while (
        first > 100
    ):
        pass  # never run
    return (  # the end
    )


decorated()
declarations()
branches(0), branches(1), branches(2)
loops()
trying()
grouped()
calls(name=1)
comprehensions([1, 2])
lambdas()
list(generate())
plain = Plain()
plain.attribute, plain.empty(), plain.ellipsis()
contexts()
for subject in (0, [1], {"key": 1}, 7, None):
    matching(subject)
asyncio.run(asynchronous())
scattered()
if number == 1:
    pass
else:  # no code
    pass  # never run
