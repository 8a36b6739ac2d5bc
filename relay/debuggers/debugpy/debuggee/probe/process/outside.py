"""What strikes the debugger while it is at work within the program, and is the program's.

A signal's handler runs wherever its thread is, and another thread may have it raise. Such an
exception was to go up where the program stood: it is no fault of what it struck, nor of what that
had asked. Knows where the interpreter calls handlers. Refuses to know who catches.
"""

from __future__ import annotations

import dis
import itertools
import threading
from typing import Any

_main_thread, _this_ident = threading.main_thread, threading.get_ident
_AT_EASE = frozenset(
    dis.opmap[name]
    for name in ("RESUME", "JUMP_BACKWARD", "JUMP_ABSOLUTE", "LOAD_CONST", "POP_TOP")
    if name in dis.opmap
)
"""Instructions that raise nothing by themselves; but for want of stack or memory."""
_RAISES = frozenset(dis.opmap[name] for name in ("RAISE_VARARGS", "RERAISE") if name in dis.opmap)
_RESUMES_AT = dis.opmap.get("RESUME")
_WANT = (RecursionError, MemoryError)
_calls_put_in: list[Any] = []
_STARRED = 0x04  # of a code's flags: it takes any number of arguments


def know_calls_put_in(are_at: Any) -> None:
    """`are_at` tells whether a call that was put in stands at this offset of a code: it raises again what has
    struck in it, as if it had come in between."""
    _calls_put_in.append(are_at)


def is_from_outside(error: BaseException) -> bool:
    """Whether an exception that was caught here is one that struck from outside."""
    if issubclass(type(error), _WANT):
        return False
    entry: Any = error.__traceback__
    while entry is not None:
        if _handles_signal(entry.tb_frame):
            return True
        if entry.tb_next is None:
            return _is_ctrl_c(error, entry) or _is_at_ease(entry) or _is_put_in(entry)
        entry = entry.tb_next
    return False


def _is_ctrl_c(error: BaseException, entry: Any) -> bool:
    """Python's own handler is in C: its exception begins where the thread was, and at no `raise`."""
    if type(error) is not KeyboardInterrupt or _this_ident() != _main_thread().ident:
        return False
    return entry.tb_frame.f_code.co_code[max(entry.tb_lasti, 0)] not in _RAISES


def _is_at_ease(entry: Any) -> bool:
    operations, at = entry.tb_frame.f_code.co_code, entry.tb_lasti
    if not 0 <= at < len(operations) or operations[at] not in _AT_EASE:
        return False
    # A generator that something is thrown into stands at such a one, too.
    return bool(operations[at] != _RESUMES_AT or operations[at + 1] == 0)


def _is_put_in(entry: Any) -> bool:
    code, at = entry.tb_frame.f_code, entry.tb_lasti
    return any(are_at(code, at) for are_at in _calls_put_in)


def _handles_signal(frame: Any) -> bool:
    """Whether a frame was called as a handler: with a signal's number, and the frame that it came in."""
    if frame.f_globals is globals():
        return False  # one of these here: a frame that is asked for its variables may keep them
    code, within = frame.f_code, frame.f_back
    names = code.co_varnames[: code.co_argcount + bool(code.co_flags & _STARRED)]
    given: list[Any] = []
    for name in names:
        value = frame.f_locals.get(name)
        given += value if type(value) is tuple else (value,)
    pairs = zip(given, given[1:])  # noqa: B905, RUF007  not in Python 3.8
    return any(isinstance(number, int) and one is within for number, one in pairs)


def raise_soon(error: BaseException) -> None:
    """Have this thread raise it once it is back in the program: where a callback of C may raise nothing.

    To be called last: the interpreter looks for it at the next call of a function.
    """
    import ctypes

    class Held(BaseException):
        def __new__(cls, *_: Any) -> Any:
            return error

    set_error = ctypes.pythonapi.PyThreadState_SetAsyncExc
    given = ctypes.c_ulong(_this_ident()), ctypes.py_object(Held)
    # No call, after which the interpreter would look here.
    (_,) = itertools.starmap(set_error, (given,))
