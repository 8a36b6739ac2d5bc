"""Which exceptions stop the program: one setting, laid over what the launch says by itself."""

from __future__ import annotations

from dataclasses import dataclass

DAP_FILTERS = {"raised": "raised", "uncaught": "uncaught", "user_unhandled": "userUnhandled"}
"""The contract's words for DAP's filters."""


@dataclass(frozen=True, slots=True)
class ExceptionBreakpoints:
    """`filters` are DAP's. No `types`: all of them. `chosen`: set by itself, not by a launch."""

    filters: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    condition: str | None = None
    chosen: bool = False
