"""All routes of the API, and the verbs of both clients made of them.

A name that begins with `_` is a route but no verb of the clients.
"""

from __future__ import annotations

from relay.routes.breakpoints import AppliedProfileRoutes, BreakpointRoutes, ProfileRoutes
from relay.routes.endpoint import Endpoint
from relay.routes.execution import ExecutionRoutes
from relay.routes.inspection import InspectionRoutes
from relay.routes.output import OutputRoutes
from relay.routes.server import ServerRoutes
from relay.routes.sessions import ImportRoutes, ProgramRoutes, SessionRoutes, SessionsRoutes


class RelayVerbs(ServerRoutes, SessionsRoutes, ImportRoutes, ProfileRoutes):
    """What a relay is asked for besides its sessions' own verbs."""


class SessionVerbs(
    SessionRoutes,
    ProgramRoutes,
    BreakpointRoutes,
    AppliedProfileRoutes,
    ExecutionRoutes,
    InspectionRoutes,
    OutputRoutes,
):
    """What a session is asked for."""


TABLE: tuple[Endpoint[...], ...] = tuple(
    line
    for group in (
        ServerRoutes,
        SessionsRoutes,
        SessionRoutes,
        ImportRoutes,
        ProgramRoutes,
        BreakpointRoutes,
        ProfileRoutes,
        AppliedProfileRoutes,
        ExecutionRoutes,
        InspectionRoutes,
        OutputRoutes,
    )
    for line in vars(group).values()
    if isinstance(line, Endpoint)
)
"""Every route, in the order of the reference."""
