"""One call's whole lifetime in one answer."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api, Refused, Session
from tests.programs import Program

Write = Callable[..., Program]

SHOP = """
    import asyncio
    import sys
    import threading

    class Item:
        def __init__(self, name, price):
            self.name, self.price = name, price

        def __repr__(self):
            return f"Item({self.name})"

    class Cart:
        def __init__(self):
            self.items = []
            self.total = 0

        def add(self, item, count=1):
            for number in range(count):  # @for
                self.items.append(item)  # @append
                self.total += price(item, rate=0.5)  # @price
            try:
                check(count)  # @check
            except ValueError as error:
                self.total = 0  # @handled
            return len(self.items)  # @counted

    def price(item, rate):
        value = item.price  # @value
        return value * rate

    def check(count):
        if count > 5:
            raise ValueError("too many")

    def fib(n):
        if n < 2:
            return n
        return fib(n - 1) + fib(n - 2)  # @recurse

    def squares(upto):
        for one in range(upto):
            yield one * one  # @yield

    def fails(password, *rest, key=None, **more):
        number = len(rest)
        del rest  # @del
        return number / 0  # @zero

    def outer(n):
        found = [x for x in squares(n)]  # @list
        top = max(found, key=lambda x: -x)  # @max
        return found, top

    def long(n):
        total = 0
        for i in range(n):
            total += i  # @sum
        return total * 2

    async def waits(n):
        total = n
        for i in range(2):
            await asyncio.sleep(0.001)  # @await
            total += i
        return total

    class Shown:
        def __repr__(self):
            raise RuntimeError("not now")

    def shows(one):
        other = one  # @other
        return other

    cart = Cart()  # @start
    cart.add(Item("apple", 10))
    cart.add(Item("pear", 3), 8)
    shows(Shown())  # @shows
    fib(3)
    for one in squares(6):
        pass
    try:
        fails("hunter2", 1, 2, key="k", other=3)  # @fails
    except ZeroDivisionError:
        pass
    outer(3)
    long(4000)
    asyncio.run(waits(3))
    worker = threading.Thread(target=fib, args=(2,), name="worker")
    worker.start()
    worker.join()
    cart.add(Item("plum", 1))  # @plum
    fib(1)
    sys.exit(3)
"""


async def paused(
    api: Api, program: Program, mark: str, python_path: str | None = None, **more: Any
) -> Session:
    session = await api.session(**({"python_path": python_path} if python_path else {}))
    placed = await session.breakpoint(program.text, program.line(mark))
    at = await session.launch(program.text, **more)
    assert at["current_location"]["line"] == program.line(mark)
    await session.delete(f"/breakpoints/{placed['id']}")
    return session


async def traced(session: Session, **body: Any) -> dict[str, Any]:
    at = await session.post("/trace", tree=True, **body)
    assert (at["complete"], at["status"], at["stop_reason"]) == (True, "paused", "step"), at["text"]
    assert at["trace_state"] == "complete"
    return dict(at)


def lines(call: dict[str, Any]) -> list[int]:
    return [step["line"] for step in call["steps"]]


def step_at(call: dict[str, Any], line: int) -> dict[str, Any]:
    return next(step for step in call["steps"] if step["line"] == line)


def values(variables: list[dict[str, Any]]) -> dict[str, str]:
    return {v["name"]: v["value"] for v in variables}


async def test_one_answer_tells_a_calls_whole_lifetime_and_stops_where_it_returns(
    api: Api, program: Write
) -> None:
    shop = program(SHOP)
    at = shop.line
    session = await paused(api, shop, "start")

    told = await traced(session, function="Cart.add")
    call = told["tree"]
    assert values(call["arguments"]) == {
        "self": "<Cart>", "item": "Item(apple)", "count": "1"
    }  # fmt: skip
    priced = step_at(call, at("price"))
    assert priced["changed"] == [{"name": "self.total", "old": "0", "value": "5.0"}]
    assert priced["text"].strip().startswith("self.total += price(item, rate=0.5)")
    (inner,) = priced["calls"]
    assert (inner["function"], inner["result"]) == ("price", {"value": "5.0"})
    assert "steps" not in inner
    assert call["result"] == {"value": "1"}
    assert told["current_location"]["line"] == at("counted")
    assert (await session.locals())["number"]["value"] == "0"
    assert "self.items += [Item(apple)] (1 items)" in told["text"]
    assert told["text"].endswith("-> 1")
    stepped = await session.post("/step-over")
    assert stepped["current_location"]["line"] == at("start") + 2

    told = await traced(session, file=shop.text, line=at("append"), depth=2)
    call = told["tree"]
    loop = call["steps"][0]
    assert (loop["line"], loop["rounds"], loop["left_out"]) == (at("for"), 8, 5)
    assert loop["changed"][0] == {"name": "number", "old": "1", "value": "6"}
    inner = loop["first"][0][2]["calls"][0]
    assert lines(inner) == [at("value"), at("value") + 1]
    checked = step_at(call, at("check"))
    assert checked["raised"]["text"] == "ValueError: too many"
    assert checked["calls"][0]["exception"]["type"] == "ValueError"
    handled = step_at(call, at("handled"))
    assert values(handled["changed"])["self.total"] == "0"
    assert (call["result"], told["exceptions"]) == ({"value": "9"}, 2)
    stepped = await session.post("/step-out")
    assert stepped["current_location"]["line"] == at("shows") - 1

    told = await traced(session, function="shows")
    assert "repr raised RuntimeError: not now" in told["tree"]["arguments"][0]["value"]

    told = await traced(session, function="main.fib", call=2, depth=2)
    assert told["text"].startswith("fib(n=2) (call 2) at main.py")
    assert [c["result"]["value"] for c in step_at(told["tree"], at("recurse"))["calls"]] == list(
        "10"
    )

    told = await traced(session, function="squares")
    given = [s for s in _flat(told["tree"]) if s["line"] == at("yield")]
    assert [step["suspended"]["value"] for step in given] == ["0", "1", "25"]
    assert (told["tree"]["suspensions"], told["tree"]["result"]) == (6, {"value": "None"})

    told = await traced(session, function="fails", condition="key == 'k'")
    call = told["tree"]
    assert call["arguments"][0] == {"name": "password", "value": "***", "redacted": True}
    assert values(call["arguments"][1:]) == {
        "key": "'k'", "rest": "(1, 2)", "more": "{'other': 3}"
    }  # fmt: skip
    assert step_at(call, at("del"))["changed"][0]["deleted"] is True
    assert call["exception"]["line"] == at("zero")
    assert "hunter2" not in str(told)
    stepped = await session.post("/step-over")
    assert stepped["current_location"]["line"] in (at("fails"), at("fails") + 1)

    told = await traced(session, function="outer")
    (made,) = step_at(told["tree"], at("list"))["calls"]
    assert (made["function"], values([{"name": "n", **v} for v in made["yielded"]])) == (
        "squares",
        {"n": "4"},
    )
    assert [c["function"] for c in step_at(told["tree"], at("max"))["calls"]] == [
        "outer.<lambda>" if "." in c["function"] else "<lambda>"
        for c in step_at(told["tree"], at("max"))["calls"]
    ]
    assert len(step_at(told["tree"], at("max"))["calls"]) == 3

    told = await traced(session, function="long", max_chars=400)
    assert len(told["text"]) <= 400
    assert told["truncated"] is True
    assert told["lines"] == 2 * 4000 + 3
    assert told["tree"]["steps"][1]["rounds"] == 4000
    skipped = next(s for s in _flat(told["tree"]) if s.get("skipped"))["skipped"]
    assert values(skipped["changed"])["total"] == str(sum(range(4000)))

    told = await traced(session, function="waits")
    assert [s["suspended"] for s in _flat(told["tree"]) if s["line"] == at("await")] == [
        {"awaits": True}
    ] * 2
    assert (told["tree"]["result"], told["tree"]["awaits"]) == ({"value": "4"}, True)

    told = await traced(session, function="fib")
    assert (told["thread_name"], told["tree"]["result"]) == ("worker", {"value": "1"})

    placed = await session.breakpoint(shop.text, at("price"))
    told = await session.post("/trace", function="Cart.add", tree=True)
    assert (told["complete"], told["trace_state"]) == (False, "interrupted")
    assert told["stop_reason"] == "breakpoint"
    assert lines(told["tree"]) == [at("for"), at("append")]
    assert "added" in told["tree"]["steps"][1]["changed"][0]
    assert f"(breakpoint at {shop.text}:{at('price')})" in told["reason"]
    await session.delete(f"/breakpoints/{placed['id']}")

    told = await session.post("/trace", function="fib", call=7)
    assert (told["status"], told["trace_state"], told["called"]) == ("terminated", "ended", 1)
    assert (told["exit_code"], told["complete"]) == (3, False)
    assert "called: 1 times" in told["text"]
    assert (await session.get("/trace"))["text"] == told["text"]


def _flat(call: dict[str, Any]) -> list[dict[str, Any]]:
    def inside(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        found = []
        for item in items:
            rounds = [*item.get("first", []), *item.get("last", [])]
            found += [s for one in rounds for s in inside(one)] if "rounds" in item else [item]
        return found

    return inside(call["steps"])


UNDER_WAY = """
    class Cart:
        def total(self, prices):
            return sum(prices)  # @total

    def show(cart):
        return cart.total([1, 2])

    show(Cart())
"""


@pytest.mark.parametrize("named", ["Cart.total", "line", "show"])
async def test_of_a_call_in_which_the_program_stands_it_is_said_that_it_had_begun(
    api: Api, program: Write, named: str
) -> None:
    """To be asked for what one stands in was answered with `called: 0 times`, and the program was over."""
    code = program(UNDER_WAY)
    session = await paused(api, code, "total")
    asked: dict[str, Any] = {"function": named}
    if named == "line":
        asked = {"file": code.text, "line": code.line("total")}
    told = await session.post("/trace", **asked)
    assert told["trace_state"] == "ended"
    place = f"{code.path.name}:{code.line('total')}"
    hint = (
        f"; it stood in a call of total, at {place}, and only calls that begin later are traced:"
        " ask at the caller"
    )
    assert told["reason"].endswith(hint) == (named != "show"), told["reason"]
    assert ("it stood in" in told["reason"]) == (named != "show")
    assert told["text"] == told["reason"]


LATER = """
    import sys
    import time

    class Slow:
        def __repr__(self):
            while not hasattr(self, "free"):
                pass

    def late(slow):
        def inner(number):
            return number + 1  # @inner
        return inner(1)  # @call

    print("ready")  # @ready
    sys.stdin.readline()
    late(Slow())
    time.sleep(600)
"""


@pytest.mark.parametrize("mode", ["plain"])
async def test_a_trace_outlasts_its_wait_and_no_repr_can_hold_it_up(
    api: Api, program: Write, mode: str
) -> None:
    later = program(LATER)
    session = await paused(api, later, "ready", launch_mode=mode)
    told = await session.post("/trace", function="late", depth=2, wait=0)
    assert (told["status"], told["trace_state"], told["called"]) == ("running", "waiting", 0)
    assert told["reason"] == "the call has not come yet; called: 0 times"
    cursor = (await session.get("/events", limit=1000))["next_cursor"]
    await session.post("/input", input="go\n")
    for _ in range(20):  # a repr that hangs is cut short by whoever reads the trace
        page = await session.get("/events", cursor=cursor, types="stopped", timeout=1.1)
        if page["events"]:
            break
        told = await session.get("/trace")
    told = await session.get("/trace", tree=True)
    assert (told["status"], told["complete"]) == ("paused", True), told
    assert told["tree"]["arguments"][0]["value"] == "<Slow: its text took too long>"
    assert step_at(told["tree"], later.line("call"))["calls"][0]["result"]["value"] == "2"


async def test_what_cannot_be_traced_is_refused_and_changes_nothing(
    api: Api, program: Write
) -> None:
    later = program(LATER)
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await session.post("/trace", function="late")
    assert (refused.value.code, refused.value.status) == ("INVALID_SESSION_STATE", 409)
    placed = await session.breakpoint(later.text, later.line("ready"))
    await session.launch(later.text)
    told = await session.get("/trace")
    assert (told["trace_state"], told["text"]) == ("none", "no call of this run was traced")
    for code, body in (
        ("INVALID_REQUEST", {}),
        ("INVALID_REQUEST", {"function": "late", "file": later.text, "line": 1}),
        ("INVALID_REQUEST", {"file": later.text}),
        ("INVALID_REQUEST", {"function": "late", "call": 0}),
        ("INVALID_REQUEST", {"function": "late", "depth": 11}),
        ("INVALID_REQUEST", {"function": "late", "max_chars": 10}),
        ("INVALID_REQUEST", {"function": "lata"}),
        ("INVALID_REQUEST", {"file": later.text, "line": later.line("ready")}),
        ("BREAKPOINT_INVALID_LINE", {"file": later.text, "line": 3}),
        ("BREAKPOINT_INVALID_LINE", {"file": later.text, "line": 999}),
        ("BREAKPOINT_FILE_NOT_FOUND", {"file": "nowhere.py", "line": 1}),
        ("BREAKPOINT_INVALID_CONDITION", {"function": "late", "condition": "slow =="}),
    ):
        with pytest.raises(Refused) as refused:
            await session.post("/trace", **body)
        assert refused.value.code == code, body
        if body == {"function": "lata"}:
            assert refused.value.details["similar"] == ["late"]
        assert (await session.get("/status"))["location"]["line"] == later.line("ready")
    await session.delete(f"/breakpoints/{placed['id']}")
    told = await session.post("/trace", function="inner", wait=0)  # not defined yet, but known
    assert told["trace_state"] == "waiting"
    with pytest.raises(Refused) as refused:
        await session.post("/trace", function="late")
    assert refused.value.details["current_state"] == "running"


SCALES = """
    class Scale:
        def weigh(self, of):
            return of

    class Fine(Scale):
        pass
"""

ELSEWHERE = """
    import asyncio
    import html.parser
    import json

    from shop import total
    from shop.scales import Fine, Scale

    class Base:
        def __init__(self, size):
            self.size = size

        @classmethod
        def make(cls, size):
            return cls(size)

        def grow(self, by):
            return self.size + by

        @staticmethod
        def sized(size):
            return size

    class Small(Base):
        pass

    class Large(Base):
        def grow(self, by):
            return super().grow(by) * 2

    class Reader(html.parser.HTMLParser):
        pass

    async def ticks(upto):
        for tick in range(upto):
            await asyncio.sleep(0)
            yield tick

    async def summed(upto):
        return [tick async for tick in ticks(upto)]

    def work(turn):
        Base.make(1).grow(1)
        Large.make(2).grow(2)
        Small.make(3).grow(3)
        Small.sized(3)
        Scale().weigh(1)
        Fine().weigh(2)
        html.parser.HTMLParser().feed("no")
        Reader().feed("<p>")
        total([turn])
        asyncio.run(summed(3))
        return json.loads("[4]")

    start = 1  # @start
    for turn in range(20):
        work(turn)
"""


@pytest.mark.parametrize("version", ["3.11", "3.13"])
async def test_a_function_goes_by_every_name_that_it_can_be_called_by(
    api: Api, program: Write, version: str
) -> None:
    python = installed_python(version)
    program("from shop.prices import total", name="shop/__init__.py")
    program("def total(prices):\n    return sum(prices)\n", name="shop/prices.py")
    program(SCALES, name="shop/scales.py")
    code = program(ELSEWHERE)
    session = await api.session(python_path=python)
    await session.breakpoint(code.text, code.line("start"))
    await session.launch(code.text)
    for name, wanted in (
        # Where it is imported, and the class of a call that inherits it.
        ("shop.total", "total(prices=[0]) at prices.py"),
        ("Small.make", "Base.make(cls=<class '__main__.Small'>, size=3) at main.py"),
        ("Small.grow", "Base.grow(self=<Small>, by=3) at main.py"),
        # With its module, be it the script; not a call with another class that has the same function.
        ("main.Small.grow", "Base.grow(self=<Small>, by=3) at main.py"),
        ("main.Small.sized", "Base.sized(size=3) at main.py"),
        ("shop.scales.Fine.weigh", "Scale.weigh(self=<Fine>, of=2) at scales.py"),
        ("Reader.feed", "HTMLParser.feed(self=<Reader>, data='<p>') at parser.py"),
        # The debugger's own threads call this, too.
        ("json.loads", "loads(s='[4]', cls=None, "),
    ):
        told = await session.post("/trace", function=name, wait=20)
        assert told["complete"] is True, told
        assert told["text"].startswith(wanted), told["text"]
        again = await session.post("/trace", function=name, until_result="result != 0", wait=20)
        assert (again["complete"], again["call"]) == (True, 1), again
        assert again["text"].partition("(")[0] == told["text"].partition("(")[0]
    told = await session.post("/trace", function="summed", tree=True, wait=20)
    (ticks,) = told["tree"]["steps"][0]["calls"]
    assert (ticks["function"], ticks["suspensions"]) == ("ticks", 3)  # waits are none of them
    for name in ("len", "list.append", "asyncio.events.math.sqrt"):
        with pytest.raises(Refused) as refused:
            await session.post("/trace", function=name)
        assert ("is written in C" in refused.value.message) == (name != "asyncio.events.math.sqrt")


GROWING = """
    import collections
    import heapq

    def extend(both):
        both.append(1)
        both[0] = "h"

    def grow(first, every, heap, both, rows, long):
        first.insert(0, 9)  # @insert
        every[:] = [5, 5, 5, 5]  # @every
        heapq.heappush(heap, 1)  # @heap
        extend(both)  # @both
        both.append(3)  # @end
        rows[0].append(7); rows.append(8)  # @inside
        long.append(1000)  # @long
        return first

    def hide(text, rows, table, names, queue, data, digits):
        text = text[:-1] + "CHANGED"  # @text
        rows[70] = "CHANGED"  # @row
        rows = [*rows[:71], "AGAIN", *rows[72:]]  # @other
        table[99] = "CHANGED"  # @table
        names.add(-1); names.discard(150)  # @set
        queue[-1] = "CHANGED"  # @queue
        data[150] = 7  # @data
        digits += 1  # @digits
        rows[:] = list(rows); names = set(names); text = text[:50] + text[50:]  # @equal
        return len(text)  # @result

    start = 1  # @start
    grow([1, 2], [3, 4], [5, 7, 9], [1], [[6]], list(range(1000)))
    hide("a" * 100, [f"r{n}" for n in range(100)], dict.fromkeys(range(100)), set(range(200)),
         collections.deque(range(100)), bytearray(200), 1 << 2000)
"""


@pytest.mark.parametrize("version", ["3.11", "3.13"])
@pytest.mark.parametrize("until", [{}, {"until_result": "result"}])
async def test_of_a_list_only_what_came_behind_all_it_had_is_told_as_added(
    api: Api, program: Write, version: str, until: dict[str, str]
) -> None:
    code = program(GROWING)
    session = await paused(api, code, "start", python_path=installed_python(version))
    told = await traced(session, function="grow", wait=30, **until)

    def changed(mark: str) -> dict[str, Any]:
        (change,) = step_at(told["tree"], code.line(mark))["changed"]
        return {key: change[key] for key in ("name", "old", "value", "added") if key in change}

    assert changed("insert") == {"name": "first", "old": "[1, 2]", "value": "[9, 1, 2]"}
    assert changed("every") == {"name": "every", "old": "[3, 4]", "value": "[5, 5, 5, 5]"}
    assert changed("heap") == {"name": "heap", "old": "[5, 7, 9]", "value": "[1, 5, 9, 7]"}
    assert changed("both") == {"name": "both", "old": "[1]", "value": "['h', 1]"}
    assert changed("end")["added"] == "[3]"
    assert changed("inside") == {"name": "rows", "old": "[[6]]", "value": "[[6, 7], 8]"}
    assert "added" not in changed("long")  # of so many items nothing is known
    assert changed("long")["value"] == "[0, 1, 2, ... (1001 items)]"


@pytest.mark.parametrize("version", ["3.11", "3.13"])
@pytest.mark.parametrize("until", [{}, {"until_result": "result"}])
async def test_a_change_beyond_what_is_shown_of_a_value_is_told(
    api: Api, program: Write, version: str, until: dict[str, str]
) -> None:
    code = program(GROWING)
    session = await paused(api, code, "start", python_path=installed_python(version))
    told = await traced(session, function="hide", wait=30, **until)

    def changed(mark: str) -> list[Any]:
        found = step_at(told["tree"], code.line(mark))["changed"]
        return [(one["name"], one.get("unshown"), one.get("changed_at")) for one in found]

    assert changed("text") == [("text", True, 99)]
    assert changed("row") == [("rows", True, 70)]
    assert changed("other") == [("rows", True, 71)]
    assert changed("table") == [("table", True, None)]
    assert changed("set") == [("names", True, None)]
    assert changed("queue") == [("queue", True, 99)]
    assert changed("data") == [("data", True, 150)]
    assert changed("digits") == [("digits", True, None)]
    assert changed("equal") == changed("result") == []
    assert "(changed at [70])" in told["text"]


PRIVATE = """
    import collections
    import functools
    import io
    import tokenize
    import weakref

    @functools.total_ordering
    class Size:
        def __init__(self, n):
            self.n = n

        def __eq__(self, other):
            return self.n == other.n

        def __lt__(self, other):
            return self.n < other.n

        __hash__ = object.__hash__

    Point = collections.namedtuple("Point", "x y")
    sizes = weakref.WeakSet()

    def calls(tokens, point):
        size = Size(1)
        sizes.add(size)
        larger = size > Size(0)  # @compare
        moved = point._replace(x=3)  # @replace
        del size  # @del
        token = "abc"  # @given
        token = "abd"  # @other
        token = "".join(["a", "bd"])  # @equal
        names = [one.string for one in tokens]  # @generator
        return 0

    calls(tokenize.generate_tokens(io.StringIO("a").readline), Point(1, 2))  # @start
"""


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
async def test_private_functions_of_libraries_are_told_and_callbacks_of_weak_references_not(
    api: Api, program: Write, version: str
) -> None:
    code = program(PRIVATE)
    session = await paused(api, code, "start", python_path=installed_python(version))
    told = (await traced(session, function="calls", wait=30))["tree"]

    def called(mark: str) -> list[str]:
        return [call["function"] for call in step_at(told, code.line(mark))["calls"]]

    assert called("compare") == ["Size.__init__", "_gt_from_lt"]
    assert called("replace")[0].endswith("_replace")
    assert called("del") == []
    generator = "_tokenize" if version == "3.11" else "_generate_tokens_from_c_tokenizer"
    assert called("generator") == [generator]


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
@pytest.mark.parametrize("until", [{}, {"until_result": "result == 0"}])
async def test_that_a_masked_value_has_changed_is_told_and_not_how(
    api: Api, program: Write, version: str, until: dict[str, str]
) -> None:
    code = program(PRIVATE)
    session = await paused(api, code, "start", python_path=installed_python(version))
    told = (await traced(session, function="calls", wait=30, **until))["tree"]

    def changed(mark: str) -> Any:
        return step_at(told, code.line(mark))["changed"]

    assert values(changed("given")) == values(changed("other")) == {"token": "***"}
    assert (changed("other")[0]["unshown"], "changed_at" in changed("other")[0]) == (True, False)
    assert changed("equal") == []


LONG_TEXTS = """
    import time

    class Slow:
        def __repr__(self):
            until = time.monotonic() + 0.8
            while time.monotonic() < until:
                pass
            return "Slow()"

    def texts(first, second, third, fourth, fifth):
        found = "text"  # @found
        return found

    def lines(one, other):
        count = 1  # @first
        count += 1
        count += 1
        count += 1
        count += 1
        count += 1  # @last
        one = other  # @other
        return count

    texts(*[Slow() for _ in range(5)])  # @start
    lines(Slow(), Slow())
"""


async def test_texts_are_shown_where_those_of_objects_have_taken_too_long(
    api: Api, program: Write
) -> None:
    code = program(LONG_TEXTS)
    session = await paused(api, code, "start")
    told = (await traced(session, function="texts", wait=60))["tree"]
    assert told["arguments"][4]["value"] == "<Slow: its text takes too long>"
    assert values(step_at(told, code.line("found"))["changed"]) == {"found": "'text'"}


async def test_what_has_no_text_any_more_has_not_changed_for_that(api: Api, program: Write) -> None:
    code = program(LONG_TEXTS)
    session = await paused(api, code, "start")
    told = (await traced(session, function="lines", wait=60))["tree"]
    assert told["arguments"][0]["value"] == "Slow()"
    for line in range(code.line("first"), code.line("last") + 1):
        assert set(values(step_at(told, line)["changed"])) == {"count"}, line
    assert values(step_at(told, code.line("other"))["changed"]) == {
        "one": "<Slow: its text takes too long>"
    }


SLOTTED = """
    class Point:
        __slots__ = ("x", "unset", "__private")

        def __init__(self, x):
            self.x = x
            self.__private = []

    class Named(Point):
        def move(self, by):
            self.x += by  # @slot
            self.name = "moved"  # @dict
            self._Point__private.append(by)  # @private
            del self.x  # @gone
            self.unset = by  # @set
            return by

    point = Named(1)
    point.move(2)  # @move
"""


@pytest.mark.parametrize("version", ["3.11", "3.13"])
@pytest.mark.parametrize("until", [{}, {"until_result": "result"}])
async def test_attributes_in_slots_are_attributes_of_self(
    api: Api, program: Write, version: str, until: dict[str, str]
) -> None:
    code = program(SLOTTED)
    session = await paused(api, code, "move", python_path=installed_python(version))
    told = await traced(session, function="Named.move", wait=30, **until)
    changed = {
        mark: step_at(told["tree"], code.line(mark))["changed"]
        for mark in ("slot", "dict", "private", "gone", "set")
    }
    assert changed == {
        "slot": [{"name": "self.x", "old": "1", "value": "3"}],
        "dict": [{"name": "self.name", "value": "'moved'"}],
        "private": [
            {
                "name": "self._Point__private",
                "old": "[]",
                "value": "[2]",
                "added": "[2]",
                "length": 1,
            }
        ],
        "gone": [{"name": "self.x", "old": "3", "value": "", "deleted": True}],
        "set": [{"name": "self.unset", "value": "2"}],
    }, told["text"]


PASSING_ON = """
    class Odd(Exception):
        pass

    def passed_by(value):
        try:
            raise Odd(value)
        except TypeError:
            return "not this one"

    def tidied(value):
        try:
            raise Odd(value)
        finally:
            value += 1

    def handles(value):
        try:
            raise Odd(value)
        except Odd:
            value += 1

    def yields(value):
        try:
            raise Odd(value)
        except Odd:
            yield
        yield value

    def work():
        for function in (passed_by, tidied, handles):
            try:
                function(1)
            except Odd:
                handles(2)
        return list(yields(3))

    start = 1  # @start
    for turn in range(20):
        work()
"""


@pytest.mark.parametrize("version", ["3.8", "3.10", "3.11", "3.13"])
async def test_an_exception_that_handlers_pass_on_is_how_the_call_ends(
    api: Api, program: Write, version: str
) -> None:
    """Before 3.12 no event says that an exception is raised again at the end of a handler."""
    python = installed_python(version)
    code = program(PASSING_ON)
    session = await api.session(python_path=python)
    await session.breakpoint(code.text, code.line("start"))
    await session.launch(code.text)
    for name, end in (
        ("passed_by", "raises Odd: 1"),
        ("tidied", "raises Odd: 1"),
        ("handles", "-> None"),
        ("yields", "-> None (yields 2)"),
    ):
        answer = await session.post("/trace", function=name, wait=30)
        assert answer["text"].splitlines()[-1] == end, answer["text"]
        if end.startswith("raises"):
            until = await session.post("/trace", function=name, until_result="exception", wait=30)
            assert until["text"].splitlines()[-1] == end
    await session.delete()


async def test_a_coroutine_of_an_older_python_goes_on_where_it_waits(
    api: Api, program: Write
) -> None:
    """Up to 3.10 a frame that waits stands one instruction ahead of its `await`."""
    code = program("""
        import asyncio

        async def inner(number):
            await asyncio.sleep(0)
            return 6 / number

        async def middle(number):
            return await inner(number)  # @await

        asyncio.run(middle(2))  # @start
    """)
    session = await api.session(python_path=installed_python("3.9"))
    await session.breakpoint(code.text, code.line("start"))
    await session.launch(code.text)
    answer = await session.post("/trace", function="middle", wait=30)
    assert answer["complete"] is True
    assert answer["text"].splitlines()[1:] == [
        f"{code.line('await'):6}  return await inner(number)  # @await  # waits",
        "          inner(number=2) -> 3.0 (waited once)",
        "-> 3.0 (waited once)",
    ]


@pytest.mark.parametrize("version", ["3.9", "3.11", "3.13"])
async def test_a_function_with_its_file_is_traced_and_recorded_wherever_its_name_is_taken(
    api: Api, program: Write, version: str
) -> None:
    """Up to 3.10 code has no qualified name: there the file says which function it is."""
    program(
        """
        import dataclasses

        @dataclasses.dataclass
        class Made:
            n: int

        def outer(n):
            def inner(n):  # @inner
                return n + 1
            return inner(n)

        class Cart:
            def add(self, n):
                return outer(n)
        """,
        "kit.py",
    )
    code = program("""
        import kit

        def inner(n):
            return n

        def work(n):
            return inner(n), kit.Cart().add(n), kit.Made(n)

        start = 1  # @start
        for n in range(20):
            work(n)
    """)
    session = await paused(api, code, "start", installed_python(version))
    told = await session.post("/trace", function="kit.py:outer.inner", condition="n > 1", wait=20)
    assert told["text"].startswith("outer.inner(n=2) at kit.py")
    told = await session.post("/trace", function="kit.py::Cart::add[x]", wait=20)
    assert told["text"].startswith("Cart.add(self=<Cart>, n=3) at kit.py")
    assert told["text"].endswith(
        "-> 4\n[x] is left out: every parameter counts; run that test by its id to have it only"
    )
    told = await session.post(
        "/trace", function="main.py:inner", until_result="result == 5", wait=20
    )
    assert told["text"].startswith("inner(n=5) (call 2) at main.py")
    shown = await session.post(
        "/breakpoints", function="kit.py:outer.<locals>.inner", condition="n == 7"
    )
    told = await session.post("/calls", focus=["kit.py:outer.inner", "main.py:work"], wait=20)
    assert (told["complete"], told["stop_reason"]) == (True, "function breakpoint")
    assert {"inner(n=5) → 6", "inner(n=6) → 7"} <= {
        line.strip().removeprefix("outer.") for line in told["text"].splitlines()
    }
    assert "work(n=7)" in told["text"]
    assert "Cart.add" not in told["text"]
    assert "outer(" not in told["text"]
    await session.delete(f"/breakpoints/{shown['breakpoints'][0]['id']}")
    end = await session.breakpoint(code.text, code.line("start") + 2, condition="n == 9")
    told = await session.post("/calls", wait=20, **{"from": "kit.py:Cart.add"})
    assert [line.strip().partition("(")[0] for line in told["text"].splitlines()[1:]] == [
        "Cart.add", "outer", "outer.inner"
    ], end  # fmt: skip
    for route, field in (("/trace", "function"), ("/calls", "from")):
        with pytest.raises(Refused) as refused:
            await session.post(route, **{field: "kit.py:inner"})
        assert refused.value.details["suggestion"] == "Did you mean kit.py:outer.inner?"
    with pytest.raises(Refused) as refused:
        await session.post("/trace", function="kit.py:Made.__init__")
    assert refused.value.details["suggestion"].endswith("trace Made.__init__, named without a file")
    if version != "3.9":  # before 3.11 it cannot be told from one that is defined so
        told = await session.post("/trace", function="Made.__init__", wait=20)
        assert (told["complete"], told["called"]) == (True, 1)
    with pytest.raises(Refused) as refused:
        await session.post("/calls", focus=["kit.py:nothing"])
    assert "kit.py defines no function nothing" in refused.value.message


OTHER_TOOLS = """
    import sys

    def taken():
        return [sys.monitoring.get_tool(number) for number in (1, 2, 3)]

    before = taken()

    def step():
        return taken()

    print(before, step(), step())
"""


@pytest.mark.parametrize("version", ["3.12", "3.13"])
async def test_a_trace_leaves_the_numbers_that_other_tools_take(
    api: Api, program: Write, version: str
) -> None:
    """Coverage takes 1, cProfile 2, and hypothesis 3: it warns where another tool has that."""
    others = program(OTHER_TOOLS)
    session = await api.session(python_path=installed_python(version))
    await session.launch(others.text, stop_on_entry=True)
    trace = await session.post("/trace", function="step", call=2, wait=30)
    assert trace["complete"]
    await session.resume()
    nobody = str([None] * 3)
    assert await session.printed() == f"{nobody} {nobody} {nobody}\n"


RAISES_ON = """
    class Guard:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            return None

    def check(number):
        if number > 2:
            raise ValueError(number)

    def guarded(number):
        with Guard():
            check(number)
        return number

    def ends(number):
        try:
            check(number)
        finally:
            number += 1
        return number

    def expects(number):
        try:
            with Guard():
                check(number)
        except KeyError:
            return None
        return number

    def handles(number):
        try:
            with Guard():
                check(number)
        except ValueError:
            return None
        return number

    def run():
        for number in (1, 3):
            for function in (guarded, ends, expects, handles):
                try:
                    function(number)
                except ValueError:
                    pass

    try:
        raise OSError("handled by the caller")
    except OSError:
        run()
"""


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.12"])
async def test_an_exception_that_goes_on_behind_a_block_leaves_the_call(
    api: Api, program: Write, version: str
) -> None:
    raises = program(RAISES_ON)
    found = {}
    for function in ("guarded", "ends", "expects", "handles"):
        session = await api.session(python_path=installed_python(version))
        await session.launch(raises.text, stop_on_entry=True, stop_on_exception=False)
        trace = await session.post(
            "/trace", function=function, until_result="number >= 3 and result is None", wait=30
        )
        found[function] = trace["text"].splitlines()[-1]
        await session.delete()
    raised = dict.fromkeys(("guarded", "ends", "expects"), "raises ValueError: 3")
    assert found == {**raised, "handles": "-> None"}


AWAITS_ON = """
    import asyncio

    class Guard:
        async def __aenter__(self):
            return self

        async def __aexit__(self, *error):
            await asyncio.sleep(0)

    async def check(number):
        await asyncio.sleep(0)
        if number > 2:
            raise ValueError(number)

    async def guarded(number):
        async with Guard():
            await check(number)
        return number

    async def run():
        for number in (1, 3):
            try:
                await guarded(number)
            except ValueError:
                pass

    asyncio.run(run())
"""


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.12"])
async def test_an_exception_that_goes_on_behind_an_await_leaves_the_call(
    api: Api, program: Write, version: str
) -> None:
    awaits = program(AWAITS_ON)
    session = await api.session(python_path=installed_python(version))
    await session.launch(awaits.text, stop_on_entry=True, stop_on_exception=False)
    trace = await session.post(
        "/trace", function="guarded", until_result="number >= 3 and result is None", wait=30
    )
    assert "raises ValueError: 3" in trace["text"].splitlines()[-1]
    second = await api.session(python_path=installed_python(version))
    await second.launch(awaits.text, stop_on_entry=True, stop_on_exception=False)
    calls = await second.post("/calls", wait=30)
    line = next(line for line in calls["text"].splitlines() if "guarded(number=3)" in line)
    assert "raised" in line
    assert "StopIteration" not in line


ANEW = """
    import ast
    import inspect
    import textwrap

    def anew(function):
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        tree.body[0].decorator_list = []
        ast.increment_lineno(tree, function.__code__.co_firstlineno - 1)
        exec(compile(tree, __file__, "exec"), made := {})
        return made[function.__name__]

    @anew
    def twice(number):
        return number * 2  # @twice

    twice(4)  # @main
"""


async def test_a_function_that_its_decorator_has_compiled_anew_is_found_by_its_line(
    api: Api, program: Write
) -> None:
    source = program(ANEW)
    session = await paused(api, source, "main")
    told = await traced(session, file=source.text, line=source.line("twice"))
    assert told["text"].splitlines()[-1] == "-> 8"


WITHIN = """
    def logged(function):
        def inside(number):
            return function(number)
        return inside

    class Cart:
        def total(self):
            def taxed(price):
                class Rate:
                    def of(self, price):
                        return price + 1
                return Rate().of(price)
            return taxed(4)

    @logged
    def plain(number):
        return number

    Cart().total()  # @main
    plain(7)
    Cart().total()
    Cart().total()
"""


@pytest.mark.parametrize("version", ["3.8", "3.10", "3.12"])
async def test_a_function_within_a_function_goes_by_both_names(
    api: Api, program: Write, version: str
) -> None:
    """Before Python 3.11 its code knows its own name only."""
    source = program(WITHIN)
    session = await paused(api, source, "main", installed_python(version))
    for name, end in {
        "logged.inside": "-> 7",
        "total.taxed": "-> 5",
        "Cart.total.taxed.Rate.of": "-> 5",
    }.items():
        told = await traced(session, function=name)
        assert told["complete"] is True
        lines = told["text"].splitlines()
        assert lines[0].startswith(name if name != "total.taxed" else "Cart.total.taxed")
        assert lines[-1] == end


async def test_a_lambda_that_is_loaded_is_no_function_to_trace(api: Api, program: Write) -> None:
    source = program("""
        half = lambda number: number / 2  # @half
        half(2)  # @main
        half(4)
    """)
    session = await paused(api, source, "main")
    for name in ("half", f"{source.path.stem}.half"):
        with pytest.raises(Refused) as refused:
            await traced(session, function=name)
        assert f"half is a lambda at {source.path.name}:{source.line('half')}" in str(refused.value)
    assert (await session.get(""))["status"] == "paused"


async def test_a_function_that_a_decorator_makes_for_a_class(api: Api, program: Write) -> None:
    """Neither the function nor its class is there when the trace is asked for."""
    source = program("""
        def made(cls):
            names = {}
            exec("def raised(self, rate): return rate + 1", names)
            names["raised"].__qualname__ = "Cart.raised"
            cls.raised = names["raised"]
            return cls

        print("begin")  # @main

        @made
        class Cart:
            pass

        Cart().raised(3)
    """)
    session = await paused(api, source, "main")
    told = await traced(session, function="Cart.raised")
    assert told["text"].splitlines()[-1] == "-> 4"


async def test_no_special_method_is_taken_for_a_slip_of_another(api: Api, program: Write) -> None:
    source = program("""
        print("begin")  # @main

        class Cart:
            def __getattr__(self, name):
                return name

        class Plain:
            pass
    """)
    session = await paused(api, source, "main")
    with pytest.raises(Refused) as refused:
        await traced(session, function="Plain.__setattr__")
    assert "Plain.__getattr__" not in str(refused.value)


@pytest.mark.parametrize("version", ["3.8", "3.12"])
@pytest.mark.parametrize("place", ["archive", "cell"])
async def test_code_that_is_in_no_file_is_told_with_its_source(
    api: Api, program: Write, tmp_path: Path, place: str, version: str
) -> None:
    code = program("""
        import linecache
        import sys

        def shop():
            if sys.argv[1] == "archive":
                sys.path.insert(0, sys.argv[2])
                import prices
                return prices.price
            linecache.cache["/tmp/cells/1.py"] = len(sys.argv[2]), None, sys.argv[2].splitlines(True), "/tmp/cells/1.py"
            space = {"__name__": "__main__"}
            exec(compile(sys.argv[2], "/tmp/cells/1.py", "exec"), space)
            return space["price"]

        price = shop()
        price(2)  # @call
        print("/tmp/cells/1.py" in linecache.cache, sorted(name for name in linecache.cache if "zip" in name))
    """)
    text = "def price(count):\n    cost = count * 3\n    return cost\n"
    given = text
    if place == "archive":
        given = str(tmp_path / "prices.zip")
        with zipfile.ZipFile(given, "w") as archive:
            archive.writestr("prices.py", text)
    session = await api.session(project_root=str(tmp_path), python_path=installed_python(version))
    await session.breakpoint(code.text, code.line("call"))
    await session.launch(code.text, args=[place, given])
    found = await session.post("/trace", function="price")
    assert found["complete"]
    lines = [line.split("  # ")[0].split() for line in found["text"].splitlines()]
    assert ["2", "cost", "=", "count", "*", "3"] in lines
    assert ["3", "return", "cost"] in lines
    await session.post("/continue", wait=30)
    # Nothing is left to the program that it had not.
    assert await session.printed() == f"{place == 'cell'} []\n"
