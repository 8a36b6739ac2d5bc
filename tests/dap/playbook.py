"""Conversations as transcripts: what is said, what is heard, in order."""

from __future__ import annotations

from typing import Any

import pytest

from relay.dap.conversation import Conversation, IncomingRequest, Message
from relay.dap.framing import Decoder, encode
from relay.errors import ProtocolViolation


class Playbook:
    """Plays a transcript against one Conversation. Every step returns the playbook.

    `says_…` makes the conversation speak and compares the message that leaves it;
    `hears` gives it a message and compares what it makes of it.
    """

    def __init__(self) -> None:
        self.conversation = Conversation()
        self.decoder = Decoder()
        self._inbox = b""

    def asks(self, command: str, arguments: Any = None, *, sends: dict[str, Any]) -> Playbook:
        seq, data = self.conversation.request(command, arguments)
        assert seq == sends["seq"]
        return self._sent(data, {"type": "request", **sends})

    def tells(self, event: str, body: Any = None, *, sends: dict[str, Any]) -> Playbook:
        return self._sent(self.conversation.event(event, body), {"type": "event", **sends})

    def answers(self, request: IncomingRequest, *, sends: dict[str, Any], **how: Any) -> Playbook:
        data = self.conversation.respond(request, **how)
        return self._sent(data, {"type": "response", **sends})

    def forgets(self, seq: int) -> Playbook:
        self.conversation.forget(seq)
        return self

    def hears(self, *messages: dict[str, Any], as_: list[Message]) -> Playbook:
        assert self.conversation.receive(b"".join(map(encode, messages))) == as_
        return self

    def rejects(self, message: dict[str, Any], because: str) -> Playbook:
        with pytest.raises(ProtocolViolation, match=because):
            self.conversation.receive(encode(message))
        return self

    def waits_for(self, **pending: int) -> Playbook:
        assert {name: seq for seq, name in self.conversation.pending.items()} == pending
        return self

    def _sent(self, data: bytes, expected: dict[str, Any]) -> Playbook:
        assert self.decoder.feed(data) == [expected]
        return self
