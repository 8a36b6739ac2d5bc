"""Parts: the files here, as modules that the program does not find, and where their code comes from.

Knows the two stores that a start leaves for the next one: of these files and of the modules of others.

Standard library only, Python 3.8 and newer; imports nothing of its own package.
"""

from __future__ import annotations

import importlib.machinery
import os
import types
from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

HERE = os.path.dirname(os.path.abspath(__file__))


def code_in_pyc(path: str) -> Any:
    """The compiled code of a file, from its .pyc file if there is one."""
    return importlib.machinery.SourceFileLoader(path, path).get_code(path)


class Parts:
    """The files here, as modules that are not in sys.modules.

    cache: a folder in which compiled code is kept. Without one, or where there is no place for it
    because the relay has no state directory, that of .pyc files is used.
    """

    def __init__(self, cache: str | None) -> None:
        self._code_of: Callable[[str], Any] = code_in_pyc
        if not cache or not os.path.isdir(os.path.dirname(cache)):
            self._stores: tuple[Any, ...] = ()
            return
        kept = self.load("kept_file")
        store = self.load("code_store").CodeStore(kept, cache, HERE)
        self._code_of = store.code
        self._stores = store, self.load("module_store").ModuleStore(kept, cache, HERE)

    def load(self, name: str, builtins: Any = None) -> Any:
        """The module in a file of that name, without its suffix. One of several finds the others.

        builtins: the built-in functions that it finds, if not the program's.
        """
        path = os.path.join(HERE, *name.split("/")) + ".py"
        module: Any = types.ModuleType(
            "_debug_relay_" + name.replace("/entry", "").replace("/", "_")
        )
        module.__file__, module._debug_relay_code_of = path, self._code_of
        if builtins is not None:
            module.__builtins__ = builtins
        exec(self._code_of(path), module.__dict__)
        del module._debug_relay_code_of
        return module

    def find_modules(self) -> None:
        """Modules that are imported from now on are found in a store, too; until `keep`."""
        for store in self._stores[1:]:
            store.enter()

    def keep(self) -> None:
        """All is loaded: the next start is to find the code of it."""
        for store in self._stores:
            store.keep()
