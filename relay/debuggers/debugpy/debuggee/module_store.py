"""ModuleStore: the compiled code of the modules that a start imports, all in one file.

pydevd and what it needs of the standard library are two hundred modules. To find and read each takes
a tenth of a start; where there are no .pyc files and none may be written, all of them would be
compiled in each. So a start that has imported others than those that are kept leaves its own.

A module comes from the store only if an import would find that very file: no folder ahead of its own
has a file by that name, its own has the same ones as then, and the file is as it was. What is imported
is the same as what Python finds: module, spec and loader are the same.

Standard library only, Python 3.8 and newer; imports nothing of its own package.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import marshal
import os
import sys
import zipimport
from typing import Any

MOST = 16
"""Files of this kind in a folder, each of some 4 MB: one for each Python and environment."""

MOST_MODULES = 1000
"""In a file: beyond that it is made anew. A start imports 250."""

SUFFIX = "modules"

_FROM_SOURCE = importlib.machinery.SourceFileLoader
_FROM_EXTENSION = importlib.machinery.ExtensionFileLoader


class ModuleStore:
    """A finder for the import system, from `enter` to `keep`.

    kept: the module `kept_file`; folder: where the store is kept; root: of the code that imports.
    """

    def __init__(self, kept: Any, folder: str, root: str) -> None:
        self._kept = kept
        self._path = os.path.join(folder, kept.name_for(SUFFIX, root, sys.prefix))
        self._known: dict[tuple[str, str], Any] = {}
        """By folder and name: the files there by that name, that of the module, its state, what a package
        has as its path, and code; no code for an extension."""
        self._is_new = False
        self._folders: dict[str, dict[str, list[str]] | None] = {}
        self._loaders: list[Any] = []  # that have a `get_code` of ours meanwhile

    def enter(self) -> None:
        """Find modules from now on, if Python finds them the usual way."""
        if _finds_as_usual():
            body = self._kept.read(self._path)
            known = {} if body is None else marshal.loads(body)
            if len(known) <= MOST_MODULES:
                self._known = known
            where = sys.meta_path.index(importlib.machinery.PathFinder)
            sys.meta_path.insert(where, self)

    def keep(self) -> None:
        """Leave nothing in the import system, and have the next start find what this one has imported."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        for loader in self._loaders:
            del loader.get_code
        if self._is_new:
            self._kept.write(self._path, marshal.dumps(self._known))
            self._drop_oldest(os.path.dirname(self._path))

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Of a module that is kept or is to be; None for others: whoever comes next in line finds those."""
        found = self._first(name, sys.path if path is None else list(path))
        if found is None:
            return None
        folder, files = found
        known = self._known.get((folder, name))
        if known is not None and known[0] == files and known[2] == self._kept.state_of(known[1]):
            return self._spec(name, *known[1:])
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None:
            self._note(spec, folder, files)
        return spec

    def _first(self, name: str, search: list[Any]) -> tuple[str, list[str]] | None:
        """The folder where a search comes upon the name, and all that has it there; None if unknown."""
        last = name.rpartition(".")[2]
        for folder in search:
            entries = self._entries(folder)
            if entries is None:
                return None
            if last in entries:
                return folder, entries[last]
        return None

    def _entries(self, folder: Any) -> dict[str, list[str]] | None:
        """What lies in a folder, by what an import would ask for; None where that cannot be known."""
        if folder not in self._folders:
            self._folders[folder] = _entries(folder)
            _note_finder(folder)
        return self._folders[folder]

    def _spec(self, name: str, file: str, _state: Any, locations: Any, code: Any) -> Any:
        if code is None:
            extension = _FROM_EXTENSION(name, file)
            return importlib.util.spec_from_file_location(name, file, loader=extension)
        loader: Any = _FROM_SOURCE(name, file)
        self._has_code(loader, lambda _: code)
        return importlib.util.spec_from_file_location(
            name, file, loader=loader, submodule_search_locations=locations
        )

    def _note(self, spec: Any, folder: str, files: list[str]) -> None:
        """Keep the module of this spec for the next start, once it is imported."""
        loader, locations = spec.loader, spec.submodule_search_locations
        if type(loader) not in (_FROM_SOURCE, _FROM_EXTENSION):
            return
        state = self._kept.state_of(spec.origin)

        def keep(code: Any) -> None:
            self._known[folder, spec.name] = files, spec.origin, state, locations, code
            self._is_new = True

        def get_code(name: str) -> Any:
            code = _FROM_SOURCE.get_code(loader, name)
            keep(code)
            return code

        if type(loader) is _FROM_SOURCE:
            self._has_code(loader, get_code)
        elif locations is None:
            keep(None)

    def _has_code(self, loader: Any, get_code: Any) -> None:
        loader.get_code = get_code
        self._loaders.append(loader)

    def _drop_oldest(self, folder: str) -> None:
        try:
            with os.scandir(folder) as entries:
                stores = [one for one in entries if one.name.endswith("." + SUFFIX)]
            stores.sort(key=lambda one: one.stat().st_mtime_ns)
            for one in stores[:-MOST]:
                os.unlink(one.path)
        except OSError:
            pass  # another start does the same


def _finds_as_usual() -> bool:
    """Whether Python looks for modules in folders as it does where nobody has changed that."""
    hooks = sys.path_hooks
    return (
        importlib.machinery.PathFinder in sys.meta_path
        and len(hooks) == 2
        and hooks[0] is zipimport.zipimporter
        and getattr(hooks[1], "__module__", None) == importlib.machinery.FileFinder.__module__
    )


def _entries(folder: Any) -> dict[str, list[str]] | None:
    if not isinstance(folder, str) or not os.path.isabs(folder):
        return None
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        return None  # it may be an archive
    found: dict[str, list[str]] = {}
    for name in sorted(names):
        found.setdefault(name.partition(".")[0], []).append(name)
    return found


def _note_finder(folder: Any) -> None:
    """Have Python know who finds in that folder, as it does once it has looked for a module there."""
    if not isinstance(folder, str) or folder in sys.path_importer_cache:
        return
    finder = None
    for hook in sys.path_hooks:
        try:
            finder = hook(folder)
        except ImportError:
            continue
        break
    sys.path_importer_cache[folder] = finder
