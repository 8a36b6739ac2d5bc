"""What to do next, in the words of an editor and of its launch configuration."""

from __future__ import annotations

from relay.actions import Action, Words, no_way
from relay.faces.common.common_words import ONE_PROGRAM_WORDS

EDITOR_WORDS: Words = {
    **ONE_PROGRAM_WORDS,
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
    Action.GIVE_ADAPTER: 'Its name is one for the $adapter adapter: give "adapter": "$adapter"',
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
