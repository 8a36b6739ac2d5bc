"""Which exceptions stop the program: one setting, laid over what the launch says by itself."""

from __future__ import annotations

from dataclasses import dataclass

DAP_FILTERS = {"raised": "raised", "uncaught": "uncaught", "user_unhandled": "userUnhandled"}
"""The contract's words for DAP's filters."""


@dataclass(frozen=True, slots=True)
class ExceptionBreakpoints:
    """`filters` are DAP's. No `types`: all of them. `chosen`: set by itself, not by a launch.

    `only_for`: the filters that types and condition narrow, where they do not narrow all.
    """

    filters: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    condition: str | None = None
    chosen: bool = False
    only_for: tuple[str, ...] = ()

    def narrows(self, stop_filter: str) -> bool:
        """Whether types and condition are meant for what this filter stops at."""
        return not self.only_for or stop_filter in self.only_for
