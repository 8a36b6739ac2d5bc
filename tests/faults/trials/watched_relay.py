"""`relay` that tells, on SIGUSR1, which tasks and threads it has: `python -m tests.faults.trials.watched_relay serve …`.

With RELAY_TEST_BROKEN it is a relay that does one thing wrong, for the checker to find.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import trio

from relay.__main__ import main
from relay.process.guarded_process import GuardedProcess
from relay.session.event_log import Event, EventLog
from relay.session.program_events import ProgramEvents
from relay.session.waiters import Waiters
from tests.faults.trials.findings import Harm

COUNTS = "RELAY_TEST_COUNTS"
"""Variable that names the file which is written."""
BROKEN = "RELAY_TEST_BROKEN"
BREAKS = ","
"""Between what is broken, if that is several things."""

IDLE_THREAD = "Trio thread"
"""trio keeps a thread for its next job, and names it so while there is none."""


def tell(*_: object, **more: Mapping[str, int]) -> None:
    """Write what there is, and what is given, beside the file and then in its place."""
    path = Path(os.environ[COUNTS])
    new = path.with_suffix(".new")
    new.write_text(json.dumps({"tasks": _tasks(), "threads": _threads(), **more}))
    new.replace(path)


def _tasks() -> Counter[str]:
    def below(task: trio.lowlevel.Task) -> Iterator[trio.lowlevel.Task]:
        yield task
        for nursery in task.child_nurseries:
            for child in nursery.child_tasks:
                yield from below(child)

    root = trio.lowlevel.current_root_task()
    return Counter(task.name for task in below(root)) if root is not None else Counter()


def _threads() -> dict[str, int]:
    names = (thread.name for thread in threading.enumerate())
    return Counter(name for name in names if not name.startswith(IDLE_THREAD))


# Broken relays ---------------------------------------------------------------------------


def _leaves(harm: Callable[[], object]) -> Callable[[], None]:
    """Does this whenever a program is over."""

    def breaks() -> None:
        end = GuardedProcess.end

        async def end_and_harm(self: GuardedProcess) -> None:
            if not self._over:
                harm()
            await end(self)

        GuardedProcess.end = end_and_harm  # type: ignore[method-assign]

    return breaks


def _stays() -> None:
    threading.Thread(target=threading.Event().wait, name="stays", daemon=True).start()


def _litters() -> None:
    (Path(tempfile.gettempdir()) / f"litter-{os.urandom(4).hex()}").touch()


def _says_all_is_well() -> None:
    exited = ProgramEvents.exited

    def as_zero(self: ProgramEvents, exit_code: int | None, *args: Any, **more: Any) -> None:
        exited(self, 0, *args, **more)

    ProgramEvents.exited = as_zero  # type: ignore[method-assign]
    ProgramEvents.found_exit_code = lambda *_: None  # type: ignore[method-assign]


def _wakes_nobody_at_the_end() -> None:
    wake = Waiters.wake

    def wake_others(self: Waiters, kind: str) -> None:
        if kind != "terminated":
            wake(self, kind)

    Waiters.wake = wake_others  # type: ignore[method-assign]


def _loses_bytes() -> None:
    printed = ProgramEvents.printed

    def without_last(self: ProgramEvents, category: str, text: str) -> None:
        printed(self, category, text[:-1])

    ProgramEvents.printed = without_last  # type: ignore[method-assign]


def _skips_an_event_everywhere() -> None:
    logs: weakref.WeakSet[EventLog] = weakref.WeakSet()
    append = EventLog.append

    def noted(self: EventLog, type: str, body: Mapping[str, Any]) -> Event:
        logs.add(self)
        if type == "terminated":
            for log in logs:
                log.last_seq += 1
        return append(self, type, body)

    EventLog.append = noted  # type: ignore[method-assign]


BREAKAGES: Mapping[str, tuple[Harm, Callable[[], None]]] = {
    "leaves a process": (
        Harm.PROCESS,
        _leaves(partial(subprocess.Popen, ["sleep", "600"], start_new_session=True)),
    ),
    "leaves a descriptor": (Harm.REST, _leaves(os.pipe)),
    "leaves a thread": (Harm.REST, _leaves(_stays)),
    "leaves a task": (
        Harm.REST,
        _leaves(partial(trio.lowlevel.spawn_system_task, trio.sleep_forever)),
    ),
    "leaves a file": (Harm.REST, _leaves(_litters)),
    "says that all is well": (Harm.REASON, _says_all_is_well),
    "wakes nobody at the end": (Harm.WAITER, _wakes_nobody_at_the_end),
    "loses bytes": (Harm.LOST, _loses_bytes),
    "skips an event everywhere": (Harm.NEIGHBOUR, _skips_an_event_everywhere),
}
"""What a relay may do wrong after a program is killed, and how that is called when it is found."""


def run() -> None:
    """The command, watched; broken if that is asked for."""
    signal.signal(signal.SIGUSR1, tell)
    for name in filter(None, os.environ.pop(BROKEN, "").split(BREAKS)):
        BREAKAGES[name][1]()
    main()


if __name__ == "__main__":
    run()
