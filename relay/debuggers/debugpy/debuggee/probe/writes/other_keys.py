"""Which instructions plainly write another item than the one that is watched: their key is a constant.

Most that write to dicts and lists do, and need no look. Knows bytecode; refuses to know values of a run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import facts_of, pushed
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import changes_container
    from relay.debuggers.debugpy.debuggee.probe.writes.value_equality import are_same_key

_CONSTANT_KEY_KINDS = (str, bytes, int, float, bool, type(None))
_SUBSCRIPT_OPERATIONS = ("STORE_SUBSCR", "DELETE_SUBSCR", "BINARY_SUBSCR")


def is_of_other_item(code: Any, one: Any, kind: str, key: Any) -> bool:
    """Whether the instruction writes, or reads, no "item" of a dict or "list_item" that has this key."""
    name = one.opname
    if name in ("BUILD_MAP", "BUILD_LIST"):
        return one.arg == 0 or (kind == "list_item" and one.arg <= key)
    is_subscript, changes = name in _SUBSCRIPT_OPERATIONS, changes_container(one, kind)
    if not is_subscript and not changes and name != "BUILD_CONST_KEY_MAP":
        return False
    given = pushed(code, facts_of(code)[1][one.offset], 0)
    if given[0] != "constant":
        return False
    constant = given[1]
    if changes:  # `count += 1` is of no container; `items *= 2` may be
        is_product = name == "INPLACE_MULTIPLY" or one.argrepr == "*="
        return type(constant) in (int, float, complex) and not is_product
    keys, moves = (constant,) if is_subscript else constant, name == "DELETE_SUBSCR"
    return all(is_other_key(each, kind, key, moves) for each in keys)


def is_other_key(constant: Any, kind: str, key: Any, moves: bool) -> bool:
    """Whether a key is known not to be this one. moves: what lies behind it in a list, as `del items[0]` does."""
    if type(constant) not in _CONSTANT_KEY_KINDS:
        return False
    if kind == "item":
        return not are_same_key(constant, key)
    if type(constant) not in (int, bool):
        return True  # no index of a list
    return constant > key or (constant >= 0 and constant != key and not moves)
