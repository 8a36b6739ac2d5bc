"""Texts that keep to their bound."""

from __future__ import annotations

import pytest

from relay.faces.mcp.texts import listed


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("width", [1, 7, 30, 120])
@pytest.mark.parametrize("count", [1, 9, 12, 99, 101, 200])
def test_a_list_keeps_to_its_bound(count: int, width: int, complete: bool) -> None:
    total = count if complete else 1000

    def more(shown: int) -> str:
        left = total - shown
        return f"… {left} more of {total} processes: start={shown}" if left else ""

    for max_chars in range(200, 1200, 7):
        text = listed(["x" * width] * count, max_chars, more, complete=complete)
        assert len(text) <= max_chars
        shown = text.count("x" * width)
        assert shown == total or text.endswith(more(shown)) or width == 120
