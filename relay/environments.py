"""What a program has that was given nothing: environment, hash seed, and the interpreter it means.

The interpreter is that of the active virtual environment, which VIRTUAL_ENV names, else of a
`.venv` in one of the places that the caller knows. Looks at the file system, and runs nothing.
"""

from __future__ import annotations

import os
import re
import secrets
import sys
from collections.abc import Iterable, Mapping

NAME = ".venv"
ACTIVE = "VIRTUAL_ENV"
SCRIPTS = frozenset({"bin", "Scripts"})
"""Folders of an environment that hold its commands."""

_CALLS_ENTRY_POINT = re.compile(rb"^\s*sys\.argv\[0\] = |load_entry_point", re.MULTILINE)
"""In the text of a launcher, whichever of pip, uv, conda and setuptools has made it."""

_LONGEST_LAUNCHER = 2_000
_PYTHON = os.path.join("Scripts", "python.exe") if sys.platform == "win32" else "bin/python"

WITHHELD = frozenset({"RELAY_TOKEN"})
"""Variables of the relay that are none of a program's business; settings may be in any case."""


def own_environment() -> dict[str, str]:
    """The relay's, as far as it is a program's: for all that runs code which is not the relay's."""
    return {name: value for name, value in os.environ.items() if name.upper() not in WITHHELD}


def chance_seed() -> int:
    """A hash seed as Python chooses one where nobody gives it any. Never 0, which means none."""
    return secrets.randbelow(2**32 - 1) + 1


def free_hash_seed(environment: Mapping[str, str]) -> int | None:
    """What Python would choose by chance, so that another run can be given the same.

    None if the environment names one.
    """
    chosen = environment.get("PYTHONHASHSEED")
    return chance_seed() if chosen in (None, "", "random") else None


def environment_python(environment: Mapping[str, str], places: Iterable[str]) -> str | None:
    """The absolute path of the interpreter, or None if there is no such environment."""
    active = environment.get(ACTIVE)
    return (active and _python_of(active)) or next(
        filter(None, (_python_of(os.path.join(place, NAME)) for place in places)), None
    )


def is_installed_command(path: str) -> bool:
    """Whether a script is a command that was installed, such as `.venv/bin/pytest`: beside a Python."""
    folder, name = os.path.split(os.path.realpath(path))
    return not name.endswith(".py") and any(
        os.access(os.path.join(folder, python), os.X_OK) for python in ("python", "python3")
    )


def is_launcher(path: str) -> bool:
    """Whether a script is an installed command which but calls what a library names, as pip makes them."""
    if not is_installed_command(path):
        return False
    try:
        with open(path, "rb") as file:
            text = file.read(_LONGEST_LAUNCHER + 1)
    except OSError:
        return False
    return len(text) <= _LONGEST_LAUNCHER and _CALLS_ENTRY_POINT.search(text) is not None


def is_command_of_environment(path: str) -> bool:
    """Whether a file lies where a virtual environment has its commands."""
    folder = os.path.dirname(path)
    root, name = os.path.split(folder)
    return name in SCRIPTS and os.path.isfile(os.path.join(root, "pyvenv.cfg"))


def _python_of(directory: str) -> str | None:
    if not os.path.isfile(os.path.join(directory, "pyvenv.cfg")):
        return None
    path = os.path.abspath(os.path.join(directory, _PYTHON))
    return path if os.access(path, os.X_OK) and os.path.isfile(path) else None
