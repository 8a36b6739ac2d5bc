"""What makes a site of the pages: links out of docs/, and nothing that is fetched from elsewhere."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from tests.sources import ROOT
from tools.site_links import TREE, fetched_from_elsewhere, on_page_markdown


@pytest.mark.parametrize(
    ("page", "text", "made"),
    [
        ("index.md", "[r](../README.md)", f"[r]({TREE}README.md)"),
        ("security.md", "[c](../CONTRIBUTING.md#test)", f"[c]({TREE}CONTRIBUTING.md#test)"),
        ("how-to/fleet.md", "[h](../../deploy/haproxy.cfg)", f"[h]({TREE}deploy/haproxy.cfg)"),
        ("how-to/tests.md", "[r](../reference/routes.md#a)", "[r](../reference/routes.md#a)"),
        ("index.md", "[n](../no-such-file.md)", "[n](../no-such-file.md)"),
        ("index.md", "[o](../../outside.md)", "[o](../../outside.md)"),
    ],
)
def test_what_lies_outside_is_linked_to_in_the_repository(page: str, text: str, made: str) -> None:
    place = SimpleNamespace(file=SimpleNamespace(src_uri=page))
    assert on_page_markdown(text, page=place) == made


def test_what_a_page_would_fetch_is_found(tmp_path: Path) -> None:
    (tmp_path / "own.html").write_text('<a href="https://x.org"></a><script src="a.js"></script>')
    assert fetched_from_elsewhere(tmp_path) == []
    (tmp_path / "b.html").write_text('<link rel="stylesheet" href="//fonts.example/css">')
    (found,) = fetched_from_elsewhere(tmp_path)
    assert found.startswith("b.html: <link")


def test_the_theme_asks_no_other_server() -> None:
    settings = yaml.safe_load((ROOT.parent / "mkdocs.yml").read_text())
    assert settings["theme"]["font"] is False
    assert "repo_url" not in settings, "the theme asks that server for stars"
    assert settings["strict"] is True
