"""The programs that the API document's clients debug: its line numbers are executable lines.

Knows which statement stands on which line: a comment `# @N` at the end of a line puts that
line on line N, by blank lines before it.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from tests.programs import Program

_PINNED = re.compile(r"# @(\d+)$")


def pinned(source: str) -> str:
    """The source with every line that ends in `# @N` on line N."""
    lines: list[str] = []
    for line in textwrap.dedent(source).strip("\n").splitlines():
        if mark := _PINNED.search(line):
            lines += [""] * (int(mark[1]) - 1 - len(lines))
            assert len(lines) == int(mark[1]) - 1, f"the lines before {line!r} are too many"
        lines.append(line)
    return "\n".join(lines) + "\n"


def write(project: Path, name: str, source: str) -> Program:
    """The source as a file of the project."""
    return Program.write(project / name, pinned(source))


ORDERS = "name,quantity\napple,3\nbread,2\npear,7\n"

CSV_PROCESSOR = """
    import argparse
    import csv

    def read(path):
        with open(path, newline="") as file:
            return [(row["name"], int(row["quantity"])) for row in csv.DictReader(file)]

    def summarise(data):
        return sum(quantity for _, quantity in data)

    def process(data, verbose):
        total = summarise(data)  # @25
        if verbose:
            print("summing", len(data), "orders")
        return total

    parser = argparse.ArgumentParser()
    parser.add_argument("--input", default="data.csv")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    print("total", process(read(options.input), options.verbose))
"""


def csv_project(project: Path) -> Program:
    """main.py and data.csv of sections 8.1 and 8.5."""
    (project / "data.csv").write_text(ORDERS)
    return write(project, "main.py", CSV_PROCESSOR)


ITEMS = 102
"""At the condition `len(items) > 100` only the last of these items stops."""

PROCESSOR = f"""
    class Item:
        def __init__(self, number):
            self.name = f"item-{{number}}"

    def main():
        items, lengths = [], 0
        for i in range({ITEMS}):
            item = Item(i)
            items.append(item)  # @42
            lengths += len(item.name)  # @45
            last = item.name  # @48
        print(len(items), lengths, last)

    main()
"""

BUGGY = """
    def convert(problematic_var):
        return int(problematic_var) + 1  # @4

    def main():
        return [convert(text) for text in ("1", "two")]  # @9

    main()
"""

MULTIFILE = {
    "main.py": """
        from utils import helpers

        def main():
            records = helpers.load(["apple", "bread"])  # @15
            print(helpers.tidy(records))

        main()
    """,
    "utils/__init__.py": "",
    "utils/helpers.py": """
        from models.data import Record

        def load(names):
            return [Record(name) for name in names[:1]]  # @20

        def tidy(records):
            return str(len(records)) + records[0].name  # @42
    """,
    "models/__init__.py": "",
    "models/data.py": """
        class Record:
            def __init__(self, name):
                self.name = name  # @78
    """,
}


def multifile_project(project: Path) -> dict[str, Program]:
    """The files of section 8.4, by name."""
    return {name: write(project, name, source) for name, source in MULTIFILE.items()}
