"""Why Perl gave up compiling: by its own words, since nothing else says it.

Pure. Knows the messages of `perldiag` that are about the program's text. A program that ends by
`exit` or `die` in a BEGIN block, or by a module that is missing or broken, ran, and is not meant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

PLACE = re.compile(r"^(?P<what>.+?) at (?P<file>.+?) line (?P<line>[0-9]+)(?P<near>, .+|\.)$")
"""A line of Perl's words that names a place of the source."""

ERRORS = re.compile(
    r"(syntax error|Global symbol|Can't|Missing|Unmatched|Illegal|Unknown|Invalid|Unterminated"
    r"|Unrecognized|Not enough|Too (many|few)|Type of arg)\b|.* not (terminated|allowed)\b"
)
"""How errors of a source begin: warnings of the same source stand between them."""

AT_ONCE = re.compile(
    r"(Can't (find string terminator|localize|use global|redeclare)|Unterminated|Unmatched"
    r"|Unrecognized character|Illegal declaration|Missing (name|braces|right)|Use of bare <<)"
    r"|.*( not terminated$| too long$|; marked by <-- HERE)"
)
"""Errors after which Perl reads no further, and so says nothing of its giving up."""

ENDED_OTHERWISE = re.compile(
    r"(?:BEGIN|CHECK|INIT|UNITCHECK) failed--|Compilation failed in require"
)

LONGEST = 500
"""Characters of the line of source that is shown."""


@dataclass(frozen=True, slots=True)
class SourceFault:
    """What is wrong with the text of the program; `line` counts from 1."""

    file: str
    line: int
    message: str
    text: str = ""
    """That line of the file, if it can be read."""


def source_fault(words: str, program: str) -> SourceFault | None:
    """What Perl found wrong with the text of `program`; None if that is not why it ended.

    `words` is what was printed on its standard error before it would have begun to run.
    """
    lines = words.split("\n")
    gave_up = [f"Execution of {program} aborted due to compilation errors."]
    gave_up += [f"{program} {had} too many errors." for had in ("has", "had")]
    unsafe = f"BEGIN not safe after errors--compilation aborted at {program} line "
    ends = [n for n, line in enumerate(lines) if line in gave_up or line.startswith(unsafe)]
    found = _worst(lines[: ends[-1]]) if ends else _last(lines, program)
    if found is None:
        return None
    file, line = found["file"], int(found["line"])
    message = found["what"] + found["near"].removesuffix(".")
    return SourceFault(file, line, message, _line_of(file, line))


def _worst(lines: Sequence[str]) -> re.Match[str] | None:
    """The first error, or if none looks like one, the last that was said of any place."""
    places = [match for line in lines if (match := PLACE.match(line))]
    errors = [match for match in places if ERRORS.match(match["what"])]
    return errors[0] if errors else places[-1] if places else None


def _last(lines: Sequence[str], program: str) -> re.Match[str] | None:
    """The error after which nothing follows."""
    if any(ENDED_OTHERWISE.search(line) for line in lines):
        return None
    places = [match for line in lines if (match := PLACE.match(line)) and match["file"] == program]
    return places[-1] if places and AT_ONCE.match(places[-1]["what"]) else None


def _line_of(file: str, number: int) -> str:
    try:
        with open(file, encoding="utf-8", errors="surrogateescape", newline="\n") as source:
            text = next((text for n, text in enumerate(source, 1) if n == number), "")
    except (OSError, ValueError):
        return ""  # a name that `#line` gave
    return text.rstrip("\r\n")[:LONGEST]
