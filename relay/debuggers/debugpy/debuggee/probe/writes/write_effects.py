"""What an instruction or a call writes: which object's state, what was there, and what comes.

Most are judged before they run, since nothing but memory can keep them from it. What may do other
things too, such as a call of `update`, is looked at again when it is over.
"""

from __future__ import annotations

import ast
import collections
import functools
import operator
import sys
import types
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.frame_memory import (
        cell_of,
        referent_of,
        stack_values,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import operations_named
    from relay.debuggers.debugpy.debuggee.probe.frames.state_targets import (
        ABSENT,
        StateTarget,
        dict_of_target,
        dict_of_this_thread,
        fills_when_read,
        is_local_to_thread,
        read_target,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.types import (
        DATA_DESCRIPTORS,
        lookup,
        mro_of,
        namespace_of,
        plan_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.value_equality import are_same_key
    from relay.debuggers.debugpy.debuggee.probe.writes.write_log import address_of
    from relay.debuggers.debugpy.debuggee.probe.writes.write_recorder import WriteWatch
    from relay.debuggers.debugpy.debuggee.probe.writes.write_sites import (
        MAKERS,
        WriteSite,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.writer_names import (
        C_CALLABLES,
        DESCRIPTOR_WRITERS,
        DICT_WRITERS,
        LIST_WRITERS,
        gives_to_own_proxies,
        is_writer_in_c,
        may_hand_on,
    )

_MOST_PENDING = 200


def _stored_in(classes: tuple[type, ...], *names: str) -> tuple[Any, ...]:
    """What these classes themselves have under the names, if anything."""
    found = (namespace_of(cls).get(name) for cls in classes for name in names)
    return tuple(one for one in found if one is not None)


# Types in C that have one of their own, which does what that of `object` does.
_LIKE_OBJECT = (types.ModuleType, BaseException, types.SimpleNamespace, functools.partial, ast.AST)
_PLAIN_SETTERS = _stored_in((object, type, *_LIKE_OBJECT), "__setattr__", "__delattr__")
_PLAIN_DICTS = (dict, collections.OrderedDict)
_PLAIN_ITEM_SETTERS = _stored_in(_PLAIN_DICTS, "__setitem__", "__delitem__")
_PLAIN_BEGINNINGS = _stored_in((*_PLAIN_DICTS, collections.defaultdict, list), "__init__")
_GLOBAL_CODES = operations_named(("STORE_GLOBAL", "DELETE_GLOBAL"))
_PLAIN_METHODS = (types.FunctionType, types.WrapperDescriptorType, types.MethodDescriptorType)
_STATEMENTS = frozenset(("setattr", "delattr", "setitem", "delitem"))
"""Functions that do what a statement does, by the method of the object's type."""
_ADDERS = frozenset(("append", "extend", "__iadd__", "iadd", "iconcat"))
"""Those of LIST_WRITERS that leave what the list has."""
_BOUND_TYPES = (types.BuiltinFunctionType, types.MethodWrapperType)


class _Pending(NamedTuple):
    """What an instruction may change, as it was before."""

    frame: Any
    follower: int
    before: list[tuple[Any, Any]]
    line: int | None
    makes: bool
    """Whether it leaves a new container on the stack."""


def write_of_site(watch: WriteWatch, frame: Any, offset: int, site: WriteSite) -> None:
    """The instruction at `offset` is about to run."""
    _WRITERS[site.role](watch, frame, offset, site)


# Before it runs


def _attribute_write(watch: WriteWatch, frame: Any, offset: int, site: WriteSite) -> None:
    values = stack_values(frame, offset, 1 if site.deletes else 2)
    owner, new = values[0], ABSENT if site.deletes else values[1]
    if type(owner) in weakref.ProxyTypes:
        owner = referent_of(owner)
    own = lookup(plan_of(owner).mro, "__delattr__" if site.deletes else "__setattr__")
    is_plain = own in _PLAIN_SETTERS
    if not is_plain and type(own) is not types.WrapperDescriptorType:
        _note_passed_on(watch, own)
        return  # its own code writes, if any does
    target = target_in(owner, watch.state.key)
    if target is None:
        return
    if is_plain:
        watch.log.note(target.owner, read_target(target), new, frame)
    else:  # code in C, which may refuse: what comes of it is looked at when it is over
        _await(watch, frame, site, [target])


def _namespace_write(watch: WriteWatch, frame: Any, offset: int, site: WriteSite) -> None:
    """Another dict becomes the `__dict__` of an object: what was written to it before does not count."""
    owner, space = stack_values(frame, offset, 2)
    target = target_in(owner, watch.state.key)
    if target is None or target.kind != "attribute" or dict not in mro_of(type(space)):
        return
    plan = plan_of(owner)
    setter, kept = lookup(plan.mro, "__setattr__"), lookup(plan.mro, "__dict__")
    if plan.family == "class" or setter not in _PLAIN_SETTERS:
        return  # it refuses, as a frozen dataclass does, or its own code writes
    if type(kept) is types.MemberDescriptorType:
        return  # read only, as that of a types.SimpleNamespace
    before = dict_of_target(target)
    if space is not before:
        watch.log.move(owner, before)
        watch.log.forget(space)
        new = dict.get(space, watch.state.key, ABSENT)
        watch.log.note(owner, read_target(target), new, frame)


def target_in(owner: Any, name: str) -> StateTarget | None:
    """Where the object keeps the attribute; None if it is computed, or kept by C code."""
    plan = plan_of(owner)
    if plan.family == "module":
        return StateTarget("global", plan.dictionary.__get__(owner), name, None, name)
    if is_local_to_thread(owner):
        space = dict_of_this_thread(owner)
        return None if space is None else StateTarget("global", space, name, None, name)
    found = lookup(plan.mro, name)
    kind = mro_of(type(found))
    if lookup(kind, "__set__") is not None or lookup(kind, "__delete__") is not None:
        is_slot = type(found) is DATA_DESCRIPTORS[0]
        return StateTarget("slot", owner, name, None, name) if is_slot else None
    if plan.dictionary is None and plan.family != "class":
        return None
    return StateTarget("attribute", owner, name, None, name)


def _name_write(watch: WriteWatch, frame: Any, offset: int, site: WriteSite) -> None:
    space, key = frame.f_globals, watch.state.key
    new = ABSENT if site.deletes else stack_values(frame, offset, 1)[0]
    in_class = not frame.f_code.co_flags & 1 and frame.f_locals is not space
    if in_class and frame.f_code.co_code[offset] not in _GLOBAL_CODES:
        body = body_of_class(watch, frame)
        if body is not None:
            watch.log.note(body, frame.f_locals.get(key, ABSENT), new, frame)
    else:
        watch.log.note(space, space.get(key, ABSENT), new, frame)


class ClassBody:
    """The run of a class statement; its variables become the attributes of the class."""

    def __init__(self, frame: Any) -> None:
        self.frame_id = id(frame)
        self.times = 1


def body_of_class(watch: WriteWatch, frame: Any) -> ClassBody | None:
    """The body that the frame runs, if it is one: known by module and name."""
    name = frame.f_locals.get("__qualname__")
    if type(name) is not str:
        return None
    place = (frame.f_globals.get("__name__"), name)
    known = watch.class_bodies.get(place)
    if known is None:
        known = watch.class_bodies[place] = ClassBody(frame)
    elif known.frame_id != id(frame) or watch.state.key not in frame.f_locals:
        known.times += watch.log.of(known) is not None
    return known


def _local_write(watch: WriteWatch, frame: Any, offset: int, site: WriteSite) -> None:
    new = ABSENT if site.deletes else stack_values(frame, offset, site.position)[-1]
    old = frame.f_locals.get(watch.state.key, ABSENT)
    watch.log.note(frame, old, new, frame, is_held=False)


def _cell_write(watch: WriteWatch, frame: Any, offset: int, site: WriteSite) -> None:
    cell = cell_of(frame, watch.state.key)
    new = ABSENT if site.deletes else stack_values(frame, offset, 1)[0]
    old = attempt(lambda: cell.cell_contents, default=ABSENT)
    watch.log.note(cell, old, new, frame, is_held=False)


def _item_write(watch: WriteWatch, frame: Any, offset: int, site: WriteSite) -> None:
    values = stack_values(frame, offset, 2 if site.deletes else 3)
    key, container = values[0], values[1]
    if not are_same_key(key, watch.state.key):
        return
    own = lookup(mro_of(type(container)), "__delitem__" if site.deletes else "__setitem__")
    if own not in _PLAIN_ITEM_SETTERS or not _may_hold(watch, container):
        _note_passed_on(watch, own)
        return  # its own code writes, if any does
    new = ABSENT if site.deletes else values[2]
    watch.log.note(container, dict.get(container, key, ABSENT), new, frame)


# Looked at again when it is over


def _container_change(watch: WriteWatch, frame: Any, offset: int, site: WriteSite) -> None:
    values = stack_values(frame, offset, site.position)
    if site.indexed and type(values[0]) is int and 0 <= values[0] != watch.state.key:
        return  # another item, or none of a list
    target = _container_target(watch, values[-1])
    if target is not None and not (site.adds and _lies_before_end(target)):
        _await(watch, frame, site, [target])


def _item_read(watch: WriteWatch, frame: Any, offset: int, site: WriteSite) -> None:
    key, container = stack_values(frame, offset, 2)
    if fills_when_read(container) and are_same_key(key, watch.state.key):
        target = _container_target(watch, container)
        if target is not None and read_target(target) is ABSENT:
            _await(watch, frame, site, [target])


def _container_made(watch: WriteWatch, frame: Any, offset: int, site: WriteSite) -> None:
    _await(watch, frame, site, [], makes=True)


def _cell_made(watch: WriteWatch, frame: Any, offset: int, site: WriteSite) -> None:
    _await(watch, frame, site, [], makes=True)


def _call_made(watch: WriteWatch, frame: Any, offset: int, site: WriteSite) -> None:
    function, values = called_function(frame, offset, site)
    is_partial_made = function is functools.partial
    is_partial = type(function) is functools.partial
    if is_partial:
        function, values = function.func, [*function.args, *values]
    is_type = type in mro_of(type(function))
    # A writer's own `__get__` only binds it, and where that goes is followed.
    binds = type(function) in C_CALLABLES and function.__name__ == "__get__"
    if not (is_partial_made or binds) and (site.gives or may_hand_on(frame.f_code)):
        for value in values:
            _note_if_writer(watch, frame, value)
    if is_type and lookup(mro_of(function), "__init__") not in _PLAIN_BEGINNINGS:
        return
    if not is_type and type(function) not in C_CALLABLES:
        return
    kind = watch.state.kind
    makes = kind in MAKERS and (is_type or function.__name__ in MAKERS[kind])
    targets = [] if is_type else _targets_of_call(watch, function, values)
    _await(watch, frame, site, targets, makes=makes)


def note_given(watch: WriteWatch, frame: Any, offset: int, depth: int) -> None:
    """What lies so deep goes where nobody sees it: into a list, back to a caller."""
    _note_if_writer(watch, frame, stack_values(frame, offset, depth + 1)[-1])


def _note_if_writer(watch: WriteWatch, frame: Any, value: Any) -> None:
    if not is_writer_in_c(value, watch.state.kind):
        return
    if not (_is_of_named_tuple(frame.f_code) or gives_to_own_proxies(frame.f_code)):
        watch.hand_on(_owner_of_writer(value))


def _note_passed_on(watch: WriteWatch, own: Any) -> None:
    """A statement is carried out by an object in the place of a method, as in proxies of werkzeug:
    it has a writer in C of its own, for whatever stands behind the proxy."""
    if own is not None and type(own) not in _PLAIN_METHODS:
        watch.hand_on(None)


def _is_of_named_tuple(code: types.CodeType) -> bool:
    """Whether it is `_replace`, which gives away a method of a dict that it alone has.

    The dict is gone at once, and the next one may be the program's, at the same address.
    """
    return code.co_name == "_replace" and code.co_filename == collections.__file__


def _owner_of_writer(value: Any) -> Any:
    """The only object that a function in C writes to; None if it may be any."""
    if type(value) is functools.partial:
        return value.args[0] if value.args else _owner_of_writer(value.func)
    if type(value) is operator.methodcaller or value.__name__ == "__get__":
        return None
    owner = value.__self__ if type(value) in _BOUND_TYPES else None
    return None if type(owner) in (types.ModuleType, DATA_DESCRIPTORS[0]) else owner


def _await(
    watch: WriteWatch, frame: Any, site: WriteSite, targets: list[Any], makes: bool = False
) -> None:
    if targets or makes:
        before = [(target, read_target(target)) for target in targets]
        if len(watch.pending) > _MOST_PENDING:
            watch.pending.clear()  # left by exceptions
        watch.pending[id(frame)] = _Pending(frame, site.follower, before, frame.f_lineno, makes)


def look_at_past(watch: WriteWatch, frame: Any, offset: int) -> None:
    """Note what the instruction before this one has changed, if one is waited for."""
    pending = watch.pending.pop(id(frame), None)
    if pending is not None and pending.frame is frame and pending.follower == offset:
        _note_past(watch, pending, offset)


def look_at_stopped(watch: WriteWatch) -> None:
    """The program stands: note what is over in its frames, whose next instruction is yet to come."""
    for pending in list(watch.pending.values()):
        if pending.frame.f_lasti == pending.follower:
            look_at_past(watch, pending.frame, pending.follower)


def _note_past(watch: WriteWatch, pending: _Pending, offset: int) -> None:
    frame = pending.frame
    for target, old in pending.before:
        new, known = read_target(target), watch.log.of(target.owner)
        is_noted = known is not None and known.last == address_of(new)
        if new is not old and not is_noted:
            watch.log.note(target.owner, old, new, frame, line=pending.line)
    if not pending.makes:
        return
    if watch.state.kind == "cell":
        made: Any = cell_of(frame, watch.state.key)
        value = attempt(lambda: made.cell_contents, default=ABSENT)
    else:
        made = stack_values(frame, offset, 1)[0]
        target = _container_target(watch, made)
        value = ABSENT if target is None else read_target(target)
    if watch.state.kind == "cell" or value is not ABSENT:
        watch.log.forget(made)
    if value is not ABSENT:
        held = watch.state.kind != "cell"
        watch.log.note(made, ABSENT, value, frame, line=pending.line, is_held=held)


def _slot_target(watch: WriteWatch, slot: Any, owner: Any) -> StateTarget | None:
    """The object's slot, if it is the one that is watched."""
    target = target_in(owner, watch.state.key) if slot.__name__ == watch.state.key else None
    return target if target is not None and target.kind == "slot" else None


def _container_target(watch: WriteWatch, container: Any) -> StateTarget | None:
    """The place in the container that is watched; None if it is of another kind."""
    if not _may_hold(watch, container):
        return None
    kind = "list_item" if watch.state.kind == "list_item" else "item"
    return StateTarget(kind, container, watch.state.key, None, "")


def _may_hold(watch: WriteWatch, container: Any) -> bool:
    """Whether an item of it may be the state. Of namespaces plain dicts alone are watched: one of a class
    that derives from dict has attributes beside its items."""
    if watch.state.kind == "item":
        return dict in mro_of(type(container))
    if watch.state.kind == "list_item":
        return list in mro_of(type(container))
    return type(container) is dict


def called_function(frame: Any, offset: int, site: WriteSite) -> tuple[Any, list[Any]]:
    """What a call is about to call, and the values that it gives by position."""
    name, count = site.operation, site.argument
    newest = sys.version_info >= (3, 13)
    if name == "CALL_FUNCTION_EX":
        more = 1 if sys.version_info >= (3, 14) else count & 1  # perhaps what is no object
        values = stack_values(frame, offset, more + (3 if newest else 2))
        given, named = values[more], values[0] if more else None
        by_name = list(named.values()) if type(named) is dict else []
        return values[-1], [*given, *by_name] if type(given) is tuple else by_name
    names = 1 if name in ("CALL_KW", "CALL_FUNCTION_KW") else 0
    if name in ("CALL_FUNCTION", "CALL_FUNCTION_KW"):
        values = stack_values(frame, offset, count + names + 1)[names:]
        return values[-1], values[-2::-1]
    values = stack_values(frame, offset, count + names + 2)[names:]
    given, upper, lower = values[:count][::-1], values[count], values[count + 1 : count + 2]
    if newest:
        return lower[0], given if upper is None else [upper, *given]
    if lower and type(lower[0]) in (types.WrapperDescriptorType, types.MethodDescriptorType):
        return lower[0], [upper, *given]
    if lower and lower[0] is not None and name == "CALL":
        return lower[0], [upper, *given]
    return upper, given


def _targets_of_call(watch: WriteWatch, function: Any, values: list[Any]) -> list[StateTarget]:
    name = function.__name__
    is_bound = type(function) in _BOUND_TYPES and type(function.__self__) is not types.ModuleType
    values = [function.__self__, *values] if is_bound else values
    if not values:
        return []
    target = None
    if name in _STATEMENTS and len(values) > 1 and are_same_key(values[1], watch.state.key):
        _note_passed_on(watch, lookup(mro_of(type(values[0])), f"__{name}__"))
    if name in ("setattr", "delattr", "__setattr__", "__delattr__"):
        if len(values) > 1 and are_same_key(values[1], watch.state.key):
            target = target_in(values[0], watch.state.key)
    elif name in DESCRIPTOR_WRITERS:
        if type(values[0]) is DATA_DESCRIPTORS[0] and len(values) > 1:
            target = _slot_target(watch, *values[:2])
    elif name in (LIST_WRITERS if watch.state.kind == "list_item" else DICT_WRITERS):
        target = _container_target(watch, values[0])
        if target is not None and name in _ADDERS and _lies_before_end(target):
            target = None
    return [] if target is None else [target]


def _lies_before_end(target: StateTarget) -> bool:
    """Whether the list is that long already: what is added to it comes behind this item."""
    return target.kind == "list_item" and target.key < list.__len__(target.owner)


_WRITERS = {
    "attribute": _attribute_write,
    "namespace": _namespace_write,
    "name": _name_write,
    "local": _local_write,
    "cell": _cell_write,
    "item": _item_write,
    "into": _container_change,
    "read": _item_read,
    "made": _container_made,
    "cell_made": _cell_made,
    "call": _call_made,
}
