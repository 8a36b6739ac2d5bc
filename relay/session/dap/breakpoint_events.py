"""What is learned of breakpoints while the program runs: hits, places of functions, changes.

Knows the names under which the debuggee counts. Source: API section 6, event `breakpoint`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from relay.session.state.breakpoints import Breakpoint

if TYPE_CHECKING:
    from relay.session.session import Session

UNKNOWN_FUNCTION = "No function of this name is known yet"
NOT_LOADED_YET = "The program has loaded no code that lies there, so far"
LEFT_TO_DEBUGGER = "The debugger says where it stops once the program runs"
DEAF_FUNCTION = (
    "Before Python 3.12 the debugger has no event of calls of generators and coroutines: "
    "set a breakpoint on a line of the function"
)
UNSEEN_FUNCTION = (
    "It is made at run time, without a file, as the __init__ of dataclasses and attrs: the debugger "
    "does not stop there; trace it, or set a breakpoint where it is called"
)
RENAMED_FUNCTION = (
    "The name stands for {called} here, and the debugger goes by a function's own name: "
    "set a breakpoint on its line"
)

_UNTRANSLATED = re.compile(r"\w+(\.\w+)+")
"""What js-debug says of a breakpoint that is not bound yet: the name of a sentence, which it has lost."""


def name_of(session: Session, breakpoint: Breakpoint) -> str:
    """The breakpoint's name in the debuggee, which another session may have been in before."""
    return f"{session.id}:{breakpoint.id}"


def named(session: Session, names: Sequence[str]) -> list[Breakpoint]:
    """The breakpoints behind names that the debuggee gives; those of others are left out."""
    owners = [name.partition(":") for name in names]
    found = [session.breakpoints.get(number) for owner, _, number in owners if owner == session.id]
    return [breakpoint for breakpoint in found if breakpoint is not None]


def announce(session: Session, reason: str, breakpoint: Breakpoint) -> None:
    """Announce that a breakpoint is `new`, `changed` or `removed`."""
    session.events.append(
        "breakpoint",
        {
            "reason": reason,
            "breakpoint": {
                "id": breakpoint.id,
                "verified": breakpoint.verified,
                "line": breakpoint.shown_line,
                "message": breakpoint.message,
            },
        },
    )


def take_hits(session: Session, hits: Mapping[str, Any]) -> None:
    """Note how often breakpoints were hit, as the debuggee has counted."""
    for name, count in hits.items():
        for breakpoint in named(session, [name]):
            breakpoint.counted(int(count))


def take_places(session: Session, places: Mapping[str, Mapping[str, Any]]) -> None:
    """Note where functions lie: their breakpoints are verified from now on."""
    for name, place in places.items():
        for breakpoint in named(session, [name]):
            why = _why_never_hit(place)
            if why is not None:
                breakpoint.found(str(place["path"]), int(place["line"]))
                verified = breakpoint.verified and not breakpoint.is_in_file
                breakpoint.judged(verified, why)
                continue
            found_function(session, breakpoint, str(place["path"]), int(place["line"]))


def _why_never_hit(place: Mapping[str, Any]) -> str | None:
    """What is to be said of a function whose calls the debugger does not see; None if it does."""
    if place.get("called"):
        called = "a lambda" if place["called"] == "<lambda>" else f"the function {place['called']}"
        return RENAMED_FUNCTION.format(called=called)
    if place.get("deaf"):
        return DEAF_FUNCTION
    return UNSEEN_FUNCTION if place.get("unseen") else None


def found_function(session: Session, breakpoint: Breakpoint, path: str, line: int) -> None:
    """The function of a breakpoint is known; said once."""
    if breakpoint.function is None or (breakpoint.verified and breakpoint.found_at):
        return
    breakpoint.found(path, line)
    breakpoint.judged(True, None)
    announce(session, "changed", breakpoint)


def take_answer(
    session: Session, breakpoint: Breakpoint, answer: Mapping[str, Any], *, of_child: bool = False
) -> None:
    """Note what the debugger says of a breakpoint that only it can judge. Source: DAP Breakpoint.

    of_child: it says so of one process of several, and what that has not, another one may have.
    """
    verified, message = bool(answer.get("verified")), answer.get("message")
    if not breakpoint.judged_by_adapter or (of_child and breakpoint.verified and not verified):
        return
    if not verified and (
        answer.get("reason") == "pending" or _UNTRANSLATED.fullmatch(str(message or ""))
    ):
        message = NOT_LOADED_YET
    line = answer.get("line")
    if breakpoint.function is not None:
        if place := place_in(answer):
            breakpoint.found(*place)
        message = message or (None if verified else UNKNOWN_FUNCTION)
    elif verified and isinstance(line, int) and line != breakpoint.line:
        message = message or f"The debugger stops at line {line}, the next one with code"
    if breakpoint.judged(verified, None if message is None else str(message)):
        announce(session, "changed", breakpoint)


def place_in(answer: Mapping[str, Any]) -> tuple[str, int] | None:
    """File and line of a breakpoint, as far as the debugger says them."""
    path, line = (answer.get("source") or {}).get("path"), answer.get("line")
    return (str(path), line) if path and isinstance(line, int) else None


def start_anew(session: Session) -> None:
    """A program is about to run: nothing is hit yet, and none of its functions is known."""
    session.captures.start_anew()
    session.breakpoints.forget_numbers()
    for breakpoint in session.breakpoints:
        breakpoint.start_run()
        if breakpoint.judged_by_adapter:
            breakpoint.judged(False, LEFT_TO_DEBUGGER)
        elif breakpoint.function is not None and not breakpoint.is_in_file:
            breakpoint.judged(False, UNKNOWN_FUNCTION)
