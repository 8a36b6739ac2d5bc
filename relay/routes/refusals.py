"""What several operations may be refused with, by what they do."""

from __future__ import annotations

from relay.errors import (
    AttachFailed,
    AttachRefused,
    AttachTimeout,
    BreakpointFileNotFound,
    BreakpointInvalidCondition,
    BreakpointInvalidLine,
    DebuggerError,
    DebuggerTimeout,
    InvalidSessionState,
    LaunchFailed,
    LaunchScriptNotFound,
    LaunchSyntaxError,
    NotSupported,
    ProfileNotFound,
    SessionCrashed,
    SessionHeld,
    SessionLimitReached,
)
from relay.routes.endpoint import Errors

ASKS: Errors = (InvalidSessionState, DebuggerError, DebuggerTimeout, SessionCrashed)
RUNS: Errors = (SessionHeld, *ASKS)
PLACES: Errors = (BreakpointFileNotFound, BreakpointInvalidLine, BreakpointInvalidCondition)
LAUNCHES: Errors = (
    LaunchScriptNotFound,
    LaunchSyntaxError,
    LaunchFailed,
    NotSupported,
    # `include` asks for the values of the first stop.
    *RUNS,
)
ATTACHES: Errors = (AttachRefused, AttachTimeout, AttachFailed)
CREATES: Errors = (SessionLimitReached, ProfileNotFound, *PLACES, *LAUNCHES, *ATTACHES)
