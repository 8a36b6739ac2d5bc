"""Types, asked in place of their objects: a type's name, its bases, and the family of its instances.

Reads what `type` itself stores, past any metaclass and property, so no code of the program runs.
Refuses to look into a value.
"""

from __future__ import annotations

import collections
import os
import types
import weakref
from typing import Any, NamedTuple

mro_of = type.__dict__["__mro__"].__get__
namespace_of = type.__dict__["__dict__"].__get__
name_of = type.__dict__["__name__"].__get__
qualname_of = type.__dict__["__qualname__"].__get__
module_of = type.__dict__["__module__"].__get__
flags_of = type.__dict__["__flags__"].__get__
_size_of = type.__dict__["__basicsize__"].__get__
_PLACES_OUTSIDE = [type.__dict__[n].__get__ for n in ("__dictoffset__", "__weakrefoffset__")]
_EMPTY, _POINTER = _size_of(object), _size_of(object) // 2  # bytes: a count and a type
_HEAP_TYPE = 1 << 9
DATA_DESCRIPTORS = (types.MemberDescriptorType, types.GetSetDescriptorType)
VIEWS: tuple[Any, ...] = (
    type({}.keys()),
    type({}.values()),
    type({}.items()),
    type(collections.OrderedDict().keys()),
    type(collections.OrderedDict().values()),
)

# Family of a value, by the id of the builtin base found first on its MRO. The ids are safe:
# none of these types is ever freed, and no metaclass is asked for a hash.
_BASES: dict[str, tuple[type, ...]] = {
    "scalar": (int, float, complex, type(None), type(...), type(NotImplemented)),
    "text": (str,),
    "bytes": (bytes, bytearray),
    "sequence": (list, tuple, range, memoryview),
    "iterable": (set, frozenset, collections.deque, *VIEWS),
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
# Types of modules that the program may not have: recognised by name, never imported.
_BY_NAME = {
    ("array", "array"): "sequence",
    ("sqlite3", "Row"): "row",
    ("sqlalchemy", "Row"): "row",
    ("numpy", "ndarray"): "ndarray",
    ("pandas", "DataFrame"): "dataframe",
    ("pandas", "Series"): "series",
    ("pandas", "Index"): "index",
    ("polars", "DataFrame"): "dataframe",
    ("polars", "Series"): "series",
}


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
        lookup(mro, "__repr__"),
        cls is bool or _FAMILIES.get(id(cls)) == "scalar",
    )


def _family(mro: tuple[type, ...]) -> tuple[str, Any]:
    if any(name_of(base) == "Enum" and module_of(base) == "enum" for base in mro):
        return "enum", mro[0]
    if lookup(mro, "_fields") is not None and any(base is tuple for base in mro):
        return "namedtuple", tuple
    for base in mro:
        family = _FAMILIES.get(id(base))
        if family is None and not namespace_of(base).get("__slots__"):
            root = str(module_of(base)).partition(".")[0]
            family = _BY_NAME.get((root, name_of(base)))
        if family is not None:
            return family, base
    return "object", object


def _dictionary(cls: type) -> Any:
    """The descriptor of the true `__dict__`; a property of that name is a lie."""
    found = namespace_of(cls).get("__dict__")
    return found if type(found) in DATA_DESCRIPTORS else None


def _members(mro: tuple[type, ...], family: str) -> list[tuple[str, Any]]:
    """Slots, and what C types keep in their structs. Reading them runs no code."""
    plain = family in ("object", "exception")
    members: dict[str, Any] = {}
    for cls in mro:
        if plain or is_heap_type(cls):
            for name, found in namespace_of(cls).items():
                if type(found) is types.MemberDescriptorType and not is_dunder(name):
                    members.setdefault(name, found)
    return list(members.items())


def keeps_more(plan: Plan) -> bool:
    """Whether an object that is of no builtin type may keep what neither its dict nor a member has.

    So do objects of types in C, as an iterator its place: there is more of them than their members.
    """
    known = len(plan.members) + sum(place(plan.cls) > 0 for place in _PLACES_OUTSIDE)
    return bool(_size_of(plan.cls) > _EMPTY + known * _POINTER)


def lookup(mro: tuple[type, ...], name: str) -> Any:
    """What the class has under the name, as it is stored: no descriptor is asked."""
    for cls in mro:
        namespace = namespace_of(cls)
        if name in namespace:
            return namespace[name]
    return None


def is_heap_type(cls: type) -> bool:
    """Whether it was made at run time: by a `class` statement, or by C code that does alike."""
    return bool(flags_of(cls) & _HEAP_TYPE)


def is_class(value: Any) -> bool:
    """Whether it is a class, asked of its type."""
    return type in mro_of(type(value))


def is_dunder(name: str) -> bool:
    return name[:2] == "__" == name[-2:] and len(name) > 4


def exact(text: str) -> str:
    return text if type(text) is str else str.__str__(text)


def full_name(cls: type) -> str:
    module = module_of(cls)
    if module in ("builtins", "__main__") or type(module) is not str:
        return str(qualname_of(cls))
    return f"{module}.{qualname_of(cls)}"


def is_c_method(value: Any) -> bool:
    return any(
        base in (types.BuiltinMethodType, types.MethodWrapperType) for base in mro_of(type(value))
    )


def dunders_last(items: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    return sorted(items, key=lambda item: type(item[0]) is str and is_dunder(item[0]))
