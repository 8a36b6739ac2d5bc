"""On Python 3.11 breakpoints are met by traps in the bytecode: wherever a code comes from."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api
from tests.programs import Program

Write = Callable[..., Program]

TRACED = {"DEBUG_RELAY_EVERY_LINE": "1"}

MEASURED = """
    import sys
    import coverage

    measuring = coverage.Coverage(data_file=None, branch=True)
    measuring.start()
    import measured
    measured.call(3)
    measuring.stop()
    _, lines, _, missing, _ = measuring.analysis2(measured)
    print(lines, missing)
"""
LIBRARY = """
    def call(number):
        if number < 0:
            return 0
        total = number  # @here
        return inner(total)

    def inner(total):
        total += 1  # @inner
        return total
"""


@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="coverage is installed beside the tests only"
)
async def test_coverage_measures_on_where_breakpoints_are_hit(api: Api, program: Write) -> None:
    """It sets its trace function in C, in the place that the debugger's would have."""
    measuring, library = program(MEASURED), program(LIBRARY, "measured.py")
    session = await api.session(python_path=installed_python("3.11"))
    for mark in ("here", "inner"):
        await session.breakpoint(library.text, library.line(mark))
    stop = await session.launch(measuring.text)
    lines = []
    while stop["status"] == "paused":
        lines.append(stop["current_location"]["line"])
        stop = await session.resume()
    assert lines == [library.line(mark) for mark in ("here", "inner")]
    assert await session.printed() == "[1, 2, 3, 4, 5, 7, 8, 9] [3]\n"


PARTS = """
    import types

    def first(number):
        number += 1  # @first
        return number

    code = first.__code__
    names = [
        "argcount", "posonlyargcount", "kwonlyargcount", "nlocals", "stacksize", "flags", "code",
        "consts", "names", "varnames", "filename", "name", "qualname", "firstlineno", "linetable",
        "exceptiontable", "freevars", "cellvars",
    ]
    parts = [getattr(code, "co_" + name) for name in names]
    text = open(__file__).read().replace("number += 1", "number += 2")
    scope = {"__name__": "other"}
    other = next(
        one for one in compile(text, __file__, "exec").co_consts if isinstance(one, types.CodeType)
    )
    for made in (
        types.CodeType(*parts),
        code.replace(co_name="renamed"),
        types.CodeType(*[getattr(other, "co_" + name) for name in names]),
    ):
        print(types.FunctionType(made, globals())(1))
"""


async def test_functions_made_of_code_that_was_made_stop_too(api: Api, program: Write) -> None:
    """As those are that cloudpickle brings to another process."""
    parts = program(PARTS)
    session = await api.session(python_path=installed_python("3.11"))
    await session.breakpoint(parts.text, parts.line("first"))
    stop = await session.launch(parts.text)
    names = []
    while stop["status"] == "paused":
        names.append(stop["current_location"]["function"])
        stop = await session.resume()
    assert names == ["first", "renamed", "first"]
    assert await session.printed() == "2\n2\n3\n"


SENT = """
    import sys, types

    text = open(sys.argv[1]).read()
    sent = next(
        one for one in compile(text, sys.argv[1], "exec").co_consts if isinstance(one, types.CodeType)
    )
    names = [
        "argcount", "posonlyargcount", "kwonlyargcount", "nlocals", "stacksize", "flags", "code",
        "consts", "names", "varnames", "filename", "name", "qualname", "firstlineno", "linetable",
        "exceptiontable", "freevars", "cellvars",
    ]
    made = types.CodeType(*[getattr(sent, "co_" + name) for name in names])
    print(types.FunctionType(made, globals())(1))
"""


async def test_code_is_made_whose_file_nobody_has_loaded(api: Api, program: Write) -> None:
    other = program("def work(number):\n    return number + 1  # @work\n", "other.py")
    session = await api.session(python_path=installed_python("3.11"))
    await session.breakpoint(other.text, other.line("work"))
    stop = await session.launch(program(SENT).text, args=[other.text])
    assert stop["current_location"]["function"] == "work"
    await session.resume()
    assert await session.printed() == "2\n"


DEEP = """
    import sys, traceback

    def deeper(number):
        below = number + 1  # @deeper
        return deeper(below)  # @call

    def after():
        return 1  # @after

    try:
        deeper(0)
    except RecursionError as error:
        print({entry.lineno for entry in traceback.extract_tb(error.__traceback__)[1:]})
    after()
"""


async def test_a_recursion_without_end_is_told_of_as_alone(api: Api, program: Write) -> None:
    deep = program(DEEP)
    session = await api.session(python_path=installed_python("3.11"))
    placed = await session.breakpoint(deep.text, deep.line("deeper"), condition="number < 0")
    await session.breakpoint(deep.text, deep.line("after"))
    stop = await session.launch(deep.text)
    assert (stop["status"], stop["current_location"]["line"]) == ("paused", deep.line("after"))
    assert (await session.resume())["status"] == "terminated"
    assert await session.printed() == f"{{{deep.line('call')}}}\n"
    assert (await session.get(f"/breakpoints/{placed['id']}"))["hit_count"] == 0


LATE = """
    def outer(start):
        def inner(number):
            return start + number  # @inner
        return inner

    def numbers():
        yield 1
        yield 2  # @second

    kept = outer(1)
    begun = numbers()
    next(begun)
    print("begun")  # @begun
    print(kept(2), outer(2)(2), next(begun), list(numbers()))
    print(len(kept.__code__.co_consts))  # @gone
    kept(3)
"""


async def test_what_is_loaded_gets_its_traps_and_is_rid_of_them(api: Api, program: Write) -> None:
    late = program(LATE)
    session = await api.session(python_path=installed_python("3.11"))
    for mark in ("begun", "gone"):
        await session.breakpoint(late.text, late.line(mark))
    await session.launch(late.text)
    wanted = [{"file": late.text, "line": late.line(mark)} for mark in ("inner", "second", "gone")]
    placed = await session.post("/breakpoints", breakpoints=wanted)
    stops: list[Any] = []
    while (stop := await session.resume())["current_location"]["line"] != late.line("gone"):
        stops.append(stop["current_location"]["line"])
    inner, second = late.line("inner"), late.line("second")
    assert stops == [inner, inner, second, second]
    assert (await session.evaluate("len(kept.__code__.co_consts)"))["result"] != "1"
    for one in placed["breakpoints"][:2]:
        await session.delete(f"/breakpoints/{one['id']}")
    assert (await session.resume())["status"] == "terminated"
    assert (await session.printed()).splitlines()[-1] == "1"


KNOWN = """
    import sys
    import weakref

    are_known = weakref.WeakKeyDictionary()

    def known(function):
        are_known[function.__code__] = True
        return function

    @known
    def call(number):
        number += 1  # @first
        number += 2  # @second
        return number, sys._getframe().f_code in are_known

    print("begun")  # @begun
    print(call(1))
    print(call(2))  # @between
    print(call(3))
"""


async def test_a_code_that_others_keep_facts_by_stays(api: Api, program: Write) -> None:
    """As trio does: whom Ctrl-C may not interrupt is known by the code of the frame."""
    known = program(KNOWN)
    session = await api.session(python_path=installed_python("3.11"))
    first, second, between = (known.line(mark) for mark in ("first", "second", "between"))
    for line in (known.line("begun"), between):
        await session.breakpoint(known.text, line)
    await session.launch(known.text)
    placed = await session.breakpoint(known.text, first)
    lines = [(await session.resume())["current_location"]["line"] for _ in range(2)]
    assert lines == [first, between]
    await session.breakpoint(known.text, second)
    lines = [(await session.resume())["current_location"]["line"] for _ in range(2)]
    assert lines == [first, second]
    await session.delete(f"/breakpoints/{placed['id']}")
    assert (await session.resume())["current_location"]["line"] == second
    assert (await session.resume())["status"] == "terminated"
    printed = await session.printed()
    assert printed.splitlines() == ["begun", "(4, True)", "(5, True)", "(6, True)"]


IN_RUNNING_FUNCTIONS = """
    import contextlib
    import ctypes

    ctypes.pythonapi.PyThreadState_Get.restype = ctypes.c_void_p
    seen = []

    def see(number=0):
        "Whether the interpreter calls a trace function."
        state = ctypes.pythonapi.PyThreadState_Get()
        seen.append(bool(ctypes.c_void_p.from_address(state + 72).value))
        return number

    def main(depth):
        print("start")  # @start
        see()
        total = 0
        for number in range(3):
            total += number
            if number == 1:
                continue
            with contextlib.suppress(ZeroDivisionError):
                total / 0
            see()
        if depth:
            total += main(depth - 1)
        try:
            {}["left"]
        except KeyError:
            total += 1
        finally:
            see()
        more = [see(number)
                for number in range(2)]
        return total  # @within

    def outer():
        try:
            found = main(1)
        except TypeError:
            found = see(5)
        while found < 7:
            found += 1
        by_c = [*map(later, [1, 2])]
        see()
        return found  # @after

    def later(number):
        return see(number)

    print("result", outer())
    see()
    print("end", seen.count(True) if @LOOKS else "")  # @end
"""


async def stops_of_late_breakpoints(api: Api, program: Program, env: Any) -> tuple[list[Any], str]:
    """In a running function, and in its callers, on each line, once it has stopped."""
    session = await api.session(python_path=installed_python("3.11"))
    await session.breakpoint(program.text, program.line("start"))
    await session.launch(program.text, env=env)
    first, last = program.line("start"), IN_RUNNING_FUNCTIONS.strip().count("\n") + 1
    analysed = await session.post(
        "/breakpoints",
        breakpoints=[
            {"source": {"path": program.text}, "line": line} for line in range(first + 1, last + 1)
        ],
    )
    assert sum(one["verified"] for one in analysed["breakpoints"]) > 20
    found: list[Any] = []
    while True:
        stop = await session.resume(wait=60)
        if stop["status"] == "terminated":
            return found, (await session.printed())
        found.append((stop["stop_reason"], *stop["current_location"].values()))


async def test_breakpoints_that_come_late_stop_running_functions(api: Api, program: Write) -> None:
    text = program(IN_RUNNING_FUNCTIONS.replace("@LOOKS", "False"))
    wanted, printed = await stops_of_late_breakpoints(api, text, TRACED)
    found, looked = await stops_of_late_breakpoints(api, text, {})
    assert len(wanted) > 30
    assert found == wanted
    assert looked == printed


async def test_running_functions_are_not_traced_for_late_breakpoints(
    api: Api, program: Write
) -> None:
    text = program(IN_RUNNING_FUNCTIONS.replace("@LOOKS", "True"))
    session = await api.session(python_path=installed_python("3.11"))
    await session.breakpoint(text.text, text.line("start"))
    await session.launch(text.text)
    for mark in ("within", "after", "end"):
        await session.breakpoint(text.text, text.line(mark))
    found = []
    while True:
        stop = await session.resume(wait=60)
        if stop["status"] == "terminated":
            break
        found.append(stop["current_location"]["line"])
    wanted = ["start", "within", "within", "after", "end"]
    assert found == [text.line(mark) for mark in wanted]
    assert (await session.printed()).splitlines()[-1] == "end 0"
