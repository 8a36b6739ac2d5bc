"""Which instructions of a code may write the state that is asked for, and where they have what.

Knows bytecode of Python 3.8 to 3.14. Refuses to know frames and values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import facts_of, operation_behind
    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.frames.comprehensions import (
        offsets_put_aside,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import (
        begun_line,
        changes_container,
        operations_named,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.paths import real_path
    from relay.debuggers.debugpy.debuggee.probe.writes.other_keys import is_of_other_item
    from relay.debuggers.debugpy.debuggee.probe.writes.writer_flow import (
        NO_FLOW,
        WriterFlow,
        names_loaded,
        reads_setter_by_text,
        writer_flow,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.writer_names import (
        DICT_WRITERS,
        NAMESPACES,
        aliases_of,
        names_of_calls,
        names_setter,
    )

_FAST_STORES = ("STORE_FAST", "STORE_FAST_MAYBE_NULL")
_PAIR_STORES = ("STORE_FAST_STORE_FAST", "STORE_FAST_LOAD_FAST")
_NAME_STORES = ("STORE_NAME", "STORE_GLOBAL")
_DELETES = frozenset(
    f"DELETE_{kind}" for kind in ("ATTR", "SUBSCR", "FAST", "NAME", "GLOBAL", "DEREF")
)
_SUBSCRIPT_OPS = ("STORE_SUBSCR", "DELETE_SUBSCR")


class WriteSite(NamedTuple):
    """One instruction that writes, if it is about the right object."""

    role: str
    """"attribute" (value, owner), "namespace" (dict, owner), "name", "local", "cell" (value), "item"
    (value, container, key): in brackets what lies on the stack, the top last; of one that deletes
    there is no value. Looked at when it is over: "made" (leaves a container), "into" (changes one),
    "read" (container, key), "call", "cell_made"; and "attribute", where code in C writes."""
    deletes: bool = False
    position: int = 1
    """Where the value of a "local", or the container of an "into", lies, counted from the top."""
    operation: str = ""
    argument: int = 0
    follower: int = -1
    """The instruction after one that is looked at when it is over."""
    adds: bool = False
    """Whether an "into" leaves what the list has, and adds items behind it."""
    indexed: bool = False
    """Whether an "into" writes the item of a list, or those of a slice, that lies on the top."""
    gives: bool = False
    """Whether a "call" is known to be of a writer, or to be given one."""


class CodeSites(NamedTuple):
    """What of a code is to be an event, by offsets."""

    sites: dict[int, WriteSite]
    followers: frozenset[int]
    given: dict[int, int]
    """Where a function that writes such states may be given away: how deep it lies on the stack."""


class WatchedState(NamedTuple):
    """What to watch, as it can be said before the program has run."""

    kind: str
    key: Any
    path: str = ""
    function: str = ""
    first_line: int = 0
    fills: bool = False
    """Of an item: whether its dict may be one that makes what is missing when it is read."""

    def is_of(self, code: Any) -> bool:
        """Whether the state is a variable of this code; without a path, of any with that name."""
        if self.path:
            is_like = (code.co_name, code.co_firstlineno) == (self.function, self.first_line)
            return is_like and self.path in (code.co_filename, real_path(code.co_filename))
        name = getattr(code, "co_qualname", None)
        if name is None:  # before 3.11
            return bool(code.co_name == self.function.rpartition(".")[2])
        return bool(name == self.function or name.endswith("." + self.function))


class KnownNames(NamedTuple):
    """What is known of a program beside a code's own names."""

    writers: frozenset[str] = frozenset()
    """Names in the code that are, or were somewhere, bound to functions in C that write such a state."""
    any_dict: bool = False
    """Whether any dict may be the namespace of an object or module: one was handed on."""


def write_sites(
    code: Any, state: WatchedState, known: KnownNames | None = None
) -> CodeSites | None:
    """The instructions that may write the state; None if there are none."""
    known = known or KnownNames()
    any_dict = known.any_dict and state.kind in _WITH_NAMESPACE
    writes = _may_write(code, state) or (any_dict and _has_operation(code, _CONTAINER_CODES))
    calls = bool(known.writers) or _may_call(code, state, any_dict=any_dict)
    if not writes and not calls:
        return None
    found = [one for one in facts_of(code)[0] if one.opname not in _NO_INSTRUCTIONS]
    sites, line, of_items = {}, 0, state.kind in ("item", "list_item")
    lines = _lines_of_calls(found, code, state.kind, known) if calls else frozenset()
    flow = _flow_of_writers(found, code, state.kind, known) if calls else NO_FLOW
    for place, one in enumerate(found):
        line = begun_line(one) or line
        site = _site_of(one, state) if writes else None
        if site is None and writes and state.fills and one.opname == "BINARY_SUBSCR":
            site = WriteSite("read", position=2)
        if site is not None and of_items and is_of_other_item(code, one, state.kind, state.key):
            site = None
        if site is None and writes and _makes_container(code, found, place, state.kind):
            site = WriteSite("made")
        if site is None and any_dict and changes_container(one, "item"):
            site = WriteSite("into", position=2)
        is_call = one.opname in CALL_OPERATIONS and (line in lines or one.offset in flow.calls)
        if site is None and is_call:
            gives = one.offset in flow.calls
            site = WriteSite("call", operation=one.opname, argument=one.arg or 0, gives=gives)
        if site is not None:
            late = site.role in _LATE_ROLES and place + 1 < len(found)
            sites[one.offset] = site._replace(follower=found[place + 1].offset) if late else site
    if state.kind not in ("local", "cell", "item", "list_item") and "__dict__" in code.co_names:
        sites.update(_changes_of_namespace(found))
    if state.kind == "local" and sites:
        for offset in offsets_put_aside(code, state.key):
            sites.pop(offset, None)
    followers = frozenset(site.follower for site in sites.values() if site.follower >= 0)
    return CodeSites(sites, followers, flow.given) if sites or flow.given else None


def names_with_writers(code: Any, state: WatchedState, known: KnownNames) -> frozenset[str]:
    """Variables and attributes that the code binds to what writes such a state, where others have
    them, too."""
    if not known.writers and not _may_call(code, state, any_dict=known.any_dict):
        return frozenset()
    found = [one for one in facts_of(code)[0] if one.opname not in _NO_INSTRUCTIONS]
    return _flow_of_writers(found, code, state.kind, known).kept


def names_shared_with(code: Any) -> frozenset[str]:
    """All by which a code may have something that other code has bound."""
    arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return frozenset((*code.co_names, *code.co_freevars, *code.co_cellvars, *arguments))


_loaded_names = CodeTable()


def names_loaded_in(code: Any) -> frozenset[str]:
    """Of those, what the code loads: a class body stores `__module__`, which leads to nothing."""
    known = _loaded_names.get(code)
    if known is None:
        found = facts_of(code)[0]
        known = frozenset(name for one in found for _, name in names_loaded(one, False))
        _loaded_names[code] = known
    return known  # type: ignore[no-any-return]


def forget_loaded_names() -> None:
    """Nothing is recorded any more: the codes may end."""
    _loaded_names.clear()


_LATE_ROLES = ("attribute", "made", "into", "read", "call", "cell_made")
_NO_INSTRUCTIONS = ("CACHE", "EXTENDED_ARG")
CALL_OPERATIONS = frozenset(
    ("CALL", "CALL_KW", "CALL_FUNCTION_EX", "CALL_FUNCTION", "CALL_METHOD", "CALL_FUNCTION_KW")
)
MAKERS = {
    "item": frozenset(("dict", "copy", "fromkeys", "OrderedDict", "defaultdict")),
    "list_item": frozenset(("list", "copy", "sorted", "split", "splitlines")),
}
"""What gives a new dict or list, by the kind of the state that it has."""
_DICT_MAKES = ("BUILD_MAP", "BUILD_CONST_KEY_MAP")
_DICT_CHANGES = ("DICT_UPDATE", "DICT_MERGE")
_LIST_CHANGES = ("MAP_ADD", "BUILD_LIST", "LIST_APPEND", "LIST_EXTEND", "STORE_SLICE")
_ANY_CHANGES = ("BINARY_OP", "INPLACE_OR", "INPLACE_ADD", "INPLACE_MULTIPLY")


def _flow_of_writers(found: list[Any], code: Any, kind: str, known: KnownNames) -> WriterFlow:
    names = names_of_calls(kind) | known.writers
    return writer_flow(code, found, _test_of_writers(names, code, kind, known))


def _test_of_writers(
    names: frozenset[str], code: Any, kind: str, known: KnownNames
) -> Callable[[str], bool]:
    """Whether what has a name in the code may write the state."""
    sets = kind not in ("item", "list_item")
    if sets and (known.any_dict or not NAMESPACES.isdisjoint(code.co_names)):
        names = names | DICT_WRITERS
    return lambda name: name in names or (sets and names_setter(name))


def _lines_of_calls(found: list[Any], code: Any, kind: str, known: KnownNames) -> frozenset[int]:
    """The lines that name a function by which the state may be written: only calls there count."""
    is_writer = _test_of_writers(_names_of_calls(kind) | known.writers, code, kind, known)
    aliases = aliases_of(found, is_writer)
    line, lines = 0, set()
    for one in found:
        line = begun_line(one) or line
        named = one.argval if type(one.argval) is tuple else (one.argval,)
        for name in named:
            if name.__class__ is str and (is_writer(name) or name in aliases):
                lines.add(line)
    return frozenset(lines)


def _names_of_calls(kind: str) -> frozenset[str]:
    return names_of_calls(kind) | MAKERS.get(kind, NAMESPACES)


def _may_call(code: Any, state: WatchedState, *, any_dict: bool) -> bool:
    if state.kind in ("local", "cell"):
        return False
    if any_dict and not DICT_WRITERS.isdisjoint(code.co_names):
        return True
    sets = state.kind not in ("item", "list_item")
    if sets and (any(map(names_setter, code.co_names)) or reads_setter_by_text(code)):
        return True
    return not _names_of_calls(state.kind).isdisjoint(code.co_names)


def _may_write(code: Any, state: WatchedState) -> bool:
    kind, key = state.kind, state.key
    if kind == "local":
        return state.is_of(code)
    if kind == "cell":
        return key in code.co_cellvars or key in code.co_freevars
    if kind in ("item", "list_item"):
        codes = _CONTAINER_CODES | _READS if state.fills else _CONTAINER_CODES
        return _has_operation(code, codes)
    return key in code.co_names or not NAMESPACES.isdisjoint(code.co_names)


def _has_operation(code: Any, operations: frozenset[int]) -> bool:
    return not operations.isdisjoint(code.co_code[::2])


_WITH_NAMESPACE = ("attribute", "global")


_CONTAINER_CODES = operations_named(
    (*_SUBSCRIPT_OPS, *_DICT_MAKES, *_DICT_CHANGES, *_ANY_CHANGES, *_LIST_CHANGES)
)


_READS = operations_named(("BINARY_SUBSCR",))


def _changes_of_namespace(found: list[Any]) -> dict[int, WriteSite]:
    """`o.__dict__ |= more`, which is looked at when it is over, and `o.__dict__ = other`."""
    sites, is_near = {}, False
    for place, one in enumerate(found):
        is_near = one.argval == "__dict__" or (is_near and not begun_line(one))
        if one.opname == "STORE_ATTR" and one.argval == "__dict__":
            sites[one.offset] = WriteSite("namespace")
        elif is_near and changes_container(one, "item") and place + 1 < len(found):
            sites[one.offset] = WriteSite("into", position=2, follower=found[place + 1].offset)
    return sites


def _site_of(one: Any, state: WatchedState) -> WriteSite | None:
    name, kind, deletes = one.opname, state.kind, one.opname in _DELETES
    if kind in ("item", "list_item"):
        return _container_site(one, kind)
    if kind == "local" and name in _PAIR_STORES:
        return _site_of_pair(name, one.argval, state.key)
    if kind not in ("local", "cell") and name in _SUBSCRIPT_OPS:
        return WriteSite("item", deletes)  # of a namespace
    if one.argval != state.key:
        return None
    if kind == "local":
        is_store = name in _FAST_STORES or name in ("STORE_NAME", "DELETE_NAME", "DELETE_FAST")
        return WriteSite("local", deletes) if is_store else None
    if kind == "cell":
        if name == "MAKE_CELL":
            return WriteSite("cell_made")
        return WriteSite("cell", deletes) if name in ("STORE_DEREF", "DELETE_DEREF") else None
    if name in ("STORE_ATTR", "DELETE_ATTR"):
        return WriteSite("attribute", deletes)
    if name in _NAME_STORES or name in ("DELETE_NAME", "DELETE_GLOBAL"):
        return WriteSite("name", deletes)
    return None


def _container_site(one: Any, kind: str) -> WriteSite | None:
    name, argument = one.opname, one.arg or 0
    is_list = kind == "list_item"
    if name in _SUBSCRIPT_OPS:
        if not is_list:
            return WriteSite("item", name in _DELETES)
        # A list is looked at when it is over: a slice of it may be written. What is deleted moves others.
        return WriteSite("into", position=2, indexed=name == "STORE_SUBSCR")
    if name == "STORE_SLICE":
        return WriteSite("into", position=3) if is_list else None
    if name in (("BUILD_LIST",) if is_list else _DICT_MAKES):
        return WriteSite("made")
    if name in (("LIST_APPEND", "LIST_EXTEND") if is_list else _DICT_CHANGES):
        return WriteSite("into", position=argument + 1, adds=is_list)
    if name == "MAP_ADD" and not is_list:
        return WriteSite("into", position=argument + 2)
    if changes_container(one, kind):
        return WriteSite("into", position=2)
    return None


def _makes_container(code: Any, found: list[Any], place: int, kind: str) -> bool:
    """Whether it is plainly an operation with a new dict or list: `a | b`, `[0] * n`, `a[:]`."""
    one = found[place]
    if one.opname == "BINARY_OP":
        sign = str(one.argrepr)
        if kind == "item" or sign not in ("+", "*"):
            return kind == "item" and sign == "|"
        index = facts_of(code)[1][one.offset]
        operands = (operation_behind(code, index, depth) for depth in (0, 1))
        return kind == "list_item" and "BUILD_LIST" in operands
    if kind != "list_item" or one.opname not in _SLICES or place < _SLICES[one.opname]:
        return False
    before = found[place - _SLICES[one.opname] : place]
    return [(was.opname, was.argval) for was in before[:2]] == [("LOAD_CONST", None)] * 2 and (
        len(before) == 2 or before[2].opname == "BUILD_SLICE"
    )


_SLICES = {"BINARY_SLICE": 2, "BINARY_SUBSCR": 3}
"""How many instructions before it say which slice."""


def _site_of_pair(name: str, names: Any, wanted: Any) -> WriteSite | None:
    """Of an instruction that does the work of two: it stores the top under the first name."""
    stored = names if name == "STORE_FAST_STORE_FAST" else names[:1]
    return WriteSite("local", position=stored.index(wanted) + 1) if wanted in stored else None
