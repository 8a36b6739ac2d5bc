"""Failures on the way of a session: which one of several is reported, and rungs that do not fit."""

from __future__ import annotations

from relay.errors import InternalError, LaunchFailed, RelayError


class RungUnfit(Exception):
    """This way of starting does not work here; the next one may. Carries why."""

    def as_error(self) -> RelayError:
        """The error when no rung was left."""
        return LaunchFailed(f"no way of starting the debuggee worked: {self}")


def leaves(error: BaseException) -> list[BaseException]:
    """The single exceptions inside nested groups."""
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in leaves(inner)]
    return [error]


def leading_error(error: BaseException) -> RelayError:
    """The RelayError that a caller should get for whatever was raised."""
    found = leaves(error)
    for leaf in found:
        if isinstance(leaf, RelayError):
            return leaf
    first = found[0]
    return InternalError(f"{type(first).__name__}: {first}", exception=type(first).__name__)
