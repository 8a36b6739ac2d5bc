"""What one thread waits for, as it is told, whichever way it was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.types import full_name
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import clipped
    from relay.debuggers.debugpy.debuggee.probe.waits.holders import Holder
    from relay.debuggers.debugpy.debuggee.probe.waits.pipes import (
        pipe_text,
        waits_at_pipe,
    )


class Wait:
    """What one thread waits for."""

    def __init__(self, kind: str, on: str, subject: Any = None) -> None:
        self.kind = kind
        self.on = on
        self.subject = subject
        self.name: str | None = None
        """What the waiting code calls the subject, where that is known."""
        self.held_by: Holder | None = None
        self.note: str | None = None
        self.timeout: float | None = None
        self.circle: str | None = None
        """How it waits for itself, if it does by another process."""

    def answer(self) -> dict[str, Any]:
        subject = self.subject
        return {
            "kind": self.kind,
            "on": clipped(self.on, 1000),
            "type": None if subject is None else full_name(type(subject)),
            "id": None if subject is None else hex(id(subject)),
            "timeout_seconds": self.timeout,
            "note": self.note,
            "circle": self.circle,
        }


def note_pipe_of_child(wait: Wait, pid: int, is_alone: bool) -> None:
    """A child may wait at a pipe whose other end this process has. is_alone: no other thread may serve it."""
    found = attempt(waits_at_pipe, pid)
    if found is None:
        return
    wait.note = pipe_text(pid, found)
    if is_alone and wait.timeout is None and found.is_main:  # with a timeout it ends
        wait.circle = f"{wait.on}, {wait.note}"
