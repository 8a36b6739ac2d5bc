"""Line breakpoints: where they stand, when they stop, what is said of those that cannot."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.api import Api, Refused, Session
from tests.programs import Program

Write = Callable[..., Program]

LOOP = """
    def total(limit):
        found = 0
        for number in range(limit):
            found += number  # @add
        return found  # @return

    total(6)  # @call
    total(3)
"""


def line_of(answer: dict[str, Any]) -> int:
    assert answer["status"] == "paused", answer
    return int(answer["current_location"]["line"])


async def value(session: Session, expression: str) -> str:
    return str((await session.evaluate(expression))["result"])


async def counted(session: Session, breakpoint_id: str) -> int:
    listed = (await session.get("/breakpoints"))["breakpoints"]
    return next(int(b["hit_count"]) for b in listed if b["id"] == breakpoint_id)


async def walk_values(session: Session, expression: str, first: dict[str, Any]) -> list[str]:
    """The expression's value at each stop until the end."""
    seen, at = [], first
    while at["status"] == "paused":
        seen.append(await value(session, expression))
        at = await session.resume()
    assert at["exit_code"] == 0
    return seen


# Before anything runs ----------------------------------------------------------------------


async def test_null_is_as_good_as_absent(api: Api, program: Write) -> None:
    """Beside one breakpoint, beside a batch, and beside a function."""
    loop, session = program(LOOP), await api.session()
    place = {"file": loop.text, "line": loop.line("add")}
    no_place = {"file": None, "line": None, "source": None}
    for body in (
        {"breakpoints": None, "condition": None, **place},
        {"breakpoints": [place], **no_place},
        {"function": "total", **no_place},
    ):
        (made,) = (await session.post("/breakpoints", **body))["breakpoints"]
        assert made["condition"] is None


NO_CODE = '''
    """The docstring
    goes on."""  # @docstring_end

    # only a comment
    def f(
        a,  # @parameter
    ):
        """Inside."""

        if a:  # @if
            b = [
                a,
                1,  # @element
            ]
        else:
            b = None
        return b

    f(1)
'''


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('goes on."""  # @docstring_end', "docstring"),
        ("# only a comment", "comment"),
        ("", "blank"),
        ("        else:", "else"),
        ('        """Inside."""', "inner docstring"),
        ("    ):", "continuation"),
    ],
)
async def test_a_line_without_code_is_unverified_and_names_the_nearest(
    api: Api, program: Write, text: str, why: str
) -> None:
    written = program(NO_CODE)
    lines = written.path.read_text().splitlines()
    line = next(n for n, found in enumerate(lines, 1) if found.strip() == text.strip())
    session = await api.session()
    placed = await session.breakpoint(written.text, line)
    assert placed["verified"] is False, why
    assert placed["line"] == line
    assert placed["message"] == f"No executable code at line {line}"
    assert placed["suggestion"].startswith("Try line ")
    assert any(repr(found.strip()) in placed["suggestion"] for found in lines)


async def test_an_unverified_breakpoint_never_stops(api: Api, program: Write) -> None:
    written = program("""
        # @nothing
        print(1)
    """)
    session = await api.session()
    await session.breakpoint(written.text, written.line("nothing"))
    assert (await session.launch(written.text))["status"] == "terminated"


async def test_a_line_past_the_end_is_refused_with_the_last_line(api: Api, program: Write) -> None:
    written = program(LOOP)
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await session.breakpoint(written.text, 500)
    assert (refused.value.status, refused.value.code) == (400, "BREAKPOINT_INVALID_LINE")
    assert refused.value.details["max_line"] == written.line("call") + 1


async def test_a_missing_file_is_refused_with_its_likely_names(api: Api, program: Write) -> None:
    written = program(LOOP, "totals.py")
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await session.breakpoint(written.text.replace("totals", "total"), 1)
    assert (refused.value.status, refused.value.code) == (400, "BREAKPOINT_FILE_NOT_FOUND")
    assert written.text in refused.value.details["similar"]


async def test_a_file_of_another_folder_is_proposed_where_its_end_or_its_name_is_given(
    api: Api, program: Write
) -> None:
    inner = program("pass", "src/shop/cart.py")
    program("pass", "cart/cart.py")
    session = await api.session()
    for given in ("shop/cart.py", "src/cart.py"):
        with pytest.raises(Refused) as refused:
            await session.breakpoint(str(inner.path.parents[2] / given), 1)
        likely = refused.value.details["similar"]
        assert inner.text in likely, given
        assert (likely == [inner.text]) is (given == "shop/cart.py")


WAYS_OUT = {
    "condition": "Correct the expression",
    "hit_condition": "Write how many hits",
    "log_message": "{expression} is filled in",
}


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("condition", "number =="),
        ("condition", "number = 1"),
        ("condition", "import os"),
        ("condition", "  "),
        ("hit_condition", "many"),
        ("hit_condition", "!= 3"),
        ("hit_condition", "0"),
        ("hit_condition", "5.0"),
        ("log_message", "total {number"),
        ("log_message", "{}"),
        ("log_message", "{number!x}"),
        ("log_message", "{1 +}"),
    ],
)
async def test_what_does_not_parse_is_refused(
    api: Api, program: Write, field: str, text: str
) -> None:
    written = program(LOOP)
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await session.breakpoint(written.text, written.line("add"), **{field: text})
    assert (refused.value.status, refused.value.code) == (400, "BREAKPOINT_INVALID_CONDITION")
    assert refused.value.details["field"] == field
    assert WAYS_OUT[field] in refused.value.details["suggestion"]
    assert (await session.get("/breakpoints"))["total"] == 0


async def test_one_bad_breakpoint_refuses_the_batch_and_changes_nothing(
    api: Api, program: Write
) -> None:
    written = program(LOOP)
    session = await api.session()
    kept = await session.breakpoint(written.text, written.line("add"), condition="found > 1")
    with pytest.raises(Refused):
        await session.post(
            "/breakpoints",
            breakpoints=[
                {"file": written.text, "line": written.line("add"), "condition": "found > 2"},
                {"file": written.text, "line": written.line("return")},
                {"file": written.text, "line": 999},
            ],
        )
    assert (await session.get("/breakpoints"))["breakpoints"] == [kept]


async def test_the_same_place_again_keeps_its_id_and_takes_the_new_condition(
    api: Api, program: Write
) -> None:
    written = program(LOOP)
    session = await api.session()
    first = await session.breakpoint(written.text, written.line("add"))
    again = await session.breakpoint(written.text, written.line("add"), condition="number == 4")
    assert again["id"] == first["id"]
    assert (await session.get("/breakpoints"))["total"] == 1
    await session.launch(written.text)
    assert await value(session, "number") == "4"


async def test_a_thousand_breakpoints_in_one_call(api: Api, program: Write) -> None:
    body = "\n".join(f"x{n} = {n}" for n in range(1000))
    written = program(body + "\n")
    session = await api.session()
    wanted = [{"file": written.text, "line": n} for n in range(1, 1001)]
    answer = await session.post("/breakpoints", breakpoints=wanted)
    assert len({b["id"] for b in answer["breakpoints"]}) == 1000
    assert all(b["verified"] for b in answer["breakpoints"])
    assert line_of(await session.launch(written.text)) == 1
    assert line_of(await session.resume()) == 2


async def test_relative_paths_start_at_the_project_root(api: Api, tmp_path: Path) -> None:
    written = Program.write(tmp_path / "pkg" / "main.py", LOOP)
    session = await api.session(project_root=str(tmp_path))
    placed = await session.breakpoint("pkg/main.py", written.line("add"))
    assert placed["source"]["path"] == written.text
    assert line_of(await session.launch("pkg/main.py")) == written.line("add")


async def test_what_the_project_root_has_not_is_looked_for_where_the_launch_runs(
    api: Api, tmp_path: Path
) -> None:
    """As its script is; a file that is named as the script is the script, though the root has one, too."""
    main = Program.write(tmp_path / "sub" / "main.py", "import part  # @import\npart.f()\n")
    part = Program.write(tmp_path / "sub" / "part.py", "def f():\n    return 1  # @f\n")
    Program.write(tmp_path / "main.py", LOOP)
    other = Program.write(tmp_path / "other.py", "pass\n")
    Program.write(tmp_path / "sub" / "other.py", "pass\n")
    session = await api.session(
        project_root=str(tmp_path),
        launch={"script": "main.py", "cwd": "sub", "wait": 30},
        breakpoints=[
            {"file": "main.py", "line": main.line("import")},
            {"file": "part.py", "line": part.line("f")},
            {"file": "other.py", "line": 1},
        ],
    )
    listed = (await session.get("/breakpoints"))["breakpoints"]
    assert [one["source"]["path"] for one in listed] == [main.text, part.text, other.text]
    assert (await session.get())["current_location"]["line"] == main.line("import")
    placed = await session.breakpoint("part.py", part.line("f"))
    assert placed["id"] == listed[1]["id"]
    assert line_of(await session.resume()) == part.line("f")


@pytest.mark.parametrize("launched", ["link", "real"])
@pytest.mark.parametrize("placed", ["link", "real"])
async def test_a_symbolic_link_is_the_same_file(
    api: Api, tmp_path: Path, launched: str, placed: str
) -> None:
    Program.write(tmp_path / "real" / "main.py", LOOP)
    (tmp_path / "link").symlink_to("real")
    written = Program(tmp_path / placed / "main.py")
    session = await api.session()
    await session.breakpoint(written.text, written.line("add"))
    assert line_of(await session.launch(str(tmp_path / launched / "main.py"))) == written.line(
        "add"
    )


# While the program lives -------------------------------------------------------------------


SLOW = """
    import sys
    import time

    def step(number):
        return number + 1  # @step

    number = 0
    print("ready", flush=True)
    while number < 10_000_000:
        number = step(number)
        time.sleep(0.001)
"""


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
async def test_set_and_removed_while_it_runs(api: Api, program: Write, mode: str) -> None:
    written = program(SLOW)
    session = await api.session()
    await session.launch(written.text, wait=0, launch_mode=mode)
    await session.get("/events", types="output", timeout=30)
    cursor = (await session.get("/events", limit=1000))["next_cursor"]
    placed = await session.breakpoint(written.text, written.line("step"))
    page = await session.get("/events", types="stopped", timeout=30, cursor=cursor)
    assert page["events"][0]["body"]["hit_breakpoint_ids"] == [placed["id"]]
    assert line_of(await session.resume()) == written.line("step")
    await session.delete(f"/breakpoints/{placed['id']}")
    assert (await session.resume(wait=0.3))["status"] == "running"
    assert (await session.post("/pause"))["status"] == "paused"
    await session.delete()


async def test_set_and_removed_at_a_stop(api: Api, program: Write) -> None:
    written = program(LOOP)
    session = await api.session()
    first = await session.breakpoint(written.text, written.line("call"))
    await session.launch(written.text)
    add = await session.breakpoint(written.text, written.line("add"))
    assert line_of(await session.resume()) == written.line("add")
    await session.delete(f"/breakpoints/{add['id']}")
    await session.breakpoint(written.text, written.line("return"))
    assert line_of(await session.resume()) == written.line("return")
    with pytest.raises(Refused) as refused:
        await session.delete(f"/breakpoints/{add['id']}")
    assert refused.value.code == "BREAKPOINT_NOT_FOUND"
    assert await counted(session, first["id"]) == 1


async def test_a_disabled_breakpoint_does_not_stop(api: Api, program: Write) -> None:
    written = program(LOOP)
    session = await api.session()
    await session.breakpoint(written.text, written.line("add"), enabled=False)
    await session.breakpoint(written.text, written.line("return"))
    assert line_of(await session.launch(written.text)) == written.line("return")
    await session.breakpoint(written.text, written.line("add"), enabled=True)
    assert line_of(await session.resume()) == written.line("add")


WAITING = """
    import asyncio

    async def work(gate):
        await gate.wait()
        return 1  # @after

    async def main():
        gate = asyncio.Event()
        task = asyncio.create_task(work(gate))
        await asyncio.sleep(0)
        gate.set()  # @set
        return await task

    def numbers():
        yield 1
        yield 2  # @second

    waiting = numbers()
    next(waiting)
    asyncio.run(main())
    next(waiting)
"""


@pytest.mark.parametrize("mode", ["fast", "plain"])
async def test_set_in_a_coroutine_and_a_generator_that_wait(
    api: Api, program: Write, mode: str
) -> None:
    """They began before the breakpoint was there, and nobody calls them again."""
    written = program(WAITING)
    session = await api.session()
    await session.breakpoint(written.text, written.line("set"))
    await session.launch(written.text, launch_mode=mode)
    await session.breakpoint(written.text, written.line("after"))
    await session.breakpoint(written.text, written.line("second"))
    assert line_of(await session.resume()) == written.line("after")
    assert line_of(await session.resume()) == written.line("second")
    assert (await session.resume())["exit_code"] == 0


# Conditions --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "numbers"),
    [
        ("number == 3", ["3"]),
        ("number in {1, 4} and found", ["4"]),
        ("any(n == number for n in (2, limit - 1))", ["2", "5", "2"]),
        ("(n := number) > 4", ["5"]),
        ("[n for n in range(number) if n == found]", ["1", "2", "1", "2"]),
        ("(lambda n: n == number)(5)", ["5"]),
        ("\n number == 4\n", ["4"]),
        ("found and '@HIT@' != number and number == 3", ["3"]),
    ],
)
async def test_a_condition_means_what_it_means_in_the_program(
    api: Api, program: Write, condition: str, numbers: list[str]
) -> None:
    written = program(LOOP)
    session = await api.session()
    await session.breakpoint(written.text, written.line("add"), condition=condition)
    first = await session.launch(written.text)
    assert await walk_values(session, "number", first) == numbers


@pytest.mark.parametrize(
    ("hit_condition", "numbers"),
    [
        ("3", ["2"]),
        ("==3", ["2"]),
        ("== 3", ["2"]),
        (">7", ["1", "2"]),
        (">= 8", ["1", "2"]),
        ("<2", ["0"]),
        ("<= 2", ["0", "1"]),
        ("%4", ["3", "1"]),
        (" % 4 ", ["3", "1"]),
    ],
)
async def test_hit_conditions_of_every_form(
    api: Api, program: Write, hit_condition: str, numbers: list[str]
) -> None:
    written = program(LOOP)
    session = await api.session()
    placed = await session.breakpoint(
        written.text, written.line("add"), hit_condition=hit_condition
    )
    first = await session.launch(written.text)
    seen, at = [], first
    while at["status"] == "paused":
        seen.append(await value(session, "number"))
        at = await session.resume()
    assert seen == numbers
    assert await counted(session, placed["id"]) == 9, "every pass is a hit, stop or no stop"


async def test_both_conditions_must_hold(api: Api, program: Write) -> None:
    written = program(LOOP)
    session = await api.session()
    await session.breakpoint(
        written.text, written.line("add"), condition="number % 2 == 0", hit_condition=">= 4"
    )
    first = await session.launch(written.text)
    assert await walk_values(session, "number", first) == ["4", "0", "2"]


@pytest.mark.parametrize("mode", ["fast", "plain"])
async def test_hits_go_on_counting_when_another_breakpoint_is_set(
    api: Api, program: Write, mode: str
) -> None:
    written = program(LOOP)
    session = await api.session()
    await session.breakpoint(written.text, written.line("add"), condition="number == 2")
    await session.launch(written.text, launch_mode=mode)
    await session.breakpoint(written.text, written.line("add"), hit_condition="3")
    await session.breakpoint(written.text, written.line("return"))
    first = await session.resume()
    assert await value(session, "number") == "5"
    await session.breakpoint(written.text, written.line("call"))
    assert line_of(await session.resume()) == written.line("return")
    assert first["stop_reason"] == "breakpoint"
    assert line_of(await session.resume()) == written.line("return")
    assert (await session.resume())["status"] == "terminated"


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
@pytest.mark.parametrize(
    "more", [{"condition": "nowhere > 1"}, {"condition": "nowhere > 1", "hit_condition": ">= 1"}]
)
async def test_a_condition_that_raises_stops_and_says_so(
    api: Api, program: Write, mode: str, more: dict[str, str]
) -> None:
    written = program(LOOP)
    session = await api.session()
    await session.breakpoint(written.text, written.line("add"), **more)
    assert line_of(await session.launch(written.text, launch_mode=mode)) == written.line("add")
    line = written.line("add")
    said = f"Breakpoint at main.py:{line}: its condition raised NameError: "
    assert (await session.printed("console")).startswith(said)
    assert await session.printed("stderr") == ""


# Logpoints ---------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
async def test_a_logpoint_writes_and_does_not_stop(api: Api, program: Write, mode: str) -> None:
    written = program(LOOP)
    session = await api.session()
    await session.breakpoint(
        written.text,
        written.line("add"),
        log_message="{number:>3}|{found!r:<4}|{number=}|{{100%}}|{[n for n in range(number)]}",
        condition="limit == 3",
    )
    ended = await session.launch(written.text, launch_mode=mode)
    assert ended["status"] == "terminated"
    assert (await session.printed("console")).splitlines() == [
        "  0|0   |number=0|{100%}|[]",
        "  1|0   |number=1|{100%}|[0]",
        "  2|1   |number=2|{100%}|[0, 1]",
    ]
    assert await session.printed("stdout") == ""


async def test_a_field_that_raises_is_no_value(api: Api, program: Write) -> None:
    written = program(LOOP)
    session = await api.session()
    line = written.line("return")
    await session.breakpoint(
        written.text, line, log_message="found { {}[found] } there", condition="limit == 3"
    )
    assert (await session.launch(written.text))["status"] == "terminated"
    said = f"Breakpoint at {written.path.name}:{line}: its log message raised KeyError: 3\n"
    assert await session.printed("console") == said


# Every kind of code ------------------------------------------------------------------------


PLACES = """
    import functools
    import threading

    def decorate(function):
        @functools.wraps(function)
        def wrapped(*args):
            return function(*args)  # @wrapper
        return wrapped

    @decorate  # @decorator
    def decorated():
        return 1  # @decorated

    class Shape:
        sides = 4  # @class_body
        def area(self): return self.sides  # @one_line

    double = lambda n: n * 2  # @lambda

    def numbers():
        yield 1
        yield 2  # @generator

    def annotated(
        value: int = len("abc"),  # @default
    ) -> int:
        try:
            raise ValueError(value)  # @raise
        except ValueError:
            return value  # @except
        finally:
            value = 0  # @finally

    decorated()
    Shape().area()
    double(2)
    squares = [
        double(n)  # @comprehension
        for n in range(2)
    ]
    list(numbers())
    annotated()
    thread = threading.Thread(target=lambda: decorated())
    thread.start()
    thread.join()
    with open(__file__) as file:  # @with
        pass
    del thread  # @last
"""


@pytest.mark.parametrize(
    ("mark", "function", "least"),
    [
        ("wrapper", "wrapped", 2),
        ("decorator", "<module>", 1),
        ("decorated", "decorated", 2),
        ("class_body", "Shape", 1),
        ("one_line", None, 2),
        ("lambda", None, 2),
        ("generator", "numbers", 1),
        ("default", "<module>", 1),
        ("raise", "annotated", 1),
        ("except", "annotated", 1),
        ("finally", "annotated", 1),
        ("comprehension", None, 2),
        ("with", "<module>", 1),
        ("last", "<module>", 1),
    ],
)
async def test_it_stops_in_every_kind_of_code(
    api: Api, program: Write, mark: str, function: str | None, least: int
) -> None:
    written = program(PLACES)
    session = await api.session()
    placed = await session.breakpoint(written.text, written.line(mark))
    assert placed["verified"] is True
    at, stops = await session.launch(written.text), 0
    while at["status"] == "paused":
        assert line_of(at) == written.line(mark)
        if function is not None:
            assert at["current_location"]["function"] == function
        stops += 1
        at = await session.resume()
    assert at["exit_code"] == 0
    assert stops >= least
    assert await counted(session, placed["id"]) == stops


async def test_it_stops_in_what_is_imported_later(api: Api, tmp_path: Path) -> None:
    package = Program.write(tmp_path / "pkg" / "__init__.py", "VALUE = 1  # @value\n")
    module = Program.write(tmp_path / "pkg" / "late.py", "def f():\n    return 1  # @f\n")
    plugin = Program.write(tmp_path / "plugin.py", "print('plugin')  # @plugin\n")
    main = Program.write(
        tmp_path / "main.py",
        """
        import importlib, runpy
        module = importlib.import_module("pkg.late")
        module.f()
        runpy.run_path("plugin.py")
        with open("plugin.py") as file:
            exec(compile(file.read(), file.name, "exec"))
        """,
    )
    session = await api.session(project_root=str(tmp_path))
    for written, mark in [(package, "value"), (module, "f"), (plugin, "plugin")]:
        placed = await session.breakpoint(written.text, written.line(mark))
        assert placed["verified"] is True
    stops, at = [], await session.launch(main.text)
    while at["status"] == "paused":
        stops.append(os.path.basename(at["current_location"]["path"]))
        at = await session.resume()
    assert stops == ["__init__.py", "late.py", "plugin.py", "plugin.py"]


@pytest.mark.parametrize("mode", ["fast", "plain"])
async def test_a_file_of_the_program_may_be_named_as_one_of_pythons(
    api: Api, tmp_path: Path, mode: str
) -> None:
    """pydevd leaves out every file of such a name, whosever it is."""
    module = Program.write(tmp_path / "pkg" / "queue.py", "def f():\n    return 1  # @f\n")
    calls = "import pkg.queue\npkg.queue.f()  # @call\npkg.queue.f()\n"
    main = Program.write(tmp_path / "main.py", calls)
    session = await api.session(project_root=str(tmp_path))
    await session.breakpoint(main.text, main.line("call"))
    await session.launch(main.text, launch_mode=mode)
    stepped = await session.post("/step-into", wait=30)
    assert stepped["current_location"]["path"] == module.text
    await session.breakpoint(module.text, module.line("f"))
    stopped = await session.resume()
    assert stopped["current_location"]["path"] == module.text
    assert (await session.resume())["exit_code"] == 0


async def test_copies_of_a_file_have_breakpoints_of_their_own(api: Api, tmp_path: Path) -> None:
    """Functions of one text in the same line are equal, and were one to pydevd."""
    text = "def f():\n    return 1  # @f\n"
    copies = [Program.write(tmp_path / f"{name}.py", text) for name in ("one", "two")]
    calls = "import one, two\none.f()\ntwo.f()\none.f()\n"
    main = Program.write(tmp_path / "main.py", calls)
    session = await api.session()
    placed = [await session.breakpoint(copy.text, copy.line("f")) for copy in copies]
    stops, at = [], await session.launch(main.text)
    while at["status"] == "paused":
        stops.append(os.path.basename(at["current_location"]["path"]))
        at = await session.resume()
    assert stops == ["one.py", "two.py", "one.py"]
    assert [await counted(session, one["id"]) for one in placed] == [2, 1]


@pytest.mark.parametrize(
    "name",
    [
        "with space.py",
        "naïve-ünïcode-文.py",
        "hash#mark.py",
        "per%20cent%s.py",
        "quote'\"s.py",
        "brackets[1]{2}.py",
        "no_extension",
        "a\\b.py",
    ],
)
async def test_odd_file_names(api: Api, tmp_path: Path, name: str) -> None:
    written = Program.write(tmp_path / "odd dir é" / name, LOOP)
    session = await api.session()
    await session.breakpoint(written.text, written.line("return"))
    at = await session.launch(written.text)
    assert line_of(at) == written.line("return")
    assert at["current_location"]["path"] == written.text


SOURCES = {
    "latin-1 cookie": ("# coding: latin-1\nname = 'h\xe9llo'\nlast = 1 # here\n").encode("latin-1"),
    "CRLF": b"a = 1\r\n\r\nif a:\r\n    b = 2\r\nlast = 1 # here\r\n",
    "old Mac": b"a = 1\rb = 2\rlast = 1 # here\r",
    "tabs": b"if True:\n\tif True:\n\t\ta = 1\nlast = 1 # here\n",
    "form feed": b"a = 1\n\x0c\nb = 2\n\x0clast = 1 # here\n",
    "BOM": b"\xef\xbb\xbfa = 1\nlast = 1 # here\n",
    "no newline at the end": b"a = 1\nlast = 1 # here",
    "vertical tab and separators in a string": (
        b"a = 'x\x0b\xc2\x85\xe2\x80\xa8y'\nlast = 1 # here\n"
    ),
}


@pytest.mark.parametrize("kind", SOURCES)
async def test_odd_files(api: Api, tmp_path: Path, kind: str) -> None:
    content = SOURCES[kind]
    path = tmp_path / "odd.py"
    path.write_bytes(content)
    before = content[: content.index(b"last")]
    normal = before.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    line = normal.count(b"\n") + 1
    session = await api.session()
    placed = await session.breakpoint(str(path), line)
    assert placed["verified"] is True
    at = await session.launch(str(path), include=["source"])
    assert line_of(at) == line
    shown = {item["line"]: item["text"] for item in at["stop"]["source"]}
    assert shown[line].strip("\x0c") == "last = 1 # here"
    assert (await session.resume())["exit_code"] == 0
