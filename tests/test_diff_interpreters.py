"""`relay diff` of one program under two interpreters: of two environments, or of two versions."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.debuggers.bootstrap_runner import installed_python
from tests.programs import Program
from tests.test_diff import Diff, diff

__all__ = ["diff"]

PRICES = """
    import json
    import os

    class Table:
        def __init__(self, rates):
            self.rates, self.source = rates, os.path.abspath(__file__)

        def rate(self, name):
            return self.rates[name]

    def table():
        return Table({"apple": 3, "pear": 4})

    def gross(table, name, tax=TAX):
        names = [each for each in table.rates]
        checked(names)
        return json.loads(json.dumps(table.rate(name) * 2)) // HALF

    def checked(names):
        return len(names)
"""

SHOP = """
    import prices

    def total(names):
        table = prices.table()
        return sum(prices.gross(table, name) for name in names)

    def main():
        print(total(["pear", "apple"]))

    main()
"""


def environment_of(path: Path, python: str, library: str, **settings: int) -> str:
    """The interpreter of a new environment that has `prices`."""
    subprocess.run([python, "-m", "venv", "--without-pip", path], check=True, timeout=60)
    (packages,) = path.glob("lib/python*/site-packages")
    source = library
    for name, value in settings.items():
        source = source.replace(name, str(value))
    Program.write(packages / "prices.py", source)
    return str(path / "bin" / "python")


def test_a_library_that_is_another_in_each_environment(diff: Diff, tmp_path: Path) -> None:
    """It is at another place, which is in what it stores, too; and a default is another one."""
    Program.write(tmp_path / "shop.py", SHOP)
    old = environment_of(tmp_path / "old", sys.executable, PRICES, HALF=1, TAX=1)
    new = environment_of(tmp_path / "new", sys.executable, PRICES, HALF=2, TAX=2)
    commands = [old, "shop.py", ":::", new, "shop.py"]

    own = diff("--", *commands)
    assert (own.returncode, own.stderr) == (1, "")
    assert own.stdout.startswith("first call that differs: total at shop.py:3\n")
    assert "1: → 14\n2: → 7\n" in own.stdout

    library = diff("--focus", "prices", "--", *commands)
    assert (library.returncode, library.stderr) == (1, "")
    head, given, *rest = library.stdout.splitlines()
    line = PRICES[: PRICES.index("def gross")].count("\n")
    assert head == f"first call that differs: gross at prices.py:{line}"
    assert "table=<Table rates={'apple': 3, 'pear': 4}, source='./prices.py'>, name='pear'" in given
    assert "default of tax: 1 in 1, 2 in 2" in rest[0]
    assert rest[1:3] == ["1: → 8", "2: → 4"]

    same = diff("--focus", "prices,shop.py", "--", old, "shop.py", ":::", old, "shop.py")
    assert (same.returncode, same.stderr) == (0, "")


@pytest.mark.parametrize("changed", [1, 2])
def test_two_versions_of_python(diff: Diff, tmp_path: Path, changed: int) -> None:
    """A comprehension is a call of its own before 3.12."""
    Program.write(tmp_path / "shop.py", SHOP)
    olds, news = installed_python("3.11"), installed_python("3.12")
    old = environment_of(tmp_path / "old", olds, PRICES, HALF=1, TAX=1)
    new = environment_of(tmp_path / "new", news, PRICES, HALF=changed, TAX=1)
    done = diff("--focus", "prices", "--", old, "shop.py", ":::", new, "shop.py")
    assert (done.returncode, done.stderr) == (changed - 1, ""), done.stdout
    assert done.stdout.startswith(
        "no call differs: " if changed == 1 else "first call that differs: gross at prices.py:"
    )


def test_what_does_not_run_is_no_interpreter(diff: Diff, tmp_path: Path) -> None:
    Program.write(tmp_path / "shop.py", "print(1)\n")
    other = tmp_path / "bin" / "python"
    other.parent.mkdir()
    shutil.copy("/bin/false", other)
    done = diff("--", sys.executable, "shop.py", ":::", "bin/python", "shop.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{other} does not run as a Python: exit code 1" in done.stderr
