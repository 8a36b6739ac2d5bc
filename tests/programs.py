"""Programs under test: their lines are found by marks in comments, never by counting."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path

DAEMON = """\
import os, time
heard, told = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for fd in (0, 1, 2):
            os.close(fd)
        os.write(told, b"x")
        time.sleep(600)
    os._exit(0)
os.wait()
os.read(heard, 1)
print("ready", flush=True)
time.sleep(600)
"""
"""A program that has a daemon, and lives as long."""


@dataclass(frozen=True)
class Program:
    """A source file on disk."""

    path: Path

    @classmethod
    def write(cls, path: Path, source: str) -> Program:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source).lstrip("\n"))
        return cls(path)

    @property
    def text(self) -> str:
        return str(self.path)

    def line(self, mark: str) -> int:
        """The line that carries the comment `# @mark`."""
        wanted = f"# @{mark}"
        lines = self.path.read_text().split("\n")
        found = [n for n, text in enumerate(lines, 1) if text.rstrip().endswith(wanted)]
        assert len(found) == 1, f"{wanted} marks {len(found)} lines of {self.path}"
        return found[0]
