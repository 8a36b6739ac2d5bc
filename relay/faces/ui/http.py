"""The files of the page over HTTP. They are the same for everybody: who reads them needs no token.

The page itself asks for it, and sends it with each request of the API. Source: contract, section 12.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from relay.errors import MethodNotAllowed, RouteNotFound
from relay.faces.common.asgi import (
    REQUEST_ID,
    ROUTE,
    Headers,
    Receive,
    Scope,
    Send,
    header,
    request_id_of,
)

PATH = "/ui"
INDEX = "index.html"
STATIC = Path(__file__).parent / "static"

TYPES = {
    ".html": b"text/html; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".svg": b"image/svg+xml",
}
"""What is served; other files of the folder are for whoever reads it."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'"
)
"""Values of a program are texts of strangers: nothing that they might bring in is run or fetched."""

SAFETY: Headers = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    # Asked for each time: a page and a relay of two versions would not fit together.
    (b"cache-control", b"no-cache"),
]


class StaticFile(NamedTuple):
    """One file as it is sent."""

    kind: bytes
    content: bytes
    tag: bytes


@cache
def static_files() -> dict[str, StaticFile]:
    """Every file of the page by its path below `/ui/`."""
    found = {}
    for path in sorted(STATIC.rglob("*")):
        if path.suffix in TYPES:
            content = path.read_bytes()
            tag = b'"%s"' % hashlib.sha256(content).hexdigest()[:16].encode()
            found[path.relative_to(STATIC).as_posix()] = StaticFile(
                TYPES[path.suffix], content, tag
            )
    return found


class UiApp:
    """The app, as a `Mount`."""

    open_to_all = True

    def __init__(self, *_: object) -> None:
        pass

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one file; raises RouteNotFound or MethodNotAllowed."""
        scope[ROUTE] = PATH
        if scope["method"] not in {"GET", "HEAD"}:
            method = scope["method"][:200]
            raise MethodNotAllowed(
                f"{method} is not allowed here", method=method, allowed=["GET", "HEAD"]
            )
        name = scope["path"].removeprefix(PATH)
        if name == "":
            await _send(scope, send, 308, [(b"location", b"ui/")])
            return
        file = static_files().get(name.removeprefix("/") or INDEX)
        if file is None:
            raise RouteNotFound(
                f"the page has no file {scope['path'][:200]}",
                suggestion=f"The page is at {PATH}/",
                method=scope["method"],
                path=scope["path"][:200],
            )
        headers: Headers = [*SAFETY, (b"etag", file.tag)]
        if header(scope, b"if-none-match") == file.tag:
            await _send(scope, send, 304, headers)
            return
        await _send(scope, send, 200, [*headers, (b"content-type", file.kind)], file.content)


async def _send(
    scope: Scope, send: Send, status: int, headers: Headers, content: bytes = b""
) -> None:
    about = [
        (REQUEST_ID.lower().encode(), request_id_of(scope).encode()),
        *([] if status == 304 else [(b"content-length", str(len(content)).encode())]),
    ]
    await send({"type": "http.response.start", "status": status, "headers": [*headers, *about]})
    body = b"" if scope["method"] == "HEAD" else content
    await send({"type": "http.response.body", "body": body, "more_body": False})
