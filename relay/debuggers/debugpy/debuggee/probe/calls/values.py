"""Values of recorded calls as short texts: cheap, bounded, and without running the program's code.

A value is written while its call begins or ends, a hundred thousand times a run. So no `__repr__` of
the program is called, no property, no comparison; an object is its type and the first plain
attributes that it stores. No text has an address or an id, since equal calls are found by them.
"""

from __future__ import annotations

import functools
import itertools
import os
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relay.debuggers.debugpy.debuggee.probe.calls.made_by_chance import (
        chance_stored_by,
        is_source_place,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import attributes_stored_by
    from relay.debuggers.debugpy.debuggee.probe.process.outside import is_from_outside
    from relay.debuggers.debugpy.debuggee.probe.values.attributes import arguments_of, own_dict
    from relay.debuggers.debugpy.debuggee.probe.values.credentials import SHORTEST_WORD
    from relay.debuggers.debugpy.debuggee.probe.values.secrets import (
        MASK,
        clean,
        clean_text,
        hides,
        hides_credentials,
        is_secret_name,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.text import generated_repr
    from relay.debuggers.debugpy.debuggee.probe.values.types import (
        exact,
        lookup,
        module_of,
        name_of,
        namespace_of,
        plan_of,
        qualname_of,
    )

BRIEF_ROOM = 48  # characters of a text that is not cut, and of what is shown of a longer one
_HEAD = 600  # characters in which a credential at the beginning of a long text is found whole
_MOST_ITEMS_SHOWN, _MOST_ATTRIBUTES_SHOWN, _MOST_LEVELS = 5, 3, 3
_MOST_SORTED = 40  # items of a set
_MOST_READ = 8  # attributes of an object
_MOST_BITS = 400
_LONGEST_SHOWN_TEXT = 4096  # characters of a text whose brief form is remembered
_MOST_SHOWN_TEXTS = 1000
_TREES: list[Any] = []  # what is written for `--calls` leaves none out
_SAFE_PACKAGES = frozenset(
    ("datetime", "decimal", "_decimal", "fractions", "pathlib", "pathlib._local", "uuid", "re")
)
"""Of the standard library: their `__repr__` says what is stored, and nothing else."""


def brief(value: Any, level: int = 0) -> str:
    """The value in about a line; `level` is how deep it lies in another."""
    kind = type(value)
    if kind in _SHORT_REPRS or (kind is int and -_SMALL < value < _SMALL):
        return repr(value)  # as `is_short` says
    if kind is str and len(value) < SHORTEST_WORD and "://" not in value:
        return repr(value)  # no credential is so short
    write = _BRIEF_WRITERS.get(kind)
    if write is None:
        write = _BRIEF_WRITERS[kind] = _writer_of(value)
        if len(_BRIEF_WRITERS) > _MOST_WRITERS:
            forget_writers()
    try:
        return write(value, level)  # type: ignore[no-any-return]
    except Exception as error:
        if is_from_outside(error):
            raise
        return f"<{name_of(kind)}>"


def is_short(value: Any) -> bool:
    """Whether its own repr is all that there is to it: a number, True, False or None."""
    kind = type(value)
    return kind in _SHORT_REPRS or (kind is int and -_SMALL < value < _SMALL)


def is_plainly_stored(value: Any) -> bool:
    """Whether it is of a type of Python's own that has no parts, such as a number or a text."""
    return type(value) in _STORED_PLAINLY


def is_written_by_itself(plan: Any) -> bool:
    """Whether the type's own repr says what is stored, and nothing else."""
    return plan.cls.__module__ in _SAFE_PACKAGES


def forget_writers() -> None:
    """What is known of types holds no more: other names may be secret now."""
    _BRIEF_WRITERS.clear()
    _BRIEF_WRITERS.update(_PLAIN_WRITERS)
    _SHOWN_BY.clear()
    _SHOWN_BY.update(_PLAIN_SHOWN_BY)


def leave_out_trees(roots: Sequence[str]) -> None:
    """Of what is written from now on: where two trees lie, before a text is cut. So it is cut at the same
    place in both, and has as many characters."""
    _TREES[:] = [*roots, *map(os.fsencode, roots)]
    _remembered_text.cache_clear()


def without_trees(text: Any) -> Any:
    """A text, or bytes, too long to be whole, with `.` for what is left out, as the relay writes it in others."""
    kind = type(text)
    for root in _TREES:
        if type(root) is kind and root in text:
            text = text.replace(root, "." if kind is str else b".")
    return text


def what_is_shown_of(value: Any, level: int) -> Any:
    """What gives all that `brief` has written of a value beside its type, where it lies so deep that this
    is next to nothing: how many items it has, or not even that; else None."""
    if level < _MOST_LEVELS:
        return None
    return _SHOWN_BY.get(_BRIEF_WRITERS.get(type(value)))


def _shows(what: Any, write: Any) -> Any:
    """A writer that shows no more than this of what lies deep."""
    _SHOWN_BY[write] = what
    return write


def brief_named(name: str, value: Any) -> str:
    """The same, masked if the name says that it is a secret."""
    return MASK if hides(name, value) else brief(value)


def brief_error(error: Any) -> str:
    """Type and message of an exception, from what it stores."""
    plan = plan_of(error)
    arguments = _stored_arguments(error)
    name = str(qualname_of(plan.cls))
    if not arguments:
        return name
    write = brief if issubclass(plan.cls, KeyError) else _brief_message
    shown = ", ".join(write(one) for one in arguments[:3])
    return name + ": " + clean(shown)


def _stored_arguments(error: Any) -> tuple[Any, ...]:
    found = arguments_of(error)
    return found if type(found) is tuple else ()


def _brief_message(value: Any) -> str:
    if type(value) is not str:
        return brief(value, 1)
    room = 2 * BRIEF_ROOM
    if len(value) > room:
        value = without_trees(value)
    line = value[:_HEAD].strip().split("\n", 1)[0]
    return clean(line) if len(line) <= room else clean(line)[:room] + "..."


# By type


def _brief_int(value: Any, level: int) -> str:
    bits = value.bit_length()
    return repr(value) if bits < _MOST_BITS else f"<int of {bits} bits>"


def _brief_plain(value: Any, level: int) -> str:
    return repr(value)


def _brief_str(value: Any, level: int) -> str:
    size = len(value)
    if size < SHORTEST_WORD and "://" not in value:  # no credential is so short
        return repr(value)
    if size > _LONGEST_SHOWN_TEXT:
        return _shown_text(value)
    return _remembered_text(value, hides_credentials())


@functools.lru_cache(_MOST_SHOWN_TEXTS)  # a parser hands one text on and on
def _remembered_text(value: str, hides_credentials: bool) -> str:
    return _shown_text(value)


def _shown_text(value: str) -> str:
    size = len(value)
    if size > BRIEF_ROOM:
        value = without_trees(value)
        size = len(value)
    if size <= BRIEF_ROOM:
        return repr(clean_text(value))
    head = repr(clean_text(value[:_HEAD])[:BRIEF_ROOM])
    return f"{head[:-1]}...{head[-1]} ({size})"


def _brief_bytes(value: Any, level: int) -> str:
    if len(value) > BRIEF_ROOM:
        value = without_trees(bytes(value))
    if len(value) <= BRIEF_ROOM:
        return repr(clean_text(value))
    head = repr(clean_text(bytes(value[:_HEAD]))[:BRIEF_ROOM])
    return head[:-1] + f"...{head[-1]} ({len(value)})"


def _brief_row(opening: str, closing: str) -> Any:
    def write(value: Any, level: int) -> str:
        size = len(value)
        if level >= _MOST_LEVELS and size:
            return f"{opening}... {size} items{closing}"
        if size == 2 and opening == "(" and type(value[0]) is str and hides(*value):
            return f"({brief(value[0], level + 1)}, {MASK})"
        shown = [brief(item, level + 1) for item in itertools.islice(value, _MOST_ITEMS_SHOWN)]
        if size > len(shown):
            shown.append(f"... {size} items")
        elif size == 1 and opening == "(":
            return f"({shown[0]},)"
        return opening + ", ".join(shown) + closing

    return write


def _brief_set(value: Any, level: int) -> str:
    """In the order of its texts; of a large one the size: its order is no fact about it."""
    size, name = len(value), type(value).__name__
    if not size:
        return name + "()"
    few = [] if size > _MOST_SORTED else sorted([brief(item, level + 1) for item in value])
    more = [f"... {size} items"] if size > _MOST_ITEMS_SHOWN else []
    text = "{" + ", ".join(few[:_MOST_ITEMS_SHOWN] + more) + "}"
    return text if name == "set" else f"{name}({text})"


def _brief_dict(value: Any, level: int) -> str:
    size = len(value)
    if level >= _MOST_LEVELS and size:
        return f"{{... {size} items}}"
    shown = []
    for key, item in itertools.islice(value.items(), _MOST_ITEMS_SHOWN):
        text = MASK if hides(key, item) else brief(item, level + 1)
        shown.append(brief(key, level + 1) + ": " + text)
    if size > len(shown):
        shown.append(f"... {size} items")
    return "{" + ", ".join(shown) + "}"


def _brief_function(value: Any, level: int) -> str:
    return f"<{type(value).__name__} {_code_name(value)}>"


def _brief_method(value: Any, level: int) -> str:
    return f"<method {_code_name(value.__func__)}>"


def _brief_type(value: Any, level: int) -> str:
    """Of what knows a place in the code, which says nothing about the program."""
    return f"<{name_of(type(value))}>"


def _brief_code(value: Any, level: int) -> str:
    """By its name, as a function: what is in it is the source, which two trees have otherwise."""
    return f"<code {getattr(value, 'co_qualname', value.co_name)}>"


def _code_name(value: Any) -> str:
    found = value.__qualname__
    return exact(found) if issubclass(type(found), str) else "?"


def _brief_module(value: Any, level: int) -> str:
    return f"<module {exact(str(value.__dict__.get('__name__')))}>"


def _brief_class(value: Any, level: int) -> str:
    return f"<class {qualname_of(value)}>"


_PLAIN_NUMBERS = (bool, float, complex, type(None), type(...), type(NotImplemented))
_PLAIN_WRITERS: dict[Any, Any] = {
    int: _brief_int,
    str: _brief_str,
    bytes: _brief_bytes,
    bytearray: _brief_bytes,
    list: _brief_row("[", "]"),
    tuple: _brief_row("(", ")"),
    set: _brief_set,
    frozenset: _brief_set,
    dict: _brief_dict,
    range: _brief_plain,
    type: _brief_class,
    types.FunctionType: _brief_function,
    types.BuiltinFunctionType: _brief_function,
    types.GeneratorType: _brief_function,
    types.CoroutineType: _brief_function,
    types.AsyncGeneratorType: _brief_function,
    types.MethodType: _brief_method,
    types.ModuleType: _brief_module,
    types.TracebackType: _brief_type,
    types.FrameType: _brief_type,
    types.CodeType: _brief_code,
}
_SHORT_REPRS = frozenset(_PLAIN_NUMBERS)
_SMALL = 1 << 64
_PLAIN_WRITERS.update((kind, _brief_plain) for kind in _PLAIN_NUMBERS)
_STORED_PLAINLY = frozenset((int, str, bytes, *_PLAIN_NUMBERS))
_MOST_WRITERS = 5000  # of types; beyond it they are found anew
_BRIEF_WRITERS: dict[Any, Any] = dict(_PLAIN_WRITERS)
_PLAIN_SHOWN_BY = {_PLAIN_WRITERS[kind]: kind.__len__ for kind in (list, tuple, dict)}
_SHOWN_BY: dict[Any, Any] = dict(_PLAIN_SHOWN_BY)  # by writers


# Other types: subclasses of those above, and objects


def _writer_of(value: Any) -> Any:
    plan = plan_of(value)
    name = str(qualname_of(plan.cls))
    if plan.family == "enum":
        return lambda v, level: f"{name}.{_enum_name(v, plan)}"
    if plan.family == "exception":
        return lambda v, level: _brief_exception(v, name)
    if plan.family == "class":
        return _brief_class
    if is_written_by_itself(plan):
        return _brief_plain
    if is_source_place(plan):
        return _shows(type, _brief_type)
    fields = generated_repr(plan)
    if fields == "namedtuple":
        names = lookup(plan.mro, "_fields")
        write = lambda v, level: _with_fields(name, zip(names, tuple.__iter__(v)), level)  # noqa: B905, E731
        return _shows(type, write)
    if plan.family == "sequence" and plan.base in (list, tuple):
        return _shows(plan.base.__len__, lambda v, level: _brief_subclass(v, plan, name, level))
    if plan.family == "mapping":
        return _shows(dict.__len__, lambda v, level: f"<{name} of {dict.__len__(v)} items>")
    if plan.family in ("text", "bytes", "scalar"):
        return lambda v, level: f"<{name} {_brief_base(v, plan)}>"
    if fields == "dataclass":
        shown = lookup(plan.mro, "__dataclass_fields__").values()
        fields_shown = [field.name for field in shown if field.repr]
        return _shows(type, _object_writer(plan, name, fields_shown))
    if plan.family == "ndarray":
        return lambda v, level: f"<{name} {_brief_array(v, plan.base, level)}>"
    number = number_of_numpy(plan)
    if number is not None:
        return lambda v, level: f"<{name} {_brief_number(v, number, level)}>"
    if plan.family == "object":
        return _shows(type, _object_writer(plan, name, None))
    return _shows(type, lambda v, level: f"<{name}>")


def _enum_name(value: Any, plan: Any) -> str:
    found = own_dict(value, plan).get("_name_")
    return exact(found) if issubclass(type(found), str) else "?"


def _brief_exception(value: Any, name: str) -> str:
    return f"{name}({', '.join(brief(one, 2) for one in _stored_arguments(value)[:2])})"


def _brief_subclass(value: Any, plan: Any, name: str, level: int) -> str:
    return f"<{name} of {plan.base.__len__(value)} items>"


def _brief_base(value: Any, plan: Any) -> str:
    base = plan.base
    if base is str:
        return _brief_str(exact(value), 0)
    if base is int:
        return _brief_int(int.__index__(value), 0)
    return base.__repr__(value)[: 2 * BRIEF_ROOM]  # type: ignore[no-any-return]


def number_of_numpy(plan: Any) -> Any:
    """The base of all of numpy's numbers, if the type is one; else None."""
    about = (base for base in plan.mro if name_of(base) == "generic")
    return next((base for base in about if module_of(base) == "numpy"), None)


def _brief_number(value: Any, base: Any, level: int) -> str:
    item = base.item(value)
    return base.__repr__(value) if type(item) is type(value) else brief(item, level + 1)


def _brief_array(value: Any, base: Any, level: int) -> str:
    """Shape, type and the first items, one after another."""
    shape, kind, size = (getattr(base, name).__get__(value) for name in ("shape", "dtype", "size"))
    if level >= _MOST_LEVELS:
        return f"{shape} {kind}"
    few = itertools.islice(base.flat.__get__(value), _MOST_ITEMS_SHOWN)
    shown = [_brief_item(item, level + 1) for item in few]
    if size > len(shown):
        shown.append(f"... {size} items")
    return f"{shape} {kind} [{', '.join(shown)}]"


def _brief_item(item: Any, level: int) -> str:
    base = number_of_numpy(plan_of(item))
    return brief(item, level) if base is None else _brief_number(item, base, level)


def _with_fields(name: str, pairs: Any, level: int) -> str:
    if level >= _MOST_LEVELS:
        return name + "(...)"
    shown = [
        field + "=" + (MASK if hides(field, item) else brief(item, level + 1))
        for field, item in itertools.islice(pairs, _MOST_ITEMS_SHOWN)
    ]
    return name + "(" + ", ".join(shown) + ")"


def _object_writer(plan: Any, name: str, fields: list[str] | None) -> Any:
    """Writes a type, and the first attributes that are stored as numbers and texts.

    Each attribute is read by its name, past any code of the type's: a `__dict__` that is asked for
    would be made, for each of the program's objects.
    """
    readers = [
        (name + "=", read, is_secret_name(name)) for name, read in attribute_readers(plan, fields)
    ]
    short, end = (f"<{name}>", ">") if fields is None else (f"{name}(...)", ")")
    head, between = ("<" + name, " ") if fields is None else (name + "(", ", ")
    empty, head = head + end, head + (between if fields is None else "")

    def write(value: Any, level: int) -> str:
        if level > 1:
            return short
        shown = []
        for prefix, read, is_secret in readers:
            try:
                item = read(value)
            except AttributeError:
                continue  # not stored, or not yet
            if type(item) in _STORED_PLAINLY:
                hidden = is_secret and type(item) is str and item
                shown.append(prefix + (MASK if hidden else brief(item, level + 1)))
                if len(shown) == _MOST_ATTRIBUTES_SHOWN:
                    break
        return head + between.join(shown) + end if shown else empty

    return write


def attribute_readers(plan: Any, fields: list[str] | None) -> list[tuple[str, Any]]:
    """(name, function that reads it) of attributes whose reading runs no code of the program."""
    members = dict(plan.members)
    found: list[tuple[str, Any]] = []
    for name in _stored_names(plan) if fields is None else fields:
        if name in members:
            found.append((name, lambda value, get=members[name].__get__: get(value, plan.cls)))
        elif type(lookup(plan.mro, name)) in _STORED_PLAINLY:  # nothing, or a default
            found.append((name, _reader_of(name)))
    return found[:_MOST_READ]


_read_stored = object.__getattribute__


def _reader_of(name: str) -> Any:
    return lambda value: _read_stored(value, name)


def _stored_names(plan: Any) -> list[str]:
    """Names that the type's `__init__` stores, and its slots."""
    names: dict[str, None] = {}
    for base in plan.mro[:-1]:
        made = namespace_of(base).get("__init__")
        if type(made) is types.FunctionType:
            names.update(dict.fromkeys(attributes_stored_by(made.__code__)))
    names.update(dict.fromkeys(name for name, _ in plan.members))
    unseen = chance_stored_by(plan)
    return [name for name in names if type(name) is str and name not in unseen]
