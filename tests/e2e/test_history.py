"""Who wrote a value: the launch is run again, and answers only from an equal stop."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.e2e.api import Api, Refused, Session
from tests.programs import Program

Write = Callable[..., Program]

SHOP = """
    import os
    import sys
    from dataclasses import dataclass

    LIMIT = 5

    @dataclass(frozen=True)
    class Item:
        price: int
        name: str = "thing"

    class Slots:
        __slots__ = ("held",)

    class Cart:
        def __init__(self, owner):
            self.owner = owner
            self.total = 0  # @made

        def add(self, item):
            self.total += item.price  # @added
            return self.total

        def settle(self):
            self.total = self.total  # the same: no change
            del self.owner  # @deleted
            self.owner = "nobody"  # @nobody

    def raise_limit(by):
        global LIMIT
        LIMIT += by  # @raised

    def count(upto):
        total = 0  # @begun
        for total in range(upto):  # @counted
            names = [total for total in range(3)]
        def inner():
            return upto
        return total  # @returned

    def shop(first, seed):
        mine, other = Cart("me"), Cart("you")
        item = Item(7)  # @item
        mine.add(item)
        other.add(Item(1))
        mine.add(Item(len(sys.argv[1])))
        mine.settle()
        raise_limit(2)
        slots = Slots()
        slots.held = first  # @held
        prices = {}
        prices["a"] = 1  # @priced
        prices["b"] = 2
        prices["a"] = 3  # @again
        said = input()
        hashed = hash("text")
        return count(3)  # @shop

    for turn in range(3):  # @turn
        shop(turn, turn * 2)
    print("done")
"""


async def why(session: Session, expression: str, **more: Any) -> dict[str, Any]:
    return dict(await session.post("/history", expression=expression, **more))


def changes(told: dict[str, Any]) -> list[tuple[str | None, str | None, int]]:
    """Newest first: old, new, line."""
    return [(w["old"], w["new"], w["location"]["line"]) for w in told["writes"]]


async def is_complete(
    session: Session,
    program: Program,
    expression: str,
    expected: Sequence[tuple[str | None, str | None, str]],
) -> None:
    """All writes are told, newest first: old, new, the mark of the line."""
    told = await why(session, expression)
    marked = [(old, new, program.line(mark)) for old, new, mark in expected]
    assert changes(told) == marked, told
    assert told["complete"] is True, expression


async def stopped(api: Api, program: Program, mark: str, **launch: Any) -> Session:
    session = await api.session()
    await session.breakpoint(program.text, program.line(mark))
    at = await session.launch(program.text, **launch)
    assert at["current_location"]["line"] == program.line(mark)
    return session


async def test_each_write_of_the_named_object_is_told_and_no_other_objects(
    api: Api, program: Write
) -> None:
    shop = program(SHOP)
    at = shop.line
    session = await api.session()
    await session.breakpoint(shop.text, at("shop"), condition="first == 1")
    await session.launch(
        shop.text, args=["four"], env={"SHOP": "1"}, stdin_inputs=["one", "two", "three"]
    )
    for expression, expected in (
        (
            "mine.total",
            [("7", "11", at("added")), ("0", "7", at("added")), (None, "0", at("made"))],
        ),
        ("other.total", [("0", "1", at("added")), (None, "0", at("made"))]),
        (
            "mine.owner",
            [
                (None, "'nobody'", at("nobody")),
                ("'me'", None, at("deleted")),
                (None, "'me'", at("made") - 1),
            ],
        ),
        ("item.price", [(None, "7", at("item"))]),
        ("slots.held", [(None, "1", at("held"))]),
        ("prices['a']", [("1", "3", at("again")), (None, "1", at("priced"))]),
        ("seed", [(None, "2", at("item") - 2)]),
        (
            "LIMIT",
            [("7", "9", at("raised")), ("5", "7", at("raised")), (None, "5", at("made") - 13)],
        ),
    ):
        told = await why(session, expression)
        assert changes(told) == expected, told
        assert (told["complete"], told["how"], told["runs"]) == (True, "rerun", 2)
        assert "reason" not in told
        assert told["value"] == expected[0][1]
    told = await why(session, "mine.total", limit=1)
    assert (changes(told), told["complete"]) == ([("7", "11", at("added"))], False)
    assert told["reason"] == "2 older writes are left out"
    (write,) = told["writes"]
    assert (write["function"], write["location"]["function"]) == ("add", "add")
    stack = [(frame["function"], frame["path"]) for frame in write["stack"]]
    assert stack == [("add", shop.text), ("shop", shop.text), ("<module>", shop.text)]
    assert [one["session_id"] for one in (await api.get("/sessions"))["items"]] == [session.id]

    # Steps and breakpoints that came later are done again, too.
    await session.breakpoint(shop.text, at("returned"))
    await session.post("/continue", wait=20)
    told = await why(session, "total")
    counted = [("1", "2", at("counted")), ("0", "1", at("counted")), (None, "0", at("begun"))]
    assert changes(told) == counted
    await session.post("/step-out")
    reached = await session.post("/run-to", file=shop.text, line=at("shop"))
    assert reached["reached"] is True
    told = await why(session, "seed", frame_id=0)
    assert changes(told) == [(None, "4", at("item") - 2)]
    told = await why(session, "turn", frame_id=1)
    assert changes(told)[0] == ("1", "2", at("turn"))
    assert (await session.get())["status"] == "paused"


WAYS = """
    import copy

    class Level:
        top = 1  # @body

    class Own:
        def __setattr__(self, name, value):
            super().__setattr__(name, value)  # @own

    class Space:
        pass

    PLACE = 1  # @global

    def ways():
        hits = 0  # @cell
        def hit():
            nonlocal hits
            hits += 1  # @hit
        hit()
        setattr(Level, "top", 2)  # @top
        own = Own()
        own.value = 1
        space = Space()
        setattr(space, "name", 5)  # @setattr
        space.__dict__["name"] = 6  # @dict
        vars(space).update(name=7)  # @update
        twin = copy.copy(space)
        twin.name = 8  # @twin
        prices = {"k": 1, "z": 0}  # @display
        prices |= {"k": 2}  # @merged
        prices.pop("k")  # @popped
        prices["k"] = 3  # @set
        made = {letter: place for place, letter in enumerate("zk")}  # @made
        items = [3, 1, 2]  # @items
        items.sort()  # @sorted
        items.insert(0, 8)  # @inserted
        items[0:1] = [7, 6]  # @slice
        globals().update(PLACE=2)  # @place
        return hits  # @here

    ways()
"""


async def test_an_item_under_a_tuple_is_told_and_no_code_of_other_keys_runs(
    api: Api, program: Write
) -> None:
    cached = program("""
        class Key:
            def __hash__(self):
                return hash("a")

            def __eq__(self, other):
                print("compared", flush=True)
                return self is other

        def put(*key):
            cache[key] = len(key)  # @put

        cache = {}
        put("a", 1)
        cache[Key(), 1] = 0
        cache |= {("a", 1): 4, ("a", 2): 5}  # @merged
        cache["a", 1] += 1  # @more
        put(None, ("b",))
        cache[frozenset(("a",))] = cache[float("inf"),] = 7
        pass  # @here
    """)
    session = await stopped(api, cached, "here")
    await is_complete(
        session,
        cached,
        "cache['a', 1]",
        [("4", "5", "more"), ("2", "4", "merged"), (None, "2", "put")],
    )
    await is_complete(session, cached, "cache[None, ('b',)]", [(None, "2", "put")])
    for expression in ("cache[frozenset(('a',))]", "cache[float('inf'),]"):
        with pytest.raises(Refused) as refused:
            await why(session, expression)
        assert (refused.value.code, refused.value.status) == ("INVALID_REQUEST", 400)
        assert "Only numbers, texts and tuples of them" in refused.value.message


async def test_every_way_to_write_is_seen(api: Api, program: Write) -> None:
    ways = program(WAYS)
    session = await stopped(api, ways, "here")
    for expression, expected in (
        ("hits", [("0", "1", "hit"), (None, "0", "cell")]),
        ("Level.top", [("1", "2", "top"), (None, "1", "body")]),
        ("own.value", [(None, "1", "own")]),
        ("space.name", [("6", "7", "update"), ("5", "6", "dict"), (None, "5", "setattr")]),
        (
            "prices['k']",
            [
                (None, "3", "set"),
                ("2", None, "popped"),
                ("1", "2", "merged"),
                (None, "1", "display"),
            ],
        ),
        ("made['k']", [(None, "1", "made")]),
        (
            "items[0]",
            [
                ("8", "7", "slice"),
                ("1", "8", "inserted"),
                ("3", "1", "sorted"),
                (None, "3", "items"),
            ],
        ),
        ("PLACE", [("1", "2", "place"), (None, "1", "global")]),
    ):
        await is_complete(session, ways, expression, expected)
    told = await why(session, "twin.name")
    assert changes(told)[0] == ("7", "8", ways.line("twin"))
    assert [w["location"]["function"] for w in told["writes"]] == ["ways", "_reconstruct"]
    assert told["complete"] is True


async def test_an_argument_that_functions_share_came_with_the_call(
    api: Api, program: Write
) -> None:
    """Each call has a variable of its own, also of generators, and where one call is within another."""
    shared = program("""
        def ways(first, *more, rate=2):  # @def
            def add(by):
                nonlocal first
                first += by  # @added
            if first:
                ways(first - 1, rate=0)
            add(rate)
            if more:
                pass  # @here
            return sum(rate * one for one in more)

        def given(items, count):  # @given
            yield [count for _ in items]
            count += 1  # @more
            yield lambda: count  # @inside

        ways(1, 3, 4)
        list(given([3], 7))
    """)
    session = await stopped(api, shared, "here")
    for expression, expected in (
        ("first", [("1", "3", "added"), (None, "1", "def")]),
        ("more", [(None, "(3, 4)", "def")]),
        ("rate", [(None, "2", "def")]),
    ):
        await is_complete(session, shared, expression, expected)
    session = await stopped(api, shared, "inside")
    await is_complete(session, shared, "count", [("7", "8", "more"), (None, "7", "given")])


BY_CODE_IN_C = """
    import decimal
    import weakref
    from functools import partial

    class Slots:
        __slots__ = ("held", "__weakref__")

    class Rules(decimal.Context):  # has a way of its own to set attributes
        pass

    class Space:
        pass

    def ways():
        slots = Slots()
        slots.held = 1  # @plain
        Slots.held.__set__(slots, 2)  # @descriptor
        Slots.held.__delete__(slots)  # @deleted
        Slots.__dict__["held"].__set__(slots, 3)  # @again
        weakref.proxy(slots).held = 4  # @slot_proxy
        rules = Rules()
        rules.level = 1  # @rule
        rules.level += 1  # @more
        space = Space()
        space.name = 1  # @space
        proxy = weakref.proxy(space)
        proxy.name = 2  # @proxy
        put = partial(setattr, space, "name")
        put(3)  # @partial
        partial(setattr, space)("name", 4)  # @at_once
        del proxy.name  # @gone
        space.name = 5  # @last
        return slots  # @here

    ways()
"""


async def test_what_code_in_c_writes_for_a_statement_is_seen(api: Api, program: Write) -> None:
    ways = program(BY_CODE_IN_C)
    session = await stopped(api, ways, "here")
    for expression, expected in (
        (
            "slots.held",
            [
                ("3", "4", "slot_proxy"),
                (None, "3", "again"),
                ("2", None, "deleted"),
                ("1", "2", "descriptor"),
                (None, "1", "plain"),
            ],
        ),
        (
            "space.name",
            [
                (None, "5", "last"),
                ("4", None, "gone"),
                ("3", "4", "at_once"),
                ("2", "3", "partial"),
                ("1", "2", "proxy"),
                (None, "1", "space"),
            ],
        ),
        ("rules.level", [("1", "2", "more"), (None, "1", "rule")]),
    ):
        await is_complete(session, ways, expression, expected)


UNSEEN = """
    import json

    found = json.loads('{"k": 1}')
    found["k"] = 2  # @seen
    name = type("Made", (), {"level": 1})
    def local(): pass  # @function
    pass  # @here
"""


async def test_what_code_in_c_wrote_is_said_to_be_missing(api: Api, program: Write) -> None:
    unseen = program(UNSEEN)
    session = await stopped(api, unseen, "here")
    told = await why(session, "found['k']")
    assert (changes(told), told["complete"]) == ([("1", "2", unseen.line("seen"))], False)
    assert told["reason"].startswith("what wrote before was not seen")
    told = await why(session, "name.level")
    assert (told["writes"], told["complete"]) == ([], False)
    assert told["reason"].startswith("no write was seen")
    told = await why(session, "local")  # whose text has an address: it is another in each run
    assert (told["complete"], told["writes"][0]["location"]["line"]) == (
        True,
        unseen.line("function"),
    )


async def test_what_looks_at_files_may_have_been_replaced_by_the_program(
    api: Api, program: Write
) -> None:
    """blockbuster does so, and lets pydevd and `linecache` look."""
    guarded = program("""
        import asyncio
        import os
        import sys

        def refusing(look):
            def refuse(*path):
                frame = sys._getframe()
                while frame is not None:
                    if frame.f_globals["__name__"] in ("pydevd_file_utils", "linecache"):
                        return look(*path)
                    frame = frame.f_back
                raise RuntimeError("no file is looked at here")
            return refuse

        async def late(cart):
            cart["total"] = 3  # @written
            raise KeyError("lost")  # @raise

        async def main():
            for module, name in ((os, "stat"), (os.path, "abspath"), (os.path, "isfile")):
                setattr(module, name, refusing(getattr(module, name)))
            task = asyncio.create_task(late({}))
            await asyncio.wait([task])
            del task
            await asyncio.sleep(0)

        asyncio.run(main())
    """)
    session = await api.session()
    at = await session.launch(guarded.text, stop_on_exception="uncaught")
    assert (at["ends"], at["current_location"]["line"]) == ("task", guarded.line("raise"))
    await is_complete(session, guarded, "cart['total']", [(None, "3", "written")])


async def test_the_stop_of_a_failure_is_come_to_again(api: Api, program: Write) -> None:
    failing = program("""
        class Account:
            def __init__(self, rate):
                self.rate = rate  # @set

        def clear(account):
            account.rate = 0  # @cleared

        def share(account):
            return 100 / account.rate  # @fails

        account = Account(3)
        share(account)
        clear(account)
        share(account)
    """)
    session = await api.session()
    at = await session.launch(failing.text)
    assert at["stop_reason"] == "exception"
    told = await why(session, "account.rate")
    assert changes(told) == [("3", "0", failing.line("cleared")), (None, "3", failing.line("set"))]
    assert told["complete"] is True


async def test_the_stop_of_a_function_breakpoint_is_come_to_again(api: Api, program: Write) -> None:
    settled = program("""
        class Account:
            def __init__(self, rate):
                self.rate = rate  # @set

            def settle(self, by):
                self.rate += by  # @settled

        account = Account(3)
        for by in (1, 2, 5):
            account.settle(by)
    """)
    session = await api.session()
    await session.post("/breakpoints", function="Account.settle", condition="by > 1")
    at = await session.launch(settled.text)
    assert at["stop_reason"] == "function breakpoint"
    assert (await session.resume())["current_location"]["function"] == "settle"
    told = await why(session, "self.rate")
    assert changes(told) == [
        ("4", "6", settled.line("settled")),
        ("3", "4", settled.line("settled")),
        (None, "3", settled.line("set")),
    ]
    assert told["complete"] is True


CHANGING = """
    import os
    import sys
    from pathlib import Path

    mark = Path(sys.argv[1])

    class Box:
        value = None

    def work():
        box = Box()
        box.value = 1
        times = int(mark.read_text()) + 1 if mark.exists() else 1
        mark.write_text(str(times))
        if times > 1 and len(sys.argv) > 2:
            exec(sys.argv[2])
        if len(sys.argv) > 2:
            del times
        return box  # @here

    work()
"""


async def test_a_run_that_is_not_equal_is_said_to_be_so_and_never_guessed_from(
    api: Api, program: Write, tmp_path: Path
) -> None:
    changing = program(CHANGING)
    for number, (code, difference) in enumerate(
        (
            (None, "the local times is not the same"),
            ("raise SystemExit('port taken')", "ended before the stop, with exit code 1: port"),
            ("box.value = 2", "box.value is not the same"),
            ("1 / 0", "the first (breakpoint) at"),
        )
    ):
        args = [str(tmp_path / f"mark{number}"), *([] if code is None else [code])]
        session = await stopped(api, changing, "here", args=args)
        told = await why(session, "box.value")
        assert (told["complete"], told["reason"]) == (False, "not deterministic"), told
        assert told["writes"] == []
        assert difference in told["difference"]
        assert told["value"] == "1"
        await session.delete("")


CACHED = """
    import sys
    import time
    from pathlib import Path

    cache = Path(sys.argv[1])

    class Config:
        pass

    def compute(config):
        print("computed", file=sys.stderr if sys.argv[2:] else sys.stdout)
        config.rate = 42  # @computed

    def load(config):
        config.rate = int(cache.read_text())  # @loaded

    config = Config()
    print(config, time.time(), f"{time.perf_counter():.0f} s")
    if cache.exists():
        load(config)
    else:
        compute(config)
        cache.write_text("42")
    pass  # @here
"""


@pytest.mark.parametrize("more", [(), ("error",)])
async def test_a_run_that_printed_something_else_is_not_said_to_be_equal(
    api: Api, program: Write, tmp_path: Path, more: tuple[str, ...]
) -> None:
    cached, args = program(CACHED), [str(tmp_path / "cache"), *more]
    session = await stopped(api, cached, "here", args=args)
    told = await why(session, "config.rate")
    assert changes(told) == [(None, "42", cached.line("loaded"))]
    assert told["complete"] is False
    assert told["reason"].endswith("it printed something else")
    stream = "line 1 of standard error" if more else "line 2 of standard output"
    assert told["difference"] == f"{stream} is not there, it was 'computed'"
    await session.delete("")

    # Both load it now: where the object lies, and what time it is, makes no difference.
    session = await stopped(api, cached, "here", args=args)
    await is_complete(session, cached, "config.rate", [(None, "42", "loaded")])


async def test_a_second_run_that_does_not_arrive_is_ended(
    api: Api, program: Write, tmp_path: Path
) -> None:
    changing = program(CHANGING)
    args = [str(tmp_path / "mark"), "__import__('time').sleep(600)"]
    session = await stopped(api, changing, "here", args=args)
    told = await why(session, "box.value", wait=2)
    assert told["reason"] == "the second run did not come to this stop within 2 s"
    assert (told["complete"], told["writes"]) == (False, [])
    assert (await session.get())["status"] == "paused"


async def test_those_who_ask_together_wait_no_longer_than_they_say(
    api: Api, program: Write, tmp_path: Path
) -> None:
    changing = program(CHANGING)
    args = [str(tmp_path / "mark"), "__import__('time').sleep(600)"]
    session = await stopped(api, changing, "here", args=args)
    reasons: list[str] = []

    async def ask() -> None:
        told = await why(session, "box.value", wait=2)
        reasons.append(told["reason"])

    began = trio.current_time()
    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(ask)
    assert trio.current_time() - began < 6  # one after the other they would take eight
    late = "the second run did not come to this stop within 2 s"
    others = f"{late}, since others asked before, each with a run of its own"
    assert sorted(reasons) == [late, others, others, others]


async def test_a_second_run_that_takes_long_is_said_to_be_under_way_and_ends_with_the_stop(
    api: Api, program: Write, tmp_path: Path
) -> None:
    changing = program(CHANGING)
    args = [str(tmp_path / "mark"), "__import__('time').sleep(600)"]
    session = await stopped(api, changing, "here", args=args)
    refused: list[str] = []

    async def ask() -> None:
        with pytest.raises(Refused) as caught:
            await why(session, "box.value", wait=300)
        refused.append(f"{caught.value.code}: {caught.value}")

    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            told = await session.get("/events?types=warning&timeout=30")
            assert "run again, out of sight" in told["events"][0]["body"]["message"]
            assert "300 s" in told["events"][0]["body"]["message"]
            await session.post("/continue", wait=20)
    assert "INVALID_SESSION_STATE" in refused[0]
    assert "went on" in refused[0]


async def test_a_second_run_ends_with_its_session(api: Api, program: Write, tmp_path: Path) -> None:
    changing = program(CHANGING)
    mark = tmp_path / "mark"
    session = await stopped(
        api, changing, "here", args=[str(mark), "__import__('time').sleep(600)"]
    )
    refused: list[str] = []

    async def ask() -> None:
        with pytest.raises(Refused) as caught:
            await why(session, "box.value", wait=300)
        refused.append(caught.value.code)

    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            while mark.read_text() != "2":  # the second run is there
                await session.get()
            await session.delete("")
    assert refused == ["INVALID_SESSION_STATE"]


async def test_code_that_was_edited_since_is_not_taken_for_the_same(
    api: Api, program: Write
) -> None:
    shop = program(SHOP)
    session = await stopped(api, shop, "shop", args=["four"], stdin_inputs=["one", "two", "three"])
    shop.path.write_text(shop.path.read_text() + "\n# edited\n")
    told = await why(session, "mine.total")
    assert (told["reason"], told["writes"]) == ("not deterministic", [])
    assert told["difference"] == f"{shop.text} was changed since the program was started"


async def test_the_hash_seed_is_the_same_in_both_runs_and_nothing_the_program_sees(
    api: Api, program: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)  # tox sets one
    seeded = program("""
        import os
        import subprocess
        import sys

        names = {"one", "two", "three", "four"}
        order = list(names)
        seed = os.environ.get("PYTHONHASHSEED")
        child = subprocess.run(["printenv", "PYTHONHASHSEED"], capture_output=True).stdout
        flags = str(sys.flags)
        first = hash("text")
        pass  # @here
    """)
    session = await stopped(api, seeded, "here")
    told = await why(session, "first")
    assert changes(told) == [(None, told["value"], seeded.line("here") - 1)]
    plain = await trio.run_process(
        [sys.executable, "-c", "import sys; print(sys.flags)"], capture_stdout=True
    )
    flags = plain.stdout.decode().strip()
    for name, value in (("seed", "None"), ("child", "b''"), ("flags", repr(flags))):
        told = await session.post("/evaluate", expression=name)
        assert told["result"] == value


async def test_what_cannot_be_asked_is_refused_with_the_reason(api: Api, program: Write) -> None:
    shop = program(SHOP)
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await why(session, "mine.total")
    assert (refused.value.code, refused.value.status) == ("INVALID_SESSION_STATE", 409)
    await session.breakpoint(shop.text, shop.line("shop"))
    await session.launch(shop.text, args=["four"], stdin_inputs=["one", "two", "three"])
    for code, words, body in (
        ("INVALID_REQUEST", "There is no variable zz", {"expression": "zz"}),
        ("INVALID_REQUEST", "AttributeError", {"expression": "mine.x.y"}),
        ("INVALID_REQUEST", "result of a call", {"expression": "count(3)"}),
        ("EVALUATE_ERROR", "SyntaxError", {"expression": "mine."}),
        ("FRAME_NOT_FOUND", "does not exist", {"expression": "mine", "frame_id": 9}),
        ("INVALID_REQUEST", "limit", {"expression": "mine", "limit": 0}),
        ("INVALID_REQUEST", "wait", {"expression": "mine", "wait": 0}),
    ):
        with pytest.raises(Refused) as refused:
            await session.post("/history", **body)
        assert refused.value.code == code
        assert words in f"{refused.value.message} {refused.value.details}"
    await session.post("/goto", line=shop.line("shop") - 1)
    with pytest.raises(Refused) as refused:
        await why(session, "mine.total")
    assert (refused.value.code, refused.value.status) == ("NOT_SUPPORTED", 501)
    assert "the next line was set by hand" in refused.value.message
    assert "with `record`" in refused.value.details["suggestion"]


async def test_functions_that_are_given_a_list_are_seen_to_write_it(
    api: Api, program: Write
) -> None:
    heap = program("""
        import heapq
        from bisect import insort

        def main():
            row = [3, 4]  # @made
            heapq.heappush(row, 1)  # @pushed
            insort(row, 0)  # @sorted
            return row  # @end

        main()
    """)
    session = await stopped(api, heap, "end")
    answer = await why(session, "row[0]")
    assert (answer["complete"], changes(answer)) == (
        True,
        [
            ("1", "0", heap.line("sorted")),
            ("3", "1", heap.line("pushed")),
            (None, "3", heap.line("made")),
        ],
    )


TWINS = """
    SOURCE = "def put(one, value):\\n    one.value = value\\n"

    class Box:
        pass

    def made():
        names = {}
        exec(SOURCE, names)
        return names["put"]

    first, second = made(), made()
    box = Box()
    first(box, 1)  # @first
    second(box, 2)  # @second
    print(box.value)  # @twins
"""


async def test_functions_whose_code_is_equal_are_heard_each(api: Api, program: Write) -> None:
    twins = program(TWINS)
    session = await stopped(api, twins, "twins")
    told = await why(session, "box.value")
    expected = [("1", "2", twins.line("second")), (None, "1", twins.line("first"))]
    assert changes(told) == expected, told
    assert told["complete"]


NOT_YET = """
    class Job:
        def __init__(self):
            print("begun")  # @begun
            self.state = 1

    def work(flag):
        if flag:
            late = 1
        print("end")  # @end

    Job()
    work(False)
    work(True)
"""


async def test_what_has_had_no_value_yet_came_with_nothing(api: Api, program: Write) -> None:
    code = program(NOT_YET)
    launches: list[dict[str, Any]] = [{}, {"record": ["Job.__init__:self.state", "work:late"]}]
    for launch in launches:
        session = await api.session()
        for mark in ("begun", "end"):
            await session.breakpoint(code.text, code.line(mark))
        await session.launch(code.text, **launch)
        told = await session.post("/history", expression="self.state", wait=60)
        assert (told["value"], told["writes"], told["complete"]) == (None, [], False)
        assert told["reason"].startswith("no write was seen: it never had a value")
        await session.resume()
        told = await session.post("/history", expression="late", wait=60)
        assert (told["value"], told["writes"], told["complete"]) == (None, [], True)
        await session.resume()
        told = await session.post("/history", expression="late", wait=60)
        assert [(one["old"], one["new"]) for one in told["writes"]] == [(None, "1")]
        assert told["complete"] is True


OF_A_THREAD = """
    import threading

    class State(threading.local):
        pass

    state, other = threading.local(), State()

    def work(number):
        state.value = number  # @first
        state.value = number + 1  # @second
        del state.value  # @deleted
        setattr(state, "value", number + 2)  # @set
        state.__dict__.update(value=number + 3)  # @updated
        other.value = number  # @other
        return number  # @here

    def run(number):
        thread = threading.Thread(target=work, args=(number,))
        thread.start()
        thread.join()

    work(1)
    run(10)
    work(20)
"""


@pytest.mark.parametrize("number", [1, 10])
async def test_what_is_local_to_a_thread_has_the_writes_of_that_thread(
    api: Api, program: Write, number: int
) -> None:
    """Its attributes are written by name: items of that dict were looked for, and no write was seen."""
    code = program(OF_A_THREAD)
    session = await api.session()
    await session.breakpoint(code.text, code.line("here"), condition=f"number == {number}")
    await session.launch(code.text)
    told = await why(session, "state.__dict__['value']")
    texts = [None if n is None else str(number + n) for n in (3, 2, None, 1, 0)]
    assert [(one["old"], one["new"]) for one in told["writes"]] == [
        *zip(texts[1:], texts, strict=False),
        (None, texts[-1]),
    ]
    marks = ["updated", "set", "deleted", "second", "first"]
    assert [one["location"]["line"] for one in told["writes"]] == [code.line(m) for m in marks]
    assert told["complete"] is True
    (write,) = (await why(session, "other.__dict__['value']"))["writes"]
    assert (write["old"], write["new"]) == (None, str(number))
    assert write["location"]["line"] == code.line("other")


SETTER = """
    def put(owner, name, value):
        owner.__dict__[name] = value  # @put

    def assign(owner, name, value):
        put(owner, name, value)
"""

ASSIGNED = """
    import sys
    sys.path.append("site-packages")
    from setter import assign

    class Order:
        def fill(self):
            assign(self, "total", 3)  # @assign

    order = Order()
    order.fill()
    print(order.total)  # @here
"""


async def test_of_a_write_by_a_library_the_line_that_had_it_written_is_told(
    api: Api, program: Write, tmp_path: Path
) -> None:
    setter = Program.write(tmp_path / "site-packages" / "setter.py", SETTER)
    code = program(ASSIGNED)
    session = await stopped(api, code, "here", cwd=str(tmp_path))
    (write,) = (await why(session, "order.total"))["writes"]
    assert (write["source"], write["location"]["line"]) == (
        "owner.__dict__[name] = value  # @put",
        setter.line("put"),
    )
    told = [(frame["function"].rpartition(".")[2], frame.get("source")) for frame in write["stack"]]
    assert told == [
        ("put", None),
        ("assign", None),
        ("fill", 'assign(self, "total", 3)  # @assign'),
        ("<module>", None),
    ]
