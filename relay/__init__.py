"""The debug relay: live debug sessions for agents, held by one Trio process.

The map of the house; imports go downwards only:

    import_path           what is the program's comes last
    staying_imports       a command starts a fifth faster
    errors, config        the catalog of errors; settings and where they come from
    dap/                  the Debug Adapter Protocol without IO
    logs/                 lines of the relay's own log
    redaction/            secret names and credentials, and the masks over them
    models/               requests and resources of the contract
    known_adapters/       debuggers known by name, and their entries of config.json
    process/              processes of the operating system, and their streams
    session/              one debug session, for any debugger: nursery, link, state, logs
    debuggers/            what is special about one debugger, its IO too
    hub                   all sessions: `open_relay()`
    routes/               the table of routes, for the HTTP face and the clients
    client/               Client and AsyncClient: the same over HTTP, imported when used
    operations/           every verb once, for every face
    faces/                HTTP and what else speaks to clients
    command_line          the `relay` command, whole
    quick_shell           the same without its imports, where a server carries it out
    __main__              which of the two
    pytest_plugin         `pytest --relay`, in the process of pytest
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
