"""A call as it goes by, kept cheaply: references and copies, whose texts are written if it counts.

What cannot change is kept as it is, and what Python itself writes as a copy (`copies.py`). The
text of anything else is written at once. So what a replay shows is what there was at each line.
"""

from __future__ import annotations

import types
from operator import is_
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.trace.copies import (
        MOST_COPIED,
        Copies,
        LongCopy,
        NotCopiedError,
    )
    from relay.debuggers.debugpy.debuggee.probe.trace.lines import LineFacts
    from relay.debuggers.debugpy.debuggee.probe.trace.record import (
        MOST_ADDED,
        MOST_ATTRIBUTES,
        MOST_VARIABLES,
        SIZED,
        FrameTrace,
    )
    from relay.debuggers.debugpy.debuggee.probe.trace.values import (
        LASTING,
        ROOM,
        UNCHANGING,
        WIDE_ROOM,
        ValueTexts,
        parts_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.attributes import (
        arguments_of,
        own_dict,
        own_slots,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.types import (
        is_dunder,
        keeps_more,
        lookup,
        mro_of,
        plan_of,
    )

TAPE_START, TAPE_LINE, TAPE_YIELD, TAPE_RETURN, TAPE_RAISE, TAPE_UNWIND = range(6)
MOST_EVENTS = 5000  # on one tape
_MOST_TAPE_LEAVES, _MOST_KNOWN_TEXTS = 60, 500
_NO_NAMES: frozenset[str] = frozenset()
_SAYING_ARGUMENTS = (BaseException.__str__, KeyError.__str__)
_PLAIN_SEQUENCES: Any = frozenset((list, tuple, set, frozenset))


class Tape:
    """The events of one call, and of those that it made as deep as they are shown.

    What an event is about is the value that is given, the exception, the line; of a beginning, the caller, None
    of the call's own.
    """

    __slots__ = ("caller", "counted", "events", "frame", "given", "is_end", "number")

    def __init__(self, frame: Any, number: int, given: dict[str, Any]) -> None:
        self.frame, self.number, self.given = frame, number, given
        self.is_end = False  # known to be the call that was asked for
        self.caller: Any = None  # of a generator: who first ran it
        # Of each its kind, the taped frame, what it is about (of a start the caller), variables.
        self.events: list[tuple[int, Any, Any, Any]] = []
        self.counted: dict[Any, dict[int, int]] = {}  # by frame: lines beyond the bound

    def add(self, kind: int, frame: Any, what: Any, variables: Any) -> None:
        if len(self.events) < MOST_EVENTS:
            self.events.append((kind, frame, what, variables))
        elif kind == TAPE_LINE:
            counts = self.counted.setdefault(frame, {})
            counts[what] = counts.get(what, 0) + 1


class Overwritten:
    """Of a line that changes nothing in place: the locals that it may bind anew, as far as they had
    a value."""

    __slots__ = ("values",)

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values


class _Copy:
    """A value, and what is written as it was."""

    __slots__ = ("held", "origin", "value")

    def __init__(self, origin: Any, value: Any, is_flat: bool) -> None:
        """is_flat: the copy holds the very objects that the value had."""
        self.origin, self.value = origin, value
        self.held = None if is_flat else parts_of(origin)

    @property
    def parts(self) -> Any:
        return parts_of(self.value) if self.held is None else self.held


class _Shown:
    """A value of which the texts are there already: in the room of a change, and of an argument."""

    __slots__ = ("added", "near", "origin", "parts", "size", "wide")

    def __init__(self, origin: Any, near: Any, wide: Any) -> None:
        self.origin, self.near, self.wide, self.parts = origin, near, wide, parts_of(origin)
        self.size = len(origin) if type(origin) in SIZED else -1
        self.added: tuple[int, str] | None = None  # of a list: since it had so many items, which


class TapeTexts(ValueTexts):
    """Texts of values as they are, and as they were kept."""

    def __init__(self, reveal: bool) -> None:
        super().__init__(reveal)
        self.copies = Copies()
        self.known: dict[tuple[int, str], tuple[Any, list[Any], _Shown]] = {}
        # Lists, and their sizes when they were written last.
        self.lists: dict[tuple[int, str], tuple[Any, int]] = {}
        self.last_error: tuple[Any, Any, dict[str, Any]] | None = None

    def forget_error(self, error: Any) -> None:
        """Hold no other exception than this: it has the frames that it has passed."""
        if self.last_error is not None and self.last_error[0] is not error:
            self.last_error = None

    def let_go(self) -> None:
        """Nothing is on a tape any more: what was known of values is let go of."""
        self.seconds = 0.0
        self.last_error = None
        if self.known:
            self.known.clear()
        if self.lists:
            self.lists.clear()

    def value(self, name: str, value: Any, room: int) -> dict[str, Any]:
        if type(value) is _Shown:
            return dict(value.near if room <= ROOM else value.wide)
        return super().value(name, value.value if type(value) is _Copy else value, room)

    def said(self, error: Any) -> dict[str, Any]:
        """The text of an exception, which may say something else later.

        Written once for each, and not at each frame that it leaves, if its arguments are all of it.
        """
        last, arguments = self.last_error, arguments_of(error)
        if last is not None and last[0] is error and last[1] is arguments:
            return last[2]
        record = self.error(error)
        is_fixed = UNCHANGING.issuperset(map(type, arguments))
        is_fixed = is_fixed and lookup(mro_of(type(error)), "__str__") in _SAYING_ARGUMENTS
        self.last_error = (error, arguments, record) if is_fixed else None
        return record

    def kept(self, name: str, value: Any, is_whole: bool = True) -> Any:
        """The value in a form that the program cannot change; whole: also as an argument."""
        kind = type(value)
        if kind in LASTING:
            return value
        if kind is list and len(value) <= MOST_COPIED:  # what is copied most, without ado
            found = value.copy()
            if UNCHANGING.issuperset(map(type, found)):
                return _Copy(value, found, True)
        if kind is types.MethodType:
            return self._shown(name, value, is_whole, [])  # its text is that of when it was made
        try:
            frozen = self.copies.of(value)
        except NotCopiedError:
            return self._shown(name, value, is_whole, _leaves_of(value))
        return value if frozen is value else _Copy(value, frozen, False)

    def _shown(self, name: str, value: Any, is_whole: bool, leaves: list[Any] | None) -> _Shown:
        """leaves: what its text is made of; None if that is not known."""
        known = self.known.get((id(value), name))
        if (
            known is not None
            and leaves is not None
            and _are_one(leaves, known[1])
            and (known[2].wide is not None or not is_whole)
        ):
            return known[2]
        near = self.value(name, value, ROOM)
        wide = None
        if is_whole:
            is_short = not near.get("truncated") and len(near["value"]) < ROOM
            wide = near if is_short else self.value(name, value, WIDE_ROOM)
        shown = _Shown(value, near, wide)
        if type(value) is list:
            self._note_size(name, value, shown)
        if leaves is not None and len(self.known) < _MOST_KNOWN_TEXTS:
            self.known[id(value), name] = value, leaves, shown
        return shown

    def _note_size(self, name: str, value: list[Any], shown: _Shown) -> None:
        """What a list has at its end since it was written last."""
        last, size = self.lists.get((id(value), name)), shown.size
        if last is None and size <= MOST_ADDED:  # it may have been empty
            shown.added = 0, shown.near["value"]
        elif last is not None and last[0] is value and 0 < size - last[1] <= MOST_ADDED:
            shown.added = last[1], self.value(name, value[last[1] : size], ROOM)["value"]
        if last is not None or len(self.lists) < _MOST_KNOWN_TEXTS:
            self.lists[id(value), name] = value, size

    def variables(self, code: Any, found: dict[str, Any], is_whole: bool) -> Any:
        """The locals of a frame as they are now; `expanded_look` has them in their last form.

        found: a copy of them, which is left as it is.
        """
        values = self.kept_of(found, is_whole)
        if values is found:
            return found
        if len(values) > MOST_VARIABLES:
            values = dict(list(values.items())[:MOST_VARIABLES])
        if not code.co_argcount or code.co_varnames[0] != "self" or "self" not in found:
            return values
        own = _attributes(found["self"])
        for name, value in own.items():
            if type(value) not in LASTING:
                own[name] = self.kept("self." + str(name), value, is_whole)
        return values, own

    def kept_of(self, found: dict[str, Any], is_whole: bool) -> dict[str, Any]:
        """These values, each in a form that the program cannot change; `found` itself if all are."""
        values, kept = found, self.kept
        for name, value in found.items():
            if type(value) not in LASTING:
                if values is found:
                    values = found.copy()
                values[name] = kept(name, value, is_whole)
        return values


def _attributes(me: Any) -> dict[str, Any]:
    """A copy of what `self` has."""
    plan = plan_of(me)
    own = attempt(own_dict, me, plan)
    if type(own) is dict and len(own) <= MOST_ATTRIBUTES and not plan.members:
        return own.copy()
    items = attempt(lambda: list(own.items()), default=[])
    return dict([*items, *own_slots(me, plan)][:MOST_ATTRIBUTES])


def with_names(variables: Any, names: tuple[str, ...]) -> Any:
    """Of a look: only these variables, with the attributes of `self`."""
    found, attributes = variables if type(variables) is tuple else (variables, {})
    chosen = {name: found[name] for name in names if name in found}
    return (chosen, attributes) if attributes else chosen


def expanded_look(variables: Any) -> Any:
    """The locals, and `self.x` for the attributes of `self`; None where only some were looked at."""
    if type(variables) is not tuple:
        return None if type(variables) is Overwritten else variables
    found, attributes = variables
    return {**found, **_as_attributes(attributes.items())}


def _as_attributes(attributes: Any) -> dict[str, Any]:
    return {"self." + str(name): value for name, value in attributes}


def _leaves_of(value: Any) -> list[Any] | None:
    """All that the value consists of, if that can be seen without code of the program, and is little.

    The same leaves make the same text. Held, so that no other object comes to one's address.
    """
    leaves: list[Any] = []
    ahead, inside = [value], set()
    while ahead:
        one = ahead.pop()
        leaves.append(one)
        if len(leaves) > _MOST_TAPE_LEAVES:
            return None
        kind = type(one)
        if kind in UNCHANGING or id(one) in inside:
            continue
        inside.add(id(one))
        if kind in _PLAIN_SEQUENCES:
            leaves.append(len(one))
            ahead += one
        elif kind is dict:
            leaves.append(len(one))
            ahead += one
            ahead += one.values()
        else:
            plan = plan_of(one)
            if plan.family != "object" or keeps_more(plan):
                return None
            parts = own_dict(one, plan)
            ahead += parts.values()
            leaves += parts
            for _, member in plan.members:
                ahead.append(attempt(member.__get__, one))
    return leaves


def _are_one(leaves: list[Any], others: list[Any]) -> bool:
    return len(leaves) == len(others) and all(map(is_, leaves, others))


class _Past:
    """A frame as it was at one event."""

    def __init__(self, frame: Any, back: Any) -> None:
        self.f_code, self.f_globals, self.f_back = frame.f_code, frame.f_globals, back
        self.f_locals: dict[str, Any] = {}
        self.f_lineno = 0


class Replay(FrameTrace):
    """What a tape holds, recorded as if it happened now."""

    def __init__(self, trace: FrameTrace, facts: dict[int, LineFacts]) -> None:
        super().__init__(trace.call, trace.depth, trace.texts.reveal)
        self.texts, self.codes, self.facts = trace.texts, trace.codes, facts
        self.copies: dict[int, _Copy] = {}  # by the id of what is written for each
        self.said: Any = None  # by the exception of the event that is replayed

    def play(self, tape: Tape) -> None:
        past: dict[Any, _Past] = {}
        variables = self._variables(tape)
        for number, (kind, frame, what, _) in enumerate(tape.events):
            if kind == TAPE_START and (what is None or what in past):
                past[frame] = _Past(frame, past.get(what))  # a generator's own `f_back` is gone
            one = past.get(frame)
            if one is None:
                continue
            if variables[number] is not None:
                one.f_locals = variables[number]
            self._event(kind, one, what)
        self.truncated = self.truncated or bool(tape.counted)
        self.lines += sum(sum(counts.values()) for counts in tape.counted.values())
        self.copies.clear()

    def _event(self, kind: int, frame: Any, what: Any) -> None:
        if kind == TAPE_START:
            if frame.f_back is None:
                self.begin(frame)
            else:
                self.enter(frame)
        elif kind == TAPE_LINE:
            self.line(frame, what)
        elif kind == TAPE_RAISE:
            error, self.said = what
            self.raised(frame, error)
        elif kind == TAPE_UNWIND:
            self.said, frame.f_lineno = what
            self.unwound(frame, None)
        else:
            self.leave(frame, what, kind == TAPE_YIELD)

    def error_text(self, error: Any) -> dict[str, Any]:
        return dict(self.said)

    def _variables(self, tape: Tape) -> list[Any]:
        """Those of each event: what lines gave in between is found at the next look."""
        found = [expanded_look(event[3]) for event in tape.events]
        since: dict[Any, list[int]] = {}  # by frame: its events since the last look
        for number, (_, frame, _, variables) in enumerate(tape.events):
            events = since.setdefault(frame, [])
            events.append(number)
            if variables is not None and type(variables) is not Overwritten:
                self._fill(tape, events, found)
                since[frame] = [number]
        return found

    def _fill(self, tape: Tape, events: list[int], found: list[Any]) -> None:
        """Of the events between two looks. What changed in place is the first line's doing."""
        first, between, last = events[0], events[1:-1], events[-1]
        facts = self.facts.get(id(tape.events[first][1].f_code))
        if found[first] is None or facts is None:
            return
        present: dict[int, set[str]] = {}  # names that have a value before each
        names, before = set(found[first]), first
        for number in between:
            kind, _, line, _ = tape.events[before]
            if kind == TAPE_LINE:
                names |= facts.binds.get(line, _NO_NAMES)
            present[number] = set(names)
            before = number
        later = dict(found[last])
        for number in reversed(between):
            _, _, line, look = tape.events[number]
            if look is not None:
                for name in facts.binds[line].difference(look.values):
                    later.pop(name, None)
                later.update(look.values)
            names = present[number]
            found[number] = {
                name: value
                for name, value in later.items()
                if name in names or name.startswith("self.")
            }

    def _present(self, call: Any, frame: Any) -> list[tuple[str, Any]]:
        present = []
        for name, value in frame.f_locals.items():
            if name[0] == "." or is_dunder(name) or name[:2] == "__":
                continue
            if type(value) is _Copy:
                self.copies[id(value.value)] = value
                value = value.value
            present.append((name, value))
        return present

    def size_of(self, value: Any) -> int:
        if type(value) is LongCopy:
            return int(value.size) if type(self.origin_of(value)) in SIZED else -1
        return int(value.size) if type(value) is _Shown else super().size_of(value)

    def parts_of(self, value: Any) -> Any:
        copy = value if type(value) is _Shown else self.copies.get(id(value))
        return super().parts_of(value) if copy is None else copy.parts

    def _note_growth(self, record: dict[str, Any], value: Any, before: int) -> None:
        if type(value) is LongCopy and value.tail:
            record["length"] = value.size
            self._note_added(record, value.tail[before - value.size :])
        elif type(value) is _Shown and type(value.origin) is list:
            record["length"] = value.size
            if value.added is not None and value.added[0] == before and not record.get("redacted"):
                record["added"] = value.added[1]
        else:
            super()._note_growth(record, value, before)

    def origin_of(self, value: Any) -> Any:
        copy = value if type(value) is _Shown else self.copies.get(id(value))
        return value if copy is None else copy.origin
