"""What a report of a fault needs, in one JSON file: `relay doctor --report`.

Knows what belongs into it, and its bounds. Asks a server for what only that knows, by the routes
that everybody has; without one the rest is there. Secrets are masked, by the settings' own rules.
"""

from __future__ import annotations

import json
import os
import platform
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from relay.client import Client
from relay.config import Settings, variable_of
from relay.errors import RelayError
from relay.faces.common.background import Background
from relay.models.doctor import Diagnosis
from relay.operations.server.about import configuration_of
from relay.redaction.redaction import Redaction
from relay.redaction.rules import MASK

ABOUT = (
    "What a report of a fault of the relay needs. Values of secret names and credentials are masked "
    "by name and by shape. Paths, names and what programs compute are as they were, mostly in the "
    "messages of the debugger (dap_log): look it over before you send it."
)

SERVER_SECONDS = 10.0
SESSIONS = 100
"""Of a server's sessions at most so many are listed, oldest first."""
MESSAGES = 200
"""Between a session and its debugger, the newest."""

DAP_LOG_BYTES = 2 * 1024 * 1024
"""Of all sessions together, in equal shares."""
LOG_BYTES = 1024 * 1024
METRICS_BYTES = 256 * 1024
LAST_LINES_BYTES = 64 * 1024
"""Of the file to which a server in the background logs."""

ANSWER_BYTES = 128 * 1024
"""Of any other answer; a longer one is left out, and the report says so."""


def fault_report(settings: Settings, diagnosis: Diagnosis) -> dict[str, Any]:
    """All of it, as JSON has it; at most some four megabytes."""
    redaction = Redaction(settings.redact_patterns, settings.redact_credentials)
    background = Background(settings)
    made = {
        "about": ABOUT,
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": _versions(),
        "platform": _platform(),
        "checks": redaction.data(diagnosis.model_dump(mode="json")["checks"]),
        "settings": _settings(configuration_of(settings).model_dump(mode="json"), redaction),
        "variables": _variables(),
        "server": _server(settings, background, redaction),
        "background_log": _last_lines(background.log, redaction),
    }
    return {name: _without(part, settings.token) for name, part in made.items()}


def as_json(report: dict[str, Any]) -> bytes:
    """The report as indented JSON, in UTF-8; what that cannot say is escaped."""
    return json.dumps(report, indent=1, ensure_ascii=False).encode("utf-8", "backslashreplace")


# This machine ---------------------------------------------------------------------------------


def _versions() -> dict[str, Any]:
    names = {match[0] for line in requires("debug-relay") or () if (match := _NAME.match(line))}
    packages = {}
    for name in sorted(names):
        with suppress(PackageNotFoundError):
            packages[name] = version(name)
    python = f"{platform.python_implementation()} {sys.version}"
    return {"relay": version("debug-relay"), "python": python, "packages": packages}


_NAME = re.compile(r"[\w.-]+")


def _platform() -> dict[str, Any]:
    return {
        "system": platform.platform(),
        "libc": " ".join(platform.libc_ver()).strip(),
        "machine": platform.machine(),
        "processors": os.cpu_count(),
        "executable": sys.executable,
    }


def _variables() -> list[str]:
    """Names of what the environment says to the relay, and to Python; no value."""
    ours = {*map(variable_of, Settings.model_fields), "RELAY_URL", "RELAY_SESSION"}
    return sorted(name for name in os.environ if name in ours or name.startswith("PYTHON"))


def _settings(configuration: dict[str, Any], redaction: Redaction) -> dict[str, Any]:
    """The commands of adapters are the only ones of others."""
    commands = configuration["adapters"].items()
    masked = {name: redaction.words(command) for name, command in commands}
    return {**configuration, "adapters": masked}


def _last_lines(path: Path, redaction: Redaction) -> list[str]:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - LAST_LINES_BYTES))
            text = file.read(LAST_LINES_BYTES).decode(errors="replace")
    except OSError:
        return []
    return [redaction.text(line) for line in text.splitlines()]


# A server -------------------------------------------------------------------------------------


def _server(
    settings: Settings, background: Background, redaction: Redaction
) -> dict[str, Any] | None:
    """What the server says of itself that the settings lead to; None if there is none."""
    url = os.environ.get("RELAY_URL") or background.find()
    if url is None:
        return None
    with Client(url, token=settings.token, timeout=SERVER_SECONDS) as client:
        asked = _Asked(client)
        found = {
            "url": redaction.text(url),
            "health": asked("/health"),
            "info": asked("/info"),
            "config": asked("/config", lambda answer: _settings(answer, redaction)),
            "sessions": _sessions(asked),
            "log": asked("/log", _newest("entries", LOG_BYTES), limit=1000),
            "metrics": asked("/metrics", lambda text: text[:METRICS_BYTES]),
        }
    return {**found, "left_out": asked.left_out}


def _sessions(asked: _Asked) -> list[dict[str, Any]]:
    page = asked("/sessions", _newest("items", 4 * ANSWER_BYTES), limit=SESSIONS)
    found = page["items"] if page is not None else []
    share = _newest("messages", DAP_LOG_BYTES // max(1, len(found)))
    for session in found:
        path = f"/sessions/{session['session_id']}/dap-log"
        session["dap_log"] = asked(path, share, limit=MESSAGES)
    return list(found)


class _Asked:
    """Answers of a server. What it does not answer is noted, and no reason to stop."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.left_out: dict[str, str] = {}

    def __call__(self, path: str, shorten: Callable[[Any], Any] | None = None, **query: Any) -> Any:
        """The answer, shortened; None for one that there is not, or that is too long."""
        try:
            answer = self._client.request("GET", path, query=query)
        except RelayError as error:
            self.left_out[path] = f"{error.code}: {error.message}"
            return None
        if shorten is not None:
            return shorten(answer)
        if _size(answer) > ANSWER_BYTES:
            self.left_out[path] = f"it is longer than {ANSWER_BYTES} bytes"
            return None
        return answer


def _newest(field: str, most: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Shortens a page to the newest of its items, which are last, that take `most` bytes."""

    def shorten(page: dict[str, Any]) -> dict[str, Any]:
        kept = _ending(page[field], most)
        left_out = len(page[field]) - len(kept)
        return {**page, field: kept, **({"left_out": left_out} if left_out else {})}

    return shorten


def _ending(items: list[Any], most: int) -> list[Any]:
    kept = []
    for item in reversed(items):
        most -= _size(item)
        if most < 0:
            break
        kept.append(item)
    return kept[::-1]


def _size(answer: Any) -> int:
    return len(as_json(answer))


def _without(value: Any, secret: str | None) -> Any:
    """The token is in no answer; should it stand in a line of a log, it is masked there."""
    if not secret:
        return value
    if isinstance(value, str):
        return value.replace(secret, MASK)
    if isinstance(value, dict):
        return {key: _without(item, secret) for key, item in value.items()}
    if isinstance(value, list):
        return [_without(item, secret) for item in value]
    return value


def contents(report: dict[str, Any]) -> Iterable[str]:
    """What is in it, a phrase for each part."""
    yield "versions, platform, the checks above, settings"
    server = report["server"]
    if server is None:
        yield "nothing of a server: none answers"
    else:
        yield f"the server at {server['url']}: its log, metrics, and {len(server['sessions'])} sessions"
        yield "with what each said to its debugger last"
        for path, why in server["left_out"].items():
            yield f"left out: {path}: {why}"
    if lines := report["background_log"]:
        yield f"the last {len(lines)} lines of the log of the server in the background"
