"""Data breakpoints as this process has them: what each watches, and what is under way.

Knows no events; `data_changes.py` gives them meaning.
"""

from __future__ import annotations

import itertools
import threading
import types
import weakref
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.frames.comprehensions import offsets_put_aside
    from relay.debuggers.debugpy.debuggee.probe.frames.state_targets import (
        ABSENT,
        StateTarget,
        dict_of_target,
        fills_when_read,
        read_target,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt, frame_at
    from relay.debuggers.debugpy.debuggee.probe.values.types import lookup, plan_of
    from relay.debuggers.debugpy.debuggee.probe.writes.dict_watch import (
        object_at,
    )

_MOVED = object()  # no value of the program
LEAST_PATIENCE, MOST_PATIENCE = 100, 20_000
"""Events without a change, before they take the quicker way again: at first, and at most."""
DATA_GONE = "what it watched is gone"


class SeenChange(NamedTuple):
    """What one statement has done to one place."""

    watch: Any
    old: Any
    new: Any
    frame: Any
    line: int
    exact: bool
    """Whether the line is known to have written; else the change was found behind it."""
    ended: bool = False
    complaint: str | None = None
    """What the condition has raised."""
    merged: bool = False
    """Whether there were other values in between."""


class DataWatch:
    """What one data breakpoint watches: the place, its last value, and how a write is noticed."""

    def __init__(self, number: str, target: StateTarget, condition: Any) -> None:
        self.number, self.condition = number, condition
        self.kind, self.key, self.text, self.code = target[0], target[2], target[4], target[3]
        self.how, self.ended = "lines", ""
        self.note = ""
        self.note_of_class = ""  # true until the object has an attribute of its own
        self.note_within = ""
        self.known_lines = CodeTable()  # the lines that may write it, of codes that were asked for
        self.known_of_others = CodeTable()  # the same, as far as it is known of another thread's
        self.known_stores = CodeTable()  # of lines that may have written it: what they store to
        self.left_since = 0.0  # of `time.perf_counter`; 0: no change is left to another thread
        self.fills = target.kind == "item" and fills_when_read(target.owner)
        self.owner = _reference_to(target.owner)
        self.last = read_target(target)
        is_local = target.kind == "local"
        self.aside = offsets_put_aside(target.code, target.key) if is_local else frozenset()
        self.peek = quick_read(self, target)
        self.space: Any = {}  # where the value is, if checks or looks are relied on
        self.absent = ABSENT
        self.ending: Any = None  # a weak reference that hears of the owner's end
        self.pointer = 0  # of the dict, which may end
        self.handle: Any = None
        self.is_busy = False  # compared at lines since much is written beside it
        self.may_be_busy = True  # whether that is to be asked

    def target(self) -> StateTarget | None:
        owner = self.owner()
        if owner is None:
            return None
        return StateTarget(self.kind, owner, self.key, self.code, self.text)

    def read(self) -> Any:
        """The value now; ABSENT also where its owner is gone."""
        if self.pointer:
            return attempt(dict.get, object_at(self.pointer), self.key, ABSENT, default=ABSENT)
        target = self.target()
        if target is None:
            return ABSENT
        if self.aside and target.owner.f_lasti in self.aside:
            return self.last  # its name is that of a comprehension's variable now
        return attempt(read_target, target, default=ABSENT)

    def keep(self, value: Any) -> None:
        """This is what the next change is from: what led to it is told, or is to be told by nobody."""
        self.last, self.left_since = value, 0.0

    def find_space(self) -> None:
        """Where the value is now."""
        target = self.target()
        self.space = {} if target is None else dict_of_target(target)
        if target is not None and target.kind == "attribute" and type(self.owner) is weakref.ref:
            # Its dict is not to outlive the object.
            self.ending = weakref.ref(target.owner, partial(_let_go_of_space, self))

    @staticmethod
    def came() -> None:
        """A check in the caller of the caller has found a change."""
        listener = data_state.listener
        if listener is not None:
            attempt(listener.notice, frame_at(2))

    def __reduce__(self) -> Any:
        """Who pickles a code with checks gets one that finds nothing."""
        nothing = [].clear
        state: dict[str, Any]
        state = {"peek": nothing, "owner": nothing, "came": nothing, "last": None, "space": {}}
        state["absent"] = None
        return types.SimpleNamespace, (), state


def _let_go_of_space(watch: DataWatch, _: Any) -> None:
    watch.space = {}


def quick_read(watch: DataWatch, target: StateTarget) -> Any:
    """A function that reads the value as `read` does, where that can be done quicker."""
    key = target.key
    if target.kind in ("item", "global"):
        return partial(dict.get, target.owner, key, ABSENT)
    if target.kind == "slot":
        return _slot_read(watch, target)
    if target.kind == "list_item":
        return _list_item_read(watch, key)
    if target.kind == "local":
        return _local_read(watch, key)
    if target.kind != "attribute" or plan_of(target.owner).family == "class":
        return watch.read
    owner_of, get, space_of = watch.owner, dict.get, plan_of(target.owner).dictionary.__get__

    def peek() -> Any:
        owner = owner_of()
        try:
            return ABSENT if owner is None else get(space_of(owner), key, ABSENT)
        except TypeError:  # the object is of another class by now
            return watch.read()

    return peek


def read_in_space(watch: DataWatch) -> Any:
    """As `quick_read`, of an attribute: another value, too, where its object has another `__dict__` now than
    is looked into."""
    owner_of, key, get = watch.owner, watch.key, dict.get
    space_of = plan_of(watch.owner()).dictionary.__get__

    def peek() -> Any:
        owner = owner_of()
        if owner is None:
            return ABSENT
        try:
            space = space_of(owner)
        except TypeError:  # the object is of another class by now
            space = attempt(dict_of_target, watch.target())
        return get(space, key, ABSENT) if space is watch.space else _MOVED

    return peek


def _slot_read(watch: DataWatch, target: StateTarget) -> Any:
    owner_of, get = watch.owner, lookup(plan_of(target.owner).mro, target.key).__get__

    def peek() -> Any:
        owner = owner_of()
        if owner is None:
            return ABSENT
        try:
            return get(owner)
        except AttributeError:
            return ABSENT
        except TypeError:  # the object is of another class by now
            return watch.read()

    return peek


def _list_item_read(watch: DataWatch, key: int) -> Any:
    owner_of, get, count = watch.owner, list.__getitem__, list.__len__

    def peek() -> Any:
        owner = owner_of()
        return get(owner, key) if owner is not None and key < count(owner) else ABSENT

    return peek


def _local_read(watch: DataWatch, key: str) -> Any:
    frame_of = watch.owner

    def peek() -> Any:
        frame = frame_of()
        if watch.aside and frame.f_lasti in watch.aside:
            return watch.last
        return frame.f_locals.get(key, ABSENT)

    return peek


class Strong:
    """What cannot be referred to weakly: kept, and so looked at for who else has it."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self) -> Any:
        return self.value


def _reference_to(owner: Any) -> Any:
    if type(owner) is type(frame_at()):
        return Strong(owner)
    try:
        return weakref.ref(owner)
    except TypeError:
        return Strong(owner)


class PendingWrite:
    """A write whose statement is not over yet."""

    def __init__(self, watch: DataWatch, old: Any, line: int) -> None:
        self.watch, self.old, self.line = watch, old, line
        self.began: int = next(data_state.times)  # counts up
        self.new: Any = None
        self.closed = 0  # as `began`; not 0: it was written anew since, and `new` is what was left
        self.merged = False  # whether there were values in between that are not told


class _DataState:
    """The data breakpoints of this process, and what is under way."""

    def __init__(self) -> None:
        self.watches: dict[str, DataWatch] = {}
        self.pending: dict[Any, list[PendingWrite]] = {}  # by frame
        self.at: dict[tuple[int, int], int] = {}  # line of a write, by thread and frame
        self.left: dict[int, list[SeenChange]] = {}  # to stop for, by thread
        self.shown: dict[int, SeenChange] = {}  # of the stop that a thread is in
        self.listener: Any = None
        self.times: Any = itertools.count(1)  # of writes, one after the other
        self.lock: Any = threading.RLock()

    def lines(self) -> list[DataWatch]:
        """Those that are compared at lines."""
        return [w for w in self.watches.values() if w.how == "lines" and not w.ended]


data_state = _DataState()


def is_under_way(frame: Any) -> bool:
    """Whether something that this frame has done is to be reported when its statement is over."""
    state = data_state
    if not (state.pending or state.left):
        return False
    return frame in state.pending or threading.get_ident() in state.left
