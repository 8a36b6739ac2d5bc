"""A program's end waits for the relay as long as that reads, and not for one that does not."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from relay.debuggers.debugpy.debuggee.probe.process import ending

LIMIT = 0.4
REPORTED = ("captures", "trace", "calls", "other_copies")
MESSAGES = 12
"""What is sent before the last word: one by one, so that all take longer than the limit."""


class Debugger:
    """As much of pydevd's as is asked there; its writer sends when the last word is given to it."""

    def __init__(self, taken: int) -> None:
        self._taken = taken
        self._listeners: list[Any] = []
        self.reader = self.writer = self
        self.is_answered = False

    def is_alive(self) -> bool:
        return True

    def add_dap_messages_listener(self, listener: Any) -> None:
        self._listeners.append(listener)

    def add_command(self, _: object) -> None:
        threading.Thread(target=self._write, daemon=True).start()

    def _write(self) -> None:
        (listener,) = self._listeners
        for _ in range(self._taken):
            listener.before_send({"type": "event"})
            time.sleep(LIMIT / 4)
        if self._taken == MESSAGES:
            self.is_answered = True
            listener.after_receive({"command": "threads"})


@pytest.mark.parametrize("taken", [MESSAGES, 2])
def test_who_reads_is_waited_for(monkeypatch: pytest.MonkeyPatch, taken: int) -> None:
    """After half a minute what a busy machine had not read was lost: the last of 300,000 log lines."""
    debugger = Debugger(taken)
    monkeypatch.setattr(ending, "LAST_WORDS_SECONDS", LIMIT)
    parts = {  # which are in one module with it in a debuggee
        "attempt": lambda call: call(),
        "presence": SimpleNamespace(py_db=debugger),
        "LateEvent": lambda *_: None,
        **{f"report_{what}": lambda: None for what in REPORTED},
    }
    for name, part in parts.items():
        monkeypatch.setattr(ending, name, part, raising=False)
    ending._await_relay(debugger)
    assert debugger.is_answered == (taken == MESSAGES)
