"""What to do next after an error, in the words of the face that shows it.

A suggestion is written once, with routes and fields of the API as the names of actions. `in_words`
puts the face's own in their place: commands of the shell, options of `relay run`, tools. What it
cannot say in them it says in general, by the code of the error. Knows words; refuses to know
sessions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

Face = Literal["shell", "run", "mcp"]
"""The session commands, `relay run`, the tools. REST has the original."""


class _Action(NamedTuple):
    """A phrase of the API, and what each face has for it."""

    phrase: re.Pattern[str]
    shell: str
    run: str
    mcp: str


def _action(phrase: str, shell: str, mcp: str, run: str | None = None) -> _Action:
    return _Action(re.compile(phrase), shell, shell if run is None else run, mcp)


_ACTIONS = (
    # Whole sentences first.
    _action(
        r"Start a program first: POST /sessions/\{id\}/launch or /attach",
        "Start a program first: relay start PROGRAM",
        "Start a program first: debug_run",
    ),
    _action(
        r"The program has ended: create a new session with POST /api/v1/sessions",
        "The program has ended: relay restart runs it again",
        "The program has ended: debug_run with this session runs it again",
    ),
    _action(
        r"Call POST /sessions/\{id\}/pause first or wait for a breakpoint",
        "It runs: relay pause stops it, relay where --wait 30 waits for a stop",
        "It runs: debug_continue action=pause stops it, action=wait waits for a stop",
    ),
    _action(
        r"Read details and GET /sessions/\{id\}/output; check python_path, cwd and env",
        "Check --python, and the environment of the program",
        "Check python, cwd and env of debug_run",
    ),
    _action(
        r"Mend the line in details, then launch the same session again",
        "Mend the line, then start it again",
        "Mend the line, then call debug_run again",
    ),
    _action(
        r"Mend the fields named in details\.errors; GET /api/v1/docs shows every body",
        "Mend what is named; --help shows every option",
        "Mend the arguments that are named; nothing was changed",
    ),
    _action(
        r"DELETE one of the sessions named in details\.deletable, or raise max_sessions",
        "End one: relay end --session ID, or relay end --all",
        "End one of the sessions in deletable with debug_end",
    ),
    _action(
        r"Read GET /sessions/\{id\}/output, then DELETE the session and create a new one",
        "Read relay output, then relay end, and start it again",
        "Read debug_inspect what=output, then debug_end and debug_run again",
    ),
    _action(
        r"Create a new session with POST /api/v1/sessions; .*",
        "Start the program again: relay start PROGRAM",
        "Start the program again with debug_run",
    ),
    _action(
        r"Give it expressions: PATCH \S+ \{.*\}",
        "Capture expressions: relay run --capture FILE:LINE:EXPR",
        "Set it again with capture: debug_breakpoints",
    ),
    _action(
        r"DELETE a watch first: GET /sessions/\{id\}/watch lists them",
        "Use fewer expressions",
        "Use fewer expressions",
        run="Give fewer --eval",
    ),
    _action(
        r"See GET /api/v1/info for what each adapter can do",
        "This program's debugger cannot do that",
        "This program's debugger cannot do that; see the message",
    ),
    _action(
        r"Use script or module with args; python_args is for .*",
        "Options such as -O or -X dev go before the program: relay start -- -O app.py",
        "Use script or module with args",
        run="Options such as -O or -X dev go before the program: relay run -- -O app.py",
    ),
    # Then what stands within them.
    _action(
        r"(?:Use |Read |Ask )?GET (?:/api/v1)?/sessions(?: to list active sessions)?(?![/\w])",
        "relay sessions lists the sessions",
        "debug_sessions lists the sessions",
    ),
    _action(
        r"(?:Use |Read )GET /sessions/\{id\}/breakpoints to list the ids",
        "relay break lists the ids",
        "debug_breakpoints without arguments lists the ids",
    ),
    _action(
        r"(?:Use |Read )GET /sessions/\{id\}/threads\b",
        "Read relay where",
        "Read debug_inspect what=threads",
    ),
    _action(
        r"(?:Use |Read )GET /sessions/\{id\}/stacktrace;",
        "relay stack shows them:",
        "debug_inspect what=stack shows them:",
    ),
    _action(
        r"Ask GET /sessions/\{id\}/scopes again",
        "Ask relay locals again",
        "Call debug_inspect what=locals again",
    ),
    _action(
        r"Read GET /sessions/\{id\}/output", "Read relay output", "Read debug_inspect what=output"
    ),
    _action(
        r"GET /sessions/\{id\}/events\?timeout=30",
        "relay where --wait 30",
        "debug_continue action=wait",
    ),
    _action(
        r"GET /sessions/\{id\}/events\?types=input_requested",
        "relay where --wait 30",
        "debug_continue action=wait",
    ),
    _action(
        r"Read GET /sessions/\{id\} for the present status",
        "relay where shows where it stands",
        "debug_sessions shows the present status",
    ),
    _action(
        r"POST /sessions/\{id\}/(?:threads/\d+/)?pause",
        "relay pause",
        "debug_continue action=pause",
    ),
    _action(
        r"POST /sessions/\{id\}/(?:threads/\d+/)?continue",
        "relay continue",
        "debug_continue",
    ),
    _action(
        r"[Cc]reate a new session with POST /api/v1/sessions", "relay start PROGRAM", "debug_run"
    ),
    _action(
        r"or DELETE its session, first",
        "or relay end its session, first",
        "or debug_end its session, first",
    ),
    _action(r"Give python_path\b", "Give --python", "Give python"),
    _action(r"Use a python_path\b", "Use a --python", "Use a python"),
    _action(r"the session's project_root", "this directory", "the project root"),
    _action(r"cwd, then project_root", "this directory", "cwd, then the project root"),
    _action(r'give "adapter": "(\w+)"', r"give --adapter \1", r"give adapter=\1"),
)

_FOREIGN = re.compile(
    r"\b(?:GET|POST|PUT|PATCH|DELETE)\b|/sessions|/api/v1|same route|relay serve|details\.\w+"
    r"|query parameter|request body"
)

_IN_GENERAL: Mapping[Face, str] = {
    "shell": "Read the message; nothing was changed",
    "run": "Mend what is named; nothing was run",
    "mcp": "Read the message; nothing was changed",
}


def in_words(suggestion: str, details: Mapping[str, Any], face: Face) -> str:
    """The suggestion as this face would say it."""
    text = suggestion
    for action in _ACTIONS:
        text = action.phrase.sub(getattr(action, face), text)
    text = re.sub(r"\bdetails\.(\w+)", lambda match: _fact(match, details), text)
    return _IN_GENERAL[face] if _FOREIGN.search(text) else text


def _fact(match: re.Match[str], details: Mapping[str, Any]) -> str:
    """The fact itself, where it is short."""
    found = details.get(match[1])
    return str(found) if isinstance(found, (int, str)) and len(str(found)) <= 80 else match[0]
