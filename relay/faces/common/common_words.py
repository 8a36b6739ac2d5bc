"""What most faces say of a way out: sentences without a route, a command or a tool.

A face lays its own over them; only the API, which has all ways, has a table of its own. A new action
whose words are not here is missed in each table, and a test names those.
"""

from __future__ import annotations

from relay.actions import Action, Words, no_way


def attach_words(more_time: str) -> Words:
    """What to do about an attach that is not answered, with how a face gives it more time."""
    actions = Action.AWAIT_PROCESS, Action.CHECK_SILENT_PORT, Action.CHECK_SILENT_DEBUGGER
    return {one: one.value.replace("give it more time", more_time) for one in actions}


SHARED_WORDS: Words = {
    Action.AWAIT_RELEASE: Action.AWAIT_RELEASE.value,
    Action.CHOOSE_LINE: Action.CHOOSE_LINE.value,
    Action.SEE_ABILITIES: "This program's debugger cannot do that",
    Action.SEE_LIMITATIONS: (
        "Install $debugger in the program's environment, or leave it to the relay's"
    ),
    **no_way(
        Action.LIST_PROFILES,
        Action.REPLACE_TAKEN_PROFILE,
        Action.REPLACE_PROFILE,
        Action.LIST_VARIABLES,
        Action.LIST_WATCHES,
        Action.LIST_ROUTES,
        Action.CHOOSE_METHOD,
        Action.RUN_TO_BREAKPOINT,
        Action.CREATE_TOOL_SESSION,
    ),
}
"""Of every face but the API."""

ONE_PROGRAM_WORDS: Words = {
    **SHARED_WORDS,
    **no_way(
        Action.USE_OR_DETACH,
        Action.CHECK_PROCESS_ID,
        Action.CHOOSE_PROCESS,
        Action.CHOOSE_PYTHON_PROCESS,
        Action.READ_INJECTOR,
        Action.SET_PTRACE_SCOPE,
        Action.AWAIT_PROCESS,
        Action.CHECK_SILENT_PORT,
        Action.CHECK_SILENT_DEBUGGER,
        Action.READ_LAST_OUTPUT,
        Action.WAIT_FOR_INPUT_REQUEST,
        Action.PAUSE_THREAD,
        Action.CONTINUE_THREAD,
        Action.LEAVE_RUNNER,
        Action.LIST_THREADS,
        Action.LIST_PRESENT_THREADS,
        Action.LIST_PROCESSES_LEFT,
        Action.SEE_THREADS,
        Action.LIST_BREAKPOINTS,
        Action.SET_CAPTURES,
        Action.SEE_STACK,
        Action.SEE_SCOPES,
        Action.LIST_DATA_BREAKPOINTS,
        Action.ASK_IN_OTHER_RUN,
        Action.RECORD_AT_LAUNCH,
        Action.DELETE_WATCH,
        Action.SEND_TOKEN,
    ),
}
"""Of a face whose client drives one program that it has started, and has no lists to look into."""
