"""Programs on trial: each comes to a breakpoint, says that it is ready, and then does its fault.

What a program prints by `say` are numbered lines. How many bytes of it the kernel has taken is kept
in a file beside it, in shared memory: that is there also after a SIGKILL.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

from tests.programs import Program

_HEAD = """\
import mmap, os, sys, time

_said = mmap.mmap(os.open(__file__ + ".said", os.O_RDWR), 8)
_lines = 0

def say(lines, file=1):
    global _lines
    text = b"".join(b"%0999d\\n" % number for number in range(_lines, _lines + lines))
    _lines += lines
    while text:
        written = os.write(file, text)
        text = text[written:]
        _said[:8] = (int.from_bytes(_said[:8], "big") + written).to_bytes(8, "big")

def hang():
    open(__file__ + ".hangs", "w").close()
    time.sleep(600)

ready = True  # @stop
say(1)
"""

LINE = 1000
"""Bytes of each line that is said."""

IDLE = "while True:\n    time.sleep(0.05)\n"

FLOOD = """\
while True:
    say(20)
    if _lines > 3000:  # not more than the relay keeps
        time.sleep(0.02)
"""


def write(folder: Path, body: str) -> Program:
    """The program, in a folder of its own."""
    program = Program.write(folder / "main.py", _HEAD + textwrap.dedent(body))
    Path(f"{program.path}.said").write_bytes(bytes(8))
    return program


def said(program: Program) -> int:
    """How many bytes it has printed by `say`, at least."""
    return int.from_bytes(Path(f"{program.path}.said").read_bytes(), "big")


def is_said(text: str) -> bool:
    """Whether that is what `say` prints, from its beginning to anywhere."""
    lines = range((len(text) + LINE - 1) // LINE)
    return "".join(f"{number:0999}\n" for number in lines).startswith(text)
