"""Checks in all code that may write what is watched: given to it, and taken away again.

As with breakpoints, functions get another code, and codes that become functions are replaced where
they lie. What is under way goes on without. Knows where codes are. Refuses to know which of them
may write.
"""

from __future__ import annotations

import gc
import inspect
import itertools
import threading
import types
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.failures.own_code import is_of_library
    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import is_debugger_file
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.traps.going_on import goes_on_checked
    from relay.debuggers.debugpy.debuggee.probe.traps.instructions import NoTrapError
    from relay.debuggers.debugpy.debuggee.probe.traps.placing import (
        AT_FIRST_CALL,
        CODE_OBJECT,
        FUNCTION,
        GOING_ON,
        every_frame,
        put_inner,
        trapped_code,
        traps_state,
    )


class LoadedCode(NamedTuple):
    """What there is that runs code, or may."""

    functions: list[Any]
    going_on: list[Any]
    """Generators and coroutines that have begun, or may."""
    in_sets: list[Any]
    """Codes by which the program tells frames apart, as jinja2 does those that tracebacks leave out."""


def loaded_code() -> LoadedCode | None:
    """All of the process; None if it cannot be known.

    What was set aside from garbage collection before the program began comes back to it: nothing
    else lists it.
    """
    frozen = gc.get_freeze_count()
    if (
        not traps_state.are_set
        or frozen > traps_state.frozen
        or (frozen and not traps_state.is_launched)
    ):
        return None
    if frozen:
        gc.unfreeze()
        traps_state.frozen = 0
    return _listed_code()


def _listed_code() -> LoadedCode:
    listed = gc.get_objects()
    functions = [one for one in listed if type(one) is FUNCTION]
    going_on = [one for one in listed if type(one) in GOING_ON]
    sets = [one for one in listed if type(one) is set or type(one) is frozenset]
    return LoadedCode(functions, going_on, [code for one in sets for code in _codes_among(one)])


def _codes_among(values: Any) -> list[Any]:
    return [one for one in tuple(values) if type(one) is CODE_OBJECT]


def place_checks(
    wanted: CodeTable,
    loaded: LoadedCode,
    find: Callable[[Any, Any], Any] | None = None,
    fail: Callable[[], Any] | None = None,
) -> bool:
    """Have these codes call their LineChecks, and all others none. False if one cannot; then none does.

    find: where a code is to have AT_FIRST_CALL, gives the LineChecks, or None, for the code and the
    function that is called. fail: what to call where one cannot have them then.
    """
    with traps_state.lock:
        before, traps_state.checks = traps_state.checks, wanted
        traps_state.find_checks, traps_state.fail_checks = find, fail
        traps_state.placing = threading.get_ident()
        try:
            _place_in_functions(loaded)
        except Exception:  # noqa: BLE001  NoTrapError, or bytecode that is not what we know
            traps_state.checks = CodeTable()
            if len(before) or len(wanted):
                _place_in_functions(loaded)
            return False
        finally:
            traps_state.placing = None
    return True


def take_checks_away() -> None:
    """Give the program its own code back."""
    if len(traps_state.checks):
        place_checks(CodeTable(), _listed_code())


def hear_new_code(
    heard: Callable[[str], Any] | None, meet: Callable[[Any], Any] | None = None
) -> None:
    """Whom to call, with the audit event, before code may come that nobody has looked at; and with a
    frame that may begin to run such code. None: nobody any more."""
    traps_state.heard, traps_state.meet_new = heard, meet


def look_within(code: Any, is_known: Callable[[Any], bool]) -> None:
    """A code is about to run that nobody has looked at: what it makes functions of gets its checks as it
    is called. is_known: whether a code in it has been looked at, for one that is not any more."""
    with traps_state.lock:
        before, traps_state.placing = traps_state.placing, threading.get_ident()
        try:
            _expect_within(code, is_known)
            trapped_code(code)
        finally:
            traps_state.placing = before


def _expect_within(code: Any, is_known: Callable[[Any], bool]) -> None:
    for inner in code.co_consts:
        if type(inner) is CODE_OBJECT and not is_known(inner):
            traps_state.checks[inner] = AT_FIRST_CALL
            _expect_within(inner, is_known)


def original_of(code: Any) -> Any:
    """The code as the program has it."""
    entry = traps_state.codes.get(code)
    return code if entry is None else entry.original


def has_its_checks(code: Any) -> bool:
    """Whether a code that may be under way has those that it is to have, and is to have some."""
    entry = traps_state.codes.get(code)
    return entry is not None and entry.checks is not None and code in entry.checked


def is_to_have_checks(code: Any) -> bool:
    checks = traps_state.checks.get(original_of(code))
    return checks is not None and checks is not AT_FIRST_CALL


def is_at_own_work() -> bool:
    """Whether what is called in this thread now is the debugger's doing."""
    return bool(traps_state.at_work) and threading.get_ident() in traps_state.at_work


def met_first(code: Any, function: Any, goes_on: bool) -> Any:
    """A function is called whose code was to be made then. What its frame is to go on in, from the
    beginning; None: it has nothing to check.

    goes_on: whether the frame can. What is called meanwhile, to make it, goes on without.
    """
    return None if is_at_own_work() else at_own_work(_met_first, code, function, goes_on)


def at_own_work(function: Callable[..., Any], *arguments: Any) -> Any:
    """What the call gives. What it calls in this thread, such as code of libraries, is not the program's
    doing, and needs no checks."""
    ident = threading.get_ident()
    traps_state.at_work.add(ident)
    try:
        return function(*arguments)
    finally:
        traps_state.at_work.discard(ident)


def _met_first(code: Any, function: Any, goes_on: bool) -> Any:
    try:
        made = _made_at_first_call(code, function)
    except Exception as error:
        if not is_raised_by_debugger(error):
            raise
        made, goes_on = code, False
    if made is None:
        return None
    if not goes_on or function.__code__ is not made:
        attempt(traps_state.fail_checks)
        return None
    return made


def go_on_with_checks(frame: Any, checks: Any, is_at_line: bool) -> bool:
    """Have a frame of this thread that runs without its LineChecks go on with them. False: it cannot.

    is_at_line: whether its trace function is called for a line.
    """
    with traps_state.lock:
        before, traps_state.placing = traps_state.placing, threading.get_ident()
        try:
            original = original_of(frame.f_code)
            traps_state.checks[original] = checks
            trapped_code(original)
            entry = traps_state.codes.get(original)
            made = goes_on_checked(frame, original, entry.lines, checks, is_at_line)
            if made is not None:
                entry.variants.append(made)
                entry.checked[made] = True
                traps_state.codes[made] = entry
        finally:
            traps_state.placing = before
        return made is not None


def is_raised_by_debugger(error: Exception) -> bool:
    """Whether an exception that the debugger's own work has ended with is due to that: not to a handler of a
    signal, nor raised in this thread by another one."""
    if type(error).__module__ != "builtins" and not isinstance(error, NoTrapError):
        return False
    tb: Any = error.__traceback__
    while tb is not None:
        frame, tb = tb.tb_frame, tb.tb_next
        file = frame.f_code.co_filename
        if not is_debugger_file(file) and (not is_of_library(file) or _handles_signal(frame)):
            return False
    return True


def _handles_signal(frame: Any) -> bool:
    """Whether a frame was called with a signal's number and the frame that it came in."""
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + bool(code.co_flags & inspect.CO_VARARGS)]
    given: list[Any] = [frame.f_locals.get(name) for name in names]
    if names and type(given[-1]) is tuple:
        given[-1:] = given[-1]
    return any(
        isinstance(number, int) and type(within) is types.FrameType
        for number, within in itertools.pairwise(given)
    )


def _made_at_first_call(code: Any, function: Any) -> Any:
    with traps_state.lock:
        entry = traps_state.codes.get(code)
        if entry is None or entry.checks is None:
            return None
        before, traps_state.placing = traps_state.placing, threading.get_ident()
        try:
            original = entry.original
            if traps_state.checks.get(original) is AT_FIRST_CALL:
                found = traps_state.find_checks(original, function)
                if found is None:
                    traps_state.checks.pop(original)
                else:
                    traps_state.checks[original] = found
            made = trapped_code(original)
            if function.__code__ is code:
                function.__code__ = made
            for holder, at in entry.holders:
                put_inner(holder, at, made)
        finally:
            traps_state.placing = before
        return made if made in entry.checked else None


def _place_in_functions(loaded: LoadedCode) -> None:
    concerned: dict[int, bool] = {}
    for function in loaded.functions:
        code = function.__code__
        if _is_concerned(code, concerned):
            trapped = trapped_code(code)
            if trapped is not code:
                function.__code__ = trapped
    codes = [frame.f_code for frame in every_frame()]
    codes += [getattr(one, GOING_ON[type(one)][0]) for one in loaded.going_on]
    for code in codes:  # of what they make functions
        if _is_concerned(code, concerned):
            trapped_code(code)


def _is_concerned(code: Any, known: dict[int, bool]) -> bool:
    """Whether it, or a code in it, has checks, or is to have some."""
    found = known.get(id(code))
    if found is None:
        entry = traps_state.codes.get(code)
        original = code if entry is None else entry.original
        found = original in traps_state.checks or (entry is not None and entry.checks is not None)
        for inner in original.co_consts:
            if type(inner) is CODE_OBJECT and _is_concerned(inner, known):
                found = True
        known[id(code)] = found
    return found
