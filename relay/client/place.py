"""Where a relay is, and how it is spoken to: URL or Unix socket, token, patience.

Knows the environment's RELAY_URL and RELAY_TOKEN. Sends nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from relay.actions import PREFERENCE
from relay.asker import HTTP, to_wire
from relay.client.calls import DEFAULT_URL, Call, broken_off, unreachable
from relay.models.patterns import HEADER_TEXT
from relay.routes.endpoint import API

SECONDS = 60.0
"""How long an answer may take, besides what the request itself says."""

CONNECT_SECONDS = 5.0


@dataclass(frozen=True)
class ServerAddress:
    """One relay as its clients see it."""

    url: str
    uds: str | None
    token: str | None
    seconds: float
    name_header: Mapping[str, str]

    @classmethod
    def of(
        cls,
        url: str | None,
        uds: str | Path | None,
        token: str | None,
        seconds: float,
        name: str | None = None,
        face: str = HTTP,
    ) -> ServerAddress:
        """From what was given, else from the environment, else the default address.

        `unix:PATH` is the URL of a Unix socket. Raises ValueError for what is no address, and for a
        token that no header can carry.
        """
        if url is not None and uds is not None:
            raise ValueError("give either url or uds, not both")
        if url is None and uds is None:
            url = os.environ.get("RELAY_URL") or DEFAULT_URL
        if url is not None and url.startswith("unix:"):
            uds, url = url.removeprefix("unix:"), None
        token = token or os.environ.get("RELAY_TOKEN") or None
        if token is not None and not re.fullmatch(HEADER_TEXT, token):
            raise ValueError("the token must be printable ASCII: it is sent in a header")
        header = {} if name is None else to_wire(name, face)
        if uds is not None:
            return cls("http://localhost", str(Path(uds).expanduser()), token, seconds, header)
        return cls(_checked(url or ""), None, token, seconds, header)

    @property
    def name(self) -> str:
        """As a person would give it."""
        return self.url if self.uds is None else f"unix:{self.uds}"

    @property
    def options(self) -> dict[str, Any]:
        """What both of httpx's clients are made with, besides their transport."""
        authorization = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
        return {
            "base_url": self.url + API,
            "headers": {
                "User-Agent": "debug-relay-client",
                "Prefer": PREFERENCE,
                **self.name_header,
                **authorization,
            },
            "trust_env": False,  # no proxy between us and loopback
        }

    @property
    def transport(self) -> dict[str, Any]:
        """What the transport is made with. Reading certificates takes longer than a call."""
        return {"uds": self.uds, "verify": self.url.startswith("https:")}

    @contextmanager
    def translated_errors(self) -> Iterator[None]:
        """httpx's failures as ours: RelayUnreachable."""
        import httpx

        if self.uds is not None and not os.path.exists(self.uds):
            raise unreachable(self.name, "there is no such socket")
        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise unreachable(self.name, str(error)) from None
        except httpx.TransportError as error:
            raise broken_off(self.name, str(error) or type(error).__name__) from None

    def request(self, call: Call[Any]) -> dict[str, Any]:
        """What httpx is to send."""
        import httpx

        return {
            "method": call.method,
            "url": call.path,
            "params": call.query,
            "content": call.body,
            "headers": call.headers,
            "timeout": httpx.Timeout(self.seconds + call.seconds, connect=CONNECT_SECONDS),
        }


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:  # what stands for the port, or for an IPv6 address, is none
        is_address = False
    if not is_address:
        raise ValueError(f"{url!r} is no address of a relay: give http://HOST:PORT or unix:PATH")
    return url.rstrip("/").removesuffix(API)
