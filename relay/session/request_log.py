"""RequestLog: what clients asked of a session, and what of it was refused.

Knows who asked, and when. Refuses to know what a verb means. One entry for each request, written
before it is carried out: what the program does then stands after it.
Source: contract, section 12.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from relay.asker import EMBEDDED, Asker
from relay.errors import RelayError
from relay.session.event_log import EventLog

REQUEST = "request"
REFUSAL = "refusal"


class RequestLog(EventLog):
    """Entries of two types: a request with its author, and the error that it was refused with."""

    _latest: Asker = EMBEDDED

    @contextmanager
    def carrying_out(self, asker: Asker) -> Iterator[None]:
        """Note the request, unless it is noted already; and its error, if it ends with one."""
        if not asker.verb:
            yield
            return
        self.note(asker)
        number = self.last_seq
        try:
            yield
        except RelayError as error:
            self.append(
                REFUSAL,
                {
                    "face": asker.face,
                    "client": asker.client,
                    "verb": asker.verb,
                    "request": number,
                    "code": error.code,
                    "message": error.message,
                },
            )
            raise

    def note(self, asker: Asker) -> None:
        """Add an entry for the request; one request may use the session several times."""
        if not asker.verb or asker is self._latest:
            return
        self._latest = asker
        self.append(
            REQUEST,
            {
                "face": asker.face,
                "client": asker.client,
                "verb": asker.verb,
                "arguments": asker.arguments,
            },
        )
