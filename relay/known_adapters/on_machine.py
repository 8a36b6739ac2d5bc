"""Which debuggers that the relay knows by name are on this machine. Runs each, for its version."""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import trio

from relay.known_adapters.recipes import RECIPES, Recipe, is_script

VERSION_SECONDS = 10.0


@dataclass(frozen=True)
class FoundAdapter:
    """One debugger as this machine has it; `executable` is None if it has it not."""

    recipe: Recipe
    executable: str | None = None
    version: str | None = None
    """None where it does not say."""

    @property
    def obstacle(self) -> str | None:
        """Why it cannot be used; None if it can, or is not there."""
        major = int((self.version or "0").partition(".")[0])
        if self.version is not None and major < self.recipe.oldest:
            return f"it speaks the Debug Adapter Protocol from version {self.recipe.oldest} on"
        return None


async def find_adapters(
    environment: Mapping[str, str], executables: Mapping[str, str]
) -> list[FoundAdapter]:
    """Each that the relay knows by name, in the order of the table.

    `executables` are the paths of those that need not be looked for.
    """
    found: dict[str, FoundAdapter] = {}

    async def look(recipe: Recipe) -> None:
        executable = executables.get(recipe.name) or executable_of(recipe, environment)
        words = recipe.version_words
        version = None
        if executable is not None and words is not None:
            version = await _version([executable, *words], environment)
        found[recipe.name] = FoundAdapter(recipe, executable, version or None)

    async with trio.open_nursery() as nursery:
        for recipe in RECIPES:
            nursery.start_soon(look, recipe)
    return [found[recipe.name] for recipe in RECIPES]


def executable_of(recipe: Recipe, environment: Mapping[str, str]) -> str | None:
    """The path of the executable to prefer; None if there is none."""
    path = environment.get("PATH", os.defpath)
    folders = path.split(os.pathsep)
    for name in recipe.executables:
        if name.startswith("../"):
            places = [os.path.normpath(f"{folder}/{name}") for folder in folders if folder]
        elif os.sep in name:
            places = sorted(glob.glob(os.path.expanduser(name)), reverse=True)
        elif glob.has_magic(name):
            places = [one for folder in folders for one in sorted(glob.glob(f"{folder}/{name}"))]
        else:
            places = [shutil.which(name, path=path) or ""]
        for place in places:
            mode = os.R_OK if is_script(place) else os.X_OK
            if place and os.path.isfile(place) and os.access(place, mode):
                return os.path.abspath(place)
    return None


async def _version(command: Sequence[str], environment: Mapping[str, str]) -> str | None:
    said = ""
    with trio.move_on_after(VERSION_SECONDS):
        try:
            done = await trio.run_process(
                command,
                capture_stdout=True,
                stderr=subprocess.DEVNULL,
                check=False,
                env=dict(environment),
            )
        except OSError:
            return None
        said = done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""
    # A number that names the language or the package may stand in the name before.
    number = re.search(r"(?<![\w.-])\d+(?:\.\d+)+", said)
    if number is not None:
        return number[0]
    # Some say none; then it is in the name, or in that of the folder that it really lies in.
    return _version_in_name(command[0])


def _version_in_name(executable: str) -> str | None:
    by_name = re.search(r"-(\d+)$", executable)
    by_folder = re.search(r"/llvm-(\d+)/", os.path.realpath(executable))
    found = by_name or by_folder
    return found and found[1]
