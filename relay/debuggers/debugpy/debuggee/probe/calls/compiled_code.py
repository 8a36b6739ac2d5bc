"""Code of imported modules, the same whether it was compiled now or is from a file of `__pycache__`.

A set of constants that is compiled keeps the order of the source, one that is read from a file that of
the file: where items collide, iteration differs. Of a tree and a new checkout of it only the first has
such files. So while runs are compared, code that is compiled is written and read, too.
"""

from __future__ import annotations

import importlib.machinery
import marshal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.process.guard import leave_no_entry

_SourceLoader: Any = importlib.machinery.SourceFileLoader.__mro__[2]
"""The base that compiles; nothing else gives its name."""
_compile_source = _SourceLoader.source_to_code


def read_what_is_compiled() -> None:
    """From now on modules that are compiled at import are as those that are read."""
    _SourceLoader.source_to_code = _compile_and_read


def leave_what_is_compiled() -> None:
    """The program has Python's own way again, unless it has put another in its place."""
    if _SourceLoader.source_to_code is _compile_and_read:
        _SourceLoader.source_to_code = _compile_source


def _compile_and_read(self: Any, data: Any, path: Any, **options: Any) -> Any:
    try:
        return marshal.loads(marshal.dumps(_compile_source(self, data, path, **options)))
    except BaseException as error:
        leave_no_entry(error)
        raise
