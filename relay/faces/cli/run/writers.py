"""How `relay run` reports a run: as text beside the program's output, or as JSON lines.

Knows descriptors and words. Refuses to know when there is something to report.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import select
import signal
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import click
import trio

from relay.errors import RelayError
from relay.faces.cli.complaint import complaint
from relay.operations.report.missed import may_come
from relay.operations.report.report_text import one_line, render

if TYPE_CHECKING:
    from relay.models.calls import CallsResult
    from relay.models.captures import Captures
    from relay.models.execution import WatchValue
    from relay.models.hangs import HangReport
    from relay.models.history import History
    from relay.models.report import Report, ReportChange
    from relay.models.trace import TraceResult

STDOUT, STDERR = 1, 2
RECORD = "; --record PLACE:EXPR takes no second run"
STREAMS = {"stdout": STDOUT, "stderr": STDERR}


class CannotWriteError(Exception):
    """What was to be reported cannot be written."""

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self._error = error

    def exit_code(self) -> int:
        """The exit code: that of a broken pipe if the reader has gone, else 1, and why."""
        if isinstance(self._error, BrokenPipeError):
            return 128 + signal.SIGPIPE
        with contextlib.suppress(OSError):
            os.write(STDERR, f"relay: cannot write output: {self._error.strerror}\n".encode())
        return 1


class RunWriter(Protocol):
    """Writes the report of one run. Raises CannotWriteError when that cannot be written."""

    async def started(
        self, pid: int, python: str | None, breakpoints: Sequence[Mapping[str, Any]]
    ) -> None: ...
    async def printed(self, category: str, data: bytes) -> None: ...
    async def logged(self, texts: Sequence[str]) -> None: ...
    async def stopped(self, number: int, report: Report, watches: Sequence[WatchValue]) -> None: ...
    async def failed_again(
        self, number: int, facts: Mapping[str, Any], like: int | None
    ) -> None: ...
    async def why(self, found: History, root: str) -> None: ...
    async def called(self, calls: CallsResult) -> None: ...
    async def traced(self, number: int, found: TraceResult) -> None: ...
    async def hung(self, found: HangReport) -> None: ...
    async def stood(self, report: Report) -> None: ...
    async def captured(self, captures: Captures) -> None: ...
    async def noted(self, text: str) -> None: ...
    async def failed(self, error: RelayError) -> None: ...
    async def ended(self, summary: Mapping[str, Any], words: Sequence[str]) -> None: ...


class TextWriter:
    """Output where the program sent it; everything else on stderr."""

    def __init__(self, max_chars: int) -> None:
        self._max_chars = max_chars
        self._colours = os.isatty(STDERR) and "NO_COLOR" not in os.environ
        self._shared = _same_file(STDOUT, STDERR)
        self._within_line = {STDOUT: False, STDERR: False}

    async def started(
        self, pid: int, python: str | None, breakpoints: Sequence[Mapping[str, Any]]
    ) -> None:
        """The interpreter, if it is not the relay's own, and what will not work."""
        if python is not None:
            await self.noted(f"[python] {python}")
        for one in breakpoints:
            if not one["verified"] and one["function"] is None and not may_come(one["message"]):
                await self.noted(f"[not set] {_missed(one)}")

    async def printed(self, category: str, data: bytes) -> None:
        """What the program printed, byte for byte, on the stream that it was printed to."""
        fd = STREAMS[category]
        self._within_line[fd] = not data.endswith(b"\n")
        await write(fd, data)

    async def logged(self, texts: Sequence[str]) -> None:
        """What --log asked for, as it is; in one write, for a write of each line is dear."""
        await self._say("\n".join(text.rstrip("\n") for text in texts))

    async def stopped(self, number: int, report: Report, watches: Sequence[WatchValue]) -> None:
        """The report, and what --eval asked for."""
        head, _, rest = render(report, self._max_chars).partition("\n")
        lines = [self._styled(f"[stop {number}] {head}", bold=True), *rest.splitlines()]
        for watch in watches:
            value = watch.result if watch.error is None else f"raised {watch.error}"
            lines.append(
                f"eval {one_line(watch.expression)} = {one_line('None' if value is None else value)}"
            )
        await self._say("\n".join(self._marked(line) for line in lines))

    async def failed_again(self, number: int, facts: Mapping[str, Any], like: int | None) -> None:
        """A failure without a report, in a line; those like an earlier one are named at the end."""
        if like is None:
            await self._say(self._styled(f"[stop {number}] {_failure(facts)}", bold=True))

    async def why(self, found: History, root: str) -> None:
        """Who wrote what --why asked for."""
        from relay.operations.history.history_text import history_text

        more = ": raise --max-chars"
        await self._say(history_text(found, root, self._max_chars, more, RECORD))

    async def called(self, calls: CallsResult) -> None:
        """The calls up to a stop or the end."""
        await self._say(self._styled("[calls] ", bold=True) + calls.text)

    async def traced(self, number: int, found: TraceResult) -> None:
        """The call that --trace asked for; the program stands at its end."""
        from relay.faces.cli.trace_bound import hint_at_all

        head, _, rest = found.text.partition("\n")
        hint = hint_at_all(found.whole_text, self._max_chars)
        title = self._styled(f"[stop {number}] trace of {head}", bold=True)
        await self._say(f"{title}\n{rest}{hint}")

    async def hung(self, found: HangReport) -> None:
        """What each thread was doing or waiting for, of a program that is ended early."""
        await self._say(self._styled("[hang] ", bold=True) + found.report)

    async def stood(self, report: Report) -> None:
        """Where a program was that is ended early, if its debugger knows no more."""
        head, _, rest = render(report, self._max_chars).partition("\n")
        lines = [self._styled(f"[hang] {head}", bold=True), *rest.splitlines()]
        await self._say("\n".join(self._marked(line) for line in lines))

    async def captured(self, captures: Captures) -> None:
        """The table of what was kept."""
        from relay.operations.breakpoints.captures import render_table

        head, _, rest = render_table(captures).partition("\n")
        await self._say(self._styled(f"[captured] {head}", bold=True) + f"\n{rest}".rstrip())

    async def noted(self, text: str) -> None:
        """Something that the user should know."""
        await self._say(self._styled(text, fg="yellow"))

    async def failed(self, error: RelayError) -> None:
        """Why there is no run."""
        message, way_out = complaint(error, "run")
        await self._say(f"{self._styled(f'relay: {message}', fg='red')}\n  {way_out}")

    async def ended(self, summary: Mapping[str, Any], words: Sequence[str]) -> None:
        """How it ended, and what never happened."""
        await self._say("\n".join([self._styled(f"[end] {words[0]}", bold=True), *words[1:]]))

    async def _say(self, text: str) -> None:
        starts_late = self._within_line[STDERR] or (self._shared and self._within_line[STDOUT])
        self._within_line = {STDOUT: False, STDERR: False} if self._shared else self._within_line
        self._within_line[STDERR] = False
        data = ("\n" if starts_late else "") + text + "\n"
        await write(STDERR, data.encode("utf-8", "replace"))

    def _marked(self, line: str) -> str:
        return self._styled(line, fg="cyan") if line.startswith(">") else line

    def _styled(self, text: str, **style: Any) -> str:
        return click.style(text, **style) if self._colours else text


class JsonWriter:
    """One JSON object a line on stdout, and nothing else."""

    def __init__(self, max_chars: int) -> None:
        self._max_chars = max_chars
        decoder = codecs.getincrementaldecoder("utf-8")
        self._decoders = {name: decoder("backslashreplace") for name in STREAMS}

    async def started(
        self, pid: int, python: str | None, breakpoints: Sequence[Mapping[str, Any]]
    ) -> None:
        """The program is under the debugger: its pid, interpreter and breakpoints."""
        named = {} if python is None else {"python": python}
        await self._say("start", pid=pid, **named, breakpoints=list(breakpoints))

    async def printed(self, category: str, data: bytes) -> None:
        """Text; bytes that are not UTF-8 come as \\xNN."""
        text = self._decoders[category].decode(data)
        if text:
            await self._say("output", category=category, output=text)

    async def logged(self, texts: Sequence[str]) -> None:
        """What --log asked for, a line each."""
        lines = (json.dumps({"type": "log", "text": text.rstrip("\n")}) + "\n" for text in texts)
        await write(STDOUT, "".join(lines).encode("utf-8", "replace"))

    async def stopped(self, number: int, report: Report, watches: Sequence[WatchValue]) -> None:
        """A stop, as text and in parts."""
        shown = next((frame for frame in report.stack if frame.shown), None)
        await self._say(
            "stop",
            number=number,
            reason=report.reason,
            breakpoints=report.breakpoints,
            location=shown and {"path": shown.path, "line": shown.line, "function": shown.name},
            exception=report.exception and report.exception.model_dump(include={"type", "message"}),
            **_of_failure(report),
            **({"change": _of_change(report.change)} if report.change else {}),
            report=render(report, self._max_chars),
            locals={local.name: local.value for local in report.locals or []},
            stack=[
                {"path": f.path, "line": f.line, "function": f.name}
                for f in report.stack
                if f.own or f.shown
            ],
            evals=[
                w.model_dump(include={"expression", "result", "type", "error"}) for w in watches
            ],
        )

    async def failed_again(self, number: int, facts: Mapping[str, Any], like: int | None) -> None:
        """A failure without a report; `like` is the number of the first stop that was the same."""
        await self._say("failure", number=number, like=like, **facts)

    async def why(self, found: History, root: str) -> None:
        """Who wrote what --why asked for."""
        await self._say("why", **found.model_dump(mode="json"))

    async def called(self, calls: CallsResult) -> None:
        """The calls up to a stop or the end."""
        fields = {"text", "calls", "functions", "left_out", "complete", "reason"}
        await self._say("calls", **calls.model_dump(mode="json", include=fields))

    async def traced(self, number: int, found: TraceResult) -> None:
        """The call that --trace asked for, as text."""
        fields = {"called", "call", "passed", "thread_name", "lines", "calls", "text", "truncated"}
        shown = found.model_dump(include={*fields, "whole_text"}, exclude_none=True)
        await self._say("trace", number=number, **shown)

    async def hung(self, found: HangReport) -> None:
        """What each thread was doing or waiting for, as text, and the circles that there are."""
        circles = [circle.text for circle in found.deadlocks]
        await self._say("hang", blocked=found.blocked, deadlocks=circles, report=found.report)

    async def stood(self, report: Report) -> None:
        """Where it was, as text: whether it is blocked, and by what, is not known."""
        text = render(report, self._max_chars)
        await self._say("hang", blocked=None, deadlocks=None, report=text)

    async def captured(self, captures: Captures) -> None:
        """What was kept, in rows."""
        await self._say("captures", **captures.model_dump(mode="json"))

    async def noted(self, text: str) -> None:
        """Something that the user should know."""
        await self._say("note", text=text)

    async def failed(self, error: RelayError) -> None:
        """Why there is no run."""
        message, way_out = complaint(error, "run")
        await self._say("error", code=error.code, message=message, suggestion=way_out)

    async def ended(self, summary: Mapping[str, Any], words: Sequence[str]) -> None:
        """How it ended. The rest of a broken character comes first."""
        for category, decoder in self._decoders.items():
            if text := decoder.decode(b"", final=True):
                await self._say("output", category=category, output=text)
        await self._say("end", **summary)

    async def _say(self, kind: str, **facts: Any) -> None:
        line = json.dumps({"type": kind, **facts}) + "\n"
        await write(STDOUT, line.encode("utf-8", "replace"))


def _of_change(change: ReportChange) -> dict[str, Any]:
    """What a watched value was and is, as in answers of the API; null is none."""
    place = change.place
    return {
        "expression": change.expression,
        "old": change.old,
        "new": change.new,
        "location": {"path": place.path, "line": place.line, "function": place.name},
        "inexact": not change.exact,
        "merged": change.merged,
        "ended": change.ended,
    }


def _of_failure(report: Report) -> dict[str, Any]:
    """What a stop has ended, and the exceptions that led to it."""
    if report.failure is None or report.exception is None:
        return {}
    chain = [link.model_dump(exclude_none=True) for link in report.exception.chain]
    return {**report.failure.model_dump(), "chain": chain}


def _failure(facts: Mapping[str, Any]) -> str:
    """`exception KeyError: 'x' at shop.py:3 in price, fails test_shop.py::test_price`"""
    raised, place = facts["exception"] or {}, facts["location"]
    words = ": ".join(filter(None, (raised.get("type"), raised.get("message"))))
    where = f" at {place['path']}:{place['line']} in {place['function']}" if place else ""
    ends = " ".join(filter(None, ("ends", facts["ends"], facts["ends_name"])))
    return one_line(
        f"exception {words}{where}, " + (f"fails {facts['test']}" if facts["test"] else ends)
    )


async def write(fd: int, data: bytes) -> None:
    """All of it, waiting as long as it takes. Raises CannotWriteError if it cannot be."""
    try:
        await trio.to_thread.run_sync(_write_all, fd, data, abandon_on_cancel=True)
    except OSError as error:
        raise CannotWriteError(error) from None


def _write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(fd, rest) :]
        except BlockingIOError:  # whoever gave us the descriptor made it so
            select.select([], [fd], [])


def _same_file(one: int, other: int) -> bool:
    try:
        return os.path.sameopenfile(one, other)
    except OSError:  # one of them is closed
        return False


def _missed(breakpoint: Mapping[str, Any]) -> str:
    words = [f"{breakpoint['file']}:{breakpoint['line']}", breakpoint["message"] or "not verified"]
    if breakpoint["suggestion"]:
        words.append(breakpoint["suggestion"])
    return ": ".join(words)
