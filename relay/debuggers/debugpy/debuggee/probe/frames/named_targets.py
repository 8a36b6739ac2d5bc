"""What an expression names in the program's state: the object, and where in it the value lies.

Runs the part of the expression that gives the owner, once; the value itself is read where it is
stored, past properties and `__getattr__`. Refuses, with the reason, what is stored nowhere, or
where nothing in Python sees it written.
"""

from __future__ import annotations

import ast
import collections
import functools
import itertools
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.computed_state import (
        is_borrowed_dict,
        place_named,
        place_of_item,
        place_read,
        places_read_by,
        refuse_borrowed_dict,
        refuse_local_to_thread,
        refuse_looked_up,
        refuse_made_anew,
        refuse_missing,
        refuse_own_getattr,
        refuse_own_getattribute,
        refuse_own_getitem,
        refuse_unwatchable_dict,
        unwatchable,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.expressions import (
        compile_source,
        mangled,
        run_code,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.frame_memory import (
        owners_of_inline_values,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import pull_locals
    from relay.debuggers.debugpy.debuggee.probe.frames.state_targets import (
        ABSENT,
        OwnerPart,
        StateTarget,
        dict_of_target,
        is_local_to_thread,
        read_target,
        similar_name,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.variable_targets import variable_target
    from relay.debuggers.debugpy.debuggee.probe.process.guard import (
        Interrupted,
        TroubleError,
        attempt,
        exception_line,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.tracked_objects import referrers_of
    from relay.debuggers.debugpy.debuggee.probe.values.types import (
        Plan,
        exact,
        is_heap_type,
        lookup,
        module_of,
        mro_of,
        name_of,
        namespace_of,
        plan_of,
    )

_DICTS = (dict, collections.OrderedDict, collections.defaultdict)
_CONTAINERS = (*_DICTS, list, set, bytearray, collections.deque)
_LONGEST_KEY = 40


def resolve_target(expression: str, frame: Any, may_come: bool = False) -> StateTarget:
    """What the expression names in the frame, now.

    may_come: also an attribute that is only in the object's class, and may be set in the object.
    Raises TroubleError: "syntax"; "unwatchable" with the reason; "raised" with what the part that
    gives the owner has raised.
    """
    compile_source(expression, False, frame)  # says what is wrong with the syntax
    text = expression.strip()
    node = mangled(ast.parse(text, "<evaluate>", "eval"), text, frame).body
    if isinstance(node, ast.Name):
        return variable_target(node.id, frame, text)
    if isinstance(node, ast.Attribute):
        part = OwnerPart(_value_of_part(node.value, frame), _source_of_part(node.value, text))
        refuse_made_anew(part, node.value, frame)
        return _attribute_target(part, node.attr, frame, text, may_come)
    if isinstance(node, ast.Subscript):
        index: Any = node.slice
        if type(index).__name__ == "Index":  # Python 3.8
            index = index.value
        if isinstance(index, ast.Slice):
            raise unwatchable(f"{text} is a new list each time: name one item")
        owner, container = _owner_and_container(node.value, frame)
        part = OwnerPart(container, _source_of_part(node.value, text))
        del container
        refuse_made_anew(part, node.value, frame)
        key = _value_of_part(index, frame)
        if _is_attribute_of(owner, part.value, key):
            return StateTarget("attribute", owner, key, None, text)
        if is_local_to_thread(owner) and type(key) is str:
            return StateTarget("global", part.value, key, None, text)
        named = _target_in_namespace(part.value, key, text)
        return _item_target(part, key, text) if named is None else named
    raise unwatchable(f"{text} is {_kind_of_node(node)}: name what it is made of")


def _value_of_part(node: Any, frame: Any) -> Any:
    code = compile(ast.Expression(node), "<evaluate>", "eval", 0, True)
    try:
        return run_code((None, code), frame)
    except Interrupted:
        raise
    except BaseException as error:  # noqa: BLE001  whatever the program's objects raise
        raise TroubleError("raised", exception_line(error)) from None
    finally:
        pull_locals(frame)


def _owner_and_container(node: Any, frame: Any) -> tuple[Any, Any]:
    """The container, and the object whose `__dict__` it is if it is named so; by one evaluation."""
    if not (isinstance(node, ast.Attribute) and node.attr == "__dict__"):
        return None, _value_of_part(node, frame)
    pair: Any = ast.parse("(lambda owner: (owner, owner.__dict__))(0)", "<evaluate>", "eval").body
    pair.args = [node.value]
    owner, container = _value_of_part(pair, frame)
    return owner, container


def _source_of_part(node: Any, text: str) -> str:
    source = ast.get_source_segment(text, node) or "it"
    is_plain = isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
    return source if is_plain else f"({source})"


_NODE_KINDS = (
    (ast.Call, "the result of a call, which is stored nowhere"),
    (ast.Constant, "a constant"),
    ((ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare), "worked out anew each time"),
    ((ast.Tuple, ast.List, ast.Dict, ast.Set), "a new object each time"),
)


def _kind_of_node(node: Any) -> str:
    found = (words for kind, words in _NODE_KINDS if isinstance(node, kind))
    return next(found, "not a name, an attribute or an item")


# Attributes


def _attribute_target(
    part: OwnerPart, name: str, frame: Any, text: str, may_come: bool
) -> StateTarget:
    owner, plan = part.value, plan_of(part.value)
    refuse_own_getattribute(part, name, text)
    if plan.family == "module":
        return _module_target(part, name, frame, text)
    if plan.family == "class":
        return _class_target(part, name, frame, text)
    found, kept_by = _in_class(plan, name)
    if type(found) is types.MemberDescriptorType and is_heap_type(kept_by):
        slot = StateTarget("slot", owner, name, None, text)
        if read_target(slot) is ABSENT:
            refuse_own_getattr(part, name, text)
        return slot
    own: Any = attempt(plan.dictionary.__get__, owner) if plan.dictionary is not None else None
    if type(own) is dict and (_is_kept_in_dict(found) or _only_sets(found, name, own)):
        return StateTarget("item", own, name, None, text)
    _refuse_computed(found, f"{plan.name}.{name}", part)
    if type(own) is not dict:
        refuse_unwatchable_dict(part, name, text, own, kept_by is not None)
    refuse_borrowed_dict(part, name, text, own)
    refuse_local_to_thread(part, name)
    if name in own:
        return StateTarget("attribute", owner, name, None, text)
    if kept_by is None:
        refuse_own_getattr(part, name, text)
        if not _may_be_set(name, plan, frame):
            raise unwatchable(f"This {plan.name} has no attribute {name}{similar_name(name, own)}")
    elif not (may_come and _may_be_set_over(found, name, plan, frame)):
        refuse_looked_up(part, found, name)
        raise unwatchable(
            f"{name} is not in this {plan.name} but in its class: watch {name_of(kept_by)}.{name},"
            f" or {part.source}.__dict__[{name!r}] for one of its own"
        )
    return StateTarget("attribute", owner, name, None, text)


def _is_attribute_of(owner: Any, space: Any, key: Any) -> bool:
    """Whether an item of a `__dict__` is written as an attribute of the object, too."""
    plan = plan_of(owner)
    if type(space) is not dict or type(key) is not str or plan.family in ("module", "class"):
        return False
    if plan.dictionary is None or attempt(plan.dictionary.__get__, owner) is not space:
        return False
    kind = mro_of(type(_in_class(plan, key)[0]))
    is_data = lookup(kind, "__set__") is not None or lookup(kind, "__delete__") is not None
    return not is_data and not is_borrowed_dict(owner, space)


def _target_in_namespace(space: Any, key: Any, text: str) -> StateTarget | None:
    """What an item of a dict is to the object or module whose `__dict__` that is, if there is one.

    So of `d = vars(o)`: Python writes an attribute without a word of the dict.
    """
    if type(space) is not dict or type(key) is not str or key not in space:
        return None
    name = space.get("__name__")
    module = sys.modules.get(name) if type(name) is str else None
    plan = plan_of(module)
    if plan.family == "module" and plan.dictionary.__get__(module) is space:
        return StateTarget("global", space, key, None, text)
    for owner in [*referrers_of(space), *owners_of_inline_values(space)]:
        if _is_attribute_of(owner, space, key):
            return StateTarget("attribute", owner, key, None, text)
    return None


def note_of_class(target: StateTarget) -> str:
    """What a watch of an attribute does not see, since so far only the class has it; or nothing."""
    plan = plan_of(target.owner)
    if target.kind in ("attribute", "slot") and _is_computed_until_stored(target, plan):
        return f"until it is stored, {plan.name}.__getattr__ computes it: that is not seen"
    if target.kind != "attribute" or plan.family == "class" or target.key in dict_of_target(target):
        return ""
    found, kept_by = _in_class(plan, target.key)
    if kept_by is None or functools.cached_property in mro_of(type(found)):
        return ""
    name = f"{name_of(kept_by)}.{target.key}"
    return (
        f"this {plan.name} has none of its own yet: writes to {name} are not seen, watch that too"
    )


def _is_computed_until_stored(target: StateTarget, plan: Plan) -> bool:
    if plan.family in ("class", "module") or lookup(plan.mro, "__getattr__") is None:
        return False
    if target.kind == "attribute" and _in_class(plan, target.key)[1] is not None:
        return False  # what the class has is read
    return read_target(target) is ABSENT


def note_within(target: StateTarget) -> str:
    """What a watch of a place that holds a container does not see; empty where it holds none."""
    value = read_target(target)
    cls = type(value)
    is_known = any(cls is one for one in _CONTAINERS)  # a metaclass may have an `__eq__` of its own
    if not is_known and lookup(mro_of(cls), "__setitem__") is None:
        return ""
    note = f"what changes within the {name_of(cls)} is no change of {target.text}"
    if not is_known:
        return note
    first = list(itertools.islice(range(len(value)) if cls is list else value, 1))
    is_named = first and (cls is list or any(cls is one for one in _DICTS))
    if not is_named or type(first[0]) not in (int, str) or len(repr(first[0])) > _LONGEST_KEY:
        return note
    return f"{note}: watch its items, such as {target.text}[{first[0]!r}]"


def _in_class(plan: Plan, name: str) -> tuple[Any, Any]:
    """What the class has under the name, and which of its bases; (None, None) if none has."""
    for cls in plan.mro:
        if name in namespace_of(cls):
            return namespace_of(cls)[name], cls
    return None, None


def _is_kept_in_dict(found: Any) -> bool:
    """Whether this descriptor, a column of SQLAlchemy's, keeps its value as an item of `__dict__`."""
    return any(
        name_of(cls) == "InstrumentedAttribute" and str(module_of(cls)).startswith("sqlalchemy.")
        for cls in mro_of(type(found))
    )


def _only_sets(found: Any, name: str, own: Any) -> bool:
    """Whether it is a descriptor that is asked at each write, and reads are of what is in `__dict__`."""
    kind = mro_of(type(found))
    return name in own and lookup(kind, "__set__") is not None and lookup(kind, "__get__") is None


def _refuse_computed(found: Any, name: str, part: OwnerPart | None = None) -> None:
    kind = mro_of(type(found))
    if lookup(kind, "__set__") is None and lookup(kind, "__delete__") is None:
        return
    if name_of(type(found)) == "_tuplegetter":
        raise unwatchable(
            f"{name} is a field of a named tuple, and never changes: name the variable that holds"
            " the tuple, which may be bound to another"
        )
    is_in_c = type(lookup(kind, "__get__")) is types.WrapperDescriptorType
    if is_in_c and property not in kind:
        raise unwatchable(
            f"{name} is kept by C code, which does not say when it writes: set a breakpoint where"
            " it may be written, with a condition"
        )
    read = "" if part is None else places_read_by(found, part.value, part.source)
    if not read and part is not None:
        read = place_read(part, name.rpartition(".")[2]) or place_named(part, found)
    raise unwatchable(
        f"{name} is computed by a {name_of(type(found))}: watch the attribute that it reads"
        + (f", {read}" if read else "")
    )


def _may_be_set(name: str, plan: Plan, frame: Any) -> bool:
    """Whether code at hand names it: `__init__` may be about to set it for the first time."""
    members = [found for cls in plan.mro for found in list(namespace_of(cls).values())]
    codes = [getattr(getattr(found, "__func__", found), "__code__", None) for found in members]
    return any(name in getattr(code, "co_names", ()) for code in (frame.f_code, *codes))


def _may_be_set_over(found: Any, name: str, plan: Plan, frame: Any) -> bool:
    """Whether what the class has is what objects have until they are given their own."""
    kind = mro_of(type(found))
    if functools.cached_property in kind:
        return True
    return lookup(kind, "__get__") is None and _may_be_set(name, plan, frame)


def _module_target(part: OwnerPart, name: str, frame: Any, text: str) -> StateTarget:
    plan = plan_of(part.value)
    space = plan.dictionary.__get__(part.value)
    where = exact(str(space.get("__name__")))
    _refuse_computed(_in_class(plan, name)[0], f"{where}.{name}", part)
    if name not in space:
        refuse_own_getattr(part, name, text, space)
    if name not in space and name not in frame.f_code.co_names:
        raise unwatchable(f"The module {where} has no {name}{similar_name(name, space)}")
    return StateTarget("global", space, name, None, text)


def _class_target(part: OwnerPart, name: str, frame: Any, text: str) -> StateTarget:
    cls = part.value
    if not is_heap_type(cls):
        raise unwatchable(f"{name_of(cls)} is one of Python's own types, which cannot change")
    found, _ = _in_class(plan_of(cls), name)
    _refuse_computed(found, f"{name_of(cls)}.{name}")
    if name in namespace_of(cls):
        return StateTarget("attribute", cls, name, None, text)
    base = next((one for one in mro_of(cls) if name in namespace_of(one)), None)
    if base is not None:
        raise unwatchable(
            f"{name} is not in {name_of(cls)} but in a base: watch {name_of(base)}.{name}"
        )
    refuse_own_getattr(part, name, text)
    if name not in frame.f_code.co_names:
        near = similar_name(name, namespace_of(cls))
        raise unwatchable(f"The class {name_of(cls)} has no attribute {name}{near}")
    return StateTarget("attribute", cls, name, None, text)


# Items


def _item_target(part: OwnerPart, key: Any, text: str) -> StateTarget:
    container, bases = part.value, mro_of(type(part.value))
    if dict in bases:
        try:
            hash(key)
        except TypeError:
            raise unwatchable(f"A value of type {name_of(type(key))} is no key of a dict") from None
        refuse_own_getitem(part, text, dict)
        refuse_missing(part, key, text)
        return StateTarget("item", container, key, None, text)
    if list in bases:
        refuse_own_getitem(part, text, list)
        return _list_item_target(part, key, text)
    kind = f"A value of type {name_of(type(container))}"
    if any(base in bases for base in (tuple, str, bytes, range, frozenset)):
        raise unwatchable(f"{kind} never changes: name what holds it, {part.source}")
    if type(lookup(bases, "__getitem__")) is not types.FunctionType:
        raise unwatchable(
            f"{kind} keeps its items in C code, which does not say when it writes:"
            f" set a breakpoint where {text} may be written, with a condition"
        )
    kept = place_of_item(part, key)
    raise unwatchable(
        f"{kind} keeps its items its own way: only those of dicts and"
        " lists can be watched, so name the dict or list that it keeps them in"
        + (f", {kept}" if kept else "")
    )


def _list_item_target(part: OwnerPart, key: Any, text: str) -> StateTarget:
    size = list.__len__(part.value)
    if type(key) not in (int, bool):
        raise unwatchable(f"A value of type {name_of(type(key))} is no index of one item")
    if not -size <= key < size:
        raise unwatchable(f"The list has {size} items, and no index {key}")
    if key < 0:
        raise unwatchable(
            f"{text} is another position when the list has grown or shrunk:"
            f" watch the one that it is now, {part.source}[{size + key}]"
        )
    return StateTarget("list_item", part.value, int(key), None, text)
