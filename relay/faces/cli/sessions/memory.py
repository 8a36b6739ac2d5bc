"""Which session was last used from a directory: one small file each in the state directory.

Knows files. Knows no server: what is remembered may be gone.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from relay.state_files import remove, write_whole


class Memory:
    """What is remembered for a directory. What cannot be kept is not: no error."""

    def __init__(self, state_dir: Path, directory: str) -> None:
        here = hashlib.sha256(os.fsencode(directory)).hexdigest()[:24]
        self._path = state_dir.expanduser() / "shell" / here

    def recall(self) -> str | None:
        """The id of the session that was last used here; None if there is none to be read."""
        try:
            return self._path.read_text().strip() or None
        except (OSError, ValueError):
            return None

    def keep(self, session_id: str) -> None:
        """Remember this session for the directory."""
        if self.recall() != session_id:
            with suppress(OSError):
                write_whole(self._path, session_id.encode())

    def forget(self) -> None:
        """Remember none: the session is over."""
        with suppress(OSError):
            remove(self._path)
