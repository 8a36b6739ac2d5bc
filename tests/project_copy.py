"""A copy of the project, for tests that change it as docs/architecture.md says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import relay

PROJECT = Path(relay.__file__).parent.parent

Edits = Mapping[str, Iterable[tuple[str, str]]]
"""By file, each text in it, and what it becomes, or the lines that go before it."""


def copy_of(folder: Path, *names: str) -> Path:
    """Copy these folders of the project into `folder`; gives the copy of `relay/`."""
    for name in names:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(PROJECT / name, folder / name, ignore=ignored)
    return folder / "relay"


def edit(root: Path, edits: Edits) -> None:
    """Make the edits in the files below `root`. What is replaced must be there once."""
    for name, pairs in edits.items():
        text = (root / name).read_text()
        for found, new in pairs:
            assert text.count(found) == 1, (name, found)
            text = text.replace(found, new + found if new.endswith("\n") else new)
        (root / name).write_text(text)


def section(name: str) -> str:
    """A section of docs/architecture.md."""
    text = (PROJECT / "docs" / "architecture.md").read_text()
    found = re.search(rf"^## {name}\n(.*?)(?=^## )", text, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def run(folder: Path, *arguments: str) -> None:
    """Run Python in the copy, which comes before the relay that is installed."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
