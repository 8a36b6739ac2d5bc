"""What the program's own code computes, where an expression seems to name a place that holds a value.

Knows how types may override attribute and item lookup. Refuses, with who computes the value and
what that reads; runs none of that code.
"""

from __future__ import annotations

import ast
import collections
import gc
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import attributes_stored_by
    from relay.debuggers.debugpy.debuggee.probe.frames.state_targets import (
        OwnerPart,
        fills_when_read,
        is_local_to_thread,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.static_lookup import (
        Computed,
        resolve_stored,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import TroubleError, attempt
    from relay.debuggers.debugpy.debuggee.probe.values.types import (
        flags_of,
        is_heap_type,
        lookup,
        mro_of,
        name_of,
        namespace_of,
        plan_of,
    )

_COUNTING = collections.Counter.__dict__["__missing__"]  # 0, until the item is there
_COLLECTED, _MANAGED_DICT = 1 << 14, 1 << 4  # of a type's flags
_MOST_LOOKED_AT = 100
_NOT_SET = object()
_BEHIND_PROXY = "_get_current_object"


def unwatchable(reason: str) -> TroubleError:
    return TroubleError("unwatchable", reason)


def refuse_made_anew(part: OwnerPart, node: Any, frame: Any) -> None:
    """Refuse what lies in an object that the expression makes each time: nothing else ever writes there.

    node: what the part is in the expression.
    """
    made_here = OwnerPart(object(), part.source)
    if sys.getrefcount(part.value) > sys.getrefcount(made_here.value):
        return
    what = f"a new {name_of(type(part.value))} each time"
    found = attempt(resolve_stored, node, frame)
    if isinstance(node, ast.Attribute) and type(found) is Computed:
        owner = resolve_stored(node.value, frame)
        who = (
            f"{plan_of(owner).name}.{node.attr} is computed by a {name_of(type(found.descriptor))}"
        )
        read = places_read_by(found.descriptor, owner, part.source.rpartition(".")[0])
        reads = f": watch what it reads, {read}" if read else ""
        raise unwatchable(f"{who}, which makes {what}{reads}")
    raise unwatchable(f"{part.source} is {what}: name what it is made of")


def places_read_by(found: Any, owner: Any, source: str) -> str:
    """The attributes that the object stores and the code of a property names, as expressions; with those
    of its other properties that are named there."""
    return ", ".join(f"{source}.{name}" for name in _attributes_read_by(found, owner))


def _attributes_read_by(found: Any, owner: Any, depth: int = 3) -> dict[str, None]:
    code = getattr(found.fget, "__code__", None) if type(found) is property else None
    stored, mro = _dict_of(owner), plan_of(owner).mro
    read: dict[str, None] = {}
    for name in getattr(code, "co_names", ()):
        of_class = lookup(mro, name)
        if name in stored or type(of_class) is types.MemberDescriptorType:
            read[name] = None
        elif depth and type(of_class) is property:
            read.update(_attributes_read_by(of_class, owner, depth - 1))
    return read


# Attributes


def refuse_own_getattribute(part: OwnerPart, name: str, text: str) -> None:
    """Refuse each attribute of an object whose type has a `__getattribute__` in Python."""
    mro = plan_of(part.value).mro
    if isinstance(lookup(mro, "__getattribute__"), types.WrapperDescriptorType):
        return  # C code's: nearly every type has the plain one, under its own name
    reason = f"{_who(mro, '__getattribute__')} computes {text}"
    if name in _dict_of(part.value):
        raise unwatchable(f"{reason}; watch what is kept: {part.source}.__dict__[{name!r}]")
    raise _computed(reason, place_read(part, name))


def refuse_own_getattr(part: OwnerPart, name: str, text: str, space: Any = None) -> None:
    """Refuse what is not stored, where the type has a `__getattr__`.

    space: of a module, whose function of that name is asked first.
    """
    mro = plan_of(part.value).mro
    if space is not None and "__getattr__" in space:
        who = f"{part.source}.__getattr__"
    elif lookup(mro, "__getattr__") is not None:
        who = f"{plan_of(part.value).name}.__getattr__"
    else:
        return
    read = place_read(part, name)
    if not read and space is None and _will_store(mro, name):
        return  # only until then it is asked
    raise _computed(f"{text} is not stored: {who} computes it", read)


def _will_store(mro: tuple[type, ...], name: str) -> bool:
    """Whether a method binds an attribute of this name, which Python then stores."""
    if type(lookup(mro, "__setattr__")) is not types.WrapperDescriptorType:
        return False
    members = [found for cls in mro for found in list(namespace_of(cls).values())]
    codes = [found.__code__ for found in members if type(found) is types.FunctionType]
    return any(name in code.co_names and name in attributes_stored_by(code) for code in codes)


def refuse_looked_up(part: OwnerPart, found: Any, name: str) -> None:
    """Refuse what a descriptor in the class computes by Python code, as Django's cached properties.

    One that names `__dict__` keeps what it has computed there, from where it is read next time.
    """
    get = lookup(mro_of(type(found)), "__get__")
    if isinstance(get, types.FunctionType):
        who = f"{plan_of(part.value).name}.{name} is computed by a {name_of(type(found))}"
        keeps = "__dict__" in get.__code__.co_names
        kept = f", or what it keeps: {part.source}.__dict__[{name!r}]" if keeps else ""
        raise unwatchable(f"{who}; watch what it reads{kept}")


def refuse_unwatchable_dict(
    part: OwnerPart, name: str, text: str, own: Any, is_of_class: bool
) -> None:
    """Refuse an attribute of an object that has no plain `__dict__`."""
    owner, kind = part.value, plan_of(part.value).name
    refuse_local_to_thread(part, name)
    if own is not None and dict in mro_of(type(own)):
        where = f"; watch {part.source}[{name!r}]" if own is owner else ""
        raise unwatchable(
            f"The attributes of this {kind} are kept in a {name_of(type(own))},"
            f" where they cannot be watched as attributes{where}"
        )
    if not is_of_class:
        refuse_own_getattr(part, name, text)
    raise unwatchable(f"An object of type {kind} keeps no attribute {name} where it can be watched")


def refuse_local_to_thread(part: OwnerPart, name: str) -> None:
    """Refuse an attribute of a `threading.local`, also of a subclass, which has a dict beside that."""
    if is_local_to_thread(part.value):
        raise unwatchable(
            f"The attributes of a threading.local are kept for each thread apart, by C code:"
            f" this thread's is {part.source}.__dict__[{name!r}]"
        )


def refuse_borrowed_dict(part: OwnerPart, name: str, text: str, own: Any) -> None:
    """Refuse attributes of a proxy whose `__dict__` is that of the object that it stands for."""
    if not is_borrowed_dict(part.value, own):
        return
    wrapped = lookup(plan_of(part.value).mro, "__wrapped__") is not None
    where = f"{part.source}.__wrapped__.{name}" if wrapped else ""
    raise _computed(f"The `__dict__` behind {text} is that of another object", where)


def is_borrowed_dict(owner: Any, own: Any) -> bool:
    """Whether what the object shows as its `__dict__` is not its own."""
    flags = flags_of(type(owner))
    if flags & _MANAGED_DICT or not flags & _COLLECTED:
        return False  # its dict is the interpreter's matter; or nothing is known of what it holds
    return not any(one is own for one in gc.get_referents(owner))


def _computed(reason: str, read: str) -> TroubleError:
    return unwatchable(f"{reason}; watch what it reads" + (f": {read}" if read else ""))


def _who(mro: tuple[type, ...], method: str) -> str:
    cls = next(one for one in mro if method in namespace_of(one))
    return f"{name_of(cls)}.{method}"


def place_read(part: OwnerPart, name: str) -> str:
    """Where the object keeps what goes by the name: a dict that it has, or another object.

    What stands behind a proxy of werkzeug's, such as `flask.g`, is known to a function of the proxy.
    """
    held = list(_values_held_by(part.value))
    if any(attribute == _BEHIND_PROXY for attribute, _ in held):
        return f"{part.source}.{_BEHIND_PROXY}().{name}"
    for attribute, value in held:
        if type(value) is dict and name in value:
            return f"{part.source}.{attribute}[{name!r}]"
    for attribute, value in held:
        if name in _dict_of(value):
            return f"{part.source}.{attribute}.{name}"
    return ""


def place_named(part: OwnerPart, found: Any) -> str:
    """The attribute of the object that a descriptor knows by its name, as `_price` of one for `price`."""
    stored = _dict_of(part.value)
    names = {name for name in _dict_of(found).values() if type(name) is str and name in stored}
    return f"{part.source}.{names.pop()}" if len(names) == 1 else ""


def place_of_item(part: OwnerPart, key: Any) -> str:
    """Where the object has an item of this key, in a dict or list of its own; empty if that is not known."""
    if type(key) not in (str, int, bytes):
        return ""
    held = [one for one in _values_held_by(part.value) if type(one[1]) in (dict, list)]
    places = [
        f"{part.source}.{attribute}[{key!r}]"
        for attribute, value in held
        if (key in value if type(value) is dict else type(key) is int and 0 <= key < len(value))
    ]
    return places[0] if len(places) == 1 else ""


def _values_held_by(owner: Any) -> Iterator[tuple[str, Any]]:
    for cls in filter(is_heap_type, plan_of(owner).mro):
        for name, found in namespace_of(cls).items():
            if type(found) is types.MemberDescriptorType:
                value = attempt(found.__get__, owner, default=_NOT_SET)
                if value is not _NOT_SET:
                    yield name, value
    own = _dict_of(owner)
    if len(own) <= _MOST_LOOKED_AT:
        yield from [(name, value) for name, value in own.items() if type(name) is str]


def _dict_of(owner: Any) -> dict[str, Any]:
    dictionary = plan_of(owner).dictionary
    own = attempt(dictionary.__get__, owner) if dictionary is not None else None
    return own if type(own) is dict else {}


# Items


def refuse_own_getitem(part: OwnerPart, text: str, base: type) -> None:
    """Refuse items of a dict or list whose type looks them up its own way."""
    mro = mro_of(type(part.value))
    if lookup(mro, "__getitem__") is base.__dict__["__getitem__"]:
        return
    reason = f"{_who(mro, '__getitem__')} computes {text}, which need not be the item kept there"
    if isinstance(lookup(mro, "__setitem__"), types.FunctionType):
        raise unwatchable(f"{reason}; a breakpoint in {_who(mro, '__setitem__')} sees it written")
    raise _computed(reason, "")


def refuse_missing(part: OwnerPart, key: Any, text: str) -> None:
    """Refuse an item that is not there, where the type has a `__missing__` in Python."""
    found = lookup(mro_of(type(part.value)), "__missing__")
    if found is None or found is _COUNTING or fills_when_read(part.value):
        return
    if not dict.__contains__(part.value, key):
        who = _who(mro_of(type(part.value)), "__missing__")
        raise _computed(f"{text} is not there: {who} computes it", "")
