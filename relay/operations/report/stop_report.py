"""Where a program stands, in a few lines of text: what every face shows of a stop.

One question to the debuggee in the usual case. Source: contract, sections 4 and 8.
"""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Mapping
from typing import Any

from relay.dap.lifecycle import Phase
from relay.errors import RelayError, SourceNotFound
from relay.models.execution import SourceLine
from relay.models.failure import OfFailure
from relay.models.report import (
    REPORT_BYTES,
    Report,
    ReportCause,
    ReportChange,
    ReportException,
    ReportFrame,
    ReportLocal,
    ReportQuery,
    ReportView,
)
from relay.operations.breakpoints.placing import other_text_warning
from relay.operations.report.missed import (
    misspelt_functions,
    misspelt_in_words,
    never_hit,
    not_known,
    unwatched,
    without_stop_in_words,
)
from relay.operations.report.report_text import place_of, render
from relay.operations.report.short_paths import is_own, short_path
from relay.operations.sessions.sessions import (
    REALLY_HERE,
    failure_fields,
    left_failure,
    other_python,
)
from relay.redaction.redaction import REVEALING, Redaction
from relay.session.dap.stack import stack
from relay.session.debuggee.exit_text import describe_exit
from relay.session.session import Session
from relay.session.source_text import source_lines, split_lines
from relay.session.state.stop import Failure, Frame, Stop

MAX_VALUE = 240
"""Characters of one value."""

AROUND = 1
"""Lines of source before and after the current one."""

TEMPLATE_WITHOUT_FILE = "<template>"
"""Path of a frame that renders a template which is a text of the program's."""

TAIL_ENTRIES = 200
STREAMS = {"stdout": "stdout", "stderr": "stderr", "log": "console"}
"""Streams by their names in a report, with the categories of output."""

_NAME = re.compile(r"[^\W\d]\w*")
_OPEN_END = re.compile(r"[(\[{,]\s*(?:#.*)?$")
"""The end of a line of a statement that goes on in the next one."""


async def stop_report(
    session: Session,
    *,
    max_chars: int = REPORT_BYTES,
    reveal: bool = False,
    output: bool = True,
    since: int | None = None,
) -> str:
    """Where the program stands, as text of at most `max_chars` bytes of UTF-8.

    Paused: the reason, three lines of source, locals (those first that have changed since the
    last report of this function, then those that the current line names), the stack. Running:
    whether it waits for input. Ended: exit code, breakpoints never hit, the end of its output.
    Every cut is marked by `…`. Values masked by their names stay masked unless `reveal`. Without
    `output` nothing that the program printed is in it; with `since`, the number of an event, what
    came after that.
    """
    found = await gather(session, reveal=reveal, since=since)
    return render(found if output else found.model_copy(update={"printed": {}}), max_chars)


async def get_report(session: Session, *, query: ReportQuery) -> ReportView:
    """Where the program stands, in a few lines of text made for agents.

    The stop with three lines of source, the locals that matter, and the stack; or how the
    program ended, and which breakpoints it never hit. In any state of the session.
    """
    text = await stop_report(
        session, max_chars=query.max_chars, reveal=query.reveal, output=query.output
    )
    return ReportView(session_id=session.id, status=session.phase, report=text)


async def gather(session: Session, *, reveal: bool = False, since: int | None = None) -> Report:
    """Everything that a report may say of the session as it is now."""
    while (stop := session.stop) is not None:
        try:
            found = await _of_stop(session, stop, reveal)
        except RelayError:
            if session.stop is stop:
                raise
            continue  # it went on meanwhile: report what holds now
        if session.stop is stop:
            return found
    found = _of_session(session, since)
    if not found.never_hit:
        return found
    misspelt = misspelt_in_words(await misspelt_functions(session))
    return found.model_copy(update={"misspelt": misspelt})


# A stop ------------------------------------------------------------------------------------


async def _of_stop(session: Session, stop: Stop, reveal: bool) -> Report:
    shown = await _frame_to_show(session, stop)
    redaction = REVEALING if reveal else session.redaction
    source = [] if shown is None else await _source(session, shown, redaction)
    answer, trouble = await _answer(session, shown, source, reveal)
    frames = await _stack(session, stop, shown, answer)
    locals_, left_out = _locals(session, stop, shown, answer, source, reveal)
    return Report(
        status=Phase.PAUSED,
        reason=stop.reason,
        breakpoints=list(stop.hit_breakpoint_ids),
        hits=max(stop.hits.values(), default=0),
        thread_id=stop.thread_id,
        process_id=_other_process(session, stop),
        remark=_remark(session, stop, shown if source else None),
        lost=session.program_run.lost,
        returned=None if stop.return_value is None else _returned(stop.return_value),
        change=_change(session, stop),
        exception=_exception(session, stop, shown),
        failure=OfFailure(**failure_fields(stop)) if stop.failure is not None else None,
        source=source,
        locals=locals_,
        more_locals=left_out,
        trouble=trouble,
        stack=frames,
    )


def _remark(session: Session, stop: Stop, frame: Frame | None) -> str | None:
    """What should be known of where it stands; frame: the one whose source is shown."""
    words = [REALLY_HERE] if left_failure(session) else []
    if stop.exception is not None and stop.exception.type == "ModuleNotFoundError":
        # Of any other interpreter, what begins the program says the path.
        is_launched = session.launched is not None and session.debugger.takes_python_path
        own = is_launched and other_python(session) is None
        words += [f"run by {sys.executable}, the relay's own interpreter"] if own else []
    if frame is not None and frame.path is not None:
        shown = short_path(session, frame.path) or frame.path
        warning = other_text_warning(session, frame.path, shown)
        words += [] if warning is None else [warning]
    return "\n".join(words) or None


def _other_process(session: Session, stop: Stop) -> int | None:
    """The process that stopped, unless it is the program itself."""
    pid: int | None = None if stop.process is None else stop.process["pid"]
    return None if pid == session.pid else pid


def _returned(answer: Mapping[str, Any]) -> str:
    name = f"by {answer['name']}: " if answer.get("name") else ""
    return f"{name}{answer['value']}"


async def _frame_to_show(session: Session, stop: Stop) -> Frame | None:
    """The top one; of an exception or a change made within a library, the program's own that called it."""
    came_from_within = stop.exception is not None or stop.change is not None
    if stop.top is None or not came_from_within or is_own(session, stop.top.path):
        return stop.top
    if stop.failure is not None:
        return stop.top  # the debuggee has put it on top
    frames = await stack(session.require_debuggee("report"), stop, stop.thread_id)
    own = (frame for frame in frames if is_own(session, frame.path))
    return next(own, stop.top)


async def _source(session: Session, frame: Frame, redaction: Redaction) -> list[SourceLine]:
    lines = await _lines_of(session, frame)
    first = max(1, frame.line - AROUND)
    numbered = enumerate(lines[first - 1 : frame.line + AROUND], first)
    return [SourceLine(line=number, text=redaction.line(text)) for number, text in numbered]


async def _lines_of(session: Session, frame: Frame) -> list[str]:
    """Of a cell and of what else is named as no file what the program has for it; none if nobody has.

    What is named as a file and is none would be taken from the module in whose globals it runs.
    """
    if frame.path is None:
        return []
    try:
        return await source_lines(frame.path)
    except SourceNotFound:
        inspector = session.require_debuggee("report").inspector
        is_named_as_none = frame.path.startswith("<") or is_own(session, frame.path)
        if inspector is None or not is_named_as_none:
            return []
    except RelayError:
        return []
    try:
        return split_lines((await inspector.source(frame))["source"])
    except RelayError:
        return []


async def _answer(
    session: Session, frame: Frame | None, source: list[SourceLine], reveal: bool
) -> tuple[Mapping[str, Any], str | None]:
    """What the debuggee says of the frame; or why it says nothing. A repr may hang."""
    inspector = session.require_debuggee("report").inspector
    if inspector is None or frame is None:
        return {}, None
    names = sorted(_names_at(frame.line, source))
    try:
        return await inspector.report(frame, names, max_value=MAX_VALUE, reveal=reveal), None
    except RelayError as error:
        return {}, error.message


def _names_at(line: int, source: list[SourceLine]) -> set[str]:
    """The names that the current line may mean, a word in a text among them.

    If it leaves a bracket open, those of the next line, too, as far as that is shown: `self.assertEqual(` means none.
    """
    names: set[str] = set()
    for one in source:
        if one.line >= line:
            names.update(_NAME.findall(one.text))
            if not _OPEN_END.search(one.text):
                break
    return names - set(keyword.kwlist)


def _locals(
    session: Session,
    stop: Stop,
    frame: Frame | None,
    answer: Mapping[str, Any],
    source: list[SourceLine],
    reveal: bool,
) -> tuple[list[ReportLocal] | None, int]:
    """The locals with what is new about each, and how many there are besides."""
    if frame is None or "variables" not in answer:
        return None, 0
    values = {v["name"]: v["value"] for v in answer["variables"]}
    # Methods of several classes have one name. What was revealed once must not come back as what
    # a masked value was before.
    function = (frame.path, frame.name, answer.get("first_line"), reveal)
    before = session.report_history.before(session.pid, function, stop.id, values)
    named = _names_at(frame.line, source)
    found = [_local(v, before, v["name"] in named) for v in answer["variables"]]
    return found, answer["total"] - len(found)


def _local(answer: Mapping[str, Any], before: Mapping[str, str] | None, named: bool) -> ReportLocal:
    name, value = answer["name"], answer["value"]
    earlier = None if before is None else before.get(name)
    is_new, has_changed = before is not None and earlier is None, earlier not in (None, value)
    return ReportLocal(
        name=name,
        value=value,
        cut=bool(answer.get("truncated")),
        named=named,
        news="new" if is_new else "changed" if has_changed else None,
        before=earlier if has_changed else None,
    )


async def _stack(
    session: Session, stop: Stop, shown: Frame | None, answer: Mapping[str, Any]
) -> list[ReportFrame]:
    """The program's stack, top first."""
    if shown is None:
        return []
    if (frames := answer.get("frames")) is None:
        known = await stack(session.require_debuggee("report"), stop, stop.thread_id)
        # The top one came by an answer of its own, and some debuggers number frames anew.
        at = known[0] if known and shown is stop.top else shown
        return [_frame(session, frame, frame is at) for frame in known]
    items = frames["items"]
    inner = [one for one in items if one.get("inner")]
    items = [one for one in items if not one.get("inner")]
    while items and session.debugger.is_launcher_frame(items[-1]["path"], items[-1]["name"]):
        items.pop()
    items += inner
    return [
        ReportFrame(
            name=one["name"],
            path=short_path(session, one["path"]),
            line=one["line"],
            own=_is_shown(session, one["path"]),
            shown=one["shown"],
            moved_on=bool(one.get("moved_on")),
            elsewhere=bool(one.get("elsewhere")),
            inner=bool(one.get("inner")),
            left_out=one["left_out"],
        )
        for one in items
    ]


def _is_shown(session: Session, path: str | None) -> bool:
    """Whether a stack shows frames of this file one by one, and does not only count them."""
    return path == TEMPLATE_WITHOUT_FILE or is_own(session, path)


def _frame(session: Session, frame: Frame, shown: bool) -> ReportFrame:
    return ReportFrame(
        name=frame.name,
        path=short_path(session, frame.path),
        line=frame.line,
        own=_is_shown(session, frame.path),
        shown=shown,
        moved_on=frame.moved_on,
        inner=frame.inner,
    )


def _change(session: Session, stop: Stop) -> ReportChange | None:
    if (change := stop.change) is None:
        return None
    at = change["location"]
    return ReportChange(
        expression=change["expression"],
        old=change["old"],
        new=change["new"],
        place=ReportFrame(
            name=change["function"], path=short_path(session, at["path"]), line=at["line"]
        ),
        exact=not change.get("inexact"),
        merged=bool(change.get("merged")),
        ended=bool(change.get("ended")),
        condition_error=change.get("condition_error"),
    )


def _exception(session: Session, stop: Stop, shown: Frame | None) -> ReportException | None:
    if stop.exception is None:
        return None
    raised, template = stop.top if stop.top is not shown else None, None
    if stop.failure is not None:
        inner = [frame for frame in stop.stacks.get(stop.thread_id) or [] if frame.inner]
        raised = inner[0] if inner else None
        template = next((one for one in inner[1:] if one.path == TEMPLATE_WITHOUT_FILE), None)
    return ReportException(
        type=stop.exception.type,
        message=stop.exception.message,
        raised=None if raised is None else _frame(session, raised, False),
        template=None if template is None else _frame(session, template, False),
        ended=None if stop.failure is None else _ended(stop.failure),
        chain=[_cause(session, link) for link in stop.exception.chain],
        notes=stop.exception.notes,
    )


def _ended(failure: Failure) -> str:
    """`fails test_shop.py::test_total`, `ends thread worker-1`"""
    words = f"fails {failure.test}" if failure.test else f"ends {failure.ends}"
    if failure.name:
        shown = failure.name if failure.name.startswith("(") else f"({failure.name})"
        words += f" {shown}" if failure.test else f" {failure.name}"
    if failure.group is not None:
        words += f", {failure.group['number']} of {failure.group['of']} in a group"
    return words


def _cause(session: Session, link: Mapping[str, Any]) -> ReportCause:
    place = link.get("location")
    return ReportCause(
        relation=link["relation"],
        type=link["type"],
        message=link["message"],
        place=place
        and ReportFrame(
            name=place["function"], path=short_path(session, place["path"]), line=place["line"]
        ),
    )


# Without a stop --------------------------------------------------------------------------------


def _of_session(session: Session, since: int | None) -> Report:
    ended = session.is_over
    before = session.stops.before
    return Report(
        status=session.phase,
        end=_end(session) if ended else None,
        printed=_printed(session, since),
        failed=ended and session.exit_code != 0,
        prompt=session.waiting_for_input,
        stopped_before=None if before is None else _stop_in_words(session, before),
        lost=None if ended else session.program_run.lost,
        never_hit=never_hit(session) if ended else [],
        without_stop=without_stop_in_words(session) if ended else [],
        unwatched=unwatched(session) if ended else None,
        not_known=not_known(session) if ended else None,
    )


def _asked_for(session: Session) -> str:
    """Who had the signal sent, where that is known: one that nobody explains reads like a crash."""
    if session.reason == "terminated" or (session.reason is None and session.discarded):
        return ", as a client asked"
    return ", as the relay ends" if session.reason is None and session.is_ending else ""


def _stop_in_words(session: Session, stop: Stop) -> str:
    reason = ", ".join(stop.hit_breakpoint_ids) or stop.reason
    if stop.top is None:
        return reason
    return f"{reason} at {place_of(_frame(session, stop.top, False))}"


def _printed(session: Session, since: int | None) -> dict[str, str]:
    """The newest of each stream of this run, or of what came after event `since`.

    The stream that printed last comes last. Of a run that is over there is always something.
    """
    if since is not None:
        found = _printed_after(session, since)
        if found or not session.is_over:
            return found
    entries = {
        name: session.output.last(session.program_run.first_output, TAIL_ENTRIES, category)
        for name, category in STREAMS.items()
    }
    ordered = sorted((some[-1].seq, name) for name, some in entries.items() if some)
    return {name: "".join(entry.output for entry in entries[name]) for _, name in ordered}


def _printed_after(session: Session, since: int) -> dict[str, str]:
    names = {category: name for name, category in STREAMS.items()}
    found: dict[str, str] = {}
    for entry in session.events.read(since, sys.maxsize, frozenset({"output"})).events:
        name = names[entry.body["category"]]
        found[name] = found.pop(name, "") + entry.body["output"]  # the newest is the last
    return found


def _end(session: Session) -> str:
    if session.exit_code is None:
        return f"{session.phase.value}: {session.reason or 'its exit code is not known'}"
    run = session.program_run
    if run.lost is not None and run.was_lost_itself:
        return f"ended: {run.lost}"
    how = f"exit code {session.exit_code}"
    if session.exit_code < 0:
        how = describe_exit(session.exit_code, session.launched).removeprefix("Process was ")
        how += _asked_for(session)
    # How another process ended does not say how the program did.
    return "; ".join([f"ended: {how}", *([run.lost] if run.lost is not None else [])])
