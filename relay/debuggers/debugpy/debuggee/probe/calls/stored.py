"""Values with what they store, as texts that are compared: equal texts are equal values, nearly.

No code of the program runs: a container is read by the methods of Python's own type, whatever a
subclass overrides, an object by its `__dict__` and slots. Bounded in parts, depth and bytes; a text
says whether its value goes on beyond them. The text of a large value is kept, and looked up where the
value has not changed (`kept_texts.py`).
"""

from __future__ import annotations

import binascii
import collections
import gc
import itertools
import types
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.calls.kept_texts import kept_texts
    from relay.debuggers.debugpy.debuggee.probe.calls.looks import (
        Looks,
        look_at_attributes,
        look_at_closure,
        look_at_dict,
        look_at_exception,
        look_at_function,
        look_at_items,
        look_at_method,
        look_at_nothing,
        look_at_row,
        plain_content,
    )
    from relay.debuggers.debugpy.debuggee.probe.calls.values import (
        brief,
        brief_error,
        is_plainly_stored,
        is_short,
        is_written_by_itself,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.attributes import (
        arguments_of,
        cause_of,
        own_dict,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.secrets import MASK, clean_text, hides
    from relay.debuggers.debugpy.debuggee.probe.values.tables import frame_columns, row_pairs
    from relay.debuggers.debugpy.debuggee.probe.values.types import (
        exact,
        is_dunder,
        is_heap_type,
        lookup,
        module_of,
        name_of,
        namespace_of,
        plan_of,
        qualname_of,
    )

IN_PART = "\0"
"""A text begins so whose value was not read to its end. The relay knows it, too."""

_DEEPEST_PART = 4
_MOST_PARTS = 200
_MOST_CHARACTERS = 400
_MOST_HASHED = 1 << 20  # bytes of all arrays in one value
_MOST_TABLE_ROWS = 1 << 17
_MOST_STORED_WRITERS = 2000
_FEWEST_KEPT = 16  # parts of a value whose text is kept: to write fewer is as quick
_ROW_MARKS: dict[Any, tuple[str, str]] = {list: ("[", "]"), tuple: ("(", ")")}
_ASKED_OBJECT = "obj"
"""Of an AttributeError: the interpreter keeps there what has no such attribute."""
_EXTRA, _PRIVATE = "__pydantic_extra__", "__pydantic_private__"


def ample(value: Any) -> str:
    """A value with more of what it stores than `brief` shows; after `IN_PART` if that is not all."""
    if is_short(value):
        return repr(value)
    if type(value) is str:
        size = len(value)
        return repr(value) if size <= _MOST_CHARACTERS else IN_PART + _beginning(value, size)
    known = kept_texts.text_of(value)
    if known is not None:
        return known
    reading = _Reading(Looks(value) if kept_texts.wants_looks(value) else None)
    text = reading.text(value, 0)
    if reading.is_cut:
        text = IN_PART + text
    if reading.left > _MOST_PARTS - _FEWEST_KEPT:
        kept_texts.drop(value)
    else:
        kept_texts.keep(value, text, reading.looks)
    return text


def ample_named(name: str, value: Any) -> str:
    """The same, masked if the name says that it is a secret."""
    return _masked(value) if hides(name, value) else ample(value)


def ample_error(error: Any) -> str:
    """An exception as `brief_error` writes it; in a second line what else it stores, if anything."""
    head, plan, arguments = brief_error(error), plan_of(error), arguments_of(error)
    reading = _Reading(None)
    shown = []
    if not _says_all(head, plan, arguments):
        shown.append("args=" + reading.text(arguments, 0))
    reading.path.append(id(error))
    shown += reading.attributes(error, plan, 1)
    text = "\n".join(filter(None, [head, ", ".join(shown)]))
    return IN_PART + text if reading.is_cut else text


def _says_all(head: str, plan: Any, arguments: Any) -> bool:
    """Whether an exception's first line has all that its arguments are."""
    if not arguments:
        return True
    only = arguments[0]
    if len(arguments) > 1 or type(only) is not str:
        return False
    said = repr(only) if issubclass(plan.cls, KeyError) else only
    return head == f"{qualname_of(plan.cls)}: {said}"


def _masked(value: Any) -> str:
    """A secret as a text that tells it from another; the relay shows no more than the mask."""
    plan = plan_of(value)
    if plan.family == "text":
        data = exact(value).encode("utf-8", "surrogatepass")
    elif plan.family == "bytes" and plan.base in (bytes, bytearray):
        data = plan.base.__getitem__(value, slice(None))
    else:
        return MASK  # a column of a table
    return f"{MASK}#{binascii.crc32(data):08x}"


class _Reading:
    """One value, within its bounds."""

    def __init__(self, looks: Looks | None) -> None:
        self.looks = looks  # None: nobody asks how it was written
        self.left = _MOST_PARTS
        self.bytes_left = _MOST_HASHED
        self.path: list[int] = []
        self.is_cut = False

    def text(self, value: Any, level: int) -> str:
        """A part of it."""
        self.left -= 1
        if is_short(value):
            return repr(value)
        kind = type(value)
        if kind is str:
            return self.characters(value)
        if id(value) in self.path:
            return self.briefly(value, 3)
        if self.left < 0 or level > _DEEPEST_PART:
            return self._closed(value, kind)
        self.path.append(id(value))
        try:
            return self._inside(value, kind, level + 1)
        except Exception:  # noqa: BLE001  changed by another thread meanwhile
            self.is_cut = True
            if self.looks is not None:
                self.looks.give_up()
            return f"<{name_of(kind)}>"
        finally:
            self.path.pop()

    def _closed(self, value: Any, kind: Any) -> str:
        """A value that is not looked into, although there may be something in it."""
        if kind not in (list, tuple, dict, set, frozenset) or value:
            self.is_cut = True
        return self.briefly(value, 3)

    def briefly(self, value: Any, level: int) -> str:
        """A value whose contents are not looked into, or that has none."""
        text = brief(value, level)
        if self.looks is not None:
            self.looks.text(value, _BRIEF_AT[level], text)
        return text

    def _inside(self, value: Any, kind: Any, level: int) -> str:
        if kind in (list, tuple):
            if self.looks is not None:
                self.looks.part(value, kind, look_at_row)
            opening, closing = _ROW_MARKS[kind]
            return opening + ", ".join(self.some(value, len(value), level)) + closing
        if kind is dict:
            if self.looks is not None:
                self.looks.part(value, kind, look_at_dict)
            return self.pairs(value.items(), len(value), level)
        plan = plan_of(value)
        found = _stored_writers.get(kind)
        if found is None:
            if len(_stored_writers) > _MOST_STORED_WRITERS:
                _stored_writers.clear()
            write = _stored_writer_of(plan)
            found = _stored_writers[kind] = write, _look_of(write, plan)
        write, look = found
        if self.looks is not None:
            _note(self.looks, value, plan, write, look)
        return write(self, value, plan, level)  # type: ignore[no-any-return]

    def characters(self, value: str) -> str:
        """A text to its bound."""
        size = len(value)
        if size <= _MOST_CHARACTERS:
            return repr(value)
        self.is_cut = True
        return _beginning(value, size)

    def some(self, items: Any, size: int, level: int) -> list[str]:
        """Items until the bound of parts is reached."""
        shown = []
        for item in items:
            if self.left <= 0:
                break
            shown.append(self.text(item, level))
        return self._ended(shown, size)

    def pairs(self, items: Any, size: int, level: int) -> str:
        """Keys and values of a mapping."""
        shown = []
        for key, item in items:
            if self.left <= 0:
                break
            text = self.masked(item) if hides(key, item) else self.text(item, level)
            shown.append(f"{self.text(key, level)}: {text}")
        return "{" + ", ".join(self._ended(shown, size)) + "}"

    def named(self, items: Any, size: int, level: int) -> list[str]:
        """Attributes or fields."""
        shown = []
        for name, item in items:
            if self.left <= 0:
                break
            shown.append(
                f"{name}={self.masked(item) if hides(name, item) else self.text(item, level)}"
            )
        return self._ended(shown, size)

    def masked(self, value: Any) -> str:
        """A secret; only a text of Python's own is known by its id."""
        if self.looks is not None and type(value) not in (str, bytes):
            self.looks.give_up()
        return _masked(value)

    def _ended(self, shown: list[str], size: int) -> list[str]:
        if len(shown) < size:
            self.is_cut = True
            shown.append(f"{size} items")
        return shown

    def attributes(self, value: Any, plan: Any, level: int) -> list[str]:
        """What an object stores in its `__dict__`, in the order of the names, and in its slots.

        All of it, not only what `__init__` stores: what another method stores at its first use is
        equal in two runs until they differ.
        """
        found: list[tuple[Any, Any]] = []
        if plan.dictionary is not None:
            found += dict.items(own_dict(value, plan))
            if len(found) > 1:
                found.sort(key=_name_in_order)
        for name, member in (*plan.members, *_dunder_slots(plan)):
            try:
                found.append((name, member.__get__(value, plan.cls)))
            except AttributeError:
                continue  # a slot without a value
        if plan.family == "exception":
            found = [pair for pair in found if pair[0] != _ASKED_OBJECT]
            cause = cause_of(value)
            if cause is not None:
                found.append(("__cause__", cause))
        return self.named(found, len(found), level) if found else []

    def hashed(self, data: bytes) -> str:
        """Many bytes as few."""
        self.bytes_left -= len(data)
        return f"#{binascii.crc32(data):08x}"

    def has_room_for(self, size: int) -> bool:
        """Whether so many bytes are within the bound; else the value is compared in part."""
        if size > self.bytes_left:
            self.is_cut = True
            return False
        return True


def _beginning(text: str, size: int) -> str:
    return f"{text[:_MOST_CHARACTERS]!r}({size})"


def _name_in_order(pair: tuple[Any, Any]) -> str:
    name = pair[0]
    return name if type(name) is str else ""


def _dunder_slots(plan: Any) -> tuple[tuple[str, Any], ...]:
    """Slots called `__so__`, which say nothing to people; those of pydantic are read as fields."""
    found = _slots_of_types.get(plan.cls)
    if found is None:
        if len(_slots_of_types) > _MOST_STORED_WRITERS:
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


# By family


def _stored_writer_of(plan: Any) -> Any:
    if is_written_by_itself(plan) or plan.cls in (types.TracebackType, types.FrameType):
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
    return _WRITERS_BY_FAMILY.get(plan.family, _write_briefly)


def _look_of(write: Any, plan: Any) -> Any:
    """What gives the parts that a writer writes; None if nothing does."""
    attributes = look_at_attributes(plan, _dunder_slots(plan))
    if write in (_write_object, _write_plain_base):
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


def _note(looks: Looks, value: Any, plan: Any, write: Any, look: Any) -> None:
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
    contents = reading.pairs(items, dict.__len__(value), level)
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
    if base not in _ROW_MARKS:
        contents = _items_of_array(reading, value, base, size)
    else:
        opening, closing = _ROW_MARKS[base]
        contents = opening + ", ".join(reading.some(base.__iter__(value), size, level)) + closing
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
    shown = sorted(reading.some(items, size, level))
    contents = "{" + ", ".join(shown) + "}" if shown else ""
    if plan.cls is set and shown:
        return contents
    return _with_attributes(contents, reading, value, plan, level)


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
            repr(number) if size <= 4 * _MOST_CHARACTERS else f"{size} bits #{hash(number):x}"
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
        contents = repr(clean_text(bytes(data[:_MOST_CHARACTERS])))
        if size > _MOST_CHARACTERS:
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
_BRIEF_AT = [partial(brief, level=level) for level in range(_DEEPEST_PART + 2)]
_stored_writers: dict[Any, tuple[Any, Any]] = {}
_slots_of_types: dict[Any, tuple[tuple[str, Any], ...]] = {}
