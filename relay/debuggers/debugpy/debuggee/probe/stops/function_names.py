"""Which function a qualified name means: `Cart.total`, `shop.cart.Cart.total`, as modules define, import and
inherit it. Looks at what is stored: nothing of the program runs.
"""

from __future__ import annotations

import os
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        debugger,
        is_debugger_file,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.process.paths import absolute_path
    from relay.debuggers.debugpy.debuggee.probe.values.types import (
        exact,
        is_class,
        lookup,
        module_of,
        mro_of,
        name_of,
        namespace_of,
        qualname_of,
    )

_MOST_DEPTH = 4  # classes in classes
_MOST_ASKED = 200  # names
_OF_FUNCTIONS = 0x1  # of a code's flags: not of the bodies of classes
_WRAPPERS: tuple[Any, ...] = (staticmethod, classmethod)
_WRAPPERS_IN_C = (("functools", "_lru_cache_wrapper"), ("numpy", "_ArrayFunctionDispatcher"))

_qualified = CodeTable()  # before 3.11
_defined: dict[str, tuple[int, bool]] = {}  # how many modules were loaded then, and the answer


def is_named_elsewhere(parts: list[str], frame: Any) -> bool:
    """Whether the name means this function not where it is defined, but where it is imported or
    inherited: `shop.total`, which shop imports, or `Cart.add` in a call with a Cart. Not if a
    function is defined by that name."""
    return _is_bound_so(parts, frame) and not _is_defined(parts)


def _is_defined(parts: list[str]) -> bool:
    """Whether the modules that are loaded by now define a function by this name."""
    key, loaded = ".".join(parts), len(sys.modules)
    known = _defined.get(key)
    if known is None or not (known[1] or known[0] == loaded):
        if len(_defined) > _MOST_ASKED:
            _defined.clear()
        known = _defined[key] = loaded, bool(attempt(_finds_definition, parts))
    return known[1]


def _finds_definition(parts: list[str]) -> bool:
    for module in list(sys.modules.values()):
        if type(module) is not types.ModuleType:
            continue
        namespace = module.__dict__
        names = [name for name in module_names(namespace) if parts[: len(name)] == name]
        is_own = is_own_namespace(namespace)
        if not is_own and not names:
            continue
        for _, function in walk_namespace(namespace):
            if function.__globals__ is not namespace:
                continue  # it is imported
            name = getattr(function.__code__, "co_qualname", None) or exact(function.__qualname__)
            path = name.replace("<locals>.", "").split(".")
            if is_own and ends_with(path, parts):
                return True
            if any([*name, *path] == parts for name in names):
                return True
    return False


def _is_bound_so(parts: list[str], frame: Any) -> bool:
    code = frame.f_code
    if code.co_argcount:
        receiver = frame.f_locals.get(code.co_varnames[0])
        classes = mro_of(receiver if is_class(receiver) else type(receiver))
        for cls in classes:
            if name_of(cls) == parts[-2] and _is_class_named(cls, parts[:-1]):
                return code_behind(lookup(mro_of(cls), parts[-1])) is code
        owner = value_named(parts[:-1])
        is_other = is_class(owner) and not any(cls is owner for cls in classes)
        if is_other and type(lookup(mro_of(owner), parts[-1])) is not staticmethod:
            return False  # a call with a class from which the one that is named has the function
    return code_behind(value_named(parts)) is code or _is_inherited_static(parts, frame)


def _is_inherited_static(parts: list[str], frame: Any) -> bool:
    """Whether it is a static method, which is called with nothing that has a class, and the class
    that is named has it from the one that defines it."""
    *path, name = qualified_name(frame).split(".")
    owner = frame.f_globals.get(path[0]) if path else None
    for inner in path[1:]:
        owner = namespace_of(owner).get(inner) if is_class(owner) else None
    below: list[Any] = [owner] if is_class(owner) and name == parts[-1] else []
    for cls in below:
        below += [one for one in type.__subclasses__(cls) if one not in below]
        if name_of(cls) == parts[-2] and _is_class_named(cls, parts[:-1]):
            found = lookup(mro_of(cls), name)
            return type(found) is staticmethod and code_behind(found) is frame.f_code
    return False


def _is_class_named(cls: Any, parts: list[str]) -> bool:
    module, path = str(module_of(cls)), str(qualname_of(cls)).replace("<locals>.", "").split(".")
    if parts == [*module.split("."), *path] or value_named(parts) is cls:
        return True
    namespace = getattr(sys.modules.get(module), "__dict__", {})
    return ends_with(path, parts) and is_own_namespace(namespace)


def code_behind(value: Any) -> Any:
    """Of a function, or of what wraps one and says so; None of anything else."""
    function = _unwrapped(value)
    return None if function is None else function.__code__


def is_function(value: Any) -> bool:
    """Whether it is a function of Python, or wraps one and says so."""
    return _unwrapped(value) is not None


def _script_named(parts: list[str]) -> Any:
    script = sys.modules.get("__main__")
    names = module_names(getattr(script, "__dict__", {}))
    return script if any(name == parts for name in names) else None


def value_named(parts: list[str]) -> Any:
    """What a loaded module, and classes in it, have stored under the name; None if nothing.

    So a class or function may go by a name that it does not have itself: `pkg.Error`, which says
    that it is `pkg._errors.Error`.
    """
    for end in range(len(parts) - 1, 0, -1):
        found: Any = sys.modules.get(".".join(parts[:end])) or _script_named(parts[:end])
        for name in parts[end:]:
            if type(found) is types.ModuleType:
                found = found.__dict__.get(name)
            else:
                found = lookup(mro_of(found), name) if is_class(found) else None
        if found is not None:
            return found
    return None


def ends_with(path: list[str], parts: list[str]) -> bool:
    return len(parts) <= len(path) and path[-len(parts) :] == parts


def module_names(namespace: Any) -> Iterator[list[str]]:
    """A script is `__main__`, and goes by its file's name too."""
    name = namespace.get("__name__")
    if type(name) is not str:
        return
    yield name.split(".")
    if name == "__main__":
        spec, file = namespace.get("__spec__"), namespace.get("__file__")
        if type(getattr(spec, "name", None)) is str:
            yield spec.name.split(".")
        if type(file) is str:
            yield [os.path.splitext(os.path.basename(file))[0]]


def qualified_name(frame: Any) -> str:
    """`Class.method`; without the `<locals>` of functions inside of functions."""
    code = frame.f_code
    name = getattr(code, "co_qualname", None)  # 3.11+
    if name is None:
        name = _qualified.get(code)
        if name is None:
            name = _search_name(code, frame.f_globals)
            _qualified[code] = name
    return str(name).replace("<locals>.", "")


def _search_name(code: Any, namespace: Any) -> str:
    """Where its module defines it, in a class or a function; else its own name, not one that stands for it."""
    bound = [(".".join(path), one) for path, one in walk_namespace(namespace)]
    named = [(name, one) for name, one in bound if one.__code__ is code]
    for name, _ in named:
        if name.split(".")[-1] == code.co_name:
            return name
    for outer, whole in bound:
        for name, one in named_codes(whole.__code__, outer + ".<locals>."):
            if one is code:
                return name
    names = [exact(one.__qualname__) for _, one in named]
    return next((one for one in names if one.split(".")[-1] == code.co_name), str(code.co_name))


def is_own_namespace(namespace: Any) -> bool:
    """Whether it is that of a module of the program's own."""
    file = namespace.get("__file__")
    if type(file) is not str or is_debugger_file(file):
        return False
    return bool(debugger()._files_filtering.in_project_roots(absolute_path(file)))


def walk_namespace(namespace: Any, depth: int = _MOST_DEPTH) -> Iterator[tuple[list[str], Any]]:
    """Functions of a namespace and of the classes in it, with their paths. Runs no property."""
    for name, value in list(namespace.items()):
        if type(name) is not str:
            continue
        if is_class(value) and depth and module_of(value) == namespace.get("__name__"):
            inner = dict(namespace_of(value), __name__=module_of(value))
            for path, function in walk_namespace(inner, depth - 1):
                yield [name, *path], function
            continue
        function = _unwrapped(value)
        if function is not None:
            yield [name], function


def _unwrapped(value: Any) -> Any:
    """The function behind decorators that say what they wrap."""
    for _ in range(10):
        kind = type(value)
        if kind in _WRAPPERS:
            value = value.__func__
        elif kind is property:
            value = value.fget
        elif kind is types.FunctionType:
            if "__wrapped__" not in value.__dict__:
                return value
            value = value.__dict__["__wrapped__"]
        elif (module_of(kind), name_of(kind)) in _WRAPPERS_IN_C:
            value = value.__dict__.get("__wrapped__")
        elif (module_of(kind), name_of(kind)) == ("functools", "cached_property"):
            value = value.__dict__.get("func")
        else:
            return None
    return None


def named_codes(code: Any, before: str) -> Iterator[tuple[str, Any]]:
    """What a code defines, by qualified names; `before` is what these begin with."""
    for one in code.co_consts:
        if type(one) is types.CodeType:
            name = before + one.co_name
            is_function = one.co_flags & _OF_FUNCTIONS
            yield name, one
            yield from named_codes(one, name + (".<locals>." if is_function else "."))
