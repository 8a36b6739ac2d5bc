"""Checks in all code that may write what is watched: given to it, and taken away again.

As with breakpoints, functions get another code, and codes that become functions are replaced where
they lie. What is under way goes on without. Knows where codes are. Refuses to know which of them
may write.
"""

from __future__ import annotations

import gc
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.failures.own_code import is_installed
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import is_debugger_file
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
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
    return LoadedCode(functions, [one for one in listed if type(one) in GOING_ON])


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


def hear_new_code(heard: Callable[[], Any] | None) -> None:
    """Whom to call before code may come that nobody has looked at; None: nobody any more."""
    traps_state.heard = heard


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


def met_first(code: Any, function: Any, goes_on: bool) -> Any:
    """A function is called whose code was to be made then. What its frame is to go on in, from the
    beginning; None: it has nothing to check.

    goes_on: whether the frame can. What is called meanwhile, to make it, goes on without.
    """
    ident = threading.get_ident()
    if ident in traps_state.meeting:
        return None
    traps_state.meeting.add(ident)
    try:
        made = _made_at_first_call(code, function)
    except Exception as error:
        if not _is_raised_by_debugger(error):
            raise  # of a handler of the program's, for a signal
        made, goes_on = code, False
    finally:
        traps_state.meeting.discard(ident)
    if made is None:
        return None
    if not goes_on or function.__code__ is not made:
        attempt(traps_state.fail_checks)
        return None
    return made


def _is_raised_by_debugger(error: Exception) -> bool:
    tb: Any = error.__traceback__
    files = []
    while tb is not None:
        files.append(tb.tb_frame.f_code.co_filename)
        tb = tb.tb_next
    return all(is_debugger_file(file) or is_installed(file) for file in files)


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
