"""Resumes that pydevd reports too late or not at all, where several threads meet breakpoints.

pydevd numbers its stops, and reports a resume when the first thread leaves the newest one. It does
not ask which stop that thread was at. A thread that is slow to leave one, while another is already
at the next, makes it say that the program runs, and stay silent when it really does: the `continue`
that was to be answered by that never is. Here a thread leaves the stop that it was at.

What a resume is answered is queued by the thread that resumes, and sent by another. A thread that
goes straight into C code which keeps the GIL lets no other run: so it waits for the answer to be
sent first.

And a thread that waits in pydevd looks only five times a second whether it may run. Here it looks
before it waits, so that a step need not wait, and `continue` wakes them all.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import debugger
    from relay.debuggers.debugpy.debuggee.probe.hooks.events import wait_until_answered
    from relay.debuggers.debugpy.debuggee.probe.hooks.limitations import apply_patch
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import patch
    from relay.debuggers.debugpy.debuggee.probe.hooks.probe_requests import refuse_left_questions
    from relay.debuggers.debugpy.debuggee.probe.hooks.suspensions import hook_suspensions
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import trace_less, tracing_state
    from relay.debuggers.debugpy.debuggee.probe.process.ending import presence
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.stops.own_stops import (
        begin_resume,
        count_announced,
        forget_own_stop,
        is_overrun,
        is_stop_looked_at,
        note_client_resumes,
        own_stop_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.stops.steps import pydevd_thread
    from relay.debuggers.debugpy.debuggee.probe.stops.threads import (
        SUSPENDED,
        let_go,
        pydevd_threads,
        wake_thread,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.references import references, release_stale


_ANSWERING_SECONDS = 1.0  # microseconds, unless the relay has stopped reading


def patch_resumes() -> bool:
    """Report each resume once, before any later stop, and answer every `continue`."""
    behavior = debugger()._threads_suspended_single_notification
    if not hasattr(type(behavior), "has_prompt_resumes"):
        behavior.__class__ = _prompt_notification(type(behavior))
    apply_patch("prompt resumes", _make_resumes_prompt)
    apply_patch("left questions", _refuse_left_questions)
    return True


def _refuse_left_questions() -> None:
    hook_suspensions("questions", after=refuse_left_questions)


def _make_resumes_prompt() -> None:
    hook_suspensions("answer", after=_wait_for_answer)
    _look_before_waiting()
    hook_suspensions("references", after=release_stale)
    api: Any = sys.modules["_pydevd_bundle.pydevd_api"].PyDevdAPI
    patch(api, "request_resume_thread", _resume_and_wake)
    for name in ("request_step", "request_smart_step_into", "request_set_next"):
        patch(api, name, _expire_and_go)
    references.expires_by_itself = True


def _wait_for_answer(*_: Any) -> None:
    if presence.is_here:  # who lets the program go waits for no answer, and the next may come
        wait_until_answered(debugger(), _ANSWERING_SECONDS)


def _look_before_waiting() -> None:
    events: Any = debugger()._thread_events
    stock: Any = events.default_factory
    if hasattr(stock, "looks_first"):
        return

    class Event(stock):  # type: ignore[misc]
        looks_first = True

        def wait(self, timeout: float | None = None) -> bool:
            thread = pydevd_thread()
            state = getattr(thread, "additional_info", None)
            if state is not None and state.pydev_state != SUSPENDED:
                return True
            return _take_turn(thread) or bool(stock.wait(self, timeout))

    events.default_factory = Event
    for event in list(events.values()):
        event.__class__ = Event


def _take_turn(thread: Any) -> bool:
    """This thread stands. If that is for a stop of its own which nobody knows of yet, and no other
    is looked at any more, it is announced. True for a thread that has nothing to stand for."""
    stop = None if thread is None else own_stop_of(thread)
    if stop is None or stop.number or is_stop_looked_at():
        return False
    if attempt(stop.is_wanted, default=True):
        thread_id = sys.modules["pydevd"].get_current_thread_id(thread)
        behavior = debugger()._threads_suspended_single_notification
        behavior.on_thread_suspend(thread_id, thread, stop.reason)
        return False
    return _give_up(thread, stop)


def _give_up(thread: Any, stop: Any) -> bool:
    """Its stop is over. The thread runs, if the others were let go without it; else it goes with them."""
    with tracing_state.lock:
        forget_own_stop(thread)
        is_let_go = is_overrun(stop)
        if is_let_go:
            let_go(thread)
    return is_let_go


def _expire_and_go(go: Any, api: Any, *arguments: Any, **named: Any) -> Any:
    attempt(references.expire)
    note_client_resumes()
    return go(api, *arguments, **named)


def _resume_and_wake(resume: Any, api: Any, thread_id: str) -> None:
    attempt(references.expire)
    with tracing_state.lock:
        note_client_resumes()
        begin_resume()
        resume(api, thread_id)
    for _, thread in pydevd_threads():
        attempt(wake_thread, thread)
    attempt(trace_less)


_Stock: Any = object  # pydevd's own class is known once it is loaded, and so are its fields
_NO_FIELDS: Any = ()


class _PromptNotification(_Stock):  # type: ignore[misc]
    """Goes before pydevd's class of notifications, and has no fields beside its."""

    __slots__ = _NO_FIELDS
    _last_resume_notification_time: int
    stop_of: ClassVar[dict[str, int]]
    """By thread id, the number of the stop that the thread is at."""

    def add_on_resumed_callback(self, callback: Callable[[], None]) -> None:
        """`callback` answers `continue`; pydevd sets the threads free right after this."""
        with self._lock:
            waiting = self._suspended_thread_id_to_thread
            if waiting:
                self._let_one_report(waiting)
                super().add_on_resumed_callback(callback)
        if not waiting:
            callback()

    def _let_one_report(self, waiting: dict[str, Any]) -> None:
        if all(self.stop_of.get(one, -1) <= self._last_resume_notification_time for one in waiting):
            self._last_resume_notification_time = self._last_suspend_notification_time - 1
            self.stop_of.update(dict.fromkeys(waiting, self._last_suspend_notification_time))

    def send_suspend_notification(self, thread_id: str, thread: Any, reason: int) -> None:
        count_announced(own_stop_of(thread))
        super().send_suspend_notification(thread_id, thread, reason)

    def send_resume_notification(self, thread_id: str) -> None:
        note_client_resumes()
        super().send_resume_notification(thread_id)

    def on_thread_suspend(self, thread_id: str, thread: Any, stop_reason: int) -> None:
        stop = own_stop_of(thread)
        while stop is not None and is_overrun(stop):
            self._py_db().set_suspend(thread, stop.reason)  # the others, once more
            if own_stop_of(thread) is stop:
                break
            stop = own_stop_of(thread)
        with self._lock:
            if stop is not None and is_stop_looked_at():  # announced when that is over
                self._suspended_thread_id_to_thread[thread_id] = thread
                self.stop_of[thread_id] = self._last_suspend_notification_time
                return
            late = self._last_resume_notification_time < self._last_suspend_notification_time
            if late and self._callbacks:  # free to go, though none has yet: said ahead of this
                self._last_resume_notification_time = self._last_suspend_notification_time
                self.send_resume_notification(thread_id)
            if stop is not None:
                self._announce(thread_id, thread, stop.reason)
                return
        super().on_thread_suspend(thread_id, thread, stop_reason)
        with self._lock:
            self.stop_of[thread_id] = self._last_suspend_notification_time

    def _announce(self, thread_id: str, thread: Any, reason: int) -> None:
        self._pause_requested = False
        self._suspended_thread_id_to_thread[thread_id] = thread
        self._suspend_time_request = self._next_request_time()
        self._last_suspend_notification_time = self._suspend_time_request
        self.stop_of[thread_id] = self._last_suspend_notification_time
        self.send_suspend_notification(thread_id, thread, reason)

    def on_thread_resume(self, thread_id: str, thread: Any) -> None:
        forget_own_stop(thread)
        with self._lock:
            self._suspended_thread_id_to_thread.pop(thread_id, None)
            stop = self.stop_of.pop(thread_id, -1)
            if self._last_resume_notification_time < stop:
                self._last_resume_notification_time = stop
                if self._callbacks or stop == self._last_suspend_notification_time:
                    self.send_resume_notification(thread_id)


def _prompt_notification(stock: Any) -> Any:
    fields = {"__slots__": (), "stop_of": {}, "has_prompt_resumes": True}
    return type("Notification", (_PromptNotification, stock), fields)
