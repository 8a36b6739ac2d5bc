"""Looking without touching: names and completions, by stored facts only.

Knows how Python would find a name or an attribute, and finds it without running a property, a
`__getattr__` or a `__getitem__` of the program. Refuses to guess what those would give.
"""

from __future__ import annotations

import ast
import re
import sys
import types
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from relay.debuggers.debugpy.debuggee.probe.frames.evaluation import (
        described,
        evaluated,
        raised_answer,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.expressions import compile_source, mangled
    from relay.debuggers.debugpy.debuggee.probe.frames.namespaces import global_items, local_items
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import find_frame
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.attributes import own_dict
    from relay.debuggers.debugpy.debuggee.probe.values.secrets import is_secret_expression
    from relay.debuggers.debugpy.debuggee.probe.values.types import (
        exact,
        is_dunder,
        mro_of,
        name_of,
        namespace_of,
        plan_of,
    )

# --------------------------------------------------------------------------- finding

_NOTHING = object()
_C_DESCRIPTORS = (
    types.MemberDescriptorType,
    types.GetSetDescriptorType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
)
_GET_ITEM: dict[Any, Any] = {
    list: list.__getitem__,
    tuple: tuple.__getitem__,
    str: str.__getitem__,
    bytes: bytes.__getitem__,
    range: range.__getitem__,
}
_PLAIN_KEYS = (int, str, bytes, bool, float, type(None))


class _NotPlainError(Exception):
    """More than names, attributes and keys: it has to be run."""


class Computed(NamedTuple):
    """An attribute that only the program's own code can give."""

    name: str
    descriptor: Any


def attribute_of(value: Any, name: str) -> Any:
    """The attribute as Python finds it, or Computed; AttributeError if nothing is stored."""
    plan = plan_of(value)
    if plan.family == "class":
        found = _in_classes(mro_of(value), name)
        if found is not _NOTHING:
            return _bound(found, name, None, value)
    own = own_dict(value, plan)
    inherited = _in_classes(plan.mro, name)
    is_data = inherited is not _NOTHING and _in_classes(mro_of(type(inherited)), "__set__")
    if plan.family != "class" and name in own and (not is_data or is_data is _NOTHING):
        return own[name]
    if inherited is _NOTHING:
        raise AttributeError(f"{plan.name!r} object has no stored attribute {name!r}")
    return _bound(inherited, name, value, plan.cls)


def attribute_behind(cls: Any, value: Any, name: str) -> Any:
    """What `super(cls, value)` finds by the name, or Computed; AttributeError if nothing is stored.

    Of instances only.
    """
    plan = plan_of(value)
    behind = [place for place, one in enumerate(plan.mro) if one is cls]
    inherited = _in_classes(plan.mro[behind[0] + 1 :], name) if behind else _NOTHING
    if inherited is _NOTHING or plan.family == "class":
        raise AttributeError(f"nothing is stored as {name!r} behind the class")
    return _bound(inherited, name, value, plan.cls)


def _in_classes(mro: Iterable[type], name: str) -> Any:
    for cls in mro:
        namespace = namespace_of(cls)
        if name in namespace:
            return namespace[name]
    return _NOTHING


def _bound(found: Any, name: str, value: Any, cls: type) -> Any:
    kind = type(found)
    if kind is types.FunctionType:
        return found if value is None else types.MethodType(found, value)
    if kind is staticmethod:
        return found.__func__
    if kind is classmethod:
        return types.MethodType(found.__func__, cls)
    if kind in _C_DESCRIPTORS:
        return found.__get__(value, cls)
    if _in_classes(mro_of(kind), "__get__") is not _NOTHING and plan_of(found).family != "class":
        return Computed(name, found)
    return found


def resolve_stored(node: Any, frame: Any) -> Any:
    """What an expression of names, attributes and items is in the frame, or Computed; raises as Python
    does if there is nothing, and _NotPlainError for any other expression."""
    if isinstance(node, ast.Name):
        return _value_named(node.id, frame)
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Attribute):
        return attribute_of(_stored(resolve_stored(node.value, frame)), node.attr)
    if isinstance(node, ast.Subscript):
        index = node.slice
        if type(index).__name__ == "Index":  # Python 3.8
            index = index.value  # type: ignore[attr-defined]
        return stored_item(
            _stored(resolve_stored(node.value, frame)), _stored(resolve_stored(index, frame))
        )
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = resolve_stored(node.operand, frame)
        if type(number) is int:
            return -number
    raise _NotPlainError


def _stored(value: Any) -> Any:
    if type(value) is Computed:
        raise AttributeError(f"{value.name!r} is computed: evaluate the expression to run it")
    return value


def _value_named(name: str, frame: Any) -> Any:
    for space in (dict(local_items(frame)), frame.f_globals, _builtins_of(frame)):
        if name in space:
            return space[name]
    raise NameError(f"name {name!r} is not defined")


def _builtins_of(frame: Any) -> Mapping[str, Any]:
    return sys.modules["builtins"].__dict__


def stored_item(value: Any, key: Any) -> Any:
    if type(key) not in _PLAIN_KEYS:
        raise _NotPlainError
    if plan_of(value).family == "mapping":  # dict.get: no __missing__ is called
        found = dict.get(value, key, _NOTHING)
        if found is _NOTHING:
            raise KeyError(key)
        return found
    get = _GET_ITEM.get(type(value))
    if get is None:
        raise _NotPlainError
    return get(value, key)


def hover(expression: str, frame: int, max_value: int = 1000) -> dict[str, Any]:
    """What a name, an attribute or an item is, without running any of the program's code.

    Anything else, such as a call or a sum, is evaluated.
    """
    found = find_frame(frame)
    compile_source(expression, False, found)  # says what is wrong with the syntax
    tree = mangled(ast.parse(expression.strip(), "<evaluate>", "eval"), expression, found)
    secret = is_secret_expression(expression)
    try:
        value = resolve_stored(tree.body, found)
    except _NotPlainError:
        return evaluated(expression, found, "hover", max_value)
    except (NameError, AttributeError, LookupError, TypeError) as error:
        return raised_answer(error, secret)
    if type(value) is Computed:
        return _computed_answer(value)
    return described(value, expression.strip(), secret, found, max_value)


def _computed_answer(value: Computed) -> dict[str, Any]:
    kind = exact(name_of(type(value.descriptor)))
    hint = {"kind": "property", "attributes": ["hasSideEffects"], "lazy": True}
    return {
        "result": f"<{kind} {value.name}: not computed>",
        "type": kind,
        "variables_reference": 0,
        "presentation_hint": hint,
    }


# --------------------------------------------------------------------------- completing

_WORD = re.compile(r"(?:[^\W\d]\w*)?\Z")
_CHAIN = re.compile(
    r"(?<![\w.])([^\W\d]\w*(?:[ ]*\.[ ]*[^\W\d]\w*|\[[^\[\]()]{1,200}\])*)[ ]*\.[ ]*\Z"
)
_MOST_ITEMS = 1000
_LONGEST_LINE = 10_000


def completions(text: str, frame: int) -> dict[str, Any]:
    """What may stand at the end of `text`: names, or the stored attributes of what is there.

    `typed` is how many characters of the word are there already.
    """
    found = find_frame(frame)
    line = text.rpartition("\n")[2][-_LONGEST_LINE:]
    match = _WORD.search(line)
    word = match.group() if match else ""
    before = line[: len(line) - len(word)]
    if before.rstrip().endswith("."):
        chain = _CHAIN.search(before)
        space = attempt(_attributes_at, chain.group(1), found, default={}) if chain else {}
    else:
        space = _names_at(found)
    names = _fitting(space, word)
    return {"typed": len(word), "items": [{"name": n, "type": space[n]} for n in names]}


def _fitting(space: Mapping[str, str], word: str) -> list[str]:
    names = [name for name in space if name.startswith(word)]
    names = names or [name for name in space if name.lower().startswith(word.lower())]
    return sorted(names, key=lambda n: (is_dunder(n), n[:1] == "_", n))[:_MOST_ITEMS]


def _names_at(frame: Any) -> dict[str, str]:
    found = dict.fromkeys(sys.modules["keyword"].kwlist, "keyword")
    builtins_ = [(n, v) for n, v in _builtins_of(frame).items() if not n.startswith("_")]
    for items in (builtins_, global_items(frame), local_items(frame)):
        found.update((exact(n), _kind(v, "variable")) for n, v in items if _is_name(n))
    return found


def _attributes_at(chain: str, frame: Any) -> dict[str, str]:
    tree = mangled(ast.parse(chain, "<complete>", "eval"), chain, frame)
    value = _stored(resolve_stored(tree.body, frame))
    plan = plan_of(value)
    found: dict[str, str] = {}
    classes = plan.mro if plan.family != "class" else mro_of(value) + plan.mro
    for cls in reversed(classes):
        for name, item in list(namespace_of(cls).items()):
            if _is_name(name):
                found[exact(name)] = _kind(item, "field")
    for name, item in list(own_dict(value, plan).items()):
        if _is_name(name):
            found[exact(name)] = _kind(item, "field")
    return found


def _is_name(name: Any) -> bool:
    return type(name) is str and name.isidentifier()


def _kind(value: Any, plain: str) -> str:
    """The kind of DAP's CompletionItemType; `plain` for what is a mere value."""
    family = plan_of(value).family
    if family in ("class", "module"):
        return family
    if family in ("function", "builtin"):
        return "function" if plain == "variable" else "method"
    if type(value) in (staticmethod, classmethod) or type(value) in _C_DESCRIPTORS[2:]:
        return "method"
    if family == "method":
        return "method"
    if type(value) in _C_DESCRIPTORS or isinstance(value, property):
        return "property"
    return plain
