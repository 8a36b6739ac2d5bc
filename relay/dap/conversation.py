"""Who asked what: sequence numbers and pending requests, in both directions.

Knows the envelope of requests, responses and events, and which requests still
wait for an answer. Refuses to know what any command means, which side it is on
(the relay and the Perl adapter both use it), and how bytes travel.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias

from relay.dap.framing import DEFAULT_MAX_SIZE, BrokenStream, Decoder, encode
from relay.errors import ProtocolViolation

_VARIABLE = re.compile(r"\{([^{}]*)\}")
"""A name in the `format` of a DAP `Message`."""


@dataclass(frozen=True, slots=True)
class Response:
    """The answer to one of our requests. `command` is as we asked, not as echoed."""

    request_seq: int
    command: str
    success: bool
    message: str | None = None
    body: dict[str, Any] = field(default_factory=dict)

    @property
    def error_text(self) -> str:
        """What to show a human when `success` is false; never empty."""
        return _structured_error(self.body) or self.message or f"{self.command} failed"


@dataclass(frozen=True, slots=True)
class IncomingEvent:
    """Something that the peer reports without being asked."""

    event: str
    body: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class IncomingRequest:
    """What the peer wants of us: answer it with `Conversation.respond`, once."""

    seq: int
    command: str
    arguments: dict[str, Any] = field(default_factory=dict)
    fault: str | None = None
    """Why it can only be refused; it has no arguments then."""


Message: TypeAlias = Response | IncomingEvent | IncomingRequest


class Conversation:
    """One end of a DAP connection.

    The methods that speak return bytes, which must leave in the order in which they
    were made. Misuse (answering what was not asked) is a ValueError; what the peer
    does wrong is a ProtocolViolation.
    """

    __slots__ = ("_asked_of_us", "_decoder", "_forgotten", "_last_seq", "_pending", "_seen")

    def __init__(
        self,
        *,
        max_size: int = DEFAULT_MAX_SIZE,
        seen: Callable[[bool, bytes], None] | None = None,
    ) -> None:
        """`seen` is given the body of each message, and whether it is the peer's."""
        self._seen = seen
        self._decoder = Decoder(max_size=max_size, seen=seen and partial(seen, True))
        self._last_seq = 0
        # Disjoint, and every seq in them is at most `_last_seq`.
        self._pending: dict[int, str] = {}
        self._forgotten: set[int] = set()
        self._asked_of_us: set[int] = set()

    @property
    def pending(self) -> Mapping[int, str]:
        """Our unanswered requests, seq to command, oldest first; a live view."""
        return MappingProxyType(self._pending)

    def request(
        self, command: str, arguments: Mapping[str, Any] | None = None
    ) -> tuple[int, bytes]:
        """Ask the peer. The response will carry the returned number as `request_seq`."""
        content: dict[str, Any] = {"command": command}
        if arguments is not None:
            content["arguments"] = arguments
        seq, data = self._speak("request", content)
        self._pending[seq] = command
        return seq, data

    def event(self, event: str, body: Mapping[str, Any] | None = None) -> bytes:
        """Report something to the peer."""
        content: dict[str, Any] = {"event": event}
        if body is not None:
            content["body"] = body
        return self._speak("event", content)[1]

    def respond(
        self,
        request: IncomingRequest,
        body: Mapping[str, Any] | None = None,
        error: str | None = None,
    ) -> bytes:
        """Answer `request`, with success unless there is an `error`.

        Raises ValueError if the peer never asked this or was answered already.
        """
        if request.seq not in self._asked_of_us:
            raise ValueError(f"request {request.seq} ({request.command}) awaits no answer")
        content: dict[str, Any] = {
            "request_seq": request.seq,
            "command": request.command,
            "success": error is None,
        }
        if error is not None:
            content["message"] = error
            body = body or _error_body(error)
        if body is not None:
            content["body"] = body
        data = self._speak("response", content)[1]
        self._asked_of_us.remove(request.seq)
        return data

    def forget(self, seq: int) -> None:
        """Nobody waits for the answer to `seq` any more: drop it when it comes.

        Does nothing if it was answered already: the two may race.
        """
        if self._pending.pop(seq, None) is not None:
            self._forgotten.add(seq)

    def receive(self, data: bytes | bytearray | memoryview) -> list[Message]:
        """What `data` completes, oldest first, without answers to forgotten requests.

        Raises ProtocolViolation on bytes or messages that DAP does not allow; the
        conversation is then over. What came whole before the fault is lost unless
        the fault is in the framing (`BrokenStream.whole`).
        """
        happenings = (self._understand(message) for message in self._decoder.feed(data))
        return [happening for happening in happenings if happening is not None]

    def salvage(self, broken: BrokenStream) -> list[Message]:
        """What was said before the bytes broke; faults in it end the list."""
        received: list[Message] = []
        for message in broken.whole:
            try:
                happening = self._understand(message)
            except ProtocolViolation:
                break
            if happening is not None:
                received.append(happening)
        return received

    def close(self) -> None:
        """Call at the end of the stream. Raises ProtocolViolation inside a message."""
        self._decoder.close()

    def _speak(self, kind: str, content: Mapping[str, Any]) -> tuple[int, bytes]:
        seq = self._last_seq + 1
        data = encode({"seq": seq, "type": kind, **content})
        # Only now: what cannot be encoded leaves no gap in the numbers.
        self._last_seq = seq
        if self._seen is not None:
            self._seen(False, data[data.index(b"{") :])
        return seq, data

    def _understand(self, message: dict[str, Any]) -> Message | None:
        match message.get("type"):
            case "response":
                return self._understand_response(message)
            case "event":
                return IncomingEvent(_text(message, "event"), _mapping(message, "body"))
            case "request":
                return self._understand_request(message)
            case other:
                raise ProtocolViolation(f"a message of type {other!r}")

    def _understand_response(self, message: dict[str, Any]) -> Response | None:
        seq = _integer(message, "request_seq")
        if seq in self._forgotten:
            self._forgotten.remove(seq)
            return None
        command = self._pending.pop(seq, None)
        if command is None:
            raise ProtocolViolation(
                f"a response to request {seq} ({message.get('command')!r}), which is not pending"
            )
        text = message.get("message")
        return Response(
            request_seq=seq,
            command=command,
            success=message.get("success") is True,
            message=None if text is None else str(text),
            body=_mapping(message, "body"),
        )

    def _understand_request(self, message: dict[str, Any]) -> IncomingRequest:
        number, command = _integer(message, "seq"), _text(message, "command")
        arguments, fault = message.get("arguments"), None
        if arguments is None:
            arguments = {}
        elif not isinstance(arguments, dict):  # the protocol says: any
            arguments, fault = {}, f"the arguments must be an object, not {arguments!r:.80}"
        request = IncomingRequest(number, command, arguments, fault)
        if request.seq in self._asked_of_us:
            raise ProtocolViolation(f"two open requests with the number {request.seq}")
        self._asked_of_us.add(request.seq)
        return request


def _integer(message: Mapping[str, Any], key: str) -> int:
    value = message.get(key)
    if type(value) is not int:
        raise ProtocolViolation(f"a {message.get('type')} whose {key} is {value!r:.80}")
    return value


def _text(message: Mapping[str, Any], key: str) -> str:
    value = message.get(key)
    if not isinstance(value, str):
        raise ProtocolViolation(f"a {message.get('type')} whose {key} is {value!r:.80}")
    return value


def _mapping(message: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = message.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ProtocolViolation(f"a {message.get('type')} whose {key} is {value!r:.80}")
    return value


def _error_body(text: str) -> dict[str, Any]:
    # `format` is a template: braces of ours must not be taken for variables.
    return {"error": {"id": 1, "format": "{text}", "variables": {"text": text}, "showUser": True}}


def _structured_error(body: Mapping[str, Any]) -> str:
    error = body.get("error")
    if not isinstance(error, dict) or not isinstance(error.get("format"), str):
        return ""
    text: str = error["format"]
    variables = error.get("variables")
    if not isinstance(variables, dict):
        return text
    # In one pass: what a variable says is no template.
    return _VARIABLE.sub(lambda found: str(variables.get(found[1], found[0])), text)
