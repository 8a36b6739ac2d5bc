"""Who may call: Host, Origin and token, checked in front of everything.

Knows names, ports and the token. Knows no route: what is mounted beside the API is
guarded like it. A web page can make a browser call a loopback server; refusing foreign
Host names stops DNS rebinding, refusing foreign origins stops what may write, and what the
browser says of the page (Fetch Metadata) stops the requests that it sends without an origin.
Source: contract, section 7; W3C, Fetch Metadata Request Headers.
"""

from __future__ import annotations

import hmac
import ipaddress
from functools import lru_cache
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from relay.errors import Forbidden, Unauthorized
from relay.faces.common.asgi import Headers, Scope, header

ANY_HOST = "*"
"""In `allowed_hosts`: every name is accepted."""

CHALLENGE: Headers = [(b"www-authenticate", b'Bearer realm="debug relay"')]


class SecuritySettings(Protocol):
    """What the guard needs of the settings."""

    @property
    def host(self) -> str:
        """Address that is listened on; always an accepted name."""

    @property
    def uds(self) -> Path | None:
        """Path of the Unix socket that is listened on instead, or None."""

    @property
    def token(self) -> str | None:
        """Bearer token that every request needs, or None."""

    @property
    def same_user_only(self) -> bool:
        """Whether other users of this machine are refused, root excepted."""

    @property
    def requests_per_second(self) -> float | None:
        """What one client may send, or None."""

    @property
    def allowed_hosts(self) -> tuple[str, ...]:
        """Names accepted besides the loopback ones, with or without a port."""


class Guard:
    """The checks of one relay. `check` raises Forbidden or Unauthorized."""

    def __init__(self, settings: SecuritySettings) -> None:
        names = (host_name(name) for name in (settings.host, *settings.allowed_hosts))
        # No web page reaches a Unix socket, and its clients have no name to call it by. An
        # Origin is checked there, too: a proxy in front may pass one on.
        anyhow = () if settings.uds is None else (ANY_HOST,)
        self._names = frozenset(name for name in (*names, *anyhow) if name is not None)
        self._token = settings.token.encode() if settings.token is not None else None

    def check(self, scope: Scope, *, token: bool = True) -> None:
        """Raise unless the request may be served; `token`: whether it needs the relay's."""
        self._check_host(header(scope, b"host"))
        self._check_host(_authority(scope))
        self._check_page(scope)
        if token:
            self._check_token(header(scope, b"authorization"))

    def _check_host(self, host: bytes | None) -> None:
        # HTTP/1.0 has no Host; a browser never speaks it.
        if host is not None and not accepts_host(host, self._names):
            shown = host.decode("latin-1")[:200]
            raise Forbidden(f"the Host {shown!r} is no name of this relay", host=shown)

    def _check_page(self, scope: Scope) -> None:
        """The web page that sends it, if one does. An Origin says more than `Sec-Fetch-Site`."""
        if header(scope, b"origin") is not None:
            for origin in [value for name, value in scope["headers"] if name == b"origin"]:
                self._check_origin(origin, _server_port(scope))
            return
        site = header(scope, b"sec-fetch-site")
        if site not in _OWN_SITES and not _is_navigation(scope):
            shown = (site or b"").decode("latin-1")[:200]
            raise Forbidden(
                f"requests of other web pages are refused (Sec-Fetch-Site: {shown})",
                sec_fetch_site=shown,
            )

    def _check_origin(self, origin: bytes, port: int | None) -> None:
        if not accepts_origin(origin, port, self._names):
            shown = origin.decode("latin-1")[:200]
            raise Forbidden(f"requests from the origin {shown!r} are refused", origin=shown)

    def _check_token(self, authorization: bytes | None) -> None:
        if self._token is None:
            return
        scheme, _, offered = (authorization or b"").partition(b" ")
        if scheme.lower() != b"bearer" or not hmac.compare_digest(offered.strip(), self._token):
            raise Unauthorized("this relay asks for a bearer token")


_OWN_SITES = (None, b"same-origin", b"none")
"""`Sec-Fetch-Site` of what is no browser, of the relay's own pages, and of an address typed in.

`same-site` is a page of another port, and so of another program.
"""


def _is_navigation(scope: Scope) -> bool:
    """Whether somebody follows a link: the answer is shown to them, and no page can read it."""
    return (
        scope["method"] in ("GET", "HEAD")
        and header(scope, b"sec-fetch-mode") == b"navigate"
        and header(scope, b"sec-fetch-dest") == b"document"
    )


def _authority(scope: Scope) -> bytes | None:
    """Host and port in a request's target that is a whole URL; None in any other."""
    target: str = scope["path"]
    if target.startswith("/"):
        return None
    try:
        return urlsplit(target).netloc.encode() or None
    except ValueError:
        return None  # no path can be read from it either, so nothing is served


@lru_cache(maxsize=256)
def accepts_host(host: bytes, names: frozenset[str]) -> bool:
    """Whether a Host header, with any port, is a loopback name or one of `names`."""
    name = host_name(host.decode("latin-1"))
    return name is not None and (is_loopback(name) or name in names or ANY_HOST in names)


def accepts_origin(origin: bytes, port: int | None, names: frozenset[str]) -> bool:
    """Whether an Origin is loopback on the relay's own `port`, or one of `names` on any."""
    try:
        parts = urlsplit(origin.decode("latin-1"))
        name, origin_port = parts.hostname or "", parts.port
    except ValueError:
        return False
    if parts.scheme not in {"http", "https"} or parts.path or parts.query:
        return False
    if is_loopback(name):
        return (origin_port or _DEFAULT_PORTS[parts.scheme]) == port
    return name in names


_DEFAULT_PORTS = {"http": 80, "https": 443}


def host_name(host: str) -> str | None:
    """The lower-case name of `name[:port]`, without brackets; None if it is not of that form."""
    host = host.strip().lower()
    if host.startswith("["):
        name, bracket, port = host[1:].partition("]")
        well_formed = bool(bracket) and (not port or port.startswith(":"))
        return name if well_formed and _is_port(port[1:]) else None
    if host.count(":") > 1:
        return host if is_address(host) else None
    name, _, port = host.partition(":")
    return name.removesuffix(".") if name and _is_port(port) else None


def _is_port(text: str) -> bool:
    return text == "" or (text.isascii() and text.isdigit())


def is_address(name: str) -> bool:
    """Whether the name is an IP address."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def is_loopback(name: str) -> bool:
    """Whether the name is `localhost`, in 127.0.0.0/8, or ::1."""
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _server_port(scope: Scope) -> int | None:
    server = scope.get("server")
    return server[1] if server else None
