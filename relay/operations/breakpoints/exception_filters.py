"""Which kinds of exceptions a debugger has no filter for: what would be set, and never stop.

Knows what the debugger's entry names. Refuses to know what the debugger stops at by itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from relay.errors import NotSupported
from relay.models.exceptions import ExceptionFilter
from relay.session.debugger import Debugger
from relay.session.state.exception_breakpoints import DAP_FILTERS

_WAY_OUT = "Name its filter under exception_filters, in its entry of config.json"


def has_filter(debugger: Debugger, name: ExceptionFilter) -> bool:
    """Whether it can be told to stop at these exceptions."""
    if name == "user_unhandled":
        return "exception_details" in debugger.abilities
    return bool(debugger.exception_filters([DAP_FILTERS[name]]))


def unfiltered(debugger: Debugger, filters: Sequence[str]) -> list[str]:
    """Those of DAP's `filters` for which it has none of its own; `raised` means uncaught ones, too."""
    missing = [one for one in filters if not debugger.exception_filters([one])]
    return [one for one in missing if one == "raised" or set(filters) <= set(missing)]


def no_filter(debugger: Debugger, name: str) -> str:
    """In words, what one of these leaves open."""
    return (
        f"the {debugger.name} adapter has no filter for {name} exceptions in its entry of config.json; "
        "it stops where it does so by itself"
    )


def require_filters(debugger: Debugger, filters: Sequence[str]) -> None:
    """Raise NotSupported where a stop was asked for that never comes."""
    for name in unfiltered(debugger, filters):
        raise NotSupported(
            no_filter(debugger, name),
            adapter=debugger.name,
            operation=f"stop at {name} exceptions",
            suggestion=_WAY_OUT,
        )
