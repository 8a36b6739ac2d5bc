"""Where a line that has run has stored, as its bytecode and the frame say: into what is watched, or elsewhere.

It names the object and the key by variables, attributes and items, which are looked up where they are stored:
nothing of the program is run for that. Other threads may have changed them since the line ran.
"""

from __future__ import annotations

import collections
import types
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import UNKNOWN, facts_of, stacked
    from relay.debuggers.debugpy.debuggee.probe.frames.frame_memory import unshared_local
    from relay.debuggers.debugpy.debuggee.probe.frames.namespaces import items_of
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import JUMPS
    from relay.debuggers.debugpy.debuggee.probe.frames.state_targets import (
        StateTarget,
        dict_of_target,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.static_lookup import attribute_of
    from relay.debuggers.debugpy.debuggee.probe.frames.stored_expressions import stored_result
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.types import lookup, mro_of, plan_of
    from relay.debuggers.debugpy.debuggee.probe.writes.data_watches import DataWatch
    from relay.debuggers.debugpy.debuggee.probe.writes.other_keys import is_other_key
    from relay.debuggers.debugpy.debuggee.probe.writes.value_equality import are_same_key
    from relay.debuggers.debugpy.debuggee.probe.writes.write_lines import lines_in_order

THERE, ELSEWHERE, UNSAID = "there", "elsewhere", "unsaid"
"""Whether a line has stored into what is watched: surely, surely not, or it may have."""
_OWNER_DEPTHS = {
    "STORE_ATTR": 0,
    "DELETE_ATTR": 0,
    "STORE_SUBSCR": 1,
    "DELETE_SUBSCR": 1,
    "STORE_SLICE": 2,
}
"""How many values lie on the stack above the object that an instruction stores to."""
_BINDS = ("STORE_", "DELETE_", "LOAD_FAST_AND_CLEAR")
_METHOD_LOADS = ("LOAD_ATTR", "LOAD_METHOD")
_PLAIN_KEY_KINDS = (str, bytes, int, float, bool, type(None), tuple)
_CONTAINER_CLASSES = frozenset(
    (
        *(list, dict, set, bytearray),
        *(collections.deque, collections.OrderedDict, collections.defaultdict),
    )
)
"""Whose methods write to the object itself, and are code in C."""


class _Store(NamedTuple):
    """An instruction of a line that may write."""

    operation: str
    name: Any
    """What it names: of an attribute, a global or a method."""
    owner: Any
    """The object that it stores to, or whose method it loads; as an expression."""
    key: Any
    is_certain: bool
    """Whether it has run if its line has."""


class _LineStores(NamedTuple):
    """Those of one line."""

    stores: list[_Store]
    bound: frozenset[str]
    """Names that have another value since."""


def where_line_stored(
    watch: DataWatch, sites: frozenset[int], frame: Any, line: int, is_own: bool = True
) -> str:
    """THERE, ELSEWHERE or UNSAID. sites: the instructions of its code that may write. is_own: it is this thread's."""
    target = watch.target()
    if target is None:
        return UNSAID
    stores = _stores_of(watch, sites, frame.f_code, line)
    looks = _Looks(frame, stores.bound, is_own)
    places = set()
    for one in stores.stores:
        place = attempt(_place_of_store, target, one, looks, default=UNSAID)
        places.add(place if one.is_certain or place != THERE else UNSAID)
    return next((one for one in (THERE, UNSAID) if one in places), ELSEWHERE)


def _stores_of(watch: DataWatch, sites: frozenset[int], code: Any, line: int) -> _LineStores:
    known: dict[Any, _LineStores] = watch.known_stores.get(code, {})
    if (line, sites) not in known:
        found, lines = facts_of(code)[0], lines_in_order(code)
        of_line = [one for one, its_line in zip(found, lines) if its_line == line]  # noqa: B905
        begins = lines.index(line)
        stores = [_store(code, site, begins) for site in sites if lines[site] == line]
        bound: set[str] = set()
        for one in of_line:
            if one.opname.startswith(_BINDS):
                bound.update(one.argval if type(one.argval) is tuple else (str(one.argval),))
        known[line, sites] = _LineStores(stores, frozenset(bound))
        watch.known_stores[code] = known
    return known[line, sites]


def _store(code: Any, site: int, begins: int) -> _Store:
    """begins: the first instruction of its line."""
    found = facts_of(code)[0]
    one = found[site]
    depth = _OWNER_DEPTHS.get(one.opname, 0)
    owner = key = UNKNOWN
    if one.opname in _OWNER_DEPTHS or one.opname in _METHOD_LOADS:
        owner = stacked(code, site, depth)
    if one.opname.endswith("_SUBSCR"):
        key = stacked(code, site, 0)
    is_certain = not any(before.opcode in JUMPS for before in found[begins:site])
    return _Store(one.opname, one.argval, owner, key, is_certain)


class _Looks:
    """Looks at what expressions of a line give, in a frame that has run it."""

    def __init__(self, frame: Any, bound: frozenset[str], is_own: bool) -> None:
        self.frame, self.bound, self.is_own = frame, bound, is_own

    def value(self, expression: Any) -> Any:
        """UNKNOWN if it is not stored, or was bound anew."""
        kind = expression[0]
        if kind in ("local", "name", "global", "attribute") and expression[-1] in self.bound:
            return UNKNOWN
        if kind == "local":
            return self._local(expression[1])
        if kind in ("name", "global", "constant"):
            return attempt(stored_result, expression, self.frame, default=UNKNOWN)
        if kind not in ("attribute", "item", "arithmetic"):
            return UNKNOWN
        parts = [
            ("constant", self.value(part)) if type(part) is tuple else part
            for part in expression[1:]
        ]
        if any(part[1] is UNKNOWN for part in parts if type(part) is tuple):
            return UNKNOWN
        return attempt(stored_result, (kind, *parts), self.frame, default=UNKNOWN)

    def _local(self, name: str) -> Any:
        """As little of the frame is read as can be: nothing that a local has had is kept alive."""
        if self.is_own:
            found = unshared_local(self.frame, name, UNKNOWN)
            if found is not UNKNOWN:
                return found
        return dict(items_of(self.frame.f_locals)).get(name, UNKNOWN)


def _place_of_store(target: StateTarget, store: _Store, looks: _Looks) -> str:
    """Where one instruction has stored."""
    if store.operation in ("STORE_GLOBAL", "DELETE_GLOBAL"):
        return THERE if looks.frame.f_globals is target.owner else ELSEWHERE
    owner = looks.value(store.owner)
    if owner is UNKNOWN:
        return UNSAID
    if store.operation in _METHOD_LOADS:
        return _place_of_method(target, store.name, owner)
    if store.operation.endswith("_ATTR"):
        return _place_of_attribute(target, store.operation, store.name, owner)
    return _place_of_item(target, store, owner, looks)


def _place_of_item(target: StateTarget, store: _Store, owner: Any, looks: _Looks) -> str:
    is_list, is_deletion = target.kind == "list_item", store.operation == "DELETE_SUBSCR"
    if _item_function(is_deletion, owner) is None:
        return UNSAID
    if target.kind == "slot" or owner is not (target.owner if is_list else dict_of_target(target)):
        return ELSEWHERE
    key = looks.value(store.key)
    if key is UNKNOWN or type(key) not in _PLAIN_KEY_KINDS:
        return UNSAID
    if not is_list:
        return THERE if are_same_key(key, target.key) else ELSEWHERE
    if type(key) is not int:
        return UNSAID
    if is_other_key(key, target.kind, target.key, is_deletion):
        return ELSEWHERE
    if is_deletion:
        return UNSAID
    return THERE if target.key in (key, key + len(owner)) else ELSEWHERE


def _place_of_method(target: StateTarget, name: str, owner: Any) -> str:
    """Of a method of a list, dict or the like that the line names; one in Python is lines of its own."""
    if type(owner) in _CONTAINER_CLASSES:
        is_list = target.kind == "list_item"
        space = target.owner if is_list else dict_of_target(target)
        return UNSAID if owner is space else ELSEWHERE
    method: Any = attribute_of(owner, name)
    is_python = type(method) is types.MethodType and type(method.__func__) is types.FunctionType
    return ELSEWHERE if is_python else UNSAID


def _item_function(is_deletion: bool, owner: Any) -> Any:
    """What writes an item of the object, if that is what a list or a dict has."""
    method = "__delitem__" if is_deletion else "__setitem__"
    function = lookup(plan_of(owner).mro, method)
    plain = (getattr(list, method), getattr(dict, method))
    return function if any(function is one for one in plain) else None


def _place_of_attribute(target: StateTarget, operation: str, name: str, owner: Any) -> str:
    """An instruction stores an attribute of this name to `owner`."""
    if target.kind not in ("attribute", "slot") or name != target.key:
        return UNSAID
    plan = plan_of(owner)
    method = "__delattr__" if operation.startswith("DELETE_") else "__setattr__"
    descriptor = lookup(plan.mro, name)
    if lookup(plan.mro, method) is not getattr(object, method):
        return UNSAID
    is_slot = type(descriptor) is types.MemberDescriptorType
    if owner is target.owner:
        return (
            THERE
            if is_slot == (target.kind == "slot") and _stores_bare(descriptor, is_slot)
            else UNSAID
        )
    if is_slot:
        return ELSEWHERE
    if not _stores_bare(descriptor, is_slot) or plan.dictionary is None:
        return UNSAID
    if target.kind == "slot" or plan.dictionary.__get__(owner) is not dict_of_target(target):
        return ELSEWHERE
    return THERE  # two objects with one dict


def _stores_bare(descriptor: Any, is_slot: bool) -> bool:
    """Whether what an attribute is given is stored in the object, by nothing of the class's own."""
    return is_slot or lookup(mro_of(type(descriptor)), "__set__") is None
