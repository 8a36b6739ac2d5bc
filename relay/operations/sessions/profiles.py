"""Breakpoint profiles: named sets, kept in the state directory. Source: contract, section 9."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import trio
from pydantic import TypeAdapter, ValidationError

from relay import profiles
from relay.actions import Action
from relay.errors import InternalError, InvalidParameter, InvalidRequest, ProfileNotFound
from relay.hub import Hub
from relay.models.breakpoints import BreakpointBatch, BreakpointSpec, SetBreakpoints
from relay.models.profiles import (
    CreateProfile,
    DeletedProfile,
    Profile,
    ProfileBody,
    ProfileItem,
    ProfileList,
    ProfileName,
)
from relay.operations.breakpoints.breakpoints import set_breakpoints
from relay.session.session import Session

T = TypeVar("T")

_NAMES: TypeAdapter[str] = TypeAdapter(ProfileName)
_SPECS: TypeAdapter[list[BreakpointSpec]] = TypeAdapter(list[BreakpointSpec])


async def list_profiles(hub: Hub) -> ProfileList:
    """List the breakpoint profiles, by name."""
    found = await _on_disk(partial(profiles.load, hub.settings.state_dir))
    items = [ProfileItem(name=n, breakpoint_count=len(found[n])) for n in sorted(found)]
    return ProfileList(profiles=items, total=len(items))


async def create_profile(hub: Hub, *, body: CreateProfile) -> Profile:
    """Keep a set of breakpoints under a new name, also after the relay's end.

    Its places are checked when it is applied to a session.
    """
    if not await _put(hub, body.name, body.breakpoints, only_new=True):
        raise InvalidRequest.of_field(
            "name",
            "is taken",
            body.name,
            text=f"name: there is a profile {body.name!r} already",
            suggestion=Action.REPLACE_TAKEN_PROFILE.of(profile=body.name),
        )
    return Profile(name=body.name, breakpoints=body.breakpoints)


async def get_profile(hub: Hub, *, name: str) -> Profile:
    """Show a breakpoint profile."""
    return Profile(name=name, breakpoints=await _load(hub.settings.state_dir, name))


async def put_profile(hub: Hub, *, name: str, body: ProfileBody) -> Profile:
    """Keep a set of breakpoints under a name, in place of the one that may be there."""
    try:
        _NAMES.validate_python(name)
    except ValidationError:
        message = "letters, digits, dots, dashes and underscores only, 100 at most"
        raise InvalidParameter.of_field("name", message, name[:200]) from None
    await _put(hub, name, body.breakpoints, only_new=False)
    return Profile(name=name, breakpoints=body.breakpoints)


async def delete_profile(hub: Hub, *, name: str) -> DeletedProfile:
    """Forget a breakpoint profile; breakpoints of sessions stay."""
    if not await _on_disk(partial(profiles.remove, hub.settings.state_dir, name)):
        raise _not_found(name)
    return DeletedProfile(name=name)


async def apply_profile(session: Session, *, name: str) -> BreakpointBatch:
    """Set a profile's breakpoints in a session, beside those that it has.

    They are set as POST /sessions/{session_id}/breakpoints sets them: one that is bad
    refuses all of them.
    """
    breakpoints = await _load(session.settings.state_dir, name)
    if not breakpoints:
        return BreakpointBatch(breakpoints=[])
    return await set_breakpoints(session, body=SetBreakpoints(breakpoints=breakpoints))


async def _load(state_dir: Path, name: str) -> list[BreakpointSpec]:
    found = await _on_disk(partial(profiles.load, state_dir))
    if name not in found:
        raise _not_found(name)
    try:
        return _SPECS.validate_python(found[name])
    except ValidationError as error:
        raise ProfileNotFound(
            f"The profile {name!r} in {profiles.FILE} holds what is no breakpoint",
            suggestion=Action.REPLACE_PROFILE.of(profile=name),
            faults=error.error_count(),
        ) from None


async def _put(hub: Hub, name: str, breakpoints: list[BreakpointSpec], *, only_new: bool) -> bool:
    kept = [spec.model_dump(mode="json", exclude_unset=True) for spec in breakpoints]
    return await _on_disk(
        partial(profiles.put, hub.settings.state_dir, name, kept, only_new=only_new)
    )


async def _on_disk(work: Callable[[], T]) -> T:
    """What `work` with the file gives, in a worker thread."""
    try:
        return await trio.to_thread.run_sync(work)
    except OSError as error:
        raise InternalError(
            f"cannot read or write {profiles.FILE}: {error.strerror or error}",
            suggestion="Make the state directory readable and writable for the relay's user",
        ) from None


def _not_found(name: str) -> ProfileNotFound:
    return ProfileNotFound(f"There is no breakpoint profile {name[:200]!r}", name=name[:200])
