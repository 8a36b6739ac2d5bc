"""Let the program go, wait for what happens next, and show where it stands then.

Knows events, reports and exit codes. Knows no verb: the commands bring it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from relay.actions import Action
from relay.faces.cli.actions import COMMAND_WORDS
from relay.faces.cli.sessions.shell import STILL_RUNNING, Shell
from relay.models.output import EventType, EventView
from relay.operations.output.positions import cursor_behind_all, is_before
from relay.operations.report.printed_text import newest, quoted

if TYPE_CHECKING:
    from rich.console import Console

    from relay.client import Session

NEWS: list[EventType] = ["stopped", "terminated", "input_requested"]
OUTPUT_CHARS = 4000
"""Of what was printed meanwhile, the end of it."""

MOST_ENTRIES = 10_000
REPORT_CHARS = 2000


def go(
    shell: Shell,
    session: Session,
    act: Callable[[], object],
    wait: float,
    *,
    target: str | None = None,
) -> int:
    """Act, then wait for a stop, a question or the end; the exit code.

    target: the line that it was to run to, as the user wrote it.
    """
    cursor = last_event(session)
    act()
    return show_next(shell, session, cursor, wait, target=target)


def show_next(
    shell: Shell, session: Session, cursor: str, wait: float, *, target: str | None = None
) -> int:
    """Wait for what happens after `cursor`, and show where it stands; the exit code."""
    if wait:
        _await_news(session, cursor, wait)
    code = show_stop(shell, session, cursor, target=target)
    return code if wait else 0


def _reached(session: Session, cursor: str) -> bool | None:
    """Whether the first stop after `cursor` was at the line to run to; None before any.

    False after an end without one.
    """
    page = session.event_page(cursor=cursor, types=["stopped", "terminated"], limit=1)
    if not page.events:
        return None
    first = page.events[0]
    return first.body.get("reached") if first.type == "stopped" else False


def _await_news(session: Session, cursor: str, wait: float) -> None:
    """Until something happens that somebody should see; the end before a restart is none."""
    deadline = time.monotonic() + wait
    while (left := deadline - time.monotonic()) > 0:
        page = session.event_page(cursor=cursor, types=NEWS, timeout=left)
        if any(not _precedes_a_run(event) for event in page.events):
            return
        cursor = page.next_cursor


def _precedes_a_run(event: EventView) -> bool:
    return event.type == "terminated" and bool(event.body["restart"])


def last_event(session: Session) -> str:
    """A cursor behind everything that has happened; looking for a rare type brings little."""
    cursor, more = None, True
    while more:
        page = session.event_page(cursor=cursor, types=["warning"], limit=1000)
        cursor, more = page.next_cursor, page.has_more
    assert cursor is not None
    return cursor


def show_stop(
    shell: Shell, session: Session, cursor: str | None = None, *, target: str | None = None
) -> int:
    """Where it stands, with what it has printed since `cursor`; the exit code.

    target: the line to which it has run since `cursor`, if to one.
    """
    status = session.status()
    printed = "" if cursor is None else printed_since(session, cursor)
    report = session.report(max_chars=REPORT_CHARS, output=not printed).report
    facts = {**status.model_dump(mode="json"), "report": report, "output": printed}
    if target is not None and cursor is not None:
        facts["reached"] = _reached(session, cursor)
    if not shell.show_data(facts):
        if printed:
            shell.console.print(" " + quoted(printed.removesuffix("\n")))
        if facts.get("reached") is False:
            shell.echo(f"did not come to {target}")
        print_report(shell.console, report)
        if status.message is not None:
            shell.console.print(str(COMMAND_WORDS[Action.LEAVE_RUNNER]), soft_wrap=True)
    return STILL_RUNNING if status.status == "running" else 0


def printed_since(session: Session, cursor: str) -> str:
    """What the program has printed by now after an event, the newest of each stream.

    By now: it may print faster than it can be read.
    """
    found: deque[tuple[str, str]] = deque(maxlen=MOST_ENTRIES)
    end = session.event_page(cursor=cursor_behind_all("seq"), limit=1).next_cursor
    more = True
    while more:
        page = session.event_page(cursor=cursor, types=["output", "terminated"], limit=1000)
        for event in page.events:
            if _precedes_a_run(event):
                found.clear()
            elif event.type == "output":
                found.append((event.body["category"], event.body["output"]))
        cursor = page.next_cursor
        more = page.has_more and is_before("seq", cursor, end)
    return newest(found, OUTPUT_CHARS)


def print_report(console: Console, report: str) -> None:
    """The report; on a terminal the headline and the current line stand out."""
    first, *rest = report.split("\n")
    console.print(first, style="bold", soft_wrap=True)
    for line in rest:
        console.print(line, style="yellow" if line.startswith(">") else None, soft_wrap=True)
