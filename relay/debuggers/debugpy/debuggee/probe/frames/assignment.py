"""Assigning to a variable: of a scope, an attribute, or an item of a container.

Finds the child by the name that its page shows, and puts the value where the child lies.
"""
# ruff: noqa: BLE001
# Broad excepts are the trade here: whatever the program's objects raise is an answer.

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.evaluation import evaluated, raised_answer
    from relay.debuggers.debugpy.debuggee.probe.frames.expressions import compile_source, run_code
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        find_frame,
        pull_locals,
        write_locals,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import (
        Interrupted,
        TroubleError,
        attempt,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.attributes import own_dict
    from relay.debuggers.debugpy.debuggee.probe.values.members import Member
    from relay.debuggers.debugpy.debuggee.probe.values.pages import child_counts, children_of
    from relay.debuggers.debugpy.debuggee.probe.values.references import Handle, references
    from relay.debuggers.debugpy.debuggee.probe.values.secrets import (
        MASK,
        is_secret_expression,
        is_secret_name,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.types import plan_of
    from relay.debuggers.debugpy.debuggee.probe.values.variables import describe


def set_variable(
    ref: int, name: str, expression: str, frame: int | None = None, max_value: int = 1000
) -> dict[str, Any]:
    """Give the child `name` of `ref` the value of an expression; answers the new variable."""
    handle = references.get(ref)
    found = handle.frame if frame is None else find_frame(frame)
    child = _child_named(handle, name)
    codes = compile_source(expression, False, found)
    secret = is_secret_expression(expression) or is_secret_name(name)
    try:
        value = run_code(codes, found)
        _assign(handle, child, value)
    except Interrupted:
        raise
    except BaseException as error:
        return raised_answer(error, secret)
    finally:
        pull_locals(found)
    return describe(_reread(handle, child, value), handle, handle.frame, max_value)


def set_expression(
    frame: int, expression: str, value: str, max_value: int = 1000
) -> dict[str, Any]:
    """Assign the value of an expression to what another one names; answers that one anew."""
    found = find_frame(frame)
    compile_source(expression, False, found)  # says what is wrong with the syntax
    target = ast.parse(expression.strip(), "<evaluate>", "eval").body
    if not isinstance(target, (ast.Name, ast.Attribute, ast.Subscript)):
        raise TroubleError("unwatchable", f"{expression} is no variable, attribute or item")
    compile_source(value, False, found)
    done = evaluated(f"{expression.strip()} = (\n{value}\n)", found, "repl", max_value)
    if "exception" not in done:
        done = evaluated(expression, found, "watch", max_value)
    if "exception" in done:
        return done
    return dict(done, name=expression.strip(), value=done["result"])


def _reread(handle: Handle, child: Member, value: Any) -> Member:
    """The child as it is now: a container may keep something else than it was given."""
    if handle.kind != "value":
        return child._replace(value=value)
    return attempt(_child_named, handle, child.name, default=None) or child._replace(value=value)


def _child_named(handle: Handle, name: str) -> Member:
    """An item by its number, if it has one; anything else by going through the pages."""
    named, indexed = child_counts(handle)
    bare = name[1:-1] if name[:1] == "[" and name[-1:] == "]" else name
    if (
        indexed
        and bare.isdecimal()
        and int(bare) < indexed
        and plan_of(handle.value).family != "series"
    ):
        return children_of(handle, "indexed", int(bare), int(bare) + 1)[0]
    for start in range(0, named + indexed, 1000):
        for child in children_of(handle, None, start, min(start + 1000, named + indexed)):
            if child.name == name and not (child.path is None and MASK in name):
                return child
    raise TroubleError("not_found", f"There is no {name!r} here")


def _assign(handle: Handle, child: Member, value: Any) -> None:
    if handle.kind == "locals":
        write_locals(handle.frame, {child.key: value})
    elif handle.kind == "globals":
        handle.frame.f_globals[child.key] = value
    elif child.path is not None and child.path[0] == ".":
        if plan_of(handle.value).family == "series":
            handle.value.iloc[child.key] = value
        else:
            setattr(handle.value, child.name, value)
    elif plan_of(handle.value).family == "object":
        own_dict(handle.value, plan_of(handle.value))[child.key] = value
    else:
        handle.value[child.key] = value
