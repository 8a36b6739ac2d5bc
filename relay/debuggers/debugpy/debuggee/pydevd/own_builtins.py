"""Built-in functions of the debugger's own, `__import__` among them, whatever the program makes of those.

Tests replace `builtins.__import__` by a mock that raises, or empty `sys.modules`. Code of the debugger that
runs then would raise in the middle of the program, or import a second copy of pydevd, which debugs nothing.

Standard library only, Python 3.8 and newer; imports nothing of its own package.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib.machinery
import sys
from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_PYDEVD = ("pydevd", "_pydevd", "_pydev_")
_import = builtins.__import__
_FROM_SOURCE = importlib.machinery.SourceFileLoader


class OwnBuiltins:
    """What `space` holds is what code finds that runs in a module with it as `__builtins__`."""

    def __init__(self) -> None:
        self.space: dict[str, Any] = {**vars(builtins), "__import__": self._import_kept}
        self._modules: dict[str, Any] = {}

    @contextlib.contextmanager
    def given_to_pydevd(self) -> Iterator[None]:
        """The modules of pydevd that are imported meanwhile get them."""
        sys.meta_path.insert(0, self)  # type: ignore[arg-type,unused-ignore]
        try:
            yield
        finally:
            sys.meta_path.remove(self)  # type: ignore[arg-type,unused-ignore]

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """What the other finders find; it is run with these built-in functions."""
        if not name.startswith(_PYDEVD):
            return None
        spec = None
        for finder in sys.meta_path:
            if finder is not self:
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    break
        if spec is not None and type(spec.loader) is _FROM_SOURCE:
            self._run_with_them(spec.loader)
        return spec

    def _run_with_them(self, loader: Any) -> None:
        def exec_module(module: Any) -> None:
            del loader.exec_module
            vars(module).setdefault("__builtins__", self.space)
            loader.exec_module(module)

        loader.exec_module = exec_module

    def keep_modules(self) -> None:
        """What is imported by now is what an `import` of the debugger's gives from now on."""
        self._modules = dict(sys.modules)

    def _import_kept(
        self,
        name: str,
        space: Any = None,
        names: Any = None,
        fromlist: Any = (),
        level: int = 0,
    ) -> Any:
        found = self._modules.get(name)
        if level == 0 and found is not None and sys.modules.get(name) is not found:
            if not fromlist:
                return self._modules[name.partition(".")[0]]
            if all(hasattr(found, each) for each in fromlist):
                return found
        return _import(name, space, names, fromlist, level)
