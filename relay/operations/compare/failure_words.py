"""What a program said of its failure, in one line, from all that it has printed. Pure.

The last line of standard error is often another's: a warning, or what a test runner says there while
the failure is told on standard output.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_OF_PYTEST = re.compile(r"^(?:FAILED|ERROR) \S.*", re.MULTILINE)  # its short summary
_ERROR_OF_PYTEST = re.compile(r"^E   +(\S.*)", re.MULTILINE)
_OF_ERROR = re.compile(
    r"^(?:[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt)\b|(?:[\w./-]+: )?(?:error|ERROR|fatal): )"
)
_WARNING = re.compile(r"(?:^|: )[A-Za-z_][\w.]*Warning: ")
_ENDS_OF_LINES = re.compile(r"[\r\n]+")


def failure_words(stdout: str, stderr: str) -> str:
    """The line that says what failed; of several of pytest's the first; empty if none was printed."""
    summary, error = _OF_PYTEST.search(stdout), _ERROR_OF_PYTEST.search(stdout)
    if summary is not None or error is not None:
        words = [] if summary is None else [summary[0].strip()]
        if error is not None and not any(" - " in said for said in words):
            words.append(error[1].strip())  # a summary of what cannot be imported has no reason
        return " - ".join(words)
    lines = list(_without_warnings(stderr))
    errors = [line for line in lines if _OF_ERROR.match(line)]
    return next(iter([*errors[-1:], *lines[-1:], last_line(stdout)]))


def last_line_without_warnings(stderr: str) -> str:
    """The last line of what went well; empty if there is none but warnings."""
    return next(iter([*_without_warnings(stderr)][-1:]), "")


def last_line(text: str) -> str:
    """The last one that says something."""
    return _ENDS_OF_LINES.split(text.strip())[-1].strip()


def _without_warnings(text: str) -> Iterator[str]:
    """Lines but for warnings, of which each may have its line of source below."""
    is_below = False
    for line in _ENDS_OF_LINES.split(text):
        if _WARNING.search(line):
            is_below = True
            continue
        if is_below and line[:1].isspace():
            continue
        is_below = False
        if line.strip():
            yield line.strip()
