"""A code and its likenesses: with traps in some lines, with checks, or with a call where it begins.

Each variant may still run. Codes lie in other codes, which make functions of them: there, too, the present
one is put in the place of those before. Knows what all traps and checks of this process are. Refuses to
know where codes are, and who is to have which.
"""

from __future__ import annotations

import sys
import threading
import types
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection

    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.process.guard import frame_at
    from relay.debuggers.debugpy.debuggee.probe.traps.assembly import with_traps
    from relay.debuggers.debugpy.debuggee.probe.traps.beginnings import with_beginning
    from relay.debuggers.debugpy.debuggee.probe.traps.coming import TRAP
    from relay.debuggers.debugpy.debuggee.probe.traps.entrances import Entrance
    from relay.debuggers.debugpy.debuggee.probe.traps.instructions import NoTrapError
    from relay.debuggers.debugpy.debuggee.probe.traps.line_checks import LaterChecks, LineChecks
    from relay.debuggers.debugpy.debuggee.probe.traps.loaded_files import LoadedFiles

FUNCTION: Any = types.FunctionType
CODE_OBJECT: Any = types.CodeType
GOING_ON = {
    types.GeneratorType: ("gi_code", "gi_frame"),
    types.CoroutineType: ("cr_code", "cr_frame"),
    types.AsyncGeneratorType: ("ag_code", "ag_frame"),
}


class TrappedCode:
    """A code and its likenesses with traps."""

    __slots__ = (
        "begun",
        "checked",
        "checks",
        "entered",
        "holders",
        "lines",
        "original",
        "present",
        "variants",
    )

    def __init__(self, original: Any) -> None:
        self.original = self.present = original
        self.lines: frozenset[int] = frozenset()  # that have traps in the present one
        self.checks: Any = None  # that it has
        self.checked = CodeTable()  # variants that have those
        self.variants = [original]  # each may still run
        self.entered = CodeTable()  # variants for a frame that was under way, with their lines
        self.begun: Any = None  # the variant that calls `begin` first
        # What has it among its constants, and where.
        self.holders: set[tuple[TrappedCode, int]] = set()

    def begin(self) -> None:
        """A frame begins, which is to get its checks."""
        heard = traps_state.begins
        if heard is not None:
            heard(self, frame_at(1))

    def __reduce__(self) -> Any:
        """Who pickles a code that calls `begin` gets one that calls something harmless."""
        return types.SimpleNamespace, (), {"begin": [].clear}


class _Traps:
    """What has traps in this process."""

    def __init__(self) -> None:
        self.are_set = False
        self.codes = CodeTable()  # of files with breakpoints: each variant -> its TrappedCode
        self.lines: dict[str, frozenset[int]] = {}  # with breakpoints, by pydevd's path of the file
        self.paths: dict[str, str] = {}  # the same path by a code's name for the file
        self.untrapped: set[str] = set()  # paths of files whose breakpoints need tracing
        # Of those, paths that get traps when nobody records any more.
        self.put_off: set[str] = set()
        self.frames: dict[int, Any] = {}  # under way in codes without their traps, by their ids
        self.generators: list[Any] = []  # weak references to those that are
        # Objects that the garbage collector did not list as the program began; some may end.
        self.frozen = 0
        self.preloaded = LoadedFiles(())  # what was loaded by then
        self.checks = CodeTable()  # of codes that may write what is watched: original -> LineChecks
        self.begins: Any = None  # whom to tell of a frame that begins without its checks
        self.heard: Any = None  # whom to tell of a code that is about to be
        # Whether the debugger began with the program, which had frozen nothing yet.
        self.is_launched = False
        self.lock: Any = threading.RLock()  # held by who gives functions another code
        self.placing: int | None = None  # the thread that makes codes with traps now


traps_state = _Traps()


class PlacingTraps:
    """While this thread makes codes with traps, and gives them to functions: what the audit hooks hear then
    is no new code of the program's. It may be begun within itself."""

    __slots__ = ("_before", "_lock")

    def __enter__(self) -> None:
        self._lock = traps_state.lock  # a forked child gets another one
        self._lock.acquire()
        self._before = traps_state.placing
        traps_state.placing = threading.get_ident()

    def __exit__(self, *error: object) -> None:
        traps_state.placing = self._before
        self._lock.release()


def path_of(filename: str) -> str:
    """As pydevd files its breakpoints."""
    known = traps_state.paths.get(filename)
    if known is None:
        files: Any = sys.modules["pydevd_file_utils"]
        known = files.get_abs_path_real_path_and_base_from_file(filename)[1]
        traps_state.paths[filename] = known
    return known


def trapped_code(code: Any) -> Any:
    """The code to use in the place of this one, with all codes in it; itself if it has no traps.

    Raises NoTrapError, and whatever a code that is not understood leads to.
    """
    entry = traps_state.codes.get(code)
    if entry is None:
        entry = traps_state.codes[code] = TrappedCode(code)
    for at, inner in enumerate(entry.original.co_consts):
        if type(inner) is CODE_OBJECT:
            present = trapped_code(inner)
            traps_state.codes.get(present).holders.add((entry, at))
            put_inner(entry, at, present)
    wanted = traps_state.lines.get(path_of(code.co_filename), frozenset())
    lines = wanted.intersection(line for *_, line in code.co_lines())
    checks = traps_state.checks.get(entry.original)
    if (lines, checks) != (entry.lines, entry.checks):
        made, checks = _made_of(entry, lines, checks)
        if checks != entry.checks:
            entry.checked = CodeTable()
        entry.present, entry.lines, entry.checks = made, lines, checks
        if checks:
            entry.checked[made] = True
        if made not in traps_state.codes:
            entry.variants.append(made)
            traps_state.codes[made] = entry
    return entry.present


def _made_of(entry: TrappedCode, lines: Collection[int], checks: Any) -> tuple[Any, Any]:
    """A code with traps in these lines, and checks; and what those are."""
    original = entry.original
    if type(checks) is LaterChecks and not lines:
        try:
            entry.begun = entry.begun or with_beginning(original, entry.begin)
        except NoTrapError:
            pass
        else:
            return entry.begun, checks
    if type(checks) is LaterChecks:
        checks = _checks_found(original, checks)
    has_any = lines or checks
    return with_traps(original, lines, TRAP, checks) if has_any else original, checks


def _checks_found(original: Any, later: LaterChecks) -> LineChecks | None:
    found = later.find()
    if found is None:
        traps_state.checks.pop(original)
    else:
        traps_state.checks[original] = found
    return found


def code_with_checks_found(entry: TrappedCode) -> Any:
    """The code to use from now on instead of one that calls `begin`. With the lock held."""
    checks = traps_state.checks.get(entry.original)
    if type(checks) is LaterChecks:
        _checks_found(entry.original, checks)
    present = trapped_code(entry.original)
    for holder, at in entry.holders:
        put_inner(holder, at, present)
    return present


def code_of_frame(entry: TrappedCode, entrance: Entrance, own: LineChecks | None = None) -> Any:
    """The present code, for a frame that is under way; own: with checks that no other frame has. With the
    lock held. Raises NoTrapError."""
    made = with_traps(entry.original, entry.lines, TRAP, own or entry.checks, entrance)
    entry.variants.append(made)
    entry.entered[made] = entry.lines
    if own is None:
        entry.checked[made] = True
    traps_state.codes[made] = entry
    return made


def put_inner(entry: TrappedCode, at: int, inner: Any) -> None:
    """What a code makes functions of from now on, whichever variant of it runs."""
    import ctypes

    for variant in entry.variants:
        constants = variant.co_consts
        if constants[at] is not inner:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(inner))  # the one before is never let go of
            place = id(constants) + tuple.__basicsize__ + at * ctypes.sizeof(ctypes.c_void_p)
            ctypes.c_void_p.from_address(place).value = id(inner)


def give_code(function: Any, code: Any) -> bool:
    """Whether the function has it now. It keeps its own where somebody knows something by that one."""
    if is_known_by_others(function.__code__):
        return False
    function.__code__ = code
    return True


def is_known_by_others(code: Any) -> bool:
    """Whether somebody may have noted something by this very code, as trio does of whom Ctrl-C may not
    interrupt."""
    return bool(weakref.getweakrefcount(code))
