"""What a program printed, as numbered text. Source: contract, section 6."""

from __future__ import annotations

from dataclasses import dataclass

from relay.session.session import Session

MOST_ENTRIES = 2000
"""Entries of output that are looked at for one answer."""


@dataclass(frozen=True)
class Printed:
    """Entries `start` to `end` (both included, from 1) of `total`; `dropped` are lost."""

    entries: list[tuple[str, str]]
    """(category, text), oldest first."""

    start: int
    end: int
    total: int
    dropped: int


async def printed(session: Session, *, start: int | None, max_chars: int) -> Printed:
    """Output from entry `start` on, or without it the end of what there is.

    Whole entries, as many as `max_chars` hold; at least one, if there is any.
    """
    total = session.output.last_seq
    after = max(0, total - MOST_ENTRIES) if start is None else max(0, start - 1)
    page = session.output.read(after, MOST_ENTRIES)
    found = [(entry.seq, entry.category, entry.output) for entry in page.entries]
    kept = _fitting(found if start is not None else found[::-1], max_chars)
    if start is None:
        kept.reverse()
    return Printed(
        entries=[(category, text) for _, category, text in kept],
        start=kept[0][0] if kept else after + 1,
        end=kept[-1][0] if kept else after,
        total=total,
        dropped=page.dropped if start is not None else session.output.dropped,
    )


def _fitting(entries: list[tuple[int, str, str]], room: int) -> list[tuple[int, str, str]]:
    kept: list[tuple[int, str, str]] = []
    for entry in entries:
        room -= len(entry[2])
        if kept and room < 0:
            break
        kept.append(entry)
    return kept
