"""Why a line of Perl has no code: blank, comment, POD, heredoc, string, after the end.

Knows just enough of Perl's lexical rules to name a reason; which lines have code is Perl's
own answer, never guessed here. Pure: text in, words out.
"""

from __future__ import annotations

import re

BLANK = "Line is blank"
COMMENT = "Line contains only comments"
POD = "Line is inside POD documentation"
HEREDOC = "Line is inside a heredoc"
STRING = "Line is inside a string literal"
DATA = "Line is after the end of the program text (__END__ or __DATA__)"
BEYOND = "Line is beyond the end of the file"
NO_CODE = "Line has no statement that can be stopped at"

_POD = re.compile(r"^=[A-Za-z]")
_END = re.compile(r"^__(?:END|DATA)__\b")
_HEREDOC = re.compile(
    r"""<<(?P<indented>~?)(?:"(?P<a>[^"\n]*)"|'(?P<b>[^'\n]*)'|(?P<c>[A-Za-z_]\w*))"""
)
_QUOTE = re.compile(
    r"(?<![\w$@%&:>{-])(?P<operator>q[qwrx]?|tr|m|s|y)(?P<gap>\s*)(?P<open>[^\w\s,;=)]|=(?![>=~]))"
)
_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}


def lines_of(text: str) -> list[str]:
    r"""As Perl counts them: \n or \r\n ends one, and nothing else does."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines if lines[-1] else lines[:-1]


def reasons(text: str) -> dict[int, str]:
    """Line to reason, for the lines that plainly have no code of their own."""
    return _Reader(text).read()


def reason(text: str, line: int) -> str:
    """Why nothing can stop at `line` or shortly after it."""
    if line > len(lines_of(text)):
        return BEYOND
    return reasons(text).get(line, NO_CODE)


class _Reader:
    """Goes through the lines once; carries what is open from one line to the next."""

    def __init__(self, text: str) -> None:
        self._lines = lines_of(text)
        self._found: dict[int, str] = {}
        self._heredocs: list[tuple[str, bool]] = []
        # The end of an open string, how deep its brackets are, and its parts still to come.
        self._close = ""
        self._open = ""
        self._depth = 0
        self._parts = 0

    def read(self) -> dict[int, str]:
        pod = False
        for number, line in enumerate(self._lines, 1):
            if self._heredocs:
                self._found[number] = HEREDOC
                self._heredoc_line(line)
            elif self._close:
                self._found[number] = STRING
                self._scan(line)
            elif pod or _POD.match(line):
                self._found[number] = POD
                pod = not line.startswith("=cut")
            elif _END.match(line):
                self._found.update((n, DATA) for n in range(number, len(self._lines) + 1))
                break
            else:
                self._code_line(number, line)
        return self._found

    def _heredoc_line(self, line: str) -> None:
        word, indented = self._heredocs[0]
        if (line.strip() if indented else line) == word:
            self._heredocs.pop(0)

    def _code_line(self, number: int, line: str) -> None:
        bare = line.strip()
        if not bare:
            self._found[number] = BLANK
        elif bare.startswith("#"):
            self._found[number] = COMMENT
        else:
            self._scan(line)

    def _scan(self, line: str) -> None:
        """Notes what the line leaves open: strings and heredocs."""
        at = self._rest_of_string(line, 0) if self._close else 0
        while at < len(line):
            char = line[at]
            if char == "#" and (at == 0 or line[at - 1] not in "$@%&\\"):
                return
            if char in "\"'`" and not (at and line[at - 1] in "$&"):
                at = self._start_string(line, at + 1, char, 1)
            elif match := _HEREDOC.match(line, at):
                word = next(w for w in (match["a"], match["b"], match["c"]) if w is not None)
                self._heredocs.append((word, bool(match["indented"])))
                at = match.end()
            elif match := _QUOTE.match(line, at):
                at = self._quote(line, match)
            else:
                at += 1

    def _quote(self, line: str, match: re.Match[str]) -> int:
        if match["open"] == "#" and match["gap"]:
            return match.end()  # a comment, after a bareword
        parts = 2 if match["operator"] in ("s", "tr", "y") else 1
        return self._start_string(line, match.end(), match["open"], parts)

    def _start_string(self, line: str, at: int, opening: str, parts: int) -> int:
        self._open = opening if opening in _PAIRS else ""
        self._close = _PAIRS.get(opening, opening)
        self._depth, self._parts = 1, parts
        return self._rest_of_string(line, at)

    def _rest_of_string(self, line: str, at: int) -> int:
        """Where the string ends on this line; the line's end if it stays open."""
        while at < len(line):
            char = line[at]
            at += 1
            if char == "\\":
                at += 1
            elif char == self._close:
                self._depth -= 1
                if not self._depth:
                    self._parts -= 1
                    if not self._parts:
                        self._close = ""
                        return at
                    self._depth = 0 if self._open else 1
            elif char == self._open:
                self._depth += 1
        return at
