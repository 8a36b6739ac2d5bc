"""The timeline's pages: all that both logs hold, once, with every loss told."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from relay.asker import Asker
from relay.operations.output.timeline import TimelinePlace, read
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
    redaction = SimpleNamespace(text=lambda text: text)
    session: Any = SimpleNamespace(events=events, requests=requests, redaction=redaction)
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
