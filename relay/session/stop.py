"""One stop of the program: what is known of it until it runs again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Frame:
    """One stack frame. `dap_id` is the adapter's id; clients see the index instead."""

    dap_id: int
    name: str
    path: str | None
    line: int
    column: int = 0
    module: str | None = None
    subtle: bool = False


@dataclass(frozen=True, slots=True)
class RaisedException:
    """The exception at which the program stopped."""

    type: str
    full_type: str
    message: str
    traceback: str
    break_mode: str = "always"
    expected: bool = False
    """Whether a `with` statement, such as `pytest.raises`, waits for it."""


@dataclass(slots=True)
class Stop:
    """Everything about the present stop. Dies when the program resumes."""

    id: int
    thread_id: int
    reason: str
    top: Frame | None
    description: str | None = None
    text: str | None = None
    hit_breakpoint_ids: list[str] = field(default_factory=list)
    exception: RaisedException | None = None
    return_value: dict[str, Any] | None = None
    output_seq: int = 0
    stacks: dict[int, list[Frame]] = field(default_factory=dict)
