"""The newest entries of the relay's own log, for reports of faults."""

from __future__ import annotations

from datetime import UTC, datetime

from relay.errors import NotSupported
from relay.hub import Hub
from relay.logs.formats import Format
from relay.logs.setup import recent_records
from relay.models.log import LogEntry, LogPage, LogQuery
from relay.redaction.redaction import Redaction


async def get_log(hub: Hub, *, query: LogQuery) -> LogPage:
    """The newest entries of the relay's own log, from the level `info` on, whatever is written.

    At most 1,000 are kept. Secrets are masked; values of programs are in none.
    """
    kept = recent_records()
    if kept is None:
        raise NotSupported(
            "this relay is embedded: its program keeps the log",
            suggestion="Ask the program's own logging for the loggers below `relay`",
        )
    redaction = Redaction(hub.settings.redact_patterns, hub.settings.redact_credentials)
    shown = Format(redaction.text)
    newest, dropped = kept.newest(query.limit)
    entries = [
        LogEntry(
            timestamp=datetime.fromtimestamp(record.created, UTC),
            level=record.levelname.lower(),
            logger=record.name,
            message=shown.message(record),
            fields=shown.fields(record),
            exception=shown.traceback(record) or None,
        )
        for record in newest
    ]
    return LogPage(entries=entries, dropped=dropped)
