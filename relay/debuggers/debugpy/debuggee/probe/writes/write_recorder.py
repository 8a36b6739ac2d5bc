"""The states whose writes are recorded in this process, and the one listener that serves them all.

A launch may ask for states whose writes are kept from the beginning; a second run watches just the
one that was asked about.
"""
# ruff: noqa: BLE001
# Broad excepts are the trade here: what goes wrong in a watch is not the program's business.

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.frames.frame_memory import cell_of
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import is_debugger_file
    from relay.debuggers.debugpy.debuggee.probe.frames.state_targets import (
        ABSENT,
        StateTarget,
        fills_when_read,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.suspensions import hook_suspensions
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt, exception_line
    from relay.debuggers.debugpy.debuggee.probe.process.outside import is_from_outside
    from relay.debuggers.debugpy.debuggee.probe.writes.write_effects import (
        look_at_past,
        look_at_stopped,
        note_given,
        write_of_site,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.write_log import WriteLog, forget_places
    from relay.debuggers.debugpy.debuggee.probe.writes.write_monitor import WriteMonitor
    from relay.debuggers.debugpy.debuggee.probe.writes.write_settrace import WriteTracer
    from relay.debuggers.debugpy.debuggee.probe.writes.write_sites import (
        CodeSites,
        KnownNames,
        WatchedState,
        WriteSite,
        forget_loaded_names,
        names_loaded_in,
        names_shared_with,
        names_with_writers,
        write_sites,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.writer_names import (
        hands_on,
        names_bound_to_writers,
    )

_MOST_HANDED_ON = 10_000  # objects
_NAMED_KINDS = frozenset(("attribute", "slot", "global"))  # which of these is not known before


class WriteWatch:
    """One state that is watched, and what was written to it so far."""

    def __init__(self, state: WatchedState) -> None:
        self.state = state
        self.log = WriteLog(state.key, False)
        self.failure: str | None = None
        self.pending: dict[int, Any] = {}  # by the address of a frame: what it is about to do
        self.class_bodies: dict[Any, Any] = {}
        self.writers: Any = CodeTable()  # by the code: its names that are bound to writers in C
        self.any_dict = False  # whether the dict of an object or module was handed on
        self.kept: frozenset[str] = frozenset()  # names that were bound to writers by some code
        self.handed_on: set[int | None] = set()  # whose writers were given away; None: anybody's

    def sites_in(self, code: Any, frame: Any) -> CodeSites | None:
        """`frame` begins to run the code; None if it is looked at once more."""
        try:
            if self.state.kind in ("local", "cell"):
                return write_sites(code, self.state)
            writers = self.writers.get(code)
            if writers is None or frame is not None:
                writers = names_bound_to_writers(frame, self.state.kind)
                self.writers[code] = writers
            return write_sites(code, self.state, self._known_in(code))
        except Exception as error:
            self._fail(error)
            return None

    def hand_on(self, owner: Any) -> None:
        """Something was given a function in C that writes to the owner, or to any object if None."""
        if len(self.handed_on) >= _MOST_HANDED_ON:
            owner = None
        self.handed_on.add(None if owner is None else id(owner))

    def may_miss(self, owners: list[Any]) -> bool:
        """Whether something was given what writes to one of these."""
        return not self.handed_on.isdisjoint((None, *map(id, owners)))

    def _known_in(self, code: Any) -> KnownNames:
        bound = self.writers.get(code) or frozenset()
        kept = self.kept & names_shared_with(code)
        kept = kept and kept & names_loaded_in(code)
        return KnownNames(bound | kept, self.any_dict)

    def is_widened_by(self, code: Any) -> bool:
        """Whether from now on any dict may be what holds the state, because of what is in the code."""
        if self.any_dict or self.state.kind not in ("attribute", "global"):
            return False
        self.any_dict = hands_on(code)
        return self.any_dict

    def names_kept_by(self, code: Any) -> frozenset[str]:
        """Names of which any code may have a writer from now on, because the code binds one to them."""
        if self.state.kind in ("local", "cell"):
            return frozenset()
        try:
            new = names_with_writers(code, self.state, self._known_in(code)) - self.kept
        except Exception as error:
            self._fail(error)
            return frozenset()
        self.kept |= new
        return new

    def is_of(self, target: StateTarget) -> bool:
        """Whether what was written to the target is in the log."""
        state, kind, key = self.state, target.kind, target.key
        is_kind = kind == state.kind or (kind in _NAMED_KINDS and state.kind in _NAMED_KINDS)
        if not is_kind or type(key) is not type(state.key) or key != state.key:
            return False
        if kind == "item" and fills_when_read(target.owner) and not state.fills:
            return False  # reads of items would have had to be looked at
        return kind != "local" or state.is_of(target.code)

    def wants_start_of(self, code: Any) -> bool:
        """Whether a frame of this code begins with a variable that is watched: its own, or one that it shares."""
        if self.state.kind == "cell":
            return self.state.key in code.co_cellvars
        return self.state.kind == "local" and self.state.is_of(code)

    def begin(self, frame: Any) -> None:
        """A frame whose variable is watched begins: an argument is there already."""
        try:
            owner, value = self._variable_of(frame)
            self.log.forget(owner)
            if value is not ABSENT:
                self.log.note(owner, ABSENT, value, frame, is_held=False)
        except Exception as error:
            self._fail(error)

    def _variable_of(self, frame: Any) -> tuple[Any, Any]:
        """What has the variable, and its value."""
        if self.state.kind != "cell":
            return frame, frame.f_locals.get(self.state.key, ABSENT)
        cell = cell_of(frame, self.state.key)
        return cell, attempt(lambda: cell.cell_contents, default=ABSENT)

    def look(self, frame: Any, offset: int, look: _Look) -> None:
        """An instruction is about to run: it may write, and one before it may have written."""
        try:
            if look.back:
                look_at_past(self, frame, offset)
            if look.given is not None:
                note_given(self, frame, offset, look.given)
            if look.site is not None:
                write_of_site(self, frame, offset, look.site)
        except Exception as error:
            self._fail(error)

    def look_where_it_stands(self) -> None:
        """The program stands: what is over in its frames is noted, though nothing has followed."""
        try:
            look_at_stopped(self)
        except Exception as error:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        if is_from_outside(error):
            raise error
        self.failure = attempt(exception_line, error, default=type(error).__name__)


class _Look(NamedTuple):
    """What a watch does at one instruction."""

    watch: WriteWatch
    site: WriteSite | None
    back: bool
    """Whether what is looked at when it is over may be over here."""
    given: int | None
    """How deep something lies that may be given away."""


class WriteRecorder:
    """Several watches, and who reports instructions to them."""

    def __init__(self, states: list[WatchedState]) -> None:
        self.watches = [WriteWatch(state) for state in states]
        self.of_variables = [
            watch for watch in self.watches if watch.state.kind in ("local", "cell")
        ]
        self.failure: str | None = None
        self.at_stops: set[int] = set()  # threads that have stopped: what they run is the client's
        self.known = CodeTable()  # what was looked at
        self.by_names: dict[str, list[Any]] = {}  # these, by the names that they share with others
        listener: Any = WriteMonitor if hasattr(sys, "monitoring") else WriteTracer
        self.listener = listener(self)

    def start(self) -> bool:
        """False if it cannot be."""
        hook_suspensions("writes", before=self._stops, after=self._goes_on)
        return bool(attempt(self.listener.start, default=False))

    def stop(self) -> None:
        attempt(self.listener.stop)
        hook_suspensions("writes")

    def go_on_in_fork(self) -> None:
        """In a forked child whose debugger has joined."""
        hook_suspensions("writes", before=self._stops, after=self._goes_on)
        if not attempt(self.listener.go_on_in_fork, default=False):
            self.failed("it does not go on in a forked child")

    def failed(self, why: str) -> None:
        """It has missed something: what it has is no answer."""
        self.failure = why

    def watch_of(self, target: StateTarget) -> WriteWatch | None:
        """The watch whose log has the writes of the target, if there is one that missed none."""
        if self.failure is not None:
            return None
        return next((watch for watch in self.watches if watch.is_of(target)), None)

    def _stops(self, *_: Any) -> None:
        self.at_stops.add(threading.get_ident())

    def _goes_on(self, *_: Any) -> None:
        self.at_stops.discard(threading.get_ident())

    # What the listeners ask

    def widens_at(self, code: Any, others: Callable[[], list[Any]]) -> list[Any]:
        """Which of the other codes, looked at before, may have more to look at now that this one runs."""
        if is_debugger_file(code.co_filename):
            return []
        try:
            return self._widened_by(code, others)
        except Exception as error:
            if is_from_outside(error):
                raise
            self.failed(attempt(exception_line, error, default=type(error).__name__))
            return []

    def _widened_by(self, code: Any, others: Callable[[], list[Any]]) -> list[Any]:
        widened: dict[int, Any] = {}
        todo = [code]
        while todo:
            one = todo.pop()
            if [watch for watch in self.watches if watch.is_widened_by(one)]:
                widened.update((id(other), other) for other in others())
            new = frozenset().union(*(watch.names_kept_by(one) for watch in self.watches))
            if new:
                again = self._codes_that_load(new)
                widened.update(again)
                todo += [one, *again.values()]
        return list(widened.values())

    def _codes_that_load(self, names: frozenset[str]) -> dict[int, Any]:
        codes = {id(code): code for name in names for code in self.by_names.get(name, ())}
        return {
            at: code for at, code in codes.items() if not names.isdisjoint(names_loaded_in(code))
        }

    def _note(self, code: Any) -> None:
        if code not in self.known:
            self.known[code] = True
            for name in names_shared_with(code):
                self.by_names.setdefault(name, []).append(code)

    def looks_in(self, code: Any, frame: Any = None) -> dict[int, tuple[_Look, ...]]:
        """What is to be done in the code, by the offsets of instructions; empty: nothing.

        frame: what begins to run it; None for a code that was looked at before.
        """
        looks: dict[int, tuple[_Look, ...]] = {}
        if is_debugger_file(code.co_filename):
            return looks
        self._note(code)
        for watch in self.watches:
            found = watch.sites_in(code, frame)
            if found is None:
                continue
            for offset in found.followers.union(found.sites, found.given):
                back, given = offset in found.followers, found.given.get(offset)
                look = _Look(watch, found.sites.get(offset), back, given)
                looks[offset] = (*looks.get(offset, ()), look)
        return looks

    def wants_starts_of(self, code: Any) -> bool:
        return any(watch.wants_start_of(code) for watch in self.of_variables)

    def begin(self, frame: Any) -> None:
        """A frame with a variable that is watched begins."""
        if threading.get_ident() not in self.at_stops:
            for watch in self.of_variables:
                if watch.wants_start_of(frame.f_code):
                    watch.begin(frame)

    def look(self, frame: Any, offset: int, looks: tuple[_Look, ...]) -> None:
        """An instruction of these looks is about to run."""
        if self.at_stops and threading.get_ident() in self.at_stops:
            return
        for look in looks:
            watch, site, _, given = look
            # Most that come behind one that may write find that it was about something else.
            if site is not None or given is not None or id(frame) in watch.pending:
                watch.look(frame, offset, look)


_recorders: list[WriteRecorder] = []
"""The one of this process, if there is one."""


def record_writes(states: list[WatchedState]) -> bool:
    """Record the writes of these states from now on, in place of any before; False if it cannot be."""
    forget_writes()
    recorder = WriteRecorder(states)
    _recorders.append(recorder)
    can = recorder.start()
    if not can:
        forget_writes()
    return can


def is_recording() -> bool:
    """Whether this process has a record, or has it of the process that forked it."""
    return bool(_recorders)


def forget_writes() -> None:
    """Nobody debugs this process any more."""
    while _recorders:
        _recorders.pop().stop()
    forget_loaded_names()
    forget_places()


def record_on_in_fork() -> None:
    """In a forked child whose debugger has joined the session: its record is its own from here on."""
    for recorder in _recorders:
        attempt(recorder.go_on_in_fork)


def recorded_watch(target: StateTarget) -> WriteWatch | None:
    """The watch that has the target's writes from the beginning, if there is one."""
    found = (recorder.watch_of(target) for recorder in _recorders)
    return next((watch for watch in found if watch is not None), None)
