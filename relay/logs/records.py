"""An event of the relay as a record: its name, and what is known of it as fields.

    note(log, "program stopped", session_id=session.id, reason="breakpoint")

Fields are ids, names, counts and times: no value of a program, and no text of one.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

Field = str | int | float | None

NO_FILE = "(unknown file)"
"""As the standard library says where it does not know the caller: the event says enough."""

_FIELDS = "relay_fields"


def note(log: logging.Logger, event: str, /, level: int = logging.INFO, **fields: Field) -> None:
    """Log the event. Costs next to nothing where nobody listens to its level."""
    if log.isEnabledFor(level):
        # Not `log.log`, which looks for the caller's line for longer than all the rest takes.
        log.handle(
            log.makeRecord(log.name, level, NO_FILE, 0, event, (), None, None, extra(**fields))
        )


def extra(**fields: Field) -> dict[str, Any]:
    """The fields as the standard library's `extra=`, for a record that needs more than a name."""
    return {_FIELDS: fields}


def fields_of(record: logging.LogRecord) -> Mapping[str, Field]:
    """What is known of the event; nothing of records that others made."""
    found: Mapping[str, Field] = getattr(record, _FIELDS, {})
    return found
