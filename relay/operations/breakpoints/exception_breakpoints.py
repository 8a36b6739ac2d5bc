"""Exception breakpoints: one setting a session. Source: contract, sections 3 and 9."""

from __future__ import annotations

from functools import partial

from relay.errors import RelayError
from relay.models.exceptions import (
    ExceptionBreakpointsView,
    ExceptionFilter,
    SetExceptionBreakpoints,
)
from relay.operations.breakpoints.exception_filters import require_filters
from relay.operations.breakpoints.placing import check_condition
from relay.session.dap.breakpoint_sync import send_exception_filters, send_or_undo
from relay.session.debugger import Ability
from relay.session.session import Session
from relay.session.state.exception_breakpoints import DAP_FILTERS, ExceptionBreakpoints


async def set_exception_breakpoints(
    session: Session, *, body: SetExceptionBreakpoints
) -> ExceptionBreakpointsView:
    """Choose which exceptions stop the program, in any state of the session.

    Replaces the earlier setting, also that of a launch; a later launch replaces it
    only if it says `stop_on_exception` itself.
    """
    await _check_condition(session, body.condition)
    if body.types:
        session.debugger.require(Ability.EXCEPTION_DETAILS, "stop at named types of exceptions")
    if "user_unhandled" in body.filters:
        what = "tell which exceptions own code leaves to others"
        session.debugger.require(Ability.EXCEPTION_DETAILS, what)
    require_filters(session.debugger, [DAP_FILTERS[name] for name in body.filters])
    setting = ExceptionBreakpoints(
        filters=tuple(dict.fromkeys(DAP_FILTERS[name] for name in body.filters)),
        types=tuple(dict.fromkeys(body.types)),
        condition=body.condition,
        chosen=True,
        only_for=tuple(dict.fromkeys(DAP_FILTERS[name] for name in body.only_for)),
    )
    before = session.definition.stop_at_exceptions(setting)

    def undo() -> None:
        if session.exceptions is setting:  # else another client has replaced it
            session.definition.stop_at_exceptions(before)

    debuggee = session.debuggee
    if debuggee is not None and debuggee.initialized.is_set():
        await send_or_undo(debuggee, partial(send_exception_filters, debuggee), undo)
    await session.keep()
    return await _view(session)


async def get_exception_breakpoints(session: Session) -> ExceptionBreakpointsView:
    """Show which exceptions stop the program."""
    return await _view(session)


async def _check_condition(session: Session, condition: str | None) -> None:
    if condition is not None:
        session.debugger.require(Ability.EXCEPTION_DETAILS, "stop at exceptions by a condition")
        await check_condition(session, condition, "exception breakpoint")


async def _view(session: Session) -> ExceptionBreakpointsView:
    setting = session.exceptions
    words: dict[str, ExceptionFilter] = {dap: word for word, dap in _words()}
    return ExceptionBreakpointsView(
        filters=[words[name] for name in setting.filters],
        types=list(setting.types),
        condition=setting.condition,
        only_for=[words[name] for name in setting.only_for] or None,
        unknown_types=await _unknown(session, setting) or None,
    )


def _words() -> list[tuple[ExceptionFilter, str]]:
    words: tuple[ExceptionFilter, ...] = ("raised", "uncaught", "user_unhandled")
    return [(word, DAP_FILTERS[word]) for word in words]


async def _unknown(session: Session, setting: ExceptionBreakpoints) -> list[str]:
    """The names that lead to nothing in the live program."""
    inspector = session.debuggee.inspector if session.debuggee is not None else None
    if inspector is None or not setting.types:
        return []
    try:
        return await inspector.limit_exceptions(setting.types, setting.only_for)
    except RelayError:
        return []  # it is busy, or over
