"""Calls of one function that go by until one ends as was asked for; that one is recorded whole.

Until then a call is kept on a tape (`trace_tape.py`), which is thrown away at its end.
"""
# ruff: noqa: BLE001
# Broad excepts are the trade here: whatever the program's objects raise is an answer.

from __future__ import annotations

import itertools
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames import is_debugger_file, is_user_code
    from relay.debuggers.debugpy.debuggee.probe.guard import attempt, exception_line
    from relay.debuggers.debugpy.debuggee.probe.trace import (
        break_off,
        count_call,
        end_of_call,
        is_meant_code,
    )
    from relay.debuggers.debugpy.debuggee.probe.trace_lines import LineFacts, line_facts
    from relay.debuggers.debugpy.debuggee.probe.trace_monitor import MonitorListener
    from relay.debuggers.debugpy.debuggee.probe.trace_record import (
        SEAMLESS,
        FrameTrace,
        starts_here,
    )
    from relay.debuggers.debugpy.debuggee.probe.trace_settrace import SettraceListener
    from relay.debuggers.debugpy.debuggee.probe.trace_tape import (
        MOST_EVENTS,
        TAPE_LINE,
        TAPE_RAISE,
        TAPE_RETURN,
        TAPE_START,
        TAPE_UNWIND,
        TAPE_YIELD,
        Replay,
        Tape,
        TapeTexts,
    )

_getframe = sys._getframe  # a name of the module's own is found sooner
_until_monitoring: Any = getattr(sys, "monitoring", None)
_NO_FACTS: Any = ((), (), (), (), False, ())
_MOST_GOING = 10_000  # frames that are kept at once


class _Going:
    """A call that is on tapes: its own if it may be the one, and those of its callers."""

    __slots__ = ("facts", "inner", "line", "own", "tapes")

    def __init__(self, own: Tape | None, tapes: Any, inner: Any, facts: Any) -> None:
        self.own = own
        self.tapes = tapes  # of callers, which show that it was called, and how it ended
        self.inner = inner  # (tape, levels): those that show its lines, and so many levels of them
        self.facts = facts
        self.line = 0  # that runs


def _is_calm(going: list[Any], facts: Any, line: int) -> bool:
    """Whether a line that acts finds nothing that it could change: plain arguments, and no more."""
    given = going[0]
    if given is None or given is not going[1] or line in facts.rebinds:
        return False
    binds = facts.binds
    return not any(type(one) is tuple or one in binds for one in going[3:])


class UntilTrace(FrameTrace):
    """A trace that waits for an end. In the place of a FrameTrace, with the same events.

    `frames` has what is kept of each call. Of one that nobody on a tape has called, and that has
    called none that would be, that is a plain list: the arguments, a look at its variables (None
    for both where nothing can change them), its number, and its lines: a number for one at which
    nothing can be missed, a number with a look at the variables ahead of any other.
    """

    def __init__(self, call: int, depth: int, reveal: bool, until: str) -> None:
        super().__init__(call, depth, reveal)
        self.texts = self.tape_texts = TapeTexts(reveal)
        self.until: Any = compile(until, "<until_result>", "eval", 0, True)
        self.has_scopes = any(type(one) is types.CodeType for one in self.until.co_consts)
        self.facts: dict[Any, LineFacts] = {}
        self.found: Replay | None = None
        self.number: int | None = None  # of the call that was found
        self.names = _names_in(self.until)
        self.matches = self.answers = 0
        self.ended = itertools.count()  # counts in C: two threads never get the same
        self.until_error: str | None = None

    # Events of the interpreter -------------------------------------------------------

    def begin(self, frame: Any, number: int = 0) -> None:
        """This may be the call."""
        if not self.frames:
            self.tape_texts.begin()
        elif len(self.frames) >= _MOST_GOING:
            return
        code = frame.f_code
        facts = self.facts.get(code) or self._facts_of(code)
        if facts[4]:  # nothing changes an argument
            self.frames[frame] = [None, None, number]
        else:
            given = frame.f_locals.copy()
            self.frames[frame] = [given, self.tape_texts.variables(code, given, True), number]
        if len(self.frames) > 1 and frame.f_back in self.frames:
            self._on_tape(frame)

    def _on_tape(self, frame: Any) -> _Going | None:
        """The call, with its tape from now on; None if it is not of interest."""
        going = self.frames.get(frame)
        if type(going) is not list:
            return going
        given, variables, number, *lines = going
        if given is None:
            now = frame.f_locals.copy()
            given = {name: now[name] for name in self.facts[frame.f_code].arguments if name in now}
            variables = self.tape_texts.variables(frame.f_code, given, True)
        own = Tape(frame, number, given)
        own.events.append((TAPE_START, frame, None, variables))
        lines = [one if type(one) is tuple else (one, None) for one in lines]
        own.events += [(TAPE_LINE, frame, line, look) for line, look in lines]
        caller = self._on_tape(frame.f_back)
        tapes, inner = ((), ()) if caller is None else self._shown_by(caller, frame, variables)
        facts = self.facts[frame.f_code]
        going = self.frames[frame] = _Going(own, tapes, ((own, self.depth), *inner), facts)
        going.line = lines[-1][0] if lines else 0
        return going

    def _facts_of(self, code: Any) -> LineFacts:
        facts = self.facts.get(code)
        if facts is None:
            facts = self.facts[code] = line_facts(code)
        return facts

    def _look(self, frame: Any, is_whole: bool = False) -> Any:
        return self.tape_texts.variables(frame.f_code, frame.f_locals.copy(), is_whole)

    def _shown_by(self, caller: _Going, frame: Any, variables: Any) -> tuple[Any, Any]:
        for tape, _ in caller.inner:
            tape.add(TAPE_START, frame, None, variables)
        tapes = tuple(tape for tape, _ in caller.inner)
        return tapes, tuple((tape, level - 1) for tape, level in caller.inner if level > 1)

    def enter(self, frame: Any) -> bool:
        """A frame begins. Whether it is of interest: own code, called by what is on a tape."""
        caller = self._on_tape(frame.f_back)
        if caller is None or not caller.inner:
            return False
        code = frame.f_code
        if code.co_name in SEAMLESS:
            for tape, _ in caller.inner:
                tape.add(TAPE_START, frame, None, {})
            self.frames[frame] = _Going(None, (), caller.inner, _NO_FACTS)
            return False
        if not self._about(frame)[2] or is_debugger_file(code.co_filename):
            return False
        variables = self._look(frame, is_whole=True)
        tapes, inner = self._shown_by(caller, frame, variables)
        self.frames[frame] = _Going(None, tapes, inner, self._facts_of(code))
        return True

    def line(self, frame: Any, line: int) -> None:
        """A line is about to run."""
        going = self.frames.get(frame)
        if type(going) is list:
            if len(going) < MOST_EVENTS:
                going.append(self._line_of_list(going, frame, line))
                return
            going = self._on_tape(frame)
        if going is None or not going.inner or frame.f_code.co_name in SEAMLESS:
            return
        acts, rebinds = going.facts[:2]
        last, going.line = going.line, line
        variables = None
        if last and (last in acts or line in acts or line in rebinds):
            variables = self._look(frame)
        for tape, _ in going.inner:
            tape.add(TAPE_LINE, frame, line, variables)

    def _line_of_list(self, going: list[Any], frame: Any, line: int) -> Any:
        facts, last = self.facts[frame.f_code], going[-1]
        if line in facts.quiet:
            needs_look = type(last) is tuple and last[0] in facts.acts
            return (line, self._look(frame)) if needs_look else line
        if _is_calm(going, facts, line):
            return line
        return line, None if len(going) == 3 else self._look(frame)

    def leave(self, frame: Any, value: Any, suspends: bool) -> bool:
        """A frame returns or, if it suspends, yields. Whether it is the call that was asked for."""
        going = self.frames.get(frame)
        if type(going) is list:
            if not suspends and not self._is_end(going, frame, value, None):
                del self.frames[frame]
                return False
            going = self._on_tape(frame)
        if going is None:
            return False
        if suspends:
            self._end_on_tapes(going, frame, TAPE_YIELD, value)
            return False
        del self.frames[frame]
        return self._over(going, frame, value, None)

    def raised(self, frame: Any, error: Any) -> None:
        """An exception passes through the line at which the frame is."""
        going = self._on_tape(frame)
        if going is not None:
            for tape, _ in going.inner:
                tape.add(TAPE_RAISE, frame, error, None)

    def unwound(self, frame: Any, error: Any) -> bool:
        """An exception leaves the frame. Whether it is the call that was asked for."""
        going = self._on_tape(frame)
        self.frames.pop(frame, None)
        return going is not None and self._over(going, frame, None, error)

    def _over(self, going: _Going, frame: Any, value: Any, error: Any) -> bool:
        own = going.own
        if own is not None and (own.is_end or self._matches(frame, own.given, value, error)):
            self._find(own, frame, value, error)
            return True
        if going.tapes or len(going.inner) > (own is not None):
            kind, what = TAPE_RETURN, value
            if error is not None:
                kind, what = TAPE_UNWIND, (error, frame.f_lineno)
            self._end_on_tapes(going, frame, kind, what)
        return False

    def _end_on_tapes(self, going: _Going, frame: Any, kind: int, what: Any) -> None:
        variables = self._look(frame) if going.inner else None
        if kind != TAPE_UNWIND:
            what = self.tape_texts.kept(frame.f_code.co_name, what)
        tapes = {id(tape): tape for tape in (*going.tapes, *(tape for tape, _ in going.inner))}
        for tape in tapes.values():
            tape.add(kind, frame, what, variables)

    def _is_end(self, going: list[Any], frame: Any, value: Any, error: Any) -> bool:
        """Whether it is the call that was asked for; of one without a tape."""
        given = going[0]
        if given is None and self.names:
            given = frame.f_locals
        if not self._matches(frame, given or {}, value, error):
            return False
        tape = self._on_tape(frame)
        assert tape is not None
        assert tape.own is not None
        tape.own.is_end = True
        return True

    def _matches(self, frame: Any, given: Any, value: Any, error: Any) -> bool:
        """Counts the call: as one that goes by, or as one that ends as asked for."""
        names = {"result": value, "exception": error}
        wanted = self.names
        if wanted:
            arguments = self.facts[frame.f_code].arguments
            names = {**{name: given[name] for name in arguments if name in wanted}, **names}
        try:
            if self.has_scopes:  # they see globals only
                found = bool(eval(self.until, {**frame.f_globals, **names}))
            else:
                found = bool(eval(self.until, frame.f_globals, names))
        except BaseException as wrong:
            found = False
            if self.until_error is None:
                self.until_error = attempt(exception_line, wrong, default=type(wrong).__name__)
        self.matches += found
        if found and self.matches == self.call:
            return True
        next(self.ended)
        return False

    def _find(self, own: Tape, frame: Any, value: Any, error: Any) -> None:
        kind, what = TAPE_RETURN, value
        if error is not None:
            kind, what = TAPE_UNWIND, (error, frame.f_lineno)
        own.events.append((kind, frame, what, self._look(frame)))
        self._about(frame)
        replay = Replay(self, self.facts)
        replay.play(own)
        self.found, self.number = replay, own.number
        self.finish("complete")

    def stop_at(self, frame: Any, is_ahead: bool) -> None:
        """Whatever is on tapes was not the call."""

    def finish(self, state: str) -> None:
        """Nothing is recorded any more."""
        if self.is_active:
            self.state = state
        self.frames.clear()

    def answer(self) -> dict[str, Any]:
        passed = next(self.ended) - self.answers
        self.answers += 1
        found = self if self.found is None else self.found
        answer = dict(FrameTrace.answer(found), state=self.state, called=self.called)
        answer.update(
            call=self.number,
            passed=passed,
            complaint=self.complaint,
            until_error=self.until_error,
        )
        return answer


def _names_in(code: Any) -> frozenset[str]:
    """What an expression may ask for by name, in scopes of its own, too."""
    inner = (_names_in(one) for one in code.co_consts if type(one) is types.CodeType)
    return frozenset(code.co_names).union(*inner) - {"result", "exception"}


class UntilMonitorListener(MonitorListener):
    """The events of such a trace, from 3.12 on. What is not the program's own is heard once."""

    def __init__(self, trace: UntilTrace) -> None:
        super().__init__(trace)
        self.until = trace
        self.meant: dict[Any, bool] = {}
        self.own: dict[str, bool] = {}  # by file

    def start(self) -> bool:
        if not super().start():
            return False
        events, listen = _until_monitoring.events, _until_monitoring.register_callback
        for event, callback in (
            (events.PY_START, self._on_start),
            (events.LINE, self._line_callback()),
            (events.PY_RETURN, self._return_callback()),
            (events.PY_YIELD, self._on_yield),
            (events.RAISE, self._on_raise),
            (events.PY_UNWIND, self._on_unwind),
        ):
            listen(self.tool, event, callback)
        _until_monitoring.set_events(self.tool, events.PY_START | events.RAISE | events.PY_UNWIND)
        return True

    def _on_start(self, code: Any, offset: int) -> Any:
        frame = _getframe(1)
        try:
            meant = self.meant.get(code)
            if meant is None:
                meant = self._learn(code, frame)
            if meant:
                number = count_call(self.until, frame)
                if number:
                    self.until.begin(frame, number)
            elif not self._is_own(code.co_filename, frame):
                return _until_monitoring.DISABLE
            elif frame.f_back in self.until.frames and self.until.enter(frame):
                self._hear(code, bool(self.until.frames[frame].inner))
        except BaseException as error:
            break_off(self.until, error)
        return None

    def _line_callback(self) -> Any:
        """A function of its own, and not a method: what each line costs is a lookup or two."""
        trace, going_of, facts = self.until, self.until.frames.get, self.until.facts

        def on_line(code: Any, line: int) -> None:
            frame = _getframe(1)
            going = going_of(frame)
            if going is None:
                return
            try:
                if (
                    type(going) is list
                    and type(going[-1]) is int
                    and line in facts[code][3]
                    and len(going) < MOST_EVENTS
                ):
                    going.append(line)
                else:
                    trace.line(frame, line)
            except BaseException as error:
                break_off(trace, error)

        return on_line

    def _return_callback(self) -> Any:
        trace, frames = self.until, self.until.frames

        def on_return(code: Any, offset: int, value: Any) -> None:
            frame = _getframe(1)
            if frame not in frames:
                return
            is_found = False
            try:
                is_found = trace.leave(frame, value, False)
            except BaseException as error:
                break_off(trace, error)
            if is_found:
                end_of_call(trace, frame)

        return on_return

    def _learn(self, code: Any, frame: Any) -> bool:
        meant = self.meant[code] = is_meant_code(frame)
        if meant:
            self._hear(code, True)
        return meant

    def _is_own(self, file: str, frame: Any) -> bool:
        own = self.own.get(file)
        if own is None:
            own = self.own[file] = bool(is_user_code(frame))
        return own


class UntilSettraceListener(SettraceListener):
    """The events of such a trace, before 3.12."""

    def __init__(self, trace: UntilTrace) -> None:
        super().__init__(trace)
        self.until = trace
        self.meant: dict[Any, bool] = {}

    def _is_wanted(self, frame: Any) -> bool:
        trace = self.until
        if not trace.is_active:
            return False
        if frame in trace.frames:
            return True  # a generator goes on
        code = frame.f_code
        meant = self.meant.get(code)
        if meant is None:
            meant = self.meant[code] = is_meant_code(frame)
        if meant:
            number = starts_here(frame) and count_call(trace, frame)
            if number:
                trace.begin(frame, number)
            return frame in trace.frames
        if frame.f_back not in trace.frames or not starts_here(frame):
            return False
        return trace.enter(frame) or frame in trace.frames
