"""The envelope by itself."""

from __future__ import annotations

import json
import re
import uuid
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from relay.errors import InvalidRequest, SessionNotFound
from relay.models import envelope
from relay.models.resource import Timestamp


class Data(BaseModel):
    text: str
    value: Any = None
    moment: Timestamp = datetime(2026, 1, 13, 10, 30, 0, 123_456)


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), min_size=1, max_size=128))
def test_printable_ids_are_kept(offered: str) -> None:
    assert envelope.choose_request_id(offered) == offered


@given(st.one_of(st.none(), st.text(max_size=300)))
def test_ids_are_printable(offered: str | None) -> None:
    chosen = envelope.choose_request_id(offered)
    assert re.fullmatch(r"[\x20-\x7e]{1,128}", chosen)
    assert chosen == offered or uuid.UUID(chosen).version == 4


@pytest.mark.parametrize("offered", [None, "", "x" * 129, "tab\there", "é", "line\n", "\x7f"])
def test_other_ids_are_replaced(offered: str | None) -> None:
    assert uuid.UUID(envelope.choose_request_id(offered)).version == 4


def test_success() -> None:
    parsed = json.loads(envelope.success(Data(text="é"), 'a"b'))
    assert parsed["success"] is True
    assert parsed["data"] == {"text": "é", "value": None, "moment": "2026-01-13T10:30:00.123Z"}
    assert parsed["error"] is None
    assert parsed["meta"]["request_id"] == 'a"b'
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", parsed["meta"]["timestamp"])


def test_failure() -> None:
    error = SessionNotFound("none", session_id="s", odd=object, nan=float("nan"), raw=b"\xff")
    parsed = json.loads(envelope.failure(error, "id"))
    assert parsed["success"] is False
    assert parsed["data"] is None
    assert parsed["error"]["code"] == "SESSION_NOT_FOUND"
    assert parsed["error"]["details"]["session_id"] == "s"
    assert parsed["error"]["details"]["nan"] is None
    assert parsed["error"]["details"]["suggestion"] == error.details["suggestion"]


@given(st.recursive(st.text() | st.floats() | st.integers() | st.binary(), st.lists, max_leaves=5))
def test_every_detail_becomes_json(value: Any) -> None:
    parsed = json.loads(envelope.failure(InvalidRequest("x\ud800", given=[value]), "id"))
    assert "given" in parsed["error"]["details"]


def test_lone_surrogates_do_not_spoil_the_rest() -> None:
    parsed = json.loads(envelope.success(Data(text="a\udc80", value=[{"k": 1.5}]), "id"))
    assert parsed["data"] == {
        "text": "a?",
        "value": [{"k": 1.5}],
        "moment": "2026-01-13T10:30:00.123Z",
    }


def test_lone_surrogates_in_names() -> None:
    parsed = json.loads(envelope.success(Data(text="a", value={"k\ud800": [None, True]}), "id"))
    assert parsed["data"]["value"] == {"k?": [None, True]}
