"""Expressions that are asked at each hit of a breakpoint: what `eval` gives in the same frame."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.debuggers.debugpy.debuggee.probe import entry as _entry

probe: Any = _entry

LIMIT = 3
later = "global"


def of_caller(name: str) -> object:
    return sys._getframe(1).f_locals[name]


class Odd:
    def __bool__(self) -> bool:
        raise ValueError("neither")


def asked(source: str) -> Any:
    return probe.AskedExpression(ast.parse(source, "<asked>", "eval"), "<asked>")


def outcome(give: Callable[[], object]) -> object:
    try:
        return give()
    except Exception as error:  # noqa: BLE001  compared
        return type(error), str(error)


def evaluated(source: str, frame: types.FrameType) -> object:
    return outcome(lambda: eval(source, frame.f_globals, frame.f_locals))


def in_function(number: int, items: list[int], odd: Odd, none: None = None) -> types.FrameType:
    shared = number + 1

    def inner() -> int:
        return shared

    assert inner()
    if number < 0:
        later = "local"
        print(later)
    return sys._getframe()


def in_closure(number: int) -> types.FrameType:
    def inner(own: int) -> types.FrameType:
        assert number
        return sys._getframe()

    return inner(2)


def in_class() -> types.FrameType:
    class Body:
        number = 5
        frame = sys._getframe()

    return Body.frame


def in_module() -> types.FrameType:
    names: dict[str, Any] = {"sys": sys}
    exec("number = 6\nframe = sys._getframe()", names)
    found: types.FrameType = names["frame"]
    return found


FRAMES = {
    "function": in_function(4, [1, 2], Odd()),
    "closure": in_closure(7),
    "class body": in_class(),
    "module": in_module(),
}

AS_FUNCTIONS = (
    "number > 3",
    "number",
    "items[0] + number * LIMIT",
    "shared == number + 1",
    "len(items) > 1 and items",
    "items[99]",
    "{}['absent']",
    "number.absent",
    "1 / (number - number)",
    "not odd",
    "odd and 1",
    "later",  # of the function, where it has no value: of the module
    "nowhere",
    "none is None",
    "f'{number!r:>4}'",
    "own",
    "LIMIT",
    "True",
)
EVALUATED = (
    "[number for _ in items]",
    "any(item > number for item in items)",
    "(lambda: number)()",
    "(number := 9) + number",
    "sorted(locals())",
    "eval('number')",
    "dir()",
    "vars()['number']",
    "of_caller('number')",
    "items.count(number)",
)


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("source", [*AS_FUNCTIONS, *EVALUATED])
def test_it_is_worth_what_eval_gives(source: str, frame: str) -> None:
    one = asked(source)
    for _ in range(3):  # the first time it is made for the frame's code
        assert outcome(lambda: one.value_in(FRAMES[frame])) == evaluated(source, FRAMES[frame])


@pytest.mark.parametrize("source", AS_FUNCTIONS)
def test_plain_ones_are_functions_in_functions(source: str) -> None:
    function = asked(source).function_for(FRAMES["function"])
    given = outcome(lambda: function(FRAMES["function"]))
    if given is not probe.NOT_KNOWN:
        assert given == evaluated(source, FRAMES["function"])


@pytest.mark.parametrize("source", EVALUATED)
def test_what_may_see_the_scope_is_evaluated(source: str) -> None:
    assert asked(source).function_for(FRAMES["function"]) is None


@pytest.mark.parametrize("frame", ["class body", "module"])
def test_it_is_evaluated_where_variables_have_no_places_of_their_own(frame: str) -> None:
    assert asked("number").function_for(FRAMES[frame]) is None


def test_one_expression_serves_frames_of_every_kind_in_turns() -> None:
    one = asked("number + 1")
    for _ in range(2):
        for frame in FRAMES.values():
            assert one.value_in(frame) == evaluated("number + 1", frame)


def test_the_same_code_may_run_with_other_globals() -> None:
    code = compile("def f(own): return sys._getframe()", "<twins>", "exec")
    one = asked("own + other")
    for other in (10, 20):
        names: dict[str, Any] = {"sys": sys, "other": other}
        exec(code, names)
        names["f"].__code__ = code.co_consts[0]
        assert one.value_in(names["f"](1)) == 1 + other


PARTS = st.sampled_from(
    ["number", "items", "later", "LIMIT", "shared", "none", "nowhere", "odd", "0", "'x'"]
)
OPERATORS = ("+", "-", "//", "<", "==", "and", "or", "in")
EXPRESSIONS = st.recursive(
    PARTS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(OPERATORS), inner).map(lambda it: f"({' '.join(it)})"),
        inner.map("(not {})".format),
        inner.map("str({})".format),
        inner.map("[{}]".format),
        st.tuples(inner, inner, inner).map(lambda three: "({} if {} else {})".format(*three)),
    ),
    max_leaves=8,
)


@given(source=EXPRESSIONS, frame=st.sampled_from(["function", "closure"]))
def test_whatever_is_asked(source: str, frame: str) -> None:
    one = asked(source)
    assert outcome(lambda: one.value_in(FRAMES[frame])) == evaluated(source, FRAMES[frame])
