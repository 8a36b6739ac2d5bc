"""Events are numbered, bounded, found again, and waited for by many."""

from __future__ import annotations

import base64
import sys
import time
from datetime import UTC, datetime, timedelta, timezone
from functools import partial

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from relay.session.clock import format_timestamp, utc_now
from relay.session.event_log import FAR, EventLog, decode_cursor, encode_cursor


def filled(*types: str, **limits: int) -> EventLog:
    log = EventLog(**limits)
    for kind in types:
        log.append(kind, {})
    return log


def seqs(log: EventLog, after: int = 0, limit: int = 100, *types: str) -> list[int]:
    return [event.seq for event in log.read(after, limit, set(types) or None).events]


def test_numbers_start_at_one_and_have_no_gaps() -> None:
    log = EventLog()
    event = log.append("stopped", {"reason": "step"})
    assert (event.seq, event.type, event.body) == (1, "stopped", {"reason": "step"})
    assert abs(event.timestamp - utc_now()) < timedelta(minutes=1)
    assert log.append("continued", {}).seq == log.last_seq == 2
    assert log.read(0).events[0] is event


def test_pages() -> None:
    log = filled(*"abcab")
    assert log.read(0, 2)[1:] == (2, True, 0)
    assert log.read(2, 3)[1:] == (5, False, 0)
    assert log.read(5) == log.read(99) == ([], 5, False, 0)
    assert seqs(log, -3) == [1, 2, 3, 4, 5]


def test_pages_of_some_types() -> None:
    log = filled(*"abcab")
    page = log.read(0, 1, {"b"})
    assert ([event.seq for event in page.events], page.next_seq, page.has_more) == ([2], 2, True)
    page = log.read(2, 1, {"b"})
    assert ([event.seq for event in page.events], page.next_seq, page.has_more) == ([5], 5, False)
    assert seqs(log, 0, 9, "a", "c") == [1, 3, 4]
    assert log.read(0, 9, {"z"}) == ([], 5, False, 0)


def test_no_limit_is_too_large() -> None:
    log = filled("output", "stopped", "output")
    assert seqs(log, 0, sys.maxsize) == [1, 2, 3]
    assert seqs(log, 0, sys.maxsize, "output") == [1, 3]


def test_an_empty_log() -> None:
    assert EventLog().read(0) == ([], 0, False, 0)


def test_the_count_is_bounded_and_readers_are_told() -> None:
    log = filled(*"abcdefgh", limit_events=3)
    page = log.read(2)
    assert ([event.seq for event in page.events], page.dropped) == ([6, 7, 8], 3)
    assert log.read(6).dropped == 0


def test_the_bytes_are_bounded_and_the_newest_is_kept() -> None:
    log = EventLog(limit_bytes=10_000)
    for _ in range(10):
        log.append("output", {"output": "x" * 3000, "nested": [{"n": None}]})
    assert seqs(log) == [8, 9, 10]
    log.append("output", {"output": "x" * 50_000})
    assert seqs(log) == [11]


def test_output_takes_no_place_from_what_else_happened() -> None:
    log = EventLog(limit_events=10)
    for _ in range(3):
        log.append("stopped", {})
        for _ in range(100):
            log.append("output", {})
    assert seqs(log, 0, 9, "stopped") == [1, 102, 203]
    assert seqs(log, 0, 9, "output") == list(range(297, 304))
    assert log.read(0, 9, {"stopped"}).dropped == 0
    assert log.read(0, 9, {"output"}).dropped == 300 - 7
    assert log.read(0).dropped == 300 - 7


def test_output_takes_no_bytes_from_what_else_happened() -> None:
    log = EventLog(limit_bytes=10_000)
    for _ in range(3):
        log.append("stopped", {})
        for _ in range(20):
            log.append("output", {"output": "x" * 2000})
    assert seqs(log, 0, 9, "stopped") == [1, 22, 43]
    log.append("output", {"output": "x" * 50_000})
    assert seqs(log, 0, 9, "output") == [64]


def test_a_reader_is_told_what_is_lost_of_what_it_reads() -> None:
    log = EventLog(limit_events=4)
    log.append("stopped", {})
    for _ in range(5):
        log.append("output", {})
    log.append("stopped", {})
    assert seqs(log) == [1, 5, 6, 7]
    assert log.read(0)[1:] == (7, False, 3)
    assert log.read(0, 1)[1:] == (1, True, 0)
    assert log.read(1, 1)[1:] == (5, True, 3)
    assert log.read(5, 1)[1:] == (6, True, 0)
    assert log.read(0, 9, {"stopped"})[1:] == (7, False, 0)


@given(
    st.lists(st.sampled_from(["output", "output", "output", "stopped", "continued"]), max_size=60),
    st.integers(1, 12),
    st.integers(1, 7),
    st.sampled_from([None, {"output"}, {"stopped"}, {"output", "stopped"}]),
)
def test_pages_have_all_that_is_kept_and_say_all_that_is_not(
    types: list[str], held: int, limit: int, wanted: set[str] | None
) -> None:
    log = filled(*types, limit_events=held)
    every = dict(enumerate(types, 1))
    kept = {*seqs(log, 0, 99, "output"), *seqs(log, 0, 99, "stopped", "continued")}
    assert len(kept) == len(log) == min(held, len(types))
    assert not types or len(types) in kept
    found: list[int] = []
    dropped, after, has_more = 0, 0, True
    while has_more:
        page = log.read(after, limit, wanted)
        found += [event.seq for event in page.events]
        dropped += page.dropped
        after, has_more = page.next_seq, page.has_more
    assert found == sorted(seq for seq in kept if wanted is None or every[seq] in wanted)
    lost_others = [seq for seq, kind in every.items() if kind != "output" and seq not in kept]
    if wanted != {"stopped"}:
        assert dropped == log.dropped == len(types) - len(kept)
    else:
        assert bool(dropped) == bool(lost_others)


def test_appending_is_quick() -> None:
    log = EventLog()
    started = time.process_time()  # others may be busy here
    for _ in range(100_000):
        log.append("output", {"category": "stdout", "output": "a line\n"})
    assert time.process_time() - started < 5  # about 0.3


async def test_what_is_there_is_found_at_once() -> None:
    log = filled("output", "stopped")
    event = await log.wait(0, types={"stopped"}, timeout=0)
    assert event is not None
    assert event.seq == 2
    with trio.testing.assert_checkpoints():
        assert await log.wait(1) is event


async def test_waiters_wake_for_their_types_only() -> None:
    log = EventLog()
    woken: dict[str, int] = {}

    async def wait(name: str, types: set[str] | None) -> None:
        event = await log.wait(0, types=types)
        assert event is not None
        woken[name] = event.seq

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait, "any", None)
        nursery.start_soon(wait, "end", {"terminated", "exited"})
        nursery.start_soon(wait, "stop", {"stopped"})
        await trio.testing.wait_all_tasks_blocked()
        assert log.waiting == 3
        log.append("output", {})
        await trio.testing.wait_all_tasks_blocked()
        assert woken == {"any": 1}
        log.append("stopped", {})
        log.append("terminated", {})
    assert woken == {"any": 1, "stop": 2, "end": 3}
    assert log.waiting == 0


async def test_an_event_between_reading_and_waiting_is_not_lost() -> None:
    log = EventLog()
    cursor = log.read(0).next_seq
    log.append("stopped", {})
    event = await log.wait(cursor, timeout=0)
    assert event is not None
    assert event.seq == 1


async def test_a_waiter_gets_what_came_in_a_burst_even_if_it_was_dropped_since() -> None:
    log = EventLog(limit_events=2)
    found: list[int] = []

    async def wait() -> None:
        event = await log.wait(0, types={"stopped"})
        assert event is not None
        found.append(event.seq)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()
        log.append("stopped", {})
        log.append("continued", {})
        log.append("continued", {})  # the stop has gone before the waiter could look
        await trio.testing.wait_all_tasks_blocked()
        assert found == []
        log.append("stopped", {})
    assert found == [4]


async def test_time_over_and_types_that_never_come(mock_clock: trio.testing.MockClock) -> None:
    log = filled("output")
    results: list[object] = []

    async def wait() -> None:
        results.append(await log.wait(0, types={"stopped"}, timeout=30))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()
        mock_clock.jump(29)
        await trio.testing.wait_all_tasks_blocked()
        assert results == []
        mock_clock.jump(1.1)
    assert results == [None]
    assert log.waiting == 0


async def test_closing_wakes_everyone_for_ever_after() -> None:
    log = filled("output")
    async with trio.open_nursery() as nursery:
        for types in (None, {"stopped"}):
            nursery.start_soon(partial(log.wait, 1, types=types))
        await trio.testing.wait_all_tasks_blocked()
        log.close()
    assert log.closed
    with trio.fail_after(30):
        assert await log.wait(1) is None
        log.append("terminated", {})
        event = await log.wait(1)
    assert event is not None
    assert (event.type, seqs(log)) == ("terminated", [1, 2])


async def test_a_cancelled_waiter_leaves_nothing_behind() -> None:
    log = EventLog()
    async with trio.open_nursery() as nursery:
        for types in (None, {"stopped"}, {"stopped"}):
            nursery.start_soon(partial(log.wait, 0, types=types))
        await trio.testing.wait_all_tasks_blocked()
        assert log.waiting == 3
        nursery.cancel_scope.cancel()
    assert log.waiting == 0
    assert not log._waiters._events


async def test_a_thousand_waiters() -> None:
    log = EventLog()
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            for _ in range(1000):
                nursery.start_soon(partial(log.wait, 0, types={"stopped"}))
            await trio.testing.wait_all_tasks_blocked()
            assert log.waiting == 1000
            log.append("stopped", {})


# Cursors


@pytest.mark.parametrize(
    ("kind", "seq", "text"),
    [("seq", 2, "eyJzZXEiOjJ9"), ("offset", 100, "eyJvZmZzZXQiOjEwMH0=")],
)
def test_cursors_look_as_documented(kind: str, seq: int, text: str) -> None:
    assert encode_cursor(kind, seq) == text
    assert decode_cursor(kind, text) == decode_cursor(kind, text.rstrip("=")) == seq


@given(st.integers(0, 2**60))
def test_cursors_come_back(seq: int) -> None:
    text = encode_cursor("seq", seq)
    assert decode_cursor("seq", text) == seq
    assert all(c.isalnum() or c in "-_=" for c in text)


@given(st.integers(0, 2**60), st.from_regex("[0-9a-f]{8}", fullmatch=True))
def test_a_cursor_of_another_log_stands_before_all_of_this_one(seq: int, log: str) -> None:
    text = encode_cursor("seq", seq, log)
    assert decode_cursor("seq", text, log) == seq
    assert decode_cursor("seq", text) == decode_cursor("seq", text, "of another") == 0
    assert decode_cursor("seq", encode_cursor("seq", seq), log) == 0
    assert decode_cursor("seq", encode_cursor("seq", FAR), log) == FAR


def foreign(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "=",
        "2",
        "nonsense!",
        "ünïcode",
        "eyJzZXEiOjJ9x",
        "x" * 5000,
        encode_cursor("offset", 2),
        foreign('{"seq":-1}'),
        foreign('{"seq":1.0}'),
        foreign('{"seq":true}'),
        foreign('{"seq":"2"}'),
        foreign('{"seq": 2}'),
        foreign('{"seq":2,"x":1}'),
        foreign('{"seq":2,"log":1}'),
        foreign('{"seq":2,"log":""}'),
        foreign('["seq"]'),
        foreign("[" * 60),
        foreign("\ud800".encode("utf-8", "surrogatepass").decode("latin-1")),
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="cursor"):
        decode_cursor("seq", text)


@given(st.text() | st.binary().map(lambda data: base64.urlsafe_b64encode(data).decode()))
def test_any_text_is_a_cursor_or_a_value_error(text: str) -> None:
    try:
        seq = decode_cursor("seq", text)
    except ValueError:
        return
    assert encode_cursor("seq", seq).rstrip("=") == text.rstrip("=")


# The clock


def test_timestamps() -> None:
    moment = datetime(2026, 1, 31, 12, 0, 0, 999_999, tzinfo=UTC)
    assert format_timestamp(moment) == "2026-01-31T12:00:00.999Z"
    elsewhere = moment.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert format_timestamp(elsewhere) == "2026-01-31T12:00:00.999Z"
    assert utc_now().tzinfo is UTC
    with pytest.raises(ValueError, match="zone"):
        format_timestamp(datetime(2026, 1, 1))
