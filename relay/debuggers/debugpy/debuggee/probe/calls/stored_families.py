"""How a value of each family is written with all that it stores: containers, objects, exceptions,
functions, arrays and tables.

A writer is given a reading (`stored.py`), which has the bounds, the value, and what is known of its
type. No code of the program runs.
"""

from __future__ import annotations

import collections
import gc
import itertools
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.calls.looks import (
        Looks,
        look_at_attributes,
        look_at_closure,
        look_at_exception,
        look_at_function,
        look_at_items,
        look_at_method,
        look_at_nothing,
        plain_content,
    )
    from relay.debuggers.debugpy.debuggee.probe.calls.made_by_chance import (
        chance_stored_by,
        is_source_place,
    )
    from relay.debuggers.debugpy.debuggee.probe.calls.values import (
        brief,
        is_plainly_stored,
        is_written_by_itself,
        without_trees,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.attributes import arguments_of
    from relay.debuggers.debugpy.debuggee.probe.values.secrets import clean_text
    from relay.debuggers.debugpy.debuggee.probe.values.tables import frame_columns, row_pairs
    from relay.debuggers.debugpy.debuggee.probe.values.types import (
        exact,
        is_dunder,
        is_heap_type,
        lookup,
        module_of,
        name_of,
        namespace_of,
        qualname_of,
    )

MOST_STORED_CHARACTERS = 400
ROW_MARKS: dict[Any, tuple[str, str]] = {list: ("[", "]"), tuple: ("(", ")")}
_MOST_TABLE_ROWS = 1 << 17
_MOST_SLOTTED_TYPES = 2000  # whose slots are known
_OF_CODE = (types.TracebackType, types.FrameType, types.CodeType)
_EXTRA, _PRIVATE = "__pydantic_extra__", "__pydantic_private__"


def stored_writer_of(plan: Any) -> Any:
    if is_written_by_itself(plan) or plan.cls in _OF_CODE or is_source_place(plan):
        return _write_briefly
    if plan.family == "object":
        if module_of(plan.cls).partition(".")[0] == "_pytest":
            return _write_briefly  # and not the whole run of tests, nor how long each took
        for base in plan.mro:
            about = module_of(base), name_of(base)
            if about == ("logging", "Logger"):
                return _write_briefly  # and not the tree of loggers, nor what each has cached
            if about == ("unittest.case", "_Outcome"):
                return _write_briefly  # of each test that runs: as those of pytest
            if about == ("numpy", "generic"):
                return _write_number_of_numpy
        if type(lookup(plan.mro, _EXTRA)) is types.MemberDescriptorType:
            return _write_model
        if chance_stored_by(plan):
            return _write_without_chance
    return _WRITERS_BY_FAMILY.get(plan.family, _write_briefly)


def look_of_writer(write: Any, plan: Any) -> Any:
    """What gives the parts that a writer writes; None if nothing does."""
    attributes = look_at_attributes(plan, dunder_slots(plan))
    if write in (_write_object, _write_plain_base, _write_without_chance):
        return attributes
    if plan.cls is bytes:
        return look_at_nothing
    if write is _write_stored_exception:
        return look_at_exception(plan, attributes)
    if write is _write_function:
        return look_at_closure
    if write is _write_bound_method:
        return look_at_method
    if write in (_write_mapping, _write_sequence, _write_iterable, _write_namedtuple):
        return look_at_items(plan, attributes)
    return None


def note_writer(looks: Looks, value: Any, plan: Any, write: Any, look: Any) -> None:
    """What such a writer looks at."""
    if write is _write_briefly:
        return  # is noted as a text
    if write is _write_plain_base:
        looks.text(value, plain_content, plain_content(value))
    if write is _write_function and look_at_function(value)[1:] == (None, None, None):
        looks.text(value, look_at_function, look_at_function(value))
    else:
        looks.part(value, plan.cls, look)


def _write_briefly(reading: Any, value: Any, plan: Any, level: int) -> str:
    return reading.briefly(value, level)  # type: ignore[no-any-return]


def _write_object(reading: Any, value: Any, plan: Any, level: int) -> str:
    shown = reading.attributes(value, plan, level)
    name = qualname_of(plan.cls)
    return f"<{name} {', '.join(shown)}>" if shown else f"<{name}>"


def _write_without_chance(reading: Any, value: Any, plan: Any, level: int) -> str:
    shown = reading.attributes(value, plan, level, chance_stored_by(plan))
    return f"<{qualname_of(plan.cls)} {', '.join(shown)}>"


def _write_model(reading: Any, value: Any, plan: Any, level: int) -> str:
    """A model of pydantic, whose fields are its attributes; others have slots of their own."""
    shown = reading.attributes(value, plan, level)
    members = [lookup(plan.mro, name) for name in (_EXTRA, _PRIVATE)]
    for name, member in zip(("extra", "private"), members):  # noqa: B905
        if item := member.__get__(value, plan.cls):
            shown.append(f"{name}={reading.text(item, level)}")
    return f"<{qualname_of(plan.cls)} {', '.join(shown)}>"


def _with_attributes(contents: str, reading: Any, value: Any, plan: Any, level: int) -> str:
    if plan.cls is plan.base:
        return f"{plan.name}({contents})"
    shown = reading.attributes(value, plan, level)
    return f"{qualname_of(plan.cls)}({', '.join([contents, *shown])})"


def _write_mapping(reading: Any, value: Any, plan: Any, level: int) -> str:
    items, is_ordered = dict.items(value), any(b is collections.OrderedDict for b in plan.mro)
    if is_ordered and all(map(is_plainly_stored, dict.keys(value))):
        items = collections.OrderedDict.items(value)  # other keys it would hash, and compare
    kept = reading.keep_room(value, plan)
    contents = reading.pairs(items, dict.__len__(value), level)
    reading.left = max(reading.left, 0) + kept
    return _with_attributes(contents, reading, value, plan, level)


def _write_mapping_proxy(reading: Any, value: Any, plan: Any, level: int) -> str:
    below = gc.get_referents(value)
    if len(below) == 1 and type(below[0]) is dict:
        return f"{plan.name}({reading.pairs(below[0].items(), len(below[0]), level)})"
    return brief(value, level)


def _write_sequence(reading: Any, value: Any, plan: Any, level: int) -> str:
    base = plan.base
    if base is range:
        return repr(value)
    if base is memoryview:
        return _write_stored_bytes(reading, value, plan, level)
    size = base.__len__(value)
    kept = reading.keep_room(value, plan)
    if base not in ROW_MARKS:
        contents = _items_of_array(reading, value, base, size)
    else:
        opening, closing = ROW_MARKS[base]
        closing = ",)" if base is tuple and size == 1 else closing
        contents = opening + ", ".join(reading.some(base.__iter__(value), size, level)) + closing
    reading.left = max(reading.left, 0) + kept
    return _with_attributes(contents, reading, value, plan, level)


def _items_of_array(reading: Any, value: Any, base: Any, size: int) -> str:
    code, width = base.typecode.__get__(value), base.itemsize.__get__(value)
    if size <= reading.left:
        reading.left -= size
        return f"{code!r}, {base.tolist(value)}"
    most = size if reading.has_room_for(size * width) else reading.bytes_left // width
    data = base.__getitem__(value, slice(0, most))
    return f"{code!r}, {size} items {reading.hashed(base.tobytes(data))}"


def _write_iterable(reading: Any, value: Any, plan: Any, level: int) -> str:
    base = plan.base
    size = base.__len__(value)
    items = base.__iter__(value)
    if base not in (set, frozenset):
        contents = "[" + ", ".join(reading.some(items, size, level)) + "]"
        if base is collections.deque and (most := base.maxlen.__get__(value)) is not None:
            contents += f", maxlen={most}"
        return _with_attributes(contents, reading, value, plan, level)
    if size > reading.left:  # which come first is by chance, but of these
        items = [item for item in itertools.islice(items, reading.left) if is_plainly_stored(item)]
    shown = _items_of_set(reading, items, size, level)
    contents = "{" + ", ".join(shown) + "}" if shown else ""
    if plan.cls is set and shown:
        return contents
    return _with_attributes(contents, reading, value, plan, level)


def _items_of_set(reading: Any, items: Any, size: int, level: int) -> list[str]:
    """The items of a set. Objects come in an order by chance: of those for which there is no room, the types only."""
    plain: list[Any] = []
    others: list[Any] = []
    for item in items:
        (plain if is_plainly_stored(item) else others).append(item)
    shown = [reading.text(item, level) for item in plain]
    texts = [reading.text(item, level) for item in others if reading.left > 0]
    if others and reading.left <= 0:
        reading.left, reading.is_cut = 0, True
        texts = [reading.kind(item) for item in others]
    if len(shown) + len(texts) < size:
        reading.is_cut = True
        texts.append(f"{size} items")
    return sorted([*shown, *texts])


def _write_namedtuple(reading: Any, value: Any, plan: Any, level: int) -> str:
    items = zip(lookup(plan.mro, "_fields"), tuple.__iter__(value))  # noqa: B905
    shown = reading.named(items, tuple.__len__(value), level)
    return (
        f"{qualname_of(plan.cls)}({', '.join([*shown, *reading.attributes(value, plan, level)])})"
    )


def _write_plain_base(reading: Any, value: Any, plan: Any, level: int) -> str:
    """Texts and numbers, and what is made of them."""
    base = plan.base
    if base is str:
        contents = reading.characters(exact(value))
    elif base is int:
        number = int.__index__(value)
        size = number.bit_length()
        contents = (
            repr(number) if size <= 4 * MOST_STORED_CHARACTERS else f"{size} bits #{hash(number):x}"
        )
    else:
        contents = base.__repr__(value)
    if plan.cls is base or plan.cls is bool:
        return contents  # type: ignore[no-any-return]
    return _with_attributes(contents, reading, value, plan, level)


def _write_stored_bytes(reading: Any, value: Any, plan: Any, level: int) -> str:
    base = plan.base
    size = value.nbytes if base is memoryview else base.__len__(value)
    if not reading.has_room_for(size):
        contents = f"{size} bytes"
    else:
        data = base.tobytes(value) if base is memoryview else base.__getitem__(value, slice(None))
        if size > MOST_STORED_CHARACTERS:
            data = without_trees(bytes(data))
            size = len(data)
        contents = repr(clean_text(bytes(data[:MOST_STORED_CHARACTERS])))
        if size > MOST_STORED_CHARACTERS:
            contents += f"({size}) {reading.hashed(data)}"
    if plan.cls is bytes:
        return contents
    return _with_attributes(contents, reading, value, plan, level)


def _write_stored_exception(reading: Any, value: Any, plan: Any, level: int) -> str:
    arguments = arguments_of(value)
    shown = reading.some(arguments, len(arguments), level)
    return f"{qualname_of(plan.cls)}({', '.join(shown + reading.attributes(value, plan, level))})"


def _write_function(reading: Any, value: Any, plan: Any, level: int) -> str:
    """With its defaults, and what it closes over: of two that are made by one function, that is
    the difference."""
    code, defaults = value.__code__, value.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    pairs = list(zip(reversed(names), reversed(defaults)))[::-1]  # noqa: B905
    pairs += (value.__kwdefaults__ or {}).items()
    pairs += [
        (name, cell.cell_contents)
        for name, cell in zip(code.co_freevars, value.__closure__ or ())  # noqa: B905
        if gc.get_referents(cell)
    ]
    if not pairs:
        return brief(value, level)
    shown = ", ".join(reading.named(pairs, len(pairs), level))
    return f"{brief(value, level)[:-1]} with {shown}>" if shown else brief(value, level)


def _write_bound_method(reading: Any, value: Any, plan: Any, level: int) -> str:
    return f"{reading.briefly(value, level)[:-1]} of {reading.text(value.__self__, level)}>"


def _write_row(reading: Any, value: Any, plan: Any, level: int) -> str:
    pairs = row_pairs(value)
    return f"{plan.name}({', '.join(reading.named(pairs, len(pairs), level))})"


def dunder_slots(plan: Any) -> tuple[tuple[str, Any], ...]:
    """Slots called `__so__`, which say nothing to people; those of pydantic are read as fields."""
    found = _slots_of_types.get(plan.cls)
    if found is None:
        if len(_slots_of_types) > _MOST_SLOTTED_TYPES:
            _slots_of_types.clear()
        found = _slots_of_types[plan.cls] = tuple(
            (name, member)
            for base in plan.mro
            if is_heap_type(base)
            for name, member in namespace_of(base).items()
            if type(member) is types.MemberDescriptorType
            and is_dunder(name)
            and not name.startswith("__pydantic_")
        )
    return found


# Arrays and tables of libraries


def _write_number_of_numpy(reading: Any, value: Any, plan: Any, level: int) -> str:
    base = next(base for base in plan.mro if name_of(base) == "generic")
    number = base.item(value)
    if type(number) is plan.cls:  # wider than Python's own
        return f"{plan.name}({base.__repr__(value)})"
    return f"{plan.name}({reading.text(number, level)})"


def _write_ndarray(reading: Any, value: Any, plan: Any, level: int) -> str:
    base = plan.base
    shape, kind, size = (getattr(base, name).__get__(value) for name in ("shape", "dtype", "size"))
    if kind.hasobject:
        shown = reading.some(base.flat.__get__(value), size, level)
        contents = "[" + ", ".join(shown) + "]"
    elif size <= reading.left:
        reading.left -= size
        contents = repr(base.tolist(value))
    elif reading.has_room_for(base.nbytes.__get__(value)):
        contents = f"{size} items {reading.hashed(base.tobytes(value))}"
    elif plan.cls is base:  # what is cut out of another, its type takes for its own
        head = value.flat[: reading.bytes_left // kind.itemsize]
        contents = f"{size} items {reading.hashed(head.tobytes())}"
    else:
        contents = f"{size} items"
    return _with_attributes(f"{kind}, {shape}, {contents}", reading, value, plan, level)


def _write_dataframe(reading: Any, value: Any, plan: Any, level: int) -> str:
    if not _is_of_its_library(plan):
        return _closed_table(reading, value, plan)
    size = plan.base.shape.__get__(value)[1]
    contents = reading.pairs(frame_columns(value, plan), size, level)
    return f"{plan.name}({contents})"


def _write_series(reading: Any, value: Any, plan: Any, level: int) -> str:
    if not _is_of_its_library(plan):
        return _closed_table(reading, value, plan)
    if plan.name == "RangeIndex":
        return f"RangeIndex({value.start}, {value.stop}, {value.step})"
    size, kind, rows = len(value), value.dtype, value
    if size > _MOST_TABLE_ROWS:
        reading.is_cut = True
        rows = value[:_MOST_TABLE_ROWS] if plan.family == "index" else value.head(_MOST_TABLE_ROWS)
    shown = [str(kind), str(size), reading.text(rows.to_numpy(), level - 1)]
    if plan.family == "series" and hasattr(plan.base, "index"):
        shown.append(reading.text(rows.index, level))
    return f"{plan.name}({', '.join(shown)})"


def _closed_table(reading: Any, value: Any, plan: Any) -> str:
    """Of a class of the program's: to take columns from it would run its code."""
    reading.is_cut = True
    return f"<{qualname_of(plan.cls)}>"


def _is_of_its_library(plan: Any) -> bool:
    roots = [str(module_of(cls)).partition(".")[0] for cls in (plan.cls, plan.base)]
    return roots[0] == roots[1]


_WRITERS_BY_FAMILY: dict[str, Any] = {
    "scalar": _write_plain_base,
    "text": _write_plain_base,
    "bytes": _write_stored_bytes,
    "sequence": _write_sequence,
    "iterable": _write_iterable,
    "mapping": _write_mapping,
    "proxy": _write_mapping_proxy,
    "namedtuple": _write_namedtuple,
    "exception": _write_stored_exception,
    "function": _write_function,
    "method": _write_bound_method,
    "row": _write_row,
    "ndarray": _write_ndarray,
    "dataframe": _write_dataframe,
    "series": _write_series,
    "index": _write_series,
    "object": _write_object,
}
_slots_of_types: dict[Any, tuple[tuple[str, Any], ...]] = {}
