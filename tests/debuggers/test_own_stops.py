"""Threads that meet breakpoints together, step by step, on pydevd's own class: no stop is swept away."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import debugpy
import pytest

from relay.debuggers.debugpy.debuggee.probe.stops import own_stops, resumes

VENDORED = Path(debugpy.__file__).parent / "_vendored" / "pydevd"

SCRIPT = """
import contextlib, json, sys, types
vendored, parts, keeps, acts = json.loads(sys.argv[1])
sys.path.insert(0, vendored)
import pydevd

told, running, current = [], [], []
threads = {name: types.SimpleNamespace(ident=name, name=name) for name in "ABC"}

class Debugger:
    multi_threads_single_notification = True
    class writer:
        add_command = told.append
    class cmd_factory:
        def make_thread_suspend_single_notification(py_db, thread_id, thread, reason):
            return "stopped " + thread_id
        def make_thread_resume_single_notification(thread_id):
            return "continued"
    def set_suspend(self, thread, reason):
        names["note_own_stop"](thread, reason)
        behavior.increment_suspend_time()
        running.clear()

names = {"__name__": "probe"}
for part in parts:
    exec(compile(open(part).read(), part, "exec"), names)
debugger = Debugger()
behavior = pydevd.ThreadsSuspendedSingleNotification(debugger)
behavior.__class__ = names["_prompt_notification"](type(behavior))
debugger._threads_suspended_single_notification = behavior
pydevd.get_current_thread_id = lambda thread: thread.name
names.update(
    let_go=lambda thread: running.append(thread.name),
    attempt=lambda function, default: function(),
    debugger=lambda: debugger,
    debugger_threading=lambda: types.SimpleNamespace(get_ident=lambda: current[-1]),
    pydevd_thread=lambda: threads[current[-1]],
    tracing_state=types.SimpleNamespace(lock=contextlib.nullcontext()),
)
names["_own_stops"].are_kept = keeps

def let_all_go(*but):
    for thread in threads.values():
        if thread.name not in but:
            names["_run_if_seen"](lambda thread: running.append(thread.name), thread)

for act in acts:
    verb, _, name = act.partition(" ")
    thread = threads.get(name)
    current.append(name)
    if verb == "meets":  # a breakpoint
        debugger.set_suspend(thread, pydevd.CMD_SET_BREAK)
    elif verb == "stands":  # the others' suspension has taken its reason away
        behavior.on_thread_suspend(name, thread, pydevd.CMD_THREAD_SUSPEND if keeps else pydevd.CMD_SET_BREAK)
    elif verb == "joins":
        behavior.on_thread_suspend(name, thread, pydevd.CMD_THREAD_SUSPEND)
    elif verb == "looks":  # five times a second, while it stands
        names["_take_turn"](thread)
    elif verb == "withdraw":  # what it has stopped for
        names["own_stop_of"](thread).is_wanted = lambda: False
    elif verb == "leaves":
        behavior.on_thread_resume(name, thread)
    elif verb == "continue":
        behavior.add_on_resumed_callback(lambda: told.append("answered"))
        names["note_client_resumes"]()
        names["begin_resume"]()
        let_all_go()
    elif verb == "next":  # the request; the thread itself does it, at "steps"
        names["note_client_resumes"]()
    elif verb == "steps":
        names["_step_unless_overtaken"](lambda: (running.append(name), let_all_go(name)))
    elif verb == "detach":
        names["forget_own_stops"]()
    elif verb == "runs":
        told.append("running " + "".join(sorted(running)))
print(json.dumps(told))
"""


def told(*acts: str, keeps: bool = True) -> list[str]:
    parts = [own_stops.__file__, resumes.__file__]
    work = json.dumps([str(VENDORED), parts, keeps, acts])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, work], capture_output=True, text=True, check=True
    )
    found: list[str] = json.loads(done.stdout)
    return found


ONE_AFTER_THE_OTHER = [
    *("stopped A", "continued", "answered"),
    *("stopped B", "continued", "answered"),
]

BOTH_STAND = ["meets A", "meets B", "stands A", "stands B"]


@pytest.mark.parametrize(
    "acts",
    [
        pytest.param([*BOTH_STAND, "continue", "looks B", "leaves A"], id="it stands"),
        pytest.param(
            ["meets A", "stands A", "meets B", "continue", "stands B", "leaves A"],
            id="it is about to stand",
        ),
        pytest.param(
            ["meets A", "stands A", "continue", "meets B", "stands B", "leaves A"],
            id="it comes later",
        ),
        pytest.param(
            [*BOTH_STAND, "continue", "leaves A", "looks B"], id="the first has left before"
        ),
    ],
)
def test_a_stop_beside_another_is_announced_after_it_and_not_before(acts: list[str]) -> None:
    assert told(*acts, "continue", "leaves B") == ONE_AFTER_THE_OTHER


def test_pydevd_alone_sweeps_the_second_stop_away() -> None:
    acts = [*BOTH_STAND, "continue", "looks B", "leaves A", "leaves B"]
    assert told(*acts, keeps=False) == ["stopped A", "continued", "answered"]


def test_a_resume_lets_go_of_whose_stop_was_seen_and_of_no_other() -> None:
    acts = ["joins C", *BOTH_STAND, "continue", "runs", "looks B", "continue", "runs"]
    assert [line for line in told(*acts) if line.startswith("running")] == [
        "running AC",
        "running ABC",
    ]


def test_the_others_are_suspended_again_before_the_second_stop_is_announced() -> None:
    assert told(*BOTH_STAND, "continue", "looks B", "runs")[-2:] == ["stopped B", "running "]


def test_a_step_is_over_where_another_stop_came_before_it() -> None:
    overtaken = told(*BOTH_STAND, "next", "looks B", "steps A", "runs")
    assert overtaken == ["stopped A", "stopped B", "running "]
    in_time = told(*BOTH_STAND, "next", "steps A", "runs", "looks B")
    assert in_time == ["stopped A", "running AC", "stopped B"]


def test_a_thread_with_an_unseen_stop_shows_it_before_it_steps() -> None:
    acts = [*BOTH_STAND, "next", "steps B", "runs", "looks B"]
    assert told(*acts) == ["stopped A", "running ", "stopped B"]


def test_a_stop_that_ends_by_itself_keeps_no_other_back() -> None:
    """As by Ctrl-C, in the thread that stands."""
    assert told(*BOTH_STAND, "leaves A", "looks B") == ["stopped A", "continued", "stopped B"]


def test_a_stop_whose_breakpoint_was_taken_away_is_not_announced() -> None:
    acts = [*BOTH_STAND, "withdraw B", "continue", "looks B", "runs", "leaves B", "leaves A"]
    assert told(*acts) == ["stopped A", "running ABC", "continued", "answered"]
    alone = [*BOTH_STAND, "withdraw B", "next", "looks B", "runs", "continue", "runs"]
    assert told(*alone) == ["stopped A", "running ", "running ABC"], "it is held with the others"


def test_nobody_stands_for_a_client_that_has_gone() -> None:
    assert told(*BOTH_STAND, "detach", "continue", "runs")[-1] == "running ABC"
