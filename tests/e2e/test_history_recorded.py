"""Who wrote a value, from the log that a launch has asked for: no second run is made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api, Refused, Session
from tests.e2e.test_history import CHANGING, SHOP, UNSEEN, WAYS, changes, is_complete, why
from tests.programs import Program

Write = Callable[..., Program]

ONCE = """
    import sys
    import threading
    from pathlib import Path

    runs = Path(sys.argv[1])
    runs.write_text(str(int(runs.read_text()) + 1 if runs.exists() else 1))
    LIMIT = 1  # @global

    class Account:
        __slots__ = ("rate",)
        def __init__(self, rate):
            self.rate = rate  # @made
            self.__hidden(rate)
        def __hidden(self, rate):
            rate += 1  # @raised
            return rate  # @hidden

    class Book:
        def __init__(self):
            self.__count = 0  # @counted
        def add(self):
            self.__count += 1  # @added
            return self  # @book

    def work(kept):
        account = Account(2)
        account.rate = 3  # @written
        prices = {1: "one", True: "yes"}  # @priced
        total = 0  # @local
        def more():
            nonlocal total
            total += 1  # @more
        more()
        for thread in [threading.Thread(target=more) for _ in range(3)]:
            thread.start()
            thread.join()
        global LIMIT
        LIMIT += 1  # @limit
        Book().add()
        return account  # @here

    work([])
    work([1])  # @again
"""


@pytest.fixture(params=["3.11", "3.12", "3.13"])
def python(request: pytest.FixtureRequest) -> str:
    return installed_python(request.param)


async def recorded_at(
    api: Api,
    code: Program,
    mark: str,
    *expressions: str,
    at: str = "",
    python: str | None = None,
    **launch: Any,
) -> Session:
    """A session at a line; what the launch recorded is of `at`, or else of that line."""
    session = await api.session(**({} if python is None else {"python_path": python}))
    await session.breakpoint(code.text, code.line(mark))
    place = at or f"main.py:{code.line(mark)}"
    record = [f"{place}:{expression}" for expression in expressions]
    stop = await session.launch(code.text, record=record, **launch)
    assert stop["current_location"]["line"] == code.line(mark)
    return session


async def test_every_kind_of_state_is_answered_without_a_second_run(
    api: Api, program: Write, tmp_path: Path
) -> None:
    once, runs = program(ONCE), tmp_path / "runs"
    at = once.line
    expressions = ["account.rate", "prices[1]", "total", "LIMIT", "kept", "work", "sys.argv"]
    session = await recorded_at(api, once, "here", *expressions, args=[str(runs)])
    for expression, expected in (
        ("account.rate", [("2", "3", at("written")), (None, "2", at("made"))]),
        ("prices[1]", [(None, "'yes'", at("priced"))]),
        (
            "total",
            [*((str(n), str(n + 1), at("more")) for n in (3, 2, 1, 0)), (None, "0", at("local"))],
        ),
        ("LIMIT", [("1", "2", at("limit")), (None, "1", at("global"))]),
        ("kept", [(None, "[]", at("written") - 2)]),
    ):
        told = await why(session, expression)
        assert (changes(told), told["complete"]) == (expected, True), told
        assert (told["how"], told["runs"]) == ("recorded", 1)
    assert runs.read_text() == "1"

    # The log goes on from stop to stop, and is asked after what no second run could repeat.
    await session.breakpoint(once.text, at("again"))
    await session.post("/continue", wait=20)
    await session.post("/continue", wait=20)
    told = await why(session, "LIMIT")
    assert changes(told)[0] == ("2", "3", at("limit"))
    told = await why(session, "kept")
    assert changes(told) == [(None, "[1]", at("written") - 2)]
    assert (told["how"], runs.read_text()) == ("recorded", "1")


async def test_the_place_says_what_a_private_name_means(
    api: Api, program: Write, tmp_path: Path
) -> None:
    once, args = program(ONCE), [str(tmp_path / "runs")]
    for at in ("", "Book.add"):
        session = await recorded_at(api, once, "book", "self.__count", at=at, args=args)
        told = await why(session, "self.__count")
        expected = [("0", "1", once.line("added")), (None, "0", once.line("counted"))]
        assert (changes(told), told["how"], told["complete"]) == (expected, "recorded", True)
        await session.delete("")
    session = await recorded_at(api, once, "hidden", "rate", at="Account.__hidden", args=args)
    told = await why(session, "rate")
    raised = once.line("raised")
    assert changes(told) == [("2", "3", raised), (None, "2", raised - 1)]
    assert told["how"] == "recorded"


OF_THE_SHOP: dict[str, Any] = {"args": ["four"], "stdin_inputs": ["one"]}


@pytest.mark.parametrize(
    ("source", "mark", "expressions", "launch"),
    [
        (SHOP, "shop", ["mine.total", "item.price", "slots.held"], OF_THE_SHOP),
        (SHOP, "returned", ["total"], OF_THE_SHOP),
        (
            WAYS,
            "here",
            ["hits", "Level.top", "space.name", "prices['k']", "items[0]", "PLACE"],
            {},
        ),
        (UNSEEN, "here", ["found['k']", "name.level"], {}),
    ],
)
async def test_the_answer_is_that_of_a_second_run(
    api: Api, program: Write, source: str, mark: str, expressions: list[str], launch: dict[str, Any]
) -> None:
    """Each is recorded by a launch of its own; second runs are those of one launch."""
    code = program(source)
    unrecorded = await recorded_at(api, code, mark, **launch)
    for expression in expressions:
        session = await recorded_at(api, code, mark, expression, **launch)
        recorded = await why(session, expression)
        await session.delete("")
        again = await why(unrecorded, expression)
        assert (recorded.pop("how"), recorded.pop("runs")) == ("recorded", 1), expression
        assert (again.pop("how"), again.pop("runs")) == ("rerun", 2), expression
        assert recorded == again, expression


async def test_what_was_not_recorded_takes_a_second_run(
    api: Api, program: Write, tmp_path: Path
) -> None:
    changing, mark = program(CHANGING), tmp_path / "mark"
    session = await recorded_at(api, changing, "here", "box.value", args=[str(mark)])
    assert (await why(session, "box.value"))["how"] == "recorded"
    assert mark.read_text() == "1"
    told = await why(session, "times")
    assert (told["how"], told["reason"]) == ("rerun", "not deterministic")
    assert mark.read_text() == "2"


async def test_where_no_second_run_can_come_a_refusal_says_why_the_record_has_no_answer(
    api: Api, program: Write, tmp_path: Path, python: str
) -> None:
    """Who has recorded is not told to record, without a word of what became of that."""
    once = program(ONCE)
    args = [str(tmp_path / "runs")]
    session = await recorded_at(api, once, "here", "account.rate", python=python, args=args)
    traced = await session.post("/trace", function="Account.__init__", wait=30)
    assert traced["complete"] is True
    keeps = (await session.evaluate("sys.version_info >= (3, 12)"))["result"] == "True"
    expression = "rate" if keeps else "self.rate"
    with pytest.raises(Refused) as refused:
        await why(session, expression)
    assert "is not among what the launch had recorded, or a trace" in refused.value.message
    if keeps:
        assert (await why(session, "self.rate"))["how"] == "recorded"


async def test_what_a_client_writes_is_none_of_the_programs_writes(
    api: Api, program: Write, tmp_path: Path
) -> None:
    once = program(ONCE)
    session = await recorded_at(
        api, once, "here", "account.rate", "total", args=[str(tmp_path / "runs")]
    )
    for text in ("[setattr(account, 'rate', n) for n in (8, 3)]", "more()"):
        await session.post("/evaluate", expression=text)
    told = await why(session, "account.rate")
    written = [("2", "3", once.line("written")), (None, "2", once.line("made"))]
    assert (changes(told), told["complete"]) == (written, True)
    told = await why(session, "total")
    assert (told["value"], told["writes"][0]["new"], told["complete"]) == ("5", "4", False)
    assert told["reason"].startswith("what wrote last was not seen")


async def test_lines_of_a_file_that_was_edited_since_are_not_shown(
    api: Api, program: Write, tmp_path: Path
) -> None:
    once = program(ONCE)
    session = await recorded_at(api, once, "here", "account.rate", args=[str(tmp_path / "runs")])
    assert (await why(session, "account.rate"))["writes"][0]["source"] == (
        "account.rate = 3  # @written"
    )
    written = once.line("written")
    once.path.write_text("# another line\n" + once.path.read_text())
    told = await why(session, "account.rate")
    assert (told["how"], told["complete"], told["writes"][0]["location"]["line"]) == (
        "recorded",
        True,
        written,
    )
    assert "source" not in told["writes"][0]


async def test_a_record_that_cannot_be_is_refused_before_anything_runs(
    api: Api, program: Write, tmp_path: Path
) -> None:
    once, runs = program(ONCE), tmp_path / "runs"
    session = await api.session()
    for text, reason in (
        ("account.rate", "expected FILE:LINE:EXPR or FUNCTION:EXPR"),
        ("main.py:account.rate", "expected FILE:LINE:EXPR or FUNCTION:EXPR"),
        ("main.py:1:a b", "'a b' is no expression"),
        ("main.py:1:f(x)", "name a variable, an attribute or an item"),
        ("none.py:1:x", "No such file or directory"),
        (f"main.py:{once.line('made') - 4}:x", "has no code: the nearest is"),
        ("work:prices[name]", "only an item under a number, a text or a tuple of them is known"),
    ):
        with pytest.raises(Refused) as refused:
            await session.launch(once.text, record=[text], args=[str(runs)])
        assert (refused.value.code, reason in refused.value.message) == ("INVALID_REQUEST", True), (
            refused.value.message
        )
        assert (await session.get())["status"] in ("created", "terminated")
    assert not runs.exists()
    perl = tmp_path / "main.pl"
    perl.write_text("print 1;\n")
    other = await api.session(adapter="perl")
    with pytest.raises(Refused) as refused:
        await other.launch(str(perl), record=["main.pl:1:x"])
    assert refused.value.code == "NOT_SUPPORTED"


async def test_a_data_breakpoint_and_steps_have_their_place_beside_a_record(
    api: Api, program: Write, python: str, tmp_path: Path
) -> None:
    counting = program("""
        class Cart:
            total = 0

        def count(cart):
            for number in range(1, 50):
                cart.total += number  # @added
            return cart  # @counted

        cart = Cart()
        cart.total = 0  # @zero
        count(cart)  # @here
    """)
    session = await recorded_at(api, counting, "here", "cart.total", python=python)
    await session.post("/data-breakpoints", expression="cart.total")
    await session.post("/step-into")
    for total in (1, 3, 6, 10):
        stop = await session.resume()
        assert (stop["stop_reason"], stop["change"]["new"]) == ("data_breakpoint", str(total))
        await session.post("/step-over")
    told = await why(session, "cart.total")
    assert changes(told)[:2] == [
        ("6", "10", counting.line("added")),
        ("3", "6", counting.line("added")),
    ]
    assert (told["how"], told["complete"], len(told["writes"])) == ("recorded", True, 5)
    for one in (await session.get("/data-breakpoints"))["data_breakpoints"]:
        await session.delete(f"/data-breakpoints/{one['id']}")
    await session.breakpoint(counting.text, counting.line("counted"))
    await session.resume()
    told = await why(session, "cart.total")
    assert (told["writes"][0]["new"], told["complete"]) == ("1225", False)
    assert told["reason"] == "40 older writes are left out"


async def test_a_data_breakpoint_in_the_code_that_writes_leaves_the_log_whole(
    api: Api, program: Write, python: str
) -> None:
    """Both look at one code's lines: CPython forgets the first instruction of a line left out."""
    both = program("""
        class Counter:
            __slots__ = ("other",)

        def turn(counter):
            for (
                count
            ) in range(3):
                count += 10
            counter.other = count
            for (
                count
            ) in "ab": pass
            return count  # @done

        counter = Counter()
        counter.other = 0
        ready = True  # @ready
        turn(counter)
    """)
    expected = await logged(api, both, python)
    assert len(expected) == 3 * 2 + 2
    assert await logged(api, both, python, watched="counter.other") == expected


@pytest.mark.parametrize("version", ["3.12", "3.13"])
async def test_lines_that_write_nothing_keep_their_speed_beside_what_is_recorded(
    api: Api, program: Write, version: str
) -> None:
    """Neither in a function that writes elsewhere, nor is a write lost with which a line begins."""
    timed = program("""
        import time

        class Box:
            pass

        box = Box()

        def bare(turns):
            total = 0
            for turn in range(turns):
                total += turn
                total -= 1
            return total

        def hot(turns):
            total = 0
            for turn in range(turns):
                total += turn
                total -= 1
            box.total = total
            if turns < 0:
                return 0  # @never
            return total

        def many(turns):
            for (
                kept
            ) in range(turns):
                kept += 10
            del kept
            kept = 7
            return kept  # @done

        def seconds(loop):
            started = time.thread_time()
            loop(20_000)
            return time.thread_time() - started

        ratio = min(seconds(hot) for _ in range(3)) / min(seconds(bare) for _ in range(3))
        many(3)
    """)
    session = await api.session(python_path=installed_python(version))
    for mark in ("never", "done"):
        await session.breakpoint(timed.text, timed.line(mark))
    place = f"main.py:{timed.line('done')}"
    await session.launch(timed.text, record=[f"{place}:kept", f"{place}:box.total"])
    ratio = float((await session.evaluate("ratio", frame_id=1))["result"])
    assert ratio < 5, "told of every line it takes forty times as long"
    told = await why(session, "kept", limit=100)
    assert told["complete"]
    assert len(told["writes"]) == 3 * 2 + 2
    await session.delete()


async def logged(api: Api, both: Program, python: str, watched: str | None = None) -> list[Any]:
    """What the log has of `count`, while something else changes that is watched."""
    place = f"main.py:{both.line('done')}"
    session = await recorded_at(api, both, "ready", "count", at=place, python=python)
    await session.breakpoint(both.text, both.line("done"))
    if watched is not None:
        await session.post("/data-breakpoints", expression=watched)
        assert (await session.resume())["stop_reason"] == "data_breakpoint"
    assert (await session.resume())["current_location"]["line"] == both.line("done")
    told = await why(session, "count", limit=100)
    assert told["complete"]
    await session.delete()
    return changes(told)


ODD_WAYS = """
    import collections
    import operator
    import types

    here = types.ModuleType("here")
    level = 0  # @level
    below = [level for level in range(3)]

    def raise_level():
        global level
        level = 7  # @raised

    class Shared:
        pass

    def odd_ways():
        here.rate = 1  # @module
        here.rate = 2  # @module_again
        error = KeyError("k")
        error.code = 3  # @error
        shared = Shared()
        shared.x = 1  # @shared
        shared.__dict__ |= {"x": 2}  # @merged
        shared.__dict__ = {"x": 3}  # @replaced
        put = setattr
        put(shared, "x", 4)  # @put
        counts = collections.defaultdict(int)
        counts["a"]  # @read
        counts["a"] += 1  # @counted
        ordered = collections.OrderedDict(a=1)  # @ordered
        ordered["a"] = 2  # @reordered
        tally = collections.Counter()
        tally.update("aab")  # @tallied
        single = {}
        operator.setitem(single, True, "one")  # @single
        both = single | {1: "two"}  # @both
        table = [0] * (len(single) + 1)  # @table
        table[0] = 9  # @entry
        twin = table[:]  # @copied
        longer = twin + [1]  # @longer
        add = (grown := [5, 6]).append  # @grown
        pop = grown.pop
        pop(0)  # @popped
        add(7)
        raise_level()
        grown[0] = 8  # @last
        return shared  # @here

    odd_ways()
"""


async def test_odd_ways_to_write_are_seen(api: Api, program: Write, python: str) -> None:
    odd, in_library = program(ODD_WAYS), "in a library"
    cases: dict[str, list[tuple[str | None, str, str]]] = {
        "here.rate": [("1", "2", "module_again"), (None, "1", "module")],
        "error.code": [(None, "3", "error")],
        "shared.x": [
            ("3", "4", "put"),
            ("2", "3", "replaced"),
            ("1", "2", "merged"),
            (None, "1", "shared"),
        ],
        "counts['a']": [("0", "1", "counted"), (None, "0", "read")],
        "ordered['a']": [("1", "2", "reordered"), (None, "1", "ordered")],
        "tally['a']": [(None, "2", in_library)],
        "single[1]": [(None, "'one'", "single")],
        "both[1]": [(None, "'two'", "both")],
        "table[0]": [("0", "9", "entry"), (None, "0", "table")],
        "twin[0]": [(None, "9", "copied")],
        "longer[0]": [(None, "9", "longer")],
        # The last of these is the statement just before the stop.
        "grown[0]": [("6", "8", "last"), ("5", "6", "popped"), (None, "5", "grown")],
        # A comprehension of the module has a variable of this name, too.
        "level": [("0", "7", "raised"), (None, "0", "level")],
    }
    session = await recorded_at(api, odd, "here", *cases, python=python)
    for expression, expected in cases.items():
        told = await why(session, expression)
        found = [
            (old, new, in_library if write["location"]["path"] != odd.text else line)
            for (old, new, line), write in zip(changes(told), told["writes"], strict=True)
        ]
        assert found == [
            (old, new, mark if mark == in_library else odd.line(mark))
            for old, new, mark in expected
        ], (expression, told)
        assert told["complete"] is True, told


OTHER_KEYS = """
    import collections

    def other_keys(yes, no):
        counts = {"b": 0}
        counts["a" if yes else "b"] = 1  # @chosen
        counts["b"] = 2
        counts["b" if yes else "a"] = 3
        counts |= {"c": 4, "a": 5}  # @merged
        counts.update(b=6)
        del counts["b"]
        counts["b" if no else "a"] += 1  # @raised
        filled = collections.defaultdict(int)
        filled["b"], filled["a" if yes else "b"]  # @filled
        by_number = {0: "x", 2: "y"}
        by_number[True] = "one"  # @true
        by_number[1.0] = "two"  # @float
        by_number["1"] = "text"
        row = []
        row += 7, 8  # @begun
        row += [9]
        row.append(10)
        row.extend([11])
        row[0] = 1
        row[1] = 2  # @second
        row[1:2] = [3]  # @slice
        row[-4] = 4  # @from_the_end
        del row[2]
        del row[0]  # @moved
        row[True] = 5  # @bool
        row *= 2
        short = [one for one in "ab"]  # @short
        index = 0
        index += 1
        short[index] = "c"  # @by_name
        short[index - 1] = "d"
        return counts  # @here

    other_keys(True, False)
"""


async def test_what_is_written_under_other_keys_hides_no_write(
    api: Api, program: Write, python: str
) -> None:
    keys = program(OTHER_KEYS)
    cases: dict[str, list[tuple[str | None, str, str]]] = {
        "counts['a']": [("5", "6", "raised"), ("1", "5", "merged"), (None, "1", "chosen")],
        "filled['a']": [(None, "0", "filled")],
        "by_number[1]": [("'one'", "'two'", "float"), (None, "'one'", "true")],
        "row[1]": [
            ("10", "5", "bool"),
            ("4", "10", "moved"),
            ("3", "4", "from_the_end"),
            ("2", "3", "slice"),
            ("8", "2", "second"),
            (None, "8", "begun"),
        ],
        "short[1]": [("'b'", "'c'", "by_name"), (None, "'b'", "short")],
    }
    session = await recorded_at(api, keys, "here", *cases, python=python)
    for expression, expected in cases.items():
        await is_complete(session, keys, expression, expected)


MANY_CLASSES = """
    import dis
    import types

    looked = []

    class Counted(types.ModuleType):
        def __getattribute__(self, name):
            if name == "cmp_op":  # once for each code that is looked at: `dis` lends it to the debugger
                looked.append(name)
            return super().__getattribute__(name)

    dis.__class__ = Counted
    for number in range(600):
        exec(f"class C{number}:\\n    '''A text.'''\\n")

    def work(prices):
        work.__doc__ = prices.update
        work.__qualname__, work.keeper = "work", prices.update
        work.__module__ = prices.update
        work.__doc__(apple=2)  # @doc
        work.__module__(apple=3)  # @module
        return prices  # @here

    work({"apple": 1})
"""


async def test_a_name_that_other_code_only_stores_has_no_code_looked_at_for_each(
    api: Api, program: Write, python: str
) -> None:
    """Each class body stores `__module__`: it was looked at anew whenever a writer had such a name."""
    many = program(MANY_CLASSES)
    session = await recorded_at(api, many, "here", "prices['apple']", python=python)
    told = await why(session, "prices['apple']")
    assert changes(told)[:2] == [("2", "3", many.line("module")), ("1", "2", many.line("doc"))]
    looked = await session.evaluate("len(looked)")
    assert 600 <= int(looked["result"]) < 700, looked


async def test_why_a_server_cannot_be_run_a_second_time_is_told(api: Api, program: Write) -> None:
    """What the first run holds, a port say, the second has not: one fails there, another says so and ends."""
    code = program("""
        import os
        import sys

        class Server:
            pass

        def begin(path):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))  # @taken

        try:
            begin("taken")
        except FileExistsError as error:
            if len(sys.argv) == 1:
                raise
            print("ERROR:  cannot begin:", error, file=sys.stderr)
            print("INFO:   shut down", file=sys.stderr)
            sys.exit(3)
        server = Server()
        server.port = 80
        print(server.port)  # @here
    """)
    for args, said in (
        (
            [],
            f"the second run stopped (FileExistsError: [Errno 17] File exists: 'taken') at {code.text}:",
        ),
        (
            ["x"],
            "the second run ended before the stop, with exit code 3: ERROR:  cannot begin: [Errno 17]",
        ),
    ):
        (Path(code.text).parent / "taken").unlink(missing_ok=True)
        session = await api.session()
        await session.breakpoint(code.text, code.line("here"))
        await session.launch(code.text, args=args)
        told = await why(session, "server.port")
        assert (told["reason"], told["writes"]) == ("not deterministic", [])
        assert told["difference"].startswith(said), told
        await session.delete()


async def test_the_debugger_is_not_asked_at_every_call_whether_it_wants_to_trace(
    api: Api, program: Write
) -> None:
    """Before 3.12, that was a third of what a recorded run took."""
    code = program("""
        import sys

        class Node:
            def get(self):
                return self

        node = Node()
        probe = sys.modules["pydevd"]._debug_relay_probe
        asked, real = [], probe.is_tracing_needed
        probe.is_tracing_needed = lambda py_db: asked.append(1) or real(py_db)
        for _ in range(1000):
            node.get().v = 1  # @written
        times = len(asked)
        raise ValueError  # @raised
    """)
    session = await api.session(python_path=installed_python("3.11"))
    stop = await session.launch(
        code.text, record=[f"main.py:{code.line('raised')}:node.v"], stop_on_exception=True
    )
    assert stop["stop_reason"] == "exception"
    assert int((await session.evaluate("times"))["result"]) < 100
    assert changes(await why(session, "node.v")) == [(None, "1", code.line("written"))]


async def test_what_was_written_is_let_go_of_as_soon_as_the_program_has_let_go(
    api: Api, program: Write, python: str
) -> None:
    code = program("""
        import weakref

        class Plain:
            pass

        class Bare:
            __slots__ = ("x",)
            ended = 0
            def __del__(self):
                Bare.ended += 1

        kept, first = [], Plain()
        first.x = 0  # @first
        for number in range(60_000):
            plain = Plain()
            plain.x = number  # @plain
            if number % 10 == 0:
                bare = Bare()
                bare.x = number
            if number == 30_000:
                kept.append(plain)
        ended = Bare.ended
        here = 1  # @here
    """)
    session = await recorded_at(api, code, "here", "first.x", python=python)
    assert int((await session.evaluate("ended"))["result"]) >= 4900
    await is_complete(session, code, "first.x", [(None, "0", "first")])
    await is_complete(session, code, "kept[0].x", [(None, "30000", "plain")])
