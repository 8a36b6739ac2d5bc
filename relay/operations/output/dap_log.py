"""What was said between a session and its debugger: for reports of faults. Contract, section 9."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from relay.models.dap_log import DapLogEntry, DapLogPage, DapLogQuery
from relay.redaction.redaction import Redaction
from relay.redaction.rules import MASK
from relay.session.dap.dap_log import DapMessage
from relay.session.session import Session

LONGEST_TEXT = 2000
"""Characters of a message that is not kept whole."""

_WORD = re.compile(r"[\w-]+")


async def get_dap_log(session: Session, *, query: DapLogQuery) -> DapLogPage:
    """The last messages between the relay and the session's debugger, in both directions.

    For reports of faults. Values of secret names and credentials are masked, as everywhere; what is
    longer than 16 KiB is shown by its beginning. Kept until the session ends, at most 1,000.
    """
    newest = session.dap_log.newest(query.limit)
    return DapLogPage(
        messages=list(_Shown(session.redaction).entries(newest)),
        dropped=session.dap_log.last_seq - len(newest),
    )


class _Shown:
    """Messages as they may be shown. The answer to an evaluation has no name: its question has."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._open: set[tuple[int, object]] = set()
        """Evaluations of what has no secret name: connection and number."""

    def entries(self, messages: Iterable[DapMessage]) -> Iterable[DapLogEntry]:
        for said in messages:
            message = _parsed(said)
            yield DapLogEntry(
                seq=said.seq,
                timestamp=said.timestamp,
                connection=said.connection,
                sender="debugger" if said.from_debugger else "relay",
                size=said.size,
                message=None if message is None else self._masked(said.connection, message),
                text=self._text(said.body) if message is None else None,
            )

    def _text(self, body: bytes) -> str:
        return self._redaction.text(body.decode(errors="backslashreplace"))[:LONGEST_TEXT]

    def _masked(self, connection: int, message: dict[str, Any]) -> Any:
        shown = self._redaction.data(message)
        if message.get("command") != "evaluate":
            return shown
        if message.get("type") == "request":
            words = _WORD.findall(str((message.get("arguments") or {}).get("expression")))
            if not any(map(self._redaction.is_secret, words)):
                self._open.add((connection, message.get("seq")))
        elif (connection, message.get("request_seq")) not in self._open:
            body = shown.get("body")
            if isinstance(body, dict) and "result" in body:
                return {**shown, "body": {**body, "result": MASK}}
        return shown


def _parsed(said: DapMessage) -> dict[str, Any] | None:
    """None for what is not kept whole, and for what is no message: that may be the fault."""
    with suppress(ValueError):
        message = json.loads(said.body) if said.is_whole else None
        return message if isinstance(message, dict) else None
    return None
