"""Values as the probe shows them: types without asking objects, text within a budget, pages.

Knows Python's own types. Refuses to know frames, references and the debugger. Part of
`probe.py`, which says what holds for the whole probe.
"""
# ruff: noqa: BLE001
# Broad excepts are the trade here: whatever the program's objects raise is an answer.

from __future__ import annotations

import collections
import itertools
import os
import sys
import types
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from relay.adapters.python.probe_secrets import MASK, clean_repr, hides, hides_second

# --------------------------------------------------------------------------- types, not objects

mro_of = type.__dict__["__mro__"].__get__
namespace_of = type.__dict__["__dict__"].__get__
name_of = type.__dict__["__name__"].__get__
_QUALNAME = type.__dict__["__qualname__"].__get__
_MODULE = type.__dict__["__module__"].__get__
_FLAGS = type.__dict__["__flags__"].__get__
_HEAP_TYPE = 1 << 9
_ARGS: Any = BaseException.__dict__["args"]
_DESCRIPTORS = (types.MemberDescriptorType, types.GetSetDescriptorType)

# Family of a value, by the id of the builtin base found first on its MRO. The ids are safe:
# none of these types is ever freed, and no metaclass is asked for a hash.
_BASES: dict[str, tuple[type, ...]] = {
    "scalar": (int, float, complex, type(None), type(...), type(NotImplemented)),
    "text": (str,),
    "bytes": (bytes, bytearray),
    "sequence": (list, tuple, range, memoryview),
    "iterable": (set, frozenset, collections.deque),
    "mapping": (dict,),
    "proxy": (types.MappingProxyType, type(os.environ)),
    "exception": (BaseException,),
    "module": (types.ModuleType,),
    "class": (type,),
    "function": (types.FunctionType,),
    "method": (types.MethodType,),
    "builtin": (types.BuiltinFunctionType,),
    "suspended": (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType),
    "weak": (weakref.ref,),
    "cell": (types.CellType,),
}
_FAMILIES = {id(base): family for family, bases in _BASES.items() for base in bases}
_VIEWS: tuple[Any, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_FAMILIES.update((id(view), "iterable") for view in _VIEWS)
_ODICT_VIEWS = tuple(type(getattr(collections.OrderedDict(), n)()) for n in ("keys", "values"))
_FAMILIES.update((id(view), "iterable") for view in _ODICT_VIEWS)
# Types of modules that the program may not have: recognised by name, never imported.
_BY_NAME = {
    ("array", "array"): "sequence",
    ("sqlite3", "Row"): "row",
    ("numpy", "ndarray"): "ndarray",
    ("pandas", "DataFrame"): "dataframe",
    ("pandas", "Series"): "series",
    ("pandas", "Index"): "index",
}
_FUNCTION_ATTRIBUTES = ("__qualname__", "__module__", "__doc__", "__defaults__", "__kwdefaults__")
HINT_KINDS = {"function": "method", "method": "method", "builtin": "method", "class": "class"}
READ_ONLY = {"tuple", "range", "set", "frozenset", "text", "bytes", "suspended", "cell", "weak"}


class Interrupted(BaseException):
    """Raised inside a running call by `interrupt`; never leaves the probe."""


class TroubleError(Exception):
    """An answer of the kind {"error": {"kind", "message", …}}."""

    def __init__(self, kind: str, message: str, **more: Any) -> None:
        self.answer = {"error": dict(more, kind=kind, message=message)}


class Plan(NamedTuple):
    """What a type says about its instances, worked out once a stop."""

    cls: type
    name: str
    family: str
    base: Any
    mro: tuple[type, ...]
    dictionary: Any
    members: list[tuple[str, Any]]
    show: Any
    quick: bool  # a number, True, False or None: nothing but its repr


plans: dict[int, Plan] = {}


def plan_of(value: Any) -> Plan:
    cls = type(value)
    plan = plans.get(id(cls))
    if plan is None or plan.cls is not cls:
        plan = plans[id(cls)] = _make_plan(cls)
    return plan


def _make_plan(cls: type) -> Plan:
    mro = mro_of(cls)
    family, base = _family(mro)
    dictionary = next((d for d in map(_dictionary, mro) if d is not None), None)
    return Plan(
        cls,
        name_of(cls),
        family,
        base,
        mro,
        dictionary,
        _members(mro, family),
        _lookup(mro, "__repr__"),
        cls is bool or _FAMILIES.get(id(cls)) == "scalar",
    )


def _family(mro: tuple[type, ...]) -> tuple[str, Any]:
    if any(name_of(base) == "Enum" and _MODULE(base) == "enum" for base in mro):
        return "enum", mro[0]
    if _lookup(mro, "_fields") is not None and any(base is tuple for base in mro):
        return "namedtuple", tuple
    for base in mro:
        family = _FAMILIES.get(id(base))
        if family is None and not namespace_of(base).get("__slots__"):
            root = str(_MODULE(base)).partition(".")[0]
            family = _BY_NAME.get((root, name_of(base)))
        if family is not None:
            return family, base
    return "object", object


def _dictionary(cls: type) -> Any:
    """The descriptor of the true `__dict__`; a property of that name is a lie."""
    found = namespace_of(cls).get("__dict__")
    return found if type(found) in _DESCRIPTORS else None


def _members(mro: tuple[type, ...], family: str) -> list[tuple[str, Any]]:
    """Slots, and what C types keep in their structs. Reading them runs no code."""
    plain = family in ("object", "exception")
    members: dict[str, Any] = {}
    for cls in mro:
        if plain or _FLAGS(cls) & _HEAP_TYPE:
            for name, found in namespace_of(cls).items():
                if type(found) is types.MemberDescriptorType and not is_dunder(name):
                    members.setdefault(name, found)
    return list(members.items())


def _lookup(mro: tuple[type, ...], name: str) -> Any:
    for cls in mro:
        namespace = namespace_of(cls)
        if name in namespace:
            return namespace[name]
    return None


def is_dunder(name: str) -> bool:
    return name[:2] == "__" == name[-2:] and len(name) > 4


def exact(text: str) -> str:
    return text if type(text) is str else str.__str__(text)


def full_name(cls: type) -> str:
    module = _MODULE(cls)
    if module in ("builtins", "__main__") or type(module) is not str:
        return str(_QUALNAME(cls))
    return f"{module}.{_QUALNAME(cls)}"


def attempt(function: Callable[..., Any], *arguments: Any, default: Any = None) -> Any:
    try:
        return function(*arguments)
    except Interrupted:
        raise
    except BaseException:
        return default


def exception_line(error: BaseException) -> str:
    """As the last line of a traceback: 'ValueError: bad'."""
    try:
        message = exact(str(error))
    except Interrupted:
        raise
    except BaseException:
        message = "<str() failed>"
    name = full_name(type(error))
    return f"{name}: {message}" if message else name


# --------------------------------------------------------------------------- values as text

_PREVIEW_DEPTH = 12
_MANY_ITEMS, _FEW_ITEMS = 100, 3
_INT_DIGITS = 4300
_LONGEST_NATIVE = 100_000


class _TooLongError(Exception):
    """The whole text does not fit: start again, sharing the room fairly."""


class Text:
    """One value as text of about `room` characters: Python's own repr where that fits.

    The first pass writes everything and gives up at the limit; only then a second pass
    shares the room. Reprs of the program's own objects are kept, so each runs once.
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self.cut = False
        self.masked = False
        self.sharing = False
        self.path: list[int] = []
        self.reprs: dict[int, tuple[Any, str]] = {}

    def of(self, value: Any) -> str:
        try:
            return self.write(value, self.room)
        except _TooLongError:
            self.sharing, self.cut, self.path = True, True, []
            return self.write(value, self.room)

    def write(self, value: Any, room: int) -> str:
        plan = plan_of(value)
        writer = _WRITERS.get(id(plan.show))
        if writer is not None:
            return writer(self, value, plan, room)  # type: ignore[no-any-return]
        kind = _generated_repr(plan)
        if kind is not None:
            text = self.fields(value, plan, kind, room)
            if text is not None:
                return text
        return self.limit(self.native(value, plan), room)

    def native(self, value: Any, plan: Plan) -> str:
        """repr(value), run once; what it raises becomes part of the text."""
        if plan.family == "scalar":
            return _native_repr(value, plan.name)
        known = self.reprs.get(id(value))
        if known is None:  # kept with its value, so that the id stays its own
            known = self.reprs[id(value)] = value, self.clean(value, plan)
        return known[1]

    def clean(self, value: Any, plan: Plan) -> str:
        """The program's own repr, without what is known to be secret in it."""
        if plan.family == "dataframe" and attempt(_has_secret_columns, value, default=False):
            self.masked = True
            value = value[[name for name in value.columns if not hides(name, value)]]
        shown = _native_repr(value, plan.name)
        if len(shown) > _LONGEST_NATIVE:
            shown = shown[:_LONGEST_NATIVE]
        found = clean_repr(shown, value, plan)
        self.masked = self.masked or found != shown
        return found

    def limit(self, text: str, room: int) -> str:
        if len(text) <= room:
            return text
        self.overflow()
        return text[: max(room - 3, 1)] + "..."

    def overflow(self) -> None:
        if not self.sharing and self.path:
            raise _TooLongError
        self.cut = True

    # -- containers

    def row(self, marks: str, value: Any, size: int, parts: Iterable[Any], room: int) -> str:
        """`marks` is opening and closing, e.g. '[]'; `parts` are callables room -> text."""
        half = len(marks) // 2
        opening, closing = marks[:half], marks[half:]
        if id(value) in self.path:
            return opening + "..." + closing
        if len(self.path) >= _PREVIEW_DEPTH:
            self.overflow()
            return f"{opening}... ({_items(size)}){closing}"
        self.path.append(id(value))
        try:
            shown = self.parts(size, parts, room - len(marks))
        finally:
            if self.path:
                self.path.pop()
        if len(shown) < size:
            self.overflow()
            shown.append(f"... ({_items(size)})")
        return opening + ", ".join(shown) + closing

    def parts(self, size: int, parts: Iterable[Any], room: int) -> list[str]:
        few = _FEW_ITEMS if size > _MANY_ITEMS else size
        if self.sharing:
            parts = itertools.islice(parts, few)
        shown: list[str] = []
        for part in parts:
            if room <= 0 and (shown or not self.sharing):
                if not self.sharing:
                    raise _TooLongError
                break
            share = max(room // 2 if self.sharing and size > 1 else room, 16)
            text = part(share)
            shown.append(text)
            room -= len(text) + 2
        if room < -2 and not self.sharing:
            raise _TooLongError
        return shown

    def items(self, values: Iterable[Any]) -> Iterator[Callable[[int], str]]:
        for value in values:
            yield self.item(value)

    def pairs(self, items: Iterable[tuple[Any, Any]]) -> Iterator[Callable[[int], str]]:
        for key, value in items:
            yield self.keyed(key, value)

    def item(self, value: Any) -> Callable[[int], str]:
        return lambda room: self.write(value, room)

    def keyed(self, key: Any, value: Any) -> Callable[[int], str]:
        return lambda room: self.pair(key, value, room)

    def second(self, values: tuple[Any, ...]) -> Iterator[Callable[[int], str]]:
        """A pair whose second item is masked."""
        self.masked = True
        yield self.item(values[0])
        yield lambda room: MASK

    def pair(self, key: Any, value: Any, room: int) -> str:
        name = self.write(key, max(room // 2, 16) if self.sharing else room)
        if hides(key, value):
            self.masked = True
            return name + ": " + MASK
        return name + ": " + self.write(value, max(room - len(name) - 2, 16))

    def fields(self, value: Any, plan: Plan, kind: str, room: int) -> str | None:
        """A namedtuple or dataclass whose repr was generated; None if it is not whole."""
        pairs = attempt(_field_values, value, plan, kind)
        if pairs is None:
            return None
        name = plan.name if kind == "namedtuple" else str(_QUALNAME(plan.cls))
        return name + self.named("()", value, pairs, room - len(name))

    def named(self, marks: str, value: Any, pairs: list[tuple[str, Any]], room: int) -> str:
        def part(name: str, item: Any) -> Callable[[int], str]:
            if hides(name, item):
                self.masked = True
                return lambda room: name + "=" + MASK
            return lambda room: name + "=" + self.write(item, max(room - len(name) - 1, 16))

        return self.row(marks, value, len(pairs), [part(n, v) for n, v in pairs], room)


def text_of(value: Any, plan: Plan, room: int) -> tuple[str, bool, bool]:
    """(text of about `room` characters, whether something was left out, or masked)."""
    if plan.quick and (plan.cls is not int or int.bit_length(value) < 64):
        return repr(value), False, False
    text = Text(room)
    return text.of(value), text.cut, text.masked


def _has_secret_columns(value: Any) -> bool:
    return any(hides(name, value) for name in value.columns)


def _items(size: int) -> str:
    return "1 item" if size == 1 else f"{size} items"


def _native_repr(value: Any, name: str) -> str:
    try:
        return exact(repr(value))
    except Interrupted:
        raise
    except BaseException as error:
        reason = exception_line(error)[:200]
        return f"<{name} object at 0x{id(value):x} (repr raised {reason})>"


def _generated_repr(plan: Plan) -> str | None:
    show = plan.show
    if type(show) is not types.FunctionType:
        return None
    if plan.family == "namedtuple":
        made = show.__code__.co_filename == collections.namedtuple.__code__.co_filename
        return "namedtuple" if made else None
    wrapped = show.__dict__.get("__wrapped__")
    made = type(wrapped) is types.FunctionType and wrapped.__code__.co_filename == "<string>"
    return "dataclass" if made and _lookup(plan.mro, "__dataclass_fields__") else None


def _field_values(value: Any, plan: Plan, kind: str) -> list[tuple[str, Any]]:
    if kind == "namedtuple":
        return list(zip(_lookup(plan.mro, "_fields"), tuple.__iter__(value)))  # noqa: B905
    own = dict(stored_attributes(value, plan))
    fields = _lookup(plan.mro, "__dataclass_fields__")
    kinds = ("_FIELD",)
    return [(n, own[n]) for n, f in fields.items() if f.repr and f._field_type.name in kinds]


def _write_str(text: Text, value: Any, plan: Plan, room: int) -> str:
    return _quoted(text, str.__len__(value), str.__getitem__, value, room)


def _write_bytes(text: Text, value: Any, plan: Plan, room: int) -> str:
    base = plan.base
    return _quoted(text, base.__len__(value), base.__getitem__, value, room)


def _quoted(text: Text, size: int, cut: Callable[..., Any], value: Any, room: int) -> str:
    """Room is for the characters; the quotes are on top."""
    count = min(size, room)
    shown = repr(cut(value, slice(0, count)))
    while count > 1 and len(shown) > room + 14:
        count = max(count * room // len(shown), 1)
        shown = repr(cut(value, slice(0, count)))
    if count == size:
        return shown
    text.overflow()
    end = 2 if shown[-1] == ")" else 1
    return shown[:-end] + "..." + shown[-end:]


def _write_int(text: Text, value: Any, plan: Plan, room: int) -> str:
    bits = int.bit_length(value)
    digits = bits * 30103 // 100000 + 1
    if digits < _INT_DIGITS - 1:
        shown = attempt(int.__repr__, value)
        if shown is not None:
            return text.limit(shown, room)
    text.overflow()
    head = int.__rshift__(abs(int.__index__(value)), bits - 64)
    sign = "-" if int.__lt__(value, 0) else ""
    return f"{sign}0x{head:x}... (about {digits} digits)"


def _write_list(text: Text, value: Any, plan: Plan, room: int) -> str:
    return text.row("[]", value, list.__len__(value), text.items(list.__iter__(value)), room)


def _write_tuple(text: Text, value: Any, plan: Plan, room: int) -> str:
    size = tuple.__len__(value)
    marks = "(,)" if size == 1 else "()"
    if size == 2 and hides_second(value, 1):
        return text.row(marks, value, size, text.second(value), room)
    return text.row(marks, value, size, text.items(tuple.__iter__(value)), room)


def _write_set(text: Text, value: Any, plan: Plan, room: int) -> str:
    size, name = plan.base.__len__(value), plan.name
    if not size:
        return name + "()"
    marks = "{}" if plan.cls is set else "({})"
    head = "" if plan.cls is set else name
    return head + text.row(marks, value, size, text.items(plan.base.__iter__(value)), room)


def _write_dict(text: Text, value: Any, plan: Plan, room: int) -> str:
    return text.row("{}", value, dict.__len__(value), text.pairs(_dict_items(value)), room)


def _write_ordered(text: Text, value: Any, plan: Plan, room: int) -> str:
    size = dict.__len__(value)
    if not size:
        return plan.name + "()"
    if sys.version_info >= (3, 12):
        return plan.name + text.row("({})", value, size, text.pairs(_dict_items(value)), room)
    return plan.name + text.row("([])", value, size, text.items(_dict_items(value)), room)


def _write_counter(text: Text, value: Any, plan: Plan, room: int) -> str:
    size = dict.__len__(value)
    if not size:
        return plan.name + "()"
    items: Iterable[tuple[Any, Any]] = dict.items(value)
    if size <= 1000 and all(type(count) is int for _, count in items):
        items = sorted(items, key=lambda item: item[1], reverse=True)
    return plan.name + text.row("({})", value, size, text.pairs(items), room)


def _write_default(text: Text, value: Any, plan: Plan, room: int) -> str:
    factory = collections.defaultdict.__dict__["default_factory"].__get__(value)
    head = f"{plan.name}({text.write(factory, 80)}, "
    return head + _write_dict(text, value, plan, room - len(head) - 1) + ")"


def _write_deque(text: Text, value: Any, plan: Plan, room: int) -> str:
    deque = collections.deque
    most = deque.__dict__["maxlen"].__get__(value)
    tail = ")" if most is None else f", maxlen={most})"
    inner = text.items(deque.__iter__(value))
    row = text.row("[]", value, deque.__len__(value), inner, room - len(plan.name) - len(tail))
    return plan.name + "(" + row + tail


def _write_array(text: Text, value: Any, plan: Plan, room: int) -> str:
    base = plan.base
    size, code = base.__len__(value), base.__dict__["typecode"].__get__(value)
    if not size or code in "uw":
        return text.limit(text.native(base.__getitem__(value, slice(0, room)), plan), room)
    items = (base.__getitem__(value, index) for index in range(size))
    return "{}({!r}, {})".format(
        plan.name,
        code,
        text.row("[]", value, size, text.items(items), room - 8),
    )


def _write_view(text: Text, value: Any, plan: Plan, room: int) -> str:
    items = text.items(plan.base.__iter__(value))
    return plan.name + text.row("([])", value, plan.base.__len__(value), items, room)


def _write_proxy(text: Text, value: Any, plan: Plan, room: int) -> str:
    items = attempt(lambda: iter(value.items()), default=())
    return plan.name + text.row(
        "({})", value, attempt(len, value, default=0), text.pairs(items), room
    )


def _write_environ(text: Text, value: Any, plan: Plan, room: int) -> str:
    items = attempt(lambda: list(value.items()), default=[])
    return "environ" + text.row("({})", value, len(items), text.pairs(items), room)


def _write_simple(text: Text, value: Any, plan: Plan, room: int) -> str:
    pairs = [(str(name), item) for name, item in stored_attributes(value, plan)]
    name = "namespace" if plan.cls is types.SimpleNamespace else plan.name
    return name + text.named("()", value, pairs, room)


def _write_exception(text: Text, value: Any, plan: Plan, room: int) -> str:
    arguments = _ARGS.__get__(value)
    return plan.name + text.row("()", value, len(arguments), text.items(arguments), room)


def _write_method(text: Text, value: Any, plan: Plan, room: int) -> str:
    name = attempt(lambda: str(value.__func__.__qualname__), default="?")
    return f"<bound method {name} of {text.write(value.__self__, max(room - 40, 16))}>"


_WRITERS: dict[int, Any] = {
    id(str.__repr__): _write_str,
    id(bytes.__repr__): _write_bytes,
    id(bytearray.__repr__): _write_bytes,
    id(int.__repr__): _write_int,
    id(list.__repr__): _write_list,
    id(tuple.__repr__): _write_tuple,
    id(set.__repr__): _write_set,
    id(frozenset.__repr__): _write_set,
    id(dict.__repr__): _write_dict,
    id(collections.OrderedDict.__repr__): _write_ordered,
    id(collections.Counter.__repr__): _write_counter,
    id(collections.defaultdict.__repr__): _write_default,
    id(collections.deque.__repr__): _write_deque,
    id(types.MappingProxyType.__repr__): _write_proxy,
    id(types.SimpleNamespace.__repr__): _write_simple,
    id(BaseException.__repr__): _write_exception,
    id(types.MethodType.__repr__): _write_method,
    id(type(os.environ).__repr__): _write_environ,
}
_WRITERS.update((id(view.__repr__), _write_view) for view in _VIEWS + _ODICT_VIEWS)


def learn_array() -> None:
    """array.array, once the program has it: a repr of its whole content is not for us."""
    module = sys.modules.get("array")
    found = module and module.__dict__.get("array")
    if type(found) is type:
        _WRITERS.setdefault(id(found.__repr__), _write_array)


# --------------------------------------------------------------------------- children of values


class Child(NamedTuple):
    name: str
    value: Any
    path: str | None  # what to append to the parent's expression
    key: Any = None


def _dict_items(value: Any) -> Any:
    """Items of a dict or a subclass in its own order, whatever it overrides."""
    if any(base is collections.OrderedDict for base in plan_of(value).mro):
        return collections.OrderedDict.items(value)
    return dict.items(value)


def content_size(value: Any, plan: Plan) -> tuple[int, int]:
    """(named, indexed) children that are content, not attributes."""
    family = plan.family
    if family in ("sequence", "iterable"):
        return 0, attempt(_length, value, plan, default=0)
    if family == "mapping":
        return dict.__len__(value), 0
    if family == "namedtuple":
        return tuple.__len__(value), 0
    if family in ("proxy", "row"):
        return attempt(len, value, default=0), 0
    if family == "dataframe":
        return attempt(lambda: len(value.columns), default=0), 0
    if family == "ndarray":
        return 0, attempt(_ndarray_length, value, plan, default=0)
    if family in ("series", "index"):
        return 0, attempt(len, value, default=0)
    return 0, 0


def _length(value: Any, plan: Plan) -> int:
    try:
        return int(plan.base.__len__(value))
    except OverflowError:  # a range longer than any index
        step = value.step
        steps = (value.stop - value.start + step - (1 if step > 0 else -1)) // step
        return max(0, int(steps))


def _ndarray_length(value: Any, plan: Plan) -> int:
    shape = plan.base.shape.__get__(value)
    return int(shape[0]) if shape else 0


def content_page(value: Any, plan: Plan, start: int, stop: int) -> list[Child]:
    """The content's children from start to stop, taken at the value, not from a copy."""
    family = plan.family
    if family == "mapping":
        return [_pair(key, item) for key, item in _slice_dict(value, start, stop)]
    if family == "proxy":
        return [_pair(k, v) for k, v in itertools.islice(value.items(), start, stop)]
    if family == "namedtuple":
        names = _lookup(plan.mro, "_fields")
        items = list(zip(names, tuple.__iter__(value)))[start:stop]  # noqa: B905
        return [Child(name, item, "." + name) for name, item in items]
    if family == "row":
        return [_pair(key, value[i]) for i, key in enumerate(value.keys())][start:stop]
    if family == "dataframe":
        columns = range(start, stop)
        return [_pair(value.columns[i], value.iloc[:, i]) for i in columns]
    if family == "series":
        indices = range(start, stop)
        return [Child(_key(value.index[i]), value.iloc[i], f".iloc[{i}]", i) for i in indices]
    if family == "iterable":
        items = list(itertools.islice(plan.base.__iter__(value), start, stop))
        path = plan.base is collections.deque
    else:
        items = [plan.base.__getitem__(value, index) for index in range(start, stop)]
        path = True
    return [
        Child(str(i), item, f"[{i}]" if path else None, i) for i, item in enumerate(items, start)
    ]


def _slice_dict(value: Any, start: int, stop: int) -> list[tuple[Any, Any]]:
    size, items = dict.__len__(value), _dict_items(value)
    if start <= size // 2:
        return list(itertools.islice(items, start, stop))
    stop = min(stop, size)
    return list(itertools.islice(reversed(items), size - stop, size - start))[::-1]


def _pair(key: Any, value: Any) -> Child:
    literal = type(key) in (str, int, bool, float, bytes, type(None))
    name = _key(key)
    return Child(name, value, f"[{name}]" if literal and len(name) <= 200 else None, key)


def _key(key: Any) -> str:
    return Text(200).of(key)


def stored_attributes(value: Any, plan: Plan) -> list[tuple[Any, Any]]:
    """Attributes that are stored, never computed: (name, value), in order of definition."""
    if plan.family == "enum":
        own = own_dict(value, plan)
        return [("name", own.get("_name_")), ("value", own.get("_value_"))]
    extra = _extras(value, plan)
    own = own_dict(value, plan)
    if plan.family in ("module", "class"):
        return _dunder_last([(k, v) for k, v in list(own.items()) if k != "__builtins__"]) + extra
    found = extra + list(dict.items(own))
    for name, member in plan.members:
        try:
            found.append((name, member.__get__(value, plan.cls)))
        except AttributeError:
            continue  # a slot without a value
    return found


def own_dict(value: Any, plan: Plan) -> Any:
    own = None
    if plan.dictionary is not None:
        own = attempt(plan.dictionary.__get__, value)
    elif _FLAGS(plan.cls) & _HEAP_TYPE and _lookup(plan.mro, "__dict__") is not None:
        own = attempt(_hidden_dict, value)
    return {} if own is None else own


def _hidden_dict(value: Any) -> Any:
    """The `__dict__` of a class that put something else under that name."""
    import ctypes

    kind = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.c_void_p)
    return kind(("PyObject_GenericGetDict", ctypes.pythonapi))(ctypes.py_object(value), None)


def _extras(value: Any, plan: Plan) -> list[tuple[Any, Any]]:
    family = plan.family
    if family == "exception":
        links = [
            (n, BaseException.__dict__[n].__get__(value)) for n in ("__cause__", "__context__")
        ]
        return [("args", _ARGS.__get__(value))] + [pair for pair in links if pair[1] is not None]
    if family == "function":
        return _function_attributes(value)
    if family == "method":
        return [("__self__", value.__self__), ("__func__", value.__func__)]
    if family == "class":
        return [("__bases__", type.__dict__["__bases__"].__get__(value))]
    if family == "suspended":
        return _suspended_locals(value, plan)
    if family == "weak":
        return [("referent", weakref.ref.__call__(value))]
    if family == "cell":
        return attempt(lambda: [("cell_contents", value.cell_contents)], default=[])  # type: ignore[no-any-return]
    if family == "dataframe":
        return [("index", value.index), ("dtypes", value.dtypes), ("shape", value.shape)]
    if family == "ndarray":
        return [(name, getattr(plan.base, name).__get__(value)) for name in ("shape", "dtype")]
    return []


def _function_attributes(value: Any) -> list[tuple[Any, Any]]:
    found = [(name, getattr(value, name, None)) for name in _FUNCTION_ATTRIBUTES]
    closure = zip(value.__code__.co_freevars, value.__closure__ or ())  # noqa: B905
    found += [("__closure__", dict(closure))] if value.__closure__ else []
    return [pair for pair in found if pair[1] is not None]


def _suspended_locals(value: Any, plan: Plan) -> list[tuple[Any, Any]]:
    prefix = {"generator": "gi", "coroutine": "cr"}.get(plan.base.__name__, "ag")
    frame = getattr(plan.base, prefix + "_frame").__get__(value)
    return [] if frame is None else local_items(frame)


def _dunder_last(items: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    return sorted(items, key=lambda item: type(item[0]) is str and is_dunder(item[0]))


def attribute_count(value: Any, plan: Plan) -> int:
    if plan.family in ("scalar", "text", "bytes") and not plan.members and plan.dictionary is None:
        return 0
    if plan.family != "object" or plan.members:
        return len(attempt(stored_attributes, value, plan, default=()))
    return len(own_dict(value, plan))


def attribute_child(name: Any, value: Any) -> Child:
    if type(name) is str and name.isidentifier():
        return Child(name, value, "." + name, name)
    return Child(exact(name) if type(name) is str else _key(name), value, None, name)


_ARTEFACTS = frozenset(
    ("__pydevd_ret_val_dict", "__exception__", "__builtins__", "_pydev_stop_at_break", "__class__")
)


def items_of(namespace: Any) -> list[tuple[Any, Any]]:
    if any(base is dict for base in mro_of(type(namespace))):
        return list(dict.items(namespace))
    return [(name, namespace[name]) for name in list(namespace.keys())]


def local_items(frame: Any) -> list[tuple[Any, Any]]:
    """(name, value) in the order of definition, without the debugger's own."""
    found = [(n, v) for n, v in items_of(frame.f_locals) if n not in _ARTEFACTS and n[:1] != "."]
    code = frame.f_code
    names = getattr(code, "co_varnames", ()) + getattr(code, "co_cellvars", ())
    names += getattr(code, "co_freevars", ())
    if names:
        order = {name: index for index, name in reversed(list(enumerate(names)))}
        found.sort(key=lambda item: order.get(item[0], len(order)))
    return _dunder_last(found)


def global_items(frame: Any) -> list[tuple[Any, Any]]:
    return _dunder_last([(n, v) for n, v in items_of(frame.f_globals) if n not in _ARTEFACTS])
