"""Code that may write what is watched is not traced as long as nothing changes.

On Python 3.11 it has checks in its bytecode; from 3.12 on its lines are events that do no more than
compare. The way before, which notes each line, is the oracle: DEBUG_RELAY_EVERY_LINE has it back.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api
from tests.e2e.data_stops import EVERY_LINE, at_start, by_statement, stops
from tests.programs import Program

Write = Callable[..., Program]

WRITERS = """
    import asyncio
    import contextlib
    import functools
    import os
    import sys
    import threading
    import time

    IS_CHECKED = not os.environ.get("DEBUG_RELAY_EVERY_LINE")

    class Plain:
        def __init__(self):
            self.x = 0

        def put(self, value):
            self.x = value

        def put_twice(self, value): self.x = value; self.x = value + 1

        @property
        def twice(self):
            return self.x

        @twice.setter
        def twice(self, value):
            self.x = 2 * value

    class Rate:
        limit = 5

    one, other, rate = Plain(), Plain(), Rate()
    rate.limit = 1
    put = other.put

    def settle():
        "Until checks are relied on: what may write is traced no more."
        if not IS_CHECKED:
            return
        if sys.version_info >= (3, 12):
            for number in range(700): put(number)
        until = time.monotonic() + 30
        while is_traced():
            for number in range(500): put(number)
            assert time.monotonic() < until, "never settled"

    def is_traced():
        other.x = 1
        return sys._getframe().f_trace is not None

    def in_loop(count):
        for number in range(count):
            other.x = number
            if number == 3: one.x = number
            if number == 5:
                one.x = number
                continue
            other.x += 1
        return one.x

    def on_one_line(count):
        while one.x < count: one.x += 1
        for number in range(count): other.x = number

    def raising(value):
        try:
            one.x, {}[value] = value, 1; raise KeyError(value)
        except KeyError:
            other.x = 1
        finally:
            other.x = 2

    def raising_out(value):
        one.x = value; {}[value]

    def raising_twice(value):
        try:
            with contextlib.suppress(KeyError):
                raising_out(value)
            raising_out(value + 1)
        except* KeyError as error:
            other.x = error
        else:
            one.x = -1

    def managed(value):
        with contextlib.nullcontext(other) as it, manager(value) as also:
            it.x = also
            one.x = also
        return it

    @contextlib.contextmanager
    def manager(value):
        one.x = value
        try:
            yield value + 1
        finally:
            one.x = value + 2

    def generates(count):
        for number in range(count):
            one.x = number; yield number
            other.x = yield one.x
        one.x = 100

    def delegates(count):
        one.x = 50; yield from generates(count)
        one.x = 51

    def recursive(depth):
        if depth:
            recursive(depth - 1)
            one.x = depth
        other.x = depth

    def called(value):
        other.x = value
        return value

    def calls_after(value):
        one.x = value; called(value)
        called(one.twice); one.x = called(value + 1); called(0)

    def sets(value):
        setattr(one, "x", value)
        one.__dict__["x"] = value + 1
        vars(one).update(x=value + 2)
        object.__setattr__(one, "x", value + 3)
        [setattr(one, "x", number) for number in (value, value)]
        any(map(functools.partial(setattr, one, "x"), [value + 4]))
        one.twice = value

    def deletes():
        del one.x
        settle()
        one.x = 1
        one.__dict__ = {"x": 2, "y": 3}
        settle()
        one.x = 3

    def equal():
        one.x = 1000 * 1000
        one.x = int("1000000")  # the same value

    def closes(value):
        def inner():
            one.x = value
            return lambda: put_one(value + 1)
        inner()()

    put_one = lambda value: one.put(
        value)

    async def awaits(value):
        one.x = value; await asyncio.sleep(0)
        async with Held(value):
            one.x = value + 3; await asyncio.sleep(0)
        await asyncio.gather(*[child(value + number) for number in range(2)])

    class Held:
        def __init__(self, value):
            self.value = value

        async def __aenter__(self):
            await asyncio.sleep(0)
            one.x = self.value + 1

        async def __aexit__(self, *error):
            one.x = self.value + 2

    async def child(value):
        await asyncio.sleep(0)
        one.x = value

    def in_thread(value):
        thread = threading.Thread(target=one.put, args=(value,))
        thread.start()
        thread.join()
        settle()
        one.put(value + 1)

    def beside_thread(value):
        go_on = threading.Event()
        def wait_and_put():
            go_on.wait(); one.x = value + 1
        thread = threading.Thread(target=wait_and_put)
        thread.start()
        settle()
        one.x = value
        go_on.set()
        thread.join()

    def traced_by_itself(value):
        events = []
        def trace(frame, event, arg):
            if frame.f_code is put_and_call.__code__:
                events.append((event, frame.f_lineno - frame.f_code.co_firstlineno))
            return trace
        sys.settrace(trace)
        put_and_call(value)
        sys.settrace(None)
        assert events == [("call", 0), *[("line", n) for n in range(1, 5)], ("return", 4)], events

    def put_and_call(value):
        one.x = value
        one.put(value + 1)
        one.x = value + 2
        one.x = value + 3

    def long_arguments(value):
        one.put(
            called(
                value,
            ),
        )
        return dict(first=setattr(
            one,
            "x",
            value + 1), second=called(
            2))

    def executed(value):
        exec("one.x = value\\nother.x = 1\\none.x = value + 1", globals(), {"value": value})
        space = {"one": one}
        exec("def made(value):\\n    one.x = value", space)
        settle()
        space["made"](value + 2)
        settle()
        space["made"](value + 3)

    def matches(value):
        match value:
            case [first, *rest] if one.put(first) is None:
                one.x = rest
            case _:
                one.x = None

    def running(value):
        settle()
        one.x = value
        settle()
        one.x = value + 1

    def joins(value):
        for number in range(2):
            settle()
            if number:
                one.x = called(value)
            other.x = number

    def chooses(value):
        for number in range(3):
            settle()
            if number % 2:
                one.x = called(value + number)
            else:
                one.x = called(value - number)
            other.x = number

    def goes_round(value):
        for number in range(3):
            settle()
            one.x = called(value + number)
        other.x = 1

    def handles(value):
        for number in range(2):
            try:
                settle()
                one.x = called(value + number); {}[value]
            except KeyError:
                other.x = called(value)
            finally:
                settle()
                one.x = called(value - number)

    def takes_part(value):
        for number in range(4):
            settle()
            one.x = number % 2 and called(value + number)
            if number == 1: one.x = called(value); break

    def recurses(*chain):
        if not chain:
            return 0
        chain[0].x = recurses(*chain[1:]) + 10
        ended = chain
        return 1

    def writes_in_condition(it, value):
        try:
            it.x = value; {}[value]
        except KeyError:
            settle()
            if called(1) and setattr(it, "x", value + 1):
                it.x = 4
            ended = called(2)
            settle()
            while called(1) and setattr(it, "x", value + 2):
                it.x = 5
            ended = called(3)

    def breaks(value):
        other.x = value  # @break
        one.x = value
        one.x = value + 1; other.x = 5
        return one.x

    ALL = [
        lambda: traced_by_itself(194),
        lambda: in_loop(8),
        lambda: on_one_line(8),
        lambda: raising(20),
        lambda: raising_out(21),
        lambda: raising_twice(22),
        lambda: managed(30),
        lambda: list(generates(2)),
        lambda: list(delegates(1)),
        lambda: recursive(3),
        lambda: calls_after(40),
        lambda: sets(60),
        lambda: deletes(),
        lambda: equal(),
        lambda: closes(70),
        lambda: asyncio.run(awaits(80)),
        lambda: in_thread(90),
        lambda: beside_thread(94),
        lambda: long_arguments(100),
        lambda: executed(110),
        lambda: matches([1, 2]),
        lambda: running(120),
        lambda: one.put_twice(130),
        lambda: joins(150),
        lambda: chooses(160),
        lambda: goes_round(170),
        lambda: handles(180),
        lambda: takes_part(190),
        lambda: (recurses(one), recurses(other, other), settle(), recurses(one, other)),
        lambda: writes_in_condition(other, 210),
        lambda: writes_in_condition(one, 220),
        lambda: breaks(140),
        lambda: one.put(1),
    ]
    print("start")  # @start
    settle()
    for run in ALL:
        settle()
        with contextlib.suppress(KeyError): run()
        settle()
    for run in reversed(ALL):
        with contextlib.suppress(KeyError): run()
    print("over")
"""


SLOTS = {
    "class Plain:\n": "class Plain:\n        __slots__ = ('x', '__weakref__')\n",
    'one.__dict__["x"] = value + 1': 'setattr(one, "x", value + 1)',
    "vars(one).update(x=value + 2)": "one.put(value + 2)",
    'one.__dict__ = {"x": 2, "y": 3}': "one.x = 2",
}
HELD_SLOTS = {**SLOTS, "class Plain:\n": "class Plain:\n        __slots__ = ('x',)\n"}
"""Of objects that nothing refers to weakly: from 3.12 on code that writes looks whom it writes to."""
ITEMS = {
    "class Plain:\n        def __init__(self):\n            self.x = 0": "class Plain(list):\n"
    "        __slots__ = ()\n        def __init__(self):\n            super().__init__([0])",
    'object.__setattr__(one, "x", value + 3)': "list.__setitem__(one, 0, value + 3)",
    'functools.partial(setattr, one, "x")': "functools.partial(one.__setitem__, 0)",
    'setattr(one, "x", number)': "operator.setitem(one, 0, number)",
    'setattr(one, "x", ': "one.__setitem__(0, ",
    'setattr(it, "x", ': "it.__setitem__(0, ",
    'setattr(\n            one,\n            "x",\n            value + 1)': "one.__setitem__(\n"
    "            0,\n            value + 1)",
    'one.__dict__["x"] = value + 1': "one[:1] = [value + 1]",
    "vars(one).update(x=value + 2)": "one *= 2; one[0] = value + 2; del one[1:]",
    'one.__dict__ = {"x": 2, "y": 3}': "one.clear(); one.append(2)",
    "del one.x\n        settle()\n        one.x = 1": "del one.x\n        settle()\n"
    "        one.insert(0, 1)",
    "def sets(value):": "def sets(value):\n        global one",
    "import os\n": "import operator\n    import os\n",
    ".x": "[0]",
}
DICT_ITEMS = {
    before: after.replace("list", "dict")
    .replace("__init__([0])", "__init__({0: 0})")
    .replace("one[:1] = [value + 1]", "one |= {0: value + 1}")
    .replace("one *= 2; one[0] = value + 2; del one[1:]", "one.update({0: value + 2})")
    .replace("one.append(2)", "one.setdefault(0, 2)")
    .replace("one.insert(0, 1)", "one.setdefault(0, 1)")
    for before, after in ITEMS.items()
}
CHANGED_TEXTS = {
    "slot": SLOTS,
    "held slot": HELD_SLOTS,
    "item of a list": ITEMS,
    "item of a dict": DICT_ITEMS,
}


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
@pytest.mark.parametrize("kind", ["attribute", *CHANGED_TEXTS, "several"])
async def test_stops_are_those_of_each_line(
    api: Api, program: Write, kind: str, version: str
) -> None:
    text = WRITERS
    for before, after in CHANGED_TEXTS.get(kind, {}).items():
        assert before in text
        text = text.replace(before, after)
    if version != "3.11" and kind in (
        "attribute",
        "item of a dict",
        "several",
    ):  # else its dict is watched
        text = text.replace(
            "def settle",
            "threading.Thread(target=time.sleep, args=(9**6,), daemon=True).start()\n\n    def settle",
        )
    watched = ["one.x", "rate.limit"] if kind == "several" else ["one.x"]
    watched = ["one[0]"] if kind.startswith("item") else watched
    writers = program(text)
    wanted, traced = await stops(api, writers, EVERY_LINE, watched, version)
    found, checked = await stops(api, writers, {}, watched, version)
    assert len(wanted) > 100
    assert by_statement(found) == by_statement(wanted)
    assert found == wanted or version in ("3.12", "3.13")
    assert await checked.printed() == await traced.printed() == "start\nover\n"


GIVEN_BACK = """
    import sys
    import time

    class Plain:
        x = 0

        def put(self, value):
            self.x = value

    def outer():
        def inner(it):
            it.x = 1
        return inner

    kept = [Plain.put.__code__, outer.__code__.co_consts[1]]
    one, other, made = Plain(), Plain(), outer()
    one.x = 1

    def is_traced():
        other.x = 1
        return sys._getframe().f_trace is not None

    def settle():
        until = time.monotonic() + 30
        while is_traced():
            for number in range(1000): other.put(number)
            assert time.monotonic() < until, "never settled"

    def now():
        return [code is old for code, old in zip(codes(), kept)] + [made.__code__ is kept[1]]

    def codes():
        return [Plain.put.__code__, outer.__code__.co_consts[1]]

    print("start")  # @start
    settle()
    late = outer()
    print(now(), late.__code__ is kept[1])
    other.put(5)  # @settled
    print(now(), late.__code__ is kept[1], outer().__code__ is kept[1])
    late(one)
"""


async def test_deletion_gives_the_program_its_code_back(api: Api, program: Write) -> None:
    given = program(GIVEN_BACK)
    session = await api.session(python_path=installed_python("3.11"))
    for mark in ("start", "settled"):
        await session.breakpoint(given.text, given.line(mark))
    await session.launch(given.text)
    placed = await session.post("/data-breakpoints", expression="one.x")
    stop = await session.resume(wait=60)
    assert stop["current_location"]["line"] == given.line("settled")
    await session.delete(f"/data-breakpoints/{placed['id']}")
    assert (await session.resume())["status"] == "terminated"
    assert (await session.printed()).splitlines() == [
        "start",
        "[False, False, False] False",
        "[True, True, True] True True",
    ]


HOOKED = """
    class Plain:
        __slots__ = ("x",)

        def put(self, value):
            self.x = value

        def put_by_name(self, value):
            self.x = value
            setattr(self, "x", value)

    def fill(into, value):
        into[0] = value

    def count(until):
        return sum(range(until))

    kept = [Plain.put.__code__, Plain.put_by_name.__code__, fill.__code__, count.__code__]
    one, other, items, others = Plain(), Plain(), [1], [1]
    one.x = 1

    def now():
        codes = [Plain.put.__code__, Plain.put_by_name.__code__, fill.__code__, count.__code__]
        return [code is old for code, old in zip(codes, kept)]

    def run():
        for number in range(2000):
            other.put(number)
            fill(others, number)
        count(2)
        return now()

    print("start")  # @start
    print(run())
    one.put(2)
    put = type(run)(Plain.put.__code__, globals())
    print("middle")  # @middle
    print(run(), put.__code__ is kept[0])
    one.put(3)
    put(one, 4)
"""


@pytest.mark.parametrize("version", ["3.12", "3.13"])
async def test_functions_have_their_own_code_again(api: Api, program: Write, version: str) -> None:
    """Those that write by other means too have it all the time."""
    hooked = program(HOOKED)
    session = await api.session(python_path=installed_python(version))
    for mark in ("start", "middle"):
        await session.breakpoint(hooked.text, hooked.line(mark))
    await session.launch(hooked.text)
    placed = [
        await session.post("/data-breakpoints", expression=expression)
        for expression in ("one.x", "items[0]")
    ]
    stop = await session.resume(wait=60)
    change = stop["change"]
    assert (change["old"], change["new"], change["function"]) == ("1", "2", "put"), change
    stop = await session.resume(wait=60)
    assert stop["current_location"]["line"] == hooked.line("middle")
    for one in placed:
        await session.delete(f"/data-breakpoints/{one['id']}")
    assert (await session.resume())["status"] == "terminated"
    assert (await session.printed()).splitlines() == [
        "start",
        "[False, True, False, True]",
        "middle",
        "[True, True, True, True] True",
    ]


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
async def test_a_code_that_others_keep_facts_by_stays(
    api: Api, program: Write, version: str
) -> None:
    """As trio does: whom Ctrl-C may not interrupt is known by the code of the frame."""
    protecting = program("""
        import sys
        import weakref

        class Plain:
            __slots__ = ("x",)

        are_protected = weakref.WeakKeyDictionary()

        def protected(function):
            are_protected[function.__code__] = True
            return function

        @protected
        def put(plain, value):
            plain.x = value  # @writes
            return sys._getframe().f_code in are_protected  # @behind

        one, other = Plain(), Plain()
        one.x = 0
        print("start")  # @start
        found = [put(other, number) for number in range(60_000)]
        print(all(found), put(one, 1), put(one, 2))
    """)
    session = await at_start(api, protecting, version)
    await session.post("/data-breakpoints", expression="one.x")
    for old, new in ("01", "12"):
        stop = await session.resume(wait=30)
        change = stop["change"]
        assert (change["old"], change["new"]) == (old, new)
        assert change["location"]["line"] == protecting.line("writes")
        assert stop["current_location"]["line"] == protecting.line("behind")
    assert (await session.resume(wait=30))["status"] == "terminated"
    assert (await session.printed()).splitlines() == ["start", "True True True"]


@pytest.mark.parametrize("module", ["bytecode", "test.support.bytecode_helper"])
async def test_no_code_changes_where_bytecode_is_looked_at(
    api: Api, program: Write, module: str
) -> None:
    """As the tests of Python's own compiler do: none of its jumps leads to the next instruction."""
    looking = program(
        HOOKED.replace(
            "    class Plain",
            f"    import sys\n    sys.modules[{module!r}] = sys\n\n    class Plain",
            1,
        )
    )
    session = await at_start(api, looking, "3.12")
    at = await session.post("/data-breakpoints", expression="one.x")
    assert at["how"] == "lines"
    stop = await session.resume(wait=60)
    assert (stop["change"]["old"], stop["change"]["new"]) == ("1", "2")
    await session.delete(f"/data-breakpoints/{at['id']}")
    assert (await session.resume(wait=60))["status"] == "terminated"
    assert (await session.printed()).splitlines()[1] == "[True, True, True, True]"


@pytest.mark.parametrize("version", ["3.12", "3.13"])
async def test_a_generator_that_writes_as_it_goes_on(
    api: Api, program: Write, version: str
) -> None:
    """Where it goes on is known too after others of its code have gone on while nothing changed."""
    taking = program("""
        class Plain:
            __slots__ = ("x",)

        def takes(plain):
            taken = 0
            while taken >= 0:
                plain.x = yield  # @writes
                taken += 1  # @behind

        one, other = Plain(), Plain()
        one.x = 0
        print("start")  # @start
        to_one, to_other = takes(one), takes(other)
        next(to_one), next(to_other)
        for number in range(3000): to_other.send(number)
        for number in range(4): to_one.send(number)  # the first changes nothing
    """)
    session = await at_start(api, taking, version)
    await session.post("/data-breakpoints", expression="one.x")
    for number in range(3):
        stop = await session.resume(wait=30)
        change = stop["change"]
        assert (change["old"], change["new"]) == (str(number), str(number + 1))
        assert change["location"]["line"] == taking.line("writes"), change
        assert stop["current_location"]["line"] == taking.line("behind")
        assert not change.get("inexact"), change
    assert (await session.resume(wait=30))["status"] == "terminated"


@pytest.mark.parametrize("version", ["3.12", "3.13"])
async def test_other_calls_have_no_events_of_a_frame_whose_local_is_watched(
    api: Api, program: Write, version: str
) -> None:
    recursive = program("""
        def count(depth):
            number = depth
            if depth:  # @inside
                before = count.__code__ is kept
                for _ in range(3): count(depth - 1)
                number = number + (0 if before else 100)
            return number

        kept = count.__code__
        print(count(3), count.__code__ is kept)
    """)
    session = await api.session(python_path=installed_python(version))
    at = await session.breakpoint(recursive.text, recursive.line("inside"))
    await session.launch(recursive.text)
    await session.delete(f"/breakpoints/{at['id']}")
    await session.post("/data-breakpoints", expression="number")
    stop = await session.resume(wait=60)
    assert (stop["change"]["old"], stop["change"]["new"]) == ("3", "103"), stop["change"]
    stop = await session.resume(wait=60)
    assert stop["change"]["ended"]
    assert (await session.resume(wait=60))["status"] == "terminated"


@pytest.mark.parametrize("version", ["3.12", "3.13"])
async def test_a_step_into_a_watched_write_enters_nothing(
    api: Api, program: Write, version: str
) -> None:
    written = program("""
        import sys

        class Plain:
            __slots__ = ("x",)

            def put(self, value):
                self.x = value  # @writes
                return self  # @behind

        def profiled():
            called = []
            sys.setprofile(lambda frame, event, arg: called.append(frame.f_code.co_name))
            for number in range(1000): other.put(number)
            one.put(1)
            sys.setprofile(None)
            return set(called)

        one, other = Plain(), Plain()
        one.x = 0
        print("start")  # @start
        other.put(1)
        one.put(0)
        print(sorted(profiled()))
    """)
    session = await at_start(api, written, version)
    await session.post("/data-breakpoints", expression="one.x")
    at = await session.breakpoint(written.text, written.line("writes"))
    for _ in range(2):
        stop = await session.resume(wait=30)
        assert stop["current_location"]["line"] == written.line("writes")
        stop = await session.post("/step-into", wait=30)
        assert stop["current_location"]["line"] == written.line("behind"), stop
    await session.delete(f"/breakpoints/{at['id']}")
    stop = await session.resume(wait=30)
    assert (stop["change"]["old"], stop["change"]["new"]) == ("0", "1")
    assert (await session.resume(wait=30))["status"] == "terminated"
    assert (await session.printed()).splitlines()[1] == "['profiled', 'put']"


LOOPS = """
    import sys
    import weakref

    def is_traced(into):
        into["k"] = 1
        return sys._getframe().f_trace is not None

    def stores(into):
        for number in range(500):
            into["k"] = number
        return is_traced(into)

    def calls(into):
        add = into.setdefault("list", []).append
        for number in range(500): add(number)
        return is_traced(into)

    def reads(into):
        total = 0
        for number in range(500): total += into["k"]
        return is_traced(into)

    def yields(into):
        for number in range(500):
            yield number
            into["k"] = number

    def made(value):
        def put(into): into["k"] = value
        return put

    def run():
        # As long as it takes until checks are worth while.
        for number in range(10_000): made(number)(other)
        return [stores(other), calls(other), reads(other), len([*yields(other)]), is_traced(other)]

    def put(into, value):
        if is_protected:
            kept.append(weakref.ref(put.__code__))
        into["k"] = value  # @writes
        return sys._getframe().f_code is put.__code__  # @behind

    kept, is_protected = [], False
    one, other = {"k": 0}, {}
    one["k"] = 0
    numbers = [0, 1]
    print("start")  # @start
    print(run())
    print(put(one, 1), run())
    made(2)(one)
    print(run(), put(one, 3))
    is_protected = True
    put(one, 4)
    print(put(one, 5), len(kept))
"""


@pytest.mark.parametrize("beside", [[], ["numbers[1]"]], ids=["one", "several"])
async def test_loops_that_write_other_items_are_not_traced(
    api: Api, program: Write, beside: list[str]
) -> None:
    """They begin after the data breakpoint was set: nothing that stands below writes any more."""
    loops = program(LOOPS)
    session = await at_start(api, loops, "3.11")
    for expression in ("one['k']", *beside):
        await session.post("/data-breakpoints", expression=expression)
    for old in range(5):
        stop = await session.resume(wait=30)
        change = stop["change"]
        assert (change["old"], change["new"]) == (str(old), str(old + 1))
        assert not change.get("inexact")
        if old != 1:
            assert change["location"]["line"] == loops.line("writes"), change
            assert stop["current_location"]["line"] == loops.line("behind")
    assert (await session.resume(wait=30))["status"] == "terminated"
    free = "[False, False, False, 500, False]"
    assert (await session.printed()).splitlines() == [
        "start",
        free,
        f"True {free}",
        f"{free} True",
        "True 2",
    ]


UNDER_WAY = """
    import contextlib
    import ctypes

    ctypes.pythonapi.PyThreadState_Get.restype = ctypes.c_void_p

    class Plain:
        def __init__(self):
            self.x = 0

    class Slot:
        __slots__ = ("x",)

    one, other, slot, items, number = Plain(), Plain(), Slot(), {"k": 0}, 0
    slot.x = 0

    def is_traced():
        "Whether the interpreter calls a trace function, or looks whether to."
        state = ctypes.pythonapi.PyThreadState_Get()
        return bool(ctypes.c_void_p.from_address(state + 72).value)

    def main(depth):
        if depth:
            return main(depth - 1)
        print("start")  # @start
        for number in range(10_000): other.x = items["other"] = number
        traced = is_traced()
        @HOLD@ = number  # @in_main
        return [traced]

    def outer():
        traced = main(3)
        with contextlib.suppress(KeyError):
            for number in range(10_000): other.x = items["other"] = number
            traced += [is_traced()]
            @HOLD@ = 2; {}["left"]  # @in_outer
        raises(traced)
        return traced

    def raises(traced):
        try:
            callback = lambda: traced.append(is_traced())
            fails(callback)
        except KeyError:
            @HOLD@ = 4  # @handled

    def fails(callback):
        for number in range(10_000): other.x = items["other"] = number
        callback()
        @HOLD@ = 3; {}["left"]  # @fails

    for number in range(3): print(number, items["k"])
    print(outer())
    for number in range(10_000): other.x = items["other"] = number
    print(is_traced())
    @HOLD@ = 5  # @in_module
    print("over")
"""


@pytest.mark.parametrize("hold", ["one.x", "slot.x", 'items["k"]'])
async def test_frames_under_way_are_not_traced_either(api: Api, program: Write, hold: str) -> None:
    """The one that the program has stopped in, and its callers: they go on in code with checks."""
    under_way = program(UNDER_WAY.replace("@HOLD@", hold))
    session = await at_start(api, under_way, "3.11")
    await session.post("/data-breakpoints", expression=hold)
    old = 0
    for mark, new in (
        ("in_main", 9999),
        ("in_outer", 2),
        ("fails", 3),
        ("handled", 4),
        ("in_module", 5),
    ):
        stop = await session.resume(wait=30)
        change = stop["change"]
        assert (change["old"], change["new"]) == (str(old), str(new))
        assert change["location"]["line"] == under_way.line(mark), change
        assert not change.get("inexact")
        old = new
    assert (await session.resume(wait=30))["status"] == "terminated"
    free = ["[False, False, False]", "False", "over"]
    assert (await session.printed()).splitlines() == ["0 0", "1 0", "2 0", "start", *free]


ABSENT = """
    import sys

    class Plain:
        def put(self, value):
            self.x = value

    one, other, table, others = Plain(), Plain(), {}, {}
    calls = []

    def put(plain, into, value):
        plain.x = value
        into["k"] = value

    def takes(plain, into):
        del plain.x
        del into["k"]

    def count(frame, event, arg):
        if event == "call" and frame.f_code is not put.__code__:
            calls.append(frame.f_code.co_name)

    def run(looks):
        for number in range(3_000):
            put(other, others, number)
        sys.setprofile(count if looks else None)
        for number in range(1_000):
            put(other, others, number)
        sys.setprofile(None)
        takes(other, others)

    print("start")  # @start
    run(LOOKS)
    put(one, table, 1)
    run(LOOKS)
    takes(one, table)
    run(LOOKS)
    put(one, table, 2)
    put(one, table, 3)  # @break
    print("over", len(calls))
"""


@pytest.mark.parametrize("watched", [["one.x"], ["table['k']"], ["one.x", "table['k']"]])
async def test_what_is_not_there_yet_is_looked_for_without_a_call(
    api: Api, program: Write, watched: list[str]
) -> None:
    noted = program(ABSENT.replace("LOOKS", "False"))
    wanted, _ = await stops(api, noted, EVERY_LINE, watched, "3.11")
    found, checked = await stops(api, program(ABSENT.replace("LOOKS", "True")), {}, watched, "3.11")
    assert len(wanted) == 4 * len(watched) + 1
    assert found == wanted
    assert int((await checked.printed()).split()[-1]) < 300


LOOKING = """
    import contextlib
    import sys
    import threading

    class Slot:
        __slots__ = ("x",)

    one, other, items, others = Slot(), Slot(), [0, 1], [0, 1]
    one.x = other.x = 0

    def has_events(place=sys.monitoring, looked=[]):
        "Whether lines of the caller are told to the data breakpoints."
        code = sys._getframe(1).f_code
        tools = [tool for tool in (3, 4, 5) if place.get_tool(tool)]
        return any(place.get_local_events(tool, code) & place.events.LINE for tool in tools)

    def recursive(depth):
        found = recursive(depth - 1) if depth else stopped()
        for number in range(5_000):
            other.x = number
            others[number % 2] = number
        found += [has_events()]
        @HOLD@ = depth + 10  # the first is the innermost
        return found

    def stopped():
        found = []
        print("start")  # @start
        for number in range(5_000):
            with contextlib.nullcontext(other) as it:
                it.x = number
            others[0], others[1] = number, [number, [number, number, has_events]][0]
            if number == 4_000: steps(number)
        found += [has_events()]
        try:
            for @HOLD@ in (7, 8): others[0] = len(others)
            {}["left"]
        except KeyError:
            @HOLD@ = 9
        for number in range(5_000):
            other.x = others[1] = number
        found += [has_events()]
        return found

    def steps(number):
        other.x = number
        return number  # @break

    def generates():
        global seen
        for number in range(5_000):
            others[1] = number
            other.x = yield number
        seen = recursive(1)

    def in_thread():
        global seen
        try:
            for one_more in generates():
                other.x = one_more
            for number in range(5_000):
                other.x = number
                others[0] = number
            seen += [has_events()]
            @HOLD@ = 14
            raise KeyError(1)
        except KeyError:
            @HOLD@ = 15

    seen = []
    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    for number in range(5_000):
        other.x = number
        others[1] = number
    seen += [has_events()]
    @HOLD@ = 16
    print(seen if LOOKS else "")
    print("over", one.x, items)
"""


@pytest.mark.parametrize("version", ["3.12", "3.13"])
@pytest.mark.parametrize("hold", ["one.x", "items[1]"])
async def test_frames_under_way_look_whom_they_write_to(
    api: Api, program: Write, hold: str, version: str
) -> None:
    """The stops are those of each line, and a frame that had to be told of lines is no more, with its stack at the
    brim or not."""
    text = LOOKING.replace("@HOLD@", hold)
    noted = program(text.replace("LOOKS", "False"))
    wanted, traced = await stops(api, noted, EVERY_LINE, [hold], version)
    found, hooked = await stops(api, program(text.replace("LOOKS", "True")), {}, [hold], version)
    assert len(wanted) == 9
    assert found == wanted
    printed = (await hooked.printed()).splitlines()
    assert printed[-1] == (await traced.printed()).splitlines()[-1]
    assert printed[1:-1] == [f"[{', '.join(['False'] * 6)}]"]


DEEP = """
    import sys

    class Slot:
        __slots__ = ("x",)

    one, other, others = Slot(), Slot(), [0]
    one.x = other.x = 0
    sys.setrecursionlimit(5_000)

    def down(depth):
        if depth: down(depth - 1)
        else: print("start")  # @start
        for number in range(10 if depth % 100 else 3_000):
            other.x = number
            others[0] = number
        if depth == 250: one.x = 1
        return depth  # @late

    down(@DEPTH@)
    one.x = 2  # @break
    print("over")
"""


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
@pytest.mark.parametrize("depth", [30, 500])
async def test_a_deep_stack_of_frames_under_way(
    api: Api, program: Write, depth: int, version: str
) -> None:
    """Their memory lies in many pieces, and some of these end while it is looked at."""
    deep = program(DEEP.replace("@DEPTH@", str(depth)))
    session = await at_start(api, deep, version)
    await session.post("/data-breakpoints", expression="one.x")
    late = await session.breakpoint(deep.text, deep.line("late"), condition=f"depth == {depth}")
    found = []
    while (stop := await session.resume(wait=60))["status"] != "terminated":
        change = stop.get("change") or {}
        found.append((stop["stop_reason"], change.get("old"), change.get("new")))
    wanted = [
        ("data_breakpoint", "0", "1"),
        ("breakpoint", None, None),
        ("data_breakpoint", "1", "2"),
    ]
    if depth < 250:
        wanted = [("breakpoint", None, None), ("data_breakpoint", "0", "2")]
    assert found == wanted
    assert (await session.printed()).splitlines() == ["start", "over"]
    assert (await session.get(f"/breakpoints/{late['id']}"))["hit_count"] == 1


LOCALS = """
    import contextlib
    import ctypes

    ctypes.pythonapi.PyThreadState_Get.restype = ctypes.c_void_p

    class Plain:
        x = 0

    one, other = Plain(), Plain()
    one.x = 0

    def is_traced():
        state = ctypes.pythonapi.PyThreadState_Get()
        return bool(ctypes.c_void_p.from_address(state + 72).value)

    def called(number):
        other.x = number

    def settle():
        for number in range(10_000): called(number)
        seen.append(is_traced())

    def main(depth, raises):
        watched = also = 1
        print("main", depth)  # @start
        settle()
        for number in range(3):
            if number == 1: watched = number + 1; settle()
            else: also = number
            one.x = number
        if depth: main(depth - 1, not raises)
        with contextlib.suppress(ValueError): watched = int("x")
        settle()
        del watched
        settle()
        for watched in range(2): settle()
        watched += 1
        settle()
        if raises: {}["left"]
        settle()
        return also

    def caller(*given):
        watched = 5
        try:
            return main(*given)
        except KeyError:
            return watched

    def breaks():
        return 1  # @break

    seen = []
    caller(1, True)
    breaks()
    caller(0, False)
    print("over", [*map(seen.count, (False, True))] if LOOKS else "")
"""


@pytest.mark.parametrize("watched", [["watched"], ["watched", "also"], ["watched", "one.x"]])
async def test_stops_for_a_local_are_those_of_each_line(
    api: Api, program: Write, watched: list[str]
) -> None:
    """Its frame goes on in code with checks that no other frame has, and that tell of its end."""
    wanted, traced = await stops(
        api, program(LOCALS.replace("LOOKS", "False")), EVERY_LINE, watched, "3.11"
    )
    looks = program(LOCALS.replace("LOOKS", "True"))
    found, checked = await stops(api, looks, {}, watched, "3.11")
    assert len(wanted) > 8
    assert found == wanted
    printed = (await checked.printed()).splitlines()
    assert printed[:-1] == (await traced.printed()).splitlines()[:-1]
    free, traced_times = map(int, printed[-1][len("over [") : -1].split(","))
    assert free > 15 > 5 > traced_times  # until the first hundred calls behind a change are over


BESIDE = """
    import ctypes

    ctypes.pythonapi.PyThreadState_Get.restype = ctypes.c_void_p

    class Plain:
        x = 0

    def later(number):
        return number  # @later

    def called(number):
        return number

    one = Plain()
    one.x = 1
    print("start")  # @start
    for number in range(10): called(number)
    state = ctypes.pythonapi.PyThreadState_Get()
    print(bool(ctypes.c_void_p.from_address(state + 72).value))
    later(1)
"""


async def test_a_breakpoint_that_came_beside_a_data_breakpoint_has_its_file_traced_no_longer(
    api: Api, program: Write
) -> None:
    beside = program(BESIDE)
    session = await at_start(api, beside, "3.11")
    placed = await session.post("/data-breakpoints", expression="one.x")
    await session.breakpoint(beside.text, beside.line("later"))
    await session.delete(f"/data-breakpoints/{placed['id']}")
    stop = await session.resume(wait=30)
    assert stop["current_location"]["line"] == beside.line("later")
    assert (await session.printed()).splitlines() == ["start", "False"]


async def test_code_that_runs_once_gets_no_checks(api: Api, program: Write) -> None:
    """To make them would take longer than to trace it, and a function of any length has not been made
    for its one call."""
    names = [f"once_{number}" for number in range(100)]
    stores = "; ".join(f"into['{at}'] = {at}" for at in range(50))
    once = program(
        "\n".join(
            [
                "one, other = {'k': 0}, {}",
                *(f"def {name}(into): {stores}" for name in names),
                f"functions = [{', '.join(names)}]",
                "before = [len(one.__code__.co_code) for one in functions]",
                "print('start')  # @start",
                "for one_of_them in functions: one_of_them(other)",
                "after = [len(one.__code__.co_code) for one in functions]",
                "print(max(b - a for a, b in zip(before, after)) < 200)",
                "one['k'] = 1",
            ]
        )
    )
    session = await at_start(api, once, "3.11")
    await session.post("/data-breakpoints", expression="one['k']")
    stop = await session.resume(wait=30)
    assert (stop["change"]["old"], stop["change"]["new"]) == ("0", "1")
    assert (await session.printed()).splitlines() == ["start", "True"]


async def test_a_step_into_a_function_that_gets_its_checks_enters_nothing_else(
    api: Api, program: Write
) -> None:
    stepped = program("""
        def put(into, value):
            into["k"] = value  # @writes
            return into

        one, other = {"k": 0}, {}
        print("start")  # @start
        put(other, 1)  # @calls
        put(one, 1)
    """)
    session = await at_start(api, stepped, "3.11")
    await session.post("/data-breakpoints", expression="one['k']")
    for mark in ("calls", "writes"):
        stop = await session.post("/step-into", wait=30)
        at = stop["current_location"]
        assert (at["path"], at["line"]) == (stepped.text, stepped.line(mark)), stop
    stop = await session.resume(wait=30)
    assert (stop["change"]["old"], stop["change"]["new"]) == ("0", "1")
    assert stop["change"]["location"]["line"] == stepped.line("writes")
    assert (await session.resume(wait=30))["status"] == "terminated"


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
async def test_what_a_check_finds_nothing_by_is_no_exception_of_the_program(
    api: Api, program: Write, version: str
) -> None:
    """Its object is gone, or has the attribute no more: a look into it raises, and takes it back."""
    written = program("""
        class Plain:
            def put(self, value):
                self.x = value
                return self.x

        def put_away(it):
            del it.x
            it.y = 1
            it.x = 2

        one, other = Plain(), Plain()
        one.x = 0
        one.put(1)  # @start
        put_away(one)
        del one
        other.put(3)
        other.put(4)
        try:
            {}[5]
        except KeyError:
            pass
    """)
    session = await at_start(api, written, version)
    await session.post("/exception-breakpoints", filters=["raised"])
    await session.post("/data-breakpoints", expression="one.x")
    changes, raised = [], []
    while (stop := await session.resume(wait=60, include=["exception"]))["status"] == "paused":
        if (change := stop.get("change")) is not None:
            changes.append((change["old"], change["new"]))
        else:
            raised.append(stop["stop"]["exception"]["message"])
    assert changes == [("0", "1"), ("1", None), (None, "2")]
    assert raised == ["5"]
