"""The debug relay: live debug sessions for agents, held by one Trio process.

The map of the house; imports go downwards only:

    errors, config        the catalog of errors; settings and where they come from
    dap/                  the Debug Adapter Protocol without IO
    adapters/             what is special about one debugger, without IO
    models/               requests and resources of the contract
    session/              one debug session: nursery, processes, link, logs
    hub                   all sessions: `open_relay()`
    operations/           every verb once, for every face
    faces/                HTTP and what else speaks to clients
    __main__              the `relay` command
"""

from importlib.metadata import version

from relay.config import Settings
from relay.hub import Hub, open_relay

__all__ = ["Hub", "Settings", "__version__", "open_relay"]

__version__ = version("debug-relay")
