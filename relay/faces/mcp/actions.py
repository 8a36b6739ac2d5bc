"""What to do next, in calls of the tools."""

from __future__ import annotations

from relay.actions import Action, Words, no_way
from relay.faces.common.common_words import SHARED_WORDS, attach_words

TOOL_WORDS: Words = {
    **SHARED_WORDS,
    **attach_words("give it a longer connect_timeout"),
    Action.LIST_SESSIONS: "debug_sessions lists the sessions",
    Action.SEE_STATUS: "debug_sessions shows the present status",
    Action.CREATE_SESSION: "debug_run",
    Action.END_A_SESSION: "End one of the sessions in deletable with debug_end",
    Action.RENEW_EXPIRED: "Start the program again with debug_run",
    Action.RENEW_CRASHED: "Read debug_inspect what=output, then debug_end and debug_run again",
    Action.END_OTHER_CLIENT: (
        "Another debug client is attached: end it, or debug_end its session, first"
    ),
    Action.USE_OR_DETACH: "Use that session: session=$session_id; or end it first: debug_end",
    Action.START_PROGRAM: "Start a program first: debug_run",
    Action.RUN_AGAIN: "The program has ended: debug_run with this session runs it again",
    Action.WAIT_FOR_START: "Wait for the start to end: debug_continue action=wait",
    Action.CHECK_START: "Check python, cwd and env of debug_run",
    Action.CORRECT_AND_LAUNCH: "Correct the line, then call debug_run again",
    Action.CHECK_SCRIPT_PATH: (
        "Check the path; relative paths are taken from cwd, then the project root"
    ),
    Action.GIVE_MODULE: (
        "Check the path, from cwd or the project root; for a module give module=$module"
    ),
    Action.GIVE_SCRIPT: "Use script or module with args",
    Action.BREAK_AT_LINE: "The script is $script; $line is a line for breakpoints",
    Action.GIVE_ADAPTER: "Its name is one for the $adapter adapter: give adapter=$adapter",
    Action.DEBUG_WHAT_IT_STARTS: (
        "It is no Python program: name the one that it starts; or give children=true, and each Python that "
        "it starts is debugged"
    ),
    Action.GIVE_INTERPRETER: "Give python $interpreter",
    Action.GIVE_PYTHON_WITH_DEBUGGER: "Use a python that has the $debugger of the relay, or none",
    Action.CHECK_PROCESS_ID: "Check the process id",
    Action.CHOOSE_PROCESS: "Choose another process",
    Action.CHOOSE_PYTHON_PROCESS: (
        "Give the pid of the Python process itself, not of a shell that started it"
    ),
    Action.READ_INJECTOR: "Read injector; or $otherwise",
    Action.SET_PTRACE_SCOPE: "Run `sysctl kernel.yama.ptrace_scope=0` as root, or $otherwise",
    Action.READ_LAST_OUTPUT: "Read debug_inspect what=output for its last words",
    Action.WAIT_FOR_INPUT_REQUEST: "Send more when it asks: debug_continue action=wait",
    Action.PAUSE: (
        "It runs: debug_continue action=pause stops it, action=wait waits for a stop; one that hangs "
        "does not stop: debug_inspect what=hang, stack or locals shows it as it is"
    ),
    Action.CONTINUE: "Resume the program first: debug_continue",
    Action.PAUSE_THREAD: "Pause it first: debug_continue action=pause",
    Action.CONTINUE_THREAD: "Let it run: debug_continue",
    Action.RESUME_OR_END: (
        "It could not be interrupted: debug_continue lets the program run, debug_end ends it"
    ),
    Action.LEAVE_RUNNER: "debug_continue goes on to the next failure, or to the end",
    Action.LIST_THREADS: "Read debug_inspect what=threads to list the thread ids",
    Action.LIST_PRESENT_THREADS: "Read debug_inspect what=threads for those that there are",
    Action.LIST_PROCESSES_LEFT: "Read debug_inspect what=threads for the processes that are left",
    Action.SEE_THREADS: "Read debug_inspect what=threads for the status of each thread",
    Action.LIST_BREAKPOINTS: "debug_breakpoints without arguments lists the ids",
    Action.CHECK_SOURCE_PATH: "Check the path; relative paths start at the project root",
    Action.SET_CAPTURES: "Set it again with capture: debug_breakpoints",
    Action.SEE_STACK: (
        "debug_inspect what=stack shows them: frame ids count from 0 at the top of the stack"
    ),
    Action.SEE_SCOPES: (
        "Call debug_inspect what=locals again: references die when the program runs"
    ),
    Action.LIST_DATA_BREAKPOINTS: "debug_breakpoints without arguments lists the ids",
    Action.ASK_IN_OTHER_RUN: (
        "debug_run with breakpoints here, in a session of its own, and ask at that stop; or with"
        ' record=["PLACE:EXPR"], which takes no second run'
    ),
    Action.RECORD_AT_LAUNCH: (
        'debug_run with record=["PLACE:EXPR"], in a session of its own: each process that is debugged'
        " has one, too"
    ),
    Action.DELETE_WATCH: "Use fewer expressions",
    Action.CORRECT_FIELDS: "Correct the arguments that are named; nothing was changed",
    Action.ADD_PARAMETER: "Add the argument that is named; nothing was changed",
    Action.CORRECT_PARAMETER: "Correct the arguments that are named; nothing was changed",
    Action.SEE_ABILITIES: "This program's debugger cannot do that; see the message",
    Action.READ_ADAPTER_MESSAGE: (
        "If it persists, call debug_run with this session: it starts the program again"
    ),
    **no_way(
        Action.SEND_TOKEN,
    ),
}
