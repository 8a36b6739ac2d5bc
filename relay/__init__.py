"""The debug relay: live debug sessions for agents, held by one Trio process.

The map of the house; imports go downwards only:

    errors, config        the catalog of errors; settings and where they come from
    dap/                  the Debug Adapter Protocol without IO
    adapters/             what is special about one debugger, without IO
    models/               requests and resources of the contract
    session/              one debug session: nursery, processes, link, logs
    hub                   all sessions: `open_relay()`
    client/               Client and AsyncClient: the same over HTTP, imported when used
    operations/           every verb once, for every face
    faces/                HTTP and what else speaks to clients
    __main__              the `relay` command
"""

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from relay.config import Settings
from relay.hub import Hub, open_relay

if TYPE_CHECKING:
    from relay.client import AsyncClient, Client

__all__ = ["AsyncClient", "Client", "Hub", "Settings", "__version__", "open_relay"]

__version__ = version("debug-relay")


def __getattr__(name: str) -> Any:
    """The clients need httpx, which takes longer to import than the rest: only when used."""
    if name in {"AsyncClient", "Client"}:
        from relay import client

        return getattr(client, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
