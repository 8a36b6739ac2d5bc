"""What an editor's launch configuration says, as the relay's own requests have it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SESSION = {"cwd": "project_root", "python": "python_path", "adapter": "adapter"}

_LAUNCH = {
    "program": "script",
    "module": "module",
    "args": "args",
    "env": "env",
    "stopOnEntry": "stop_on_entry",
    "pythonArgs": "python_args",
    "subProcess": "debug_subprocesses",
}

_PROCESS = ("processId", "pid", "port", "connect")
"""What an `attach` names a process by that is no session yet."""


_LEFT_OUT: Mapping[str, Any] = {
    "args": [],
    "env": {},
    "stop_on_entry": None,
    "python_args": [],
}
"""What a whole configuration says of the program by leaving it out, over an earlier one."""


def session_fields(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What of a launch or an attach is of the session that is made for it."""
    fields = {ours: arguments[name] for name, ours in _SESSION.items() if arguments.get(name)}
    python, _ = _interpreter(arguments)
    return {**fields, "python_path": python} if python else fields


def launch_fields(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What of a launch, or of a restart, is of the program."""
    fields = {
        ours: value for name, ours in _LAUNCH.items() if (value := arguments.get(name)) is not None
    }
    _, options = _interpreter(arguments)
    more = fields.get("python_args", [])
    if options and isinstance(more, list):
        fields["python_args"] = [*options, *more]
    if is_whole(arguments):
        fields.setdefault("debug_subprocesses", "auto")
    if runs_only(arguments):
        fields |= {"stop_on_entry": False, "stop_on_exception": False, "debug_subprocesses": False}
    return fields


NO_TERMINAL = (
    "relay dap opens no terminal: what is printed is shown here, and input is given by "
    "`relay input` or an agent\n"
)


RUNS_ONLY = "The program runs without debugging"


def runs_only(arguments: Mapping[str, Any]) -> bool:
    """Whether the program is to run as if nobody debugged it (DAP: `noDebug`)."""
    return arguments.get("noDebug") is True


def wants_terminal(arguments: Mapping[str, Any]) -> bool:
    """Whether the program is to run in a terminal of the editor's."""
    return arguments.get("console") in ("integratedTerminal", "externalTerminal")


def is_whole(arguments: Mapping[str, Any]) -> bool:
    """Whether it is a configuration by itself, and not only what of one has changed."""
    return bool(arguments.get("program") or arguments.get("module"))


def _interpreter(arguments: Mapping[str, Any]) -> tuple[Any, list[Any]]:
    """The interpreter and its own arguments, as configurations for Python have them."""
    python = arguments.get("python") or arguments.get("pythonPath")
    if isinstance(python, list) and python:
        return python[0], python[1:]
    return python, []


def restart_fields(arguments: Mapping[str, Any], launched: Mapping[str, Any]) -> dict[str, Any]:
    """What a restart changes; `launched` is the launch's. Raises ValueError for what it cannot."""
    python, launched_python = _interpreter(arguments)[0], _interpreter(launched)[0]
    is_other = python is not None or is_whole(arguments)
    if is_other and python != launched_python:
        raise ValueError("python stays as it was launched. Start debugging again to change it")
    if "adapter" in arguments and arguments["adapter"] != launched.get("adapter"):
        raise ValueError("adapter stays as it was launched. Start debugging again to change it")
    if is_whole(arguments) and runs_only(arguments) != runs_only(launched):
        raise ValueError("noDebug stays as it was launched. Start debugging again to change it")
    fields = launch_fields(arguments)
    if is_whole(arguments):
        fields = {**_LEFT_OUT, **fields}
    if arguments.get("cwd"):
        fields["cwd"] = arguments["cwd"]
    return fields


def names_process(arguments: Mapping[str, Any]) -> bool:
    """Whether an attach is to a process, and not to a session."""
    return any(arguments.get(name) is not None for name in _PROCESS)


def attach_fields(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The process that an attach names, as configurations for Python do.

    An editor that lets its user pick a process gives its id as text.
    """
    connect = arguments.get("connect") or {}
    pid = arguments.get("processId", arguments.get("pid"))
    fields = {
        "pid": int(pid) if isinstance(pid, str) and pid.isdecimal() else pid,
        "host": connect.get("host", arguments.get("host")),
        "port": connect.get("port", arguments.get("port")),
        "connect_timeout": arguments.get("connectTimeout"),
    }
    mappings = [
        {"local_root": one["localRoot"], "remote_root": one["remoteRoot"]}
        for one in arguments.get("pathMappings") or []
    ]
    if mappings:
        fields["path_mappings"] = mappings
    return {name: value for name, value in fields.items() if value is not None}
