"""What a debugger says of source without a program: lines with code, and texts that parse.

The shapes of the answers, and the error of a launch that they lead to. Which tool found them is
the debugger's affair.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from relay.actions import Suggestion
from relay.errors import LaunchSyntaxError


class SyntaxFault(Protocol):
    """Why a source does not compile. `line` and `offset` count from 1; 0 means unknown."""

    @property
    def line(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def message(self) -> str: ...
    @property
    def text(self) -> str: ...


def launch_syntax_error(
    language: str, path: str, fault: SyntaxFault, suggestion: Suggestion | None = None
) -> LaunchSyntaxError:
    """The error for a script that does not compile."""
    return LaunchSyntaxError(
        f"{language} syntax error in script: {fault.message} (line {fault.line})",
        file=path,
        line=fault.line,
        offset=fault.offset,
        message=fault.message,
        error_message=fault.message,
        text=fault.text,
        suggestion=suggestion,
    )


class TextFault(Protocol):
    """Why a text is no expression or log message. `offset` counts from 1; 0 means unknown."""

    @property
    def message(self) -> str: ...
    @property
    def offset(self) -> int: ...


class NoCode(NamedTuple):
    """Why a line is none of a program's, where more is known than that it has no code."""

    reason: str
    suggestion: str


class SourceAnalysis(Protocol):
    """One source file. `executable` is sorted: the lines, from 1, at which a program can stop."""

    @property
    def total_lines(self) -> int: ...
    @property
    def executable(self) -> Sequence[int]: ...
    @property
    def texts(self) -> Sequence[str]: ...
    @property
    def syntax_error(self) -> SyntaxFault | None: ...

    def nearest(self, line: int) -> int | None:
        """The nearest line with code: `line` itself, else the next, else the last before."""

    def no_code(self, line: int) -> NoCode | None:
        """What is known of why the line has no code, and what to do instead."""
