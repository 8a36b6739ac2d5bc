"""How a Python program is started under debugpy: three rungs, from fast to sturdy.

    FAST     bootstrap.py in the debuggee, DAP on an inherited socket; private names of pydevd
    PLAIN    stock `-m debugpy --connect` to the relay's listener; public command line only
    ADAPTER  stock `debugpy.adapter` on stdio, which has the relay spawn launcher and debuggee

Knows command lines, environments and DAP arguments. Pure: spawns, listens and sends nothing.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from relay.actions import Action
from relay.debuggers.debugpy.about import (
    DEBUGGER,
    SUPPORTED_DEBUGGER,
    debugpy_directory,
    debugpy_version,
    is_supported_debugger,
    is_too_old,
)
from relay.debuggers.debugpy.interpreter import Interpreter
from relay.errors import InvalidRequest, LaunchFailed

DEBUGGEE = Path(__file__).with_name("debuggee")
BOOTSTRAP = DEBUGGEE / "bootstrap.py"
CHILDREN_SITE = DEBUGGEE / "children_site"

UNFIT_EXIT_CODE = 97
"""Exit code of a fast debuggee whose pydevd is unknown to the bootstrap: try the next rung."""

LONGEST_WORD = 32 * os.sysconf("SC_PAGE_SIZE")
"""Of a command line, its end included. Source: execve(2), MAX_ARG_STRLEN."""
POINTER = 8

READY = b"!"
"""What a fast debuggee that was started ahead answers if it is as good as a new one."""

OLDEST_FAST = (3, 8)
NEWEST_FAST = (3, 14)

QUIET_ENVIRONMENT = {
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    # At the default of 3 s, pydevd lets the other threads run when a repr is slow.
    "PYDEVD_UNBLOCK_THREADS_ON_VARIABLES_TIMEOUT": "-1",
}
"""What the stock rungs need in the debuggee's environment; the fast rung hides it by itself."""

PLAIN_PREPARATION = (
    "setattr(__import__('sys').modules['debugpy.common.log'], 'describe_environment', len)"
)
"""To be evaluated on the plain rung (without frameId, before `configurationDone`).

Between `configurationDone` and the program, debugpy describes the environment to a log that
nobody keeps: with stopOnEntry, the stepping makes that take seconds on 3.12 and newer.
"""

_OPTIONS_WITH_VALUE = frozenset("WX")
_REFUSED_OPTIONS = {
    "c": "runs code",
    "m": "runs a module",
    "x": "skips a line of the debugger's own script",
    "h": "prints help",
    "?": "prints help",
    "V": "prints the version",
}


class Rung(StrEnum):
    """A way of starting a debuggee. The order of definition is the order of trial."""

    FAST = "fast"
    PLAIN = "plain"
    ADAPTER = "adapter"


@dataclass(frozen=True)
class Program:
    """What is to be run. `env` is the complete environment, `target` a path or module name."""

    kind: Literal["script", "module", "command"]
    """A command is run in the place of Python, on the fast rung."""
    target: str
    cwd: str
    env: Mapping[str, str]
    args: Sequence[str] = ()
    python_args: Sequence[str] = ()
    hash_seed: int | None = None
    """Given to the interpreter, where it would choose by chance, and hidden from the program."""

    named: str | None = None
    """What `sys.argv[0]` of a script is on the fast rung, if not its path."""

    @property
    def command(self) -> list[str]:
        """What follows the interpreter's own options on a plain command line."""
        head = ["-m", self.target] if self.kind == "module" else [self.target]
        return [*head, *self.args]


HASH_SEED = "PYTHONHASHSEED"


@dataclass(frozen=True)
class Spawn:
    """A process to be started, with its complete environment."""

    argv: list[str]
    env: dict[str, str] = field(default_factory=dict)


# --- which rung -----------------------------------------------------------------------------


def choose(interpreter: Interpreter, program: Program) -> Rung:
    """The first rung to try.

    Raises InvalidRequest for python_args that no rung can honour, LaunchFailed if there is no
    debugpy that the relay can work with.
    """
    _require_debugger(interpreter)
    letters = option_letters(program.python_args)
    if "i" in letters or program.env.get("PYTHONINSPECT"):
        return Rung.PLAIN  # after the program, Python would look into the bootstrap
    if not interpreter.is_cpython:
        return Rung.PLAIN
    if not OLDEST_FAST <= interpreter.version[:2] <= NEWEST_FAST:
        return Rung.PLAIN
    return Rung.FAST if any(map(is_supported_debugger, _debuggers(interpreter))) else Rung.PLAIN


def rungs_after(rung: Rung) -> tuple[Rung, ...]:
    """The rungs to try, in order, when `rung` did not start."""
    order = tuple(Rung)
    return order[order.index(rung) + 1 :]


def option_letters(python_args: Sequence[str]) -> set[str]:
    """The one-letter options of an interpreter command line, without their values.

    Raises InvalidRequest for what is no option, or leaves the program no place.
    """
    letters: set[str] = set()
    rest = iter(python_args)
    for argument in rest:
        if argument.startswith("--"):
            if argument == "--check-hash-based-pycs":
                next(rest, None)
            continue
        if len(argument) < 2 or argument[0] != "-":
            raise _refusal(argument, "it is no option of the interpreter")
        letters |= _letters_of(argument, rest)
    return letters


def _letters_of(argument: str, rest: Any) -> set[str]:
    letters: set[str] = set()
    for position, letter in enumerate(argument[1:], 1):
        if letter in _REFUSED_OPTIONS:
            raise _refusal(argument, f"-{letter} {_REFUSED_OPTIONS[letter]}")
        letters.add(letter)
        if letter in _OPTIONS_WITH_VALUE:
            if position == len(argument) - 1:
                next(rest, None)
            break
    return letters


def _refusal(argument: str, reason: str) -> InvalidRequest:
    return InvalidRequest(
        f"python_args cannot hold {argument!r}: {reason}",
        suggestion=Action.GIVE_SCRIPT,
        errors=[{"field": "python_args", "message": reason, "value": argument}],
    )


def _debuggers(interpreter: Interpreter) -> list[str]:
    """The versions of debugpy that there are: the interpreter's own, and the relay's."""
    return [v for v in (interpreter.debugpy_version, debugpy_version()) if v is not None]


def _require_debugger(interpreter: Interpreter) -> None:
    found = _debuggers(interpreter)
    if not all(map(is_too_old, found)):
        return
    raise LaunchFailed(
        f"the relay needs {DEBUGGER} {SUPPORTED_DEBUGGER}, and there is "
        + (f"only {' and '.join(sorted(set(found)))}" if found else "none"),
        suggestion=f"Run: {sys.executable} -m pip install '{DEBUGGER}{SUPPORTED_DEBUGGER}'",
    )


# --- command lines ----------------------------------------------------------------------------


def fast_spawn(
    interpreter: Interpreter, program: Program, *, fd: int, cache: str | None = None
) -> Spawn:
    """The debuggee with DAP on `fd`, its end of a connected stream socket pair.

    `fd` must be inherited under the same number; the first on it is `fast_program`. A debuggee that
    is unfit sends the DAP event `relayUnfit` with a `reason` there, and leaves with
    UNFIT_EXIT_CODE. It leads its own process group, which dies with the socket.

    cache: a directory in which compiled code of ours may be kept; made if there is none.

    Of the program only its surroundings are taken: one that is started ahead learns the rest later.
    """
    setup = {"fd": fd, "debugpy": str(debugpy_directory().parent), "cache": cache}
    environment = dict(program.env)
    if program.hash_seed is not None:
        environment[HASH_SEED] = str(program.hash_seed)
    argv = [*_python(interpreter, program), str(BOOTSTRAP), json.dumps(setup)]
    return Spawn(argv, environment)


def fast_program(program: Program, begun_at: int | None = None) -> bytes:
    """What a process of `fast_spawn` is to run.

    One that was begun before anybody asked for it, not before `begun_at` (nanoseconds of the clock of
    files), sends READY at once, ahead of any DAP; or leaves, if what it has read at its start is not
    what a new process would read.
    """
    spec = {
        "kind": program.kind,
        "target": program.target,
        "named": program.named or program.target,
        "args": list(program.args),
        "hash_seed": None if program.hash_seed is None else [program.env.get(HASH_SEED)],
        "begun_at": begun_at,
    }
    text = json.dumps(spec).encode()
    return len(text).to_bytes(4, "big") + text


def is_too_long(interpreter: Interpreter, program: Program) -> bool:
    """Whether no process could be started with this command line and environment.

    On the fast rung the system never sees the program's part of it, and would not say so.
    """
    words = [interpreter.executable, *program.python_args, *program.command]
    variables = [f"{name}={value}" for name, value in program.env.items()]
    sizes = [len(os.fsencode(text)) + 1 for text in (*words, *variables)]
    most = os.sysconf("SC_ARG_MAX")
    return max(sizes) > LONGEST_WORD or sum(sizes) + POINTER * len(sizes) > most


def plain_spawn(interpreter: Interpreter, program: Program, *, port: int, token: str) -> Spawn:
    """The debuggee that connects to 127.0.0.1:`port`.

    A peer is the debuggee if `is_debuggee` likes its answer to `authorize_arguments()`.
    """
    options = ["--connect", f"127.0.0.1:{port}"]
    options += ["--configure-subProcess", "false", "--adapter-access-token", token]
    own = is_supported_debugger(interpreter.debugpy_version)
    entry = ["-m", "debugpy"] if own else [str(debugpy_directory())]
    argv = [*_python(interpreter, program), *entry, *options, *program.command]
    environment = {**program.env, **QUIET_ENVIRONMENT}
    return Spawn(argv, {**_for_greenlets(interpreter, program), **environment})


def _for_greenlets(interpreter: Interpreter, program: Program) -> dict[str, str]:
    """Without it the threads of stock pydevd become greenlets of the program that they debug."""
    wanted = interpreter.has_gevent and "GEVENT_SUPPORT" not in program.env
    return {"GEVENT_SUPPORT": "True"} if wanted else {}


def children_spec(join_port: str, *, workers_only: bool) -> dict[str, str]:
    """What a debuggee has to know for its children to join: see `probe/process/inherit.py`.

    join_port: path of the Unix socket on which they speak DAP, the same on every rung. workers_only:
    of all children those of multiprocessing and pytest-xdist, which run a part of the program.
    """
    return {
        "join_port": join_port,
        "scope": "workers" if workers_only else "all",
        "site": str(CHILDREN_SITE),
        "code": str(DEBUGGEE / "pydevd"),
        "debugpy": str(debugpy_directory().parent),
    }


def adapter_spawn(environment: Mapping[str, str]) -> Spawn:
    """`debugpy.adapter` speaking DAP on its stdin and stdout, under the relay's own Python."""
    # By path: the program's PYTHONPATH may lead to another debugpy.
    return Spawn([sys.executable, str(debugpy_directory() / "adapter")], dict(environment))


def terminal_spawn(arguments: Mapping[str, Any], program: Program) -> Spawn:
    """The launcher, as the adapter's reverse request `runInTerminal` asks for it.

    `arguments` are the request's. Its `env` holds changes, of which null removes a name. The
    launcher inherits the pipes and hands them to the debuggee, its child in a group of its
    own; its exit code is the debuggee's, for a death by signal N it is (-N) & 0xFF.
    """
    environment = {**program.env, **QUIET_ENVIRONMENT}
    for name, value in (arguments.get("env") or {}).items():
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = value
    return Spawn([str(word) for word in arguments["args"]], environment)


def exit_code_of_launcher(returncode: int) -> int:
    """The debuggee's exit code (negative: signal) behind the launcher's."""
    if returncode > 128 and 256 - returncode < 65:
        return returncode - 256
    return returncode


def _python(interpreter: Interpreter, program: Program) -> list[str]:
    argv = [interpreter.executable, *program.python_args]
    if interpreter.version >= (3, 11, 0):
        # Frozen modules have no file: breakpoints and steps would not find os.py.
        argv += ["-X", "frozen_modules=off"]
    return argv


# --- DAP arguments ----------------------------------------------------------------------------


def initialize_arguments(rung: Rung) -> dict[str, Any]:
    """Arguments of `initialize`: the same client on every rung."""
    return {
        "clientID": "debug-relay",
        "clientName": "debug relay",
        "adapterID": "python",
        "locale": "en",
        "linesStartAt1": True,
        "columnsStartAt1": True,
        "pathFormat": "path",
        "supportsVariableType": True,
        "supportsVariablePaging": False,
        "supportsRunInTerminalRequest": rung is Rung.ADAPTER,
        "supportsMemoryReferences": False,
    }


def launch_arguments(
    rung: Rung, interpreter: Interpreter, program: Program, *, stop_on_entry: bool = False
) -> tuple[str, dict[str, Any]]:
    """The request that starts the session, `launch` on each rung, and its arguments.

    Only `launch` honours stopOnEntry. pydevd answers it at once; the adapter answers it after
    `configurationDone`. Both send `initialized` before that.
    """
    arguments = debug_arguments()
    arguments["stopOnEntry"] = stop_on_entry
    if rung is Rung.ADAPTER:
        arguments |= _adapter_target(interpreter, program)
    return "launch", arguments


def debug_arguments() -> dict[str, Any]:
    """What launch and attach have in common."""
    return {
        "justMyCode": False,
        "showReturnValue": True,
        # pydevd's own redirection loses most of a fast program's output.
        "redirectOutput": False,
        "subProcess": False,
        # SystemExit is an end, not an error.
        "breakOnSystemExit": [],
        "stopAllThreadsOnSuspend": True,
        # Nothing is reloaded; without a directory here pydevd asks for the current one, which may be gone.
        "autoReload": {"enable": False, "watchDirectories": ["/"]},
    }


def _adapter_target(interpreter: Interpreter, program: Program) -> dict[str, Any]:
    key = "module" if program.kind == "module" else "program"
    return {
        key: program.target,
        "args": list(program.args),
        "python": [interpreter.executable],
        "pythonArgs": list(program.python_args),
        # Older Pythons need not be able to run the launcher.
        "debugLauncherPython": sys.executable,
        "cwd": program.cwd,
        "env": _for_greenlets(interpreter, program),
        # The adapter then has the relay spawn the launcher, with the relay's pipes.
        "console": "integratedTerminal",
    }


def authorize_arguments() -> dict[str, Any]:
    """Arguments of `pydevdAuthorize`, the first request to a peer of the plain rung."""
    return {"debugServerAccessToken": None}


def is_debuggee(authorize_body: Mapping[str, Any], token: str) -> bool:
    """Whether the peer that answered `pydevdAuthorize` with this body was given `token`."""
    return authorize_body.get("clientAccessToken") == token


def is_launcher_frame(path: str | None, name: str) -> bool:
    """Whether a frame at the bottom of the main thread's stack only started the program.

    True of runpy's frames under `-m debugpy`, and of debugpy's own.
    """
    if path is None or not path.endswith(("runpy>", "runpy.py", "__main__.py", "cli.py")):
        return False  # asked at each stop, and a Path takes thirty times as long
    if path == "<frozen runpy>" or Path(path).name == "runpy.py":
        return name in {"_run_module_as_main", "_run_code"}
    return Path(path).parts[-2:] in {("debugpy", "__main__.py"), ("server", "cli.py")}
