"""Data breakpoints: the program stops after the statement that changed what is watched."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api, Refused, Session
from tests.e2e.data_stops import EVERY_LINE
from tests.e2e.refusals import refused
from tests.programs import Program

Write = Callable[..., Program]
KINDS = """
    import dataclasses
    import threading

    @dataclasses.dataclass
    class Line:
        price: int = 3
        count: int = 1

        def cheaper(self):
            self.count = self.count + 0  # @equal
            self.price -= 1  # @cheaper

    class Cart:
        limit = 5

        def __init__(self):
            self.total = 0
            self.lines = []

        def add(self, line):
            self.lines.append(line)  # @within
            self.total += line.price  # @add

        def fail(self):
            try:
                self.total = 1 / 0
            except ZeroDivisionError:
                self.total = -1  # @failed
            return self.total

        def leave(self):
            self.total = -2; raise KeyError("left")  # @leave

        def last(self):
            self.total = -3  # @last

    class Slotted:
        __slots__ = ("size",)

        def __init__(self):
            self.size = 1

        def grow(self):
            self.size += 1  # @grow

    RATE = 1

    def set_rate(value):
        global RATE
        RATE = value  # @rate

    def counts(words):
        found = {}
        for word in words:  # @for
            found[word] = found.get(word, 0) + 1  # @found
        return found

    def sums(upto):
        total = 0  # @sums
        for number in range(upto):
            if number % 2:
                total += number  # @total
        return total  # @summed

    def closing():
        shared = 1

        def inner():
            nonlocal shared
            shared += 1  # @shared

        return inner

    def steps():
        for number in range(2):
            cart.total += number  # @stepped
            yield cart.total  # @yield

    cart, line, slotted = Cart(), Line(), Slotted()
    names, queue = {"a": 1}, [1, 2]
    inner = closing()
    inner()  # @start
    cart.add(line)
    line.cheaper()
    cart.fail()
    try:
        cart.leave()
    except KeyError:
        pass
    cart.last()
    setattr(cart, "total", 9)  # @setattr
    cart.__dict__.update(total=10, other=1)  # @update
    del cart.total  # @deleted
    cart.total = 11  # @again
    list(steps())
    worker = threading.Thread(target=lambda: cart.add(Line(7)))  # @thread
    worker.start()
    worker.join()
    Cart.limit = 6  # @limit
    slotted.grow()
    set_rate(2)
    globals()["RATE"] = 3  # @globals
    names["a"] = 2  # @item
    names.update(a=3, b=1)  # @items
    names.pop("a")  # @popped
    names["a"] = 3  # @item_again
    names.clear()  # @cleared
    queue[0] = 5  # @first
    queue.insert(0, 6)  # @insert
    queue += [1]
    line.__init__(8)  # @init
    inner()
    counts("aba")
    sums(4)  # @sums_call
    cart.__dict__ = {"total": 12}  # @replaced
    cart.total = 13  # @after
    print("over")
"""

WATCHED: dict[str, list[tuple[str | None, str | None, str, str]]] = {
    "cart.total": [
        ("0", "3", "add", "add"),
        ("3", "-1", "failed", "fail"),
        ("-1", "-2", "leave", "leave"),
        ("-2", "-3", "last", "last"),
        ("-3", "9", "setattr", "<module>"),
        ("9", "10", "update", "<module>"),
        ("10", None, "deleted", "<module>"),
        (None, "11", "again", "<module>"),
        ("11", "12", "stepped", "steps"),
        ("12", "19", "add", "add"),
        ("19", "12", "replaced", "<module>"),
        ("12", "13", "after", "<module>"),
    ],
    "line.price": [
        ("3", "2", "cheaper", "cheaper"),
        ("2", "8", "init", "<module>"),
    ],
    "slotted.size": [("1", "2", "grow", "grow")],
    "Cart.limit": [("5", "6", "limit", "<module>")],
    "RATE": [("1", "2", "rate", "set_rate"), ("2", "3", "globals", "<module>")],
    "names['a']": [
        ("1", "2", "item", "<module>"),
        ("2", "3", "items", "<module>"),
        ("3", None, "popped", "<module>"),
        (None, "3", "item_again", "<module>"),
        ("3", None, "cleared", "<module>"),
    ],
    "queue[0]": [("1", "5", "first", "<module>"), ("5", "6", "insert", "<module>")],
}


@pytest.fixture(params=["3.11", "3.12", "3.13"])
def python(request: pytest.FixtureRequest) -> str:
    return installed_python(request.param)


async def paused(api: Api, program: Program, mark: str, python: str) -> Session:
    session = await api.session(python_path=python)
    placed = await session.breakpoint(program.text, program.line(mark))
    at = await session.launch(program.text)
    assert at["current_location"]["line"] == program.line(mark)
    await session.delete(f"/breakpoints/{placed['id']}")
    return session


async def changes(session: Session, most: int = 40) -> list[dict[str, Any]]:
    """Every change until the program ends; each is the reason of its stop."""
    found: list[dict[str, Any]] = []
    for _ in range(most):
        at = await session.resume()
        if at["status"] == "terminated":
            return found
        assert at["stop_reason"] == "data_breakpoint", (await session.get())["exception"]
        found.append({**at["change"], "at": at["current_location"]})
    raise AssertionError(found)


STARTS_THREADS = """
    import threading

    counts, seen = {"all": 0}, []

    def count():
        for _ in range(15000):
            counts["all"] += 1

    def main():
        writer = threading.Thread(target=count)  # @start
        writer.start()
        while writer.is_alive():
            one = threading.Thread(target=len, args=("",))
            one.start()
            one.join()
        writer.join()
        print(sorted(set(seen)) == list(range(1, 15001)))

    main()
"""


async def test_no_change_is_missed_while_other_threads_start(
    api: Api, program: Write, python: str
) -> None:
    """Three times: each start of a thread might lose what the writer did from then on."""
    starts = program(STARTS_THREADS)
    for _ in range(3):
        session = await paused(api, starts, "start", python)
        note = "__import__('__main__').seen.append(new)"
        await session.post("/data-breakpoints", expression="counts['all']", condition=note)
        assert await changes(session) == []
        assert await session.printed() == "True\n"


WRITE_TOGETHER = """
    import threading

    class Count:
        total = 0

    count = Count()
    count.total = 0

    def add():
        for _ in range(18):
            count.total += 1

    threads = [threading.Thread(target=add) for _ in range(2)]
    print("start")  # @start
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


async def test_a_change_is_told_that_was_made_while_another_thread_stopped(
    api: Api, program: Write, python: str
) -> None:
    """Each begins where one has ended: those of a thread that came to stand for the other's stop were gone."""
    session = await paused(api, program(WRITE_TOGETHER), "start", python)
    await session.post("/data-breakpoints", expression="count.total")
    found = await changes(session)
    assert len(found) > 20
    assert {c["old"] for c in found} - {"0"} <= {c["new"] for c in found}


WITHOUT_REFERENCES = """
    import threading
    import types

    def put(one, value):
        one.value = value  # @put

    for owner in types.SimpleNamespace(value=0), ValueError(), type("Int", (int,), {})(3):
        owner.value = 0
        print("begun")  # @start
        put(owner, 1)
        thread = threading.Thread(target=put, args=(owner, 2))
        thread.start()
        thread.join()
        put(owner, 3)
        owner.value = 4  # @last
        number = owner.value
        print("over")  # @over
"""


async def test_what_has_no_weak_references_is_watched_on_as_a_thread_starts(
    api: Api, program: Write, python: str
) -> None:
    """Of a `SimpleNamespace` or an exception only the dict is watched, until there are two threads."""
    written = program(WITHOUT_REFERENCES)
    session = await api.session(python_path=python)
    await session.breakpoint(written.text, written.line("start"))
    await session.breakpoint(written.text, written.line("over"))
    await session.launch(written.text)
    for _ in range(3):
        placed = await session.post("/data-breakpoints", expression="owner.value")
        found = []
        while (at := await session.resume())["stop_reason"] == "data_breakpoint":
            found.append(at["change"])
        lines = [written.line("put")] * 3 + [written.line("last")]
        assert [(c["old"], c["new"], c["location"]["line"]) for c in found] == [
            (str(value), str(value + 1), line) for value, line in enumerate(lines)
        ]
        assert not any("inexact" in change for change in found)
        assert at["current_location"]["line"] == written.line("over")
        await session.delete(f"/data-breakpoints/{placed['id']}")
        await session.resume()


RACING = """
    import sys
    import threading

    class Cart:
        total = 0

    cart, rows, begun, over = Cart(), [0], threading.Event(), threading.Event()
    cart.total = 0

    def add():
        for _ in range(30):
            one = sorted([2, 1])
            cart.total += 1  # @add
            one = sorted([2, 1])
        over.set()

    def note():
        other = []
        begun.set()
        while not over.is_set():
            other.append(1)
            len(other)
            other.pop()

    threading.Thread(target=note).start()
    begun.wait()
    sys.setswitchinterval(1e-6)  # @start
    threading.Thread(target=add).start()
    over.wait()
    print("over")
"""


async def test_a_line_claims_no_write_of_another_thread_that_it_cannot_do(
    api: Api, program: Write, python: str
) -> None:
    """Threads may switch between a write and what comes next in the one that wrote: here they do all the time."""
    racing = program(RACING)
    session = await api.session(python_path=python)
    placed = await session.breakpoint(racing.text, racing.line("start"))
    await session.launch(racing.text, env=EVERY_LINE)
    await session.delete(f"/breakpoints/{placed['id']}")
    for expression in ("cart.total", "rows[0]"):
        await session.post("/data-breakpoints", expression=expression)
    found = await changes(session)
    seen = [(c["old"], c["new"], c["function"], c["location"]["line"]) for c in found]
    line = racing.line("add")
    assert seen == [(str(n), str(n + 1), "add", line) for n in range(30)]
    assert not any("inexact" in change for change in found)


BESIDE_STORES = """
    import sys
    import threading
    import time

    class Cart:
        total = 0

        def put(self, value):
            self.total = value
            self.other = value

    cart, other, over = Cart(), Cart(), threading.Event()
    cart.total = other.total = 0

    def beside():
        while not over.is_set():
            for number in range(50): other.put(number)

    def writes(count):
        for number in range(1, count):
            time.sleep(0.001 * (1 + number % 7))
            cart.total = number  # @writes
            other.other = number

    thread = threading.Thread(target=beside)
    thread.start()
    sys.setswitchinterval(1e-6)  # @start
    writes(100)
    over.set()
    thread.join()
    print("over")
"""
IN_ANOTHER_STATE = {
    "attribute": {},
    "slot": {"        total = 0\n": "        __slots__ = ('total', 'other')\n"},
    "item": {"class Cart:": "class Cart(dict):", ".total": "[0]", ".other": "[1]"},
}


@pytest.mark.parametrize("kind", IN_ANOTHER_STATE)
async def test_a_line_that_stores_to_another_object_claims_no_write_of_another_thread(
    api: Api, program: Write, python: str, kind: str
) -> None:
    """Also where the events of lines come and go: each change is looked for closely, and then not for a while."""
    text = BESIDE_STORES
    for before, after in IN_ANOTHER_STATE[kind].items():
        assert before in text
        text = text.replace(before, after)
    stores = program(text)
    session = await paused(api, stores, "start", python)
    await session.post(
        "/data-breakpoints", expression="cart[0]" if kind == "item" else "cart.total"
    )
    found = await changes(session, most=300)
    assert [(c["old"], c["new"]) for c in found] == [(str(n), str(n + 1)) for n in range(99)]
    places = {(c["function"], c["location"]["line"]) for c in found if "inexact" not in c}
    assert places == {("writes", stores.line("writes"))}


BESIDE_KEYS = """
    import sys
    import threading
    import time

    class Cart:
        total = 0

    rows, prices, carts, over = [0, 0], {0: 0, 1: 0}, [Cart(), Cart()], threading.Event()
    carts[0].total, waiting = 0, []

    def beside(place):
        while not over.is_set():
            for number in range(50):
                if number:
                    STATE[place]END = number
                waiting.append(number)
                waiting.remove(number)

    def writes(count):
        for number in range(count):
            time.sleep(0.001 * (1 + number % 7))
            STATE[0]END += 1  # @writes
            number += 1

    thread = threading.Thread(target=beside, args=(1,))
    thread.start()
    sys.setswitchinterval(1e-6)  # @start
    writes(100)
    over.set()
    thread.join()
    print("over")
"""


@pytest.mark.parametrize("state", ["rows[0]", "prices[0]", "carts[0].total"])
async def test_a_line_that_stores_under_another_key_claims_no_write_of_another_thread(
    api: Api, program: Write, python: str, state: str
) -> None:
    """Nor does one that calls a method of another list. An augmented assignment is known for what it stores to."""
    name, end = state.split("[0]")
    stores = program(BESIDE_KEYS.replace("STATE", name).replace("END", end))
    session = await paused(api, stores, "start", python)
    await session.post("/data-breakpoints", expression=state)
    found = await changes(session, most=300)
    assert [(c["old"], c["new"]) for c in found] == [(str(n), str(n + 1)) for n in range(100)]
    places = {(c["function"], c["location"]["line"]) for c in found if "inexact" not in c}
    assert places == {("writes", stores.line("writes"))}
    assert sum("inexact" in c for c in found) < len(found) / 2


async def test_every_kind_of_state_stops_at_the_statement_that_wrote(
    api: Api, program: Write, python: str
) -> None:
    kinds = program(KINDS)
    session = await paused(api, kinds, "start", python)
    how = {}
    for expression in WATCHED:
        placed = await session.post("/data-breakpoints", expression=expression)
        assert placed["verified"] is True
        how[placed["id"]] = placed["how"]
    has_watchers = await session.evaluate("__import__('sys').version_info >= (3, 12)")
    # Attributes of objects are compared at lines: the program gives one of them another `__dict__`.
    dicts = 3 if has_watchers["result"] == "True" else 0
    assert list(how.values()).count("dict") == dicts

    found = await changes(session)

    for number, (expression, wanted) in zip(how, WATCHED.items(), strict=True):
        mine = [one for one in found if one["id"] == number]
        seen = [(c["old"], c["new"], c["location"]["line"], c["function"]) for c in mine]
        assert seen == [(o, n, kinds.line(mark), f) for o, n, mark, f in wanted], expression
        assert {c["location"]["path"] for c in mine} == {kinds.text}
        assert not any("inexact" in c for c in mine)
    first = found[0]["at"]
    assert (first["function"], first["line"]) == ("add", kinds.line("add"))
    assert await session.printed() == "over\n"
    listed = await session.get("/data-breakpoints")
    assert {one["verified"] for one in listed["data_breakpoints"]} == {False}


async def test_locals_end_with_their_frame_and_cells_do_not(
    api: Api, program: Write, python: str
) -> None:
    kinds = program(KINDS)
    session = await paused(api, kinds, "sums", python)
    await session.post("/data-breakpoints", expression="total")
    await session.post("/step-over")
    found = await changes(session)
    seen = [(c["old"], c["new"], c["location"]["line"], c.get("ended")) for c in found]
    line = kinds.line("total")
    assert seen[-3:] == [
        ("0", "1", line, None),
        ("1", "4", line, None),
        ("4", None, kinds.line("summed"), True),
    ]
    assert found[-1]["at"]["line"] == kinds.line("summed")

    session = await paused(api, kinds, "shared", python)
    await session.post("/data-breakpoints", expression="shared")
    found = await changes(session)
    seen = [(c["old"], c["new"], c["location"]["line"], c["function"]) for c in found]
    line = kinds.line("shared")
    assert seen == [("1", "2", line, "inner"), ("2", "3", line, "inner")]


TWINS = """
    SOURCE = "def put(one, value):\\n    one.value = value\\n"

    class Box:
        pass

    class Slotted:
        __slots__ = ("value",)

    def made():
        names = {}
        exec(SOURCE, names)
        return names["put"]

    box, slotted = Box(), Slotted()
    box.value = slotted.value = 0
    print("start")  # @start
    for number, put in enumerate([made(), made(), made()], 1):
        put(box, number)
        put(slotted, number)
"""


@pytest.mark.parametrize("name", ["box", "slotted"])
async def test_functions_whose_code_is_equal_are_heard_each(
    api: Api, program: Write, python: str, name: str
) -> None:
    session = await paused(api, program(TWINS), "start", python)
    await session.post("/data-breakpoints", expression=f"{name}.value")
    found = await changes(session)
    assert [(one["old"], one["new"]) for one in found] == [("0", "1"), ("1", "2"), ("2", "3")]


async def test_conditions_steps_and_deletion(api: Api, program: Write, python: str) -> None:
    kinds = program(KINDS)
    session = await paused(api, kinds, "start", python)
    total = await session.post(
        "/data-breakpoints", expression="cart.total", condition="new and old and new > old + 4"
    )
    price = await session.post("/data-breakpoints", expression="line.price", condition="nothing")
    at = await session.resume()
    assert at["change"]["id"] == price["id"]
    assert at["change"]["condition_error"] == "NameError: name 'nothing' is not defined"
    assert (await session.get())["change"] == at["change"]
    await session.delete(f"/data-breakpoints/{price['id']}")
    at = await session.resume()
    assert (at["change"]["old"], at["change"]["new"]) == ("-3", "9")
    stepped = await session.post("/step-over")
    assert stepped["stop_reason"] == "step"
    assert stepped["current_location"]["line"] == at["current_location"]["line"] + 1
    await session.delete(f"/data-breakpoints/{total['id']}")
    watched = await session.post("/data-breakpoints", expression="cart.total")
    stepped = await session.post("/step-over")
    assert (stepped["stop_reason"], stepped["change"]["old"]) == ("data_breakpoint", "10")
    await session.evaluate("setattr(cart, 'total', 77)")
    await session.delete(f"/data-breakpoints/{watched['id']}")
    assert (await session.get("/data-breakpoints")) == {"data_breakpoints": []}
    assert (await session.resume())["status"] == "terminated"


async def test_what_cannot_be_watched_is_refused(api: Api, program: Write, python: str) -> None:
    session = await paused(api, program(KINDS), "start", python)
    for expression, code, words in (
        ("len(queue)", "INVALID_REQUEST", "the result of a call"),
        ("cart.totl", "INVALID_REQUEST", "there is total"),
        ("queue[-1]", "INVALID_REQUEST", "another position when the list has grown or shrunk"),
        ("nowhere.x", "INVALID_REQUEST", "NameError"),
        ("cart.", "EVALUATE_ERROR", "SyntaxError"),
    ):
        with pytest.raises(Refused) as refused:
            await session.post("/data-breakpoints", expression=expression)
        assert refused.value.code == code
        assert words in refused.value.message
        if expression == "queue[-1]":
            assert refused.value.details["suggestion"] == "Watch the one that it is now, queue[1]"
    with pytest.raises(Refused) as refused:
        await session.delete("/data-breakpoints/data_9")
    assert refused.value.code == "BREAKPOINT_NOT_FOUND"
    assert (await session.get("/data-breakpoints")) == {"data_breakpoints": []}


OF_A_THREAD = """
    import threading

    state = threading.local()

    def fill(number):
        state.value = number  # @first
        state.value = number + 1  # @second

    fill(1)  # @here
    fill(3)
    thread = threading.Thread(target=fill, args=(90,))
    thread.start()
    thread.join()
    del state.value  # @deleted
    fill(5)
"""


async def test_what_is_local_to_a_thread_is_watched_in_the_dict_of_that_thread(
    api: Api, program: Write, python: str
) -> None:
    """It is written by name, as attributes are: such lines were not taken for ones that write it."""
    code = program(OF_A_THREAD)
    session = await paused(api, code, "here", python)
    await session.post("/data-breakpoints", expression="state.__dict__['value']")
    for old, new, mark in (
        (None, "1", "first"),
        ("1", "2", "second"),
        ("2", "3", "first"),
        ("3", "4", "second"),
        ("4", None, "deleted"),
        (None, "5", "first"),
        ("5", "6", "second"),
    ):
        change = (await session.resume())["change"]
        assert (change["old"], change["new"]) == (old, new)
        assert change["location"]["line"] == code.line(mark)
        assert "inexact" not in change or not change["inexact"]
    assert (await session.resume())["status"] == "terminated"


FORKED = """
    import os
    import sys
    import warnings

    warnings.simplefilter("ignore")

    class Cart:
        __slots__ = ("size", "__dict__")

    cart, prices = Cart(), {"a": 1}
    cart.size = cart.total = 1
    child = os.fork()  # @fork
    cart.total += 1  # @attribute
    cart.size += 1  # @slot
    prices["a"] += 1  # @item
    if child == 0:
        tools = getattr(sys, "monitoring", None)
        names = [tools.get_tool(number) for number in range(6)] if tools else [sys.gettrace()]
        os._exit(len([name for name in names if name]) + 10 * (cart.total != 2))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print("child", code, flush=True)
"""


async def test_a_forked_child_has_none_of_its_parents_data_breakpoints(
    api: Api, program: Write, python: str
) -> None:
    code = program(FORKED)
    session = await paused(api, code, "fork", python)
    for expression in ("cart.total", "cart.size", "prices['a']"):
        await session.post("/data-breakpoints", expression=expression)
    for expression, mark in (
        ("cart.total", "attribute"),
        ("cart.size", "slot"),
        ("prices['a']", "item"),
    ):
        stop = await session.resume()
        assert stop["stop_reason"] == "data_breakpoint"
        change = stop["change"]
        assert (change["expression"], change["old"], change["new"]) == (expression, "1", "2")
        assert change["location"]["line"] == code.line(mark)
    assert (await session.resume())["status"] == "terminated"
    assert await session.printed() == "child 0\n"


async def test_a_column_of_sqlalchemy_is_watched_where_it_is_kept(api: Api, program: Write) -> None:
    pytest.importorskip("sqlalchemy")
    users = program("""
        from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

        class Base(DeclarativeBase):
            pass

        class User(Base):
            __tablename__ = "users"
            id: Mapped[int] = mapped_column(primary_key=True)
            name: Mapped[str]

        user = User(id=1, name="ann")
        user.id = 2  # @here
        user.name = "bob"  # @write
        done = True  # @done
    """)
    session = await paused(api, users, "here", sys.executable)
    await session.post("/data-breakpoints", expression="user.name")
    at = await session.resume()
    assert at["stop_reason"] == "data_breakpoint"
    assert (at["change"]["old"], at["change"]["new"]) == ("'ann'", "'bob'")
    frames = (await session.get("/stacktrace"))["frames"]
    assert users.line("write") in [f["line"] for f in frames if f["source"]["path"] == users.text]

    again = await paused(api, users, "done", sys.executable)
    history = await again.post("/history", expression="user.name")
    assert [one["new"] for one in history["writes"]] == ["'bob'", "'ann'"]


ORDERED = """
    import collections
    import dataclasses
    import functools

    _put = object.__setattr__

    class Slot:
        __slots__ = ("size",)

    def put_size(slot, value):
        _put(slot, "size", value)  # @put_size

    @dataclasses.dataclass
    class Post:
        size: int
        double: int = 0

        def __post_init__(self):
            self.double = self.size * 2  # @doubled

    class Tank:
        level = 0

        def fill(self):
            self.level += 1  # @filled

    top = 0
    below = [top for top in range(3)]

    def set_top(value):
        global top
        top = value  # @top

    def both(tank):
        tank.level = 5; tank.fill()  # @both
        put = setattr
        name = "level"
        put(tank, name, 7)  # @put
        put = None

    post, tank, slot, rate = Post(1), Tank(), Slot(), 0
    counts = collections.defaultdict(int)
    print("start")  # @start
    post.__init__(4)  # @init
    tank.fill()
    both(tank)
    while tank.level < 9: tank.level += 1  # @loop
    set_top(4)
    counts["a"]  # @read
    put_size(slot, 1)
    exec("rate = 5"); rate = 3  # @rate
    exec("rate = 7\\nrate = 8")  # @executed
    post.size = 5; post.size = 6  # @twice
    any(map(functools.partial(setattr, post, "size"), range(10, 2000)))  # @map
    print("over")
"""


async def test_changes_come_in_their_order_each_with_the_line_that_wrote(
    api: Api, program: Write, python: str
) -> None:
    ordered = program(ORDERED)
    session = await paused(api, ordered, "start", python)
    wanted: dict[str, list[tuple[str | None, str, str]]] = {
        # Written by code without a file, whose caller's line is not over when the next write comes.
        "post.double": [("2", "0", "init"), ("0", "8", "doubled")],
        # Until the object has its own it is the class's.
        "tank.level": [
            (None, "1", "filled"),
            ("1", "5", "both"),
            ("5", "6", "filled"),
            ("6", "7", "put"),
            ("7", "8", "loop"),
            ("8", "9", "loop"),
        ],
        "top": [("0", "4", "top")],
        "counts['a']": [(None, "0", "read")],
        # By code in C, under a name that says nothing of it.
        "slot.size": [(None, "1", "put_size")],
        "rate": [
            ("0", "5", "rate"),
            ("5", "3", "rate"),
            ("3", "7", "executed"),
            ("7", "8", "executed"),
        ],
    }
    numbers = {}
    for expression in wanted:
        numbers[expression] = (await session.post("/data-breakpoints", expression=expression))["id"]
    size = await session.post(
        "/data-breakpoints", expression="post.size", condition="old in (4, 5) or new == 1999"
    )
    listed = (await session.get("/data-breakpoints"))["data_breakpoints"]
    noted = {one["expression"]: one["message"] for one in listed if one.get("message")}
    assert list(noted) == ["tank.level"]
    assert "writes to Tank.level are not seen" in noted["tank.level"]
    found = await changes(session)
    for expression, changed in wanted.items():
        mine = [one for one in found if one["id"] == numbers[expression]]
        seen = [(one["old"], one["new"], one["location"]["line"]) for one in mine]
        assert seen == [(old, new, ordered.line(mark)) for old, new, mark in changed], expression
        assert not any(one.get("inexact") or one.get("ended") for one in mine)
    told = [(one["old"], one["new"], one.get("merged")) for one in found if one["id"] == size["id"]]
    by_dict = [("4", "5", None), ("5", "6", None), ("1008", "1999", True)]
    by_lines = [("4", "6", None), ("6", "1999", None)]
    assert told == (by_dict if size["how"] == "dict" else by_lines)


NESTED = """
    class Row:
        __slots__ = ("cells", "size")

        def __init__(self):
            self.cells, self.size = [1, 2, 3], 0

        def drop(self, key):
            return self.dropped(self.cells.pop(key))  # @drop

        def dropped(self, value):
            found = value
            try:
                del self.cells[5]
            except IndexError:
                return found

        def grow(self, size):
            return self.through(setattr(self, "size", size))  # @grow

        def through(self, nothing):
            return self.grown(nothing)

        def grown(self, nothing):
            while True:
                if nothing:
                    self.size = self.size
                return nothing

    def rows(row):
        for key in range(40):
            row.cells = row.cells
            yield row.size

    row = Row()
    cells = row.cells
    print("start")  # @start
    sum(rows(row))
    row.drop(1)
    row.grow(4)
    print("over")
"""


async def test_what_a_line_writes_before_it_calls_what_may_write_too_is_that_lines(
    api: Api, program: Write, python: str
) -> None:
    nested = program(NESTED)
    session = await paused(api, nested, "start", python)
    wanted = {"cells[1]": ("2", "3", "drop"), "row.size": ("0", "4", "grow")}
    for expression in wanted:
        await session.post("/data-breakpoints", expression=expression)
    found = await changes(session)
    seen = {c["expression"]: (c["old"], c["new"], c["location"]["line"]) for c in found}
    assert seen == {
        name: (old, new, nested.line(mark)) for name, (old, new, mark) in wanted.items()
    }
    assert not any(one.get("inexact") for one in found)


ON_ONE_LINE = """
    import threading

    class Doubled:
        def __set_name__(self, owner, name): self.name = "_" + name
        def __set__(self, owner, value): setattr(owner, self.name, 2 * value)

    class Row:
        double = Doubled()

        def __init__(self):
            self.size = 0

    def fill(row):
        print("start")  # @start
        row.double = 3
        row.size, row.double = 1, 4  # @first
        row.double, row.size = 5, 2
        row.size, row.double = 3, 6

    row = Row()
    threading.Thread(target=threading.Event().wait, daemon=True).start()  # no dict is watched
    fill(row)
"""


async def test_what_a_line_writes_before_it_calls_what_is_on_one_line_is_that_lines(
    api: Api, program: Write, python: str
) -> None:
    """Such a function has no event of its line on 3.13, once its calls are none."""
    short = program(ON_ONE_LINE)
    session = await paused(api, short, "start", python)
    await session.post("/data-breakpoints", expression="row.size")
    found = await changes(session)
    first = short.line("first")
    assert [(c["old"], c["new"], c["location"]["line"]) for c in found] == [
        ("0", "1", first),
        ("1", "2", first + 1),
        ("2", "3", first + 2),
    ]
    assert not any(one.get("inexact") for one in found)


SET_ONLY = """
    class Noted:
        def __set_name__(self, owner, name):
            self.name = name

        def __set__(self, owner, value):
            space = owner.__dict__
            space[self.name] = value  # @set

    class Graph:
        edges = Noted()

        def __init__(self, edges):
            self.edges = edges

    graph = Graph(1)
    other = Graph(7)
    print("start")  # @start
    graph.edges = 2
    other.edges = 8
    vars(graph)["edges"] = 3  # @past
    print("over")  # @over
"""


async def test_what_a_descriptor_only_sets_is_watched_where_it_is_kept(
    api: Api, program: Write, python: str
) -> None:
    code = program(SET_ONLY)
    session = await paused(api, code, "start", python)
    await session.post("/data-breakpoints", expression="graph.edges")
    found = [(one["old"], one["new"], one["location"]["line"]) for one in await changes(session)]
    assert found == [("1", "2", code.line("set")), ("2", "3", code.line("past"))]

    again = await paused(api, code, "over", python)
    history = await again.post("/history", expression="graph.edges")
    written = [(one["old"], one["new"]) for one in history["writes"]]
    assert written == [("2", "3"), ("1", "2"), (None, "1")]


SUSPENDED = """
    import asyncio

    class Slot:
        __slots__ = ("size",)

    async def later(value):
        await asyncio.sleep(0)
        return value

    async def add(slot):
        total = 0
        print("start")  # @begun
        total = await later(5)  # @awaited
        slot.size = await later(6)  # @slot
        return total  # @end

    def take(slot):
        total = 0
        print("start")  # @taken
        total = yield  # @yielded
        slot.size = yield  # @sent
        return total  # @over

    asyncio.run(add(Slot()))
    taking = take(Slot())
    next(taking)
    taking.send(5)
    try:
        taking.send(6)
    except StopIteration:
        pass
"""


async def test_what_a_line_writes_that_was_suspended_is_told_at_that_line(
    api: Api, program: Write, python: str
) -> None:
    code = program(SUSPENDED)
    for begun, marks in (
        ("begun", ("awaited", "slot", "end")),
        ("taken", ("yielded", "sent", "over")),
    ):
        session = await paused(api, code, begun, python)
        for expression in ("total", "slot.size"):
            await session.post("/data-breakpoints", expression=expression)
        found = await changes(session)
        seen = [(one["new"], one["location"]["line"], one.get("inexact")) for one in found]
        values = ("5", "6", None)
        assert seen == [
            (new, code.line(mark), None) for new, mark in zip(values, marks, strict=True)
        ]


OUTER_AND_INNER = """
    def inner_variables():
        v = 1  # @one
        [w for w in (1, 2) if [u for u in (1,)] for v in (1, 2)]
        try:
            try:
                [[1 / (v - 2) for v in (1, 2)] for w in (1, 2)]
            finally:
                v = 2  # @two
        except ZeroDivisionError:
            pass
        [[v for v in range(2)] for w in range(2)]
        while v < 4:
            v = max([v for v in (v, v + 1) if v or [v for v in (v,)]])  # @more
        [
            v  # @inside
            for v in (5, 6)
        ]
        print("over")  # @over

    inner_variables()
"""


async def test_a_variable_of_a_comprehension_is_not_the_one_outside_of_the_same_name(
    api: Api, program: Write, python: str
) -> None:
    code = program(OUTER_AND_INNER)
    wanted = [("1", "2", "two"), ("2", "3", "more"), ("3", "4", "more")]
    lines = [(old, new, code.line(mark)) for old, new, mark in wanted]
    session = await paused(api, code, "over", python)
    told = await session.post("/history", expression="v")
    writes = [(w["old"], w["new"], w["location"]["line"]) for w in told["writes"]]
    assert writes[::-1] == [(None, "1", code.line("one")), *lines]
    assert told["complete"] is True

    session = await paused(api, code, "one", python)
    await session.post("/step-over", wait=20)
    await session.post("/data-breakpoints", expression="v")
    found = await changes(session)
    assert found.pop()["ended"] is True
    assert [(one["old"], one["new"], one["location"]["line"]) for one in found] == lines

    session = await paused(api, code, "inside", python)
    top = (await session.get("/stacktrace"))["frames"][0]
    runs_in_frame = top["name"] == "inner_variables"
    for path in ("/data-breakpoints", "/history"):
        if runs_in_frame:
            with pytest.raises(Refused, match="v is the variable of a comprehension here"):
                await session.post(path, expression="v")
        else:
            assert await session.post(path, expression="v")


ONLY_INSIDE = """
    def inner_only(items, also):
        plain = [v for v in items]
        called = [lambda: shared for shared in items]
        several = {w: u for w in items for u in [own for own in items]}
        own = [also for also in items]
        print(plain, called, several, own)  # @over

    at_top = [t for t in (1, 2)]
    print("top")  # @top
    inner_only((1, 2), 3)
"""


async def test_a_variable_that_only_comprehensions_have_is_refused_with_the_reason(
    api: Api, program: Write, python: str
) -> None:
    code = program(ONLY_INSIDE)
    for mark, names in (("top", "t"), ("over", ("v", "shared", "w", "u"))):
        session = await paused(api, code, mark, python)
        for name in names:
            reason = f"{name} is the variable of a comprehension|There is no variable {name} "
            for path in ("/data-breakpoints", "/history"):
                with pytest.raises(Refused, match=reason):
                    await session.post(path, expression=name)
    for name in ("own", "also", "items"):
        assert await session.post("/data-breakpoints", expression=name)


EQUAL_KEYS = """
    import decimal
    import enum

    class Color(str, enum.Enum):
        RED = "red"

    class Place(enum.IntEnum):
        FIRST = 1

    class Other:
        def __hash__(self):
            return hash("red")

        def __eq__(self, other):
            return False

    prices, places = {"red": 0}, {1: 0}
    print("start")  # @start
    prices[Color.RED] = 1  # @enum
    prices[Other()] = 2
    prices.update({Color.RED: 3})  # @update
    prices[Color.RED] = 4  # @again
    places[Place.FIRST] = 1  # @place
    places[True] = 2  # @true
    places[decimal.Decimal(1)] = 3  # @decimal
    print("over")  # @over
"""


async def test_keys_that_a_dict_takes_for_one_are_one(
    api: Api, program: Write, python: str
) -> None:
    code = program(EQUAL_KEYS)
    cases = {
        "prices['red']": [("0", "1", "enum"), ("1", "3", "update"), ("3", "4", "again")],
        "places[1]": [("0", "1", "place"), ("1", "2", "true"), ("2", "3", "decimal")],
    }
    session = await paused(api, code, "start", python)
    for expression in cases:
        await session.post("/data-breakpoints", expression=expression)
    found = await changes(session)
    session = await paused(api, code, "over", python)
    for expression, wanted in cases.items():
        lines = [(old, new, code.line(mark)) for old, new, mark in wanted]
        mine = [one for one in found if one["expression"] == expression]
        assert [(one["old"], one["new"], one["location"]["line"]) for one in mine] == lines
        told = await session.post("/history", expression=expression)
        writes = [(w["old"], w["new"], w["location"]["line"]) for w in told["writes"]]
        assert (writes[::-1][1:], told["complete"]) == (lines, True)


async def test_a_condition_that_does_not_parse_is_told_as_such(api: Api, program: Write) -> None:
    kinds = program(KINDS)
    session = await paused(api, kinds, "start", sys.executable)
    asked = {"expression": "cart.total", "condition": "new >"}
    where = f"/sessions/{session.id}/data-breakpoints"
    error = await refused(api, "BREAKPOINT_INVALID_CONDITION", "POST", where, json=asked)
    assert error.details["field"] == "condition"
    assert error.details["value"] == "new >"
    assert (await session.get("/data-breakpoints"))["data_breakpoints"] == []
