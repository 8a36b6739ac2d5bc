"""The command: users by lot for a time, and what there was of the relay meanwhile."""

from __future__ import annotations

import argparse
import logging
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import trio

from tests.faults.soak.crowd import BLOCKS, HEAP, MEMORY, OBJECTS, STANDBY_SECONDS, Crowd
from tests.faults.soak.faces import FACES
from tests.faults.soak.trend import trend
from tests.faults.trials.findings import as_table, line
from tests.faults.trials.lane import adopt_orphans, relay
from tests.faults.trials.waiters import SOON
from tests.faults.trials.watched_relay import BREAKAGES, BREAKS

SECONDS = "RELAY_TEST_SOAK_SECONDS"
"""Variable that says how long `tox -e soak` goes on."""

BOUNDS = {MEMORY: 2.0, OBJECTS: 0.1, BLOCKS: 15.0, HEAP: 2.0}
"""What a user may leave of each, in the mean, for all that the figures say. Of the rest, nothing.

Blocks: what is bounded may fill meanwhile, as the parser's 16,384 texts and trio's 1,000 times.
"""


async def soak(options: argparse.Namespace, folder: Path) -> list[str]:
    """Run it, print the tables; what was wrong."""
    standby = {
        "RELAY_STANDBY": "3",
        "RELAY_STANDBY_MINUTES": f"{STANDBY_SECONDS / 60}",
    }
    module = "tests.faults.soak.hasty_relay"
    async with relay(folder / "relay", BREAKS.join(options.broken), module, **standby) as where:
        crowd = Crowd(where, options.seed, options.workers, options.only, options.patience)
        if options.number is None:
            await crowd.run(options.seconds, options.round)
        else:
            await crowd.one(options.number)
        await crowd.end()
    print(as_table(sorted(crowd.rows.items()), "face"))
    print("\n".join(["", *_answers(crowd), "", *_rests(crowd)]))
    if crowd.rests:
        more = crowd.rests[-1].objects - crowd.rests[len(crowd.rests) // 4].objects
        print("\nmore of these at the end:", dict(more.most_common(10)))
    return [*crowd.wrong, *_rising(crowd)]


def _answers(crowd: Crowd) -> Iterator[str]:
    yield line("face", "users", "requests", "events read", "slowest answer, s")
    yield line("---", *["---:"] * 4)
    for name, figures in sorted(crowd.figures.items()):
        counts = figures.counts
        users = crowd.rows[name].tries
        yield line(name, users, counts["requests"], counts["events"], f"{figures.slowest:.2f}")


def _rests(crowd: Crowd) -> Iterator[str]:
    yield line("at rest", "first", "last", "slope, for 1,000 users", "with 99 %")
    yield line("---", *["---:"] * 4)
    for name, points in _series(crowd):
        found = trend(points)
        slope, between = "", "too few rests"
        if found is not None:
            slope = f"{found.slope * 1000:.1f}"
            between = f"{found.low * 1000:.1f} to {found.high * 1000:.1f}"
        yield line(name, f"{points[0][1]:g}", f"{points[-1][1]:g}", slope, between)


def _rising(crowd: Crowd) -> Iterator[str]:
    for name, points in _series(crowd):
        found = trend(points)
        if found is not None and found.rises_by_more_than(BOUNDS.get(name, 0.0)):
            yield f"{name}: it rises by {found.slope:.3f} a user, {found.low:.3f} at least"


def _series(crowd: Crowd) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """Each figure at each rest, but for the first quarter: until then caches fill."""
    rests = crowd.rests[len(crowd.rests) // 4 :]
    for name in rests[0].figures if rests else ():
        yield name, [(float(rest.users), rest.figures[name]) for rest in rests]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=float(os.environ.get(SECONDS, "3600")))
    parser.add_argument("--seed", default=secrets.token_hex(4), help="as an earlier run printed it")
    parser.add_argument("--number", type=int, help="only this user, as he was with that seed")
    parser.add_argument("--only", default="", help="only faces whose name has this in it")
    parser.add_argument("--workers", type=int, default=4, help="users at once")
    parser.add_argument("--round", type=float, default=30, help="seconds until nobody else comes")
    parser.add_argument("--patience", type=float, default=SOON, help="seconds for what is to go")
    parser.add_argument("--broken", action="append", default=[], choices=BREAKAGES)
    options = parser.parse_args()
    if not any(options.only in name for name in FACES):
        parser.error(f"no face has {options.only!r} in its name")
    print(f"seed {options.seed}: {options.seconds:g} s", flush=True)
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # its client complains when it is left
    adopt_orphans()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        wrong = trio.run(soak, options, Path(folder))
    for text in wrong:
        print(text, file=sys.stderr)
    print(f"{len(wrong)} wrong in {time.monotonic() - started:.0f} s, seed {options.seed}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
