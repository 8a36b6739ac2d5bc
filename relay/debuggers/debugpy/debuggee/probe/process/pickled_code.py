"""Functions that cloudpickle sends by their code, as joblib and dask do: their code has its file where it
arrives, so that breakpoints of the file are found, and stacks show it as the program's own.

Since cloudpickle 3.1 it says "<dynamic-code>" in place of the file. What arrives in the process that
has sent it, in a worker thread, gets its file back; what is sent says the file only while all children
are debugged: dask makes keys of what is sent, and a child without the debugger makes others.
"""

from __future__ import annotations

import functools
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.imports import when_imported
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.traps.coming import TRAP

_CLOUDPICKLES = (
    "cloudpickle.cloudpickle",
    "joblib.externals.cloudpickle.cloudpickle",
    "pyspark.cloudpickle.cloudpickle",
    "ray.cloudpickle.cloudpickle",
)
_NO_FILE = "<dynamic-code>"
_MOST_SENT = 5000

_sends_files: list[bool] = []
_files_of_sent: dict[Any, str] = {}
"""By what is in it but the file, of each code that was sent; empty if two files have one alike."""


def know_files_of_pickled_code() -> None:
    """In each cloudpickle of the program, now or once it is imported."""
    for name in _CLOUDPICKLES:
        when_imported(name, _watch_code)


def keep_files_of_pickled_code() -> None:
    """The same, and what is sent says its file from now on."""
    _sends_files[:] = [True]
    know_files_of_pickled_code()


def _watch_code(module: Any) -> None:
    table = module.Pickler._dispatch_table
    reduce, make = table[types.CodeType], module._make_function
    if hasattr(reduce, "__wrapped__"):
        return

    @functools.wraps(reduce)
    def reduce_code(code: Any) -> Any:
        made = reduce(code)
        if _sends_files:
            return attempt(_with_its_file, code, made, default=made)
        attempt(_note_file_of_sent, code)
        return made

    @functools.wraps(make)
    def make_function(code: Any, *more: Any) -> Any:
        return make(attempt(_with_file_of_sent, code, default=code), *more)

    table[types.CodeType] = reduce_code
    module._make_function = make_function


def _with_its_file(code: Any, made: Any) -> Any:
    # A string of its own, as cloudpickle makes them: one that is shared is pickled once.
    path = "".join(list(code.co_filename))
    kind, arguments, *more = made
    return (
        kind,
        tuple(path if type(one) is str and one == _NO_FILE else one for one in arguments),
        *more,
    )


def _note_file_of_sent(code: Any) -> None:
    path = code.co_filename
    if path == _NO_FILE:
        return
    content = _all_but_file(code)
    if _files_of_sent.setdefault(content, path) != path:
        _files_of_sent[content] = ""
    elif len(_files_of_sent) > _MOST_SENT:
        _files_of_sent.clear()


def _with_file_of_sent(code: Any) -> Any:
    path = _files_of_sent.get(_all_but_file(code)) if code.co_filename == _NO_FILE else None
    return _placed_in_file(code, path) if path else code


def _all_but_file(code: Any) -> tuple[Any, ...]:
    """All of a code but its file, and with what stands for a trap where it was sent."""
    lines = getattr(code, "co_linetable", None)
    return (
        code.co_name,
        code.co_firstlineno,
        code.co_lnotab if lines is None else lines,
        code.co_code,
        code.co_flags,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        *(
            _all_but_file(one) if type(one) is types.CodeType else (type(one), one)
            for one in (int if one is TRAP else one for one in code.co_consts)
        ),
    )


def _placed_in_file(code: Any, path: str) -> Any:
    """The code, with that of functions within it; with traps again, where it was sent with them."""
    constants = []
    for one in code.co_consts:
        if type(one) is types.CodeType and one.co_filename == _NO_FILE:
            one = _placed_in_file(one, path)
        constants.append(TRAP if one is int else one)
    return code.replace(co_filename=path, co_consts=tuple(constants))
