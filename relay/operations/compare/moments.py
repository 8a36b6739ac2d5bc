"""Moments of a run in texts: dates, times of day, seconds since 1970 and since the machine's start.

Only what lies near the runs may be the time of one. What a program makes of another date, such as
one that its test gives, is compared as any other value.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, date, datetime, timedelta

WHOLE = r"\b(?<!\d\.)"
"""In a pattern: where a number begins, and not its fraction."""

_BEFORE, _AFTER = timedelta(days=31), timedelta(days=366)
"""What programs reckon from now: what they have kept for a while, and what expires."""
_AROUND = 300  # seconds, of a time of day, which has no date to tell it from others
_DAY = 86400
_SLACK = 1.0  # seconds, within which both clocks of a machine are read here

_MOMENT = re.compile(
    r"\bdatetime\.datetime\((?P<year>\d{4}), (?P<month>\d\d?), (?P<day>\d\d?)(?:, (?:fold=)?\d+)*"
    r"|\bdatetime\.time\((?P<hour>\d\d?), (?P<minute>\d\d?)(?:, (?P<second>\d\d?))?(?:, (?:fold=)?\d+)*"
    r"|\b(?P<date>\d{4}-\d\d-\d\d)[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\b(?P<clock>\d\d:\d\d:\d\d)(?:[.,]\d+)?\b"
    r"|" + WHOLE + r"(?P<seconds>(?:1[5-9]|2[01])\d{8})(?:\.\d+|\d{3}|\d{6}|\d{9})?\b"
)

_UPTIME = re.compile(r"(?<![\w.])(?:\d{4,}\.\d{3,}|\d{13,19})(?![\w.])")
"""What `monotonic` and `perf_counter` may say, in seconds or nanoseconds. Shorter ones may be anything.

Nanoseconds have 64 bits. A longer number is none, and may have more digits than Python converts.
"""

_FRACTION = re.compile(r"\bFraction\((\d{10,60}), (\d{1,60})\)")
"""A moment of either kind with all its digits, as tests keep it who reckon with it exactly: fewer than 60."""


class Moments:
    """Those between `began` and `ended`, in seconds since 1970, and near them."""

    def __init__(self, began: float, ended: float) -> None:
        days = [datetime.fromtimestamp(at, UTC) for at in (began, ended)]
        self.first, self.last = days[0] - _BEFORE, days[1] + _AFTER
        self.clock_lasts = ended - began + 2 * _AROUND
        local = time.localtime(began).tm_gmtoff
        since_start = time.monotonic() - time.time()
        self.uptimes = began + since_start - _SLACK, ended + since_start + _SLACK
        self.clock_begins = [began - _AROUND + offset for offset in (0, local)]

    def taken_out(self, text: str) -> str:
        """The text with a stand-in for each."""
        text = _FRACTION.sub(self._stand_in_of_fraction, text)
        return _UPTIME.sub(self._stand_in_of_uptime, _MOMENT.sub(self._stand_in, text))

    def _stand_in_of_fraction(self, found: re.Match[str]) -> str:
        seconds = int(found[1]) // (int(found[2]) or 1)
        is_moment = self.first.timestamp() <= seconds <= self.last.timestamp()
        is_uptime = self.uptimes[0] <= seconds <= self.uptimes[1]
        return "Fraction(<time>)" if is_moment or is_uptime else found[0]

    def _stand_in_of_uptime(self, found: re.Match[str]) -> str:
        seconds = float(found[0]) if "." in found[0] else int(found[0]) / 1e9
        return "<time>" if self.uptimes[0] <= seconds <= self.uptimes[1] else found[0]

    def _stand_in(self, found: re.Match[str]) -> str:
        parts = found.groupdict()
        if parts["year"]:
            ymd = (parts["year"], parts["month"], parts["day"])
            return "datetime.datetime(<time>" if self._is_near(*map(int, ymd)) else found[0]
        if parts["hour"]:
            hms = (parts["hour"], parts["minute"], parts["second"] or "0")
            return "datetime.time(<time>" if self._is_now(*map(int, hms)) else found[0]
        if parts["date"]:
            is_moment = self._is_near(*map(int, parts["date"].split("-")))
        elif parts["clock"]:
            is_moment = self._is_now(*map(int, parts["clock"].split(":")))
        else:
            seconds = int(parts["seconds"])
            is_moment = self.first.timestamp() <= seconds <= self.last.timestamp()
        return "<time>" if is_moment else found[0]

    def _is_near(self, year: int, month: int, day: int) -> bool:
        try:
            return self.first.date() <= date(year, month, day) <= self.last.date()
        except ValueError:
            return False  # no date

    def _is_now(self, hour: int, minute: int, second: int) -> bool:
        at = (hour * 60 + minute) * 60 + second
        return any((at - begins) % _DAY <= self.clock_lasts for begins in self.clock_begins)
