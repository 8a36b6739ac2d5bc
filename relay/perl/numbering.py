"""Where a client counts lines and columns from: DAP lets it choose, in `initialize`.

Pure. Refuses to know who asks: here and in the program, both begin with 1.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Numbering:
    """The client's numbers of the first line and of the first column."""

    first_line: int = 1
    first_column: int = 1

    def line(self, number: int) -> int:
        """The program's number of the line that the client named."""
        return number + 1 - self.first_line

    def client_line(self, line: int) -> int:
        """The client's number of a line."""
        return line - 1 + self.first_line

    def column(self, number: int) -> int:
        """Our number of the column that the client named."""
        return number + 1 - self.first_column

    def client_column(self, column: int) -> int:
        """The client's number of a column."""
        return column - 1 + self.first_column
