"""What an editor wants of exceptions: filters, each perhaps with a condition. Pure.

DAP has a condition for each filter, the relay one for a session and the filters that it is for. So
filters may have one condition between them; another one is answered as not set.
Source: DAP setExceptionBreakpoints.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from relay.faces.dap.views import FILTER_NAMES
from relay.models.exceptions import ExceptionBreakpointsView, ExceptionFilter
from relay.models.patterns import DOTTED_NAME

Breakpoint = dict[str, Any]


@dataclass
class ExceptionWish:
    """What one request of an editor asks for."""

    asked: list[tuple[str, str]] = field(default_factory=list)
    """Filters as the editor names them, and their conditions; in the order of the answer."""

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> ExceptionWish:
        """Raises ValueError for a filter that there is not."""
        options = arguments.get("filterOptions") or ()
        asked = [(name, "") for name in arguments["filters"]]
        asked += [(one["filterId"], (one.get("condition") or "").strip()) for one in options]
        for name, _ in asked:
            if name not in FILTER_NAMES:
                known = ", ".join(FILTER_NAMES)
                raise ValueError(f"there is no filter {name!r}: there are {known}")
        return cls(asked)

    @property
    def condition(self) -> str:
        """The one that is set: the first that is given; empty if none is."""
        return next((condition for _, condition in self.asked if condition), "")

    def without_condition(self) -> ExceptionWish:
        """Those filters alone that have none."""
        return ExceptionWish([one for one in self.asked if not one[1]])

    def fields(self) -> dict[str, Any]:
        """The relay's setting. A filter that is asked for with and without a condition has none."""
        whole = _names(name for name, condition in self.asked if not condition)
        narrowed = _names(name for name, condition in self.asked if condition == self.condition)
        narrowed = [one for one in narrowed if one not in whole] if self.condition else []
        given: dict[str, Any] = {"filters": [*whole, *narrowed]}
        if narrowed:
            types = _types(self.condition)
            given |= {"types": types} if types else {"condition": self.condition}
            given |= {"only_for": narrowed} if whole else {}
        return given

    def answers(self, view: ExceptionBreakpointsView, fault: str | None = None) -> list[Breakpoint]:
        """What has become of each, by the setting in force; `fault`: of the condition."""
        return [self._answer(*one, view, fault) for one in self.asked]

    def _answer(
        self, name: str, condition: str, view: ExceptionBreakpointsView, fault: str | None
    ) -> Breakpoint:
        if condition and fault is not None:
            return {"verified": False, "message": fault}
        if condition and condition != self.condition:
            why = f"The filters of a session have one condition between them: {self.condition}"
            return {"verified": False, "message": why}
        if FILTER_NAMES[name] not in view.filters:
            why = "The session's setting for exceptions stays until it is changed here"
            return {"verified": False, "message": why}
        if condition and view.unknown_types:
            names = ", ".join(view.unknown_types)
            return {"verified": False, "message": f"The program has no class {names} yet"}
        return {"verified": True}


def _names(names: Any) -> list[ExceptionFilter]:
    return list(dict.fromkeys(FILTER_NAMES[name] for name in names))


def _types(condition: str) -> Sequence[str]:
    """The types that a condition names; none if it is an expression."""
    names = [name.strip() for name in condition.split(",")]
    return names if all(re.match(DOTTED_NAME, name) for name in names) else ()
