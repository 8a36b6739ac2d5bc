"""Exception breakpoints: by the types' names, by a condition on the exception, and once a raise.

pydevd takes a type only if it can import it at that moment, and loses its connection over some
that it cannot. Here names are compared when something is raised: a class is meant if it, or a base
of it, has the name, or is what the name leads to. So classes of modules that are not imported yet
match later.
Nothing of the program is called but the condition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        debugger,
        find_frame,
        is_user_code,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.limitations import require_purpose
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import patch
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt, exception_line
    from relay.debuggers.debugpy.debuggee.probe.stops.arrivals import note_asked_about_raise
    from relay.debuggers.debugpy.debuggee.probe.stops.exceptions import current_exception
    from relay.debuggers.debugpy.debuggee.probe.stops.function_names import (
        value_named,
    )
    from relay.debuggers.debugpy.debuggee.probe.traps.inserted import is_passed_over
    from relay.debuggers.debugpy.debuggee.probe.values.types import (
        is_class,
        module_of,
        mro_of,
        name_of,
        qualname_of,
    )

_wanted_types: list[str] = []


_limited_filters: list[str] = []
"""DAP's filters that the types are for; empty: all."""


def limit_exceptions(types: list[str], only_for: list[str]) -> dict[str, Any]:
    """Stop at exceptions of these types and their subclasses only; at all of them without any.

    only_for: the filters of DAP that this limits; empty: all of them. `unknown` lists the names that lead to nothing now.
    """
    if types:
        require_purpose("exceptions")
    _wanted_types[:], _limited_filters[:] = types, only_for
    if types:
        _patch_lookup()
    return {"unknown": [name for name in types if not attempt(_is_known, name, default=True)]}


def _patch_lookup() -> None:
    patch(debugger(), "get_exception_breakpoint", _lookup_wanted)


def _lookup_wanted(lookup: Any, cls: Any, exceptions: Any) -> Any:
    note_asked_about_raise()
    is_limited = _wanted_types and _limits(_filter_of(exceptions))
    if is_limited and not attempt(_is_wanted, cls, default=True):
        return None
    return lookup(cls, exceptions)


def _limits(stop_filter: str) -> bool:
    return not _limited_filters or stop_filter in _limited_filters


def _filter_of(exceptions: Any) -> str:
    """Which filter of DAP pydevd asks for, by the table that it looks into."""
    py_db = debugger()
    if exceptions is py_db.break_on_caught_exceptions:
        return "raised"
    return "userUnhandled" if exceptions is py_db.break_on_user_uncaught_exceptions else "uncaught"


def is_wanted_exception(cls: Any) -> bool:
    """Whether the types that the client named for failures, if it named any, include this class."""
    return not _wanted_types or not _limits("uncaught") or _is_wanted(cls)


def _is_wanted(cls: Any) -> bool:
    bases = mro_of(cls)
    return any(_has_name(base, name) for base in bases for name in _wanted_types) or any(
        value_named(name.split(".")) is base for name in _wanted_types for base in bases
    )


def _has_name(cls: Any, name: str) -> bool:
    """A name without a module means the class of that name in any module."""
    if "." not in name:
        return bool(name_of(cls) == name)
    qualified = qualname_of(cls)
    return bool(name in (f"{module_of(cls)}.{qualified}", qualified))


def _is_known(name: str) -> bool:
    if "." in name and is_class(value_named(name.split("."))):
        return True
    seen, waiting = set(), [BaseException]
    while waiting:
        cls: Any = waiting.pop()
        if _has_name(cls, name):
            return True
        if cls not in seen:
            seen.add(cls)
            waiting += type.__subclasses__(cls)
    return False


def exception_condition(frame: int, condition: str) -> dict[str, Any]:
    """Whether it holds in the frame, in which `exception` is the exception unless it has that name.

    One that raises holds, and `complaint` says what it raised.
    """
    at = find_frame(frame)
    error = current_exception(at)[0]
    names = {"exception": error}
    names.update(at.f_globals)
    names.update(at.f_locals)
    try:
        code = compile(condition, "<condition>", "eval", 0, True)
        return {"holds": bool(eval(code, names))}
    except Exception as raised:  # noqa: BLE001  whatever the program's objects raise
        return {"holds": True, "complaint": exception_line(raised)}


class _Policy:
    """Which of an exception's raise events is worth a stop.

    pydevd reports an exception in each frame that it unwinds. Here it is reported once: in the
    frame that raised, or, with `user_code_only`, in the innermost frame of the program's own.
    """

    user_code_only = False
    first_raise_only = False

    def excludes(self, original: Any, exception_breakpoint: Any, trace: Any) -> Any:
        if original(exception_breakpoint, trace) or _is_of_check(trace):
            return True
        if trace is None or not _is_refined(exception_breakpoint):
            return False
        if self.user_code_only and not is_user_code(trace.tb_frame):
            return True
        if not self.first_raise_only:
            return False
        deeper = trace.tb_next
        while deeper is not None:
            if not self.user_code_only or is_user_code(deeper.tb_frame):
                return True
            deeper = deeper.tb_next
        return False


_policy = _Policy()


def _is_of_check(trace: Any) -> bool:
    """Whether a look of the debugger's own within this code has raised it, and takes it back."""
    return (
        trace is not None
        and trace.tb_next is None
        and is_passed_over(trace.tb_frame.f_code, trace.tb_lasti)
    )


def _is_refined(exception_breakpoint: Any) -> bool:
    caught = debugger().break_on_caught_exceptions
    # One pydevd object may serve "user unhandled" too, which has rules of its own.
    shared = getattr(exception_breakpoint, "notify_on_user_unhandled_exceptions", False)
    return not shared and any(found is exception_breakpoint for found in caught.values())


def refine_exceptions(user_code_only: bool = True, first_raise_only: bool = True) -> dict[str, Any]:
    """Stop once per raised exception; say it again after each setExceptionBreakpoints."""
    py_db = debugger()
    attempt(_patch_lookup)
    _policy.user_code_only, _policy.first_raise_only = user_code_only, first_raise_only
    caught = list(getattr(py_db, "break_on_caught_exceptions", {}).values())
    if all(hasattr(py_db, name) for name in ("exclude_exception_by_filter", "in_project_scope")):
        patch(py_db, "exclude_exception_by_filter", _policy.excludes)
        return {"refined": len(caught), "by": "probe"}
    for found in caught:
        found.ignore_libraries = user_code_only
        found.notify_on_first_raise_only = first_raise_only
    return {"refined": len(caught), "by": "pydevd"}
