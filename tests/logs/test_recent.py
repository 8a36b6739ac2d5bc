"""The newest records are kept, and nothing of what they speak of."""

from __future__ import annotations

import gc
import logging
import weakref

import pytest

from relay.config import LogLevel
from relay.logs.formats import Format
from relay.logs.recent import MOST_RECORDS, RecentRecords
from relay.logs.setup import recent_records, set_level


class Thing:
    def __str__(self) -> str:
        return "a thing"


def test_the_newest_are_kept_the_oldest_first() -> None:
    recent = RecentRecords()
    for number in range(MOST_RECORDS + 5):
        recent.handle(logging.makeLogRecord({"msg": str(number)}))
    found, before = recent.newest(MOST_RECORDS * 2)
    assert ([one.msg for one in found][:2], found[-1].msg, before) == (
        ["5", "6"],
        str(MOST_RECORDS + 4),
        5,
    )
    found, before = recent.newest(1)
    assert (found[0].msg, before) == (str(MOST_RECORDS + 4), MOST_RECORDS + 4)


def test_they_keep_no_object_alive() -> None:
    recent = RecentRecords()
    log = logging.Logger("apart")
    log.addHandler(recent)

    def fail() -> weakref.ref[Thing]:
        thing = Thing()
        try:
            raise ValueError("no")
        except ValueError:
            log.exception("failed with %s", thing)
        return weakref.ref(thing)

    alive = fail()
    gc.collect()
    assert alive() is None
    ((kept,), _) = recent.newest(5)
    shown = Format(str)
    assert shown.message(kept) == "failed with a thing"
    assert shown.traceback(kept).endswith("ValueError: no")


@pytest.mark.parametrize(
    ("level", "with_recent", "least"),
    [
        ("warning", False, logging.WARNING),
        ("warning", True, logging.INFO),
        ("debug", True, logging.DEBUG),
    ],
)
def test_they_are_kept_from_info_on(level: LogLevel, with_recent: bool, least: int) -> None:
    root, log, http = (logging.getLogger(name) for name in (None, "relay", "relay.http"))
    before = log.level, http.level
    recent = RecentRecords()
    if with_recent:
        root.addHandler(recent)
    try:
        assert recent_records() is (recent if with_recent else None)
        set_level(level)
        assert log.level == least
        assert http.getEffectiveLevel() == (logging.DEBUG if level == "debug" else logging.WARNING)
    finally:
        root.removeHandler(recent)
        log.setLevel(before[0])
        http.setLevel(before[1])
