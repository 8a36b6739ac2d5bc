"""What a trace of one call and a tree of calls have in common: each process of the program records, and is asked.

Knows how a recording is reached while the processes are there. Knows nothing of what is recorded.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple, TypeAlias

import trio

from relay.errors import NotSupported, RelayError
from relay.session.dap.last_words import OVER, as_ended
from relay.session.debuggee.debuggee import Debuggee
from relay.session.inspector import Inspector
from relay.session.session import Session
from relay.session.state.program_run import ProgramRun
from relay.session.state.recording import LastWords, Recording

Record: TypeAlias = Mapping[str, Any]

OTHERS_SECONDS = 2.0
"""How long the processes that have not stopped may take to begin or to end: one may be in a call of C code."""
MOST_NAMED = 3
"""Of other processes."""
OTHERWISE = "Set a breakpoint in the function instead, and step"

GONE = "the program ended at once, and what was recorded, if anything, went with it"
"""Why there is no record of a program that was killed, left by `os._exit`, or could not be found."""


class Question(NamedTuple):
    """One of the two: what it is called, who has asked it in a run, and how a process begins to record and is read."""

    what: str
    verb: str
    recording_of: Callable[[ProgramRun], Recording]
    start: Callable[[Inspector, Mapping[str, Any]], Awaitable[bool]]
    read: Callable[[Inspector, bool], Awaitable[Record | None]]
    """Is given whether the process has stopped: the recording ends then."""


TRACE = Question(
    "trace",
    "trace a call",
    lambda run: run.trace,
    lambda inspector, wanted: inspector.trace_start(**wanted),
    lambda inspector, stopped: inspector.trace_read(stopped=stopped),
)
CALLS = Question(
    "recording",
    "record calls",
    lambda run: run.calls,
    lambda inspector, wanted: inspector.calls_start(**wanted),
    lambda inspector, stopped: inspector.calls_read(stopped=stopped),
)


def recorder_of(session: Session, question: Question) -> Inspector:
    """The way to recordings in the program; raises NotSupported where there is none."""
    return _inspector_of(session.require_debuggee(question.verb), question)


def _inspector_of(debuggee: Debuggee, question: Question) -> Inspector:
    if debuggee.inspector is None:
        raise NotSupported(f"This debugger cannot {question.verb}", suggestion=OTHERWISE)
    return debuggee.inspector


@asynccontextmanager
async def begun_whole(end: Callable[[], Awaitable[object]]) -> AsyncIterator[None]:
    """What is in the block begins a recording and lets the program go on: both, though the client
    hangs up meanwhile. If the program cannot go on, `end` ends the recording."""
    with trio.CancelScope(shield=True):
        try:
            yield
        except RelayError:
            with suppress(RelayError):
                await end()
            raise


class ProcessRecord(NamedTuple):
    """What one process has recorded."""

    number: int
    """That of the process within the session: 0 is the program."""
    process: Mapping[str, Any]
    record: Record
    is_there: bool
    """Whether it can go on recording: else these are its last words."""


class Records(NamedTuple):
    """What all of them have: that which has stopped first, then the program and its children; those that have ended
    last."""

    found: Sequence[ProcessRecord]
    lost: Sequence[Mapping[str, Any]]
    """Processes that have ended without a word of it."""
    silent: Sequence[Mapping[str, Any]] = ()
    """Those that do not answer."""
    struck: Sequence[Mapping[str, Any]] = ()
    """Processes that handled the signal which ended them in the end, and said nothing after it had come."""

    @property
    def may_have_hidden(self) -> bool:
        """Whether a thread has come near its limit of frames, where it is not traced before Python 3.12."""
        return any(one.record.get("hidden") for one in self.found)

    def unknown(self) -> str | None:
        """What may be missing, of which processes, in words; None if nothing."""
        words = []
        if self.lost:
            have = "has" if len(self.lost) == 1 else "have"
            words.append(f"what was recorded went with {_numbers(self.lost)}, which {have} ended")
        if self.struck:
            names = _numbers(self.struck)
            words.append(f"what {names} did after a signal had come is not known")
        if self.silent:
            does = "does" if len(self.silent) == 1 else "do"
            words.append(f"{_numbers(self.silent)} {does} not answer")
        if self.may_have_hidden:
            words.append("before Python 3.12 a RecursionError hides calls for a while")
        return "; ".join(words) or None


async def begin_here(session: Session, question: Question, wanted: Mapping[str, Any]) -> None:
    """Begin it, anew, in the process that has stopped, before that is sent on. Others go on with theirs.

    Raises NotSupported if it has no room for it.
    """
    here = session.live_debuggee
    if not await question.start(_inspector_of(here, question), wanted):
        raise NotSupported(
            f"The program's own tracing tools leave no room for a {question.what}",
            suggestion=OTHERWISE,
        )
    question.recording_of(session.program_run).begun(here.number, here.group.process_of(here))


async def begin_in_all(
    session: Session, question: Question, wanted: Mapping[str, Any], *, everywhere: bool
) -> None:
    """Begin it here, and in those that join from now on; everywhere: in all others that there are, too.

    Where the same is under way already, after a stop elsewhere, it goes on. Raises as `begin_here`, and asks nobody
    then; of the others, who has no room for it is left out.
    """
    group, recording = session.live_debuggee.group, question.recording_of(session.program_run)
    if recording.is_held and recording.wanted == wanted:
        recording.ask_again()
    else:
        group.drop_trace_stops()
        recording.begin(wanted)
    try:
        await begin_here(session, question, wanted)
    except NotSupported:
        recording.end()
        raise

    async def begin(member: Debuggee) -> None:
        assert member.inspector is not None
        if member.number in recording.begun_in:
            return
        # Before it answers: it has it, though that may be late.
        recording.begun(member.number, group.process_of(member))
        if not await question.start(member.inspector, wanted):
            recording.not_begun(member.number)

    if everywhere:
        with trio.move_on_after(OTHERS_SECONDS):
            await group.send_to_others(group.current, begin)


async def end_elsewhere(session: Session) -> None:
    """A trace that is not asked for again ends, in the processes, too, that have not stopped. Before the resume."""
    recording = session.program_run.trace
    if recording.wanted is None or not recording.is_held:
        return
    recording.end()
    group = session.live_debuggee.group
    group.drop_trace_stops()
    here = group.current

    async def end(member: Debuggee) -> None:
        assert member.inspector is not None
        if member.number in recording.begun_in:
            record = await member.inspector.trace_read(stopped=True)
            if record is not None:
                recording.keep(member.number, LastWords(group.process_of(member), record))

    with trio.move_on_after(OTHERS_SECONDS):
        await group.send_to_others(here, end)


async def records_of(
    session: Session, question: Question, *, only_stopped: bool = False
) -> Records:
    """What has been recorded by now, of processes that have ended, too.

    only_stopped: of the process alone that has stopped, if one has. Raises RelayError if nobody answers who should.
    """
    recording = question.recording_of(session.program_run)
    group, only_stopped = session.live_group, only_stopped and session.stop is not None
    here = None if group is None or session.stop is None else group.current
    members = [
        one
        for one in ([] if group is None else group.answering())
        if one.number in recording.begun_in and (one is here or not only_stopped)
    ]
    members.sort(key=lambda one: one is not here)
    answers: dict[int, Record | RelayError | None] = {}

    async def ask(member: Debuggee) -> None:
        stopped = session.stop is not None and member.group.has_stopped(member)
        try:
            inspector = _inspector_of(member, question)
            answers[member.number] = await question.read(inspector, stopped)
        except RelayError as error:
            answers[member.number] = error

    async with trio.open_nursery() as nursery:
        for member in members:
            nursery.start_soon(ask, member)
    found, silent, failures = [], [], []
    for member in members:
        answer, process = answers[member.number], recording.begun_in[member.number]
        if answer is None:
            continue
        if not isinstance(answer, RelayError):
            found.append(ProcessRecord(member.number, process, answer, is_there=True))
        elif session.live_group is not None and member in member.group.answering():
            silent.append(process)
            failures.append(answer)
    present = {one.number for one in found}
    found += [
        ProcessRecord(number, words.process, words.record, is_there=False)
        for number, words in sorted(recording.last_words.items())
        if not only_stopped and number not in present
    ]
    if failures and not found:
        raise failures[0]
    gone = _gone(session, recording)
    lost = [process for number, process in gone.items() if number not in recording.last_words]
    return Records(found, lost, silent, _struck(gone, recording))


def _gone(session: Session, recording: Recording) -> dict[int, Mapping[str, Any]]:
    """The processes that have recorded, and are not there any more."""
    group = session.live_group
    there = set() if group is None else {one.number for one in group.answering()}
    return {
        number: process for number, process in recording.begun_in.items() if number not in there
    }


def _struck(gone: Mapping[int, Mapping[str, Any]], recording: Recording) -> list[Mapping[str, Any]]:
    words = recording.last_words
    return [gone[one] for one in gone if one in words and not words[one].is_final]


async def keep_records(session: Session, question: Question) -> None:
    """What is recorded by now is all there will be of it: the program is about to be ended by force."""
    recording = question.recording_of(session.program_run)
    for one in (await records_of(session, question)).found:
        if one.is_there and one.record["state"] in OVER:
            recording.keep(one.number, LastWords(one.process, as_ended(one.record)))


def beside(session: Session, question: Question) -> str:
    """Behind what has not been recorded yet: other processes of the session, whose calls are not."""
    if (group := session.live_group) is None:
        return ""
    there, recording = group.answering(), question.recording_of(session.program_run)
    keepers = [one for one in there if one.number in recording.begun_in]
    others = [one for one in there if one.number not in recording.begun_in]
    if not keepers or not others:
        return ""
    process_of = group.process_of
    shown = map(process_of, others[:MOST_NAMED])
    named = ", ".join(f"{one['pid']} ({one['name']})" for one in shown)
    more = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
    alone = _numbers([process_of(one) for one in keepers])
    return f", in {alone} alone, not in {named}{more}: ask at a stop there, at a breakpoint say"


def process_in_words(process: Mapping[str, Any]) -> str:
    """A process, by its number and what it is called."""
    return f"process {process['pid']} ({process['name']})"


def _numbers(processes: Sequence[Mapping[str, Any]]) -> str:
    """Some processes, by their numbers."""
    pids = [str(one["pid"]) for one in processes]
    if len(pids) == 1:
        return f"process {pids[0]}"
    more = f" and {len(pids) - MOST_NAMED} more" if len(pids) > MOST_NAMED else ""
    shown = pids[:MOST_NAMED]
    named = ", ".join(shown) if more else f"{', '.join(shown[:-1])} and {shown[-1]}"
    return f"processes {named}{more}"
