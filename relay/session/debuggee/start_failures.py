"""Failures on the way of a session: which one of several is told, and rungs that do not fit."""

from __future__ import annotations

from relay.debuggers.debugpy.about import DEBUGGER, SUPPORTED_DEBUGGER
from relay.errors import DebuggerError, InternalError, LaunchFailed, RelayError


class RungUnfit(Exception):
    """This way of starting does not work here; the next one may. Carries why."""

    def as_error(self) -> RelayError:
        """The error when no rung was left."""
        return LaunchFailed(f"no way of starting the debuggee worked: {self}")


class DebuggerUnfit(DebuggerError):
    """The debugger in the program is none that the relay can work with."""

    def __init__(self, version: str | None = None, reason: str | None = None) -> None:
        what = f"{DEBUGGER} {version}" if version else "a debugger that answers otherwise"
        more = f" ({reason})" if reason else ""
        super().__init__(
            f"the program has {what}{more}, and the relay needs {DEBUGGER} {SUPPORTED_DEBUGGER}",
            debugger_version=version,
            reason=reason,
            suggestion=f"Run pip install '{DEBUGGER}{SUPPORTED_DEBUGGER}' in the program's "
            "environment and start the program anew; or attach by process id where no debugger is",
        )


def leaves(error: BaseException) -> list[BaseException]:
    """The single exceptions inside nested groups."""
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in leaves(inner)]
    return [error]


def leading_error(error: BaseException) -> RelayError:
    """The RelayError that a caller should be told of whatever was raised."""
    found = leaves(error)
    for leaf in found:
        if isinstance(leaf, RelayError):
            return leaf
    first = found[0]
    return InternalError(f"{type(first).__name__}: {first}", exception=type(first).__name__)
