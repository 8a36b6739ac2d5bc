"""How Python's own types are written: one function for each `__repr__` that is known.

A writer reads as the builtin base does, whatever a subclass overrides, and hands its items back to
the text, which has the budget.
"""

from __future__ import annotations

import collections
import os
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.attributes import (
        arguments_of,
        stored_attributes,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.contents import dict_items
    from relay.debuggers.debugpy.debuggee.probe.values.credentials import LONGEST_OPEN
    from relay.debuggers.debugpy.debuggee.probe.values.secrets import clean_text, hides_second
    from relay.debuggers.debugpy.debuggee.probe.values.text import WRITERS, Text
    from relay.debuggers.debugpy.debuggee.probe.values.types import VIEWS, Plan

_INT_DIGITS = 4300
_ORDERED_AS_DICT = sys.version_info >= (3, 12)


def _write_str(text: Text, value: Any, plan: Plan, room: int) -> str:
    return _quoted(text, *_cleaned(text, value, str, room), room)


def _write_bytes(text: Text, value: Any, plan: Plan, room: int) -> str:
    return _quoted(text, *_cleaned(text, value, plan.base, room), room)


def _cleaned(text: Text, value: Any, base: Any, room: int) -> tuple[int, Callable[..., Any], Any]:
    """Size, how to cut, and what: the value, or as much as is shown of it without credentials."""
    size = base.__len__(value)
    head = base.__getitem__(value, slice(0, room + LONGEST_OPEN))
    cleaned = clean_text(head)
    if cleaned is head:
        return size, base.__getitem__, value
    text.masked = True
    return size - len(head) + len(cleaned), base.__getitem__, cleaned


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
    return text.row("{}", value, dict.__len__(value), text.pairs(dict_items(value)), room)


def _write_ordered(text: Text, value: Any, plan: Plan, room: int) -> str:
    size = dict.__len__(value)
    if not size:
        return plan.name + "()"
    if _ORDERED_AS_DICT:
        return plan.name + text.row("({})", value, size, text.pairs(dict_items(value)), room)
    return plan.name + text.row("([])", value, size, text.items(dict_items(value)), room)


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
    arguments = arguments_of(value)
    return plan.name + text.row("()", value, len(arguments), text.items(arguments), room)


def _write_method(text: Text, value: Any, plan: Plan, room: int) -> str:
    name = attempt(lambda: str(value.__func__.__qualname__), default="?")
    return f"<bound method {name} of {text.write(value.__self__, max(room - 40, 16))}>"


_REPRS_OF_PYTHON: dict[int, Any] = {
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
WRITERS.update(_REPRS_OF_PYTHON)
WRITERS.update((id(view.__repr__), _write_view) for view in VIEWS)


def learn_array() -> None:
    """array.array, once the program has it: a repr of its whole content is not for us."""
    module = sys.modules.get("array")
    found = module and module.__dict__.get("array")
    if type(found) is type:
        WRITERS.setdefault(id(found.__repr__), _write_array)
