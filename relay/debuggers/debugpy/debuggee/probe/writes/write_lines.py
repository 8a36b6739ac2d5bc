"""Which lines of a code object may write to a place, and where its statement is over.

Read from bytecode: a line writes if it stores under the name, or names what stores without saying
where (`setattr`, `__dict__`, methods of containers). Its end are the lines that may come next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import facts_of, index_at
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import (
        JUMPS,
        begun_line,
        changes_container,
        handler_table,
        operations_named,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.data_watches import DataWatch
    from relay.debuggers.debugpy.debuggee.probe.writes.writer_names import (
        DICT_WRITERS,
        LIST_WRITERS,
        SETTERS,
        aliases_of,
        names_bound_to_writers,
        names_setter,
    )

_INDIRECT = SETTERS | frozenset(("__dict__", "vars", "__setstate__"))
_OF_GLOBALS = frozenset(("globals", "exec", "eval", "import_module"))
_NAMED_BY = ("attribute", "slot", "global")
_CONTAINER_STORES = operations_named(("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"))
_SIGNED_OPERATION = operations_named(("BINARY_OP",))
_FIRST_IN_PLACE = 13  # of its arguments: "+="
_SIGNED_BEFORE = operations_named(("INPLACE_OR", "INPLACE_ADD", "INPLACE_MULTIPLY"))
_LOADS_BY_NAME = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR")
_BEGINNINGS = ("RESUME", "GEN_START")  # the latter on 3.10, of generators
NEVER_ON = ("RETURN", "RAISE", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_ABSOLUTE")


class WriteLines(NamedTuple):
    """Of one code object and one place."""

    writes: frozenset[int]
    ends: frozenset[int]
    """Where a statement of `writes` is over, if the code goes on at all."""
    near: frozenset[int] = frozenset()
    """Both, of all data breakpoints."""
    sites: frozenset[int] = frozenset()
    """The instructions of `writes` that may write, by their places among those of the code."""
    first: int = 0
    """The function's own first line. What has changed by then was written by a line further up."""


NO_LINES = WriteLines(frozenset(), frozenset())


def write_lines_of(
    code: Any, kind: str, key: Any, fills: bool = False, bound: frozenset[str] = frozenset()
) -> WriteLines:
    """The lines that may write to a place of this kind, by this name; few bytes of code if none.

    fills: whether its dict makes what is missing when it is read. bound: names in the code that
    are bound to functions in C that write such places.
    """
    if not may_write(code, kind, key, fills, bound):
        return NO_LINES
    found, lines = facts_of(code)[0], lines_in_order(code)
    writers = [index for index, one in enumerate(found) if _writes(one, kind, key)]
    if fills:
        writers += [index for index, one in enumerate(found) if one.opname == "BINARY_SUBSCR"]
    if kind not in ("local", "cell"):
        aliases = bound | aliases_of(found, lambda name: is_indirect_writer(name, kind))
        if aliases:
            writers += [index for index, one in enumerate(found) if _loads_one_of(one, aliases)]
    ends: set[int] = set()
    for index in writers:
        ends.update(_lines_after(code, index, lines))
    writes = frozenset(lines[index] for index in writers)
    return WriteLines(writes, frozenset(ends), sites=frozenset(writers))


def may_write(code: Any, kind: str, key: Any, fills: bool, bound: Collection[str]) -> bool:
    """Whether it is worth reading for that: quickly, and never too seldom."""
    return bool(bound) or fills or _names_it(code, kind, key)


def watched_lines_of(code: Any, watches: Iterable[DataWatch], frame: Any = None) -> WriteLines:
    """The same for several data breakpoints; that of a local counts in its own code only.

    frame: what begins to run the code, or does; it knows what the names there are bound to.
    """
    found = [
        write_lines_of(code, watch.kind, watch.key, watch.fills, _writers_in(frame, watch.kind))
        for watch in watches
        if watch.kind != "local" or watch.code is code
    ]
    writes = frozenset().union(*[lines.writes for lines in found])
    ends = frozenset().union(*[lines.ends for lines in found])
    sites = frozenset().union(*[lines.sites for lines in found])
    first = body_start(code)[1] if writes else 0
    return WriteLines(writes, ends, writes | ends | {first}, sites, first)


def _writers_in(frame: Any, kind: str) -> frozenset[str]:
    if frame is None or kind in ("local", "cell"):
        return frozenset()
    return names_bound_to_writers(frame, kind)


def _names_it(code: Any, kind: str, key: Any) -> bool:
    """Whether it is worth reading; from names alone."""
    names = code.co_names
    if kind in ("local", "cell"):
        return key in (*code.co_varnames, *code.co_cellvars, *code.co_freevars, *names)
    if kind in _NAMED_BY and (key in names or key in code.co_consts):
        return True
    if kind in ("item", "list_item") and _changes_containers(code):
        return True
    return any(is_indirect_writer(name, kind) for name in names)


def _changes_containers(code: Any) -> bool:
    """Whether it has a statement that may write an item, of whatever it is."""
    text = code.co_code
    operations = set(text[::2])
    if not operations.isdisjoint(_CONTAINER_STORES) or not operations.isdisjoint(_SIGNED_BEFORE):
        return True
    return not operations.isdisjoint(_SIGNED_OPERATION) and any(
        operation in _SIGNED_OPERATION and argument >= _FIRST_IN_PLACE
        for operation, argument in zip(text[::2], text[1::2])  # noqa: B905  Python 3.8
    )


def _indirect_names(kind: str) -> frozenset[str]:
    if kind == "global":
        return _INDIRECT | _OF_GLOBALS
    if kind == "item":
        return DICT_WRITERS
    return LIST_WRITERS if kind == "list_item" else _INDIRECT


def is_indirect_writer(name: str, kind: str) -> bool:
    """Whether what has this name may write to such a place, without saying which."""
    return name in _indirect_names(kind) or (kind in _NAMED_BY and names_setter(name))


def _loads_one_of(one: Any, variables: frozenset[str]) -> bool:
    named = one.argval if type(one.argval) is tuple else (one.argval,)
    return one.opname.startswith("LOAD_") and any(
        type(name) is str and name in variables for name in named
    )


def _writes(one: Any, kind: str, key: Any) -> bool:
    name = one.opname
    if kind in ("local", "cell"):
        return _stores_variable(one, key)
    if name.startswith(_LOADS_BY_NAME):
        return is_indirect_writer(one.argval, kind)
    if kind in ("item", "list_item"):
        is_store = name in ("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE")
        return is_store or changes_container(one, kind)
    if name in ("STORE_SUBSCR", "DELETE_SUBSCR"):
        return True  # of a `__dict__` by another name
    if name in ("STORE_ATTR", "DELETE_ATTR"):
        return one.argval in (key, "__dict__")
    stores = ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_NAME", "DELETE_NAME")
    return bool(kind == "global" and name in stores and one.argval == key)


def _stores_variable(one: Any, key: Any) -> bool:
    name, value = one.opname, one.argval
    if not name.startswith(("STORE_FAST", "STORE_DEREF", "STORE_NAME", "DELETE_")):
        return False
    if type(value) is tuple:  # two in one, since 3.13
        return key in (value[:1] if name == "STORE_FAST_LOAD_FAST" else value)
    return bool(value == key)


def lines_in_order(code: Any) -> list[int]:
    """The line of each instruction: the last that has begun before it, in the order of the code."""
    lines, at = [], code.co_firstlineno
    for one in facts_of(code)[0]:
        at = begun_line(one) or at
        lines.append(at)
    return lines


def body_start(code: Any) -> tuple[int, int]:
    """Offset and line of the first instruction that is the function's own."""
    found = facts_of(code)[0]
    index = 1 + next((n for n, one in enumerate(found) if one.opname in _BEGINNINGS), -1)
    return found[index].offset, lines_in_order(code)[index]


def line_of_offset(code: Any, offset: int) -> int:
    """The line of the instruction there; 0 if there is none."""
    index = facts_of(code)[1].get(offset)
    return 0 if index is None else lines_in_order(code)[index]


def _lines_after(code: Any, start: int, lines: list[int]) -> set[int]:
    """The lines whose beginning may come next, from behind one instruction on."""
    found, indices, _ = facts_of(code)
    ends: set[int] = set()

    def is_next(at: int) -> bool:
        return at != start and bool(begun_line(found[at]))

    for at in _reached(code, start, is_next):
        one = found[at]
        if is_next(at):
            ends.add(lines[at])
        elif one.opcode in JUMPS and indices.get(one.argval, len(found)) <= at:
            ends.add(lines[indices[one.argval]])  # a jump back begins its line anew
    return ends


def may_still_write(frame: Any, lines: WriteLines) -> bool:
    """Whether a frame that stands somewhere may come to an instruction of a line that may write, or to
    one of a statement around it. Python 3.11 and later."""
    code = frame.f_code
    found, here = facts_of(code)[0], index_at(code, frame.f_lasti)
    if here is None or frame.f_lineno in lines.writes:
        return True
    places = list(code.co_positions())
    for at in _reached(code, here):
        first, last = places[found[at].offset // 2][:2]
        if first is not None and not lines.writes.isdisjoint(range(first, (last or first) + 1)):
            return True
    return False


def _reached(
    code: Any, start: int, is_end: Callable[[int], bool] = lambda at: False
) -> Iterator[int]:
    """The places of the instructions that may run from one on; nothing behind those that are an end."""
    found, indices, _ = facts_of(code)
    handlers = handler_table(code)
    seen: set[int] = set()
    todo = [start]
    while todo:
        at = todo.pop()
        if at in seen or at >= len(found):
            continue
        seen.add(at)
        yield at
        if not is_end(at):
            todo += _ways_on(found, indices, handlers, at)


def _ways_on(
    found: list[Any], indices: dict[int, int], handlers: list[Any], at: int
) -> Iterator[int]:
    """The instructions that may run after one, by their places; one behind the last is none."""
    one = found[at]
    for handler in handlers:
        if handler.start <= one.offset < handler.end:
            yield indices.get(handler.target, len(found))
    if one.opcode in JUMPS:
        yield indices.get(one.argval, len(found))
    if not one.opname.startswith(NEVER_ON):
        yield at + 1


def line_of_any(code: Any, offset: int) -> int:
    """The line that an instruction belongs to, one that was put in as well; 0 if it has none."""
    return next((line or 0 for start, end, line in code.co_lines() if start <= offset < end), 0)


def is_within_line(code: Any, offset: int, target: int) -> bool:
    """Whether both instructions are of one line."""
    found = [
        line for start, end, line in code.co_lines() for at in (offset, target) if start <= at < end
    ]
    return len(found) == 2 and found[0] == found[1]
