"""Frame ids and variable references: numbers that lead to a place, and die at resume.

Knows how Perl spells the way to a value. Refuses to hold values: a reference is a path which
the program's copy follows again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from relay.perl.refusals import bad_format

FIRST_FRAME, FIRST_REFERENCE = 1001, 2001

Row = Mapping[str, Any]
"""A child as the program describes it. `step` and `spelled` are missing where they are as `name`."""

_VARIABLE = re.compile(r"^[$@%][\w:]+$")


@dataclass(frozen=True, slots=True)
class HandlePlace:
    """Something with children: a scope, or a value inside of one.

    `root` is locals, package, safe (an expression) or kept (what side effects gave); `name`
    is the variable, the expression or the number kept. `lvalue` is how Perl spells it in the
    frame, empty if it cannot be.
    """

    frame: int
    root: str
    name: str = ""
    steps: tuple[str, ...] = ()
    lvalue: str = ""
    holds_reference: bool = False
    package: str = ""


class Handles:
    """The numbers of one stop. They go on counting, so that no old one is taken for a new one."""

    def __init__(self) -> None:
        self._frames: dict[int, int] = {}
        self._frame_ids: dict[int, int] = {}
        self._places: dict[int, HandlePlace] = {}
        self._next_frame = FIRST_FRAME
        self._next_reference = FIRST_REFERENCE

    def forget(self) -> None:
        """Let all numbers of this stop die: the program goes on."""
        self._frames.clear()
        self._frame_ids.clear()
        self._places.clear()

    def frame_id(self, index: int) -> int:
        """The same number for the same frame, during one stop."""
        if index not in self._frame_ids:
            self._frame_ids[index] = self._next_frame
            self._frames[self._next_frame] = index
            self._next_frame += 1
        return self._frame_ids[index]

    def frame(self, number: object) -> int:
        """Raises Refusal 1004 for a frame that is not (any more)."""
        if isinstance(number, bool) or not isinstance(number, int) or number not in self._frames:
            raise bad_format(f"frameId {number!r:.40} is no frame of this stop")
        return self._frames[number]

    def reference(self, place: HandlePlace) -> int:
        self._next_reference += 1
        self._places[self._next_reference - 1] = place
        return self._next_reference - 1

    def place(self, number: object) -> HandlePlace:
        """Raises Refusal 1004 for a reference that is not (any more)."""
        if isinstance(number, bool) or not isinstance(number, int) or number not in self._places:
            raise bad_format(f"variablesReference {number!r:.40} is none of this stop")
        return self._places[number]


def child(parent: HandlePlace, row: Row) -> HandlePlace:
    """The place of one row of `parent`'s children."""
    name = str(row["name"])
    if _is_scope(parent):
        steps: tuple[str, ...] = ()
    else:
        name, steps = parent.name, (*parent.steps, str(row.get("step", name)))
    return HandlePlace(
        parent.frame,
        parent.root,
        name,
        steps,
        spelling(parent)(row),
        bool(row.get("reference")),
        parent.package,
    )


def _is_scope(place: HandlePlace) -> bool:
    return not place.name and not place.steps


def spelling(parent: HandlePlace) -> Callable[[Row], str]:
    """How Perl writes each child in the frame; an empty text for what it cannot write."""
    if _is_scope(parent):
        return partial(_of_scope, parent.package if parent.root == "package" else None)
    if not parent.lvalue:
        return lambda row: ""
    return _of_value(parent.lvalue)


def _of_scope(package: str | None, row: Row) -> str:
    name = str(row["name"])
    if name[0] == "&":
        return ""  # it would be a call
    return name if package is None else f"{name[0]}{package}::{name[1:]}"


def _of_value(base: str) -> Callable[[Row], str]:
    """After a variable or any other way to the parent; what is the same for all is made once."""
    is_variable = _VARIABLE.match(base) is not None
    referent = f"${base}" if is_variable else f"${{{base}}}"
    before = f"${base[1:]}" if base[0] in "@%" and is_variable else f"{base}->"

    def spelled(row: Row) -> str:
        step = row.get("spelled", row["name"])
        return referent if step == "$" else f"{before}{step}"

    return spelled


def expression_lvalue(expression: str, value: str, reference: bool) -> str:
    """What an expression's children are spelled after: a variable, or the spelling of its value."""
    text = expression.strip()
    if _VARIABLE.match(text):
        return text
    return value if reference else ""
