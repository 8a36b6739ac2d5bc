"""The calls of one recorded run as numbers: which call is equal to which, and how each ended.

Texts stay in the run's file, and are read again for what is shown.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from relay.operations.compare.comparable_text import comparable, is_of_clock
from relay.operations.compare.defaults import OtherDefault
from relay.operations.compare.drawn import FoundIds, PlacesOfIds, found_ids, without_ids
from relay.operations.compare.moments import WHOLE, Moments

OPEN, RAISED, STOPPED = 0, 2, 3
COLUMNS_OF_NUMBERS = 3
"""With which the line of a call begins: its number, that of the call that made it, how many had begun."""
IN_PART = "\0"
"""A text begins so whose value was not read to its end: it had more parts than are compared."""
HASH_BYTES = 8

_MOST_KEPT = 4096  # texts of up to some thousand characters
_MOST_KNOWN = 200_000  # digests of texts, and what is compared of them
_DIGEST_OF_MASKED = re.compile(r"(\*\*\*)#[0-9a-f]{8}\b")


class Function(NamedTuple):
    """A function of a run, by its place in the tree."""

    name: str
    path: str
    line: int
    arguments: tuple[str, ...]
    collecting: int = 0
    """How many of its last arguments are `*args` or `**kwargs`."""
    free: int = 0
    """How many behind these are no arguments, but variables of the functions around it, which it closes over."""
    is_of_script: bool = False
    """Whether it is in the file that was run."""
    other_defaults: Mapping[str, OtherDefault] | None = None
    """Defaults that the other tree has not, by their parameters; None if both have the same."""

    @property
    def is_comprehension(self) -> bool:
        """Whether it is one of a list, a dict or a set, which has no frame from Python 3.12 on."""
        return self.name.endswith(("<listcomp>", "<dictcomp>", "<setcomp>"))

    @property
    def result(self) -> str:
        """What its result is called."""
        return self.name.rpartition(".")[2]

    @property
    def key(self) -> tuple[str, str]:
        """Equal for the same function of two trees, whatever its line, and whatever a script is called."""
        return "" if self.is_of_script else self.path, self.name


class LongText(NamedTuple):
    """A text that calls name by its number."""

    offset: int
    """Of its line in the file."""
    value: int
    """A hash of what is compared of it."""
    is_in_part: bool


class KnownText(NamedTuple):
    """What is compared of a text that one run after the other has: it is looked through once."""

    value: int
    """A hash of it with all ids that may have been drawn."""
    ids: FoundIds | None
    pids: int
    """How many were known."""


class EndedCall(NamedTuple):
    """One call, over but for those in `RecordedRun.open`. Texts are in the file, at `offset`."""

    number: int
    parent: int
    function: int
    arguments: int
    """A hash; with the function it says which calls are equal."""
    outcome: int
    is_in_part: bool
    """Whether more is in its arguments, or in what it gave, than was compared."""
    changes: int
    """A hash of what became of its arguments; 0 if that was not recorded, or they stayed as they were."""
    known: int
    """A hash of the arguments without those that are the default of a parameter which the other tree
    has not; 0 if the function has the same defaults in both."""
    given: int
    """The same, without all that are a default which the other tree has not."""
    each: bytes
    """A hash of each argument, `HASH_BYTES` long, where there are several."""
    is_whole: bool
    """Whether all that its values store was recorded. If not, it is equal to no call that is whole."""
    yields: int
    """How many values a generator has given."""
    gave: tuple[int, ...]
    """A hash of each of the first of them."""
    is_closed: bool
    """Whether it is a generator that was closed: whom it served wanted no more of it."""
    ended: int
    """How many ended before."""
    offset: int
    begun: int
    """How many calls had begun when it ended; their numbers are up to that."""

    @property
    def is_open(self) -> bool:
        """Whether it was not over as the recording ended: then it has no outcome, and `ended` is -1."""
        return self.ended < 0


class CallsBelow(NamedTuple):
    """A call with all that it has made, and these, and so on."""

    equal: int
    """A hash of all of them, as far as they are compared."""
    calls: int
    """How many they are."""
    in_part: int
    """In how many of them more is stored than was compared."""


@dataclass
class RecordedRun:
    """The functions and calls that one run has recorded into its file."""

    root: str
    roots: tuple[str, ...]
    """What is left out of paths: this root and that of the other run, the inner one first."""
    stream: Path
    pids: tuple[int, ...]
    """Of this run's process and of the other's: such a number stands for an id in both."""
    moments: Moments
    libraries: tuple[str, ...] = ()
    """Where its interpreter has its libraries, if that of the other run has them elsewhere; inner folders first."""
    functions: dict[int, Function] = field(default_factory=dict)
    calls: dict[int, EndedCall] = field(default_factory=dict)
    children: dict[int, list[int]] = field(default_factory=dict)
    """Numbers of calls in the order in which they began, by that of the call that made them."""
    open: dict[int, EndedCall] = field(default_factory=dict)
    """Calls that were not over as the recording ended."""
    is_cut: bool = False
    """Whether the run went on after the last of these calls."""
    masked: Callable[[str], str] = str
    """A text of the program as it may be shown."""
    long_texts: dict[int, LongText] = field(default_factory=dict)
    trees: dict[int, CallsBelow] = field(default_factory=dict)
    """By the number of a call that is over, with all below it."""
    drawn: Set[str] = frozenset()
    """Ids that are known to be drawn by lot."""
    places_of_ids: PlacesOfIds = field(default_factory=PlacesOfIds)
    known_texts: dict[bytes, KnownText] = field(default_factory=dict)
    """By a digest: of runs with the same moments and roots, whose pids begin with the same ones."""

    def __post_init__(self) -> None:
        # One object is an argument of many calls: few of the texts are different ones.
        self._same = lru_cache(_MOST_KEPT)(self._without_differences)

    def goes_on_behind(self, number: int) -> bool:
        """Whether it has a call that began after this one."""
        return any(one > number for one in itertools.chain(self.open, reversed(self.calls)))

    def until(self, number: int) -> RecordedRun:
        """As if the recording had ended where the next call after this one begins."""
        if not self.goes_on_behind(number):
            return self
        over = itertools.takewhile(lambda call: call.begun <= number, self.calls.values())
        calls = {call.number: call for call in over}
        return replace(
            self,
            calls=calls,
            open={
                call.number: call._replace(outcome=0, changes=0, ended=-1)
                for call in (*self.calls.values(), *self.open.values())
                if call.number <= number and call.number not in calls
            },
            children={
                caller: below[: bisect_right(below, number)]
                for caller, below in self.children.items()
                if below[0] <= number
            },
            trees={one: tree for one, tree in self.trees.items() if one in calls},
            is_cut=True,
        )

    def has_tree_of(self, other: RecordedRun) -> bool:
        """Whether both ran the same files, of own code and of libraries."""
        return self.root == other.root and self.libraries == other.libraries

    def place_of(self, path: str) -> str:
        """Where a file lies in the tree, or in a library: equal for what is its counterpart in the other run."""
        for folder in (*self.libraries, self.root):
            if path.startswith(folder + os.sep):
                return os.path.relpath(path, folder)
        return path

    @property
    def count(self) -> int:
        """How many calls it has made; of a run that goes on, how many are over."""
        return len(self.calls) + (0 if self.is_cut else len(self.open))

    @property
    def whole(self) -> tuple[int, int] | None:
        """The numbers of the first and the last call that is recorded whole; None if all are."""
        calls = [*self.calls.values(), *self.open.values()]
        whole = [call.number for call in calls if call.is_whole]
        if len(whole) == len(calls):
            return None
        return min(whole, default=0), max(whole, default=0)

    def call(self, number: int) -> EndedCall:
        """One that was recorded."""
        return self.calls.get(number) or self.open[number]

    def note_tree(self, number: int, equal: int) -> None:
        """A call has ended. `equal` is a hash of it alone."""
        below = self.children.get(number, [])
        below.sort()
        trees = [self.trees[one] for one in below if one in self.trees]
        if len(trees) == len(below):
            self.trees[number] = CallsBelow(
                hash((equal, *[tree.equal for tree in trees])),
                1 + sum([tree.calls for tree in trees]),
                self.calls[number].is_in_part + sum([tree.in_part for tree in trees]),
            )

    def note_later(self, call: EndedCall) -> None:
        """A call is over later than the one that has made it, or never: that and its callers are no trees."""
        above = self.caller(call)
        while above is not None and above.number in self.trees:
            del self.trees[above.number]
            above = self.caller(above)

    def caller(self, call: EndedCall) -> EndedCall | None:
        """The call that made this one, if it was recorded."""
        return self.calls.get(call.parent) or self.open.get(call.parent)

    def comparable(self, text: str, name: str) -> str:
        """A value's text without what is no difference; `name` is what the value is called."""
        return "<time>" if is_of_clock(text, name) else self._same(text)

    def value(self, text: str | int, name: str) -> int:
        """A hash of what is compared of a text; equal for a short one and a long one that mean the same."""
        return (
            hash(self.comparable(text, name))
            if isinstance(text, str)
            else self.long_texts[text].value
        )

    def ids_drawn(self, other: RecordedRun) -> set[str]:
        """What this run and another of its side have drawn by lot (one of the other side: may have); nothing
        if they do not record the same calls whole.
        """
        begins = [run.whole and run.whole[0] for run in (self, other)]
        if begins[0] != begins[1]:
            return set()
        return self.places_of_ids.drawn(other.places_of_ids)

    def is_in_part(self, text: str | int) -> bool:
        """Whether a value was not read to its end."""
        return (
            text.startswith(IN_PART) if isinstance(text, str) else self.long_texts[text].is_in_part
        )

    def _without_differences(self, text: str) -> str:
        text = self._plain(text)
        found = found_ids(text)
        if found is not None:
            self.places_of_ids.note(found)
            if found.are_to_go(self.drawn):
                return without_ids(text, self.drawn)
        return text

    def _plain(self, text: str) -> str:
        """Without all but ids that are drawn."""
        text = comparable(text.removeprefix(IN_PART), self.roots, self.moments)
        for pid in map(str, self.pids):
            if pid in text:
                text = re.sub(rf"{WHOLE}{pid}\b(?!\.\d)", "<id>", text)
        return text

    def add_text(self, text: str, number: int, offset: int) -> None:
        """A text that calls name by its number, from its line in the file."""
        value = self._value_of_long(text)
        self.long_texts[number] = LongText(offset, value, text.startswith(IN_PART))

    def _value_of_long(self, text: str) -> int:
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        known = self.known_texts.get(key)
        if known is None or any(str(pid) in text for pid in self.pids[known.pids :]):
            plain = self._plain(text)
            known = KnownText(hash(plain), found_ids(plain), len(self.pids))
            if len(self.known_texts) < _MOST_KNOWN:
                self.known_texts[key] = known
        if known.ids is not None:
            self.places_of_ids.note(known.ids)
            if known.ids.are_to_go(self.drawn):
                return hash(without_ids(self._plain(text), self.drawn))
        return known.value

    def texts(self, call: EndedCall) -> Texts:
        """What the file says of one call, to be shown."""
        with self.stream.open("rb") as file:

            def whole(text: str | int) -> str:
                if isinstance(text, str):
                    return text
                file.seek(self.long_texts[text].offset)
                return str(json.loads(file.readline())[0])

            file.seek(call.offset)
            row = json.loads(file.readline())
            written = CallLine(*row[COLUMNS_OF_NUMBERS:])
            found = Texts.of(
                written._replace(
                    arguments=[*map(whole, written.arguments)],
                    outcome=whole(written.outcome),
                    yielded=[*map(whole, written.yielded)],
                    changed=[(place, whole(text)) for place, text in written.changed],
                ),
                self,
            )
        return found._replace(
            arguments=list(map(self._shown, found.arguments)),
            outcome=self._shown(found.outcome),
            yielded=list(map(self._shown, found.yielded)),
            changed={place: self._shown(text) for place, text in found.changed.items()},
        )

    def _shown(self, text: str) -> str:
        return _DIGEST_OF_MASKED.sub(r"\1", self.masked(text))


class Texts(NamedTuple):
    """A call in words, without what differs from run to run."""

    function: Function
    arguments: list[str]
    kind: int
    outcome: str
    line: int
    yields: int
    yielded: list[str]
    in_part: tuple[str, ...] = ()
    """Names of the arguments that are compared in part."""
    is_given_in_part: bool = False
    """Whether the result is, or what it yields."""
    changed: Mapping[int, str] = MappingProxyType({})
    """What arguments store at its end that then store something else, by their places."""

    @property
    def given(self) -> list[tuple[str, str]]:
        """Names and values of the arguments, without `*args` and `**kwargs` that have collected none."""
        pairs = list(zip(self.function.arguments, self.arguments, strict=False))
        end = len(pairs) - self.function.free
        collecting = range(end - self.function.collecting, end)
        return [
            pair
            for i, pair in enumerate(pairs)
            if i not in collecting or pair[1] not in ("()", "{}")
        ]

    @classmethod
    def of(cls, written: CallLine, run: RecordedRun) -> Texts:
        """From a line of the file, with its texts whole."""
        about, arguments, yielded = (
            run.functions[written.function],
            written.arguments,
            written.yielded,
        )
        same = [
            run.comparable(text, name)
            for name, text in zip(about.arguments, arguments, strict=False)
        ]
        in_part = tuple(
            name
            for name, text in zip(about.arguments, arguments, strict=False)
            if text.startswith(IN_PART)
        )
        after = {
            place: run.comparable(text, about.arguments[place]) for place, text in written.changed
        }
        return cls(
            about,
            same,
            written.kind,
            run.comparable(written.outcome, about.result),
            written.line,
            written.yields,
            [run.comparable(text, "") for text in yielded],
            in_part,
            written.yields > len(yielded)
            or any(text.startswith(IN_PART) for text in (written.outcome, *yielded)),
            after,
        )


class CallLine(NamedTuple):
    """The line of a call from the function on: equal calls have equal ones. Long texts stand by their numbers."""

    function: int
    arguments: list[Any]
    kind: int
    outcome: Any
    line: int
    yields: int
    yielded: list[Any]
    changed: list[Any]
    is_whole: int
