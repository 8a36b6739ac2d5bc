"""What is wrong and what to do next, in the words of an editor and of its launch configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from relay.actions import Action, Words, in_words, no_way
from relay.errors import RelayError
from relay.faces.common.common_words import ONE_PROGRAM_WORDS, attach_words

ARGUMENTS: Mapping[str, str] = {
    "script": "program",
    "project_root": "cwd",
    "python_path": "python",
    "stop_on_entry": "stopOnEntry",
    "thread_id": "threadId",
    "frame_id": "frameId",
    "start_frame": "startFrame",
    "target_id": "targetId",
    "variables_reference": "variablesReference",
    "function": "name",
    "hit_condition": "hitCondition",
    "log_message": "logMessage",
    "pid": "processId",
    "python_args": "pythonArgs",
    "debug_subprocesses": "subProcess",
    "path_mappings": "pathMappings",
    "connect_timeout": "connectTimeout",
}
"""What fields of the relay's requests are called in DAP, and in a launch configuration."""

EDITOR_WORDS: Words = {
    **ONE_PROGRAM_WORDS,
    **attach_words('give it a longer "connectTimeout"'),
    Action.LIST_SESSIONS: (
        'Name a session that lives: "session" in the attach request, or --session'
    ),
    Action.CREATE_SESSION: "Start debugging again",
    Action.END_A_SESSION: "End another session first",
    Action.RENEW_EXPIRED: "Start debugging again",
    Action.RENEW_CRASHED: "Start debugging again",
    Action.END_OTHER_CLIENT: "Another debug client is attached: end it first",
    Action.START_PROGRAM: "The program has not started yet",
    Action.RUN_AGAIN: "The program has ended: start debugging again",
    Action.WAIT_FOR_START: "Wait for the start to end",
    Action.CHECK_START: 'Check "python", "cwd" and "env" of the launch request',
    Action.CORRECT_AND_LAUNCH: "Correct the line, then start debugging again",
    Action.CHECK_SCRIPT_PATH: 'Check the path; a relative one starts at "cwd"',
    Action.GIVE_MODULE: 'Check the path, from "cwd"; for a module give "module": "$module"',
    Action.GIVE_SCRIPT: 'Use "program" or "module" with "args"',
    Action.BREAK_AT_LINE: 'The "program" is $script; set a breakpoint at its line $line',
    Action.GIVE_ADAPTER: 'Its name is one for the $adapter adapter: give "adapter": "$adapter"',
    Action.DEBUG_WHAT_IT_STARTS: (
        'It is no Python program: name the one that it starts; or give "subProcess": true, and each Python that '
        "it starts is debugged"
    ),
    Action.GIVE_INTERPRETER: 'Give "python" $interpreter',
    Action.GIVE_PYTHON_WITH_DEBUGGER: (
        'Use a "python" that has the $debugger of the relay, or none'
    ),
    Action.SET_PTRACE_SCOPE: "Run `sysctl kernel.yama.ptrace_scope=0` as root, or $otherwise",
    Action.PAUSE: "Pause the program first, or wait for a breakpoint",
    Action.CONTINUE: "Continue first",
    Action.PAUSE_THREAD: "Pause the thread first",
    Action.CONTINUE_THREAD: "Let it run: continue",
    Action.RESUME_OR_END: "It could not be interrupted: continue, or stop debugging",
    Action.CHECK_SOURCE_PATH: 'Check the path; a relative one starts at "cwd"',
    Action.CORRECT_FIELDS: "Correct the arguments that are named",
    Action.SEND_TOKEN: "Give the server's token: RELAY_TOKEN",
    Action.READ_ADAPTER_MESSAGE: "If it persists, restart",
    **no_way(
        Action.SEE_STATUS,
        Action.ADD_PARAMETER,
        Action.CORRECT_PARAMETER,
    ),
}


def error_text(error: RelayError) -> str:
    """What is wrong, and the way out if editors have one."""
    suggestion = in_words(error.suggestion, error.details, EDITOR_WORDS)
    message = message_of(error)
    return message if suggestion is None else f"{message}. {suggestion}"


def message_of(error: RelayError) -> str:
    """What is wrong, with each field called as the argument that it came from."""
    complaints: list[dict[str, Any]] = error.details.get("errors") or []
    message = error.message
    for field in {complaint["field"] for complaint in complaints}:
        pattern = rf"(?:^|(?<=; )){re.escape(field)}(?=: )"
        message = re.sub(pattern, lambda found: _as_argument(found[0]), message)
    of_breakpoint = str(error.details.get("field", ""))
    return message.replace(f"The {of_breakpoint} of ", f"The {_as_argument(of_breakpoint)} of ", 1)


def _as_argument(field: str) -> str:
    """`env.A` and `args[0]` begin with the argument's name."""
    name = re.match(r"\w*", field)
    first = "" if name is None else name[0]
    return ARGUMENTS.get(first, first) + field[len(first) :]
