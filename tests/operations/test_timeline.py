"""The timeline's pages: all that both logs hold, once, with every loss told."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from relay.asker import Asker
from relay.operations.output.timeline import TimelinePlace, read
from relay.redaction.redaction import REVEALING, Redaction
from relay.session.event_log import EventLog
from relay.session.request_log import RequestLog


def seqs(log: EventLog) -> set[int]:
    kinds: list[set[str] | None] = [{"output"}, {"stopped"}, {"request"}]
    return {event.seq for types in kinds for event in log.read(0, 1000, types).events}


@given(
    st.lists(st.sampled_from(["output", "output", "stopped", "request"]), max_size=40),
    st.integers(1, 9),
    st.integers(1, 5),
)
@example(["request", "stopped", *["output"] * 7], 3, 2)
def test_pages_have_all_that_is_kept_and_say_what_is_not(
    happened: list[str], held: int, limit: int
) -> None:
    events, requests = EventLog(limit_events=held), RequestLog(limit_events=held)
    for number, what in enumerate(happened):
        if what == "request":
            requests.note(Asker("http", "", f"verb{number}"))
        else:
            events.append(what, {})
    redaction = REVEALING
    session: Any = SimpleNamespace(
        events=events, requests=requests, redaction=redaction, log_mark=""
    )
    found: list[str] = []
    place, has_more, dropped = TimelinePlace(0, 0), True, 0
    while has_more:
        page = read(session, place, limit)
        assert page.entries or not page.has_more
        found += [entry.id for _, entry in page.entries]
        dropped += page.dropped
        place, has_more = page.next_place, page.has_more
    kept = {f"e{seq}" for seq in seqs(events)} | {f"r{seq}" for seq in seqs(requests)}
    assert len(found) == len(set(found)) == len(events) + len(requests)
    assert set(found) == kept
    assert dropped == events.dropped + requests.dropped == len(happened) - len(found)


SECRET = "open-sesame"


@pytest.mark.parametrize(
    "given",
    [
        {"script": "a.py", "args": ["--password", SECRET, f"--api-key={SECRET}"]},
        {"launch": {"args": ["--verbose", "--password", SECRET], "env": {"DB_PASSWORD": SECRET}}},
        {"name": "password", "value": repr(SECRET)},
        {"expression": "self.password", "value": repr(SECRET)},
        {"expression": f'connect(password="{SECRET}")'},
        {"input": f"password={SECRET}\n"},
    ],
)
def test_no_argument_shows_a_secret_also_where_it_was_cut(given: dict[str, Any]) -> None:
    whole = json.dumps(given)
    for kept in range(1, len(whole) + 1):
        assert "sesame" not in shown(whole[:kept]), whole[:kept]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("", ""),
        ("no JSON, ", "no JSON, "),
        ('{"a": "\\ud800"}', '{"a": "\\ud800"}'),
        ('{"a": ' + "[" * 1900, '{"a": ' + "[" * 494),
        ('{"a": "' + '\\"' * 900, '{"a": "' + '\\"' * 246 + "\\"),
    ],
)
def test_any_argument_can_be_shown(given: str, expected: str) -> None:
    assert shown(given) == expected


def shown(arguments: str) -> str:
    requests = RequestLog()
    requests.note(Asker("http", "", "verb", arguments))
    redaction = Redaction(("*password", "api_key"), credentials=True)
    session: Any = SimpleNamespace(
        events=EventLog(), requests=requests, redaction=redaction, log_mark=""
    )
    [(_, entry)] = read(session, TimelinePlace(0, 0), 1).entries
    text: str = entry.body["arguments"]
    assert text.encode().decode() == text
    return text
