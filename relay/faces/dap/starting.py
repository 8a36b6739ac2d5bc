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


def session_fields(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What of a launch or an attach is of the session that is made for it."""
    return {ours: arguments[name] for name, ours in _SESSION.items() if arguments.get(name)}


def launch_fields(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What of a launch, or of a restart, is of the program."""
    return {
        ours: value for name, ours in _LAUNCH.items() if (value := arguments.get(name)) is not None
    }


def restart_fields(arguments: Mapping[str, Any], launched: Mapping[str, Any]) -> dict[str, Any]:
    """What a restart changes; `launched` is the launch's. Raises ValueError for what it cannot."""
    for name in ("python", "adapter"):
        if name in arguments and arguments[name] != launched.get(name):
            raise ValueError(f"{name} stays as it was launched. Start debugging again to change it")
    fields = launch_fields(arguments)
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
    if not isinstance(connect, Mapping):
        raise ValueError("connect must be an object with host and port")
    pid = arguments.get("processId", arguments.get("pid"))
    fields = {
        "pid": int(pid) if isinstance(pid, str) and pid.isdecimal() else pid,
        "host": connect.get("host", arguments.get("host")),
        "port": connect.get("port", arguments.get("port")),
    }
    mappings = [
        {"local_root": one["localRoot"], "remote_root": one["remoteRoot"]}
        for one in arguments.get("pathMappings") or []
    ]
    if mappings:
        fields["path_mappings"] = mappings
    return {name: value for name, value in fields.items() if value is not None}
