"""A record is one line, in which nothing from outside is a secret or looks like a line of its own."""

from __future__ import annotations

import json
import logging
import re
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.config import Settings
from relay.logs.formats import LONGEST_TEXT, LONGEST_TRACEBACK, Format, JsonFormat, TextFormat
from relay.logs.records import extra, fields_of, note
from relay.redaction.redaction import Redaction

MASK = Redaction(Settings.model_fields["redact_patterns"].default, credentials=True).text
TEXT, JSON = TextFormat(MASK), JsonFormat(MASK)
KEY = "sk-ant-api03-" + "a1B2" * 20


def record(message: str, *, error: BaseException | None = None, **fields: Any) -> logging.LogRecord:
    made = logging.LogRecord("relay.test", logging.INFO, "x.py", 1, message, None, None)
    if error is not None:
        try:
            raise error
        except type(error):
            made.exc_info = sys.exc_info()
    vars(made).update(extra(**fields))
    return made


def test_text_for_people() -> None:
    line = TEXT.format(record("answered", status=200, client="a b", left=None, dash="-", empty=""))
    head, _, said = line.partition(" INFO relay.test: ")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}", head)
    assert said == 'answered status=200 client="a b" left=- dash="-" empty=""'


def test_json_for_programs() -> None:
    entry = json.loads(JSON.format(record("answered", status=200, client="a b", left=None)))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", entry.pop("timestamp"))
    assert entry == {
        "level": "info",
        "logger": "relay.test",
        "message": "answered",
        "status": 200,
        "client": "a b",
        "left": None,
    }


@given(st.text(), st.text())
def test_one_record_is_one_line_whatever_is_in_it(message: str, value: str) -> None:
    made = record(message, client=value)
    line = TEXT.format(made)
    assert line.isprintable()
    assert len(line.splitlines()) == 1
    line = JSON.format(made)
    assert line.isascii()
    assert len(line.splitlines()) == 1
    assert set(json.loads(line)) == {"timestamp", "level", "logger", "message", "client"}


@pytest.mark.parametrize(
    "odd", ["\n", "\r", "\x1b[2J", "\x85", "\u2028", "\u202e", "\x00", "\ud800"]
)
def test_no_line_can_be_made_up(odd: str) -> None:
    forged = f"x{odd}2026-01-01 00:00:00,000 ERROR relay: forged"
    for made in (record(forged), record("answered", client=forged)):
        line = TEXT.format(made)
        assert odd not in line
        assert line.isprintable()
    lines = TEXT.format(record("failed", error=ValueError(forged))).splitlines()
    assert len(lines) > 3
    assert all(line.startswith("    ") for line in lines[1:])
    assert odd not in "".join(lines)


@pytest.mark.parametrize("kind", [TEXT, JSON])
def test_secrets_are_masked_wherever_they_stand(kind: Format) -> None:
    for made in (
        record(f"cannot use {KEY}"),
        record("answered", client=KEY),
        record("answered", client="password=hunter2hunter2"),
        record("failed", error=ValueError(f"no {KEY}, password=hunter2hunter2")),
    ):
        line = kind.format(made)
        assert "***" in line or "credential" in line
        assert KEY not in line
        assert "hunter2" not in line


@pytest.mark.parametrize("kind", [TEXT, JSON])
def test_lines_are_bounded(kind: Format) -> None:
    long = record("m" * 100_000, error=ValueError("e" * 100_000), client="c" * 100_000)
    assert len(kind.format(long)) < 2 * LONGEST_TEXT + LONGEST_TRACEBACK + 1000


def test_an_event_is_a_record_of_its_caller(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("relay.test")
    with caplog.at_level(logging.INFO, "relay.test"):
        note(log, "answered", status=200)
        note(log, "too quiet", logging.DEBUG)
    (made,) = caplog.records
    assert (made.getMessage(), made.levelname, made.name) == ("answered", "INFO", "relay.test")
    assert fields_of(made) == {"status": 200}
    assert fields_of(logging.makeLogRecord({})) == {}


@pytest.mark.parametrize("form", [TEXT, JSON])
def test_a_long_text_is_not_kept(form: Format) -> None:
    """What it looks like is remembered for the next line, of a thousand texts."""
    message, name = "a" * LONGEST_TEXT * 2, "b" * LONGEST_TEXT * 2
    before = [sys.getrefcount(message), sys.getrefcount(name)]
    form.format(record(message, client=name))
    assert [sys.getrefcount(message), sys.getrefcount(name)] == before
