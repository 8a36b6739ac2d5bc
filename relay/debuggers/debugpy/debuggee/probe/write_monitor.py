"""The instructions that may write a state, as events of `sys.monitoring`: 3.12 and later.

A tool number of our own. Each code is looked at when it begins for the first time; from then on
only the instructions in question are events.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.trace_monitor import _sys_monitoring
    from relay.debuggers.debugpy.debuggee.probe.write_recorder import WriteRecorder


class WriteMonitor:
    """The events of one recorder."""

    def __init__(self, recorder: WriteRecorder) -> None:
        self.recorder, self.tool = recorder, -1
        self.codes: dict[Any, Any] = {}

    def start(self) -> bool:
        """False if others have all tool numbers."""
        free = (n for n in (4, 3, 2) if _sys_monitoring.get_tool(n) is None)
        self.tool = next(free, -1)
        if self.tool < 0:
            return False
        events = _sys_monitoring.events
        _sys_monitoring.use_tool_id(self.tool, "debug relay writes")
        _sys_monitoring.register_callback(self.tool, events.PY_START, self._on_start)
        _sys_monitoring.register_callback(self.tool, events.INSTRUCTION, self._on_instruction)
        _sys_monitoring.set_events(self.tool, events.PY_START)
        return True

    def stop(self) -> None:
        tool, self.tool = self.tool, -1
        if tool < 0:
            return
        events = _sys_monitoring.events
        _sys_monitoring.set_events(tool, 0)
        for code in self.codes:
            _sys_monitoring.set_local_events(tool, code, 0)
        for event in (events.PY_START, events.INSTRUCTION):
            _sys_monitoring.register_callback(tool, event, None)
        _sys_monitoring.free_tool_id(tool)

    def _on_start(self, code: Any, offset: int) -> Any:
        known = self.codes.get(code)
        if known is None:
            known = self.recorder.looks_in(code)
            if known:
                self.codes[code] = known
                _sys_monitoring.set_local_events(
                    self.tool, code, _sys_monitoring.events.INSTRUCTION
                )
        if not self.recorder.wants_starts_of(code):
            return _sys_monitoring.DISABLE
        self.recorder.begin(sys._getframe(1))
        return None

    def _on_instruction(self, code: Any, offset: int) -> Any:
        looks = self.codes[code].get(offset)
        if looks is None:
            return _sys_monitoring.DISABLE
        self.recorder.look(sys._getframe(1), offset, looks)
        return None
