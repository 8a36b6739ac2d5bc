"""The debug relay: live debug sessions for agents, held by one Trio process.

The map of the house; imports go downwards only:

    quick/           the `relay` command without its imports, where a server carries it out
    pytest_plugin    `pytest --relay`, in the process of pytest
    import_path      what is the program's comes last
    staying_imports  a command starts a fifth faster
    asker            who asks
    actions          what a client can do next
    errors           the catalog of errors
    dap/             the Debug Adapter Protocol without IO
    perl/            a debug adapter for Perl, a program of its own
    agents/          what clients of agents are given, and where
    edition          whether the files are still those of this process
    environments     what a program has that was given nothing
    program_kinds    which debugger suits a program
    known_adapters/  debuggers known by name, and their entries of config.json
    redaction/       secret names and credentials, and the masks over them
    logs/            lines of the relay's own log
    models/          requests and resources of the contract
    config           settings and where they come from
    state_files      files of the state directory, written whole or not at all
    profiles         breakpoint profiles, one of these files
    metrics          what a relay counts
    routes/          the table of routes, for the HTTP face and the clients
    process/         processes of the operating system, and their streams
    session/         one debug session, for any debugger: nursery, link, state, logs
    debuggers/       what is special about one debugger, its IO too
    store            what survives the relay
    hub              all sessions: `open_relay()`
    begun_ahead      a debuggee that is started before the relay is imported
    client/          Client and AsyncClient: the same over HTTP, imported when used
    operations/      every verb once, for every face
    faces/           HTTP and what else speaks to clients
    help/            what commands answer to `--help`, and completion, as text
    serving          `relay serve`
    demo             `relay demo`
    demo_program     what it debugs
    command_line     the `relay` command, whole
    run_forker/      what a run of `relay run` is forked from
    __main__         the quick shell, or the whole command
"""

from __future__ import annotations

TYPE_CHECKING = False  # that of `typing` costs the quick shell as much as all of its own imports
if TYPE_CHECKING:
    from typing import Any

    from relay.client import AsyncClient, Client
    from relay.config import Settings
    from relay.hub import Hub, open_relay

    __version__: str

__all__ = ["AsyncClient", "Client", "Hub", "Settings", "__version__", "open_relay"]

_HOMES = {
    "AsyncClient": "relay.client",
    "Client": "relay.client",
    "Hub": "relay.hub",
    "Settings": "relay.config",
    "open_relay": "relay.hub",
}


def __getattr__(name: str) -> Any:
    """Imported when used: a client needs no hub, a hub no httpx, and a command waits for each."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    if name == "__version__":
        from importlib.metadata import version

        return version("debug-relay")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
