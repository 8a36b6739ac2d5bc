"""Withholds the disconnect that Hypercorn sends after each finished response.

Knows when the app has answered. quart-trio cancels a request when it hears of a
disconnect; heard after the last byte, that cancels the task in which Hypercorn recycles
the connection, and then `Connection: close` never closes, keep-alive never expires and
the shutdown waits out its whole grace. A client that leaves earlier is still heard of.
"""

from __future__ import annotations

import trio

from relay.faces.common.asgi import App, Message, Receive, Scope, Send


def gate_disconnect(app: App) -> App:
    """`app`, deaf to disconnects once it has answered."""

    async def gated(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        answered = False

        async def send_and_note(message: Message) -> None:
            nonlocal answered
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                answered = True
            await send(message)

        async def receive_until_answered() -> Message:
            message = await receive()
            if answered and message["type"] == "http.disconnect":
                await trio.sleep_forever()
            return message

        await app(scope, receive_until_answered, send_and_note)

    return gated
