"""Calls of one function that go by until one ends as was asked for; that one is recorded whole.

Until then a call is kept on a tape (`tape.py`), which is thrown away at its end.
"""
# Broad excepts are the trade here: whatever the program's objects raise is an answer.

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.frame_memory import has_lost_generator
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import is_debugger_file
    from relay.debuggers.debugpy.debuggee.probe.hooks.monitoring_tool import MONITORING
    from relay.debuggers.debugpy.debuggee.probe.process.frame_room import require_room, wants_room
    from relay.debuggers.debugpy.debuggee.probe.process.outside import is_from_outside
    from relay.debuggers.debugpy.debuggee.probe.trace.callers import SEAMLESS, caller_of
    from relay.debuggers.debugpy.debuggee.probe.trace.conditions import (
        Condition,
        error_of_condition,
    )
    from relay.debuggers.debugpy.debuggee.probe.trace.line_order import BEGINNING, NO_LINE
    from relay.debuggers.debugpy.debuggee.probe.trace.lines import LineFacts, learn
    from relay.debuggers.debugpy.debuggee.probe.trace.record import (
        GENERATES,
        PAUSES,
        SILENT,
        FrameTrace,
        Given,
        unwrapped,
    )
    from relay.debuggers.debugpy.debuggee.probe.trace.tape import (
        MOST_EVENTS,
        TAPE_LINE,
        TAPE_RAISE,
        TAPE_RETURN,
        TAPE_START,
        TAPE_UNWIND,
        TAPE_YIELD,
        Overwritten,
        Replay,
        Tape,
        TapeTexts,
        with_names,
    )
    from relay.debuggers.debugpy.debuggee.probe.trace.taped_calls import (
        InnerCall,
        TapedCall,
        TapedFrame,
        tapes_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.trace.types import (
        facts_of_types,
        line_only_reads,
    )
    from relay.debuggers.debugpy.debuggee.probe.trace.values import LASTING

_MOST_OPEN_CALLS = 10_000  # calls that are not over, at once
_FEW_CALLS = 16
_NO_FRAMES: set[Any] = set()


class UntilTrace(FrameTrace):
    """A trace that waits for an end. In the place of a FrameTrace, with the same events.

    `frames` has what is kept of each call. Of one that nobody on a tape has called, and that has
    called none of which lines are shown, that is a plain list: the variables at the first line that
    may change what it was given (None before), the facts of its code, its number, its lines, and the
    events of calls that it made, beginnings with the line that calls. A line is a number if nothing
    can be missed there; two with a look at all variables ahead of it, if it may change a value in
    place; three with what is overwritten, if it only binds locals anew. Lines that always follow
    others have no event; they are put in between when the list becomes a tape.
    """

    def __init__(self, call: int, depth: int, reveal: bool, until: str) -> None:
        super().__init__(call, depth, reveal)
        self.texts = self.tape_texts = TapeTexts(reveal)
        self.condition = Condition(until)
        self.facts: dict[int, LineFacts] = {}  # by the code's id
        self.lingering: dict[
            Any, set[Any]
        ] = {}  # by a call that may end before them: see `_lingers`
        self.begun = 0  # while others were open, since closed generators were looked for
        self.found: Replay | None = None
        self.number: int | None = None  # of the call that was found
        self.matches = self.answers = 0
        self.ended = itertools.count()  # counts in C: two threads never get the same
        self.ended_by_exception = itertools.count()
        self.until_error: str | None = None
        self.is_error_of_result = False  # whether it raised for a call that returned, too

    # Events of the interpreter -------------------------------------------------------

    def begin(self, frame: Any, number: int = 0) -> None:
        """This may be the call."""
        if self.frames and self._is_full():
            return
        facts = self.facts.get(id(frame.f_code))
        if facts is None or facts.settled is not None:
            facts = self._facts_for(frame)
        self.frames[frame] = [None, facts, number]
        if len(self.frames) > 1 and frame.f_back in self.frames:
            self._on_tape(frame)

    def _is_full(self) -> bool:
        """Whether too many calls are open for one more. As often as as many again have begun, generators
        that were closed without an event are taken away."""
        self.begun += 1
        if self.begun > len(self.frames) + _FEW_CALLS:
            self.begun = 0
            for frame in list(self.frames):
                if frame.f_code.co_flags & PAUSES and has_lost_generator(frame):
                    self.frames.pop(frame, None)
                    self.drop_lingering(frame)
        return len(self.frames) >= _MOST_OPEN_CALLS

    def _present_on_tape(self, frame: Any) -> Any:
        """The same, with all lines that have begun."""
        kept = self._on_tape(frame)
        if kept is not None and kept.inner and kept.facts is not None:
            self._catch_up(kept, kept.facts.up_to(kept.last, frame.f_lineno))
        return kept

    def _catch_up(self, kept: TapedCall, lines: list[int]) -> None:
        """Put lines on the tapes that had no event."""
        for line in lines:
            kept.last = kept.line = line
            for tape, _ in kept.inner:
                tape.add(TAPE_LINE, kept.frame, line, None)

    def _on_tape(self, frame: Any) -> TapedCall | None:
        """The call, with its tape from now on; None if it is not of interest."""
        kept = self.frames.get(frame)
        if type(kept) is not list:
            return kept
        given, facts, number, *lines = kept
        if given is None:  # nothing has changed since it began
            given = frame.f_locals.copy()
            variables = self.tape_texts.variables(frame.f_code, given, True)
        else:
            variables = next(one[1] for one in lines if type(one) is tuple and len(one) == 2)
        variables = with_names(variables, facts.given)
        given = {name: given[name] for name in facts.arguments if name in given}
        own = Tape(frame, number, given)
        if (
            frame.f_code.co_flags & GENERATES
        ):  # it runs for the first time: who goes on with it may be another
            own.caller = caller_of(frame, self.about)
        taped = TapedFrame(frame)
        own.add(TAPE_START, taped, None, variables)
        caller = self._present_on_tape(frame.f_back)
        tapes, inner = ((), ()) if caller is None else self._shown_by(caller, taped, variables)
        kept = TapedCall(taped, own, tapes, ((own, self.depth), *inner), facts)
        self.frames[frame] = kept
        if tapes and frame.f_code.co_flags & PAUSES:
            self._lingers(frame, kept)
        for one in lines:
            self._put_on_tape(kept, one)
        return kept

    def _put_on_tape(self, kept: TapedCall, one: Any) -> None:
        """Put on the call's own tape what a plain list had of it."""
        own, facts = kept.own, kept.facts
        assert own is not None
        if type(one) is tuple and len(one) > 3:  # an event of a call that it made
            kind, taped, what, variables, *at = one
            if at:  # a beginning, in this call
                self._catch_up(kept, facts.up_to(kept.last, at[0]))
                what = kept.frame
            own.add(kind, taped, what, variables)
            return
        line, *looks = one if type(one) is tuple else (one,)
        self._catch_up(kept, facts.ahead_of(kept.last, line))
        kept.last = kept.line = line
        variables = Overwritten(looks[1]) if len(looks) == 2 else looks[0] if looks else None
        own.add(TAPE_LINE, kept.frame, line, variables)

    def _facts_for(self, frame: Any) -> LineFacts:
        """Those of its code; if they are settled for other types than this call has, not any more."""
        facts = self._facts_of(frame.f_code)
        settled = facts.settled
        if settled is None:
            return facts
        is_as_before = facts.by_types.get(facts.types_given(frame.f_locals)) is settled
        if is_as_before:
            return settled
        facts.unsettle()
        MONITORING.restart_events()  # so that all lines have events again
        return facts

    def _facts_of(self, code: Any) -> LineFacts:
        facts = self.facts.get(id(code))
        if facts is None:
            facts = self.facts[id(code)] = LineFacts(code)
        return facts

    def _look(self, frame: Any, is_whole: bool = False) -> Any:
        return self.tape_texts.variables(frame.f_code, frame.f_locals.copy(), is_whole)

    def _shown_by(self, caller: TapedCall, taped: TapedFrame, variables: Any) -> tuple[Any, Any]:
        for tape, _ in caller.inner:
            tape.add(TAPE_START, taped, caller.frame, variables)
        tapes = tuple(tape for tape, _ in caller.inner)
        return tapes, tuple((tape, level - 1) for tape, level in caller.inner if level > 1)

    def enter(self, frame: Any) -> bool:
        """A frame begins. Whether it is of interest: own code, called by what is kept."""
        kept = self.frames.get(frame.f_back)
        if type(kept) is list and self._is_shown_at_its_ends(kept, frame):
            if self._is_own(frame):
                caller = frame.f_back
                given = self.tape_texts.kept_of(frame.f_locals.copy(), True)
                taped = TapedFrame(frame)
                kept.append((TAPE_START, taped, None, given, caller.f_lineno))
                self.frames[frame] = InnerCall(taped, caller)
                if frame.f_code.co_flags & PAUSES:
                    self.lingering.setdefault(caller, set()).add(frame)
                return True
            return False
        caller = self._present_on_tape(frame.f_back)
        if caller is None or not caller.inner:
            return False
        code, taped = frame.f_code, TapedFrame(frame)
        if code.co_name in SEAMLESS:
            for tape, _ in caller.inner:
                tape.add(TAPE_START, taped, caller.frame, {})
            self._lingers(frame, TapedCall(taped, None, (), caller.inner, None))
            return False
        if not self._is_own(frame):
            return False
        variables = self._look(frame, is_whole=True)
        tapes, inner = self._shown_by(caller, taped, variables)
        called = TapedCall(taped, None, tapes, inner, self._facts_for(frame))
        if code.co_flags & PAUSES:
            self._lingers(frame, called)
        else:
            self.frames[frame] = called
        return True

    def _lingers(self, frame: Any, called: TapedCall) -> None:
        """Keep a call that may be left suspended, or have no event at its end, see `drop_lingering`."""
        self.frames[frame] = called
        for tape in tapes_of(called):
            if tape is not called.own:
                self.lingering.setdefault(tape.frame, set()).add(frame)

    def _is_over(self, frame: Any, kept: Any) -> None:
        """Nothing holds the frame of a call that has ended, nor what its variables have."""
        self.frames.pop(frame, None)  # a new trace may have taken all away
        if not self.lingering:
            return
        callers = [kept.caller] if type(kept) is InnerCall else []
        if type(kept) is TapedCall:
            callers = [tape.frame for tape in tapes_of(kept)]
        for caller in callers:
            self.lingering.get(caller, _NO_FRAMES).discard(frame)
        self.drop_lingering(frame)

    def drop_lingering(self, frame: Any) -> None:
        """A call that could have been the one is over: so are its tape, and calls that no other one shows.
        Kept, they would hold its frame, and this the generators that it has left: never closed then."""
        for inner in self.lingering.pop(frame, ()):
            called = self.frames.get(inner)
            if type(called) is TapedCall:
                called.leave_tape_of(frame)
                if called.own is None and not tapes_of(called):
                    self.frames.pop(inner, None)
            elif type(called) is InnerCall:
                self.frames.pop(inner, None)

    def _is_shown_at_its_ends(self, caller: list[Any], frame: Any) -> bool:
        is_room = len(caller) < MOST_EVENTS
        return is_room and self.depth == 1 and frame.f_code.co_name not in SEAMLESS

    def _is_own(self, frame: Any) -> bool:
        return self.about(frame)[2] and not is_debugger_file(frame.f_code.co_filename)

    def line(self, frame: Any, line: int) -> None:
        """A line is about to run."""
        kept = self.frames.get(frame)
        if type(kept) is list:
            if len(kept) < MOST_EVENTS:
                kept.append(self._line_kept(kept, frame, line))
                return
            kept = self._on_tape(frame)
        if kept is None or not kept.inner or frame.f_code.co_name in SEAMLESS:
            return
        facts = kept.facts
        silent = facts.ahead_of(kept.last, line)
        last = silent[-1] if silent else kept.line
        variables = None
        if last and (last in facts.acts or line in facts.acts or line in facts.rebinds):
            variables = self._look(frame)  # first of all: there may be no frames left for it
        self._catch_up(kept, silent)
        kept.last = kept.line = line
        for tape, _ in kept.inner:
            tape.add(TAPE_LINE, kept.frame, line, variables)

    def _line_kept(self, kept: list[Any], frame: Any, line: int) -> Any:
        """What to keep of a line ahead of it, in the plain list of a call."""
        facts: LineFacts = kept[1]
        if line in facts.quiet:
            return line
        quick = facts.quick.get(line)
        one = None if quick is None else quick(frame.f_locals)
        return self.line_with_look(kept, frame, line) if one is None else one

    def line_with_look(self, kept: list[Any], frame: Any, line: int) -> Any:
        """The same of a line that is not quiet, and has no quick way now."""
        facts: LineFacts = kept[1]
        now = frame.f_locals
        if not facts.is_typed:
            key = facts.types_given(now)
            typed: Any = facts.by_types.get(key)
            typed = typed or self._learn_types(frame, now, facts, key)
            if len(self.frames) == 1:  # nothing else is kept by what was known before
                facts.settle(typed)
            facts = kept[1] = typed
            if line in facts.quiet:
                return line
        acts = line in facts.acts and (
            line in facts.surely_acts or not self._only_reads(frame, now, facts, line)
        )
        if not acts:
            if line not in facts.rebinds:
                return line
            if kept[0] is not None or line not in facts.rebinds_given:
                return self._overwritten(facts, now, line)
        is_first = kept[0] is None
        if is_first and self._finds_nothing_to_change(kept, facts, line):
            return line
        found = now.copy()
        variables = self.tape_texts.variables(frame.f_code, found, is_first)
        if is_first:
            kept[0] = found
        return line, variables

    def _overwritten(self, facts: LineFacts, now: Any, line: int) -> Any:
        values = facts.values_overwritten[line](now)
        for value in values.values():
            if type(value) not in LASTING:
                values = self.tape_texts.kept_of(values, False)
                break
        return line, None, values

    def _finds_nothing_to_change(self, kept: list[Any], facts: LineFacts, line: int) -> bool:
        if line in facts.rebinds or not facts.is_given_plain or BEGINNING in facts.binds_onwards:
            return False
        return all(type(one) is int and one not in facts.binds_onwards for one in kept[3:])

    def _learn_types(self, frame: Any, now: Any, facts: LineFacts, key: Any) -> LineFacts:
        """The facts of calls that are given values of these types."""
        given = {name: now[name] for name in facts.given if name in now}
        typed: LineFacts = learn(facts.by_types, key, facts_of_types(facts, given, frame.f_globals))
        return typed

    def _only_reads(self, frame: Any, now: Any, facts: LineFacts, line: int) -> bool:
        known, key = facts.reading[line], facts.types_taken[line](now)
        reads = known.get(key)
        if reads is None:
            found = {name: now[name] for name in facts.loads.get(line, ()) if name in now}
            reads = learn(known, key, line_only_reads(facts, line, found, frame.f_globals))
        return reads

    def leave(self, frame: Any, value: Any, suspends: bool) -> bool:
        """A frame returns or, if it suspends, yields. Whether it is the call that was asked for."""
        kept = self.frames.get(frame)
        if type(kept) is list and not suspends and not self.is_end(kept, frame, value):
            del self.frames[frame]
            self.drop_lingering(frame)
            if not self.frames:
                self.tape_texts.let_go()
            return False
        kept = self._present_on_tape(frame)
        if kept is None:
            return False
        if suspends:
            self._put_end(kept, frame, TAPE_YIELD, value)
            return False
        is_end = self._is_end_of(kept, frame, value, None)
        self._is_over(frame, kept)
        return self._over(kept, frame, value, None, is_end)

    def raised(self, frame: Any, error: Any) -> None:
        """An exception passes through the line at which the frame is."""
        kept = self._present_on_tape(frame)
        if kept is not None:
            if kept.inner:
                kept.last = NO_LINE
            is_shown = kept.inner and not issubclass(type(error), SILENT)
            said = self.tape_texts.said(error) if is_shown else None
            for tape, _ in kept.inner if is_shown else ():
                tape.add(TAPE_RAISE, kept.frame, (kept.sign_of(error), said), None)

    def handles(self, frame: Any, error: Any) -> None:
        """A line is about to run while this exception is handled, if any: another one may be gone."""
        kept = self.frames.get(frame)
        if type(kept) is TapedCall and kept.last_error != id(error):
            kept.last_error = 0
            self.tape_texts.forget_error(error)

    def unwound(self, frame: Any, error: Any) -> bool:
        """An exception leaves the frame. Whether it is the call that was asked for."""
        if issubclass(type(error), RecursionError):
            require_room()
        kept = self._on_tape(frame)
        is_end = kept is not None and self._is_end_of(kept, frame, None, error)
        if kept is not None:
            # The traceback has the frame, and before 3.13 this the variables as they were read last: an
            # exception that it has let go of would hold itself.
            _ = frame.f_locals
        self._is_over(frame, kept)
        return kept is not None and self._over(kept, frame, None, error, is_end)

    def _is_end_of(self, kept: Any, frame: Any, value: Any, error: Any) -> bool:
        own = kept.own
        return own is not None and (own.is_end or self._matches(frame, own.given, value, error))

    def _over(self, kept: Any, frame: Any, value: Any, error: Any, is_end: bool) -> bool:
        if is_end:
            self._find(kept, frame, value, error)
        elif error is None:
            self._put_end(kept, frame, TAPE_RETURN, value)
        else:
            self._put_end(kept, frame, TAPE_UNWIND, error)
        if not self.frames:
            self.tape_texts.let_go()
        return is_end

    def _put_end(self, kept: Any, frame: Any, kind: int, what: Any) -> None:
        """Put an end of the call, or a pause, where it is shown: on tapes, or in a plain list."""
        if type(kept) is InnerCall:
            caller = self.frames.get(kept.caller)
            if type(caller) is list and len(caller) >= MOST_EVENTS:
                caller = self._on_tape(kept.caller)
            if caller is not None:
                event = kind, kept.frame, self._kept_end(frame, kind, what), None
                if type(caller) is list:
                    caller.append(event)
                    if kind == TAPE_UNWIND:
                        self.tape_texts.forget_error(None)  # no line may say that it is handled
                else:
                    caller.own.add(*event)
        elif kept.tapes or len(kept.inner) > (kept.own is not None and kind != TAPE_YIELD):
            variables = self._look(frame) if kept.inner else None
            end = self._kept_end(frame, kind, what)
            tapes = {id(tape): tape for tape in (*kept.tapes, *(tape for tape, _ in kept.inner))}
            for tape in tapes.values():
                tape.add(kind, kept.frame, end, variables)

    def _kept_end(self, frame: Any, kind: int, what: Any) -> Any:
        """The result, the value that is given, or the exception, in a form that stays as it is."""
        if kind == TAPE_UNWIND:
            return self.tape_texts.said(what), frame.f_lineno
        if kind == TAPE_YIELD:
            what = unwrapped(what)
        if type(what) is Given:
            return Given(self.tape_texts.kept(frame.f_code.co_name, what.value))
        return self.tape_texts.kept(frame.f_code.co_name, what)

    def is_end(self, kept: list[Any], frame: Any, value: Any) -> bool:
        """Whether the call that returns is the one that was asked for; of one without a tape."""
        condition = self.condition.in_code(frame, kept[1])
        given: Any = ()
        if condition.names:
            given = frame.f_locals if kept[0] is None else kept[0]
        if not self._counts(condition, given, value, None):
            return False
        tape = self._on_tape(frame)
        assert tape is not None
        assert tape.own is not None
        tape.own.is_end = True
        return True

    def _matches(self, frame: Any, given: Any, value: Any, error: Any) -> bool:
        condition = self.condition.in_code(frame, self._facts_of(frame.f_code))
        return self._counts(condition, given, value, error)

    def _counts(self, condition: Any, given: Any, value: Any, error: Any) -> bool:
        """Counts the call: as one that goes by, or as one that ends as asked for."""
        function, names, arguments = condition
        try:
            if names:
                found = function(value, error, *[given[name] for name in names])
            else:
                found = function(value, error)
            if found:
                found = bool(found)
        except BaseException as wrong:
            if is_from_outside(wrong) or wants_room(wrong):
                raise
            found = False
            self.is_error_of_result = self.is_error_of_result or error is None
            if self.until_error is None:
                self.until_error = error_of_condition(wrong, arguments)
        if found:
            require_room()
            self.matches += 1
            if self.matches == self.call:
                return True
        next(self.ended)
        if error is not None:
            next(self.ended_by_exception)
        return False

    def _find(self, kept: TapedCall, frame: Any, value: Any, error: Any) -> None:
        own, kind, what = kept.own, TAPE_RETURN, value
        assert own is not None
        if error is not None:
            kind, what = TAPE_UNWIND, (self.tape_texts.said(error), frame.f_lineno)
        own.events.append((kind, kept.frame, what, self._look(frame)))
        self.about(frame)
        replay = Replay(self, self.facts)
        replay.play(own)
        replay.root.record["caller"] = own.caller or caller_of(frame, self.about)
        self.found, self.number = replay, own.number
        self.finish("complete")

    def stop_at(self, frame: Any, is_ahead: bool) -> None:
        """Whatever is on tapes was not the call."""

    def finish(self, state: str) -> None:
        """Nothing is recorded any more."""
        if self.is_active:
            self.state = state
        self.frames.clear()
        self.lingering.clear()

    def answer(self) -> dict[str, Any]:
        passed = next(self.ended) - self.answers
        raised = next(self.ended_by_exception) - self.answers
        self.answers += 1
        found = self if self.found is None else self.found
        answer = dict(FrameTrace.answer(found), state=self.state, called=self.called)
        answer.update(
            call=self.number,
            passed=passed,
            raised=raised,
            complaint=self.complaint,
            fault=self.fault,
            hidden=self.may_have_hidden,
            until_error=self.until_error,
            until_error_of_result=self.is_error_of_result,
        )
        return answer
