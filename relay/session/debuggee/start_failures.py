"""Failures on the way of a session: which one of several is reported, and rungs that do not fit."""

from __future__ import annotations

import logging

from relay.edition import own_fault
from relay.errors import LaunchFailed, RelayError

log = logging.getLogger("relay.session")


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


def relay_error_in(error: BaseException) -> RelayError | None:
    """The first error of the catalog in it; None where the relay itself is at fault."""
    return next((leaf for leaf in leaves(error) if isinstance(leaf, RelayError)), None)


def leading_error(error: BaseException, session_id: str) -> RelayError:
    """The error that a caller should get for whatever was raised.

    A fault of the relay itself goes to the log, with its traceback, and is an InternalError.
    """
    if (known := relay_error_in(error)) is not None:
        return known
    log.error("session %s: the relay failed", session_id, exc_info=error)
    return own_fault(
        "the relay failed while it started or debugged the program", leaves(error)[0], session_id
    )
