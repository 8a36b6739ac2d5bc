"""The link to the code inside of the program: commands out, replies and events in.

A command is 4 bytes of length and then fields, each with a length of its own; what comes back
is 4 bytes of length and one JSON object. Knows numbers of commands; refuses to know DAP.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import trio

from relay.perl.refusals import (
    FAILED,
    SIDE_EFFECTS,
    SYNTAX,
    TIMEOUT,
    Refusal,
    ended,
    failed,
    side_effects,
    timed_out,
    unparsed,
)

Reply = dict[str, Any]
LARGEST = 64 * 1024 * 1024


class Silence(Refusal):
    """The program did not answer in time: it is busy, or blocks."""


LOOKS = frozenset({"stack", "source", "variables", "safe", "complete", "look"})
"""Commands that look at a stop: once it is over, nobody can answer them."""


@dataclass(slots=True)
class _Waiting:
    name: str
    done: trio.Event = field(default_factory=trio.Event)
    reply: Reply | None = None


class Hook:
    """One link, from the start of a program to its end."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        self._last = 0
        self._waiting: dict[int, _Waiting] = {}
        self._sending = trio.Lock()
        self._closed = False
        self.looked = trio.Event()
        """Nobody waits for a look."""
        self.looked.set()
        self.late: Callable[[Reply], Awaitable[None]] | None = None
        """Called with replies that nobody waits for any more."""

    async def send(self, name: str, *arguments: str | int) -> int:
        """Send a command; its number. Raises Refusal 1006 if the program is gone."""
        self._last += 1
        number = self._last
        data = b"".join(_field(part) for part in (number, name, *arguments))
        try:
            async with self._sending:
                await self._stream.send_all(struct.pack(">I", len(data)) + data)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            raise ended() from None
        return number

    async def ask(self, name: str, *arguments: str | int, seconds: float = 20.0) -> Reply:
        """The answer to a command.

        Raises Refusal 1006 if the program ends first, Silence if there is no answer within
        `seconds`, 1008 if it is an error, and 1002, 1003 and 1009 as an evaluation may.
        """
        if self._closed:
            raise ended()
        waiting = _Waiting(name)
        self._waiting[self._last + 1] = waiting
        self._note_looks()
        number = await self.send(name, *arguments)
        try:
            with trio.move_on_after(seconds):
                await waiting.done.wait()
        finally:
            self._waiting.pop(number, None)
            self._note_looks()
        if not waiting.done.is_set():
            raise Silence(FAILED, "The program is busy and does not answer")
        if waiting.reply is None:
            raise ended()
        return _checked(waiting.reply, str(arguments[1]) if len(arguments) > 1 else "")

    async def run(self, on_event: Callable[[Reply], Awaitable[None]]) -> None:
        """Take in what comes until the other side closes."""
        try:
            buffer = bytearray()
            while data := await self._receive():
                buffer += data
                while (message := _take(buffer)) is not None:
                    await self._dispatch(message, on_event)
        finally:
            self.close()

    async def _receive(self) -> bytes | bytearray:
        try:
            return await self._stream.receive_some(65536)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return b""

    async def _dispatch(self, message: Reply, on_event: Callable[[Reply], Awaitable[None]]) -> None:
        if message.get("event") == "lost":
            self._answer_all({"error": "the copy of the program that was looked at ended"})
        elif "event" in message:
            await on_event(message)
        else:
            waiting = self._waiting.pop(message["id"], None)
            if waiting is not None:
                waiting.reply = message
                waiting.done.set()
            elif self.late is not None:
                await self.late(message)

    def _note_looks(self) -> None:
        if self.looked.is_set() and self._looks():
            self.looked = trio.Event()
        elif not self._looks():
            self.looked.set()

    def _looks(self) -> list[_Waiting]:
        return [one for one in self._waiting.values() if one.name in LOOKS]

    def give_up_looks(self) -> None:
        """The program goes on: who looks at the stop gets no answer any more."""
        for one in self._looks():
            if not one.done.is_set():
                one.reply = {"error": "the program went on before there was an answer"}
                one.done.set()

    def _answer_all(self, reply: Reply | None) -> None:
        waiting, self._waiting = self._waiting, {}
        for one in waiting.values():
            one.reply = reply
            one.done.set()

    def close(self) -> None:
        """Nobody waits for an answer any more."""
        self._closed = True
        self._answer_all(None)

    async def aclose(self) -> None:
        self.close()
        await trio.aclose_forcefully(self._stream)


def _field(part: str | int) -> bytes:
    data = str(part).encode("utf-8", "surrogateescape")
    return struct.pack(">I", len(data)) + data


def _take(buffer: bytearray) -> Reply | None:
    if len(buffer) < 4:
        return None
    (size,) = struct.unpack(">I", buffer[:4])
    if len(buffer) < 4 + size:
        return None
    body = bytes(buffer[4 : 4 + size])
    del buffer[: 4 + size]
    message: Reply = json.loads(body)
    return message


def _checked(reply: Reply, expression: str) -> Reply:
    refused = reply.get("refused")
    if isinstance(refused, dict):
        error = refused.get("refused") or refused
        number, reason = int(error.get("code", 0)), str(error.get("reason", ""))
    elif "error" in reply:
        number, reason = int(reply.get("code", 0)), str(reply["error"])
    else:
        return reply
    raise _refusal(number, reason, expression)


def _refusal(number: int, reason: str, expression: str) -> Refusal:
    if number == SIDE_EFFECTS:
        return side_effects(expression, reason)
    if number == SYNTAX:
        return unparsed(expression, reason)
    if number == TIMEOUT:
        return timed_out(expression)
    return failed(reason)
