"""Which variables of the innermost frame are new or changed, from stop to stop. No IO."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from relay.models import line_protocol as protocol

Stack: TypeAlias = tuple[tuple[str, str], ...]
Known: TypeAlias = dict[str, tuple[str, str]]


class VariableChanges:
    """What was shown of each frame that is still on the stack."""

    def __init__(self) -> None:
        self._known: dict[Stack, Known] = {}

    def forget(self) -> None:
        """Forget all frames, for another run."""
        self._known.clear()

    def since(
        self, frames: Sequence[protocol.StackFrame], variables: Sequence[protocol.Variable]
    ) -> list[protocol.Variable]:
        """Those of frame 0 that are not as they were when it was last on top; all of a new one."""
        here: Stack = tuple((frame.file, frame.function) for frame in reversed(frames))
        before = self._known.get(here, {})
        now: Known = {v.name: (v.value, v.type) for v in variables}
        # Frames that were left are gone: the same function, called again, is a new one.
        self._known = {at: seen for at, seen in self._known.items() if at == here[: len(at)]}
        self._known[here] = now
        return [v for v in variables if before.get(v.name) != now[v.name]]
