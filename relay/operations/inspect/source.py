"""Source text of files and of frames. Source: contract, sections 5 and 9; AC-MF-4, AC-SE-4."""

from __future__ import annotations

from collections.abc import Sequence

from relay.errors import InvalidParameter, SourceNotFound
from relay.models.execution import SourceLine
from relay.models.lookup import MOST_LINES, FrameSourceQuery, SourceQuery, SourceText
from relay.operations.allowed_roots import named_path
from relay.operations.breakpoints.placing import other_text_warning
from relay.operations.inspect.highlighting import Span, highlighted
from relay.operations.inspect.inspection import frame_of, inspector_of
from relay.operations.paths import similar_files
from relay.session.session import Session
from relay.session.source_text import source_lines, split_lines
from relay.session.state.stop import Frame

MOST_CHARACTERS = 1_000_000
"""Characters of source in one answer."""


async def get_source(session: Session, *, query: SourceQuery) -> SourceText:
    """Lines of a text file, as it is on disk now.

    The relay reads it with its own rights: regular files that it may read, up to 16 MiB.
    """
    path = named_path(session, "path", query.path, InvalidParameter)
    try:
        lines = await source_lines(path)
    except SourceNotFound as error:
        if similar := similar_files(path):
            error.details["similar"] = similar
        raise
    return _text(path, lines, query, None, await _spans(path, lines, query))


async def get_frame_source(
    session: Session, *, frame_id: int, query: FrameSourceQuery
) -> SourceText:
    """The source of a frame, with the line where it stands.

    Code without a file on disk (in a zip, made up at run time) is asked of the program's
    own loader.
    """
    frame = await frame_of(session, frame_id)
    path = frame.path or f"<{frame.name}>"
    lines = await _lines_of(session, frame, path)
    text = _text(path, lines, query, frame.line, await _spans(path, lines, query))
    warning = other_text_warning(session, path, path)
    return text if warning is None else text.model_copy(update={"warning": warning})


async def _lines_of(session: Session, frame: Frame, path: str) -> Sequence[str]:
    try:
        return await source_lines(path)
    except SourceNotFound:
        found = await inspector_of(session, "get source").source(frame)
        if not found["source"]:
            raise
        return split_lines(found["source"])


async def _spans(
    path: str, lines: Sequence[str], query: FrameSourceQuery
) -> Sequence[Sequence[Span]] | None:
    return await highlighted(path, lines) if query.highlight else None


def _text(
    path: str,
    lines: Sequence[str],
    query: FrameSourceQuery,
    current: int | None,
    spans: Sequence[Sequence[Span]] | None,
) -> SourceText:
    total = len(lines)
    first = query.start or min(1, total)
    last = min(total, query.end or total)
    _check_range(query, total)
    shown: list[SourceLine] = []
    room = MOST_CHARACTERS
    for number in range(max(first, 1), last + 1):
        if len(shown) == MOST_LINES or room <= 0:
            break
        found = None if spans is None else list(spans[number - 1])
        shown.append(SourceLine(line=number, text=lines[number - 1][:room], spans=found))
        room -= len(lines[number - 1]) + 1
    end = shown[-1].line if shown else first
    cut = end < last or room < -1
    return SourceText(
        path=path,
        start=first,
        end=end,
        total_lines=total,
        lines=shown,
        current_line=current,
        **({"truncated": True} if cut else {}),
    )


def _check_range(query: FrameSourceQuery, total: int) -> None:
    start, end = query.start, query.end
    if start is not None and start > max(total, 1):
        message = f"the file has {total} lines"
        raise InvalidParameter.of_field("start", message, start, total_lines=total)
    if end is not None and end < (start or 1):
        message = f"must not be before start, {start or 1}"
        raise InvalidParameter.of_field("end", message, end, total_lines=total)
