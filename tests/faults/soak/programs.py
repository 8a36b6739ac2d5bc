"""Programs by lot: each stops at a breakpoint first, does a few things, and ends in some way.

Made of those on trial, so what one prints is known (`trials.programs`).
"""

from __future__ import annotations

import random
import textwrap
from dataclasses import dataclass
from pathlib import Path

from tests.faults.trials import programs
from tests.programs import Program

TOTAL = """
total = 0
for number in range({turns}):
    total += number  # @body
"""

PIECES = (
    "say({few})",
    "say({many})",
    "for turn in range({few}):\n    say(1)\n    time.sleep(0.01)",
    """
    import threading
    def work(count):
        found = [number * number for number in range(count)]
        return sum(found)
    threads = [threading.Thread(target=work, args=[1000 * n]) for n in range({few})]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    """,
    """
    import asyncio
    async def tick(count):
        for turn in range(count):
            await asyncio.sleep(0.001)
        return count
    async def several():
        return await asyncio.gather(*(tick(n) for n in range({few})))
    found = asyncio.run(several())
    """,
    """
    import subprocess
    subprocess.run([sys.executable, "-c", "import time; time.sleep(0.05)"])
    """,
    """
    import subprocess
    left = subprocess.Popen(["sleep", "600"], start_new_session=True)
    """,
    """
    def fails(depth):
        if depth == 0:
            raise KeyError("depth")
        fails(depth - 1)
    try:
        fails({few})
    except KeyError as error:
        caught = error
    """,
    """
    import contextlib
    kept = [{{"name": str(n), "all": list(range(n))}} for n in range({many})]
    with contextlib.suppress(ValueError):
        int("none")
    """,
    """
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    """,
    "print('warn' * {many}, file=sys.stderr)",
)

ENDS: tuple[tuple[str, int | None], ...] = (
    ("pass", 0),
    ("say(3)", 0),
    ("sys.exit(3)", 3),
    ("raise ValueError('the end')", 1),
    ("os._exit(5)", 5),
    ("os.abort()", -6),
    ("os.kill(os.getpid(), 9)", -9),
    ("import ctypes; ctypes.string_at(0)", -11),
    ("while True:\n    time.sleep(0.02)", None),
    (programs.FLOOD, None),
)
"""What it does last, and its exit code; None if it does not end."""


@dataclass(frozen=True)
class SoakProgram:
    """One of them."""

    program: Program
    exit_code: int | None
    turns: int
    """Of the loop with the breakpoint `@body`."""

    @property
    def text(self) -> str:
        return self.program.text

    def line(self, mark: str) -> int:
        return self.program.line(mark)

    def is_said(self, text: str) -> bool:
        """Whether that may be what it has printed by now."""
        return programs.is_said(text)

    def said(self) -> int:
        """Bytes that it has printed, at least."""
        return programs.said(self.program)


def write(folder: Path, lot: random.Random) -> SoakProgram:
    """One by lot."""
    turns = lot.randrange(1, 40)
    pieces = [TOTAL.format(turns=turns), *(_piece(lot) for _ in range(lot.randrange(4)))]
    lot.shuffle(pieces)
    end, exit_code = lot.choice(ENDS)
    return SoakProgram(programs.write(folder, "\n".join([*pieces, end])), exit_code, turns)


def _piece(lot: random.Random) -> str:
    piece = lot.choice(PIECES).format(few=lot.randrange(1, 8), many=lot.randrange(50, 300))
    return textwrap.dedent(piece)
