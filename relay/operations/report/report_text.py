"""A report as text that fits: never more bytes than asked for, and `…` wherever something is cut.

Pure: a model in, text out. Knows which lines matter more; refuses to know a debuggee.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from relay.dap.lifecycle import Phase
from relay.models.report import Report, ReportChange, ReportException, ReportFrame, ReportLocal
from relay.operations.report.printed_text import plain, shares
from relay.operations.report.recursion import stretches

CUT = "…"
LEAST_LINE = 28
"""Bytes that a local may be cut down to before whole locals are left out."""
MOST_LINE = 240
LEAST_VALUE = 8
"""Bytes of a value that are shown behind a name of any length: a name alone says nothing."""
WIDTHS = (
    *((width, width) for width in (MOST_LINE, 180, 140, 110, 90)),
    *((180, 60), (140, 48), (110, 38)),
    *((width, LEAST_LINE) for width in (90, 75, 60, 48, 38, LEAST_LINE)),
)
"""Bytes of a local that has changed or that the line names, and of another: ever fewer."""
MOST_SOURCE = 110
MOST_BEFORE = 24
"""Bytes of an old value that are worth being shown beside the new one."""
LEAST_NAME = 20
"""Bytes that a long name may be cut down to before its frame is left out."""
STACK_SHARE = 0.4

_PLAIN_OBJECT = re.compile(
    r"(<)[^ ]*\.(\w+) object at 0x[0-9a-fA-F]+(>)|(<class ')[^ ]*\.(\w+)('>)"
)

_RELATIONS = {
    "cause": "caused by",
    "context": "raised while handling",
    "earlier": "before it, in the same test:",
}
_WORDS = {
    Phase.CREATED: "created: no program has been started",
    Phase.LAUNCHING: "launching: the program is being started",
}


def render(report: Report, max_bytes: int) -> str:
    """The report in at most `max_bytes` bytes of UTF-8, which are 100 or more."""
    make = _stopped if report.status is Phase.PAUSED else _other
    return cut("\n".join(make(report, max_bytes)), max_bytes)


def size(text: str) -> int:
    """How many bytes the text takes in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def cut(text: str, room: int) -> str:
    """The beginning of a text that does not fit, marked where it was cut."""
    text = text.encode("utf-8", "replace").decode()
    if size(text) <= room:
        return text
    return text.encode()[: max(0, room - size(CUT))].decode(errors="ignore") + CUT


def cut_within(text: str, room: int) -> str:
    """Beginning and end of a text that does not fit, marked where it was cut."""
    text = text.encode("utf-8", "replace").decode()
    end = room // 3
    if size(text) <= room or room - end < size(CUT):
        return cut(text, room)
    return cut(text, room - end) + text.encode()[-end:].decode(errors="ignore")


def one_line(text: str) -> str:
    """What would break a line or a terminal, escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


# A program that stands -----------------------------------------------------------------------


def _stopped(report: Report, room: int) -> list[str]:
    # Of a message with several lines the last ones say the cause: a traceback in it, say.
    most = room // 3
    lines = [(cut_within if "\\n" in line else cut)(line, most) for line in _head(report, most)]
    lines += _source(report, room)
    rest = room - _length(lines)
    if not report.locals:
        lines += _locals(report, rest // 2)
        return lines + _stack(report, room - _length(lines) - 1)
    stack = _stack(report, int(rest * STACK_SHARE))
    lines += _locals(report, rest - _length(stack))
    return lines + _stack(report, room - _length(lines))


def _length(lines: Sequence[str]) -> int:
    return sum(size(line) + 1 for line in lines)


def _head(report: Report, most: int) -> list[str]:
    number, shown = next(((i, f) for i, f in enumerate(report.stack) if f.shown), (0, None))
    words = [_reason(report), "an unknown place" if shown is None else place_of(shown)]
    if number:
        words.append(f"frame {number}")
    if report.thread_id not in (None, 1):
        words.append(f"thread {report.thread_id}")
    if report.process_id is not None:
        words.append(f"process {report.process_id}")
    raised = report.exception
    if raised is None:
        head = [f"{words[0]}: {', '.join(words[1:])}"]
    else:
        head = [
            f"exception {_exception(raised.type, raised.message)}",
            f"at {', '.join(words[1:])}",
        ]
        if raised.raised is not None:
            head.append(f"raised at {place_of(raised.raised)}")
        if raised.template is not None:
            head.append(f"by {place_of(raised.template)}")
        if raised.ended is not None:
            head.append(one_line(raised.ended))
        if raised.notes:
            head.append(f"note: {cut(one_line(raised.notes), most // 2)}")
        head += _chain(raised, most // 2)
    if report.remark is not None:
        head.append(report.remark)
    if report.change is not None:
        head += _changed(report.change, most)
    if report.lost is not None:
        head.append(one_line(report.lost))
    if report.returned is not None:
        head.append(f"returned {one_line(report.returned)}")
    return head


def _chain(raised: ReportException, room: int) -> list[str]:
    """The nearest cause, and the first of all; what lies between is counted. A long message leaves room for where
    each was raised, and for what comes after it."""
    links = raised.chain
    shown = [links[0], links[-1]] if len(links) > 1 else links
    between = f" (+{len(links) - 2} between)" if len(links) > 2 else ""
    lines = []
    for number, link in enumerate(shown):
        place = f" at {place_of(link.place)}" if link.place is not None else ""
        what = cut(_exception(link.type, link.message), room)
        lines.append(f"{_RELATIONS[link.relation]} {what}{place}{between if number else ''}")
    return lines


def _changed(change: ReportChange, room: int) -> list[str]:
    """`40 -> 4.0, written at shop.py:10 in discount`: values are cut so that the place is there."""
    values = {"old": change.old, "new": change.new}
    texts = {n: "nothing" if value is None else one_line(value) for n, value in values.items()}
    how = "written" if change.exact else "found"
    if change.ended:
        how = "ended with its frame"
    others = ", with other values in between" if change.merged else ""
    place = f", {how} at {place_of(change.place)}{others}"
    rest = max(room - size(f" -> {place}"), LEAST_LINE)
    rooms = shares({name: size(text) for name, text in texts.items()}, rest, {})
    old, new = (cut(texts[name], min(rooms[name], MOST_LINE)) for name in ("old", "new"))
    lines = [f"{old} -> {new}{place}"]
    if change.condition_error is not None:
        lines.append(one_line(f"its condition raised {change.condition_error}"))
    return lines


def _reason(report: Report) -> str:
    if report.change is not None:
        return one_line(f"{report.change.expression} changed")
    if not report.breakpoints:
        return one_line(report.reason or "stopped")
    hits = f" (hit {report.hits})" if report.hits > 1 else ""
    return one_line(f"breakpoint {', '.join(report.breakpoints)}{hits}")


def _exception(name: str, message: str) -> str:
    return one_line(f"{name}: {message}" if message else name)


def place_of(frame: ReportFrame) -> str:
    """`shop.py:42 in total`"""
    return one_line(f"{frame.path or '?'}:{frame.line} in {frame.name}")


def _source(report: Report, room: int) -> list[str]:
    """The lines around the current one, without the indentation that they share."""
    shown = next((frame for frame in report.stack if frame.shown), None)
    texts = [line.text.expandtabs(4).rstrip() for line in report.source]
    margins = [len(text) - len(text.lstrip()) for text in texts if text]
    margin = min(margins, default=0)
    width = max((len(str(line.line)) for line in report.source), default=0)
    lines = []
    for line, text in zip(report.source, texts, strict=True):
        mark = ">" if shown is not None and line.line == shown.line else " "
        code = one_line(text[margin:])
        whole = f"{mark}{line.line:>{width}} {code}".rstrip()
        lines.append(cut(whole, min(MOST_SOURCE, room // 5)))
    return lines


def _locals(report: Report, room: int) -> list[str]:
    if report.trouble is not None:
        return [cut(f"locals: {one_line(report.trouble)}", max(room - 1, size(CUT)))]
    if report.locals is None:
        return []
    if not report.locals:
        shown = next((frame for frame in report.stack if frame.shown), None)
        return [cut(_no_locals(shown), max(room - 1, size(CUT)))]
    ranked = sorted(report.locals, key=_rank)
    return _fit([_local(local) for local in ranked], report.more_locals, room - len("locals:\n"))


def _no_locals(shown: ReportFrame | None) -> str:
    if shown is None or not shown.moved_on:
        return "locals: none"
    if shown.elsewhere:
        return "locals: of another process or thread, which sent none; a breakpoint at this line stops there"
    return "locals: lost, the frame has gone on since"


def _rank(local: ReportLocal) -> int:
    """What has changed first, then what the current line names, then the rest."""
    return 0 if local.news is not None else 1 if local.named else 2


class _Line(NamedTuple):
    """A local: what stands before its value, that, and what stands behind it."""

    name: str
    value: str
    news: str
    rank: int

    def within(self, room: int) -> str:
        """The line, its value cut. Of a value that says nothing but its class that is all, unless there is room."""
        rest = max(room - size(self.name), LEAST_VALUE)
        value = self.value
        if room < MOST_LINE and (found := _PLAIN_OBJECT.fullmatch(value)):
            begin, name, end = filter(None, found.groups())
            value = f"{begin}{CUT}{name}{end}"
        return self.name + cut(value, rest) + self.news


def _local(local: ReportLocal) -> _Line:
    value = one_line(local.value)
    if local.cut and CUT not in value:
        before, dots, after = value.rpartition("...")
        value = f"{before}{CUT}{after}" if dots else value + CUT
    news = ""
    if local.news == "new":
        news = " (new)"
    elif local.news == "changed":
        before = one_line(local.before or "")
        is_short = before and size(before) <= MOST_BEFORE
        news = f" (was {before})" if is_short else " (changed)"
    return _Line(f" {one_line(local.name)} = ", value, news, _rank(local))


def _fit(lines: Sequence[_Line], more: int, room: int) -> list[str]:
    """As many locals as fit, the long ones cut, and first those that matter less."""
    counted = len(lines) + more
    for width, of_others in WIDTHS:
        shown = [line.within(width if line.rank < 2 else of_others) for line in lines]
        if not more and _length(shown) <= room:
            return ["locals:", *shown]
        if _length(shown) + size(_left_out(more)) + 1 <= room:
            return ["locals:", *shown, _left_out(more)]
    kept: list[str] = []
    for line in shown:
        rest = _left_out(counted - len(kept) - 1)
        if _length(kept) + size(line) + 1 + size(rest) + 1 > room:
            break
        kept.append(line)
    rest = _left_out(counted - len(kept))
    return ["locals:", *kept, rest] if _length(kept) + size(rest) < room else [CUT]


def _left_out(count: int) -> str:
    return f" +{count} more{CUT}"


class LeftOut(NamedTuple):
    """So many frames of a deep stack, whose code is not known; 0 where they are not counted."""

    frames: int


class Recursion(NamedTuple):
    """Calls that came again and again, and how often."""

    entries: tuple[Entry, ...]
    times: int


Entry = ReportFrame | int | LeftOut | Recursion

BELOW = " < "
"""Between a frame and the one that called it."""


def _stack(report: Report, room: int) -> list[str]:
    """All of it, or its beginning and the program's outermost frame, as that of a test, or less."""
    if len(report.stack) < 2:
        return []
    entries = _entries(report)
    # A deep stack has thousands of frames: each is said and counted once.
    texts = _texts(entries)
    sizes = [0, *accumulate(len(BELOW) + size(text) for text in texts)]
    frames = [0, *accumulate(map(_frames_in, entries))]
    outermost = max((i for i, one in enumerate(entries) if isinstance(one, ReportFrame)), default=0)
    for end in _ends(entries[outermost:]):
        last = outermost if end else len(entries)
        for count in range(last, 0, -1):
            if sizes[count] > room:
                continue
            left = frames[last] - frames[count]
            middle = [f"{CUT} +{left} more"] if left else []
            said = [*texts[:count], *middle, *_texts(end, entries[count - 1])]
            text = f"stack: {BELOW.join(said)}"
            if size(text) <= room:
                return [text]
    return [CUT]


def _ends(end: Sequence[Entry]) -> Iterator[Sequence[Entry]]:
    """The outermost frame of the program and what called it, said ever shorter, at last not at all."""
    yield end
    frame = end[0]
    if isinstance(frame, ReportFrame):
        called = [LeftOut(0)] if len(end) > 1 else []
        yield [frame, *called]
        yield [frame.model_copy(update={"name": cut(frame.name, LEAST_NAME)}), *called]
    yield []


def _frames_in(entry: Entry) -> int:
    if isinstance(entry, LeftOut):
        return entry.frames
    if isinstance(entry, Recursion):
        return entry.times * sum(map(_frames_in, entry.entries))
    return entry if isinstance(entry, int) else 1


def _entries(report: Report) -> list[Entry]:
    """The program's frames one by one; of others, how many lie there."""
    entries: list[Entry] = []
    folded = 0
    for frame in report.stack:
        if frame.inner:
            continue  # where it was raised is said above
        if frame.left_out:
            entries += [folded] if folded else []
            entries.append(LeftOut(frame.left_out))
            folded = 0
        if not frame.own and not frame.shown:
            folded += 1
            continue
        if folded:
            entries.append(folded)
        folded = 0
        entries.append(frame)
    return _without_recursion(entries + ([folded] if folded else []))


def _without_recursion(entries: Sequence[Entry]) -> list[Entry]:
    """The same, where calls that repeat each other are one entry."""
    places = [_place(one) for one in entries]
    found: list[Entry] = []
    for at, length, times in stretches(places):
        circle = tuple(entries[at : at + length])
        found += circle if times == 1 else [Recursion(circle, times)]
    return found


def _place(entry: Entry) -> object:
    return (entry.name, entry.path, entry.line) if isinstance(entry, ReportFrame) else entry


def _texts(entries: Sequence[Entry], before: Entry = 0) -> list[str]:
    """A file is named when it changes."""
    last = _last_frame(before)
    texts = []
    for entry in entries:
        if isinstance(entry, int):
            texts.append(library_frames(entry))
            continue
        if isinstance(entry, LeftOut):
            texts.append(f"{CUT} +{entry.frames} more" if entry.frames else CUT)
        elif isinstance(entry, Recursion):
            circle = _texts(entry.entries, last or 0)
            text = BELOW.join(circle)
            texts.append(f"{entry.times} x {text if len(circle) == 1 else f'[{text}]'}")
        else:
            file = "" if last is not None and last.path == entry.path else entry.path or "?"
            texts.append(one_line(f"{entry.name} {file}:{entry.line}"))
        last = _last_frame(entry)
    return texts


def _last_frame(entry: Entry) -> ReportFrame | None:
    if isinstance(entry, Recursion):
        frames = (one for one in reversed(entry.entries) if isinstance(one, ReportFrame))
        return next(frames, None)
    return entry if isinstance(entry, ReportFrame) else None


def library_frames(count: int) -> str:
    """What stands for so many frames of libraries, one after the other."""
    return f"({count} library frame{'s' * (count > 1)})"


# One that runs, or has ended --------------------------------------------------------------------


def _other(report: Report, room: int) -> list[str]:
    running = report.status is Phase.RUNNING
    first = _running(report) if running else report.end or _WORDS.get(report.status, "ended")
    lines = [cut(one_line(first), room // 2)]
    if report.never_hit:
        missed = "never hit: " + "; ".join(map(one_line, report.never_hit))
        lines.append(cut(missed, (room - _length(lines)) // 2))
        if report.misspelt:
            misspelt = one_line("; ".join(report.misspelt))
            lines.append(cut(misspelt, (room - _length(lines)) // 3))
        if report.unwatched is not None:
            lines.append(cut(one_line(report.unwatched), (room - _length(lines)) // 3))
    if report.not_known is not None:
        lines.append(cut(one_line(report.not_known), (room - _length(lines)) // 3))
    if report.without_stop:
        lines.append(cut("; ".join(report.without_stop), (room - _length(lines)) // 3))
    return lines + _printed(report, room - _length(lines))


def _printed(report: Report, room: int) -> list[str]:
    """The last lines of each stream; one that says why it failed gets more."""
    texts = {name: _rows(text) for name, text in report.printed.items()}
    texts = {name: rows for name, rows in texts.items() if rows}
    sizes = {name: size(_head_of(name, True)) + 1 + _length(rows) for name, rows in texts.items()}
    rooms = shares(sizes, room, {"stderr": 2} if report.failed else {})
    lines = [line for name, rows in texts.items() for line in _end_of(name, rows, rooms[name])]
    return lines or ([CUT] if texts else [])


def _rows(text: str) -> list[str]:
    return [f" {one_line(line)}" for line in plain(text).strip("\n").split("\n") if line.strip()]


def _head_of(name: str, is_cut: bool) -> str:
    return f"{name} ends: {CUT}" if is_cut else f"{name} ends:"


def _end_of(name: str, rows: Sequence[str], room: int) -> list[str]:
    """A heading and the last rows that fit; of a single row that does not, its end."""
    whole, room = room, room - size(_head_of(name, True)) - 1
    lines: list[str] = []
    for row in reversed(rows):
        if _length(lines) + size(row) + 1 > room:
            break
        lines.insert(0, row)
    if lines:
        return [_head_of(name, len(lines) < len(rows)), *lines]
    if room <= 8:
        return [CUT] if whole > size(CUT) else []
    end = rows[-1].encode()[-(room - size(CUT) - 2) :].decode(errors="ignore")
    return [_head_of(name, False), f" {CUT}{end}"]


def _running(report: Report) -> str:
    if report.lost is not None:
        return f"running: {one_line(report.lost)}"
    if report.prompt is None:
        before = report.stopped_before
        return f"running: last stop {one_line(before)}" if before else "running: no stop yet"
    asked = f", after {one_line(report.prompt)!r}" if report.prompt else ""
    return f"running: waits for input on stdin{asked}"
