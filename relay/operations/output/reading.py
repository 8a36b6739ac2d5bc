"""Output, events and input of a program. Source: API section 3.7, contract section 6."""

from __future__ import annotations

import re

import trio

from relay.actions import Action
from relay.dap.lifecycle import Phase
from relay.errors import InvalidParameter, InvalidRequest, PayloadTooLarge, StdinClosed
from relay.models.output import (
    ClearedOutput,
    EventPage,
    EventsQuery,
    EventView,
    InputRequest,
    InputResult,
    OutputEntry,
    OutputPage,
    OutputQuery,
)
from relay.process.stdin_queue import QUEUE_BYTES, QueueFull
from relay.session.debugger import Ability
from relay.session.event_log import decode_cursor, encode_cursor
from relay.session.session import Session

LAST_ENTRIES = 50
"""Among them the last line that says something is looked for."""

_ERROR = re.compile(r"\bERROR\b|\[Errno \d|^[\w.]+Error\b")
"""A line of a log, or the end of a traceback."""


async def get_output(session: Session, *, query: OutputQuery) -> OutputPage:
    """Read what the program printed, from a cursor on.

    stdout and stderr stay apart; `console` is the debugger's own, logpoints included.
    """
    after = after_cursor(session, "offset", query.cursor, query.since)
    page = session.output.read(after, query.limit, query.category)
    return OutputPage(
        entries=[
            OutputEntry(category=e.category, output=e.output, timestamp=e.timestamp)
            for e in page.entries
        ],
        next_cursor=encode_cursor("offset", page.next_seq, session.log_mark),
        has_more=page.has_more,
        dropped=page.dropped,
    )


def last_words(session: Session) -> str:
    """The last line of this run's standard error that speaks of an error, else the last one.

    A server that cannot begin says that it has shut down behind the reason.
    """
    entries = session.output.last(session.program_run.first_output, LAST_ENTRIES, "stderr")
    printed = "".join(entry.output for entry in entries).strip()
    lines = re.split("[\\r\\n]", printed)
    errors = [line for line in lines if _ERROR.search(line)]
    return session.redaction.text((errors or lines)[-1])


def all_printed(session: Session) -> tuple[str, str]:
    """What this run wrote to standard output, and to standard error, as far as it is kept."""
    first, most = session.program_run.first_output, session.output.last_seq
    stdout, stderr = (
        "".join(entry.output for entry in session.output.read(first, most, category).entries)
        for category in ("stdout", "stderr")
    )
    return stdout, stderr


async def get_events(session: Session, *, query: EventsQuery) -> EventPage:
    """Poll for events, from a cursor on; with `timeout`, wait for the first one.

    A wait ends at the first event of the asked types, at the timeout, or when
    the relay shuts down.
    """
    after = after_cursor(session, "seq", query.cursor, query.since)
    types = frozenset(query.types) if query.types else None
    if query.timeout:
        await session.events.wait(after, types=types, timeout=query.timeout)
    page = session.events.read(after, query.limit, types)
    return EventPage(
        events=[
            EventView(seq=e.seq, type=e.type, timestamp=e.timestamp, body=e.body)
            for e in page.events
        ],
        next_cursor=encode_cursor("seq", page.next_seq, session.log_mark),
        has_more=page.has_more,
        dropped=page.dropped,
        session_status=session.phase.value,
    )


def after_cursor(
    session: Session, kind: str, cursor: str | None, since: str | None, *, name: str = "cursor"
) -> int:
    """The place in a listing that a client names by `cursor`, or `since`; 0 if by neither.

    0, too, for a cursor that an earlier relay gave: its log is gone, and all of this one is new.
    Raises InvalidParameter for what is no cursor of this kind of listing.
    """
    name, text = ("since", since) if cursor is None else (name, cursor)
    if text is None:
        return 0
    try:
        return decode_cursor(kind, text, session.log_mark)
    except ValueError as error:
        raise InvalidParameter.of_field(
            name,
            str(error),
            text[:200],
            text=f"{name}: the cursor is not one of this listing's",
            suggestion="Pass next_cursor of an earlier answer of this route, or leave it out",
        ) from None


async def send_input(session: Session, *, body: InputRequest) -> InputResult:
    """Write to the program's standard input, or close it.

    The text goes as it is: end a line with a newline. The answer does not wait for the
    program to read; up to 16 MiB wait for it. While another client holds the session, it is
    refused unless the program stands at a stop: it may be what the program waits for.
    """
    if body.input is None and not body.eof:
        message = "give input, or eof: true"
        raise InvalidRequest.of_field("input", message, None, text=message)
    if session.phase is Phase.RUNNING:  # at a stop it is kept, and the program goes no further
        session.require_control("write input to a program that runs")
    debuggee = session.require_program("write input")
    data = (body.input or "").encode()
    if debuggee.stdin is None:
        session.debugger.require(Ability.STDIN, "write to the program's standard input")
        raise StdinClosed(
            "this program's standard input is not the relay's to write",
            suggestion="An attached program has its own input; launch it to give it some",
        )
    try:
        debuggee.stdin.offer(data, end=body.eof)
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        raise StdinClosed("the program's standard input is closed") from None
    except QueueFull as full:
        raise PayloadTooLarge(
            f"the program has not read {full.waiting} bytes of earlier input; "
            f"at most {QUEUE_BYTES} can wait for it",
            suggestion=Action.WAIT_FOR_INPUT_REQUEST,
            waiting_bytes=full.waiting,
            max_bytes=QUEUE_BYTES,
        ) from None
    return InputResult(written=len(data))


async def clear_output(session: Session) -> ClearedOutput:
    """Forget what the program printed so far.

    Cursors stay valid, and what was cleared does not count as dropped. Events stay.
    """
    cleared = len(session.output)
    session.output.clear()
    return ClearedOutput(
        cleared=cleared,
        next_cursor=encode_cursor("offset", session.output.last_seq, session.log_mark),
    )


async def send_stdin(session: Session, *, body: InputRequest) -> InputResult:
    """The same as input, under its other name."""
    return await send_input(session, body=body)
