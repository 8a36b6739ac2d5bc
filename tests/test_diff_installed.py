"""`relay diff --rev` where the interpreter imports packages from within the tree: each run has its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.programs import Program
from tests.test_diff import Diff, diff, git

__all__ = ["diff"]

FINDER = """
    import importlib.util
    import sys

    MAPPING = {"shop": PLACE}

    class Finder:
        @classmethod
        def find_spec(cls, name, path=None, target=None):
            if name in MAPPING:
                file = MAPPING[name] + "/__init__.py"
                return importlib.util.spec_from_file_location(name, file)

    def install():
        sys.meta_path.append(Finder)
"""
"""As setuptools writes it for a package that no path leads to."""


def by_path(packages: Path, folder: Path) -> dict[str, str]:
    (packages / "shop.pth").write_text(f"{folder}\n")
    return {}


def by_finder(packages: Path, folder: Path) -> dict[str, str]:
    text = FINDER.replace("PLACE", repr(str(folder / "shop")))
    Program.write(packages / "__editable___shop_1_finder.py", text)
    line = "import __editable___shop_1_finder; __editable___shop_1_finder.install()\n"
    (packages / "shop.pth").write_text(f"import sys; print('at start')\n{line}")
    return {}


def by_variable(packages: Path, folder: Path) -> dict[str, str]:
    assert packages.is_dir()
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    }


def committed(root: Path) -> tuple[str, Path]:
    """A repository of what is there. An interpreter of its own in there, and where that has its packages."""
    Program.write(root / ".gitignore", ".venv\n__pycache__\n")
    git(root.parent, "init", "-q", str(root))
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "right")
    environment = root / ".venv"
    command = [sys.executable, "-m", "venv", "--without-pip", str(environment)]
    subprocess.run(command, check=True, timeout=60)
    (packages,) = environment.glob("lib/python*/site-packages")
    return str(environment / "bin" / "python"), packages


@pytest.mark.parametrize("install", [by_path, by_finder, by_variable])
def test_each_tree_has_its_own_of_what_is_installed_from_it(
    diff: Diff, tmp_path: Path, install: Callable[[Path, Path], dict[str, str]]
) -> None:
    root = tmp_path / "repository"
    text = "def price(n):\n    return n * 3\n"
    library = Program.write(root / "python" / "shop" / "__init__.py", text)
    Program.write(root / "tests" / "sell.py", "import shop\n\nprint(shop.price(2))\n")
    python, packages = committed(root)
    variables = install(packages, root / "python")
    library.path.write_text(text.replace("3", "4"))
    done = diff(
        "--rev", "HEAD", "--python", python, "--", "sell.py", cwd=root / "tests", **variables
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines() == [
        "first call that differs: price at python/shop/__init__.py:1",
        "  with n=2",
        "this tree: → 8",
        "HEAD: → 6",
        "1 of 1 calls with equal arguments differ",
    ]
    # Longer: of a module of the same second and size, Python runs what it has compiled of the one before.
    library.path.write_text(text + "\n")
    done = diff(
        "--rev", "HEAD", "--python", python, "--", "sell.py", cwd=root / "tests", **variables
    )
    assert done.stdout == "no call differs: 1 with equal arguments, of 1 and 1\n"


LOADER = """
    import importlib.util
    import sys

    class Loader:
        @classmethod
        def find_spec(cls, name, path=None, target=None):
            if name == "shop":
                return importlib.util.spec_from_file_location(name, PLACE)

    sys.meta_path.insert(0, Loader)
"""
"""As meson-python and scikit-build install a package for editing: ahead of all paths, and saying none."""


def test_a_revision_that_runs_with_sources_of_this_tree_is_not_compared(
    diff: Diff, tmp_path: Path
) -> None:
    root = tmp_path / "repository"
    library = Program.write(root / "shop" / "__init__.py", "def price(n):\n    return n * 3\n")
    Program.write(root / "sell.py", "import shop\n\nprint(shop.price(2))\n")
    python, packages = committed(root)
    Program.write(packages / "_shop_loader.py", LOADER.replace("PLACE", repr(library.text)))
    (packages / "shop.pth").write_text("import _shop_loader\n")
    library.path.write_text("def price(n):\n    return n * 4\n")
    done = diff("--rev", "HEAD", "--python", python, "--", "sell.py", cwd=root)
    assert done.stdout.startswith(
        "nothing is compared: HEAD has run with shop/__init__.py of this tree"
    ), done
    assert done.returncode == 2
