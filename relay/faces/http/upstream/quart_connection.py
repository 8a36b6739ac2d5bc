"""One request on its way through Quart, in few steps.

Knows quart-trio's connection class, of which it keeps everything but the number of tasks
and messages: none that listens for the client's hanging up instead of two, where the server says so
by itself, and a finished body in one message instead of two. Half of a small request's time is spent
in such steps. Needs the body in the scope, as `views` has it.

Waits for: quart-trio to serve a request in one task, and Quart to send a finished body once. The
second was proposed in https://github.com/pallets/quart/pull/231, and closed. Of the first no issue
is known; to be reported: a request that is answered at once needs a nursery and two tasks.
"""

from __future__ import annotations

from typing import cast

from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable
from quart import Response
from quart.typing import ResponseTypes
from quart.utils import encode_headers
from quart.wrappers.response import DataBody
from quart_trio.asgi import TrioASGIHTTPConnection

from relay.faces.common.asgi import Receive, Scope, until_hang_up


class Connection(TrioASGIHTTPConnection):
    """A request; a client that hangs up cancels its handler at once."""

    async def __call__(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        # The body is in the scope, whole: see `views`.
        request = self._create_request_from_scope(send)
        async with until_hang_up(cast(Scope, self.scope), cast(Receive, receive)):
            response = await self.app.handle_request(request)
            await self._send_response(send, response)

    async def _send_response(self, send: ASGISendCallable, response: ResponseTypes) -> None:
        if not isinstance(response, Response) or not isinstance(response.response, DataBody):
            await super()._send_response(send, response)
            return
        await send(
            {
                "type": "http.response.start",
                "status": response.status_code,
                "headers": encode_headers(response.headers),
            }
        )
        body = response.response.data
        await send({"type": "http.response.body", "body": body, "more_body": False})
