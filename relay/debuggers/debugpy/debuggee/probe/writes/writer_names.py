"""Names of functions that write a state, where no instruction says so: of namespaces and containers.

A line that names none of them needs no look for what it calls.
"""

from __future__ import annotations

import functools
import operator
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from relay.debuggers.debugpy.debuggee.probe.failures.own_code import is_installed
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import facts_of
    from relay.debuggers.debugpy.debuggee.probe.frames.frame_memory import variables_at_start
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        is_debugger_file,
        stands_still,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt

_MOST_PATHS = 2_000  # of files, of which it is known whether they are a library's
DESCRIPTOR_WRITERS = frozenset(("__set__", "__delete__"))
"""Methods of a slot, as its class has it, that are given the object first."""
SETTERS = frozenset(("setattr", "delattr", "__setattr__", "__delattr__")) | DESCRIPTOR_WRITERS
"""A name that has "setattr" in it counts, too: code that libraries generate calls these by others."""
NAMESPACES = frozenset(("__dict__", "vars", "globals", "locals", "__globals__", "f_globals"))
"""Not writers themselves: they give the dict that is written then."""
DICT_WRITERS = frozenset(
    ("update", "setdefault", "pop", "popitem", "clear", "__setitem__", "__delitem__", "__ior__")
) | frozenset(("__init__", "setitem", "delitem", "ior", "_count_elements"))
LIST_WRITERS = (
    frozenset(("append", "insert", "pop", "remove", "sort", "reverse", "extend", "clear"))
    | frozenset(("__setitem__", "__delitem__", "__iadd__", "__imul__"))
    | frozenset(("shuffle", "heappush", "heappop", "heapify", "heapreplace", "heappushpop"))
    | frozenset(("insort", "insort_left", "insort_right"))
    | frozenset(("__init__", "setitem", "delitem", "iadd", "imul", "iconcat"))
)
"""Methods, and functions of the standard library that are given the dict or list first."""


def names_setter(name: str) -> bool:
    """Whether a variable or function of this name may set attributes."""
    return "setattr" in name or name in SETTERS


C_CALLABLES = (
    types.BuiltinFunctionType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
)


def names_of_calls(kind: str) -> frozenset[str]:
    """What a state of this kind is written by, where a call writes it."""
    if kind == "item":
        return DICT_WRITERS
    return LIST_WRITERS if kind == "list_item" else SETTERS


def is_writer_in_c(value: Any, kind: str) -> bool:
    """Whether it is a function in C that writes such states, or a `partial` of one."""
    function = value.func if type(value) is functools.partial else value
    if type(function) is operator.methodcaller:
        made: Any = function.__reduce__()
        return made[0] is not operator.methodcaller or made[1][0] in names_of_calls(kind)
    if type(function) not in C_CALLABLES:
        return False
    name = function.__name__
    if name == "__get__":  # of what is a writer once it is bound
        return is_writer_in_c(getattr(function, "__self__", None), kind)
    is_of_dict = name in DICT_WRITERS and type(getattr(function, "__self__", None)) is dict
    return name in names_of_calls(kind) or (is_of_dict and kind in ("attribute", "global"))


def names_bound_to_writers(frame: Any, kind: str) -> frozenset[str]:
    """The names in the code of a frame that begins which stand for a writer, whatever they are.

    So `_set` where the module has `_set = object.__setattr__`, a closure's variable, a default.
    Of a frame that another thread runs meanwhile only names of the module are known.
    """
    space, code = frame.f_globals, frame.f_code
    values = [(name, dict.get(space, name)) for name in code.co_names]
    if stands_still(frame):
        values += variables_at_start(frame).items()
    return frozenset(name for name, value in values if is_writer_in_c(value, kind))


def may_hand_on(code: Any) -> bool:
    """Whether whatever this code gives to others counts as handed on: that of the program does.

    Libraries look into namespaces, and pass on what they find there, but seldom write by it.
    """
    return _may_path_hand_on(code.co_filename)


@functools.lru_cache(_MOST_PATHS)
def _may_path_hand_on(path: str) -> bool:
    return path[:1] != "<" and not is_installed(path)


_OWN_PROXIES = (
    ("werkzeug", "local.py"),
    ("django", "utils", "functional.py"),
)


def gives_to_own_proxies(code: Any) -> bool:
    """Whether what this code gives away serves statements only that name the proxy, as `proxy.n = 1`."""
    parts = code.co_filename.replace("\\", "/").split("/")
    return any(tuple(parts[-len(file) :]) == file for file in _OWN_PROXIES)


def hands_on_namespace(found: list[Any]) -> bool:
    """Whether other code may be given the dict of an object or module by this one.

    Not by `vars(o).items()`, `o.__dict__[name]`, or `name in locals()`, which pytest writes into the
    asserts of each test. found: the code's instructions, as `dis` lists them.
    """
    return any(
        place is None or not _uses_at_once(*found[place + 1 : place + 3])
        for place in _namespaces_got(found)
    )


def _namespaces_got(found: list[Any]) -> Iterator[int | None]:
    """Behind which instructions such a dict lies on top of the stack. None for one that is got where nobody
    sees it: the function that gives it goes elsewhere, or which call is its own is not plain."""
    arguments: int | None = None  # on the stack, of a call that is to give one
    for place, one in enumerate(found):
        named = one.argval if one.opname.startswith("LOAD_") else None
        if named.__class__ is str and named in NAMESPACES:
            is_called = named in _CALLED_FOR_NAMESPACE
            arguments = 0 if is_called else None
            if not is_called:
                yield place
        elif arguments is not None:
            if one.opname.startswith(_BEFORE_CALL):
                arguments += _loaded_by(one)
                continue
            yield place if one.opname in _CALL_OPERATIONS and one.arg == arguments else None
            arguments = None


def _loaded_by(one: Any) -> int:
    if not one.opname.startswith("LOAD_") or one.opname in ("LOAD_ATTR", "LOAD_METHOD"):
        return 0
    return len(one.argval) if type(one.argval) is tuple and "_LOAD_" in one.opname else 1


def _uses_at_once(first: Any, second: Any = None) -> bool:
    """Whether the instructions behind a value take it for nothing but its attributes, items, or keys."""
    if first.opname.startswith(("LOAD_ATTR", "LOAD_METHOD", "GET_ITER", "POP_TOP")):
        return True
    if first.opname == "CONTAINS_OP":
        return True
    if first.opname == "COMPARE_OP":  # of `in`, before 3.9
        return first.argval in ("in", "not in")
    return (
        first.opname in _LOADS_OF_KEYS and second is not None and second.opname in _KEY_OPERATIONS
    )


_CALLED_FOR_NAMESPACE = ("vars", "globals", "locals")
_CALL_OPERATIONS = ("CALL", "CALL_FUNCTION", "CALL_METHOD")
_BEFORE_CALL = ("LOAD_", "PUSH_NULL", "PRECALL", "EXTENDED_ARG")
_LOADS_OF_KEYS = ("LOAD_CONST", "LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_NAME", "LOAD_DEREF")
_KEY_OPERATIONS = ("BINARY_SUBSCR", "STORE_SUBSCR", "DELETE_SUBSCR")


def hands_on(code: Any) -> bool:
    """The same of a code of the program, as far as it is looked at."""
    if NAMESPACES.isdisjoint(code.co_names) or not may_hand_on(code):
        return False
    if is_debugger_file(code.co_filename):
        return False
    return bool(attempt(lambda: hands_on_namespace(facts_of(code)[0]), default=True))


def may_replace_namespace(code: Any) -> bool:
    """Whether it may give an object another `__dict__`, whose own may live on: who watches that hears nothing."""
    names = code.co_names
    if "__dict__" in code.co_consts and any(map(names_setter, names)):
        return True
    if "__dict__" not in names or is_debugger_file(code.co_filename):
        return False
    return any(
        one.argval == "__dict__" and one.opname in ("STORE_ATTR", "DELETE_ATTR")
        for one in facts_of(code)[0]
    )


def aliases_of(found: list[Any], is_writer: Callable[[str], bool]) -> frozenset[str]:
    """The variables that a code gives a writer to, such as `add` by `add = self.items.append`.

    One that is given a `partial` of a writer counts, too. found: the code's instructions, as `dis`
    lists them.
    """
    aliases: set[str] = set()
    in_partial = takes_writer = False
    for one, after in zip(found, found[1:]):  # noqa: B905, RUF007
        is_load = one.opname.startswith("LOAD_") and one.argval.__class__ is str
        in_partial = in_partial or (is_load and one.argval == "partial")
        if is_load and is_writer(one.argval):
            takes_writer = takes_writer or in_partial
            if _keeps(after):
                aliases.add(_kept_as(after))
        elif _keeps(one):
            if takes_writer:
                aliases.add(_kept_as(one))
            in_partial = takes_writer = False
    return frozenset(aliases)


def _keeps(one: Any) -> bool:
    return one.opname.startswith("STORE_") and one.argval is not None


def _kept_as(store: Any) -> str:
    return str(store.argval[0] if type(store.argval) is tuple else store.argval)
