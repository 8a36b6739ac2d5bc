"""The entries of `adapters` in config.json, added and taken away again byte for byte.

Other settings, their order and their spelling stay as they are.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from relay.agents import jsonc
from relay.agents.jsonc import NotJson, NotThatShape
from relay.agents.record import FileRecord, Record, as_paths
from relay.config import config_file
from relay.state_files import FILE_MODE, remove, write_whole

KEY = "adapters"
BLANK = "{}\n"


class AdaptersFileError(Exception):
    """Nothing was changed; says which file and why."""


@dataclass(frozen=True)
class Edit:
    """What becomes of config.json; None is no file."""

    path: Path
    before: bytes | None
    after: bytes | None
    record: Record

    def carry_out(self) -> None:
        """Write config.json, or remove it, and the record of it. Raises OSError."""
        if self.after is None:
            remove(self.path)
        elif self.after != self.before:
            self.record.make_directory(self.path.parent)
            write_whole(self.path, self.after, self._mode())
        self.record.write()

    def _mode(self) -> int:
        return FILE_MODE if self.before is None else stat.S_IMODE(self.path.stat().st_mode)


class AdaptersFile:
    """config.json of one state directory."""

    def __init__(self, state_dir: Path) -> None:
        """Raises AdaptersFileError if the file cannot be read."""
        self.path = config_file(state_dir)
        if self.path.is_symlink():
            self.path = self.path.resolve()
        self._record = Record.read(self.path.parent)
        try:
            self._before: bytes | None = self.path.read_bytes()
        except FileNotFoundError:
            self._before = None
        except OSError as error:
            raise AdaptersFileError(f"{self.path} cannot be read: {error.strerror}") from None
        try:
            self._text = (self._before or b"").decode()
            values = json.loads(self._text) if self._text.strip() else {}
            self.entries: Mapping[str, Any] = values.get(KEY, {})
            jsonc.find(jsonc.parse(self._text or BLANK), (KEY, ""))
        except (ValueError, AttributeError, NotJson, NotThatShape) as error:
            raise AdaptersFileError(f"{self.path} cannot be read: {error}") from None

    def with_entry(self, name: str, entry: Mapping[str, Any]) -> Edit:
        """The file with this entry; raises AdaptersFileError if another has the name."""
        there = self.entries.get(name)
        if there is not None and there != entry:
            raise AdaptersFileError(f"{self.path} has another adapter named {name}")
        text, known = self._text, self._record.of(self.path)
        if not text.strip():
            text, known.new, known.made = BLANK, self._before is None, [[]]
        if there is None:
            text, made = jsonc.set_member(text, (KEY, name), dict(entry))
            known.made += [list(path) for path in made]
        return self._edit(text.encode())

    def without_entry(self, name: str) -> Edit:
        """The file without the entry of this name; raises AdaptersFileError if there is none."""
        if name not in self.entries:
            listed = ", ".join(self.entries) or "none"
            raise AdaptersFileError(f"{self.path} has no adapter named {name}; there are: {listed}")
        known = self._record.files.get(str(self.path)) or FileRecord()
        text = jsonc.without_member(self._text, (KEY, name))
        text = jsonc.prune(text, as_paths(known.made))
        if jsonc.find(jsonc.parse(text), (KEY,)) is None:
            self._record.files.pop(str(self.path), None)
            if [] in known.made and jsonc.is_empty(text):
                return self._edit(None if known.new else b"")
        return self._edit(text.encode())

    def _edit(self, after: bytes | None) -> Edit:
        return Edit(self.path, self._before, after, self._record)
