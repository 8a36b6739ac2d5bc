"""Breakpoints, as the relay means them: their lines, and their conditions in the program's frames.

pydevd counts hits anew whenever a breakpoint is set in the same file, compiles the condition at
each hit, and takes a condition that raises for one that is false, without a word. Here counts go
on, conditions are compiled once, and one that raises stops the program and says why.

It also compiles the whole file for each breakpoint in it, to move it to a line with code, and
looks through all running code after each: seconds for a thousand. The relay has compiled before,
once, and moves none; and looking once a request is enough.
Part of `probe.py`, which says what holds for the whole probe.
"""
# ruff: noqa: BLE001
# Broad excepts are the trade here: whatever the program's objects raise is an answer.

from __future__ import annotations

import functools
import itertools
import operator
import os
import re
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from relay.adapters.python.probe_frames import debugger
    from relay.adapters.python.probe_values import attempt, exception_line

# What pydevd makes of a hit condition, and what `translate_both` of both conditions.
_HITS = re.compile(
    r"@HIT@\s*(==|>=|<=|>|<|%)\s*(\d+)(?:\s*==\s*0)?(?:\s+and\s+\((.*)\))?\s*", re.DOTALL
)
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "%": lambda hits, number: hits % number == 0,
}
_hits: dict[tuple[str, int, str], Iterator[int]] = {}


def mend_breakpoints() -> bool:
    """From now on. Before the first breakpoint is set, if it is to be one of these."""
    py_db = debugger()
    if not getattr(py_db.handle_breakpoint_condition, "mended", False):
        _evaluate_here(py_db)
        attempt(_move_no_lines)
        attempt(_look_once_a_request, py_db)
    return True


def _evaluate_here(py_db: Any) -> None:
    original = py_db.handle_breakpoint_condition

    def handle_breakpoint_condition(info: Any, breakpoint: Any, frame: Any) -> bool:
        if type(breakpoint).__name__ != "LineBreakpoint":
            return bool(original(info, breakpoint, frame))
        return _holds(breakpoint, frame)

    handle_breakpoint_condition.mended = True  # type: ignore[attr-defined]
    py_db.handle_breakpoint_condition = handle_breakpoint_condition


def _move_no_lines() -> None:
    def no_lines(path: Any) -> Any:
        raise NotImplementedError  # what pydevd itself says where it cannot know: it goes on

    api: Any = sys.modules["_pydevd_bundle.pydevd_api"]
    api._get_code_lines = no_lines


def _look_once_a_request(py_db: Any) -> None:
    processor = sys.modules["pydevd"].PyDevJsonCommandProcessor
    set_breakpoints, changed = processor.on_setbreakpoints_request, py_db.on_breakpoints_changed
    waiting: list[bool] = []  # by whether breakpoints were only removed

    def on_breakpoints_changed(removed: bool = False) -> None:
        waiting.append(removed)

    def on_setbreakpoints_request(self: Any, py_db: Any, request: Any) -> Any:
        py_db.on_breakpoints_changed = on_breakpoints_changed
        try:
            return set_breakpoints(self, py_db, request)
        finally:
            py_db.on_breakpoints_changed = changed
            if waiting:
                changed(removed=all(waiting))
                waiting.clear()

    processor.on_setbreakpoints_request = on_setbreakpoints_request


def _holds(breakpoint: Any, frame: Any) -> bool:
    """Whether to stop. Whatever the program's objects raise is a reason to."""
    condition = breakpoint.condition
    try:
        if breakpoint.hit_condition:
            test, number, condition = _parsed(breakpoint.hit_condition)
            if not test(_count_hit(breakpoint, frame), number):
                return False
        return not condition or bool(eval(_compiled(condition), frame.f_globals, frame.f_locals))
    except BaseException as error:
        attempt(_complain, breakpoint, frame, error)
        return True


@functools.lru_cache(maxsize=1000)
def _parsed(hit_condition: str) -> tuple[Callable[[int, int], bool], int, str | None]:
    match = _HITS.fullmatch(hit_condition)
    if match is None:
        raise ValueError("not a hit condition: " + hit_condition)
    return _COMPARISONS[match[1]], int(match[2]), match[3]


@functools.lru_cache(maxsize=1000)
def _compiled(condition: str) -> Any:
    return compile(condition, "<condition>", "eval", 0, True)


def _count_hit(breakpoint: Any, frame: Any) -> int:
    key = (frame.f_code.co_filename, breakpoint.line, breakpoint.hit_condition)
    counter = _hits.get(key)
    if counter is None:
        counter = _hits.setdefault(key, itertools.count(1))
    return next(counter)  # in C: two threads never get the same


def _complain(breakpoint: Any, frame: Any, error: BaseException) -> None:
    place = f"{os.path.basename(frame.f_code.co_filename)}:{breakpoint.line}"
    text = f"Breakpoint at {place}: its condition raised {exception_line(error)}\n"
    py_db = debugger()
    py_db.writer.add_command(py_db.cmd_factory.make_console_message(text))
