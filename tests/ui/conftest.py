"""A relay that is a process of its own, a headless browser, and pages that may not complain."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.leftovers import Leftovers
from tests.relays import environment

BROWSER = shutil.which("chromium")
PATIENCE = 10_000
"""Milliseconds that a page is waited for: whoever needs them has failed."""

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"

OTHER = {"Relay-Client": "other"}
"""Headers of a client that is not the page."""


class Relay:
    """`relay serve`, and a client of its API that is not the page."""

    def __init__(self, url: str, token: str | None = None, pid: int = 0) -> None:
        self.url = url
        self.pid = pid
        self.page = f"{url}/ui/"
        headers = OTHER | ({"Authorization": f"Bearer {token}"} if token else {})
        self.client = httpx.Client(
            base_url=f"{url}/api/v1", timeout=60, trust_env=False, headers=headers
        )

    def call(self, method: str, path: str, **body: Any) -> httpx.Response:
        return self.client.request(method, path, json=body or None)

    def post(self, path: str, **body: Any) -> Any:
        answer = self.call("POST", path, **body).json()
        assert answer["success"], answer
        return answer["data"]

    def get(self, path: str) -> Any:
        return self.client.get(path).json()["data"]


@contextmanager
def serving(folder: Path, *options: str, token: str | None = None) -> Iterator[Relay]:
    """A relay below `folder`, until the end of the block."""
    folder.mkdir(exist_ok=True)
    env = environment(folder / "state") | {"RELAY_MAX_SESSIONS": "250", "RELAY_STANDBY": "0"}
    command = [sys.executable, "-m", "relay", "serve", "--log-level", "error"]
    command += options or ["--port", "0"]
    if token is not None:
        env["RELAY_TOKEN"] = token
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=env, cwd=folder
    ) as process:
        assert process.stdout is not None
        try:
            url = process.stdout.readline().split()[-1].removesuffix("/api/v1")
            relay = Relay(url, token, process.pid)
            with relay.client:
                yield relay
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


@pytest.fixture(scope="module", autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """As elsewhere, but after the last test: a browser's own processes come and go."""
    watch = Leftovers()
    yield
    assert watch.find() == []


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Relay]:
    with serving(tmp_path_factory.mktemp("relay")) as relay:
        yield relay


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's Chromium; playwright's own browsers need not be there."""
    api = pytest.importorskip("playwright.sync_api")
    if BROWSER is None:
        pytest.skip("needs the command chromium")
    options = ["--no-sandbox", "--disable-dev-shm-usage"]
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=options)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page in a fresh profile. It may throw nothing, and break no rule of its policy."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if "Policy" in said.text else None)
    yield page
    context.close()
    assert complaints == []


def keep_picture(page: Any, name: str) -> None:
    """For the documentation, where RELAY_TEST_PICTURES is set; else each run would change them."""
    if os.environ.get("RELAY_TEST_PICTURES"):
        page.screenshot(path=PICTURES / f"{name}.png")
