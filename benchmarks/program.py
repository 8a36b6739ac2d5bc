"""The program under debug, and the files in which breakpoints are placed.

Knows their sources and their lines by mark. The same files serve both sides.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

LOCALS = 22
DEPTH = ["work", "main"]
EXPRESSION, VALUE = "a_int + len(b_text)", "6"

# Bounded: a program that both sides have lost ends by itself.
_MAIN = '''\
"""Goes round a function with 22 simple locals."""


def work(turns):
    a_int, b_int, c_int = 1, -2, 10**12
    a_float, b_float, c_float = 0.5, -1.25, 1e300
    a_text, b_text, c_text = "", "short", "a somewhat longer text, of forty letters"
    a_flag, b_flag, nothing = True, False, None
    a_list, b_list = [1, 2, 3], ["x", "y"]
    a_dict, b_dict = {"one": 1}, {"name": "relay", "size": 22}
    a_tuple, a_set, a_bytes = (1, "two"), {1, 2}, b"bytes"
    total = turn = 0
    for turn in range(turns):
        total += turn  # @stop
        print("turn", turn)  # @print
        total += 2  # @after
    return total


def main():
    return work(100_000)


'''
_AT_ONCE = "main()\n"
_IN_A_THREAD = """\
import threading

thread = threading.Thread(target=main)
thread.start()
thread.join()
"""

_STATEMENTS = 250


@dataclass(frozen=True)
class Programs:
    """Where the sources are, and which lines matter."""

    directory: Path
    main: Path
    one: Path
    hundred: Path
    stop: int
    print: int
    after: int

    @classmethod
    def write(cls, directory: Path, *, thread: bool = False) -> Programs:
        """Writes the files into an existing directory; `thread` has another thread do the work."""
        directory = directory.resolve()
        main, one, hundred = (directory / name for name in ("main.py", "one.py", "hundred.py"))
        main.write_text(_MAIN + (_IN_A_THREAD if thread else _AT_ONCE))
        for path in (one, hundred):
            path.write_text("".join(f"value = {number}\n" for number in range(_STATEMENTS)))
        marks = {mark: _line(mark) for mark in ("stop", "print", "after")}
        return cls(directory, main, one, hundred, **marks)

    def lines(self, count: int, turn: int) -> list[int]:
        """`count` lines of the other files, others in every turn while they last."""
        first = turn % (_STATEMENTS - count)
        return list(range(first + 1, first + count + 1))


def _line(mark: str) -> int:
    lines = _MAIN.splitlines()
    return next(n for n, text in enumerate(lines, 1) if text.endswith(f"# @{mark}"))
