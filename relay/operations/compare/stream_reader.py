"""A recorded run as numbers: which call is equal to which, and how each ended.

What is no difference is taken out of the texts first: addresses, ids, times, and where the tree lies.
"""

from __future__ import annotations

import json
import mmap
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import repeat
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, NamedTuple

from relay.operations.compare.defaults import OtherDefault, OtherDefaults
from relay.operations.compare.moments import WHOLE, Moments

MOST_CALLS = 1_000_000
"""Of one run, compared; the others are not looked at."""

_MOST_READ = 1 << 17  # lines of calls that differ
_DIGITS = b"123456789"
_MOST_KEPT = 4096  # texts of up to some thousand characters

OPEN, RAISED, STOPPED = 0, 2, 3
TAIL = ".tail"
"""Behind a stream's path: the file in which the program keeps what it has not written there yet."""
HASH_BYTES = 8
COLUMNS_OF_NUMBERS = 3
"""With which the line of a call begins: its number, that of the call that made it, how many had begun."""
WHOLE_UNTIL = -2
"""Begins the line with the number of the last call that was recorded whole."""
IN_PART = "\0"
"""A text begins so whose value was not read to its end: it had more parts than are compared."""

_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]{4,}|\b0x[0-9a-fA-F]{9,12}\b")
_UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_ID = re.compile(WHOLE + r"(?:9[34]\d{12}|1[34]\d{13})\b(?!\.\d)")
_HASH = re.compile(WHOLE + r"(?:58[6-9]|59[0-3]|87[2-9])\d{10}\b(?!\.\d)")
"""Made of an address, of which it is the sixteenth part."""
_TEMPORARY = re.compile(r"/tmp/[^\s'\",;:()\[\]{}]*")

_MAY_HAVE_NUMBERS = re.compile(r"\d\d(?::\d\d:|\d\d(?:-\d\d-|\.\d{3}|\d{6}))")
"""Where neither this nor `datetime.` is, there is no moment, id or hash. It is found in a tenth of
the time that it takes to look for each of them: most texts have none."""

_CLOCK_NAMES = re.compile(
    r"(?:^|_)(?:time|now|elapsed|duration|timestamp|clock|deadline|pid|tid|ident)(?:_?(?:ns|ms|s))?$"
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_CLOCK_WORDS = ["time", "now", "elapsed", "duration", "clock", "deadline", "pid", "tid", "ident"]
_CLOCK_ATTRIBUTE = re.compile(
    r"(?<![A-Za-z0-9])((?:time|now|elapsed|duration|timestamp|clock|deadline|pid|tid|ident)"
    r"(?:_?(?:ns|ms|s))?)=-?\d+(?:\.\d+)?(?:e-?\d+)?"
)
_DIGEST_OF_MASKED = re.compile(r"(\*\*\*)#[0-9a-f]{8}\b")
_PRINTED_TIME = re.compile(r"\b\d+(?:\.\d+)? ?(?:s|ms|sec|secs|seconds?)\b")


class Function(NamedTuple):
    """A function of a run, by its place in the tree."""

    name: str
    path: str
    line: int
    arguments: tuple[str, ...]
    collecting: int = 0
    """How many of its last arguments are `*args` or `**kwargs`."""
    is_of_script: bool = False
    """Whether it is in the file that was run."""
    other_defaults: Mapping[str, OtherDefault] | None = None
    """Defaults that the other tree has not, by their parameters; None if both have the same."""

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
    whole_until: int | None = None
    """The number of the last call that was recorded whole, if its time for that has run out."""

    def __post_init__(self) -> None:
        # One object is an argument of many calls: few of the texts are different ones.
        self._same = lru_cache(_MOST_KEPT)(self._without_differences)

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
        return "<time>" if _is_of_clock(text, name) else self._same(text)

    def value(self, text: str | int, name: str) -> int:
        """A hash of what is compared of a text; equal for a short one and a long one that mean the same."""
        return (
            hash(self.comparable(text, name))
            if isinstance(text, str)
            else self.long_texts[text].value
        )

    def is_in_part(self, text: str | int) -> bool:
        """Whether a value was not read to its end."""
        return (
            text.startswith(IN_PART) if isinstance(text, str) else self.long_texts[text].is_in_part
        )

    def _without_differences(self, text: str) -> str:
        text = comparable(text.removeprefix(IN_PART), self.roots, self.moments)
        for pid in map(str, self.pids):
            if pid in text:
                text = re.sub(rf"{WHOLE}{pid}\b(?!\.\d)", "<id>", text)
        return text

    def add_text(self, text: str, number: int, offset: int) -> None:
        """A text that calls name by its number, from its line in the file."""
        value = hash(self._same(text))
        self.long_texts[number] = LongText(offset, value, text.startswith(IN_PART))

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
            written = _Written(*row[COLUMNS_OF_NUMBERS:])
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
        last = len(pairs) - self.function.collecting
        return [pair for i, pair in enumerate(pairs) if i < last or pair[1] not in ("()", "{}")]

    @classmethod
    def of(cls, written: _Written, run: RecordedRun) -> Texts:
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


class _Written(NamedTuple):
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


def comparable(text: str, roots: tuple[str, ...], moments: Moments) -> str:
    """A text without what is no difference."""
    for root in roots:
        text = text.replace(root, ".")
    if "datetime." in text or _MAY_HAVE_NUMBERS.search(text):
        text = moments.taken_out(text)
        text = _HASH.sub("<hash>", _ID.sub("<id>", text))
    if "0x" in text:
        text = _ADDRESS.sub("0x…", text)
    if text.count("-") >= 4:
        text = _UUID.sub("<id>", text)
    if "/tmp/" in text:
        text = _TEMPORARY.sub("<temporary>", text)
    if any(word in text for word in _CLOCK_WORDS):
        text = _CLOCK_ATTRIBUTE.sub(r"\1=<time>", text)
    return text


def _is_of_clock(text: str, name: str) -> bool:
    """Whether it is a number that is called `now` or the like."""
    return _CLOCK_NAMES.search(name) is not None and _NUMBER.fullmatch(text) is not None


def comparable_output(text: str, roots: tuple[str, ...], moments: Moments) -> str:
    """What a program has printed without what is no difference: how long something took, too."""
    return _PRINTED_TIME.sub("<time>", comparable(text, roots, moments))


def read_run(
    stream: Path,
    root: str,
    roots: tuple[str, ...],
    pids: tuple[int, ...],
    moments: Moments,
    other_defaults: OtherDefaults,
    *,
    is_cut: bool = False,
    script: str | None = None,
    masked: Callable[[str], str] = str,
) -> RecordedRun:
    """Read the file of a run whose tree lies at `root`.

    `roots`, `pids` and `moments` are those of both runs, so that equal texts are equal in both. `script` is the file that was run, if the other run has one in its place.
    """
    run = RecordedRun(root, roots, stream, pids, moments, is_cut=is_cut, masked=masked)
    reader = _Reader(run)
    for offset, line in _lines(stream):
        if line[1] in _DIGITS and len(run.calls) < MOST_CALLS:
            reader.add(line, offset)
            continue
        row = json.loads(line)
        if isinstance(row[0], str):
            run.add_text(row[0], row[1], offset)
        elif row[0] == 0:
            _, number, name, path, line_of_code, names, collecting = row
            relative = os.path.relpath(path, root) if path.startswith(root) else path
            run.functions[number] = Function(
                name,
                relative,
                line_of_code,
                tuple(names),
                collecting,
                os.path.realpath(path) == script,
                other_defaults.of(path, line_of_code),
            )
        elif row[0] == WHOLE_UNTIL:
            run.whole_until = row[1]
        else:
            run.is_cut = True
            break
    reader.finish()
    return run


def join_tail(stream: Path) -> None:
    """Have in the file what a program that is gone has left in its tail: its last calls, and those it was in."""
    tail = Path(f"{stream}{TAIL}")
    if not tail.is_file():
        return
    begun: dict[int, bytes] = {}
    with stream.open("r+b") as file:
        whole = _end_of_lines(file)  # it may have been killed while it wrote
        file.truncate(whole)
        file.seek(whole)
        for line in tail.read_bytes().partition(b"\0")[0].splitlines(keepends=True):
            try:
                row = json.loads(line)
            except ValueError:
                break
            if isinstance(row[0], int) and row[0] > 0:
                if _Written(*row[COLUMNS_OF_NUMBERS:]).kind == OPEN:
                    begun[row[0]] = line
                    continue
                begun.pop(row[0], None)
            file.write(line)
        file.writelines(begun[number] for number in sorted(begun))
    tail.unlink()


def _end_of_lines(file: IO[bytes]) -> int:
    """How many bytes of the file are whole lines."""
    if not file.seek(0, os.SEEK_END):
        return 0
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.rfind(b"\n") + 1


def _lines(stream: Path) -> Iterator[tuple[int, bytes]]:
    offset = 0
    with stream.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                return  # the program was killed while it wrote
            yield offset, line
            offset += len(line)


class _Reader:
    """Adds calls to a run. What equal calls have in common is read once."""

    def __init__(self, run: RecordedRun) -> None:
        self._run = run
        self._known: dict[bytes, _Read] = {}  # by their lines from the function on

    def add(self, line: bytes, offset: int) -> None:
        """The call of a line."""
        run = self._run
        *numbers, rest = line[1:].split(b",", COLUMNS_OF_NUMBERS)
        number, parent, begun = map(int, numbers)
        if number in run.calls or number in run.open:
            return  # the tail had it, too: it was killed between two writes
        read = self._known.get(rest)
        if read is None:
            if len(self._known) > _MOST_READ:
                self._known.clear()
            read = self._known[rest] = _read(run, _Written(*json.loads(b"[" + rest)))
        calls, ended = (run.open, -1) if read.is_open else (run.calls, len(run.calls))
        call = EndedCall._make((number, parent, *read.call, ended, offset, begun))
        calls[number] = call
        run.children.setdefault(parent, []).append(number)
        if parent in run.trees:
            run.note_later(call)
        if not read.is_open:
            run.note_tree(number, read.equal)

    def finish(self) -> None:
        """All are added."""
        for numbers in self._run.children.values():
            numbers.sort()


class _Read(NamedTuple):
    """What equal calls have in common."""

    call: tuple[Any, ...]
    """As an EndedCall has it, from the function on."""
    is_open: bool
    equal: int
    """A hash of all of it that is compared; the function by its place in the tree."""


def _read(run: RecordedRun, written: _Written) -> _Read:
    function, arguments, kind, outcome, _, yields, yielded, changed, is_whole = written
    about = run.functions[function]
    values = list(map(run.value, arguments, about.arguments))
    given = [outcome, *yielded]
    changes = hash(
        tuple((place, run.value(text, about.arguments[place])) for place, text in changed)
    )
    call = (
        function,
        hash((*values, is_whole)),
        hash(
            (kind, run.value(outcome, about.result), yields, *map(run.value, yielded, repeat("")))
        ),
        yields > len(yielded) or any(map(run.is_in_part, (*arguments, *given))),
        changes if changed else 0,
        *_given(run, about, arguments, is_whole),
        b"".join(value.to_bytes(HASH_BYTES, "little", signed=True) for value in values)
        if len(values) > 1
        else b"",
        bool(is_whole),
    )
    return _Read(call, kind == OPEN, hash((about.key, call[1:])))


def _given(
    run: RecordedRun, about: Function, arguments: Sequence[str | int], is_whole: int
) -> tuple[int, int]:
    if about.other_defaults is None:
        return 0, 0
    known, given = [], []
    for name, text in zip(about.arguments, arguments, strict=True):
        default = about.other_defaults.get(name)
        pair = name, run.value(text, name)
        if default is None or default.text != text:
            given.append(pair)
            known.append(pair)
        elif not default.is_new:
            known.append(pair)
    return hash((*known, is_whole)), hash((*given, is_whole))
