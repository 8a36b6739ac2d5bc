"""DebuggeeEvents: what a debuggee, and whoever speaks with its debugger, has to say.

The only way by which a debuggee changes status and run of its session: who reads DAP, pipes or the
process tree calls a method here, in the order in which things happened. The session implements it
(`relay/session/program_events.py`). What they need to know, such as breakpoints and limits, they
read from the session itself; what the debugger says of breakpoints and captures goes into their
tables (`relay/session/dap/`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from relay.session.state.program_run import (
    DebuggerReport,
    FailedWithoutStop,
    Launched,
    LoadedCopy,
)
from relay.session.state.recording import LastWords
from relay.session.state.stop import Stop


class DebuggeeEvents(Protocol):
    """Each method returns at once, and what it says is in the log then."""

    # The program -----------------------------------------------------------------

    def started(self, launched: Launched) -> None:
        """The program is under the debugger; it may have stopped already."""

    def start_failed(self) -> None:
        """No program was started, and nothing of the attempt is left."""

    def stopped(self, stop: Stop) -> None:
        """The program has stopped: `stop` is in force, and everyone who waits wakes up."""

    def resumed(self, thread_id: int | None) -> None:
        """The program runs: the stop and everything that belongs to it are dead."""

    def released(self, thread_id: int, left: Stop) -> None:
        """One thread runs, the others stay: `left` is the stop that is in force now."""

    def exited(
        self, exit_code: int | None, reason: str = "target_exited", *, restart: bool = False
    ) -> None:
        """The program has ended, and all it printed is in the log."""

    def found_exit_code(self, exit_code: int | None) -> None:
        """The program was ended from here, and this is what the system says of its end."""

    def crashed(self, reason: str) -> None:
        """The debugger broke off: the session cannot go on."""

    def trace_ended(self, number: int, words: LastWords) -> None:
        """A process ends, and takes with it what it has recorded of a call. number: within the session."""

    def calls_ended(self, number: int, words: LastWords) -> None:
        """The same of the tree of its own calls."""

    def other_copies_loaded(self, copies: Mapping[str, LoadedCopy]) -> None:
        """A process ends, and has loaded these in place of files that breakpoints or questions name, by real path."""

    # What it prints and reads ----------------------------------------------------

    def printed(self, category: str, text: str) -> None:
        """Text of the program, or of the debugger (`console`)."""

    def input_wanted(self, prompt: str) -> None:
        """The program waits for standard input, and asks for it with these words."""

    def input_over(self) -> None:
        """The program does not wait for input any more."""

    def warned(self, message: str) -> None:
        """Something that nobody asked for went wrong, and the program goes on."""

    def failed_without_stop(self, failed: FailedWithoutStop) -> None:
        """A test has failed, and nothing was raised that a stop could show."""

    # Processes, threads, modules -------------------------------------------------

    def child_started(
        self, pid: int, argv: Sequence[str] | None, *, debuggable: bool = False
    ) -> None:
        """A child was started: it runs free, or joins the session if it is `debuggable`."""

    def child_ended(
        self, pid: int, *, exit_code: int | None, signal: str | None, message: str
    ) -> None:
        """A child under the debugger has ended."""

    def last_words_heard(self, pid: int) -> None:
        """A child that another process is about to kill has said all that only it knew."""

    def process_lost(self, words: str, pid: int | None) -> None:
        """A process was killed: clients are to learn of it, though nobody asked it anything."""

    def shell_ran(self, command: str | None) -> None:
        """The program had a shell run a command, which has no debugger and no number."""

    def debugger_known(self, report: DebuggerReport) -> None:
        """The debugger in the program has said what it is."""

    def thread_changed(self, reason: Any, thread_id: Any) -> None:
        """A thread has begun or ended."""

    def module_changed(self, reason: Any, module: Mapping[str, Any]) -> None:
        """A module was loaded, changed or removed; `module` is DAP's."""
