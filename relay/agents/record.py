"""What an installation has made from nothing: files, directories, and containers in documents.

An empty object that was there before looks like one that was made, and stays when the rest is
taken away; only this record knows which is which. It lies in the state directory while anything is
installed. Losing it loses nothing but that: what is ours is known without it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from relay.state_files import DIRECTORY_MODE, remove, set_aside, write_whole

NAME = "agents.json"


@dataclass
class FileRecord:
    """One file that was changed or made."""

    new: bool = False
    """There was no such file."""
    blank: str = ""
    """What an otherwise empty file had in it: white space, a byte order mark."""
    made: list[list[str]] = field(default_factory=list)
    """Containers and values that were made in a document, by their paths."""
    clients: list[str] = field(default_factory=list)
    """Who reads this file of our own."""
    digest: str | None = None
    """Of what was written, if the file is our own."""


@dataclass
class Record:
    """All that was made, by absolute path."""

    path: Path
    files: dict[str, FileRecord] = field(default_factory=dict)
    directories: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, state_dir: Path) -> Record:
        """The record of the state directory; a damaged one is moved aside, and begun anew."""
        path = state_dir / NAME
        try:
            document = json.loads(path.read_bytes())
            files = {name: FileRecord(**one) for name, one in document["files"].items()}
            return cls(path, files, list(document["directories"]))
        except FileNotFoundError:
            return cls(path)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            set_aside(path, error)
            return cls(path)

    def of(self, path: Path) -> FileRecord:
        """What is known of a file, for changing it."""
        return self.files.setdefault(str(path), FileRecord())

    def make_directory(self, path: Path) -> None:
        """Make a directory and those above it, and remember each. Raises OSError."""
        missing: list[Path] = []
        while not path.is_dir():
            missing.append(path)
            path = path.parent
        for one in reversed(missing):
            one.mkdir(DIRECTORY_MODE if one == self.path.parent else 0o777)
            self.directories.append(str(one))

    def remove_directories(self) -> None:
        """Take away those that are empty, of all that were made. What is in use is kept."""
        for name in sorted(self.directories, key=len, reverse=True):
            try:
                os.rmdir(name)
            except OSError:
                if Path(name).is_dir():
                    continue
            self.directories.remove(name)

    def write(self) -> None:
        """Save it, or take the file away where nothing is left to remember. Raises OSError."""
        files = {name: asdict(one) for name, one in self.files.items() if one != FileRecord()}
        if not files:
            remove(self.path)
            self.remove_directories()
            return
        self.make_directory(self.path.parent)
        document: dict[str, Any] = {"format": 1, "files": files, "directories": self.directories}
        write_whole(self.path, json.dumps(document, indent=1).encode() + b"\n")


def as_paths(made: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Paths as `jsonc` has them."""
    return [tuple(path) for path in made]
