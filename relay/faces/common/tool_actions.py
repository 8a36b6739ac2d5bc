"""What to do next in the run-to-breakpoint tool API: its routes, and its tools of MCP."""

from __future__ import annotations

from relay.actions import Action, Words, no_way
from relay.faces.common.common_words import ONE_PROGRAM_WORDS


def _words(*, create: str, state: str, run: str, end: str) -> Words:
    """The sentences, around how each call is named."""
    new = f"Create a new session: {create}"
    first_run = f"Run it to a first breakpoint: {run}"
    path = "Check the path; relative paths start at the project root"
    return {
        **ONE_PROGRAM_WORDS,
        Action.LIST_SESSIONS: f"Create a session, and use its id: {create}",
        Action.SEE_STATUS: f"Ask for its state: {state}",
        Action.CREATE_SESSION: new,
        Action.END_A_SESSION: f"End one of the sessions: {end}",
        Action.RENEW_EXPIRED: new,
        Action.RENEW_CRASHED: f"End the session, and create a new one: {create}",
        Action.START_PROGRAM: first_run,
        Action.RUN_AGAIN: f"The program has ended: create a new session: {create}",
        Action.WAIT_FOR_START: f"Wait for the start to end: {state}",
        Action.CHECK_START: "Check pythonPath and env",
        Action.CORRECT_AND_LAUNCH: "Correct the line, then create a new session",
        Action.CHECK_SCRIPT_PATH: path,
        Action.GIVE_MODULE: path,
        Action.BREAK_AT_LINE: path,
        Action.GIVE_INTERPRETER: "Give pythonPath $interpreter",
        Action.GIVE_PYTHON_WITH_DEBUGGER: (
            "Use a pythonPath that has the $debugger of the relay, or none"
        ),
        Action.PAUSE: "Wait for the call under way to end",
        Action.CONTINUE: "Go on from where the program stands",
        Action.RESUME_OR_END: "It could not be interrupted: end the session",
        Action.CHECK_SOURCE_PATH: path,
        Action.READ_ADAPTER_MESSAGE: "If it persists, end the session and create a new one",
        Action.RUN_TO_BREAKPOINT: first_run,
        Action.CREATE_TOOL_SESSION: new,
        **no_way(
            Action.END_OTHER_CLIENT,
            Action.GIVE_SCRIPT,
            Action.GIVE_ADAPTER,
            Action.DEBUG_WHAT_IT_STARTS,
        ),
    }


_CORRECT_FIELDS = "Correct these fields; GET /tool/v0/openapi.json has them all"

ROUTE_WORDS: Words = {
    **_words(
        create="POST /tool/v0/sessions",
        state="GET /tool/v0/sessions/{id}",
        run="POST /tool/v0/sessions/{id}/breakpoint",
        end="DELETE /tool/v0/sessions/{id}",
    ),
    Action.CORRECT_FIELDS: _CORRECT_FIELDS,
    Action.ADD_PARAMETER: _CORRECT_FIELDS,
    Action.CORRECT_PARAMETER: _CORRECT_FIELDS,
    Action.LIST_ROUTES: "GET /tool/v0/openapi.json lists every call",
    Action.CHOOSE_METHOD: "Use one of the methods in the header Allow",
    Action.SEND_TOKEN: "Send the header Authorization: Bearer TOKEN, as printed by relay serve",
}
"""Over HTTP."""

_CORRECT_ARGUMENTS = "Correct the arguments that are named; nothing was changed"

TOOL_WORDS: Words = {
    **_words(
        create="sessions_create",
        state="sessions_state",
        run="sessions_breakpoint",
        end="sessions_end",
    ),
    Action.CORRECT_FIELDS: _CORRECT_ARGUMENTS,
    Action.ADD_PARAMETER: "Add the argument that is named; nothing was changed",
    Action.CORRECT_PARAMETER: _CORRECT_ARGUMENTS,
}
"""Over MCP, where the calls are tools."""
