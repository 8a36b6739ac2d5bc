"""Functions that cloudpickle sends to another process by their code, as joblib and dask do: their
code keeps its file there, so that breakpoints of the file are found.

Since cloudpickle 3.1 it says "<dynamic-code>" in place of the file.
"""

from __future__ import annotations

import functools
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.imports import when_imported
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt

_CLOUDPICKLES = (
    "cloudpickle.cloudpickle",
    "joblib.externals.cloudpickle.cloudpickle",
    "pyspark.cloudpickle.cloudpickle",
    "ray.cloudpickle.cloudpickle",
)
_NO_FILE = "<dynamic-code>"


def keep_files_of_pickled_code() -> None:
    """In each cloudpickle of the program, now or once it is imported."""
    for name in _CLOUDPICKLES:
        when_imported(name, _keep_files)


def _keep_files(module: Any) -> None:
    table = module.Pickler._dispatch_table
    reduce = table[types.CodeType]
    if hasattr(reduce, "__wrapped__"):
        return

    @functools.wraps(reduce)
    def reduce_code(code: Any) -> Any:
        made = reduce(code)
        return attempt(_with_file, code, made, default=made)

    table[types.CodeType] = reduce_code


def _with_file(code: Any, made: Any) -> Any:
    # A string of its own, as cloudpickle makes them: one that is shared is pickled once.
    path = "".join(list(code.co_filename))
    kind, arguments, *more = made
    return (
        kind,
        tuple(path if type(one) is str and one == _NO_FILE else one for one in arguments),
        *more,
    )
