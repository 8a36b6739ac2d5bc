"""How own calls are recorded from the interpreter's events: by `sys.monitoring`, on 3.12 and later.

A tool number of our own. The beginning of each function is an event once; of those that are not
meant never again. Returns and yields are events of own code only; what an exception leaves is one
of all code, since the interpreter has no such event for one code alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.calls.record import CallRecord, line_in_traceback
    from relay.debuggers.debugpy.debuggee.probe.hooks.monitoring_tool import (
        MONITORING,
        call_at_events,
        give_back_tool,
        take_tool,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.frame_room import with_more_room
    from relay.debuggers.debugpy.debuggee.probe.process.guard import frame_at

_CALL_EVENTS = ("PY_START", "PY_RETURN", "PY_YIELD", "PY_UNWIND")


class CallsMonitor:
    """The events of one recording."""

    def __init__(self, record: CallRecord) -> None:
        self.record, self.tool = record, -1

    def start(self) -> bool:
        """False if others have all tool numbers."""
        self.tool = take_tool("calls")
        if self.tool < 0:
            return False
        events = MONITORING.events
        callbacks = (self._on_start(), self._on_return, self._on_yield, self._on_unwind)
        call_at_events(self.tool, dict(zip(_CALL_EVENTS, callbacks)))  # noqa: B905  not in Python 3.8
        MONITORING.set_events(self.tool, events.PY_START | events.PY_UNWIND)
        MONITORING.restart_events()  # those that an earlier recording has switched off
        return True

    def stop(self) -> None:
        tool, self.tool = self.tool, -1
        if tool < 0:
            return
        functions = list(self.record.scope.functions.values())
        give_back_tool(tool, _CALL_EVENTS, [function.code for function in functions])

    def _on_start(self) -> Any:
        """The callback at the beginning of a function; its first lines are the price."""
        record, disable = self.record, MONITORING.DISABLE
        functions, begin, frame_of = record.scope.functions, record.begin, frame_at

        def on_start(code: Any, offset: int) -> Any:
            try:
                function = functions.get(id(code))
                if function is None:
                    function = self._learn(code, frame_of(1))
                    if function is None:
                        return disable
                if record.is_active:
                    begin(frame_of(1), function)
                    if record.state != "recording":
                        self._silence()
            except RecursionError:
                self._again(self._begin, frame_of(1))
            except BaseException as error:  # noqa: BLE001  whatever the program's objects raise
                record.failed(error)
            return None

        return on_start

    def _silence(self) -> None:
        """The program goes on without events. The tool number is given back as the recording is ended, and not
        in the middle of an event."""
        MONITORING.set_events(self.tool, 0)
        for function in list(self.record.scope.functions.values()):
            MONITORING.set_local_events(self.tool, function.code, 0)

    def _begin(self, frame: Any) -> None:
        code = frame.f_code
        function = self.record.scope.functions.get(id(code)) or self._learn(code, frame)
        if function is not None and self.record.is_active:
            self.record.begin(frame, function)

    def _again(self, act: Any, frame: Any, *given: Any) -> None:
        """The program has called itself so deep that there were not frames enough: once more with others.

        What it raises for that is its own, and is recorded. Where there is no frame even for this, it comes to
        its `RecursionError` a frame earlier; where its calls go through C, which has a bound of its own, the innermost
        are left out.
        """
        with_more_room(self._act, act, frame, *given)

    def _act(self, act: Any, frame: Any, *given: Any) -> None:
        try:
            act(frame, *given)
        except RecursionError:
            self.record.open.pop(id(frame), None)  # another frame may have its number next
        except BaseException as error:  # noqa: BLE001  whatever the program's objects raise
            self.record.failed(error)

    def _learn(self, code: Any, frame: Any) -> Any:
        function = self.record.scope.learn(frame)
        if function is None:
            return None  # nobody asks again
        events = MONITORING.events
        wanted = events.PY_RETURN | (events.PY_YIELD if function.yields_values else 0)
        MONITORING.set_local_events(self.tool, code, wanted)
        return function

    def _on_return(self, code: Any, offset: int, value: Any) -> None:
        try:
            self.record.returned(frame_at(1), value)
        except RecursionError:
            self._again(self.record.returned, frame_at(1), value)
        except BaseException as error:  # noqa: BLE001  whatever the program's objects raise
            self.record.failed(error)

    def _on_yield(self, code: Any, offset: int, value: Any) -> None:
        try:
            self.record.yielded(frame_at(1), value)
        except RecursionError:
            self._again(self.record.yielded, frame_at(1), value)
        except BaseException as error:  # noqa: BLE001  whatever the program's objects raise
            self.record.failed(error)

    def _on_unwind(self, code: Any, offset: int, error: Any) -> None:
        record = self.record
        if id(code) not in record.scope.functions:
            return
        try:
            self._raised(frame_at(1), error)
        except RecursionError:
            self._again(self._raised, frame_at(1), error)
        except BaseException as fault:  # noqa: BLE001  whatever the program's objects raise
            record.failed(fault)

    def _raised(self, frame: Any, error: Any) -> None:
        record = self.record
        if id(frame) in record.open:
            text = record.write_error(error)
            record.raised(frame, type(error), text, line_in_traceback(frame, error))
