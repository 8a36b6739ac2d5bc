"""Function breakpoints: by name, by class, by module; known when the function is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from relay.session.dap.breakpoint_events import RENAMED_FUNCTION, UNSEEN_FUNCTION
from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api, Refused, Session
from tests.programs import Program

Write = Callable[..., Program]

SHOP = """
    import functools

    def logged(function):
        @functools.wraps(function)
        def inside(*args):
            return function(*args)
        return inside

    class Cart:
        def total(self, tax):  # @cart_total
            return tax + 1

        @staticmethod
        def parse(text):
            return int(text)

        @logged  # @decorated
        def checked(self):
            return 1

    class Order:
        def total(self, tax):  # @order_total
            return tax

    def total(tax):  # @plain_total
        return tax

    def numbers():  # @generator
        yield 1
        yield 2

    async def fetch():  # @coroutine
        return 3
"""

MAIN = """
    import asyncio
    import shop  # @import

    shop.Order().total(1)  # @begin
    shop.total(2)
    shop.Cart().total(3)
    shop.Cart.parse("4")
    shop.Cart().checked()
    list(shop.numbers())
    asyncio.run(shop.fetch())

    def run():  # @run
        return 5

    def total():  # @main_total
        return run()

    total()
"""


@pytest.fixture
def main(program: Write) -> Program:
    program(SHOP, "shop.py")
    return program(MAIN)


async def stops(session: Session, at: dict[str, Any]) -> list[tuple[str, str]]:
    """Reason and function of each stop until the end."""
    found = []
    while at["status"] == "paused":
        found.append((at["stop_reason"], at["current_location"]["function"]))
        at = await session.resume()
    assert at["exit_code"] == 0
    return found


MADE = """
    import dataclasses

    @dataclasses.dataclass
    class Item:
        price: int

    text = "def made(number):\\n    return number + 1"
    exec(compile(text, "<made>", "exec"))
    apart = {}
    exec(compile(text.replace("made", "elsewhere"), "<made>", "exec"), apart)

    made(1)  # @first
    apart["elsewhere"](2)
    Item(3)
    made(4)
"""


async def test_functions_that_are_made_at_run_time_stop_or_say_why_they_cannot(
    api: Api, program: Write
) -> None:
    """In the program's own modules. pydevd leaves out `<string>`, where dataclasses are made."""
    main = program(MADE)
    session = await api.session()
    names = ["made", "Item.__init__", "elsewhere"]
    for name in names:
        await session.post("/breakpoints", function=name)
    at = await session.launch(main.text)
    assert await stops(session, at) == [("function breakpoint", "made")] * 2
    [made, item, elsewhere] = (await session.get("/breakpoints"))["breakpoints"]
    assert (made["verified"], made["hit_count"]) == (True, 2)
    assert (item["verified"], item["message"]) == (False, UNSEEN_FUNCTION)
    assert elsewhere["verified"] is False
    report = (await session.get("/report"))["report"]
    assert (
        "elsewhere (no Python function of this name in own code, if there is one, was called)"
        in report
    )


OTHER_NAMES = """
    def plainly(function):
        def inside(*args):  # @inside
            return function(*args)
        return inside

    def real():  # @real
        return 1

    class Cart:
        low = lambda self: 5  # @low

    @plainly  # @decorated
    def decorated(n):
        return n

    alias = real
    double = lambda n: n * 2  # @double
    here = 1  # @here
    alias()
    double(1)
    Cart().low()
    decorated(1)
"""


async def test_a_name_for_a_function_of_another_name_is_not_verified_and_says_so(
    api: Api, program: Write
) -> None:
    main = program(OTHER_NAMES)
    session = await api.session()
    await session.breakpoint(main.text, main.line("here"))
    names = ["alias", "double", "Cart.low", "decorated", "inside", "real"]
    for name in names:
        await session.post("/breakpoints", function=name)
    assert (await session.launch(main.text))["current_location"]["line"] == main.line("here")
    stopped = []
    while (at := await session.resume())["status"] == "paused":
        stopped.append(at["current_location"]["function"])
    assert stopped == ["real", "inside", "decorated"]
    [_, alias, double, low, decorated, inside, real] = (await session.get("/breakpoints"))[
        "breakpoints"
    ]
    for one, what in ((alias, "the function real"), (double, "a lambda"), (low, "a lambda")):
        assert (one["verified"], one["hit_count"]) == (False, 0)
        assert one["message"] == RENAMED_FUNCTION.format(called=what)
    for one in (decorated, inside, real):
        assert (one["verified"], one["hit_count"], one["message"]) == (True, 1, None)
    lines = [one["line"] for one in (alias, double, low, decorated, inside, real)]
    marks = ["real", "double", "low", "decorated", "inside", "real"]
    assert lines == [main.line(mark) for mark in marks]


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
async def test_a_bare_name_stops_at_each_function_of_the_program_that_has_it(
    api: Api, main: Program, mode: str
) -> None:
    session = await api.session()
    await session.post("/breakpoints", function="total")
    at = await session.launch(main.text, launch_mode=mode)
    assert await stops(session, at) == [("function breakpoint", "total")] * 4
    shown = await session.get("/breakpoints/bp_1")
    assert (shown["verified"], shown["hit_count"]) == (True, 4)


@pytest.mark.parametrize(
    ("name", "mark", "arguments"),
    [
        ("Cart.total", "cart_total", {"tax": "3"}),
        ("shop.Order.total", "order_total", {"tax": "1"}),
        ("shop.total", "plain_total", {"tax": "2"}),
        ("main.total", "main_total", {}),
        ("__main__.run", "run", {}),
        ("shop.Cart.checked", "decorated", {}),
    ],
)
async def test_a_qualified_name_means_one_function(
    api: Api, main: Program, name: str, mark: str, arguments: dict[str, str]
) -> None:
    session = await api.session()
    placed = (await session.post("/breakpoints", function=name))["breakpoints"][0]
    assert (placed["function"], placed["verified"], placed["source"]) == (name, False, None)
    at = await session.launch(main.text)
    assert at["stop_reason"] == "function breakpoint", at
    source = Program(
        main.path.with_name("shop.py" if "main" not in mark and mark != "run" else "main.py")
    )
    assert at["current_location"]["path"] == source.text
    assert at["current_location"]["line"] == source.line(mark)
    seen = await session.locals()
    assert {k: seen[k]["value"] for k in arguments} == arguments
    shown = await session.get("/breakpoints/bp_1")
    assert (shown["verified"], shown["line"]) == (True, source.line(mark))
    assert (await session.resume())["status"] == "terminated"


@pytest.mark.parametrize(("name", "mark"), [("numbers", "generator"), ("fetch", "coroutine")])
async def test_generators_and_coroutines_stop_or_say_why_they_cannot(
    api: Api, main: Program, name: str, mark: str
) -> None:
    session = await api.session()
    await session.breakpoint(main.text, main.line("begin"))
    await session.post("/breakpoints", function=name)
    await session.launch(main.text)
    shown = await session.get("/breakpoints/bp_2")
    assert shown["line"] == Program(main.path.with_name("shop.py")).line(mark)
    at = await session.resume()
    if sys.version_info >= (3, 12):
        assert (shown["verified"], at["stop_reason"]) == (True, "function breakpoint")
    else:
        assert (shown["verified"], at["status"]) == (False, "terminated")
        assert shown["message"].startswith("Before Python 3.12")


async def test_it_is_verified_when_its_module_is_loaded(api: Api, main: Program) -> None:
    session = await api.session()
    await session.breakpoint(main.text, main.line("import"))
    await session.breakpoint(main.text, main.line("begin"))
    await session.launch(main.text)
    placed = (await session.post("/breakpoints", function="shop.Cart.total"))["breakpoints"][0]
    assert placed["verified"] is False
    assert placed["message"] == "No function of this name is known yet"
    await session.resume()
    shown = await session.get("/breakpoints/bp_3")
    shop = Program(main.path.with_name("shop.py"))
    assert (shown["verified"], shown["message"]) == (True, None)
    assert (shown["source"]["path"], shown["line"]) == (shop.text, shop.line("cart_total"))
    known = (await session.post("/breakpoints", function="shop.Order.total"))["breakpoints"][0]
    assert known["verified"] is True
    told = [e["body"] for e in await session.events("breakpoint")]
    assert {
        "reason": "changed",
        "breakpoint": {"id": "bp_3", "verified": True, "line": shown["line"], "message": None},
    } in told


async def test_conditions_hit_conditions_and_log_messages_hold_for_functions(
    api: Api, program: Write
) -> None:
    written = program("""
        def work(number):
            return number

        def rest(number):
            return number

        for number in range(6):
            work(number)
            rest(number)
    """)
    session = await api.session()
    batch = [
        {"function": "work", "condition": "number == 1"},
        {"function": "main.work", "hit_condition": ">= 5"},
        {"function": "rest", "log_message": "rest {number}", "condition": "number % 2"},
    ]
    await session.post("/breakpoints", breakpoints=batch)
    at, seen = await session.launch(written.text), []
    while at["status"] == "paused":
        stop = (await session.events("stopped"))[-1]["body"]["hit_breakpoint_ids"]
        seen.append(((await session.evaluate("number"))["result"], stop))
        at = await session.resume()
    assert seen == [("1", ["bp_1"]), ("4", ["bp_2"]), ("5", ["bp_2"])]
    assert await session.printed("console") == "rest 1\nrest 3\nrest 5\n"
    listed = await session.get("/breakpoints")
    assert [b["hit_count"] for b in listed["breakpoints"]] == [1, 6, 3]


async def test_a_log_message_of_a_function_that_raises_is_no_value(
    api: Api, program: Write
) -> None:
    written = program("""
        def work(number):  # @work
            return number

        work(3)
    """)
    session = await api.session()
    await session.post("/breakpoints", function="work", log_message="found { {}[number] } there")
    assert (await session.launch(written.text))["status"] == "terminated"
    place = f"{written.path.name}:{written.line('work')}"
    said = f"Breakpoint at {place}: its log message raised KeyError: 3\n"
    assert await session.printed("console") == said


async def test_set_changed_and_removed_at_a_stop(api: Api, main: Program) -> None:
    session = await api.session()
    await session.breakpoint(main.text, main.line("begin"))
    await session.launch(main.text)
    await session.post("/breakpoints", function="Cart.total")
    await session.post("/breakpoints", function="shop.total")
    await session.api.call("PATCH", f"{session.path}/breakpoints/bp_3", json={"enabled": False})
    at = await session.resume()
    assert (await session.evaluate("tax"))["result"] == "3"
    assert at["current_location"]["function"] == "total"
    await session.post("/breakpoints", function="run")
    await session.delete("/breakpoints/bp_4")
    assert (await session.resume())["status"] == "terminated"


async def test_functions_of_libraries_are_meant_only_by_their_whole_name(
    api: Api, program: Write
) -> None:
    written = program("""
        import json
        json.dumps({})
        json.dumps([])
    """)
    session = await api.session()
    await session.post("/breakpoints", function="dumps")
    assert (await session.launch(written.text))["status"] == "terminated"
    session = await api.session()
    await session.post("/breakpoints", function="json.dumps", hit_condition="2")
    at = await session.launch(written.text)
    assert (await session.evaluate("obj"))["result"] == "[]"
    assert at["stop_reason"] == "function breakpoint"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"function": ""}, "INVALID_REQUEST"),
        ({"function": "a b"}, "INVALID_REQUEST"),
        ({"function": ".f"}, "INVALID_REQUEST"),
        ({"function": "f()"}, "INVALID_REQUEST"),
        ({"function": "Cart::total"}, "INVALID_REQUEST"),
        ({"function": 3}, "INVALID_REQUEST"),
        ({"function": "f", "line": 1}, "INVALID_REQUEST"),
        ({"function": "f", "file": "main.py"}, "INVALID_REQUEST"),
        ({"function": "f", "pending": True}, "INVALID_REQUEST"),
        ({"function": "f", "condition": "x ="}, "BREAKPOINT_INVALID_CONDITION"),
        ({"function": "f", "hit_condition": "0"}, "BREAKPOINT_INVALID_CONDITION"),
    ],
)
async def test_a_bad_function_breakpoint_is_refused(
    api: Api, body: dict[str, Any], code: str
) -> None:
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await session.post("/breakpoints", **body)
    assert (refused.value.status, refused.value.code) == (400, code)
    assert (await session.get("/breakpoints"))["total"] == 0


async def test_a_function_behind_a_cache_goes_by_the_name_that_the_cache_has(
    api: Api, program: Write
) -> None:
    """What functools.lru_cache makes is no function, and says which one it calls."""
    program("from kit.parts import join", name="kit/__init__.py")
    parts = program(
        """
        import functools

        @functools.lru_cache(maxsize=None)  # @join
        def join(one):
            return one
        """,
        name="kit/parts.py",
    )
    code = program("import kit\nkit.join(3)\nkit.join(3)\n")
    session = await api.session()
    await session.post("/breakpoints", function="kit.join")
    at = await session.launch(code.text)
    assert at["current_location"]["path"] == parts.text
    assert at["current_location"]["line"] == parts.line("join")
    assert (await session.resume())["status"] == "terminated"


async def test_where_a_function_is_imported_or_inherited_it_goes_by_that_name(
    api: Api, program: Write
) -> None:
    program("from kit.parts import join", name="kit/__init__.py")
    parts = program("def join(one):  # @join\n    return one\n", name="kit/parts.py")
    code = program("""
        import kit

        class Base:
            def grow(self, by):  # @grow
                return by

        class Small(Base):
            pass

        Base().grow(1)
        Small().grow(2)
        kit.join(3)
    """)
    session = await api.session()
    for name in ("Small.grow", "kit.join"):
        await session.post("/breakpoints", function=name)
    at = await session.launch(code.text)
    assert at["current_location"]["line"] == code.line("grow")
    assert (await session.locals())["by"]["value"] == "2"
    at = await session.resume()
    assert at["current_location"]["path"] == parts.text
    assert at["current_location"]["line"] == parts.line("join")
    assert (await session.resume())["status"] == "terminated"


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.12", "3.13"])
async def test_an_inherited_static_method_and_a_cached_property_go_by_the_class_that_has_them(
    api: Api, program: Write, version: str
) -> None:
    code = program("""
        import functools

        class Base:
            @staticmethod  # @by_decorator
            def twice(one):  # @twice
                return 2 * one

            @functools.cached_property  # @size_decorator
            def size(self):  # @size
                return 3

        class Small(Base):
            pass

        class Other(Base):
            @staticmethod
            def twice(one):
                return one

        Base().size
        Other.twice(1)
        Small.twice(2)
        Small().size
    """)
    session = await api.session(python_path=installed_python(version))
    for name in ("Small.twice", "Small.size"):
        await session.post("/breakpoints", function=name)
    at = await session.launch(code.text)
    assert at["current_location"]["line"] in (code.line("by_decorator"), code.line("twice"))
    assert (await session.locals())["one"]["value"] == "2"
    at = await session.resume()
    assert at["current_location"]["line"] in (code.line("size_decorator"), code.line("size"))
    assert (await session.locals())["self"]["type"] == "Small"
    assert (await session.resume())["status"] == "terminated"


async def test_a_name_means_the_function_that_is_defined_so_if_there_is_one(
    api: Api, program: Write
) -> None:
    code = program("""
        class Cart:
            def add(self, one):  # @add
                return one

        class Large(Cart):
            def add(self, one):
                return super().add(one)

        def main():
            class Cart(Large):
                pass

            return Cart().add(1)

        main()
    """)
    session = await api.session()
    await session.post("/breakpoints", function="Cart.add")
    at = await session.launch(code.text)
    assert at["current_location"]["line"] == code.line("add")
    assert (await session.resume())["status"] == "terminated"


# With their file

FILED = """
    import sys
    import kit.parts
    from kit import parts, same

    def add(one):  # @main_add
        def inner():  # @inner
            return one
        return inner()

    add(1)
    parts.add(2)
    parts.Cart().add(3)
    parts.Order().add(4)
    parts.Order().kept
    parts.total(5)
    parts.total(5)
    same.add(6)
    sys.path.insert(0, sys.path[0] + "/kit")
    import parts as again

    again.add(7)
"""

PARTS = """
    import functools
    from kit.base import Base

    def add(one):  # @add
        return one

    class Cart(Base):
        pass

    class Order:
        def add(self, one):  # @order
            return one

        @property  # @kept
        def kept(self):
            return 1

    @functools.lru_cache  # @total
    def total(one):
        return one
"""


@pytest.fixture
def filed(program: Write) -> Program:
    program(PARTS, "kit/parts.py")
    program("class Base:\n    def add(self, one):\n        return one\n", "kit/base.py")
    (program("", "kit/__init__.py").path.parent / "same.py").symlink_to("parts.py")
    return program(FILED)


@pytest.mark.parametrize(
    ("name", "mark", "seen"),
    [
        ("kit/parts.py:add", "add", ["2", "6", "7"]),  # by each name that the module goes by
        ("kit/same.py::add", "add", ["2", "6", "7"]),  # a link to the same file
        ("main.py:add", "main_add", ["1"]),
        ("main.py::add::inner", "inner", ["1"]),
        ("main.py:add.<locals>.inner", "inner", ["1"]),
        ("./kit/parts.py::Order::add", "order", ["4"]),
        ("kit/parts.py:total", "total", ["5"]),
        ("kit/parts.py:Order.kept", "kept", [None]),
    ],
)
async def test_a_function_with_its_file_is_the_one_that_is_defined_there(
    api: Api, filed: Program, name: str, mark: str, seen: list[str | None]
) -> None:
    session = await api.session()
    placed = (await session.post("/breakpoints", function=name))["breakpoints"][0]
    in_parts = mark in PARTS and name.startswith(("kit", "./kit"))
    source = Program(filed.path.with_name("kit") / "parts.py") if in_parts else filed
    assert (placed["verified"], placed["line"]) == (True, source.line(mark))
    at, found = await session.launch(filed.text), []
    while at["status"] == "paused":
        assert at["stop_reason"] == "function breakpoint"
        found.append((await session.locals()).get("one", {}).get("value"))
        at = await session.resume()
    assert found == seen
    shown = await session.get("/breakpoints/bp_1")
    assert (shown["verified"], shown["hit_count"]) == (True, len(seen))
    assert "warning" not in shown


async def test_a_function_with_its_file_is_one_breakpoint_however_it_is_written(
    api: Api, filed: Program
) -> None:
    session = await api.session()
    for name in ("kit/parts.py:Order.add", f"{filed.path.parent}/kit/parts.py::Order::add"):
        await session.post("/breakpoints", function=name, condition="one == 4")
    shown = (await session.post("/breakpoints", function="main.py::add[a-1]"))["breakpoints"][0]
    assert shown["warning"] == (
        "[a-1] is left out: every parameter counts; run that test by its id to have it only"
    )
    await session.post("/breakpoints", function="main.py::add[b]")
    assert (await session.get("/breakpoints"))["total"] == 2
    at = await session.launch(filed.text)
    assert (await session.locals())["one"]["value"] == "1"
    at = await session.resume()
    assert at["current_location"]["line"] == Program(filed.path.with_name("kit") / "parts.py").line(
        "order"
    )
    assert (await session.resume())["status"] == "terminated"


async def test_a_generator_with_its_file_stops_or_says_why_it_cannot(
    api: Api, main: Program
) -> None:
    session = await api.session()
    await session.post("/breakpoints", function="shop.py:numbers")
    at = await session.launch(main.text)
    shown = await session.get("/breakpoints/bp_1")
    if sys.version_info >= (3, 12):
        assert at["stop_reason"] == "function breakpoint"
    else:
        assert at["status"] == "terminated"
        assert shown["verified"] is False
        assert shown["message"].startswith("Before Python 3.12")


@pytest.mark.parametrize(
    ("name", "message", "suggestion"),
    [
        ("parts.py:add", "there is no file ", "Did you mean kit/parts.py:add?"),
        ("parts.py:Cart.total", "there is no file ", "Did you mean kit/parts.py:total?"),
        ("parts.py:Cart.add", "there is no file ", "Did you mean kit/base.py:Base.add?"),
        ("parts.py:gone", "there is no file ", "If you meant kit/parts.py: it defines no function"),
        ("kit/pars.py:total", "there is no file ", "Did you mean kit/parts.py:total?"),
        ("kit/pars.py:Order.gone", "there is no file ", "Give its path from project_root"),
        ("kit.parts:add", "'kit.parts:add' names no function", "Write kit.parts.add"),
        (r"kit\parts.py:add", r"there is no file kit\parts.py: in paths", "Write kit/parts.py:add"),
        (r"C:\kit\parts.py::add", r"there is no file C:\kit\parts.py", "mean kit/parts.py:add?"),
        ("kit/parts.py:Order.ad", "defines no function Order.ad", "mean kit/parts.py:Order.add or"),
        ("main.py:inner", "main.py defines no function inner", "mean main.py:add.inner?"),
        ("kit/parts.py:Order", "that is a class", "mean kit/parts.py:Order.add or"),
        (
            "kit/parts.py:Cart.add",
            "Cart inherits add from Base",
            "Write kit/base.py:Base.add (line 2)",
        ),
        ("parts.py", "parts.py is a file", "parts.py:42"),
        ("kit/bad.py:f", "kit/bad.py has a syntax error at line 1", "Mend it first"),
    ],
)
async def test_a_file_without_such_a_function_is_refused_with_what_to_write(
    api: Api, filed: Program, name: str, message: str, suggestion: str
) -> None:
    (filed.path.with_name("kit") / "bad.py").write_text("def f(:\n")
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await session.post("/breakpoints", function=name)
    assert (refused.value.status, refused.value.code) == (400, "INVALID_REQUEST")
    assert message in refused.value.message
    assert suggestion in refused.value.details["suggestion"]
    assert (await session.get("/breakpoints"))["total"] == 0


async def test_what_to_write_is_a_path_that_means_that_file(
    api: Api, filed: Program, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = filed.path.parent
    away = await api.session(project_root=str(tmp_path_factory.mktemp("away")))
    await away.launch(filed.text, stop_on_entry=True)
    session = await api.session()
    for asked, name in ((away, "parts.py:add"), (session, f"{folder}/parts.py:add")):
        with pytest.raises(Refused) as refused:
            await asked.post("/breakpoints", function=name)
        assert refused.value.details["suggestion"] == f"Did you mean {folder}/kit/parts.py:add?"
    with pytest.raises(Refused) as refused:
        await away.post("/breakpoints", function=f"{folder}/kit/parts.py:Cart.add")
    assert f"Write {folder}/kit/base.py:Base.add (line 2)" in refused.value.details["suggestion"]
