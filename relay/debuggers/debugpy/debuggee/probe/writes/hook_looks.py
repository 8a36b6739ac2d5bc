"""Which looks the instructions of a code need, for data breakpoints on Python 3.12 and 3.13.

A store is looked at by the object that it writes to; one to an attribute or global of the watched name, and a call of
what may write, or of what is given that, by the value around it. Where neither will do, the code is to stay as it is:
its lines are events. So whatever is overlooked here is only slower.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from relay.debuggers.debugpy.debuggee.probe.failures.own_code import is_installed
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import facts_of
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import (
        BEGINS_HANDLER,
        begun_line,
        operations_named,
    )
    from relay.debuggers.debugpy.debuggee.probe.traps.write_hooks import (
        ItemLook,
        OwnerLook,
        SiteLooks,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.types import plan_of
    from relay.debuggers.debugpy.debuggee.probe.writes.data_checks import KEYS_IN_CODE
    from relay.debuggers.debugpy.debuggee.probe.writes.data_watches import (
        DataWatch,
        Strong,
        read_in_space,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.hook_loops import with_few_looks
    from relay.debuggers.debugpy.debuggee.probe.writes.write_lines import (
        is_indirect_writer,
        lines_in_order,
        write_lines_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.write_sites import CALL_OPERATIONS
    from relay.debuggers.debugpy.debuggee.probe.writes.writer_flow import writer_flow
    from relay.debuggers.debugpy.debuggee.probe.writes.writer_names import (
        NAMESPACES,
        names_of_calls,
    )

_OF_ITEMS = {"STORE_SUBSCR": 2, "DELETE_SUBSCR": 2}
_STORE_DEPTHS = {
    "slot": {"STORE_ATTR": 1, "DELETE_ATTR": 1},
    "list_item": {**_OF_ITEMS, "STORE_SLICE": 3},
    **dict.fromkeys(("item", "attribute", "global"), _OF_ITEMS),
}
"""By the kind of what is watched, which instructions write to an object that lies so deep on the stack."""
_STORES_BY_NAME = (
    "STORE_ATTR",
    "DELETE_ATTR",
    "STORE_GLOBAL",
    "DELETE_GLOBAL",
    "STORE_NAME",
    "DELETE_NAME",
)
_NEVER, _UNKNOWN = 0, -1
_NAMED = ("slot", "attribute", "global")
_WATCHED_CONTAINERS = ("item", "list_item")
_OF_CONTAINERS = operations_named(("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE", "BINARY_OP"))
_NOT_OF_SLOTS = ("STORE_SUBSCR", "DELETE_SUBSCR")


class HookLooks:
    """Those for some data breakpoints."""

    def __init__(self, watches: list[DataWatch]) -> None:
        self.watches = watches
        self._items: dict[int, ItemLook] = {}
        self._own_paths: dict[str, bool] = {}
        self._found: set[int] = set()  # ids of those that are looked for by their object
        for watch in watches:
            if _can_be_looked_for(watch):
                watch.find_space()
                self._found.add(id(watch))
                if watch.kind == "attribute":
                    watch.peek = read_in_space(watch)
                look = _item_look_of(watch)
                if look is not None:
                    self._items[id(watch)] = look

    @property
    def are_some(self) -> bool:
        return bool(self._found)

    def may_come(self, code: Any) -> bool:
        """Whether a code is worth reading before it has run."""
        names = code.co_names
        if any(watch.kind in _NAMED and watch.key in names for watch in self.watches):
            return True
        containers = [watch for watch in self.watches if watch.kind in _WATCHED_CONTAINERS]
        if not containers:
            return False
        path = code.co_filename
        is_own = self._own_paths.get(path)
        if is_own is None:
            is_own = self._own_paths[path] = path[:1] != "<" and not is_installed(path)
        if not is_own:
            return False
        return not _OF_CONTAINERS.isdisjoint(code.co_code[::2]) or any(
            id(watch) in self._items and not names_of_calls(watch.kind).isdisjoint(names)
            for watch in containers
        )

    def looks_in(
        self, code: Any, bound: frozenset[Any], known: frozenset[int]
    ) -> dict[int, SiteLooks] | None:
        """By the offsets of instructions; None if not all that may write can be looked at.

        bound: pairs of a kind of state, and a name that is bound to what writes such. known: instructions that may
        write, by their places.
        """
        found = facts_of(code)[0]
        stores: dict[int, list[tuple[OwnerLook, ItemLook | None]]] = {}
        by_value: dict[int, list[ItemLook]] = {}
        seen: set[int] = set()
        for watch in self.watches:
            names = frozenset(name for kind, name in bound if kind == watch.kind)
            lines = write_lines_of(code, watch.kind, watch.key, watch.fills, names)
            seen |= lines.sites
            if watch.kind == "local":
                continue  # of a frame that runs the code as it is
            loads = [site for site in lines.sites if found[site].opname.startswith("LOAD_")]
            for site in lines.sites.difference(loads):
                if not self._look_at_store(code, found[site], watch, stores, by_value):
                    return None
            if loads and not self._look_at_calls(code, loads, watch, names, by_value):
                return None
        if not known <= seen or not stores.keys().isdisjoint(by_value):
            return None
        return with_few_looks(code, _around(found, stores, by_value))

    def _look_at_store(
        self,
        code: Any,
        one: Any,
        watch: DataWatch,
        stores: dict[int, list[tuple[OwnerLook, ItemLook | None]]],
        by_value: dict[int, list[ItemLook]],
    ) -> bool:
        item = self._items.get(id(watch))
        if one.opname in _STORES_BY_NAME and watch.kind in ("attribute", "global"):
            if item is None or one.argval == "__dict__" or _is_led_to(code, one):
                return False
            by_value.setdefault(one.offset, []).append(item)
            return True
        depth = _depth_of(one, watch)
        if depth == _NEVER:
            return True
        if depth == _UNKNOWN or id(watch) not in self._found or begun_line(one):
            return False
        look = OwnerLook(watch, depth, takes_value=one.opname == "STORE_ATTR")
        stores.setdefault(one.offset, []).append((look, item))
        return True

    def _look_at_calls(
        self,
        code: Any,
        loads: list[int],
        watch: DataWatch,
        bound: frozenset[str],
        by_value: dict[int, list[ItemLook]],
    ) -> bool:
        """loads: where the code takes what may write; bound: the names that are bound to such."""
        look = self._items.get(id(watch))
        if look is None:
            return False
        found = facts_of(code)[0]
        flow = writer_flow(
            code,
            [one for one in found if one.opname != "EXTENDED_ARG"],
            lambda name: (
                name in bound or (is_indirect_writer(name, watch.kind) and name not in NAMESPACES)
            ),
            follows_results=False,
        )
        if flow.given or flow.kept:  # it may be called where nothing says so
            return False
        lines = lines_in_order(code)
        near = {lines[load] for load in loads}
        for one, line in zip(found, lines):  # noqa: B905
            if one.opname in CALL_OPERATIONS and (line in near or one.offset in flow.calls):
                if _is_led_to(code, one):
                    return False
                by_value.setdefault(one.offset, []).append(look)
        return True


def depth_within(looks: Mapping[int, SiteLooks], depths: Mapping[int, int]) -> int:
    """How many values are on the stack at most where looks are. depths: ahead of each instruction."""
    return max(depths[at] + int(not site.is_looked_ahead) for at, site in looks.items())


def _can_be_looked_for(watch: DataWatch) -> bool:
    """Whether the object may be referred to as long as it is watched, or its dict."""
    if watch.kind == "attribute":
        owner = watch.owner()
        return owner is not None and plan_of(owner).family != "class"
    return watch.kind in _STORE_DEPTHS and type(watch.owner) is Strong


def _item_look_of(watch: DataWatch) -> ItemLook | None:
    """None where it may run code of the program, or raise."""
    key, kind = watch.key, type(watch.space)
    if watch.kind == "list_item" and kind is list and type(key) is int and key >= 0:
        return ItemLook(watch, key, is_list=True)
    is_of_dict = watch.kind not in ("list_item", "slot") and kind is dict and not watch.fills
    return ItemLook(watch, key, is_list=False) if is_of_dict and type(key) in KEYS_IN_CODE else None


def _is_led_to(code: Any, one: Any) -> bool:
    """Whether a jump leads to an instruction that begins a line: the line of what comes before it is
    another one on each way then."""
    return bool(begun_line(one)) and one.offset in facts_of(code)[2]


def _depth_of(one: Any, watch: DataWatch) -> int:
    """How deep the object lies that a store writes to; _NEVER if it cannot be the watched one, or _UNKNOWN."""
    name, kind = one.opname, watch.kind
    if name == "BINARY_OP":
        return 2
    if kind == "slot" and (
        name in _NOT_OF_SLOTS or (name in _STORE_DEPTHS[kind] and one.argval != watch.key)
    ):
        return _NEVER
    return _STORE_DEPTHS.get(kind, {}).get(name, _UNKNOWN)


def _around(
    found: list[Any],
    stores: dict[int, list[tuple[OwnerLook, ItemLook | None]]],
    by_value: dict[int, list[ItemLook]],
) -> dict[int, SiteLooks]:
    looks = {offset: SiteLooks([], items) for offset, items in by_value.items()}
    partly = [item for items in by_value.values() for item in items]
    in_place = {one.offset for one in found if one.opname == "BINARY_OP"}
    for offset, pairs in stores.items():
        items = [item for _, item in pairs if item is not None]
        if len(items) < len(pairs):
            items = []
        elif offset in in_place:
            partly += items
        looks[offset] = SiteLooks([owner for owner, _ in pairs], items)
    # What raises may have written before.
    left = list({id(item): item for item in partly}.values())
    if left:
        handlers = [one.offset for one in found if one.opcode == BEGINS_HANDLER]
        looks.update((offset, SiteLooks([], left, is_looked_ahead=False)) for offset in handlers)
    return looks
