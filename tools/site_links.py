"""A hook of MkDocs: what the pages link to outside of `docs/` is in the repository, and is linked to there.

A target that is not there is left as it is, and so refused by the strict build.

    python tools/site_links.py SITE    # exit 1 if a page of a built site fetches from elsewhere
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TREE = "https://github.com/debug-relay/debug-relay/blob/main/"
FETCHED = re.compile(
    r"<(?:link|script|img|iframe)\b[^>]*?\b(?:href|src)=[\"']?(?:https?:)?//[^\"' >]+"
)
OUTSIDE = re.compile(r"\]\(((?:\.\./)+[^)#\s]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown: str, /, *, page: Any, **_: Any) -> str:
    """The page, its links out of `docs/` made whole."""
    folder = posixpath.dirname(page.file.src_uri)
    return OUTSIDE.sub(lambda link: _whole(link, folder), markdown)


def _whole(link: re.Match[str], folder: str) -> str:
    place = posixpath.normpath(posixpath.join("docs", folder, link[1]))
    if place.startswith(("docs/", "../")) or not (ROOT / place).exists():
        return link[0]
    return f"]({TREE}{place}{link[2] or ''})"


def fetched_from_elsewhere(site: Path) -> list[str]:
    """What the pages of a built site would load from other servers, each with its page."""
    return [
        f"{page.relative_to(site)}: {found[0]}"
        for page in sorted(site.rglob("*.html"))
        for found in FETCHED.finditer(page.read_text(encoding="utf-8"))
    ]


if __name__ == "__main__":
    sys.exit("\n".join(fetched_from_elsewhere(Path(sys.argv[1]))) or None)
