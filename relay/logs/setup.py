"""The log of a process that serves, as its settings say. Knows levels; refuses to know what is logged."""

from __future__ import annotations

import logging
import sys

from relay.config import LogLevel, Settings
from relay.logs.formats import JsonFormat, TextFormat
from relay.logs.recent import RecentRecords
from relay.logs.stream import LineStream
from relay.redaction.redaction import Redaction


def set_up(settings: Settings) -> None:
    """Log to standard error, and keep the newest records; called once, by the process's own command.

    Standard output belongs to faces that speak a protocol there.
    """
    # No line shows these, and each record would ask for them.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    redaction = Redaction(settings.redact_patterns, settings.redact_credentials)
    root = logging.getLogger()
    root.setLevel(settings.log_level.upper())
    root.addHandler(RecentRecords())
    if sys.stderr is not None:
        stream = LineStream(sys.stderr.fileno())
        kind = JsonFormat if settings.log_format == "json" else TextFormat
        stream.setFormatter(kind(redaction.text))
        root.addHandler(stream)
    set_level(settings.log_level)


def set_level(level: LogLevel) -> None:
    """Have the relay's own loggers log from `level` on; those of an embedder are not ours.

    Where the newest records are kept, they are from `info` on, whatever is written.
    """
    wanted = logging.getLevelNamesMapping()[level.upper()]
    least = wanted if recent_records() is None else min(wanted, logging.INFO)
    logging.getLogger("relay").setLevel(least)
    for handler in logging.getLogger().handlers:
        if isinstance(handler, LineStream):
            handler.setLevel(wanted)
    # Where it listens is printed to standard output; at `info` Hypercorn would print it again.
    quiet = logging.NOTSET if wanted < logging.INFO else logging.WARNING
    logging.getLogger("relay.http").setLevel(quiet)


def recent_records() -> RecentRecords | None:
    """What is kept of the log; None in a process whose log is not ours."""
    handlers = logging.getLogger().handlers
    return next((one for one in handlers if isinstance(one, RecentRecords)), None)
