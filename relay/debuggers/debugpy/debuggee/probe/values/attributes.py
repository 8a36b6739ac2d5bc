"""Attributes that are stored, never computed: of instances, classes, modules, and Python's own types.

No property runs, and no `__getattr__`. Refuses to know what a value contains beside them.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.namespaces import local_items
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.types import (
        Plan,
        dunders_last,
        is_heap_type,
        lookup,
    )

arguments_of: Any = BaseException.__dict__["args"].__get__
cause_of: Any = BaseException.__dict__["__cause__"].__get__
context_of: Any = BaseException.__dict__["__context__"].__get__
is_context_suppressed: Any = BaseException.__dict__["__suppress_context__"].__get__
_FUNCTION_ATTRIBUTES = ("__qualname__", "__module__", "__doc__", "__defaults__", "__kwdefaults__")


def stored_attributes(value: Any, plan: Plan) -> list[tuple[Any, Any]]:
    """Attributes that are stored, never computed: (name, value), in order of definition."""
    if plan.family == "enum":
        own = own_dict(value, plan)
        return [("name", own.get("_name_")), ("value", own.get("_value_"))]
    extra = _extras(value, plan)
    own = own_dict(value, plan)
    if plan.family in ("module", "class"):
        return dunders_last([(k, v) for k, v in list(own.items()) if k != "__builtins__"]) + extra
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
    elif is_heap_type(plan.cls) and lookup(plan.mro, "__dict__") is not None:
        own = attempt(_hidden_dict, value)
    return {} if own is None else own


def own_slots(value: Any, plan: Plan) -> list[tuple[str, Any]]:
    """What is kept in the `__slots__` of classes: those that have a value."""
    found = []
    for name, member in plan.members:
        if is_heap_type(member.__objclass__):
            try:
                found.append((name, member.__get__(value, plan.cls)))
            except AttributeError:
                continue
    return found


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
        return [("args", arguments_of(value))] + [pair for pair in links if pair[1] is not None]
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
        names = ("index", "dtypes", "shape")
        return [(name, getattr(value, name)) for name in names if hasattr(plan.base, name)]
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


def attribute_count(value: Any, plan: Plan) -> int:
    if plan.family in ("scalar", "text", "bytes") and not plan.members and plan.dictionary is None:
        return 0
    if plan.family != "object" or plan.members:
        return len(attempt(stored_attributes, value, plan, default=()))
    return len(own_dict(value, plan))
