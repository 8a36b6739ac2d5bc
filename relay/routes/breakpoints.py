"""The routes of breakpoints, their captures and their profiles."""

from __future__ import annotations

from relay.errors import (
    BreakpointInvalidCondition,
    BreakpointNotFound,
    EvaluateError,
    FrameNotFound,
    InvalidRequest,
    NotSupported,
    ProfileNotFound,
)
from relay.models.breakpoints import (
    BreakpointBatch,
    BreakpointList,
    BreakpointListQuery,
    BreakpointView,
    ChangeBreakpoint,
    DeleteBreakpointsQuery,
    DeletedBreakpoint,
    DeletedBreakpoints,
    SetBreakpoints,
)
from relay.models.captures import Captures, CapturesQuery, ClearedCaptures
from relay.models.data_breakpoints import (
    DataBreakpointList,
    DataBreakpointView,
    DeletedDataBreakpoint,
    SetDataBreakpoint,
)
from relay.models.exceptions import ExceptionBreakpointsView, SetExceptionBreakpoints
from relay.models.profiles import CreateProfile, DeletedProfile, Profile, ProfileBody, ProfileList
from relay.routes.endpoint import Nothing, route, route_at
from relay.routes.refusals import ASKS, PLACES

_S = "/sessions/{session_id}"
_BREAKPOINT = f"{_S}/breakpoints/{{breakpoint_id}}"
_PROFILE = "/breakpoint-profiles/{name}"


class BreakpointRoutes:
    """Where a session stops."""

    _tag = "Breakpoints"

    set_breakpoints = route(
        "POST",
        f"{_S}/breakpoints",
        SetBreakpoints,
        BreakpointBatch,
        "breakpoints.breakpoints.set_breakpoints",
        errors=(NotSupported, *PLACES, *ASKS),
    )
    breakpoints = route(
        "GET",
        f"{_S}/breakpoints",
        BreakpointListQuery,
        BreakpointList,
        "breakpoints.breakpoints.list_breakpoints",
    )
    delete_breakpoints = route(
        "DELETE",
        f"{_S}/breakpoints",
        DeleteBreakpointsQuery,
        DeletedBreakpoints,
        "breakpoints.breakpoints.remove_breakpoints",
        errors=ASKS,
    )
    breakpoint = route_at(
        str,
        "GET",
        _BREAKPOINT,
        Nothing,
        BreakpointView,
        "breakpoints.breakpoints.get_breakpoint",
        errors=(BreakpointNotFound,),
    )
    change_breakpoint = route_at(
        str,
        "PATCH",
        _BREAKPOINT,
        ChangeBreakpoint,
        BreakpointView,
        "breakpoints.breakpoints.change_breakpoint",
        errors=(BreakpointNotFound, NotSupported, *PLACES, *ASKS),
    )
    delete_breakpoint = route_at(
        str,
        "DELETE",
        _BREAKPOINT,
        Nothing,
        DeletedBreakpoint,
        "breakpoints.breakpoints.remove_breakpoint",
        errors=(BreakpointNotFound, *ASKS),
    )
    captures = route_at(
        str,
        "GET",
        f"{_BREAKPOINT}/captures",
        CapturesQuery,
        Captures,
        "breakpoints.captures.get_captures",
        errors=(BreakpointNotFound, InvalidRequest),
    )
    clear_captures = route_at(
        str,
        "DELETE",
        f"{_BREAKPOINT}/captures",
        Nothing,
        ClearedCaptures,
        "breakpoints.captures.clear_captures",
        errors=(BreakpointNotFound, InvalidRequest),
    )
    set_exception_breakpoints = route(
        "POST",
        f"{_S}/exception-breakpoints",
        SetExceptionBreakpoints,
        ExceptionBreakpointsView,
        "breakpoints.exception_breakpoints.set_exception_breakpoints",
        errors=(BreakpointInvalidCondition, NotSupported, *ASKS),
    )
    exception_breakpoints = route(
        "GET",
        f"{_S}/exception-breakpoints",
        Nothing,
        ExceptionBreakpointsView,
        "breakpoints.exception_breakpoints.get_exception_breakpoints",
    )

    set_data_breakpoint = route(
        "POST",
        f"{_S}/data-breakpoints",
        SetDataBreakpoint,
        DataBreakpointView,
        "breakpoints.data_breakpoints.set_data_breakpoint",
        status=201,
        errors=(
            InvalidRequest,
            EvaluateError,
            BreakpointInvalidCondition,
            FrameNotFound,
            NotSupported,
            *ASKS,
        ),
    )
    data_breakpoints = route(
        "GET",
        f"{_S}/data-breakpoints",
        Nothing,
        DataBreakpointList,
        "breakpoints.data_breakpoints.list_data_breakpoints",
    )
    delete_data_breakpoint = route_at(
        str,
        "DELETE",
        f"{_S}/data-breakpoints/{{data_breakpoint_id}}",
        Nothing,
        DeletedDataBreakpoint,
        "breakpoints.data_breakpoints.remove_data_breakpoint",
        errors=(BreakpointNotFound, *ASKS),
    )


class ProfileRoutes:
    """Breakpoints that are kept under a name."""

    _tag = "Breakpoints"

    breakpoint_profiles = route(
        "GET", "/breakpoint-profiles", Nothing, ProfileList, "sessions.profiles.list_profiles"
    )
    create_breakpoint_profile = route(
        "POST",
        "/breakpoint-profiles",
        CreateProfile,
        Profile,
        "sessions.profiles.create_profile",
        status=201,
    )
    breakpoint_profile = route_at(
        str,
        "GET",
        _PROFILE,
        Nothing,
        Profile,
        "sessions.profiles.get_profile",
        errors=(ProfileNotFound,),
    )
    put_breakpoint_profile = route_at(
        str, "PUT", _PROFILE, ProfileBody, Profile, "sessions.profiles.put_profile"
    )
    delete_breakpoint_profile = route_at(
        str,
        "DELETE",
        _PROFILE,
        Nothing,
        DeletedProfile,
        "sessions.profiles.delete_profile",
        errors=(ProfileNotFound,),
    )


class AppliedProfileRoutes:
    """Kept breakpoints in a session."""

    _tag = "Breakpoints"

    apply_breakpoint_profile = route_at(
        str,
        "POST",
        f"{_S}/breakpoint-profiles/{{name}}/apply",
        Nothing,
        BreakpointBatch,
        "sessions.profiles.apply_profile",
        errors=(ProfileNotFound, NotSupported, *PLACES, *ASKS),
    )
