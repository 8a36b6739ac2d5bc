"""All threads held and let go at once: as pydevd does it one by one, and in one look at them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import debugpy
import pytest

from relay.debuggers.debugpy.debuggee.probe.stops import all_threads, threads

VENDORED = Path(debugpy.__file__).parent / "_vendored" / "pydevd"

SCRIPT = """
import functools, json, sys, threading
vendored, parts, is_ours = json.loads(sys.argv[1])
sys.path.insert(0, vendored)
import pydevd
from _pydevd_bundle import pydevd_thread_lifecycle as lifecycle
from _pydevd_bundle.pydevd_additional_thread_info import any_thread_stepping

ends, begun = threading.Event(), threading.Semaphore(0)
threads = [threading.Thread(target=lambda: (begun.release(), ends.wait()), name=f"waits {n}") for n in range(20)]
threads[-1].pydev_do_not_trace = True
for thread in threads:
    thread.start()
    begun.acquire()
info_of = lifecycle.set_additional_thread_info
info_of(threads[1]).pydev_step_cmd = 108  # in the midst of a step
info_of(threads[2]).is_in_wait_loop = True  # at a stop of its own
woken, traced, looks = [], [], []
frames_of = sys._current_frames

class Debugger:
    def set_trace_for_frame_and_parents(self, ident, frame):
        traced.append(next(t.name for t in threading.enumerate() if t.ident == ident))

def frames():
    looks.append(1)
    return frames_of()

def facts():
    about = [(t.name, vars(t).get("stop_reason"), info_of(t)) for t in threads]
    return [
        [name, reason, i.suspend_type, i.pydev_state, i.pydev_step_cmd, i.pydev_original_step_cmd, i.pydev_step_stop]
        for name, reason, i in about
    ]

hold, let_go = lifecycle.suspend_all_threads, lifecycle.resume_threads
if is_ours:
    names = {"__name__": "probe"}
    for part in parts:
        exec(compile(open(part).read(), part, "exec"), names)
    names.update(
        events_module=lambda: lifecycle.pydevd_sys_monitoring,
        innermost_frames=frames,
        is_unseen=lambda thread: False,
        wake_thread=lambda thread: woken.append(thread.name),
        patch=setattr,
    )
    names["hold_and_let_go_at_once"]()
    from _pydevd_bundle import pydevd_api, pydevd_comm, pydevd_vars
    assert pydevd.suspend_all_threads is lifecycle.suspend_all_threads is not hold
    assert pydevd_vars.suspend_all_threads is lifecycle.suspend_all_threads
    assert pydevd_api.resume_threads is pydevd_comm.resume_threads is lifecycle.resume_threads is not let_go
    hold = functools.partial(lifecycle.suspend_all_threads, None)
    let_go = functools.partial(lifecycle.resume_threads, None)
try:
    before = facts()
    hold(Debugger(), threads[0])
    held = facts(), any_thread_stepping()
    let_go("*", threads[3])
    gone = facts(), any_thread_stepping()
finally:
    ends.set()
print(json.dumps([before, held, gone, sorted(traced), woken, len(looks)]))
"""


def done(*, is_ours: bool) -> list[Any]:
    work = json.dumps([str(VENDORED), [threads.__file__, all_threads.__file__], is_ours])
    run = subprocess.run(
        [sys.executable, "-X", "frozen_modules=off", "-c", SCRIPT, work],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    found: list[Any] = json.loads(run.stdout.splitlines()[-1])
    return found


@pytest.fixture(scope="module")
def itself() -> list[Any]:
    return done(is_ours=False)


@pytest.fixture(scope="module")
def ours() -> list[Any]:
    return done(is_ours=True)


def test_each_thread_is_held_and_let_go_as_by_the_debugger_itself(
    itself: list[Any], ours: list[Any]
) -> None:
    assert ours[:3] == itself[:3]
    before, (held, _), (gone, _) = ours[:3]
    assert before != held != gone


def test_the_lines_of_held_threads_are_traced_from_then_on(
    itself: list[Any], ours: list[Any]
) -> None:
    assert ours[3] == itself[3]
    assert len(ours[3]) > 17


def test_all_are_looked_at_once(ours: list[Any]) -> None:
    assert ours[5] == 1


def test_who_stands_is_woken_as_it_may_run(ours: list[Any]) -> None:
    assert ours[4] == ["waits 2"]
