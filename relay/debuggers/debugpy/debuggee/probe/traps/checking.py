"""Checks in all code that may write what is watched: given to it, and taken away again.

As with breakpoints, functions get another code, and codes that become functions are replaced where
they lie. What is under way goes on without. Knows where codes are. Refuses to know which of them
may write.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.frames.frame_moves import (
        function_of,
        go_on_in,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import frames_of_all_threads
    from relay.debuggers.debugpy.debuggee.probe.process.outside import is_from_outside
    from relay.debuggers.debugpy.debuggee.probe.process.tracked_objects import objects_of
    from relay.debuggers.debugpy.debuggee.probe.traps.beginnings import is_yet_to_begin
    from relay.debuggers.debugpy.debuggee.probe.traps.inserted import landing_in
    from relay.debuggers.debugpy.debuggee.probe.traps.instructions import NoTrapError
    from relay.debuggers.debugpy.debuggee.probe.traps.line_checks import LineChecks
    from relay.debuggers.debugpy.debuggee.probe.traps.trapped_codes import (
        CODE_OBJECT,
        FUNCTION,
        GOING_ON,
        PlacingTraps,
        code_with_checks_found,
        give_code,
        trapped_code,
        traps_state,
    )
    from relay.debuggers.debugpy.debuggee.probe.traps.under_way import go_on_in_own_code


def can_have_checks() -> bool:
    """Whether codes of this process are given any."""
    return traps_state.are_set


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
    return LoadedCode(objects_of(FUNCTION), objects_of(*GOING_ON))


def place_checks(wanted: CodeTable, loaded: LoadedCode) -> bool:
    """Have these codes call their LineChecks, and all others none. False if one cannot; then none does."""
    with PlacingTraps():
        before, traps_state.checks = traps_state.checks, wanted
        try:
            _place_in_functions(loaded)
        except Exception as error:
            if is_from_outside(error):
                raise
            traps_state.checks = CodeTable()
            if len(before) or len(wanted):
                _place_in_functions(loaded)
            return False
    return True


def take_checks_away() -> None:
    """Give the program its own code back."""
    if len(traps_state.checks):
        place_checks(CodeTable(), _listed_code())


def hear_new_code(
    heard: Callable[[], Any] | None, begins: Callable[[Any, Any], Any] | None = None
) -> None:
    """Whom to call before code may come that nobody has looked at; None: nobody any more. begins: and
    where a frame begins, which is to be given its checks: with what is known of its code."""
    traps_state.heard, traps_state.begins = heard, begins


def give_checks(entry: Any, frame: Any) -> bool:
    """Have a frame that begins go on in a code with checks, as all that run it after. False where that
    cannot be."""
    with PlacingTraps():
        try:
            present, function = code_with_checks_found(entry), function_of(frame)
            is_its_own = type(function) is FUNCTION and function.__code__ is frame.f_code
            if is_its_own and not give_code(function, present):
                return False
        except NoTrapError:
            return False
    landing = landing_in(present)
    return entry.checks is None or (landing is not None and go_on_in(frame, present, landing))


def give_checks_under_way(frame: Any, is_at_line: bool, own: LineChecks | None) -> bool:
    """Have a frame of this thread that is under way go on in a code with checks, made for it. False where
    that cannot be: see `go_on_in_own_code`."""
    with PlacingTraps():
        try:
            if own is not None:
                trapped_code(frame.f_code)
            entry = traps_state.codes.get(frame.f_code)
            if entry is None:
                return False
            if own is None:
                code_with_checks_found(entry)
                if entry.checks is None:  # it cannot write, as it turns out
                    return True
            return go_on_in_own_code(entry, frame, is_at_line, own)
        except NoTrapError:
            return False


def original_of(code: Any) -> Any:
    """The code as the program has it."""
    entry = traps_state.codes.get(code)
    return code if entry is None else entry.original


def has_its_checks(frame: Any) -> bool:
    """Whether a frame has those that it is to have, or gets them as it begins; and is to have some."""
    entry = traps_state.codes.get(frame.f_code)
    if entry is None or entry.checks is None or frame.f_code not in entry.checked:
        return False
    return frame.f_code is not entry.begun or is_yet_to_begin(frame)


def is_to_have_checks(code: Any) -> bool:
    return original_of(code) in traps_state.checks


def _place_in_functions(loaded: LoadedCode) -> None:
    concerned: dict[int, bool] = {}
    for function in loaded.functions:
        code = function.__code__
        if _is_concerned(code, concerned):
            trapped = trapped_code(code)
            is_given = trapped is code or give_code(function, trapped)
            if not is_given and is_to_have_checks(code):
                raise NoTrapError("others keep facts by the code")
    codes = [frame.f_code for _, frame in frames_of_all_threads()]
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
