"""The writes of one state in whatever objects have it: which object, what, by which code.

Which of the objects is the one that is asked about is known only when the program stops: so the
newest writes of each are kept, within a bound, until that or until the object is gone.
"""

from __future__ import annotations

import collections
import itertools
import sys
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import is_debugger_file
    from relay.debuggers.debugpy.debuggee.probe.frames.state_targets import ABSENT
    from relay.debuggers.debugpy.debuggee.probe.frames.templates import WITHOUT_FILE, template_place
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.process.paths import is_file
    from relay.debuggers.debugpy.debuggee.probe.trace.values import ValueTexts
    from relay.debuggers.debugpy.debuggee.probe.writes.value_equality import are_equal

_MOST_WRITES_KEPT = 100  # writes of one object
_MOST_WRITTEN_OBJECTS = 50_000
_MOST_FRAMES = 20  # of the stack of a write
_TEXT_ROOM = 200  # characters of a value
_SWEEP_AFTER = 1000  # writes after which those objects are let go that nobody else has


class Write(NamedTuple):
    """One write. None in place of a text: there was no value, or is none since."""

    number: int
    old: Any
    new: Any
    stack: Any
    before: Any
    """Which value was there: its address, None for none. Else than the last `after` if something
    was written in between that nobody saw."""
    after: Any


class _OwnerReference(weakref.ref):  # type: ignore[type-arg]
    """That an object lives, and where."""

    __slots__ = ("address",)
    address: int


class ObjectWrites:
    """The newest writes of one object."""

    def __init__(self, reference: Any = None) -> None:
        """reference: to the object; None if it is held, or tells itself when it is another one."""
        self.writes: Any = collections.deque(maxlen=_MOST_WRITES_KEPT)
        self.count = 0
        self.last: Any = None  # address of the value that was written last
        self.reference = reference  # how it is known that the address is still the same object's

    def is_of(self, owner: Any) -> bool:
        return self.reference is None or self.reference() is owner


class WriteLog:
    """What was written, by the object that has it."""

    def __init__(self, key: Any, reveal: bool) -> None:
        self.name = key if type(key) is str else ""
        self.texts = ValueTexts(reveal)
        self.objects: Any = collections.OrderedDict()
        self.held: dict[int, Any] = {}  # by address: of these, what can have no weak reference
        self.gone: Any = collections.deque()  # references to what has ended since
        self.numbers = itertools.count(1)
        self.is_full = False  # whether objects were left out
        self.seen = 0

    def note(
        self,
        owner: Any,
        old: Any,
        new: Any,
        frame: Any,
        is_held: bool = True,
        line: int | None = None,
    ) -> None:
        """`frame` is about to write `new` over `old`, or has, at this line; ABSENT is no value."""
        writes = self._writes_of(owner, is_held)
        if old is ABSENT and writes.last is not None and not is_held:
            self.forget(owner)  # another one, at the same address
            writes = self._writes_of(owner, is_held)
        after = writes.last = address_of(new)
        if are_equal(old, new):
            if writes.writes and writes.writes[-1].after == address_of(old):
                writes.writes[-1] = writes.writes[-1]._replace(after=after)
            return
        texts = self.text(old), self.text(new)
        writes.count += 1
        stack = stack_of_write(frame, line)
        writes.writes.append(Write(next(self.numbers), *texts, stack, address_of(old), after))

    def forget(self, owner: Any) -> None:
        """What lies at this address is new."""
        self._drop(id(owner))

    def move(self, owner: Any, before: Any) -> None:
        """What was written by way of `before`, which is given up, counts as written to the owner."""
        known = self.of(before)
        if known is not None:
            writes = self._writes_of(owner, True)
            together = sorted([*writes.writes, *known.writes])
            writes.writes.clear()
            writes.writes.extend(together)
            writes.count += known.count
            self.forget(before)

    def of(self, owner: Any) -> ObjectWrites | None:
        """The writes of the object, if any was seen."""
        found = self.objects.get(id(owner))
        return found if found is not None and found.is_of(owner) else None

    def text(self, value: Any) -> Any:
        """The text of a value; None for ABSENT."""
        return None if value is ABSENT else self.texts.value(self.name, value, _TEXT_ROOM)["value"]

    def _writes_of(self, owner: Any, is_held: bool) -> ObjectWrites:
        objects, found = self.objects, self.of(owner)
        if found is None:
            self._drop(id(owner))
            found = objects[id(owner)] = ObjectWrites(self._hold(owner) if is_held else None)
        objects.move_to_end(id(owner))
        self.seen += 1
        self._let_go()
        if len(objects) > _MOST_WRITTEN_OBJECTS:
            self._drop(next(iter(objects)))
            self.is_full = True
        return found

    def _hold(self, owner: Any) -> Any:
        """A weak reference, or None: then the object is held, so that its address stays its own."""
        # Of most, none can be made; to try takes long.
        found = None if type(owner) in (list, dict) else attempt(self._reference_to, owner)
        if found is None:
            self.held[id(owner)] = owner
        return found

    def _reference_to(self, owner: Any) -> Any:
        # The program's thread makes the call in which the object ends: of C, nobody hears of it.
        found = _OwnerReference(owner, self.gone.append)
        found.address = id(owner)
        return found

    def _let_go(self) -> None:
        """Of what is gone, or would be but for us."""
        while self.gone:
            try:
                reference = self.gone.popleft()
            except IndexError:
                break  # another thread has taken it
            found = self.objects.get(reference.address)
            if found is not None and found.reference is reference:
                self._drop(reference.address)
        if self.held and self.seen % _SWEEP_AFTER == 0:
            held, count = self.held, sys.getrefcount
            # Known by the dict that holds it for us, and by the call's argument.
            for address in [one for one in list(held) if count(held.get(one)) <= 2]:
                self._drop(address)

    def _drop(self, address: int) -> None:
        self.objects.pop(address, None)
        self.held.pop(address, None)


def address_of(value: Any) -> int | None:
    """What distinguishes a value from others while it lives; None for ABSENT."""
    return None if value is ABSENT else id(value)


def stack_of_write(frame: Any, line: int | None = None) -> tuple[tuple[str, str, int], ...]:
    """(path, function, line) of the frame and its callers, within the bound, without the debugger's.

    line: of the frame, which may have gone on to the next one.
    """
    found: list[tuple[str, str, int]] = []
    while frame is not None and len(found) < _MOST_FRAMES:
        code, at = frame.f_code, frame.f_lasti if line is None else ~line
        known = _places_in.get(code)
        if known is None:
            known = _places_in[code] = {}
        place = known.get(at) or _place_of_frame(frame, at, line, known)
        if place is not _OF_DEBUGGER:
            found.append(place)
        frame, line = frame.f_back, None
    return tuple(found)


_OF_DEBUGGER = ("", "", 0)
_places_in: Any = CodeTable()
"""Places in each code, by the instruction, or by the line with its bits inverted: below all of these."""


def forget_places() -> None:
    """Nothing is recorded any more: the codes may end."""
    _places_in.clear()


def _place_of_frame(
    frame: Any, at: int, line: int | None, known: dict[int, Any]
) -> tuple[str, str, int]:
    code, line = frame.f_code, line or frame.f_lineno
    if is_debugger_file(code.co_filename):
        found = _OF_DEBUGGER
    else:
        shown = template_place(frame, line, True)
        if shown is not None:
            return shown.path, shown.name, shown.line  # which lines are whose may not be known yet
        found = code.co_filename, code.co_name, line
    known[at] = found
    return found


_with_source: dict[str, bool] = {}


def has_source(path: str) -> bool:
    """Whether the code's file can be read: what is made while the program runs has none.

    A template has lines of its own, also where it is a text of the program's.
    """
    known = _with_source.get(path)
    if known is None:
        known = path == WITHOUT_FILE or (path[:1] != "<" and is_file(path))
        _with_source[path] = known
    return known
