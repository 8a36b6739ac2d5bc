"""A command that is installed, as `pytest` is, is called by a launcher that pip has made: no code of the program's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from relay.environments import is_command_of_environment, is_launcher
from relay.session.own_code import is_user_code
from tests.programs import Program
from tests.relays import environment

SECONDS = 120
LAUNCHER = """\
    #!{python}
    import sys
    from runner import main
    if __name__ == '__main__':
        if sys.argv[0].endswith('.exe'):
            sys.argv[0] = sys.argv[0][:-4]
        sys.exit(main())
"""
RUNNER = """\
    import importlib

    def main():
        return found()

    def found():
        importlib.import_module("cart_tests").test_order_of_a_cart()
"""
TESTS = """\
    def checked_that_these_lists_are_equal(left, right):
        if left != right:
            raise ValueError("x" * 300)

    def checked_that_all_names_are_there(names):
        checked_that_these_lists_are_equal(names, ["a", "b"] * 30)

    def test_order_of_a_cart():
        names = ["b", "a"] * 30
        checked_that_all_names_are_there(names)  # @test
"""


def installed(folder: Path) -> Path:
    """A virtual environment there, that has the runner; its command."""
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=SECONDS
    )
    (library,) = folder.glob("lib/python*/site-packages")
    (library / "runner.py").write_text(dedent(RUNNER))
    command = folder / "bin" / "run-tests"
    command.write_text(dedent(LAUNCHER).format(python=folder / "bin" / "python"))
    command.chmod(0o755)
    return command


@pytest.mark.parametrize("place", ["project/env", "elsewhere"])
def test_a_report_that_is_cut_keeps_the_line_of_a_test_that_a_command_runs(
    tmp_path: Path, place: str
) -> None:
    project = tmp_path / "project"
    tests = Program.write(project / "cart_tests.py", TESTS)
    command = installed(tmp_path / place)
    ran = subprocess.run(
        [sys.executable, "-m", "relay", "run", "--on-exception", "--", str(command)],
        cwd=project,
        env=environment(tmp_path / "state") | {"PYTHONPATH": f"{project}:{Path.cwd()}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert ran.returncode == 1, ran.stderr
    (stack,) = (line for line in ran.stderr.splitlines() if line.startswith("stack: "))
    assert f" < test_order_of_a_cart :{tests.line('test')} < " in stack
    assert "run-tests" not in stack


def test_what_is_a_launcher(tmp_path: Path) -> None:
    """A program of one's own may lie beside the system's Python, as in a container."""
    (tmp_path / "python3").symlink_to(sys.executable)
    texts = {
        "pip": dedent(LAUNCHER),
        "older-pip": "import re\nif True:\n    sys.argv[0] = re.sub('x', '', sys.argv[0])\n",
        "setuptools": "__requires__ = 'cart'\nsys.exit(load_entry_point('cart', 'a', 'b')())\n",
        "launcher.py": dedent(LAUNCHER),
        "own": "import sys\nprint(sys.argv[0])\n",
        "long": dedent(LAUNCHER) + "# own\n" * 1000,
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    found = {name for name in texts if is_launcher(str(tmp_path / name))}
    assert found == {"pip", "older-pip", "setuptools"}
    assert not is_launcher(str(tmp_path / "nothing"))


def test_the_commands_of_an_environment_are_not_the_projects_own(tmp_path: Path) -> None:
    command = installed(tmp_path / "env")
    own = tmp_path / "bin" / "tool"
    assert is_command_of_environment(str(command))
    assert not is_user_code(str(command), {str(tmp_path)})
    assert is_user_code(str(own), {str(tmp_path)})
