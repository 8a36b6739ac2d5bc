"""Whatever was raised while a request was served, as an error of the catalog.

Knows exceptions and the log. Knows no response. What is no RelayError becomes
INTERNAL_ERROR: its traceback goes to the log, its type and the log's reference to the
client, its text to neither the client nor anybody who should not read it.
"""

from __future__ import annotations

import logging

import trio

from relay.edition import own_fault
from relay.errors import RelayError

log = logging.getLogger("relay.http")


def as_relay_error(error: BaseException, request_id: str, what: str) -> RelayError:
    """The error to show for `error`, which serving `what` raised.

    A group stands for its only RelayError if it holds one and nothing else. What the
    client must not swallow (cancellation, KeyboardInterrupt) is raised again.
    """
    _reraise_control_flow(error)
    leaves = _leaves(error)
    if len(leaves) == 1 and isinstance(leaves[0], RelayError):
        return _noted(leaves[0], request_id, what)
    log.error("%s failed (request %s)", what, request_id, exc_info=error)
    return own_fault(f"the relay failed while serving {what}", leaves[0], request_id)


def _reraise_control_flow(error: BaseException) -> None:
    if isinstance(error, BaseExceptionGroup):
        control_flow, others = error.split(_is_control_flow)
        if control_flow is not None:
            if others is not None:
                log.error("failed while being cancelled", exc_info=others)
            raise control_flow
    elif _is_control_flow(error):
        raise error


def _is_control_flow(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return False
    return isinstance(error, trio.Cancelled) or not isinstance(error, Exception)


def _leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in _leaves(inner)]
    return [error]


def _noted(error: RelayError, request_id: str, what: str) -> RelayError:
    if error.status >= 500:
        log.warning("%s: %s %s (request %s)", what, error.code, error.message, request_id)
    return error
