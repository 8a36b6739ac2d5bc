"""Which interpreter a program gets that names none, and options of it on a command line."""

from __future__ import annotations

import json
import os
import sys
import sysconfig
from pathlib import Path

import click
import pytest
import trio
from click.testing import CliRunner

from relay import Settings
from relay.faces.cli.program_words import read_program
from relay.faces.cli.run.command import run as run_command
from tests.cli.conftest import Shell
from tests.cli.conftest import shell as shell
from tests.e2e.conftest import running_relay
from tests.e2e.conftest import settings as settings
from tests.mcp.client import over_stdio
from tests.programs import Program
from tests.test_run import SECONDS, Start, finish
from tests.test_run import start as start

SHOW = """
    import sys
    print(sys.prefix, sys.flags.optimize, sys.flags.dev_mode, sys.warnoptions, sys.argv[1:])
    x = 1  # @here
"""


def environment(directory: Path) -> Path:
    """A virtual environment without pip; its interpreter."""
    python = directory / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(os.path.join(sysconfig.get_config_var("BINDIR"), "python3"))
    (directory / "pyvenv.cfg").write_text(f"home = {sysconfig.get_config_var('BINDIR')}\n")
    return python


@pytest.fixture
def active(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The interpreter of the environment that is active."""
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    return environment(tmp_path / "active")


@pytest.fixture(autouse=True)
def none_is_active(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)


def test_an_environment_beside_the_program_or_the_project_counts_before_the_relays_own(
    start: Start, tmp_path: Path
) -> None:
    Program.write(tmp_path / "app.py", SHOW)
    Program.write(tmp_path / "deep" / "tool.py", SHOW)
    code, out, err = finish(start("--", "app.py"))
    assert (code, out.split()[0].decode(), err) == (0, sys.prefix, "[end] exit code 0, 0 stops\n")

    at_root, beside = environment(tmp_path / ".venv"), environment(tmp_path / "deep" / ".venv")
    for script, python in (("app.py", at_root), ("deep/tool.py", beside)):
        code, out, err = finish(start("--", script))
        assert (code, out.split()[0].decode()) == (0, str(python.parent.parent)), err
        assert err.splitlines()[0] == f"[python] {python}"
    code, _, err = finish(start("--python", sys.executable, "--", "app.py"))
    assert err == "[end] exit code 0, 0 stops\n", "what is named is not looked for"


def test_the_active_environment_counts_before_all(
    active: Path, start: Start, tmp_path: Path
) -> None:
    program = Program.write(tmp_path / "app.py", SHOW)
    environment(tmp_path / ".venv")
    words = ["--json", "--break", f"app.py:{program.line('here')}", "--", "app.py"]
    _, out, _ = finish(start(*words))
    told = [json.loads(text) for text in out.splitlines()]
    assert told[0]["python"] == str(active)
    assert next(one["output"] for one in told if one["type"] == "output").split()[0] == str(
        active.parent.parent
    )


def test_a_broken_environment_is_none(start: Start, tmp_path: Path) -> None:
    Program.write(tmp_path / "app.py", SHOW)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "pyvenv.cfg").touch()
    (tmp_path / ".venv" / "bin" / "python").symlink_to("nowhere")
    assert finish(start("--", "app.py"))[1].split()[0].decode() == sys.prefix


def test_the_shells_active_environment_counts_and_not_the_servers(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Program.write(tmp_path / "app.py", SHOW)
    active = environment(tmp_path / "active")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    lines = shell("start", "app.py").splitlines()
    assert lines[1] == f"python: {active}"
    assert lines[2].split()[0] == str(tmp_path / "active")
    monkeypatch.delenv("VIRTUAL_ENV")
    lines = shell("start", "app.py").splitlines()
    assert lines[1].split()[0] == sys.prefix
    beside = environment(tmp_path / ".venv")
    assert f"python: {beside}" in shell("start", "app.py")
    assert shell.json("end", "--all")["ended"]


def test_an_interpreter_is_named_as_the_shell_sees_it(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server has another directory, and may have another PATH."""
    Program.write(tmp_path / "app.py", SHOW)
    python = environment(tmp_path / "env")
    (python.parent / "python-of-this-shell").symlink_to(python)
    for path in ("env/bin/python", "./env/bin/python", str(python)):
        lines = shell("start", "--python", path, "app.py").splitlines()
        assert f"python: {python}" in lines, path
    monkeypatch.setenv("PATH", f"{python.parent}:{os.environ['PATH']}")
    lines = shell("start", "--python", "python-of-this-shell", "app.py").splitlines()
    assert f"python: {python.parent / 'python-of-this-shell'}" in lines
    for path in ("env/python", "python-of-nobody"):
        refused = shell.run("start", "--python", path, "app.py", code=1).stderr
        assert f"--python: no such executable: {path}" in refused
    assert shell.json("end", "--all")["ended"]


async def test_over_the_api_an_interpreter_is_named_from_the_project_root(
    settings: Settings, tmp_path: Path
) -> None:
    python = environment(tmp_path / "shop" / "env")
    async with running_relay(settings) as api:
        created = await api.post(
            "/sessions", project_root=str(tmp_path / "shop"), python_path="env/bin/python"
        )
        assert created["config"]["python_path"] == str(python)
        path = f"/sessions/{created['session_id']}"
        environment(tmp_path / "stall" / "env")
        moved = {"project_root": str(tmp_path / "stall"), "python_path": "env/bin/python"}
        changed = await api.call("PATCH", path, json=moved)
        assert changed["config"]["python_path"] == str(tmp_path / "stall/env/bin/python")
        changed = await api.call("PATCH", path, json={"python_path": "../shop/env/bin/python"})
        assert changed["config"]["python_path"] == str(python)


async def test_debug_run_says_which_interpreter_it_took(tmp_path: Path) -> None:
    Program.write(tmp_path / "app.py", SHOW)
    python = environment(tmp_path / ".venv")
    with trio.fail_after(SECONDS):
        async with over_stdio(tmp_path) as client:
            text = await client.call("debug_run", script="app.py", max_chars=4000)
            assert text.splitlines()[0].endswith(f", python {python}")
            assert str(tmp_path / ".venv") in text.partition("\n")[2]
            own = await client.call("debug_run", script="app.py", python=sys.executable)
            assert "python" not in own.splitlines()[0]


def test_options_of_the_interpreter_stand_before_the_program(
    start: Start, shell: Shell, tmp_path: Path
) -> None:
    Program.write(tmp_path / "app.py", SHOW)
    words = ["-OX", "dev", "-W", "error", "app.py", "-O", "--flag"]
    code, out, err = finish(start("--", *words))
    assert code == 0, err
    assert out.decode().partition(" ")[2] == "1 True ['default', 'error'] ['-O', '--flag']\n"
    started = shell("start", "--", "-O", "-m", "app", "x")
    assert " 1 False [] ['x']\n" in started
    assert shell.json("end", "--all")["ended"]


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ("app.py -O", ([], "app.py", None, ["-O"])),
        ("-O app.py", (["-O"], "app.py", None, [])),
        ("-bb -Xdev -Werror app.py x", (["-bb", "-Xdev", "-Werror"], "app.py", None, ["x"])),
        ("-X dev -m pytest -q", (["-X", "dev"], None, "pytest", ["-q"])),
        ("-um app", (["-u"], None, "app", [])),
        ("-EsX importtime app.py", (["-EsX", "importtime"], "app.py", None, [])),
        (
            "--check-hash-based-pycs never app.py",
            (["--check-hash-based-pycs", "never"], "app.py", None, []),
        ),
    ],
)
def test_words_are_read_as_pythons_own_command_line(
    words: str, read: tuple[list[str], str | None, str | None, list[str]]
) -> None:
    assert tuple(read_program(words.split())) == read


@pytest.mark.parametrize("words", ["--calls app.py", "--on-exception --calls pytest -q"])
def test_a_program_that_an_option_has_taken_for_its_value_is_told(words: str) -> None:
    found = CliRunner().invoke(run_command, words.split())
    assert found.exit_code == 2
    assert "for its value: write -- before the program" in found.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("-m", "-m needs the name of a module"),
        ("-c print(1)", "cannot be debugged"),
        ("-", "cannot be debugged"),
        ("-X", "-X needs a value"),
        ("-O", "there is no program"),
        ("--flag", "--flag is no program: expected a script"),
        ("-z app.py", "-z is no program"),
    ],
)
def test_words_that_name_no_program_are_refused(words: str, said: str) -> None:
    with pytest.raises(click.UsageError, match=said.replace("(", r"\(")):
        read_program(words.split())
