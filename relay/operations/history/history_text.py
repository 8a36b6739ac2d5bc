"""Who wrote a value, as text for agents and shells: pure, within so many bytes.

One write takes two lines: what became of the value, where and by which line of source; and who
called. Where a library wrote, a third one is between them: the line of the program that had it written. The oldest ones go first
if there is no room.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Sequence

from relay.models.history import LATE, NOT_DETERMINISTIC, History, HistoryWrite, WriteFrame
from relay.operations.history.by_chance import without_chance
from relay.operations.report.report_text import cut, library_frames, one_line, size
from relay.operations.report.short_paths import is_of_library, without_home

CALLERS = 3
"""Of a write, how many callers are named."""

VALUE_ROOM = 120
SOURCE_ROOM = 100
NO_VALUE = "(none)"
CHANGED_WITHIN = "since then it has changed within: ask for an item or attribute of it"
CHANGED_OR_WRITTEN = CHANGED_WITHIN.replace("within:", "within, or by a write unseen:")
UNSURE = " may have "
"""In a reason: there may be no other writes."""
WAYS = {"recorded": "recorded", "rerun": "by a second run"}
"""How it is known."""


def history_text(
    found: History, root: str, max_bytes: int, more: str = "", record: str = ""
) -> str:
    """The answer in at most `max_bytes` bytes; paths below `root` are relative.

    `more` is how to get the writes that there is no room for, `record` how to do without a second
    run, where the face has a way.
    """
    head = cut(_head(found), max_bytes)
    tail = _remarks(found, record)
    room = max_bytes - size("\n".join([head, *tail])) - 1
    lines: list[str] = []
    for number, write in enumerate(found.writes):
        block = _block(write, root)
        left = len(found.writes) - number
        last_words = f"… {left} more write{'' if left == 1 else 's'}{more}"
        needed = size("\n".join(block)) + 1
        if needed > room - (size(last_words) + 1 if left > 1 else 0):
            lines.append(last_words)
            break
        lines += block
        room -= needed
    return cut("\n".join([head, *lines, *tail]), max_bytes)


def _head(found: History) -> str:
    value = "not there" if found.value is None else one_line(found.value)
    count = len(found.writes)
    writes = "1 write" if count == 1 else f"{count} writes"
    kind = " (all)" if found.complete else ""
    order = ", newest first" if count > 1 else ""
    known = f", {WAYS[found.how]}"
    return (
        f"why {one_line(found.expression)} = {cut(value, VALUE_ROOM)}: {writes}{kind}{order}{known}"
    )


def _remarks(found: History, record: str) -> list[str]:
    newest = found.writes[0].new if found.writes else None
    is_other = None not in (newest, found.value) and _same(newest) != _same(found.value)
    if found.reason is None:
        return [CHANGED_WITHIN] if found.complete and is_other else []
    difference = "" if found.difference is None else f": {found.difference}"
    known = "perhaps not all" if UNSURE in found.reason else "not all"
    is_without = found.reason == NOT_DETERMINISTIC or found.reason.startswith(LATE)
    other = record if is_without and _can_be_recorded(found.expression) else ""
    said = f"{known}: {found.reason}{difference}"
    remarks = [said.removesuffix(".") + other if other else said]
    if is_other and UNSURE in found.reason and found.difference is None:
        remarks.append(CHANGED_OR_WRITTEN)
    return remarks


def _same(text: str | None) -> str:
    """Without what is otherwise in another run."""
    return without_chance(re.sub(r"0x[0-9a-fA-F]+", "0x", text or ""))


def _can_be_recorded(expression: str) -> bool:
    """Whether `record` takes it: an item it knows by its key, before the program runs."""
    try:
        node = ast.parse(expression.strip(), mode="eval").body
        if isinstance(node, ast.Subscript):
            ast.literal_eval(node.slice)
    except (SyntaxError, ValueError, TypeError):
        return False
    return True


def _block(write: HistoryWrite, root: str) -> list[str]:
    old, new = (_value(text) for text in (write.old, write.new))
    place = f"{_short(write.location.path, root)}:{write.location.line} in {write.function}"
    source = "" if not write.source else f": {cut(one_line(write.source), SOURCE_ROOM)}"
    return [f"  {old} -> {new}  {place}{source}", *_callers(write, root)]


def _callers(write: HistoryWrite, root: str) -> list[str]:
    """The line for which a library wrote, and who called that."""
    for number, one in enumerate(write.stack[1:], 1):
        if one.source is not None:
            place = f"{_short(one.path, root)}:{one.line} in {one.function}"
            line = f"      for {place}: {cut(one_line(one.source), SOURCE_ROOM)}"
            return [line, *_called_from(write.stack[number:], root)]
    return _called_from(write.stack, root)


def _value(text: str | None) -> str:
    return NO_VALUE if text is None else cut(one_line(text), VALUE_ROOM)


def _called_from(stack: Sequence[WriteFrame], root: str) -> list[str]:
    """The callers of its first frame: those of the program's own code by name; of libraries, how many lie there."""
    named: list[str] = []
    own, folded, path, left = 0, 0, stack[0].path if stack else "", len(stack) - 1
    for one in stack[1:]:
        if is_of_library(one.path):
            folded += 1
            continue
        if own == CALLERS:
            break
        named += [library_frames(folded)] if folded else []
        file = "" if one.path == path else _short(one.path, root)
        named.append(f"{file}:{one.line} in {one.function}")
        left -= folded + 1
        own, folded, path = own + 1, 0, one.path
    if left > 0:
        named.append(library_frames(left) if folded == left else f"… {left} more")
    return [f"      from {' < '.join(named)}"] if named else []


def _short(path: str | None, root: str) -> str:
    if path is None:
        return "?"
    inside = os.path.join(root, "")
    if is_of_library(path):
        return without_home(path)
    return path.removeprefix(inside) if path.startswith(inside) else without_home(path)
