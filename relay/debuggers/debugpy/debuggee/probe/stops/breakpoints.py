"""Breakpoints, as the relay means them: their lines, and their conditions in the program's frames.

pydevd counts hits anew whenever a breakpoint is set in the same file, compiles the condition at
each hit, and takes a condition that raises for one that is false, without a word. Here counts go
on, conditions are compiled once, and one that raises stops the program and says why.

Hits are counted for every breakpoint, under the name that the relay wrote at the end of its
condition, and reported: at a stop, at the end, on request, and now and then while the program runs.

It also compiles the whole file for each breakpoint in it, to move it to a line with code, and
looks through all running code after each: seconds for a thousand. The relay has compiled before,
once, and moves none; and looking once a request is enough.
"""
# Broad excepts are the trade here: whatever the program's objects raise is an answer.

from __future__ import annotations

import ast
import functools
import itertools
import operator
import os
import re
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from relay.debuggers.debugpy.debuggee.probe.frames.made_frames import is_made_of_place
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import debugger
    from relay.debuggers.debugpy.debuggee.probe.frames.statement_visits import comes_back
    from relay.debuggers.debugpy.debuggee.probe.hooks.events import send_event
    from relay.debuggers.debugpy.debuggee.probe.hooks.limitations import apply_patch
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import is_patched, patch
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt, exception_line
    from relay.debuggers.debugpy.debuggee.probe.process.outside import is_from_outside
    from relay.debuggers.debugpy.debuggee.probe.stops.asked_expressions import AskedExpression
    from relay.debuggers.debugpy.debuggee.probe.stops.captures import (
        captures_by_name,
        captures_here,
        complains_here,
        forget_captures_at_fork,
    )
    from relay.debuggers.debugpy.debuggee.probe.stops.direct_questions import (
        question_of_pydevd,
        questions,
    )
    from relay.debuggers.debugpy.debuggee.probe.stops.functions import (
        function_stops,
        new_places,
    )
    from relay.debuggers.debugpy.debuggee.probe.stops.threads import SUSPENDED
    from relay.debuggers.debugpy.debuggee.probe.writes.client_writes import as_clients_doing

HITS_EVENT = "relayHits"
_REPORT_EVERY = 0.25  # seconds between two reports of hits that stop nothing

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
# The relay's name for the breakpoint, as a comment behind its condition.
_NAME = re.compile(r"(.*?)\s*#relay:(\S+)\s*", re.DOTALL)
# By name and what the hit condition compares with.
pass_counts: dict[tuple[str, Callable[[int, int], bool], int], Iterator[int]] = {}
totals: dict[str, Iterator[int]] = {}  # by name
reported_hits: dict[str, int] = {}
_reported_at = [0.0]
# By the thread that is about to stop there: by name, which hit of it this is.
stopping_names: dict[int, dict[str, int]] = {}


def patch_breakpoints() -> bool:
    """From now on. Before the first breakpoint is set, if it is to be one of these."""
    py_db = debugger()
    if not has_patched_conditions(py_db):
        _start_anew(py_db)
    patch(py_db, "handle_breakpoint_condition", _evaluate_here, _asking)
    _ask_at_every_hit()
    apply_patch("quick breakpoints", _set_quickly)
    apply_patch("log points", _make_texts)
    attempt(forget_captures_at_fork)
    return True


def _start_anew(py_db: Any) -> None:
    """pydevd keeps the breakpoints of each code with the number of their latest change, and a new
    PyDB (of an attach, of a forked child) counts from 0 again: it would find those of the last."""
    pydevd: Any = sys.modules["pydevd"]
    born = pydevd._debug_relay_born = getattr(pydevd, "_debug_relay_born", 0) % 2000 + 1
    py_db.mtime += born * 1_000_000  # an int in C


def _asking(original: Any, slot: list[Any]) -> Any:
    def asks(info: Any, breakpoint: Any, frame: Any) -> bool:
        stops: bool = slot[0](original, info, breakpoint, frame)
        # The last act, and no call: no other thread runs between it and pydevd's own look whether
        # this one is to stand. If it runs on, what was asked about is no longer its line.
        if not (stops or info.pydev_state == SUSPENDED or questions.knows_begin):
            questions.asked = None
        return stops

    return asks


def _evaluate_here(original: Any, info: Any, breakpoint: Any, frame: Any) -> bool:
    kind = type(breakpoint).__name__
    if kind == "LineBreakpoint":
        return question_of_pydevd(breakpoint, frame) and not _is_logged(breakpoint, frame)
    if kind == "FunctionBreakpoint":
        return announce_hits(function_stops(frame))
    return bool(original(info, breakpoint, frame))


def _make_texts() -> None:
    patch(debugger(), "handle_breakpoint_expression", _leave_text)


def _leave_text(original: Any, breakpoint: Any, *about: Any) -> None:
    """pydevd makes the text before it asks whether the condition holds: it is made after that, for itself."""
    if type(breakpoint).__name__ != "LineBreakpoint":
        original(breakpoint, *about)


def _text_of_log_point(breakpoint: Any, frame: Any) -> str:
    """pydevd's own takes whatever is raised for the text, as if `{days[0]}` were 0 and not a KeyError."""
    try:
        code = _compiled_text(breakpoint.expression)
        value = as_clients_doing(eval, code, frame.f_globals, frame.f_locals)
    except BaseException as error:
        if is_from_outside(error):
            raise
        value = complaint_of(breakpoint, frame, "log message", error)
    return "" if value is None else str(value)


@functools.lru_cache(maxsize=1000)
def _compiled_text(expression: str) -> Any:
    return compile(expression.lstrip(" \t"), "<string>", "eval", 0, True)


def _is_logged(breakpoint: Any, frame: Any) -> bool:
    """Whether it is a log point, whose text is written then.

    pydevd would write it after the question: a thread that goes on from there would still count as
    asked when it comes to its next line, and that one's breakpoint would be passed over.
    """
    if breakpoint.is_logpoint:
        write_log(breakpoint, frame)
    return bool(breakpoint.is_logpoint)


def write_log(breakpoint: Any, frame: Any) -> None:
    """Write the text of a log point, whose condition holds."""
    text = _text_of_log_point(breakpoint, frame)
    if text:
        py_db = debugger()
        py_db.writer.add_command(py_db.cmd_factory.make_io_message(text + os.linesep, "1"))


def stops_at(breakpoint: Any, frame: Any, ask: Callable[[Any], Any] | None = None) -> bool:
    """Whether a breakpoint of a line stops the program, or is a log point whose text is to be written;
    if not, what it records is done. ask: gives what the condition is worth, if that is known."""
    if is_made_of_place(frame):
        return False  # somebody raises there what another process has raised
    named = names_in_condition(breakpoint.condition)
    name = named[1]
    goes_on = breakpoint.is_logpoint or name in captures_by_name
    if goes_on and name is not None and comes_back(name, frame, breakpoint.line):
        return False
    number = breakpoint_holds(breakpoint, named, frame, ask)
    if not number:
        return False
    if breakpoint.is_logpoint:
        captures_here(name, frame)
        report_hits_soon()
        return True
    if captures_here(name, frame):
        return False
    announce_hits({} if name is None else {name: number})
    return True


def announce_hits(names: dict[str, int]) -> bool:
    """These are why this thread is about to stop. False, and nothing else, if there are none.

    names: by name, which hit of it this is.
    """
    if names:
        stopping_names[threading.get_ident()] = names
    else:
        report_hits_soon()
    return bool(names)


def hit_here() -> dict[str, int]:
    """Why this thread stops, asked once: by name, how many hits of others have come since."""
    here = stopping_names.pop(threading.get_ident(), {})
    return {name: _number_so_far(totals[name]) - number for name, number in here.items()}


def _ask_at_every_hit() -> None:
    """Also at breakpoints without a condition, or their hits would be nobody's to count."""
    line: Any = sys.modules["_pydevd_bundle.pydevd_breakpoints"].LineBreakpoint
    # A forked child that others debug has a debugger of its own, as it comes.
    patch(
        line,
        "has_condition",
        lambda original, line: original(line) or has_patched_conditions(debugger()),
    )


def has_patched_conditions(py_db: Any) -> bool:
    return is_patched(py_db, "handle_breakpoint_condition")


def _set_quickly() -> None:
    def no_lines(original: Any, path: Any) -> Any:
        raise NotImplementedError  # what pydevd itself says where it cannot know: it goes on

    patch(sys.modules["_pydevd_bundle.pydevd_api"], "_get_code_lines", no_lines)
    processor = sys.modules["pydevd"].PyDevJsonCommandProcessor
    patch(processor, "on_setbreakpoints_request", _set_breakpoints)


def _set_breakpoints(set_breakpoints: Any, processor: Any, py_db: Any, request: Any) -> Any:
    changed = py_db.on_breakpoints_changed
    waiting: list[bool] = []  # by whether breakpoints were only removed
    py_db.on_breakpoints_changed = lambda removed=False: waiting.append(removed)
    try:
        return set_breakpoints(processor, py_db, request)
    finally:
        py_db.on_breakpoints_changed = changed
        if waiting:
            changed(removed=all(waiting))


def breakpoint_holds(
    breakpoint: Any,
    named: tuple[str | None, str | None],
    frame: Any,
    ask: Callable[[Any], Any] | None = None,
) -> int:
    """Which hit of it this is, from 1; 0 if its conditions do not hold. Whatever the program's
    objects raise is a reason to stop.

    named: its condition, and the relay's name for it. ask: as `stops_at` has it.
    """
    condition, name = named
    hit = 0
    try:
        if breakpoint.hit_condition:
            test, number, condition = _parsed(breakpoint.hit_condition)
            hit = _count(name)
            place = name or f"{frame.f_code.co_filename}:{breakpoint.line}"
            if not test(_count_pass(place, test, number), number):
                return 0
        if condition and not (ask or asked_condition(condition).value_for_client)(frame):
            return 0
    except BaseException as error:
        if is_from_outside(error):
            raise
        if type(error) is RecursionError and _is_at_limit():
            return 0  # the program's own recursion has left no room to ask
        if complains_here(name):
            attempt(_complain, breakpoint, frame, error)
    return hit or _count(name)


_ASKING_FRAMES = (
    100  # frames that asking takes at most, and a condition that recurses by itself goes far beyond
)


def _is_at_limit() -> bool:
    """Whether the stack is full here, and not only within the condition."""
    depth, frame = 0, sys._getframe()
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    return depth > sys.getrecursionlimit() - _ASKING_FRAMES


@functools.lru_cache(maxsize=10_000)
def names_in_condition(condition: str | None) -> tuple[str | None, str | None]:
    """(condition, the relay's name); None for what there is not."""
    match = _NAME.fullmatch(condition or "")
    if match is None:
        return condition, None
    return (None if match[1] == "True" else match[1]), match[2]


@functools.lru_cache(maxsize=1000)
def _parsed(hit_condition: str) -> tuple[Callable[[int, int], bool], int, str | None]:
    match = _HITS.fullmatch(hit_condition)
    if match is None:
        raise ValueError("not a hit condition: " + hit_condition)
    return _COMPARISONS[match[1]], int(match[2]), match[3]


@functools.lru_cache(maxsize=1000)
def asked_condition(condition: str) -> AskedExpression:
    """Whether it holds, True or False. Raises what `compile` does."""
    tree = ast.parse(condition.lstrip(" \t"), "<condition>", "eval")
    tree.body = ast.UnaryOp(ast.Not(), ast.UnaryOp(ast.Not(), tree.body))
    return AskedExpression(ast.fix_missing_locations(tree), "<condition>")


def _count_pass(place: str, test: Callable[[int, int], bool], number: int) -> int:
    """What a hit condition counts: passes since it was set. It is new when it compares otherwise, and
    not when the condition that stands in one text with it is another."""
    key = (place, test, number)
    counter = pass_counts.get(key)
    if counter is None:
        counter = pass_counts.setdefault(key, itertools.count(1))
    return next(counter)  # in C: two threads never get the same


def _count(name: str | None) -> int:
    if name is None:
        return 1
    counter = totals.get(name)
    if counter is None:
        counter = totals.setdefault(name, itertools.count())
    return next(counter) + 1


def hits() -> dict[str, Any]:
    """How often each breakpoint was hit, by the relay's names."""
    return {"hits": {name: _number_so_far(count) for name, count in list(totals.items())}}


def _number_so_far(count: Iterator[int]) -> int:
    """The next number is the count so far; only its repr shows it without taking it."""
    return int(repr(count)[6:-1])


def new_hits() -> dict[str, int]:
    """The counts that have changed since they were reported."""
    found = {name: n for name, n in hits()["hits"].items() if reported_hits.get(name) != n}
    reported_hits.update(found)
    _reported_at[0] = time.monotonic()
    return found


def report_hits() -> None:
    """Report to the relay what it does not know yet, and where functions lie that were called."""
    py_db, found, places = debugger(), new_hits(), new_places()
    if (found or places) and py_db is not None:
        send_event(py_db, HITS_EVENT, {"hits": found, "places": places})


def report_hits_soon() -> None:
    if time.monotonic() - _reported_at[0] > _REPORT_EVERY:
        attempt(report_hits)


def _complain(breakpoint: Any, frame: Any, error: BaseException) -> None:
    text = complaint_of(breakpoint, frame, "condition", error) + "\n"
    py_db = debugger()
    py_db.writer.add_command(py_db.cmd_factory.make_console_message(text))


def complaint_of(breakpoint: Any, frame: Any, part: str, error: BaseException) -> str:
    line = getattr(breakpoint, "line", None) or frame.f_lineno
    place = f"{os.path.basename(frame.f_code.co_filename)}:{line}"
    return f"Breakpoint at {place}: its {part} raised {exception_line(error)}"
