"""The files of the page as they are served, without a browser."""

from __future__ import annotations

import re

import httpx

from relay.faces.ui.http import STATIC, UiApp, static_files
from tests.cli.conftest import Shell, shell
from tests.http.conftest import serving

__all__ = ["shell"]


async def test_the_page_needs_no_token_and_the_api_beside_it_does() -> None:
    async with (
        serving(token="secret", mounts={"/ui": UiApp}) as served,
        httpx.AsyncClient(base_url=served.url) as client,
    ):
        page = await client.get("/ui/")
        assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert (await client.get("/ui/app.js")).status_code == 200
        assert (await client.get("/ui")).status_code == 308
        for path in ("/api/v1/health", "/uix", "/%2fui/"):
            assert (await client.get(path)).status_code in {401, 404}, path
        evil = await client.get("/ui/", headers={"Host": "evil.example"})
        assert evil.status_code == 403
        evil = await client.get("/ui/", headers={"Origin": "null"})
        assert evil.status_code == 403


async def test_files_are_served_with_a_strict_policy() -> None:
    async with (
        serving(mounts={"/ui": UiApp}) as served,
        httpx.AsyncClient(base_url=served.url) as client,
    ):
        page = await client.get("/ui/")
        policy = dict(
            part.strip().partition(" ")[::2]
            for part in page.headers["content-security-policy"].split(";")
        )
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert policy["base-uri"] == policy["frame-ancestors"] == policy["form-action"] == "'none'"
        assert page.headers["x-content-type-options"] == "nosniff"
        again = await client.get("/ui/", headers={"If-None-Match": page.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert (await client.head("/ui/")).content == b""
        moved = await client.get("/ui")
        assert (moved.status_code, moved.headers["location"]) == (308, "ui/")
        for path in (
            "/ui/none.js",
            "/ui/../http.py",
            "/ui/%2e%2e/http.py",
            "/ui/vendor",
            "/ui/vendor/README.md",
        ):
            missing = await client.get(path)
            assert missing.status_code == 404, path
        assert (await client.post("/ui/")).status_code == 405


def test_nothing_is_fetched_from_elsewhere_and_no_module_is_missing() -> None:
    texts = {name: file.content.decode() for name, file in static_files().items()}
    own = {name: text for name, text in texts.items() if not name.startswith("vendor/")}
    assert {"index.html", "page.css", "app.js"} <= set(own)
    for name, text in own.items():
        addresses = re.findall(r"\bhttps?://[\w.]+", text)
        assert set(addresses) <= {"http://www.w3.org"}, name
        for module in re.findall(r'from "\./([^"]+)"', text):
            assert module in texts, (name, module)
        assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|\beval\(", text), name
    assert not re.search(r"<script(?! type=\"module\" src=)|\bon\w+=|<style", texts["index.html"])


def test_what_is_vendored_is_named_with_its_licence() -> None:
    folder = STATIC / "vendor"
    said = (folder / "README.md").read_text()
    for path in folder.iterdir():
        assert path.name in said or path.name == "README.md"


def test_the_command_prints_the_address_and_starts_a_server(shell: Shell) -> None:
    address = shell.run("ui", "--no-open").stdout.strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/ui/", address)
    assert shell.run("ui", "--no-open", "--url", "http://box:1/").stdout == "http://box:1/ui/\n"
    shell.run("stop")
