"""How the probe replaces functions of the debugger, and orders what is done at a stop."""

from __future__ import annotations

import queue
import sys
import threading
import types
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from relay.debuggers.debugpy import probe_calls
from relay.debuggers.debugpy.debuggee.probe import entry

probe: Any = entry
THREAD = threading.current_thread()


@pytest.fixture
def another_probe(monkeypatch: pytest.MonkeyPatch) -> Any:
    """As another version of the relay would put one in."""
    host: Any = types.ModuleType("pydevd")
    monkeypatch.setitem(sys.modules, "pydevd", host)
    assert probe_calls.decode(eval(probe_calls.injection()))["ok"]
    return host._debug_relay_probe


class Owner:
    """Stands for a class of the debugger's."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def do(self, what: str) -> str:
        self.calls.append(what)
        return what

    @property
    def wanted(self) -> bool:
        return False


def doubled(original: Any, *arguments: Any) -> Any:
    return original(*arguments) * 2


def test_a_second_replacement_takes_the_first_ones_place() -> None:
    owner = Owner()
    assert not probe.is_patched(owner, "do")
    for _ in range(3):
        probe.patch(owner, "do", doubled)
    assert owner.do("a") == "aa"
    assert owner.calls == ["a"]
    assert probe.is_patched(owner, "do")
    assert Owner().do("a") == "a"


def test_another_probe_replaces_what_the_first_has_put_there(another_probe: Any) -> None:
    owner = Owner()
    probe.patch(owner, "do", doubled)
    another_probe.patch(owner, "do", lambda original, what: original(what) + "!")
    assert owner.do("a") == "a!"
    assert owner.calls == ["a"]


def test_of_a_class_methods_and_properties_are_replaced() -> None:
    class Own(Owner):
        def do(self, what: str) -> str:
            return super().do(what)

        @property
        def wanted(self) -> bool:
            return False

    for _ in range(2):
        probe.patch(Own, "do", doubled)
        probe.patch(Own, "wanted", lambda original, self: not original(self))
    assert Own().do("a") == "aa"
    assert Own().wanted
    probe.patch(Own, "wanted", lambda original, self: original(self))
    assert not Own().wanted


def test_an_object_is_patched_beside_its_class() -> None:
    class Own(Owner):
        pass

    probe.patch(Own, "do", doubled)
    owner = Own()
    probe.patch(owner, "do", doubled)
    probe.patch(owner, "do", doubled)
    assert (owner.do("a"), Own().do("a")) == ("aaaa", "aa")


def test_what_is_not_there_is_not_replaced() -> None:
    with pytest.raises(AttributeError):
        probe.patch(Owner(), "undo", doubled)


def test_a_writer_that_waits_for_something_to_send_looks_at_its_new_queue_at_once() -> None:
    writer = types.SimpleNamespace(_cmd_queue=queue.Queue())
    old = writer._cmd_queue
    old.put("first")
    taken: list[str] = []

    def write() -> None:
        while len(taken) < 3:
            with suppress(queue.Empty):
                taken.append(writer._cmd_queue.get(True, 600))
            if taken == ["first"]:
                waits.set()

    waits = threading.Event()
    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    assert waits.wait(60)
    probe._queue_in_c(writer)
    writer._cmd_queue.put("second")
    old.put("third")  # by somebody who had the old one
    thread.join(60)
    assert not thread.is_alive()
    assert taken == ["first", "second", "third"]


# Suspensions -----------------------------------------------------------------------------------


class Debugger:
    def __init__(self) -> None:
        self.seen: list[str] = []

    def do_wait_suspend(self, thread: Any, frame: Any, event: Any, arg: Any) -> None:
        self.seen.append("wait")


@pytest.fixture
def py_db(monkeypatch: pytest.MonkeyPatch) -> Iterator[Debugger]:
    found = Debugger()
    monkeypatch.setitem(vars(probe), "debugger", lambda: found)
    yield found
    probe.forget_suspension_hooks()


def test_hooks_are_called_in_order_once_each(py_db: Debugger) -> None:
    def says(word: str) -> Any:
        return lambda *_: py_db.seen.append(word)

    for _ in range(3):
        probe.hook_suspensions("steps", before=says("steps"), after=says("after steps"))
        probe.hook_suspensions("output", before=says("output"), after=says("after output"))
        probe.hook_suspensions("place", before=says("place"))
    py_db.do_wait_suspend(THREAD, None, "line", None)
    assert py_db.seen == ["output", "place", "steps", "wait", "after steps", "after output"]


def test_a_hook_may_refuse_the_stop_and_its_failure_does_not(py_db: Debugger) -> None:
    def fails(*_: Any) -> None:
        raise ValueError

    probe.hook_suspensions("place", before=fails)
    py_db.do_wait_suspend(THREAD, None, "line", None)
    assert py_db.seen == ["wait"]
    probe.hook_suspensions("process", before=lambda *_: False)
    py_db.do_wait_suspend(THREAD, None, "line", None)
    assert py_db.seen == ["wait"]


def test_a_hook_needs_a_place_in_the_order(py_db: Debugger) -> None:
    with pytest.raises(ValueError, match="elsewhere"):
        probe.hook_suspensions("elsewhere")
