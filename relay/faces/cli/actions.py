"""What to do next, in commands of the shell and in options of `relay run`."""

from __future__ import annotations

from relay.actions import Action, Words, no_way
from relay.faces.common.common_words import ONE_PROGRAM_WORDS, SHARED_WORDS, attach_words

_OF_BOTH: Words = {
    Action.CHECK_START: "Check --python, and the environment of the program",
    Action.CORRECT_AND_LAUNCH: "Correct the line, then start it again",
    Action.CHECK_SCRIPT_PATH: "Check the path; relative paths are taken from this directory",
    Action.GIVE_MODULE: "Check the path, from this directory; for a module give -m $module",
    Action.BREAK_AT_LINE: "The program is $script; to stop at that line: --break $script:$line",
    Action.GIVE_ADAPTER: "Its name is one for the $adapter adapter: give --adapter $adapter",
    Action.DEBUG_WHAT_IT_STARTS: (
        "It is no Python program: name the one that it starts; or give --children, and each Python that it "
        "starts is debugged"
    ),
    Action.GIVE_INTERPRETER: "Give --python $interpreter",
    Action.GIVE_PYTHON_WITH_DEBUGGER: (
        "Use a --python that has the $debugger of the relay, or none"
    ),
    Action.CHECK_SOURCE_PATH: "Check the path; relative paths start at this directory",
    Action.SET_CAPTURES: "Capture expressions: relay run --capture FILE:LINE:EXPR",
    Action.CORRECT_FIELDS: "Correct what is named; --help shows every option",
}
"""Of every command that takes a program."""

COMMAND_WORDS: Words = {
    **SHARED_WORDS,
    **_OF_BOTH,
    **attach_words("give it --connect-timeout SECONDS"),
    Action.LIST_SESSIONS: "relay sessions lists the sessions",
    Action.SEE_STATUS: "relay where shows where it stands",
    Action.CREATE_SESSION: "relay start PROGRAM",
    Action.END_A_SESSION: "End one: relay end --session ID, or relay end --all",
    Action.RENEW_EXPIRED: "Start the program again: relay start PROGRAM",
    Action.RENEW_CRASHED: "Read relay output, then relay end, and start it again",
    Action.END_OTHER_CLIENT: (
        "Another debug client is attached: end it, or relay end its session, first"
    ),
    Action.USE_OR_DETACH: "Use that session: --session $session_id; or end it first: relay end",
    Action.START_PROGRAM: "Start a program first: relay start PROGRAM",
    Action.RUN_AGAIN: "The program has ended: relay restart runs it again",
    Action.WAIT_FOR_START: "Wait for the start to end: relay where --wait 30",
    Action.GIVE_SCRIPT: (
        "Options such as -O or -X dev go before the program: relay start -- -O app.py"
    ),
    Action.CHECK_PROCESS_ID: "Check the process id",
    Action.CHOOSE_PROCESS: "Choose another process",
    Action.CHOOSE_PYTHON_PROCESS: (
        "Give the pid of the Python process itself, not of a shell that started it"
    ),
    Action.READ_INJECTOR: "It may be reached in another way: $otherwise",
    Action.SET_PTRACE_SCOPE: "Run `sysctl kernel.yama.ptrace_scope=0` as root, or $otherwise",
    Action.READ_LAST_OUTPUT: "Read relay output for its last words",
    Action.WAIT_FOR_INPUT_REQUEST: "Send more when it asks: relay where --wait 30",
    Action.PAUSE: "It runs: relay pause stops it, relay where --wait 30 waits for a stop",
    Action.CONTINUE: "Resume the program first: relay continue",
    Action.PAUSE_THREAD: "Pause it first: relay pause",
    Action.CONTINUE_THREAD: "Let it run: relay continue",
    Action.RESUME_OR_END: (
        "It could not be interrupted: relay continue lets the program run, relay end ends it"
    ),
    Action.LEAVE_RUNNER: "relay continue goes on to the next failure, or to the end",
    Action.LIST_THREADS: "Read relay where to list the thread ids",
    Action.LIST_PRESENT_THREADS: "Read relay where for those that there are",
    Action.LIST_PROCESSES_LEFT: "Read relay where for the processes that are left",
    Action.SEE_THREADS: "Read relay where for the status of each thread",
    Action.LIST_BREAKPOINTS: "relay break lists the ids",
    Action.SEE_STACK: "relay stack shows them: frame ids count from 0 at the top of the stack",
    Action.SEE_SCOPES: "Ask relay locals again: references die when the program runs",
    Action.LIST_DATA_BREAKPOINTS: "relay watch lists the ids",
    Action.ASK_IN_OTHER_RUN: (
        "Start it again with --break here, and ask at that stop; or with --record PLACE:EXPR"
        " (FILE:LINE or a function), which takes no second run"
    ),
    Action.RECORD_AT_LAUNCH: (
        "Start it again with --record PLACE:EXPR (FILE:LINE or a function): each process that"
        " is debugged has one of its own"
    ),
    Action.DELETE_WATCH: "Use fewer expressions",
    Action.ADD_PARAMETER: "Add what is named; --help shows every option",
    Action.CORRECT_PARAMETER: "Correct what is named; --help shows every option",
    Action.SEND_TOKEN: "Give the server's token: RELAY_TOKEN",
    Action.READ_ADAPTER_MESSAGE: "If it persists, start the program again: relay restart",
}
"""Of the session commands, which talk to a server."""

OPTION_WORDS: Words = {
    **ONE_PROGRAM_WORDS,
    **_OF_BOTH,
    Action.CREATE_SESSION: "Run the program again",
    Action.RENEW_EXPIRED: "Run the program again",
    Action.RENEW_CRASHED: "Run the program again",
    Action.END_OTHER_CLIENT: "Another debug client is attached: end it first",
    Action.RUN_AGAIN: "The program has ended: run it again",
    Action.GIVE_SCRIPT: (
        "Options such as -O or -X dev go before the program: relay run -- -O app.py"
    ),
    Action.ASK_IN_OTHER_RUN: (
        "Run it with --break here; or with --record PLACE:EXPR (FILE:LINE or a function),"
        " which takes no second run"
    ),
    Action.RECORD_AT_LAUNCH: (
        "Run it with --record PLACE:EXPR (FILE:LINE or a function): each process that"
        " is debugged has one of its own"
    ),
    Action.DELETE_WATCH: "Give fewer --eval",
    Action.READ_ADAPTER_MESSAGE: "If it persists, run the program again",
    **no_way(
        Action.LIST_SESSIONS,
        Action.SEE_STATUS,
        Action.END_A_SESSION,
        Action.START_PROGRAM,
        Action.WAIT_FOR_START,
        Action.PAUSE,
        Action.CONTINUE,
        Action.RESUME_OR_END,
        Action.ADD_PARAMETER,
        Action.CORRECT_PARAMETER,
    ),
}
"""Of `relay run`, which has one program and no session that outlives it."""
