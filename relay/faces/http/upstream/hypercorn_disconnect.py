"""A disconnect that Hypercorn sends after each finished answer is withheld from the app.

Knows when the app has answered. quart-trio and other frameworks cancel a request when they learn
of a disconnect. If it comes after the last byte, that cancels the task in which Hypercorn recycles the
connection: `Connection: close` never closes, keep-alive never expires and the shutdown waits out
its whole grace. A client that leaves earlier is noticed.

Waits for: Hypercorn to send nothing to an app that has answered. One symptom is reported:
that `Connection: close` is ignored, https://github.com/pgjones/hypercorn/issues/330. It is so under
quart-trio, which listens, and not under an app that does not.
"""

from __future__ import annotations

import trio

from relay.faces.common.asgi import Message, Receive, Send


class Passage:
    """What one request receives and sends, with what is to be known of it."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self.from_client = receive
        self._to_client = send
        self._answered = False
        self.body: bytes | None = None
        self.status = 0
        self.sent_bytes = 0

    async def receive(self) -> Message:
        """The whole body in one message, if there is one; then what comes from the client."""
        if self.body is not None:
            body, self.body = self.body, None
            return {"type": "http.request", "body": body, "more_body": False}
        message = await self.from_client()
        if self._answered and message["type"] == "http.disconnect":
            await trio.sleep_forever()
        return message

    async def send(self, message: Message) -> None:
        """Pass a part of the answer on."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif message["type"] == "http.response.body":
            self.sent_bytes += len(message.get("body", b""))
            self._answered = not message.get("more_body", False)
        await self._to_client(message)
