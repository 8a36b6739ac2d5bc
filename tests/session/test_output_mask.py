"""Output loses its credentials, in however many pieces it comes."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from relay.redaction.output_mask import OutputMask

TOKEN = "ghp_" + "a1B2" * 9
KEY_LINES = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7" + "abcd"] * 12
KEY = "\n".join(["-----BEGIN PRIVATE KEY-----", *KEY_LINES, "-----END PRIVATE KEY-----"])
TEXT = f"one\nkey={TOKEN} two\n{KEY}\nat postgres://ann:hunter2-hunter2@host/x three\n"
SHOWN = (
    "one\nkey=*** two\n-----BEGIN PRIVATE KEY-----\n***\n-----END PRIVATE KEY-----\n"
    "at postgres://ann:***@host/x three\n"
)


def masked(*pieces: str) -> str:
    mask = OutputMask()
    return "".join(map(mask, pieces))


def test_whole_texts_and_lines() -> None:
    assert masked(TEXT) == SHOWN
    assert masked(*TEXT.splitlines(keepends=True)) == SHOWN


@given(st.lists(st.integers(0, len(TEXT)), max_size=8))
@example(cuts=[TEXT.index("@host")])
@example(cuts=[TEXT.index("host/x")])
def test_no_piece_shows_a_whole_credential(cuts: list[int]) -> None:
    ends = sorted({0, len(TEXT), *cuts})
    shown = masked(*(TEXT[start:end] for start, end in pairwise(ends)))
    assert TOKEN not in shown
    assert "hunter2-hunter2" not in shown
    assert KEY not in shown
    assert shown.startswith("one\n")
    assert shown.endswith("host/x three\n")


@pytest.mark.parametrize("size", range(1, len(TOKEN)))
def test_what_has_been_shown_of_one_is_all_that_is_shown(size: int) -> None:
    assert masked(TOKEN[:size], TOKEN[size:] + " end\n") == TOKEN[:size] + "*** end\n"


def test_a_port_is_no_password() -> None:
    assert masked("at http://shop:80", "80/x\n") == "at http://shop:8080/x\n"
    assert masked("at http://ann:pass", "word@shop/x\n") == "at http://ann:***@shop/x\n"


def test_one_that_goes_on_after_its_mask_is_not_shown_on() -> None:
    assert masked(TOKEN, "cafe", "babe\n", "next\n") == "***\nnext\n"


@given(st.lists(st.text(max_size=30), max_size=20))
def test_ordinary_output_stays(pieces: list[str]) -> None:
    assert masked(*pieces) == "".join(pieces)
