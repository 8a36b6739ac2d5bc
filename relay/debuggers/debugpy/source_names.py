"""Which name stands at a place of a source file: what a pointer there would mean.

Pure text: the source is tokenized, never compiled or run.
"""

from __future__ import annotations

import io
import keyword
import re
import tokenize
from collections.abc import Iterator, Sequence

_DOTTED = re.compile(r"[^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*")
_WORD = re.compile(r"[^\W\d]\w*")
_TEXTS = frozenset(
    number
    for name in ("COMMENT", "STRING", "FSTRING_MIDDLE", "TSTRING_MIDDLE")
    if (number := getattr(tokenize, name, None)) is not None
)
_PLAIN_STRING = re.compile(r"""[^'"]*f""", re.IGNORECASE)


def name_at(lines: Sequence[str], line: int, column: int) -> str | None:
    """The dotted name up to the word at this place, such as `order.total`; None if there is none.

    line and column count from 1, in characters; the column just behind a word belongs to it.
    Words in comments and in plain strings are no names, nor are keywords. What stands behind
    a call or an item (`f().x`) is none either: it would have to be run.
    """
    if not 1 <= line <= len(lines):
        return None
    text, spot = lines[line - 1], column - 1
    for found in _DOTTED.finditer(text):
        if not found.start() <= spot <= found.end():
            continue
        for word in _WORD.finditer(text, found.start(), found.end()):
            if word.start() <= spot <= word.end():
                path = "".join(text[found.start() : word.end()].split())
                return path if _is_name(lines, line, found.start(), path, text) else None
    return None


def _is_name(lines: Sequence[str], line: int, start: int, path: str, text: str) -> bool:
    first, _, _ = path.partition(".")
    if any(keyword.iskeyword(part) for part in path.split(".")):
        return path in ("None", "True", "False")
    if text[:start].rstrip().endswith("."):
        return False
    return bool(first) and not _in_text(lines, line, start)


def _in_text(lines: Sequence[str], line: int, column: int) -> bool:
    """Whether the place lies in a comment or in a string without expressions."""
    for token in _tokens(lines):
        if token.type not in _TEXTS or not token.start <= (line, column) < token.end:
            continue
        is_format = token.type == tokenize.STRING and _PLAIN_STRING.match(token.string)
        return not is_format or "{" not in lines[line - 1][:column]
    return False


def _tokens(lines: Sequence[str]) -> Iterator[tokenize.TokenInfo]:
    """As far as the file makes sense."""
    source = io.StringIO("".join(f"{text}\n" for text in lines))
    try:
        yield from tokenize.generate_tokens(source.readline)
    except (tokenize.TokenError, SyntaxError):
        return
