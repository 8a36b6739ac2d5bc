"""Functions of libraries that are listened to: who calls them, with what, and what they give.

A function is wrapped once, whoever else listens; what a listener does changes nothing for its
caller, and what it raises is dropped. The wrapper is the debugger's own code: no step leads into
it, and no report shows it.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import is_debugger_file
    from relay.debuggers.debugpy.debuggee.probe.process.guard import (
        attempt,
        frame_at,
        leave_no_entry,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact


def listen(
    owner: Any,
    name: str,
    before: Callable[..., Any] | None = None,
    after: Callable[..., Any] | None = None,
) -> bool:
    """Have `before(*args, **kwargs)` called ahead of each call, `after(result, *args, **kwargs)`
    behind those that return. A class method gives its class as the first argument. False where
    the owner has no such function.

    Who listens already is not called twice: a class may be met with each test.
    """
    own: Any = vars(owner).get(name) if isinstance(owner, type) else None
    bound: Any = type(own) if type(own) in (classmethod, staticmethod) else None
    function = own.__func__ if bound else getattr(owner, name, None)
    if function is None:
        return False
    listeners = getattr(function, "_debug_relay_listeners", None)
    if listeners is not None and getattr(function, "_debug_relay_owner", None) is owner:
        if (before, after) not in listeners:
            listeners.append((before, after))
        return True
    call = _wrapper(owner, function, [(before, after)])
    setattr(owner, name, bound(call) if bound else call)
    return True


def _wrapper(owner: Any, function: Any, listeners: list[Any]) -> Any:
    import functools

    @functools.wraps(function, updated=())
    def call(*arguments: Any, **named: Any) -> Any:
        for before, _ in listeners:
            if before is not None:
                _attempt(before, arguments, named)
        try:
            result = function(*arguments, **named)
        except BaseException as error:
            leave_no_entry(error)
            raise
        for _, after in listeners:
            if after is not None:
                _attempt(after, (result, *arguments), named)
        return result

    own = {name: value for name, value in vars(function).items() if "_debug_relay" not in name}
    vars(call).update(own)  # what a library has noted on it: pytest's marks of hooks, say
    wrapper: Any = call
    wrapper.__code__ = wrapper.__code__.replace(co_filename=_SKIPPED_BY_WARNINGS)
    call._debug_relay_listeners = listeners  # type: ignore[attr-defined]
    call._debug_relay_owner = owner  # type: ignore[attr-defined]
    return call


# A warning says whose caller, some calls away, is meant by it. Python leaves out what it takes for its
# import system by such a name: it is to count the program's calls as without a wrapper among them.
_SKIPPED_BY_WARNINGS = os.path.join(
    os.path.dirname(listen.__code__.co_filename), "importlib", "_bootstrap.py"
)


def _attempt(listener: Any, arguments: Any, named: Any) -> None:
    attempt(lambda: listener(*arguments, **named))


def error_under_way() -> Any:
    """The exception that this thread handles now, or None."""
    return sys.exc_info()[1]


def calling_frame() -> Any:
    """The innermost frame that is not the debugger's."""
    frame: Any = frame_at(1)
    while frame is not None and is_debugger_file(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def module_of_frame(frame: Any) -> str:
    """The name of the module whose code it runs; "" of None."""
    return "" if frame is None else exact(str(frame.f_globals.get("__name__", "")))
