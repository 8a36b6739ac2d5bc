"""ProgramEvents: what happens to a session's program, as its state and as entries of its logs.

Knows which part of the session each happening changes, and how an event is written. Refuses to
know where it comes from: debuggees call it (see `debuggee/events.py`), and verbs that send a
program on its way, which is so before the debugger says it.
Source: API section 6; contract, section 9.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from relay.dap.lifecycle import Happening, Phase
from relay.logs.records import Field, note
from relay.session.debuggee.events import DebuggeeEvents
from relay.session.debuggee.exit_text import describe_exit, while_stopped
from relay.session.state.journey import setting_of
from relay.session.state.program_run import (
    DebuggerReport,
    FailedWithoutStop,
    Launched,
    LoadedCopy,
)
from relay.session.state.recording import LastWords
from relay.session.state.stop import Stop
from relay.session.stop_body import stopped_body

if TYPE_CHECKING:
    from relay.session.session import Session

log = logging.getLogger("relay.session")


STEPS = logging.DEBUG
"""The level of what each step does: beside the line of its request it would be two more."""


class ProgramEvents(DebuggeeEvents):
    """The one writer of a session's lifecycle, stops, run and logs while a program lives."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._run = session.program_run
        self._stops = session.stops
        self._lifecycle = session.lifecycle
        self._log = session.events
        self._metrics = session.metrics

    # The program -----------------------------------------------------------------

    def started(self, launched: Launched) -> None:
        self._run.started(launched)
        if self._session.phase is Phase.LAUNCHING:
            self._lifecycle.apply(Happening.STARTED)
        if (debuggee := self._session.debuggee) is not None:
            debuggee.may_ask()
        self._note("program started", pid=self._session.pid, launch_mode=launched.rung)

    def start_failed(self) -> None:
        self._lifecycle.apply(Happening.START_FAILED)
        self._stops.drop()
        self._note("program not started")

    def stopped(self, stop: Stop) -> None:
        self._lifecycle.apply(Happening.STOPPED)
        self._stops.put(stop, self._lifecycle.stop_id)
        self._run.trace.hold()
        setting = setting_of(self._session.breakpoints, self._session.exceptions)
        self._session.journey.arrive(stop, setting, in_child=self._is_in_child(stop))
        self._metrics.stops[stop.reason] += 1
        self._log.append("stopped", stopped_body(stop))
        self._note("program stopped", STEPS, reason=stop.reason, thread_id=stop.thread_id)

    def _is_in_child(self, stop: Stop) -> bool:
        """Whether another process than the one that was launched has stopped, or what that has become by exec."""
        debuggee, process = self._session.debuggee, stop.process
        has_become_another = debuggee is not None and debuggee.has_become_another
        return has_become_another or (process is not None and process["pid"] != self._session.pid)

    def resumed(self, thread_id: int | None) -> None:
        self._session.journey.resumed()
        self._lifecycle.apply(Happening.RESUMED)
        self._stops.resumed()
        self._run.resumed()
        self._log.append("continued", {"thread_id": thread_id, "all_threads_continued": True})
        self._note("program resumed", STEPS, thread_id=thread_id)
        if (debuggee := self._session.debuggee) is not None:
            debuggee.group.resumed()
            debuggee.may_ask()

    def released(self, thread_id: int, left: Stop) -> None:
        self._session.journey.resumed()
        self._lifecycle.apply(Happening.RESUMED)
        self._lifecycle.apply(Happening.STOPPED)
        self._stops.put(left, self._lifecycle.stop_id)
        self._log.append("continued", {"thread_id": thread_id, "all_threads_continued": False})
        self._note("thread resumed", STEPS, thread_id=thread_id)

    def exited(
        self, exit_code: int | None, reason: str = "target_exited", *, restart: bool = False
    ) -> None:
        self._lifecycle.apply(Happening.EXITED)
        stop = self._stops.current if reason == "target_exited" else None
        self._over(exit_code, reason)
        body: dict[str, Any] = {"exit_code": exit_code, "restart": restart}
        if exit_code:
            body["error"] = describe_exit(exit_code, self._run.launched) + while_stopped(stop)
            if stop is not None:
                words = "the program" + body["error"].removeprefix("Process")
                self._run.lose(words, itself=True)
        self._log.append("terminated", body)
        self._note("program ended", reason=reason, exit_code=exit_code)

    def found_exit_code(self, exit_code: int | None) -> None:
        self._run.found_exit_code(exit_code)

    def crashed(self, reason: str) -> None:
        if self._session.is_over:
            return
        self._lifecycle.apply(Happening.CRASHED)
        self._over(self._run.exit_code, reason)
        self._log.append("terminated", {"exit_code": None, "restart": False, "error": reason})
        self._note("program lost", logging.WARNING, reason=reason)

    def _over(self, exit_code: int | None, reason: str) -> None:
        self._stops.clear()
        self._run.ended(exit_code, reason)

    def _note(self, event: str, level: int = logging.INFO, **fields: Field) -> None:
        note(log, event, level, session_id=self._session.id, **fields)

    def trace_ended(self, number: int, words: LastWords) -> None:
        self._run.trace.keep(number, words)

    def calls_ended(self, number: int, words: LastWords) -> None:
        self._run.calls.keep(number, words)

    def other_copies_loaded(self, copies: Mapping[str, LoadedCopy]) -> None:
        self._run.load_copies(copies)

    # What it prints and reads ----------------------------------------------------

    def printed(self, category: str, text: str) -> None:
        self._metrics.note_output(category, text)
        self._session.output.append(category, text)
        self._log.append(
            "output",
            {"category": category, "output": text, "source": None, "line": None, "column": None},
        )

    def input_wanted(self, prompt: str) -> None:
        self._run.wait_for_input(prompt)
        self._log.append("input_requested", {"prompt": prompt})

    def input_over(self) -> None:
        self._run.stop_waiting()

    def warned(self, message: str | None) -> None:
        self._log.append("warning", {"message": message})

    def failed_without_stop(self, failed: FailedWithoutStop) -> None:
        words = self._session.redaction.text(failed.words)
        self._run.fail_without_stop(replace(failed, words=words))

    # Processes, threads, modules -------------------------------------------------

    def child_started(
        self, pid: int, argv: Sequence[str] | None, *, debuggable: bool = False
    ) -> None:
        if debuggable:
            self._run.debug_child(pid)
        else:
            self._run.leave_unwatched(pid, argv)
        self._log.append(
            "subprocess",
            {
                "reason": "started",
                "pid": pid,
                "command": self._session.redaction.words(argv) if argv is not None else None,
                "debuggable": debuggable,
                "message": "The child process is debugged: it belongs to the session."
                if debuggable
                else "The child process runs on its own, without the debugger.",
            },
        )

    def child_ended(
        self, pid: int, *, exit_code: int | None, signal: str | None, message: str
    ) -> None:
        self._log.append(
            "subprocess",
            {
                "reason": "exited",
                "pid": pid,
                "debuggable": True,
                "exit_code": exit_code,
                "signal": signal,
                "message": message,
            },
        )

    def last_words_heard(self, pid: int) -> None:
        self._run.hear_last_words(pid)

    def process_lost(self, words: str, pid: int | None) -> None:
        self._run.lose(words, pid)

    def shell_ran(self, command: str | None) -> None:
        self._run.run_shell(command)

    def debugger_known(self, report: DebuggerReport) -> None:
        self._run.know_debugger(report)

    def thread_changed(self, reason: Any, thread_id: Any) -> None:
        self._log.append("thread", {"reason": reason, "thread_id": thread_id})

    def module_changed(self, reason: Any, module: Mapping[str, Any]) -> None:
        self._log.append(
            "module",
            {
                "reason": reason,
                "module": {
                    "id": module.get("id"),
                    "name": module.get("name"),
                    "path": module.get("path"),
                    "is_optimized": bool(module.get("isOptimized")),
                    "is_user_code": bool(module.get("isUserCode", True)),
                    "version": module.get("version"),
                },
            },
        )
