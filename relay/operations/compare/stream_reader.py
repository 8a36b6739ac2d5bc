"""The file of a recorded run, read: its functions and calls, and what a program that is gone has left beside it."""

from __future__ import annotations

import gc
import json
import mmap
import os
import struct
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from itertools import repeat
from pathlib import Path
from typing import IO, Any, NamedTuple

from relay.operations.compare.defaults import OtherDefaults
from relay.operations.compare.moments import Moments
from relay.operations.compare.recorded_calls import (
    COLUMNS_OF_NUMBERS,
    OPEN,
    STOPPED,
    CallLine,
    EndedCall,
    Function,
    KnownText,
    RecordedRun,
)

MOST_CALLS = 1_000_000
"""Of one run, compared; the others are not looked at."""

TAIL = ".tail"
"""Behind a stream's path: the file in which the program keeps what it has not written there yet."""
_WHOLE_UNTIL = -2  # begins the line with the number of the last call that was recorded whole

_WHOLE_UNTIL_LINE = b"[%d," % _WHOLE_UNTIL
_MOST_READ = 1 << 17  # lines of calls that differ
_DIGITS = b"123456789"
_CLOSED = GeneratorExit.__name__


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
    libraries: tuple[str, ...] = (),
    drawn: Set[str] = frozenset(),
    known_texts: dict[bytes, KnownText] | None = None,
) -> RecordedRun:
    """Read the file of a run whose tree lies at `root`, and the libraries of its interpreter at `libraries`.

    `roots`, `pids`, `moments` and ids `drawn` by lot are those of both runs, so that equal texts are equal in both. `script` is the file that was run, if the other run has one in its place.
    `known_texts`: of other runs, with the same of all these but for ids.
    """
    run = RecordedRun(
        root,
        roots,
        stream,
        pids,
        moments,
        libraries,
        is_cut=is_cut,
        masked=masked,
        drawn=drawn,
        known_texts={} if known_texts is None else known_texts,
    )
    with _collector_at_rest():
        _read_into(run, stream, script, other_defaults)
    return run


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """What is read stays: to look for garbage in it again and again takes a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _read_into(
    run: RecordedRun, stream: Path, script: str | None, other_defaults: OtherDefaults
) -> None:
    reader = _Reader(run)
    for offset, line in _lines(stream):
        if line[1] in _DIGITS and len(run.calls) < MOST_CALLS:
            reader.add(line, offset)
            continue
        row = json.loads(line)
        if isinstance(row[0], str):
            run.add_text(row[0], row[1], offset)
        elif row[0] == 0:
            _, number, name, path, line_of_code, names, collecting, free = row
            run.functions[number] = Function(
                name,
                run.place_of(path),
                line_of_code,
                tuple(names),
                collecting,
                free,
                os.path.realpath(path) == script,
                other_defaults.of(path, line_of_code),
            )
        elif row[0] != _WHOLE_UNTIL:
            run.is_cut = True
            break
    reader.finish()


def last_whole_call(stream: Path) -> int | None:
    """The number of the last call that was recorded whole, if the time for such calls has run out."""
    if not stream.stat().st_size:
        return None
    with stream.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as content:
        is_first = content[: len(_WHOLE_UNTIL_LINE)] == _WHOLE_UNTIL_LINE
        begin = 0 if is_first else content.find(b"\n" + _WHOLE_UNTIL_LINE) + 1
        if not (is_first or begin):
            return None
        file.seek(begin)
        return int(json.loads(file.readline())[1])


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
                if CallLine(*row[COLUMNS_OF_NUMBERS:]).kind == OPEN:
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
            # Of a text, and not of bytes, of which it would look for the encoding first.
            read = self._known[rest] = _read(run, CallLine(*json.loads("[" + rest.decode())))
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


def _read(run: RecordedRun, written: CallLine) -> _Read:
    function, arguments, kind, outcome, _, yields, yielded, changed, is_whole = written
    about = run.functions[function]
    values = list(map(run.value, arguments, about.arguments))
    given = [outcome, *yielded]
    call = (
        function,
        hash((*values, is_whole)),
        hash(
            (kind, run.value(outcome, about.result), yields, *map(run.value, yielded, repeat("")))
        ),
        yields > len(yielded) or any(map(run.is_in_part, (*arguments, *given))),
        hash(tuple((place, run.value(text, about.arguments[place])) for place, text in changed))
        if changed
        else 0,
        *_given(run, about, arguments, is_whole),
        struct.pack(f"={len(values)}q", *values) if len(values) > 1 else b"",
        bool(is_whole),
        yields,
        tuple(map(run.value, yielded, repeat(""))),
        kind == STOPPED and str(outcome).startswith(_CLOSED),
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
