"""Data breakpoints without tracing, on Python 3.11: which code is to have checks, and what they ask.

A check looks whether a value is what it was; only where it is not is anything traced. All code that
may write has checks, or all is traced as ever.
"""

from __future__ import annotations

import time
import types
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import (
        GOES_ON_LATER,
        HAS_FAST_VARIABLES,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        frames_of_all_threads,
        is_debugger_file,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.traps.checking import (
        LoadedCode,
        can_have_checks,
        loaded_code,
        original_of,
        place_checks,
        take_checks_away,
    )
    from relay.debuggers.debugpy.debuggee.probe.traps.line_checks import (
        LaterChecks,
        LineChecks,
        QuickCheck,
    )
    from relay.debuggers.debugpy.debuggee.probe.traps.trapped_codes import CODE_OBJECT, GOING_ON
    from relay.debuggers.debugpy.debuggee.probe.values.types import lookup, plan_of
    from relay.debuggers.debugpy.debuggee.probe.writes.data_watches import DataWatch, Strong
    from relay.debuggers.debugpy.debuggee.probe.writes.write_lines import (
        NO_LINES,
        WriteLines,
        body_start,
        is_indirect_writer,
        may_write,
        write_lines_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.writer_names import is_writer_in_c

_KINDS_CHECKED = ("attribute", "slot", "global", "item", "list_item")
"""A variable that functions share may be written by each of them; a local by its own frame."""
_MOST_CODES = 10_000
_MOST_QUICK = 4  # data breakpoints that code asks without a call
_MOST_TIMES = 64
_SECONDS_AN_EVENT = 1e-6  # that tracing takes at least


class DataChecks:
    """The checks for some data breakpoints."""

    def __init__(self, watches: list[DataWatch]) -> None:
        self.everywhere = [watch for watch in watches if watch.kind != "local"]
        self.locals = [watch for watch in watches if watch.kind == "local"]
        self.can_be = (
            bool(watches)
            and all(watch.kind in _KINDS_CHECKED for watch in self.everywhere)
            and all(_is_variable_of_frame(watch) for watch in self.locals)
        )
        self.are_placed = False
        self.going_on: list[Any] = []  # generators that are there, begun with checks or without
        self.worth = 0.0  # events of tracing before it is worth it to place them
        self._times = 1  # that it is to be worth it, before it is done again
        self._check: Any = None
        self._quick: list[QuickCheck] = []  # of each, or of none
        if self.can_be:
            watches = self.everywhere
            quick = [attempt(quick_check_of, watch) for watch in watches[:_MOST_QUICK]]
            if None not in quick and len(watches) <= _MOST_QUICK:
                self._quick = quick
            self._check = _check_of(watches, self._quick) if watches else None
        self._planned_checks: dict[tuple[int, frozenset[Any]], LaterChecks | LineChecks | None] = {}
        self._kept: list[Any] = []  # the codes of those ids

    def place(self) -> None:
        """Have all code get its checks as it begins."""
        began = time.perf_counter()
        if not can_have_checks():
            self.can_be = False
            return
        if not self.everywhere:
            take_checks_away()
            self.are_placed, self.going_on = True, []
            return
        loaded = loaded_code()
        if loaded is None:
            self.can_be = False
            return
        wanted = self._planned(loaded)
        if len(wanted) > _MOST_CODES:
            self.can_be = False
            return
        self.look_anew()
        self.can_be = self.are_placed = place_checks(wanted, loaded)
        self.going_on = loaded.going_on
        self.worth = (time.perf_counter() - began) * self._times / _SECONDS_AN_EVENT
        self._times = min(2 * self._times, _MOST_TIMES)

    def of_frame(self, frame: Any, lines: WriteLines) -> LineChecks | None:
        """Those of a frame one of whose locals is watched; None where there is no such. lines: those to
        compare at, of all data breakpoints."""
        own = [watch for watch in self.locals if watch.owner() is frame]
        if not own:
            return None
        quick = [QuickCheck(watch, watch.key, has_owner=False, is_local=True) for watch in own]
        if len(self._quick) < len(self.everywhere) or len(quick) > _MOST_QUICK:
            quick = []
        else:
            quick += self._quick

        def ends(watched: Any = own[0]) -> None:
            watched.came()

        return LineChecks(
            _check_of([*own, *self.everywhere], quick),
            lines.near,
            lines.writes,
            quick[0] if quick else None,
            also=tuple(quick[1:]),
            ends=ends,
        )

    def look_anew(self) -> None:
        """Where the value is now."""
        for quick in self._quick:
            if quick.is_slot and quick.has_owner:
                continue
            quick.watched.find_space()

    def _planned(self, loaded: LoadedCode) -> CodeTable:
        """The checks by code."""
        found: dict[int, tuple[Any, set[Any]]] = {}
        writers = WritersInSpaces({watch.kind for watch in self.everywhere})
        for function in loaded.functions:
            code, named = original_of(function.__code__), writers.of(function.__globals__)
            _add(found, code, named)
            found[id(code)][1].update(writers.given_to(function, code))
        for _, frame in frames_of_all_threads():
            _add(found, original_of(frame.f_code), writers.of(frame.f_globals))
        for one in loaded.going_on:
            _add(found, original_of(getattr(one, GOING_ON[type(one)][0])), frozenset())
        wanted = CodeTable()
        for code, names in found.values():
            if is_debugger_file(code.co_filename):
                continue
            known = frozenset(names)
            key = id(code), known
            if key not in self._planned_checks:
                later = LaterChecks(partial(self._find, key, code))
                self._planned_checks[key] = later if self._may_write(code, known) else None
                self._kept.append(code)
            if self._planned_checks[key] is not None:
                wanted[code] = self._planned_checks[key]
        return wanted

    def _find(self, key: tuple[int, frozenset[Any]], code: Any) -> LineChecks | None:
        found = self._planned_checks[key] = self._checks_in(code, key[1])
        return found

    def _may_write(self, code: Any, names: frozenset[Any]) -> bool:
        return any(
            may_write(code, watch.kind, watch.key, watch.fills, _bound_to(names, watch.kind))
            for watch in self.everywhere
        )

    def _checks_in(self, code: Any, names: frozenset[Any]) -> LineChecks | None:
        found = []
        for watch in self.everywhere:
            bound = _bound_to(names, watch.kind)
            lines = attempt(write_lines_of, code, watch.kind, watch.key, watch.fills, bound)
            found.append(lines or NO_LINES)
        writes = frozenset().union(*[lines.writes for lines in found])
        ends = frozenset().union(*[lines.ends for lines in found])
        if not writes:
            return None
        keeps_space = not names and not any(
            is_indirect_writer(name, watch.kind)
            for watch in self.everywhere
            for name in code.co_names
        )
        near = writes | ends | {body_start(code)[1]}
        quick = self._quick[0] if self._quick else None
        also = tuple(self._quick[1:])
        return LineChecks(self._check, near, writes, quick, keeps_space, also)


def _is_variable_of_frame(watch: DataWatch) -> bool:
    code = watch.code
    is_of_function = code.co_flags & HAS_FAST_VARIABLES and not code.co_flags & GOES_ON_LATER
    return bool(is_of_function) and watch.key in code.co_varnames


def _bound_to(names: frozenset[Any], of_kind: str) -> frozenset[str]:
    return frozenset(name for kind, name in names if kind == of_kind)


_PLAIN = ("__setattr__", "__delattr__", "__getattribute__")


_READS_ITEM = {"item": dict.__getitem__, "list_item": list.__getitem__}
KEYS_IN_CODE = (str, int, bool, bytes, type(None))
"""Types of keys whose hash and equality are Python's own."""


def quick_check_of(watch: DataWatch) -> QuickCheck | None:
    """Where the place is in a plain dict, which only code that says so gives another one, or in a list."""
    if watch.kind in _READS_ITEM:
        return _quick_check_of_item(watch)
    if type(watch.key) is not str:
        return None
    is_absent = watch.last is watch.absent
    if watch.kind == "global":
        return QuickCheck(watch, watch.key, False, is_absent=is_absent)
    owner = watch.owner()
    plan = plan_of(owner)
    if plan.family == "class":
        return None
    is_plain = all(lookup(plan.mro, name) is object.__dict__[name] for name in _PLAIN)
    if watch.kind == "slot":
        is_plain = is_plain and lookup(plan.mro, "__getattr__") is None
        is_plain = is_plain and type(lookup(plan.mro, watch.key)) is types.MemberDescriptorType
        has_owner = type(watch.owner) is not Strong
        return QuickCheck(watch, watch.key, has_owner, is_slot=True) if is_plain else None
    is_plain = is_plain and type(lookup(plan.mro, "__dict__")) is types.GetSetDescriptorType
    is_plain = is_plain and type(plan.dictionary.__get__(owner)) is dict
    return QuickCheck(watch, watch.key, True, is_absent=is_absent) if is_plain else None


def _quick_check_of_item(watch: DataWatch) -> QuickCheck | None:
    """None where reading the item may do more, or raises, or where what has it may end before."""
    if type(watch.owner) is not Strong or type(watch.key) not in KEYS_IN_CODE:
        return None
    mro, is_absent = plan_of(watch.owner()).mro, watch.last is watch.absent
    is_plain = lookup(mro, "__getitem__") == _READS_ITEM[watch.kind]
    is_plain = is_plain and lookup(mro, "__missing__") is None
    if is_absent:
        is_plain = is_plain and lookup(mro, "__contains__") == dict.__contains__
    return QuickCheck(watch, watch.key, False, is_absent=is_absent) if is_plain else None


def _add(found: dict[int, tuple[Any, set[Any]]], code: Any, writers: frozenset[Any]) -> None:
    """A code and those in it, with the names that stand for writers there."""
    names = set(code.co_names)
    here = {entry for entry in writers if entry[1] in names}
    known = found.get(id(code))
    if known is not None and here <= known[1]:
        return
    found.setdefault(id(code), (code, set()))[1].update(here)
    for inner in code.co_consts:
        if type(inner) is CODE_OBJECT:
            _add(found, original_of(inner), writers)


class WritersInSpaces:
    """Which names are bound to functions in C that write: pairs of a kind of state, and the name."""

    def __init__(self, kinds: set[str]) -> None:
        self.kinds = kinds
        self.known: dict[int, frozenset[Any]] = {}

    def of(self, space: Any) -> frozenset[Any]:
        known = self.known.get(id(space))
        if known is None:
            known = self.known[id(space)] = frozenset(self._in(list(dict.items(space))))
        return known

    def given_to(self, function: Any, code: Any) -> list[Any]:
        """Of its defaults, and of the variables that it shares."""
        given: list[Any] = list((function.__kwdefaults__ or {}).items())
        defaults = function.__defaults__ or ()
        names = code.co_varnames[: code.co_argcount]
        given += zip(names[len(names) - len(defaults) :], defaults)  # noqa: B905  Python 3.8
        for name, cell in zip(code.co_freevars, function.__closure__ or ()):  # noqa: B905
            given.append((name, attempt(getattr, cell, "cell_contents")))
        return self._in(given)

    def _in(self, items: list[Any]) -> list[Any]:
        return [
            (kind, name)
            for name, value in items
            for kind in self.kinds
            if is_writer_in_c(value, kind)
        ]


class _WatchGroup:
    """Several data breakpoints, asked as one."""

    last = None

    def __init__(self, watches: list[DataWatch]) -> None:
        self.watches = watches

    def peek(self) -> Any:
        """`last`, if each is what it was."""
        for watch in self.watches:
            if watch.peek() is not watch.last:
                return True
        return None

    came = staticmethod(DataWatch.came)
    __reduce__ = DataWatch.__reduce__


def _check_of(watches: list[DataWatch], quick: list[QuickCheck]) -> Callable[[], None]:
    """What code calls where it may have written. The usual case is to be quick.

    Who pickles a code with it by what it is made of gets one that can be called as well.
    """
    if len(quick) == 1 and quick[0].has_owner and not quick[0].is_slot:

        def check_attribute(watch: Any = watches[0]) -> None:
            owner = watch.owner()
            if owner is None:
                watch.came()
                return
            if owner.__dict__.get(watch.key, watch.absent) is not watch.last:
                watch.came()

        return check_attribute
    watched: Any = watches[0] if len(watches) == 1 else _WatchGroup(watches)

    def check(watched: Any = watched) -> None:
        if watched.peek() is not watched.last:
            watched.came()

    return check
