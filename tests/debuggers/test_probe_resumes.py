"""The race that real threads meet once in a hundred resumes, step by step, on pydevd's own class."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import debugpy
import pytest

from relay.debuggers.debugpy.debuggee.probe.stops import own_stops, resumes
from relay.debuggers.debugpy.debuggee.probe.values import references

VENDORED = Path(debugpy.__file__).parent / "_vendored" / "pydevd"

# Thread A leaves the first stop and is at the second, while B has not left the first yet.
SLOW_TO_LEAVE = [
    "stop A",
    "join B",
    "continue",
    "leave A",
    "stop A",
    "leave B",
    "continue",
    "leave A",
]
# Nobody has left the first stop yet, when a thread that was not at it comes to the second.
OVERTAKEN = ["stop A", "continue", "stop C", "leave A", "continue", "leave C"]
# Each has a stop of its own, and both leave together.
TWO_AT_ONCE = ["request", "stop A", "stop B", "continue", "leave A", "leave B", "continue"]

SCRIPT = """
import json, sys, types
vendored, parts, mended, acts = json.loads(sys.argv[1])
sys.path.insert(0, vendored)
import pydevd

told = []

class Writer:
    def add_command(self, command):
        told.append(command)

class Factory:
    def make_thread_suspend_single_notification(self, *ignored):
        return "stopped"
    def make_thread_resume_single_notification(self, *ignored):
        return "continued"

class Debugger:
    writer, cmd_factory = Writer(), Factory()

debugger = Debugger()
behavior = pydevd.ThreadsSuspendedSingleNotification(debugger)
if mended:
    names = {"__name__": "probe"}
    for part in parts:
        exec(compile(open(part).read(), part, "exec"), names)
    behavior.__class__ = names["_prompt_notification"](type(behavior))
for act in acts:
    verb, _, thread = act.partition(" ")
    if verb == "stop":
        behavior.increment_suspend_time()
    if verb in ("stop", "join"):
        reason = pydevd.CMD_SET_BREAK if verb == "stop" else pydevd.CMD_THREAD_SUSPEND
        behavior.on_thread_suspend(thread, types.SimpleNamespace(ident=thread), reason)
    elif verb == "leave":
        behavior.on_thread_resume(thread, types.SimpleNamespace(ident=thread))
    elif verb == "continue":
        behavior.add_on_resumed_callback(lambda: told.append("answered"))
print(json.dumps(told))
"""


def told(acts: list[str], *, patched: bool = True) -> list[str]:
    parts = [own_stops.__file__, resumes.__file__]
    work = json.dumps([str(VENDORED), parts, patched, acts])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, work], capture_output=True, text=True, check=True
    )
    found: list[str] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("acts", [SLOW_TO_LEAVE, OVERTAKEN])
def test_each_resume_is_told_before_the_next_stop_and_each_continue_answered(
    acts: list[str],
) -> None:
    one_after_the_other = ["stopped", "continued", "answered"]
    assert told(acts) == one_after_the_other * 2
    assert told(acts, patched=False) != one_after_the_other * 2, "pydevd does so by itself now"


def test_threads_that_leave_together_are_told_of_and_a_late_continue_is_answered() -> None:
    found = told(TWO_AT_ONCE)
    assert found[:4] == ["stopped", "stopped", "continued", "answered"]
    assert found[-1] == "answered"
    assert found.count("answered") == 2


class Value:
    """Says whether it is alive."""

    alive = 0

    def __init__(self) -> None:
        Value.alive += 1

    def __del__(self) -> None:
        Value.alive -= 1


def test_a_thread_that_runs_on_lets_go_of_nothing_that_anothers_stop_has_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(references, "plans", {}, raising=False)
    monkeypatch.setattr(references, "hand_over_sigint", lambda: None, raising=False)
    known = references._References()
    monkeypatch.setattr(references, "references", known)

    def show() -> int:
        return known.add(references.Handle("value", Value(), None, None, None))

    def is_known(number: int) -> bool:
        return number in known.handles

    returned = [Value()]
    known.returned.append(returned)
    earlier = show()
    known.expire()  # the debugger has been asked to let the first thread run
    assert not is_known(earlier)
    assert Value.alive == 2, "code of the program runs in the debugger's thread"
    later, returned_later = show(), [Value()]  # another thread has stopped meanwhile
    known.returned.append(returned_later)
    references.release_stale()  # now the first thread runs on
    assert Value.alive == 2
    assert is_known(later)
    assert not returned
    assert returned_later
    references.release()
    assert not is_known(later)
    assert not returned_later
    assert Value.alive == 0
