"""RecentRecords: the newest records, for reports of faults.

Keeps records, not lines: what they look like is asked for later, and mostly never.
"""

from __future__ import annotations

import copy
import logging
from collections import deque

MOST_RECORDS = 1000


class RecentRecords(logging.Handler):
    """Keeps the newest MOST_RECORDS records, and the number of all."""

    def __init__(self) -> None:
        super().__init__()
        self._count = 0
        self._records: deque[logging.LogRecord] = deque(maxlen=MOST_RECORDS)

    # Called with the handler's lock held.

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record; the oldest goes if there are too many."""
        self._count += 1
        self._records.append(_apart(record))

    def newest(self, limit: int) -> tuple[list[logging.LogRecord], int]:
        """So many at most, the oldest of them first; and how many there were before that."""
        self.acquire()
        try:
            found = list(self._records)[-limit:]
            return found, self._count - len(found)
        finally:
            self.release()


_tracebacks = logging.Formatter()


def _apart(record: logging.LogRecord) -> logging.LogRecord:
    """The record with texts in place of the objects that it speaks of: it keeps none of them alive."""
    if not record.args and not record.exc_info:
        return record
    kept = copy.copy(record)
    kept.msg, kept.args = record.getMessage(), None
    if record.exc_info and record.exc_info[0] is not None:
        kept.exc_text = _tracebacks.formatException(record.exc_info)
    kept.exc_info = None
    return kept
