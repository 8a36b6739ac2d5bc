"""What to do next, in commands of the line protocol."""

from __future__ import annotations

from relay.actions import Action, Words, no_way
from relay.faces.common.common_words import ONE_PROGRAM_WORDS

COMMAND_WORDS: Words = {
    **ONE_PROGRAM_WORDS,
    Action.CREATE_SESSION: "Send initialize, then start",
    Action.END_A_SESSION: "End another debugger of this relay, or raise max_sessions",
    Action.RENEW_EXPIRED: "Send initialize, then start",
    Action.RENEW_CRASHED: "Send start: it runs the program again",
    Action.START_PROGRAM: "Send start first",
    Action.RUN_AGAIN: "The program has ended: send start to run it again",
    Action.WAIT_FOR_START: "Wait for the event started",
    Action.CHECK_START: "Check file and workingDir of initialize",
    Action.CORRECT_AND_LAUNCH: "Correct the line, then send start again",
    Action.CHECK_SCRIPT_PATH: "Check the path; a relative one starts at workingDir",
    Action.GIVE_MODULE: "Check the path; a relative one starts at workingDir",
    Action.BREAK_AT_LINE: "The file is $script; its line $line is for setBreakpoint",
    Action.PAUSE: "Wait for the event stopped",
    Action.CONTINUE: "Resume the program first: send continue",
    Action.CONTINUE_THREAD: "Let it run: send continue",
    Action.RESUME_OR_END: "It could not be interrupted: send continue, or terminate",
    Action.CHECK_SOURCE_PATH: "Check the path; a relative one starts at workingDir",
    Action.SEE_STACK: "Send getStackTrace; frameIndex counts from 0 at the top of the stack",
    Action.SEE_SCOPES: "Send getVariables again: values are those of one stop",
    Action.LIST_VARIABLES: "Send getVariables for the names",
    Action.CORRECT_FIELDS: "Correct the params that are named",
    Action.ADD_PARAMETER: "Add the param that is named",
    Action.CORRECT_PARAMETER: "Correct the params that are named",
    Action.READ_ADAPTER_MESSAGE: "If it persists, send start when the program has ended",
    **no_way(
        Action.LIST_SESSIONS,
        Action.SEE_STATUS,
        Action.END_OTHER_CLIENT,
        Action.GIVE_SCRIPT,
        Action.GIVE_ADAPTER,
        Action.DEBUG_WHAT_IT_STARTS,
        Action.GIVE_INTERPRETER,
        Action.GIVE_PYTHON_WITH_DEBUGGER,
    ),
}
