"""Commands as a shell has them: which Python runs which script, and what is no program of Python's."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from relay.faces.cli.shell_command import PythonCommand, shell_command
from tests.cli.conftest import Shell
from tests.programs import Program
from tests.test_run import Start, finish
from tests.test_run import start as start

Ask = Callable[..., PythonCommand]


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """What words mean in a directory `here`, with a directory `bin` in PATH."""
    (tmp_path / "here").mkdir()
    environment = {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{tmp_path / 'nowhere'}"}

    def ask(
        words: str, python: str | None = None, *, children: bool = False, **more: str
    ) -> PythonCommand:
        return shell_command(
            words.split(),
            python=python,
            children=children,
            environment={**environment, **more},
            directory=str(tmp_path / "here"),
        )

    return ask


def test_the_first_line_of_a_command_says_which_python_runs_it(ask: Ask, tmp_path: Path) -> None:
    tool = executable(tmp_path / "bin" / "tool", "#!/opt/venv/bin/python3.12 -sP\nprint(1)\n")
    assert ask("tool -q x") == ("/opt/venv/bin/python3.12", ["-sP", str(tool), "-q", "x"])
    long = "#!/bin/sh\n'''exec' \"/opt/a b/bin/python\" \"$0\" \"$@\"\n' '''\nprint(1)\n"
    tool.write_text(long)
    assert ask("tool") == ("/opt/a b/bin/python", [str(tool)])
    python = executable(tmp_path / "bin" / "python3", "#!/bin/sh\n")
    for line in ("#!/usr/bin/env python3", "#!/usr/bin/env -S python3 -O"):
        tool.write_text(line + "\n")
        found = ask("tool")
        assert (found.python, found.words[-1]) == (str(python), str(tool))
    assert found.words == ["-O", str(tool)]


def test_an_environment_comes_before_the_path_and_what_was_named_before_it(
    ask: Ask, tmp_path: Path
) -> None:
    for place in ("bin", "here/.venv/bin", "active/bin", "named/bin"):
        executable(tmp_path / place / "tool", f"#!{tmp_path / place}/python\n")
        executable(tmp_path / place / "python", "\0 no text")
    assert ask("tool").python == f"{tmp_path}/bin/python"
    (tmp_path / "here/.venv/pyvenv.cfg").touch()
    assert ask("tool").python == f"{tmp_path}/here/.venv/bin/python"
    assert ask("python tool").python == f"{tmp_path}/here/.venv/bin/python"
    (tmp_path / "active/pyvenv.cfg").touch()
    active = {"VIRTUAL_ENV": f"{tmp_path}/active"}
    assert ask("tool", **active).python == f"{tmp_path}/active/bin/python"
    named = f"{tmp_path}/named/bin/python"
    assert ask("tool", python=named, **active).words == [f"{tmp_path}/named/bin/tool"]


def test_what_names_a_program_of_the_directory_is_left_as_it_is(ask: Ask, tmp_path: Path) -> None:
    for name in ("tool", "package", "python"):
        executable(tmp_path / "bin" / name, f"#!{sys.executable}\n")
    here = tmp_path / "here"
    (here / "tool").write_text("print(1)\n")
    (here / "python").write_text("print(1)\n")
    (here / "package").mkdir()
    assert ask("tool x") == (None, ["tool", "x"])
    assert ask("python x") == (None, ["python", "x"]), "a text is a script, whatever it is called"
    assert ask("./other") == (None, ["./other"])
    assert ask("nosuch") == (None, ["nosuch"])
    assert ask("-m tool") == (None, ["-m", "tool"])
    assert ask("") == (None, [])
    assert ask("package").words == [str(tmp_path / "bin" / "package")]
    (here / "package" / "__main__.py").touch()
    assert ask("package") == (None, ["package"])


def test_a_shim_of_pyenv_is_asked_what_it_stands_for(ask: Ask, tmp_path: Path) -> None:
    real = executable(tmp_path / "versions" / "tool", f"#!{tmp_path}/versions/python3.12\n")
    pyenv = executable(
        tmp_path / "libexec" / "pyenv", f'#!/bin/sh\n[ "$*" = "which tool" ] && echo {real}\n'
    )
    shim = f'#!/bin/bash\nprogram="${{0##*/}}"\nexec "{pyenv}" exec "$program" "$@"\n'
    for name in ("tool", "other"):
        executable(tmp_path / "bin" / name, shim)
    assert ask("tool -q") == (f"{tmp_path}/versions/python3.12", [str(real), "-q"])
    with pytest.raises(click.UsageError, match="bin/other is no Python program"):
        ask("other")


def test_the_path_of_an_installed_command_says_which_python_runs_it(
    ask: Ask, tmp_path: Path
) -> None:
    executable(tmp_path / "venv" / "python", "\0")
    executable(tmp_path / "venv" / "tool", f"#!{tmp_path}/venv/python -E\n")
    assert ask("../venv/tool -q") == (f"{tmp_path}/venv/python", ["-E", "../venv/tool", "-q"])
    executable(tmp_path / "here" / "own", f"#!{sys.executable}\n")
    assert ask("./own") == (None, ["./own"]), "as any script of the program's own"


def test_words_behind_an_interpreter_are_its_own(ask: Ask, tmp_path: Path) -> None:
    for name in ("python3.13t", "python"):
        executable(tmp_path / "bin" / name, "#!/bin/sh\n")
    (tmp_path / "here" / "own").symlink_to(tmp_path / "bin")
    assert ask("python -O app.py") == (f"{tmp_path}/bin/python", ["-O", "app.py"])
    assert ask("python3.13t -m pytest") == (f"{tmp_path}/bin/python3.13t", ["-m", "pytest"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("make test", "make is no Python program: name the Python program that it starts"),
        ("uv run pytest", "leave `uv run` out"),
        ("poetry run pytest", "poetry is no Python program: leave `poetry run` out"),
        ("env A=1 app.py", "put it before `relay`"),
        ("A=1 app.py", "put it before `relay`"),
        ("shim -q", "If it runs a module of this name: -m shim"),
        (
            "report",
            "report is no Python program: one of another debugger is named by its path, with --adapter",
        ),
        ("../bin/native -l", "bin/native is no Python program: name the Python program that it"),
        ("../bin/native -l", "or the debugger that it has, by --adapter NAME"),
        ("make test", "a script in another language stands alone, too: app.pl --flag"),
        ("make test", "or give --children, and each Python that it starts is debugged"),
        ("uv run pytest", "Or give --children"),
        ("env A=1 app.py", "or give --children"),
        ("../bin/shim -q", "bin/shim is no Python program: name the Python program that it starts"),
        ("python3.99 app.py", "python3.99: there is no such interpreter"),
        ("../bin/python app.py", "../bin/python: there is no such interpreter"),
    ],
)
def test_what_is_no_python_program_is_said_with_what_to_give(
    ask: Ask, tmp_path: Path, words: str, said: str
) -> None:
    for name, text in {
        "make": "\0",
        "uv": "\0",
        "env": "\0",
        "shim": "#!/bin/bash\n",
        "native": "\x7fELF\2\1\1\0",
        "report": "#!/usr/bin/perl\n",
    }.items():
        executable(tmp_path / "bin" / name, text)
    with pytest.raises(click.UsageError) as refused:
        ask(words)
    assert said in refused.value.message


def test_with_its_children_any_command_runs_as_it_is(ask: Ask, tmp_path: Path) -> None:
    for name, text in {
        "make": "\x7fELF\2\1\1\0",
        "shim": "#!/bin/bash\n",
        "env": "\x7fELF",
    }.items():
        executable(tmp_path / "bin" / name, text)
    executable(tmp_path / "here" / "ci.sh", "#!/bin/sh\npython3 app.py\n")
    make = str(tmp_path / "bin" / "make")
    assert ask("make -j test", children=True) == (None, [make, "-j", "test"])
    assert ask("env A=1 app.py", children=True).words[1:] == ["A=1", "app.py"]
    assert ask("shim", children=True) == (None, [str(tmp_path / "bin" / "shim")])
    assert ask("./ci.sh x", children=True) == (None, ["./ci.sh", "x"])
    for words in ("A=1 app.py", "uv run app.py"):  # no file: a shell's own, and what is not there
        with pytest.raises(click.UsageError):
            ask(words, children=True)
    tool = executable(tmp_path / "bin" / "tool", f"#!{sys.executable}\n")
    assert ask("tool", children=True) == (sys.executable, [str(tool)])


def test_an_interpreter_is_named_once(ask: Ask, tmp_path: Path) -> None:
    executable(tmp_path / "bin" / "python", "\0")
    with pytest.raises(click.UsageError, match="named twice: --python /x/python"):
        ask("python app.py", python="/x/python")


FAILS = """
    def test_total():
        total = 3
        assert total == 4  # @assert
"""


def test_the_ways_of_a_shell_to_run_tests_are_those_of_the_relay(
    start: Start, shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Program.write(tmp_path / "test_cart.py", FAILS)
    executable(tmp_path / "bin" / "pytest", f"#!{sys.executable}\nimport pytest\npytest.main()\n")
    executable(tmp_path / "bin" / "make", "\0")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    for words in (["pytest"], [sys.executable, "-m", "pytest"]):
        _, out, err = finish(start("--json", "--on-exception", "--", *words))
        told = [json.loads(line) for line in out.splitlines()]
        assert [one["number"] for one in told if one["type"] == "stop"] == [1], err
    assert "fails test_cart.py::test_total" in shell("start", "--wait", "60", "pytest")
    assert "make is no Python program" in shell.run("start", "make", code=2).stderr


def test_what_a_script_of_a_shell_starts_is_asked_like_any_program(
    start: Start, shell: Shell, tmp_path: Path
) -> None:
    tests = Program.write(tmp_path / "test_cart.py", FAILS)
    executable(
        tmp_path / "ci.sh", f"#!/bin/sh\n'{sys.executable}' -m pytest -q test_cart.py || exit 9\n"
    )
    for words in (["./ci.sh"], ["sh", "ci.sh"]):
        code, out, err = finish(start("--json", "--on-exception", "--children", "--", *words))
        told = [json.loads(line) for line in out.splitlines()]
        (stop,) = [one for one in told if one["type"] == "stop"]
        assert "fails test_cart.py::test_total" in stop["report"]
        assert (code, told[-1]["exit_code"]) == (9, 9), err
    code, out, err = finish(start("--on-exception", "--children", "--", "./ci.sh"))
    assert err.rpartition("[end]")[2] == " exit code 9, 1 stop\n"
    place = f"test_cart.py:{tests.line('assert')}"
    code, out, err = finish(start("--children", "--break", place, "--until", "1", "--", "./ci.sh"))
    assert (code, f"breakpoint bp_1: {place} in test_total" in err) == (0, True), err
    said = shell("start", "--children", "--wait", "60", "./ci.sh")
    assert "fails test_cart.py::test_total" in said
    assert "total: int = 3" in shell("locals")


PRICES = """
    def price(number):
        return number * 2  # @price

    print(price(3), price(4))
"""


def test_calls_of_what_a_command_starts_are_recorded(start: Start, tmp_path: Path) -> None:
    Program.write(tmp_path / "prices.py", PRICES)
    executable(tmp_path / "ci.sh", f"#!/bin/sh\n{sys.executable} prices.py || exit 9\n")
    code, out, err = finish(start("--trace", "price:number == 4", "--children", "--", "./ci.sh"))
    assert (code, out) == (0, b"6 8\n"), err
    assert "[stop 1] trace of price(number=4) at prices.py:1, called from prices.py:4" in err
    assert err.endswith("[end] exit code 0, 1 stop\n")
    asked = ("--trace", "price", "--until-result", "result > 8")
    code, out, err = finish(start(*asked, "--children", "--", "./ci.sh"))
    assert err.endswith("--trace price: no call ended so; 2 calls went by\n"), err
    code, out, err = finish(start("--calls", "--children", "--", "./ci.sh"))
    said = "[calls] 2 calls of 1 function\nprice(number=3) → 6\nprice(number=4) → 8\n[end] "
    assert said in err, err


@pytest.mark.parametrize("asked", [("--trace", "nothing("), ("--trace", "price:1 +")])
def test_what_cannot_be_traced_in_what_a_command_starts_is_refused(
    start: Start, tmp_path: Path, asked: tuple[str, str]
) -> None:
    executable(tmp_path / "ci.sh", "#!/bin/sh\ntouch ran\n")
    code, _, err = finish(start(*asked, "--children", "--", "./ci.sh"))
    assert (code, "--trace" in err, (tmp_path / "ran").exists()) == (2, True, False), err


def test_a_command_for_another_debugger_is_named_by_its_path(
    start: Start, shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was no such script, with a proposal for another one. A file of that name comes first."""
    command = executable(tmp_path / "bin" / "proves", "#!/usr/bin/perl\nprint 3;\n")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    said = f"proves is no file here, but a command: name it {command}"
    for words in (["proves", "-v"], ["--", "proves"]):
        code, _, err = finish(start("--adapter", "perl", *words))
        assert (code, said in err) == (2, True), err
    assert said in shell.run("start", "--adapter", "perl", "proves", code=2).stderr
    assert "No such script" in finish(start("--adapter", "perl", "absent"))[2]
    Program.write(tmp_path / "proves", "exit 4;\n")
    if shutil.which("perl") is not None:
        assert finish(start("--adapter", "perl", "proves"))[0] == 4


def test_a_comparison_runs_both_by_the_interpreter_that_one_names(
    shell: Shell, tmp_path: Path
) -> None:
    Program.write(tmp_path / "app.py", "def own(): return 1\nown()\n")
    words = [sys.executable, "app.py", ":::", "app.py"]
    assert "no call differs" in shell.run("diff", "--", *words, code=0).stdout
