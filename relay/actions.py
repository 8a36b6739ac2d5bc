"""What a caller can do next, as actions: the catalog names them, each face says how.

    Action        something to do, with a sentence that names no face's way
    Advice        an action with its parameters: `Action.PAUSE_THREAD.of(thread_id=3)`
    Suggestion    an advice, or plain text where no verb of the relay is involved
    Words         one face's sentence for every action, None where it has no such way

A face has its words in a file `actions.py` of its own, those of HTTP in `faces/common/`. Knows
no face, and imports nothing of this package.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from string import Template
from typing import Any, TypeAlias

Parameter: TypeAlias = str | int

LONGEST_FACT = 80
"""Characters; a longer fact is left to the details, and only named."""


class Action(Enum):
    """A way out. The value says it in general; `$name` is a parameter, or one of the details."""

    # Sessions
    LIST_SESSIONS = "List the live sessions"
    SEE_STATUS = "Ask for the session's present status"
    CREATE_SESSION = "Create a new session"
    END_A_SESSION = "End one of the sessions named in deletable, or raise max_sessions"
    RENEW_EXPIRED = "Create a new session; a larger timeout_minutes keeps it longer"
    RENEW_CRASHED = "Read the program's output, then end the session and create a new one"
    END_OTHER_CLIENT = "Another debug client is attached: end it, or end its session, first"
    USE_OR_DETACH = "Use that session, or detach it first: $session_id"
    AWAIT_RELEASE = "Look at the program, or set breakpoints, until $held_by releases the session"
    # The program
    START_PROGRAM = "Start a program first: launch it, or attach to it"
    RUN_AGAIN = "The program has ended: restart it, or create a new session"
    WAIT_FOR_START = "Wait for the start to end"
    CHECK_START = "Read the details and the program's output; check python_path, cwd and env"
    CORRECT_AND_LAUNCH = "Correct the line in details, then launch the same session again"
    CHECK_SCRIPT_PATH = "Check the path; relative paths are taken from cwd, then project_root"
    GIVE_MODULE = "Check the path, from cwd or project_root; for a module give module $module"
    GIVE_SCRIPT = "Use script or module with args; python_args is for options such as -O or -X dev"
    BREAK_AT_LINE = "The script is $script: set a breakpoint at its line $line"
    GIVE_ADAPTER = 'Its name is one for the $adapter adapter: give adapter "$adapter"'
    DEBUG_WHAT_IT_STARTS = "It is no Python program: name the one that it starts; or have the processes that it starts debugged"
    GIVE_INTERPRETER = "Give python_path $interpreter"
    GIVE_PYTHON_WITH_DEBUGGER = "Use a python_path that has the $debugger of the relay, or none"
    CHECK_PROCESS_ID = "Check the process id: list the processes"
    CHOOSE_PROCESS = "Choose another process of the list of processes"
    CHOOSE_PYTHON_PROCESS = "Choose one of the Python processes in the list of processes"
    READ_INJECTOR = "Read injector in details; or $otherwise"
    AWAIT_PROCESS = (
        "Its main thread runs no Python code now (it is busy in C code, or waits while other threads "
        "are busy), or the machine is so busy that the debugger is still being imported there. Try "
        "again later, or give it more time"
    )
    CHECK_SILENT_PORT = (
        "Something accepts connections there and says nothing: check that it is the port of "
        "`debugpy --listen`, that no other debug client is attached, and give it more time"
    )
    CHECK_SILENT_DEBUGGER = (
        "The debugger is there and has not attached: check what is to be attached to, "
        "and give it more time"
    )
    SET_PTRACE_SCOPE = "Run `sysctl kernel.yama.ptrace_scope=0` as root, or $otherwise"
    READ_LAST_OUTPUT = "Read the program's output for its last words"
    WAIT_FOR_INPUT_REQUEST = "Send more when the program asks for input"
    # Execution
    PAUSE = "Pause the program first, or wait for a breakpoint"
    CONTINUE = "Resume the program first"
    PAUSE_THREAD = "Pause it first: thread $thread_id"
    CONTINUE_THREAD = "Let it run: resume thread $thread_id"
    RESUME_OR_END = "It could not be interrupted: resume the program, or end the session"
    LEAVE_RUNNER = "Continue: the next failure, or the end of the program, comes next"
    LIST_THREADS = "List the thread ids"
    LIST_PRESENT_THREADS = "List the threads that there are"
    LIST_PROCESSES_LEFT = "List the threads for the processes that are left"
    SEE_THREADS = "List the threads for the status of each"
    # Breakpoints
    LIST_BREAKPOINTS = "List the ids of the breakpoints"
    CHOOSE_LINE = "Choose a line between 1 and $max_line"
    CHECK_SOURCE_PATH = "Check the path; relative paths start at the session's project_root"
    SET_CAPTURES = "Give it expressions: change breakpoint $breakpoint_id to capture some"
    LIST_PROFILES = "List the names of the breakpoint profiles"
    REPLACE_TAKEN_PROFILE = "Put the profile $profile instead, which replaces it"
    REPLACE_PROFILE = "Replace it: put the profile $profile"
    # Inspection
    SEE_STACK = "Ask for the stack; frame ids count from 0 at the top of the stack"
    SEE_SCOPES = "Ask for the scopes again: references die when the program runs"
    LIST_VARIABLES = "List the names below a reference"
    LIST_DATA_BREAKPOINTS = "List the ids of the data breakpoints"
    ASK_IN_OTHER_RUN = "Launch it again with a breakpoint here, and ask at that stop"
    RECORD_AT_LAUNCH = (
        "Launch it again with a record of it: each process that is debugged has one of its own"
    )
    LIST_WATCHES = "List the ids of the watches"
    DELETE_WATCH = "Delete a watch first"
    # The request, the debugger and the relay
    CORRECT_FIELDS = "Correct the fields named in errors"
    ADD_PARAMETER = "Add the query parameter named in errors"
    CORRECT_PARAMETER = "Correct the query parameter named in errors"
    LIST_ROUTES = "Look up the route in the documentation of the API"
    CHOOSE_METHOD = "Use one of the methods in allowed"
    SEND_TOKEN = "Send the relay's token"
    SEE_ABILITIES = "Ask what each adapter can do"
    SEE_LIMITATIONS = (
        "The session lists what its debugger lacks; install $debugger "
        "in the program's environment, or leave it to the relay's"
    )
    READ_ADAPTER_MESSAGE = "Read adapter_message in details; if it persists, restart the program"
    # The run-to-breakpoint tool API
    RUN_TO_BREAKPOINT = "Run it to a first breakpoint"
    CREATE_TOOL_SESSION = "Create a new session of the tool API"

    def of(self, **parameters: Parameter) -> Advice:
        """The action with its parameters."""
        return Advice(self, parameters)


@dataclass(frozen=True, slots=True)
class Advice:
    """An action with its parameters. Its text says it in general."""

    action: Action
    parameters: Mapping[str, Parameter] = field(default_factory=dict)

    def __str__(self) -> str:
        return _filled(self.action.value, self.parameters)


Suggestion: TypeAlias = str | Action | Advice

Words: TypeAlias = Mapping[Action, str | None]


def no_way(*actions: Action) -> dict[Action, str | None]:
    """The words of a face that has no such ways."""
    return dict.fromkeys(actions)


def advice_of(suggestion: Suggestion) -> Advice | str:
    """An action without parameters is an advice, too; text stays what it is."""
    return suggestion.of() if isinstance(suggestion, Action) else suggestion


def in_words(suggestion: Suggestion, details: Mapping[str, Any], words: Words) -> str | None:
    """The suggestion as a face says it; None if the face has no such way."""
    advice = advice_of(suggestion)
    if isinstance(advice, str):
        return advice
    sentence = words[advice.action]
    return None if sentence is None else _filled(sentence, {**_short(details), **advice.parameters})


def _filled(sentence: str, facts: Mapping[str, Any]) -> str:
    return Template(sentence).substitute(_Facts(facts))


def _short(details: Mapping[str, Any]) -> dict[str, Parameter]:
    return {
        name: fact
        for name, fact in details.items()
        if isinstance(fact, int | str) and len(str(fact)) <= LONGEST_FACT
    }


class _Facts(dict[str, Any]):
    """What is not known is called by its name."""

    def __missing__(self, name: str) -> str:
        return name


# Between the relay and its own clients ---------------------------------------------------

PREFERENCE = "relay-actions"
"""In the header Prefer: the client would have the action, too, since its face has own words."""


def to_wire(advice: Advice) -> dict[str, Parameter]:
    """The advice as JSON, for the clients whose faces have words of their own."""
    return {"name": advice.action.name, **advice.parameters}


def from_wire(found: object) -> Advice | None:
    """What `to_wire` made; None for an action that this version does not know."""
    name = found.get("name") if isinstance(found, dict) else None
    if not isinstance(found, dict) or not isinstance(name, str) or name not in Action.__members__:
        return None
    return Advice(Action[name], {key: value for key, value in found.items() if key != "name"})
