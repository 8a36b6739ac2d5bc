"""What two runs of a launch have printed up to their stops, compared as text.

Each stream for itself. What differs from run to run is left out: addresses, names of temporary folders, and
numbers that look like a time. Refuses to know why the runs are compared.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest

from relay.operations.history.by_chance import without_chance
from relay.session.session import Session
from relay.session.state.stop import Stop

MOST_LINES = 10_000
"""Of a stream, how many are compared, the oldest first."""

SHOWN = 80
"""Characters of a line that differs."""

STREAMS = {"stdout": "standard output", "stderr": "standard error"}

_TIMES = re.compile(r"\d{4}-\d\d-\d\d|\d+(?:[:.,]\d+)+|\d+(?= ?(?:ns|µs|us|ms|s|seconds?)\b)")


def printed_difference(ours: Session, stop: Stop, theirs: Session, their_stop: Stop) -> str | None:
    """Where the texts differ, in words; None if they are equal, or ours is not there any more."""
    if not ours.output.is_whole(ours.program_run.first_output):
        return None
    for category, name in STREAMS.items():
        our_lines = _lines(ours, stop, category)
        found = first_difference(our_lines, _lines(theirs, their_stop, category))
        if found is not None:
            line, our_text, their_text = found
            texts = [_quoted(text and ours.redaction.text(text)) for text in (our_text, their_text)]
            return f"line {line} of {name} is {texts[1]}, it was {texts[0]}"
    return None


def first_difference(
    ours: Sequence[str], theirs: Sequence[str]
) -> tuple[int, str | None, str | None] | None:
    """Number, from 1, and text of the first lines that differ; None for a line that is not there."""
    if max(len(ours), len(theirs)) >= MOST_LINES:  # what follows may have been cut off
        count = min(len(ours), len(theirs))
        ours, theirs = ours[:count], theirs[:count]
    for at, (one, other) in enumerate(zip_longest(ours, theirs)):
        if one != other and _comparable(one) != _comparable(other):
            return at + 1, one, other
    return None


def _lines(session: Session, stop: Stop, category: str) -> Sequence[str]:
    """What came before the stop."""
    page = session.output.read(session.program_run.first_output, 2 * MOST_LINES, category)
    printed = "".join(entry.output for entry in page.entries if entry.seq <= stop.output_seq)
    return printed.splitlines()[:MOST_LINES]


def _comparable(line: str | None) -> str | None:
    return None if line is None else _TIMES.sub("#", without_chance(line))


def _quoted(text: str | None) -> str:
    if text is None:
        return "not there"
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 1] + "…")
