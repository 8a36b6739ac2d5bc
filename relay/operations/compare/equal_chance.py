"""What the runs of both sides have alike, though the program leaves it to chance.

Tests draw their data at random: hypothesis its examples, faker its names. Two runs in which these are others
have hardly a call in common. So all draw the same numbers, and begin with the examples that failed before; one further
run has other numbers from the call on that differs, and shows whether that depends on them.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_EXAMPLES = ".hypothesis"
_EXAMPLES_VARIABLE = "HYPOTHESIS_STORAGE_DIRECTORY"


class EqualChance(NamedTuple):
    """What one run begins with."""

    examples: str
    """The directory that hypothesis has in the place of its own. What it notes there no other run sees."""
    anew: int | None = None
    """The number of the call from whose beginning on random numbers are others; None: all are those of other runs."""


def remembered_examples(cwd: str, root: str, env: Mapping[str, str]) -> Path | None:
    """Where hypothesis keeps what failed before, for a program that runs there; None if nothing is kept."""
    named = env.get(_EXAMPLES_VARIABLE) or os.environ.get(_EXAMPLES_VARIABLE)
    folders = [named] if named else [_EXAMPLES, os.path.join(root, _EXAMPLES)]
    found = (Path(cwd, folder) for folder in folders)
    return next((folder for folder in found if folder.is_dir()), None)


def bring_examples(remembered: Path | None, directory: Path) -> None:
    """Copy them to a directory that is not there yet. One without any is made."""
    if remembered is not None:
        with suppress(OSError, shutil.Error):  # other tests change them meanwhile
            shutil.copytree(remembered, directory)
    directory.mkdir(exist_ok=True)
