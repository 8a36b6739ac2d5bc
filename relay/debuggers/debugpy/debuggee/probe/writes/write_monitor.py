"""The instructions that may write a state, as events of `sys.monitoring`: 3.12 and later.

A tool number of our own. Each code is looked at when it begins for the first time; from then on
only the instructions in question are events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.hooks.monitoring_tool import (
        MONITORING,
        give_back_tool,
        instructions_wanted_by,
        take_tool,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import frame_at
    from relay.debuggers.debugpy.debuggee.probe.writes.write_recorder import WriteRecorder


class WriteMonitor:
    """The events of one recorder."""

    def __init__(self, recorder: WriteRecorder) -> None:
        self.recorder, self.tool = recorder, -1
        # By the code's id, with the code: equal codes are events of their own, and to hash one takes long.
        self.codes: dict[int, tuple[Any, Any]] = {}

    def start(self) -> bool:
        """False if others have all tool numbers."""
        self.tool = take_tool("writes")
        if self.tool < 0:
            return False
        events = MONITORING.events
        instructions_wanted_by[self.tool] = self._looks_in
        MONITORING.register_callback(self.tool, events.PY_START, self._on_start)
        MONITORING.register_callback(self.tool, events.INSTRUCTION, self._on_instruction)
        MONITORING.set_events(self.tool, events.PY_START)
        return True

    def stop(self) -> None:
        tool, self.tool = self.tool, -1
        if tool >= 0:
            codes = [code for code, looks in list(self.codes.values()) if looks]
            give_back_tool(tool, ("PY_START", "INSTRUCTION"), codes)

    def go_on_in_fork(self) -> bool:
        """The tool and its events are those of the process that was forked."""
        return self.tool >= 0

    def _looks_in(self, code: Any) -> Any:
        return self.codes[id(code)][1] if id(code) in self.codes else ()

    def _on_start(self, code: Any, offset: int) -> Any:
        if id(code) not in self.codes:
            self._look_again(code)
            looks = self.recorder.looks_in(code, frame_at(1))
            self.codes[id(code)] = code, looks
            if looks:
                MONITORING.set_local_events(self.tool, code, MONITORING.events.INSTRUCTION)
        if not self.recorder.wants_starts_of(code):
            return MONITORING.DISABLE
        self.recorder.begin(frame_at(1))
        return None

    def _look_again(self, begun: Any) -> None:
        """Codes that have begun before may write by ways that count only now."""
        known = self.codes
        codes = self.recorder.widens_at(begun, lambda: [code for code, _ in list(known.values())])
        for code in codes:
            looks = self.recorder.looks_in(code)
            self.codes[id(code)] = code, looks
            if looks:
                MONITORING.set_local_events(self.tool, code, MONITORING.events.INSTRUCTION)
        if codes:
            MONITORING.restart_events()

    def _on_instruction(self, code: Any, offset: int) -> Any:
        looks = self.codes[id(code)][1].get(offset)
        if looks is None:
            return MONITORING.DISABLE
        self.recorder.look(frame_at(1), offset, looks)
        return None
