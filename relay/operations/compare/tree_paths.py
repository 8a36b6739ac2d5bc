"""The folders of a tree from which an interpreter imports, besides its root: of PYTHONPATH, and of what is
installed from the tree for editing. Another tree is run with its own in their place.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence

import trio

_MARK = "debug-relay-paths:"
_SAY_PATHS = f"""\
import json, os, sys
found = [path for path in sys.path if path]
for name, module in sorted(sys.modules.items()):
    if not name.startswith("__editable__"):
        continue
    for package, path in sorted(getattr(module, "MAPPING", {{}}).items()):
        parts = package.split(".")
        names = path.replace(os.sep, "/").split("/")
        if names[-len(parts):] == parts:
            found.append("/".join(names[:-len(parts)]))
print({_MARK!r} + json.dumps(found))
"""
"""What setuptools installs for editing may be known to a finder of its own, in the place of a path."""


async def paths_within(root: str, python: str, environment: Mapping[str, str]) -> list[str]:
    """Those below `root`, by their whole paths, in the interpreter's order; none if it does not say."""
    try:
        said = await trio.run_process(
            [python, "-c", _SAY_PATHS],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_stdout=True,
            capture_stderr=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return []
    return _below(root, _read(os.fsdecode(said.stdout)))


def _read(printed: str) -> list[str]:
    """Not all of it: what Python runs at its start may have printed before."""
    _, mark, said = printed.rpartition(_MARK)
    return list(json.loads(said.partition("\n")[0])) if mark else []


def _below(root: str, paths: Sequence[str]) -> list[str]:
    start = os.path.realpath(root) + os.sep
    real = (os.path.realpath(path) for path in paths)
    return list(dict.fromkeys(path for path in real if path.startswith(start)))
