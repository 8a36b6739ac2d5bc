"""What a client of the API can do next: the routes and fields of each action."""

from __future__ import annotations

from typing import Any

from relay.actions import PREFERENCE, Action, Advice, Words, in_words, to_wire
from relay.errors import RelayError
from relay.faces.common.common_words import attach_words

ROUTE_WORDS: Words = {
    **attach_words("raise connect_timeout"),
    Action.LIST_SESSIONS: "Use GET /api/v1/sessions to list active sessions",
    Action.SEE_STATUS: "Read GET /sessions/{id} for the present status",
    Action.CREATE_SESSION: "Create a new session with POST /api/v1/sessions",
    Action.END_A_SESSION: (
        "DELETE one of the sessions named in details.deletable, or raise max_sessions"
    ),
    Action.RENEW_EXPIRED: (
        "Create a new session with POST /api/v1/sessions; a larger timeout_minutes keeps it longer"
    ),
    Action.RENEW_CRASHED: (
        "Read GET /sessions/{id}/output, then DELETE the session and create a new one"
    ),
    Action.END_OTHER_CLIENT: (
        "Another debug client is attached: end it, or DELETE its session, first"
    ),
    Action.USE_OR_DETACH: "Use that session, or detach it first: POST /sessions/$session_id/detach",
    Action.AWAIT_RELEASE: (
        "Look at the program, or set breakpoints, until $held_by releases the session: "
        "GET /sessions/{id} shows hold"
    ),
    Action.START_PROGRAM: "Start a program first: POST /sessions/{id}/launch or /attach",
    Action.RUN_AGAIN: (
        "The program has ended: run it again with POST /sessions/{id}/restart, or create a new session "
        "with POST /api/v1/sessions"
    ),
    Action.WAIT_FOR_START: "Wait for the start to end: GET /sessions/{id}/events?timeout=30",
    Action.CHECK_START: (
        "Read details and GET /sessions/{id}/output; check python_path, cwd and env"
    ),
    Action.CORRECT_AND_LAUNCH: "Correct the line in details, then launch the same session again",
    Action.CHECK_SCRIPT_PATH: (
        "Check the path; relative paths are taken from cwd, then project_root"
    ),
    Action.GIVE_MODULE: (
        'Check the path, from cwd or project_root; for a module give "module": "$module"'
    ),
    Action.GIVE_SCRIPT: (
        "Use script or module with args; python_args is for options such as -O or -X dev"
    ),
    Action.BREAK_AT_LINE: (
        "The script is $script: launch that, with a breakpoint set at its line $line before"
    ),
    Action.GIVE_ADAPTER: 'Its name is one for the $adapter adapter: give "adapter": "$adapter"',
    Action.DEBUG_WHAT_IT_STARTS: (
        "It is no Python program: name the one that it starts; or launch it with "
        '"debug_subprocesses": true, and each Python that it starts is debugged'
    ),
    Action.GIVE_INTERPRETER: "Give python_path $interpreter",
    Action.GIVE_PYTHON_WITH_DEBUGGER: (
        "Use a python_path that has the $debugger of the relay, or none"
    ),
    Action.CHECK_PROCESS_ID: "Check the process id: GET /processes",
    Action.CHOOSE_PROCESS: "Choose another process: GET /processes",
    Action.CHOOSE_PYTHON_PROCESS: (
        "Give the pid of the Python process itself, not of a shell that started it: GET /processes"
    ),
    Action.READ_INJECTOR: "Read details.injector; or $otherwise",
    Action.SET_PTRACE_SCOPE: "Run `sysctl kernel.yama.ptrace_scope=0` as root, or $otherwise",
    Action.READ_LAST_OUTPUT: "Read GET /sessions/{id}/output for its last words",
    Action.WAIT_FOR_INPUT_REQUEST: (
        "Send more when it asks: GET /sessions/{id}/events?types=input_requested"
    ),
    Action.PAUSE: "Call POST /sessions/{id}/pause first or wait for a breakpoint",
    Action.CONTINUE: "Resume the program first: POST /sessions/{id}/continue",
    Action.PAUSE_THREAD: "Pause it first: POST /sessions/{id}/threads/$thread_id/pause",
    Action.CONTINUE_THREAD: "Let it run: POST /sessions/{id}/threads/$thread_id/continue",
    Action.RESUME_OR_END: "It could not be interrupted: resume the program, or DELETE the session",
    Action.LEAVE_RUNNER: "POST /sessions/{id}/continue goes on to the next failure, or to the end",
    Action.LIST_THREADS: "Use GET /sessions/{id}/threads to list the thread ids",
    Action.LIST_PRESENT_THREADS: "GET /sessions/{id}/threads lists those that there are",
    Action.LIST_PROCESSES_LEFT: "Read GET /sessions/{id}/threads for the processes that are left",
    Action.SEE_THREADS: "Read GET /sessions/{id}/threads for the status of each thread",
    Action.LIST_BREAKPOINTS: "Use GET /sessions/{id}/breakpoints to list the ids",
    Action.CHOOSE_LINE: "Choose a line between 1 and details.max_line",
    Action.CHECK_SOURCE_PATH: "Check the path; relative paths start at the session's project_root",
    Action.SET_CAPTURES: (
        'Give it expressions: PATCH /sessions/{id}/breakpoints/$breakpoint_id {"capture":'
        ' ["expression"]}'
    ),
    Action.LIST_PROFILES: "Use GET /api/v1/breakpoint-profiles to list the names",
    Action.REPLACE_TAKEN_PROFILE: "PUT /api/v1/breakpoint-profiles/$profile replaces it",
    Action.REPLACE_PROFILE: "Replace it with PUT /api/v1/breakpoint-profiles/$profile",
    Action.SEE_STACK: (
        "Use GET /sessions/{id}/stacktrace; frame ids count from 0 at the top of the stack"
    ),
    Action.SEE_SCOPES: "Ask GET /sessions/{id}/scopes again: references die when the program runs",
    Action.LIST_VARIABLES: "GET /sessions/{id}/variables lists the names below a reference",
    Action.LIST_DATA_BREAKPOINTS: "Use GET /sessions/{id}/data-breakpoints to list the ids",
    Action.ASK_IN_OTHER_RUN: (
        "Launch it again with a breakpoint here, and ask at that stop; or with `record`"
        " (FILE:LINE:EXPR or FUNCTION:EXPR), which takes no second run"
    ),
    Action.RECORD_AT_LAUNCH: (
        "Launch it again with `record` (FILE:LINE:EXPR or FUNCTION:EXPR), which takes no second run:"
        " each process that is debugged has one of its own"
    ),
    Action.LIST_WATCHES: "Use GET /sessions/{id}/watch to list the ids",
    Action.DELETE_WATCH: "DELETE a watch first: GET /sessions/{id}/watch lists them",
    Action.CORRECT_FIELDS: (
        "Correct the fields named in details.errors; GET /api/v1/docs shows every body"
    ),
    Action.ADD_PARAMETER: "Add the query parameter named in details.errors",
    Action.CORRECT_PARAMETER: "Correct the query parameter named in details.errors",
    Action.LIST_ROUTES: "GET /api/v1/docs lists every route",
    Action.CHOOSE_METHOD: "Use one of the methods in details.allowed",
    Action.SEND_TOKEN: "Send the header Authorization: Bearer TOKEN, as printed by relay serve",
    Action.SEE_ABILITIES: "See GET /api/v1/info for what each adapter can do",
    Action.SEE_LIMITATIONS: (
        "GET /sessions/{id} lists what its debugger lacks; install $debugger in the "
        "program's environment, or leave it to the relay's"
    ),
    Action.READ_ADAPTER_MESSAGE: (
        "Read details.adapter_message; if it persists, restart the program"
    ),
    Action.RUN_TO_BREAKPOINT: (
        "Run it to a first breakpoint: POST /tool/v0/sessions/{id}/breakpoint"
    ),
    Action.CREATE_TOOL_SESSION: "Create a new session: POST /tool/v0/sessions",
}


def shown_details(error: RelayError, preference: bytes | None = None) -> dict[str, Any]:
    """What the API says in `details` of the way out.

    `preference` is the request's header Prefer: the relay's own clients ask for the action.
    """
    suggestion = error.suggestion
    said = in_words(suggestion, error.details, ROUTE_WORDS)
    found: dict[str, Any] = {"suggestion": said or str(suggestion)}
    if preference == PREFERENCE.encode() and isinstance(suggestion, Advice):
        found["action"] = to_wire(suggestion)
    return found
