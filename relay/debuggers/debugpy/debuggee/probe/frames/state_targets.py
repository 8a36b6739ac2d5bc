"""Places in the program's state that hold a value: an attribute, an item, a variable; and what they hold now."""

from __future__ import annotations

import _thread
import collections
import difflib
import gc
import types
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.types import (
        lookup,
        mro_of,
        namespace_of,
        plan_of,
    )

_FILLING = collections.defaultdict.__dict__["__missing__"]


class StateTarget(NamedTuple):
    """One place that holds a value."""

    kind: str
    """"attribute" (in a `__dict__`), "slot", "item" of a dict, "list_item", "global", "local", or
    "cell" (a local that functions share)."""
    owner: Any
    """The object with the attribute, the dict, the list, the module's dict, the frame, the cell. Of a "global"
    also the dict that a `threading.local` has for one thread: both are written by name, and are no attribute's."""
    key: Any
    """The attribute's name as it is stored, the item's key or index, the variable's name."""
    code: Any
    """The code whose local it is; None for all others."""
    text: str
    """The expression, as it was asked for."""


class OwnerPart(NamedTuple):
    """The part of an expression that gives the owner."""

    value: Any
    source: str


class _Absent:
    """The value of what is not there now."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Any = _Absent()


def read_target(target: StateTarget) -> Any:
    """The value now, or ABSENT. Runs none of the program's code, but `__eq__` of a dict's keys."""
    kind, owner, key = target.kind, target.owner, target.key
    if kind in ("attribute", "global", "item"):
        return dict.get(dict_of_target(target), key, ABSENT)
    if kind == "slot":
        return attempt(lookup(plan_of(owner).mro, key).__get__, owner, default=ABSENT)
    if kind == "list_item":
        return list.__getitem__(owner, key) if key < list.__len__(owner) else ABSENT
    if kind == "cell":
        return attempt(lambda: owner.cell_contents, default=ABSENT)
    return attempt(lambda: owner.f_locals.get(key, ABSENT), default=ABSENT)


def dict_of_target(target: StateTarget) -> Any:
    """The dict that holds the value of an "attribute", a "global" or an "item", as it is now."""
    if target.kind != "attribute":
        return target.owner
    plan = plan_of(target.owner)
    if plan.family == "class":
        return _dict_of_class(target.owner)
    return plan.dictionary.__get__(target.owner)


def is_local_to_thread(owner: Any) -> bool:
    """Whether it has a dict for each thread."""
    return _thread._local in plan_of(owner).mro


def dict_of_this_thread(owner: Any) -> Any:
    """The dict that such an object has for the thread that asks. None where code of the program may run for
    that, which the first access in a thread begins with."""
    if type(lookup(plan_of(owner).mro, "__init__")) is not types.WrapperDescriptorType:
        return None
    return _thread._local.__getattribute__(owner, "__dict__")


def fills_when_read(container: Any) -> bool:
    """Whether it is a dict that C code makes what is missing in, when that is read."""
    return lookup(mro_of(type(container)), "__missing__") is _FILLING


def _dict_of_class(cls: type) -> Any:
    """The one behind the proxy, which Python shows to its collector alone."""
    return next(one for one in gc.get_referents(namespace_of(cls)) if type(one) is dict)


def similar_name(name: str, names: Iterable[Any]) -> str:
    """Words for the end of a refusal: which of the names may have been meant, if any."""
    near = difflib.get_close_matches(name, [n for n in names if type(n) is str], n=1)
    return f"; there is {near[0]}" if near else ""
