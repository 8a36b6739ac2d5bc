"""Which parts of a source are keywords, strings and so on, as Pygments sees it.

Knows text and names of files. A source is looked at whole, since a string may begin far above.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import PurePath

import trio

Span = tuple[int, int, str]
"""Start and end in the line, in characters, and Pygments' short name of what is there."""

MOST_HIGHLIGHTED = 400_000
"""Characters; Pygments takes about a second for so many, and a longer source stays plain."""


async def highlighted(path: str, lines: Sequence[str]) -> Sequence[Sequence[Span]] | None:
    """The spans of each line; None for a source that is too long, or of an unknown language."""
    text = "\n".join(lines)
    if len(text) > MOST_HIGHLIGHTED:
        return None
    return await trio.to_thread.run_sync(_spans, PurePath(path).name, text, abandon_on_cancel=True)


@lru_cache(maxsize=4)  # the spans of a long source take some ten megabytes
def _spans(name: str, text: str) -> Sequence[Sequence[Span]] | None:
    # Imported by the first who asks: programs without a page never do.
    from pygments.lexers import get_lexer_for_filename
    from pygments.lexers.python import PythonLexer
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_for_filename(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        if PurePath(name).suffix and not name.startswith("<"):
            return None
        lexer = PythonLexer(stripnl=False, ensurenl=False)
    found: list[list[Span]] = [[]]
    column = 0
    for kind, piece in lexer.get_tokens(text):
        word = _short_name(kind)
        for number, part in enumerate(piece.split("\n")):
            if number:
                found.append([])
                column = 0
            if word and part:
                found[-1].append((column, column + len(part), word))
            column += len(part)
    return found


def _short_name(kind: object) -> str:
    from pygments.token import STANDARD_TYPES

    word: str = STANDARD_TYPES.get(kind, "")  # type: ignore[call-overload]
    return "" if word == "w" else word
