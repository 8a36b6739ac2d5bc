"""One run of a program, recorded call by call into a file; and where it stands, if it is ended before."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import trio

from relay.config import Settings
from relay.errors import DebuggerTimeout, InvalidSessionState, RelayError
from relay.hub import open_relay
from relay.models.execution import ContinueRequest
from relay.models.hangs import HangRequest
from relay.models.launch import LaunchRequest
from relay.models.sessions import SessionSettings
from relay.operations.compare.comparable_text import comparable_output
from relay.operations.compare.equal_chance import EqualChance
from relay.operations.compare.failure_words import failure_words, last_line_without_warnings
from relay.operations.compare.moments import Moments
from relay.operations.compare.stream_reader import join_tail
from relay.operations.compare.whole_calls import Whole
from relay.operations.execution.calls import focus_of
from relay.operations.execution.output_tap import feed
from relay.operations.execution.stepping import continue_execution
from relay.operations.execution.unmet_focus import unmet_focus
from relay.operations.functions import source_roots
from relay.operations.hangs.hang_report import hang_report
from relay.operations.output.reading import all_printed
from relay.operations.report.missed import had_xdist_workers, unwatched
from relay.operations.report.other_copies import other_copy
from relay.operations.sessions.launching import launch
from relay.operations.sessions.sessions import open_session
from relay.operations.sessions.stop_wait import STOPS
from relay.session.session import Session
from relay.session.state.program_run import WantedCalls

HANG_SECONDS = 2.0
"""How long a program that is to be ended may take to say what it waits for."""
HANG_BYTES = 1400

NOTHING_COMPARED = "nothing is compared"

Printed = tuple[str, str]
"""What a run has written to its two streams."""


@dataclass(frozen=True)
class Side:
    """One of the two runs: what is run, and where."""

    name: str
    """In texts: `1`, `this tree`, a revision."""
    target: Mapping[str, Any]
    """The fields of a launch that name the program."""
    root: str
    """Its own code is below; paths are compared without it."""
    cwd: str
    env: Mapping[str, str]
    other_root: str
    """That of the other run. A path in there is the same path for both: of the interpreter that both have, say."""
    python: str | None = None
    """Its own interpreter, if the other has another one."""
    libraries: tuple[str, ...] = ()
    """Where that has its libraries, inner folders first; empty if both run by one interpreter."""
    other_libraries: tuple[str, ...] = ()
    """Those of the other run, in the same order."""
    is_of_revision: bool = False
    """Whether it has a revision's tree, and nothing of the other's."""
    is_compiled_otherwise: bool = False
    """Whether it has the other's compiled modules, though their sources are others here."""

    @property
    def roots(self) -> tuple[str, ...]:
        """What is left out of paths, the inner one first."""
        folders = {self.root, self.other_root, *self.libraries, *self.other_libraries}
        return tuple(sorted(folders, key=len, reverse=True))

    @property
    def script(self) -> str | None:
        """The file that is run, by its real path; None if it is no file."""
        named = self.target.get("script")
        return os.path.realpath(os.path.join(self.cwd, named)) if named else None

    @property
    def in_words(self) -> str:
        """The name, in a sentence."""
        return f"command {self.name}" if self.name.isdigit() else self.name

    @property
    def where_and_what(self) -> tuple[object, ...]:
        """Equal for two sides that are one program."""
        return dict(self.target), self.root, self.cwd, dict(self.env), self.python


@dataclass(frozen=True)
class Ran:
    """A run that is over."""

    side: Side
    stream: Path
    """A line for each call, in the order in which they ended."""
    exit_code: int | None
    last_words: str
    """The line that it printed of its failure; if it did not fail, the last of its standard error."""
    printed: Printed
    """All that it wrote to standard output, and to standard error, as far as it was kept, without what is no difference."""
    began: float
    """In seconds since 1970."""
    pid: int
    python: str
    """The interpreter that ran it."""
    has_stopped: bool
    """What it called after its first stop is not recorded."""
    complaint: str
    """Why the recording has broken off; empty if it has not."""
    draws: bool
    """Whether it may have drawn random numbers from a generator to which it gave no seed."""
    strayed: str
    """A source that it has imported from the tree of the other run, though it has its own; or empty."""
    is_lost: bool
    """Whether it has ended without a word of its calls, as by os._exit."""
    unmet: str
    """Why nothing was called of what the question names; empty if it names nothing, or something was."""
    unseen: str
    """The other processes that ran Python, in words: what they called is not recorded."""
    has_xdist: bool
    """Whether workers of pytest-xdist are among them."""
    late: str = ""
    """That it was ended after the time that it was given, in words, with where it stood; empty if it was not.
    Then its exit code and what it printed are not known."""
    draws_alike: bool = False
    """Whether its random numbers are those of other runs, from beginning to end."""
    until: int | None = None
    """The number of the last call that is compared, or recorded at all; None if all are."""

    @property
    def is_cut(self) -> bool:
        """Whether it has called more than is recorded."""
        return self.has_stopped or bool(self.complaint) or bool(self.late)

    @property
    def was_killed(self) -> bool:
        """Whether a signal has ended it."""
        return self.exit_code is not None and self.exit_code < 0

    @property
    def has_called(self) -> bool:
        """Whether any call is in the file."""
        return self.stream.stat().st_size > 0


class Progress:
    """Which run is under way, for who ends a comparison before its end."""

    def __init__(self) -> None:
        self._begun: list[Side] = []  # those that have run or do
        self._session: Session | None = None
        self._began = time.monotonic()

    def begin(self, side: Side, session: Session) -> None:
        """A run of this side is about to start."""
        self._begun.append(side)
        self._session, self._began = session, time.monotonic()

    def end(self) -> None:
        """That run is over: its calls are read and compared."""
        self._session, self._began = None, time.monotonic()

    async def report(self, ended_by: str) -> str:
        """What was done until now, and where the run under way stands, in at most some 1,500 bytes."""
        seconds, count = time.monotonic() - self._began, len(self._begun)
        if self._session is None:
            done = (
                f"after {count} run{'' if count == 1 else 's'}" if count else "before the first run"
            )
            return f"ended by {ended_by} {done}; {NOTHING_COMPARED}"
        side = self._begun[-1]
        again = " in a further run" if count > len({each.name for each in self._begun}) else ""
        head = f"{side.in_words} was ended{again} by {ended_by} after {seconds:.1f} s; {NOTHING_COMPARED}"
        stands = await _waits(self._session)
        return "\n".join([head, *filter(None, [stands.replace(side.root + os.sep, "")])])


async def _waits(session: Session) -> str:
    """What each thread waits for; empty of a program that is not there, or cannot say it soon."""
    if session.stop is not None or session.is_over:
        return ""
    try:
        with trio.fail_after(HANG_SECONDS):
            return (await hang_report(session, body=HangRequest(max_chars=HANG_BYTES))).report
    except DebuggerTimeout as error:
        return f"where it stood is not known: {error.message}"
    except (RelayError, trio.TooSlowError):
        return ""


async def run_recorded(
    settings: Settings,
    side: Side,
    focus: Sequence[str],
    stream: Path,
    python: str | None,
    *,
    rereads: bool = False,
    seed: int | None = None,
    chance: EqualChance | None = None,
    limit: float | None = None,
    progress: Progress | None = None,
    whole: Whole | None = None,
) -> Ran:
    """Run it to its end without input; raises RelayError if it cannot be started.

    rereads: record what has become of arguments, too, for about two fifths more processor time.
    seed: by which the addresses of its objects are drawn, which is no matter to most programs; None: as
    they come. chance: what other runs may have alike; None: the program leaves it to chance. limit: in seconds, how long it may run; then it is ended, and what it has called by then is recorded.
    whole: of which calls all is recorded that their values store; None: of all.
    """
    progress = progress or Progress()
    began = time.time()
    await trio.Path(stream).touch()
    async with open_relay(settings) as hub:
        request = SessionSettings(project_root=side.root, python_path=python)
        session = await open_session(hub, body=request)
        with session.activity():
            wanted = WantedCalls(
                await focus_of(session, focus),
                stream=str(stream),
                rereads=rereads,
                seed=seed,
                chance=chance._asdict() if chance else None,
                trees=side.roots,
                other_tree=side.other_root if side.is_of_revision else None,
                whole=whole._asdict() if whole else None,
            )
            progress.begin(side, session)
            pid, interpreter, cursor = await _begin(session, side, wanted)
            has_stopped, late = False, ""
            with trio.move_on_after(math.inf if limit is None else limit):
                has_stopped = await _through_stops(session, cursor)
            if not session.is_over:
                late = await progress.report("--timeout")
                await _end_recording(session)
            await trio.to_thread.run_sync(join_tail, stream)
            progress.end()
            stdout, stderr = all_printed(session)
            words = session.program_run.calls.last_words.get(0)
            calls = None if words is None else words.record
            said = (failure_words if session.exit_code else _of_success)(stdout, stderr)
            return Ran(
                side=side,
                stream=stream,
                exit_code=None if late else session.exit_code,
                last_words=session.redaction.text(said),
                printed=("", "")
                if late
                else _comparable(side, Moments(began, time.time()), stdout, stderr),
                began=began,
                pid=pid,
                python=python or interpreter or settings.python_path,
                has_stopped=has_stopped,
                complaint=str((calls or {}).get("complaint") or ""),
                draws=calls is None or bool(calls.get("draws")),
                strayed=_strayed(side, (calls or {}).get("strayed") or []),
                is_lost=calls is None and not (has_stopped or late),
                unmet=await _unmet(session, wanted.focus, stream),
                unseen=unwatched(session, python_only=True) or "",
                has_xdist=had_xdist_workers(session),
                late=late,
                draws_alike=chance is not None and chance.anew is None,
                until=whole.until if whole else None,
            )


async def _begin(session: Session, side: Side, wanted: WantedCalls) -> tuple[int, str | None, int]:
    """Launch the program, without input: its process, its interpreter, and where its events begin."""
    session.program_run.want_calls(wanted)
    cursor = session.events.last_seq
    body = LaunchRequest(**side.target, cwd=side.cwd, env=dict(side.env), stop_on_exception=False)
    launched = await launch(session, body=body)
    await feed(session, b"", end=True)
    return launched.pid, launched.python_path, cursor


async def _end_recording(session: Session) -> None:
    """Have all in the file that was called by now; a program that cannot answer keeps the last calls."""
    inspector = session.debuggee.inspector if session.debuggee is not None else None
    if inspector is not None:
        with trio.move_on_after(HANG_SECONDS), suppress(RelayError):
            await inspector.calls_read(stopped=True)


async def _unmet(session: Session, focus: Sequence[str], stream: Path) -> str:
    if not focus or (await trio.Path(stream).stat()).st_size:
        return ""
    return await trio.to_thread.run_sync(
        unmet_focus, focus, source_roots(session), partial(other_copy, session)
    )


def _strayed(side: Side, imported: Sequence[str]) -> str:
    places = [os.path.relpath(path, side.other_root) for path in imported]
    return next((one for one in places if os.path.isfile(os.path.join(side.root, one))), "")


async def _through_stops(session: Session, cursor: int) -> bool:
    """Until the program has ended; whether it has stopped on its way, by a `breakpoint()` of its own."""
    has_stopped = False
    while not session.is_over:
        await session.events.wait(cursor, types=STOPS)
        cursor = session.events.last_seq
        if session.stop is not None:
            has_stopped = True
            with suppress(InvalidSessionState):  # it was killed meanwhile
                await continue_execution(session, body=ContinueRequest())
    return has_stopped


def _comparable(side: Side, moments: Moments, stdout: str, stderr: str) -> Printed:
    cwd = os.path.realpath(side.cwd)
    return (
        comparable_output(stdout, side.roots, moments, cwd),
        comparable_output(stderr, side.roots, moments, cwd),
    )


def _of_success(stdout: str, stderr: str) -> str:
    return last_line_without_warnings(stderr)
