"""`relay agent install`, on homes of the test's own."""

from __future__ import annotations

import json
import stat
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings

from relay.agents import installation, jsonc
from relay.agents.clients import CLIENTS, DEBUGGER, Relay, Surroundings, debugger_text, skill_text
from relay.command_line import cli
from relay.faces.mcp.arguments import Run
from tests.agents.test_jsonc import documents

NAMES = [client.name for client in CLIENTS]

SERVERS = {
    "claude-code": (".claude.json", "mcpServers"),
    "codex": (".codex/config.toml", "mcp_servers"),
    "gemini": (".gemini/settings.json", "mcpServers"),
    "vscode": (".config/Code/User/mcp.json", "servers"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "windsurf": (".codeium/windsurf/mcp_config.json", "mcpServers"),
    "zed": (".config/zed/settings.json", "context_servers"),
    "opencode": (".config/opencode/opencode.json", "mcp"),
    "cline": (".cline/data/settings/cline_mcp_settings.json", "mcpServers"),
}

HOOKS = {
    "claude-code": (".claude/settings.json", "PostToolUseFailure"),
    "codex": (".codex/hooks.json", "PostToolUse"),
    "gemini": (".gemini/settings.json", "AfterTool"),
    "vscode": (".copilot/hooks/debug-relay.json", "PostToolUse"),
    "cursor": (".cursor/hooks.json", "postToolUse"),
}

LONGEST_WAIT = Run.model_json_schema()["properties"]["wait"]["anyOf"][0]["maximum"]

OTHERS_JSON = '// mine\n{\n    "a": "é", // kept\n    "GROUP": {"other": {"command": "x"}},\n}\n'
OTHERS_TOML = '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "x"  # kept\n'


class Home:
    """A user's home, and `relay agent install` in it."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = directory / "home"
        self.path.mkdir()
        for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HOME", str(self.path))
        monkeypatch.setenv("PATH", "/usr/bin:/bin")
        monkeypatch.setenv("RELAY_STATE_DIR", str(self.path / "state"))

    def install(self, *words: str) -> Result:
        return CliRunner().invoke(cli, ["agent", "install", *words])

    def done(self, *words: str) -> str:
        result = self.install(*words)
        assert result.exit_code == 0, result.output
        return result.output

    def write(self, name: str, text: str, newline: str = "\n") -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.replace("\n", newline).encode())
        return path

    def content(self) -> dict[str, Any]:
        """Every file, link and directory, with what is in it and its mode."""
        return {
            str(path.relative_to(self.path)): (
                stat.S_IMODE(path.lstat().st_mode),
                str(path.readlink())
                if path.is_symlink()
                else path.read_bytes()
                if path.is_file()
                else None,
            )
            for path in self.path.rglob("*")
        }


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(tmp_path, monkeypatch)


def meaning(path: Path) -> dict[str, Any]:
    text = path.read_text()
    found: dict[str, Any] = (
        tomllib.loads(text) if path.suffix == ".toml" else jsonc.parse(text).value
    )
    return found


def others(client: str) -> tuple[str, str]:
    """The file of a client's servers with other things in it."""
    name, group = SERVERS[client]
    return name, OTHERS_TOML if name.endswith("toml") else OTHERS_JSON.replace("GROUP", group)


@pytest.mark.parametrize("client", NAMES)
def test_an_empty_home_has_it_all_and_nothing_afterwards(client: str, home: Home) -> None:
    before = home.content()
    printed = home.done("--client", client)
    name, group = SERVERS[client]
    entry = meaning(home.path / name)[group]["debug"]
    command = entry["command"]
    words = command if isinstance(command, list) else [command, *entry["args"]]
    assert words[1] == "mcp"
    assert Path(words[0]).is_absolute()
    (skill,) = home.path.rglob("SKILL.md")
    assert skill.parent.name == "debug-python"
    assert skill.read_text() == skill_text()
    assert f"~/{name}" in printed
    home.done("--client", client, "--uninstall")
    assert home.content() == before


@pytest.mark.parametrize("client", NAMES)
def test_twice_changes_nothing(client: str, home: Home) -> None:
    home.done("--client", client)
    before = home.content()
    assert "Nothing had to be changed." in home.done("--client", client)
    assert home.content() == before


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("client", NAMES)
def test_what_others_have_written_stays(client: str, newline: str, home: Home) -> None:
    name, text = others(client)
    path = home.write(name, text, newline)
    path.chmod(0o640)
    before = home.content()
    home.done("--client", client)
    group = meaning(path)[SERVERS[client][1]]
    assert set(group) == {"other", "debug"}
    installed = path.read_bytes().decode()
    assert installed.count("\n") == installed.count(newline)
    for line in text.replace("\n", newline).splitlines():
        assert line.rstrip(",}") in installed
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    home.done("--client", client, "--uninstall")
    assert home.content() == before


@pytest.mark.parametrize("client", NAMES)
def test_a_dry_run_shows_the_same_and_writes_nothing(client: str, home: Home) -> None:
    name, text = others(client)
    home.write(name, text)
    before = home.content()
    shown = home.done("--client", client, "--dry-run")
    assert home.content() == before
    assert "Nothing was written" in shown
    assert f"change ~/{name}" in shown
    assert (
        shown.splitlines()[:-1]
        == home.done("--client", client).splitlines()[: shown.count("\n") - 1]
    )


@pytest.mark.parametrize("client", NAMES)
def test_a_file_that_cannot_be_read_refuses_everything(client: str, home: Home) -> None:
    name, _ = SERVERS[client]
    home.write(name, "{ half")
    before = home.content()
    for words in ([], ["--uninstall"]):
        refused = home.install("--client", "cursor", "--client", client, *words)
        assert refused.exit_code == 1
        assert f"{home.path / name} cannot be read: " in refused.output
        assert "nothing was changed" in refused.output
        assert home.content() == before


@pytest.mark.parametrize("data", [b'{"a": "\xff"}', b'{"mcpServers": []}', b"[]"])
def test_a_file_of_another_kind_is_refused(data: bytes, home: Home) -> None:
    (home.path / ".claude.json").write_bytes(data)
    before = home.content()
    assert home.install("--client", "claude-code").exit_code == 1
    assert home.content() == before


@pytest.mark.parametrize("client", sorted(HOOKS))
def test_the_hook_answers_as_it_was_installed(client: str, home: Home) -> None:
    home.done("--client", client)
    name, event = HOOKS[client]
    (item,) = meaning(home.path / name)["hooks"][event]
    (hook,) = item.get("hooks", [item])
    payload = {
        "hook_event_name": event,
        "tool_input": {"command": "pytest -q"},
        "tool_response": "1 failed in 0.1s",
    }
    done = subprocess.run(
        ["sh", "-c", hook["command"]],
        input=json.dumps(payload),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert DEBUGGER in done.stdout


def test_the_hook_of_cline_is_a_program(home: Home) -> None:
    home.done("--client", "cline")
    payload = {"postToolUse": {"parameters": {"command": "pytest"}, "result": "1 failed in 0.1s"}}
    done = subprocess.run(
        [home.path / ".cline/hooks/PostToolUse"],
        input=json.dumps(payload),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert json.loads(done.stdout)["contextModification"]


@pytest.mark.parametrize("client", ["claude-code", "gemini", "vscode", "cursor", "opencode"])
def test_the_sub_agent_is_there(client: str, home: Home) -> None:
    home.done("--client", client)
    (path,) = home.path.rglob(f"{DEBUGGER}*.md")
    _, head, body = path.read_text().split("---\n", 2)
    assert f"name: {DEBUGGER}\n" in head
    assert body.strip() == debugger_text().strip()
    for tool in ("debug_run", "debug_trace", "debug_end"):
        assert tool in body


def test_the_sub_agent_of_codex_is_toml(home: Home) -> None:
    home.done("--client", "codex")
    agent = meaning(home.path / ".codex" / "agents" / f"{DEBUGGER}.toml")
    assert agent["name"] == DEBUGGER
    assert agent["developer_instructions"] == debugger_text()


def test_what_was_added_since_stays(home: Home) -> None:
    home.done("--client", "cursor")
    servers, hooks = home.path / ".cursor/mcp.json", home.path / ".cursor/hooks.json"
    text, _ = jsonc.set_member(servers.read_text(), ("mcpServers", "mine"), {"command": "x"})
    servers.write_text(text)
    text, _ = jsonc.append_item(hooks.read_text(), ("hooks", "stop"), {"command": "x"})
    hooks.write_text(text)
    skill = home.path / ".cursor/skills/debug-python/SKILL.md"
    skill.write_text(skill.read_text() + "\nAnd mine.\n")
    printed = home.done("--client", "cursor", "--uninstall")
    assert meaning(servers) == {"mcpServers": {"mine": {"command": "x"}}}
    assert meaning(hooks) == {"version": 1, "hooks": {"stop": [{"command": "x"}]}}
    assert skill.read_text().endswith("And mine.\n")
    assert "SKILL.md: it has been changed" in printed


def test_another_server_of_that_name_is_not_touched(home: Home) -> None:
    path = home.write(".cursor/mcp.json", '{"mcpServers": {"debug": {"command": "other"}}}')
    before = home.content()
    refused = home.install("--client", "cursor")
    assert refused.exit_code == 1
    assert "mcpServers.debug is another server" in refused.output
    assert "--name" in refused.output
    assert home.content() == before
    home.done("--client", "cursor", "--name", "python-debug")
    assert set(meaning(path)["mcpServers"]) == {"debug", "python-debug"}
    home.done("--client", "cursor", "--name", "python-debug", "--uninstall")
    assert home.content() == before


@pytest.mark.parametrize("client", NAMES)
def test_a_relay_that_has_moved_is_named_anew(client: str, home: Home) -> None:
    name, group = SERVERS[client]
    home.done("--client", client)
    path = home.path / name
    entry = meaning(path)[group]["debug"]
    command = entry["command"]
    word = command[0] if isinstance(command, list) else command
    now = path.read_text()
    path.write_text(now.replace(f'"{word}"', '"/gone/bin/relay"'))
    assert path.read_text() != now
    home.done("--client", client)
    assert path.read_text() == now


def test_what_a_user_has_added_to_the_entry_stays(home: Home) -> None:
    home.done("--client", "cursor")
    path = home.path / ".cursor/mcp.json"
    text, _ = jsonc.set_member(path.read_text(), ("mcpServers", "debug", "env"), {"A": "1"})
    path.write_text(text)
    assert "Nothing had to be changed." in home.done("--client", "cursor")
    assert meaning(path)["mcpServers"]["debug"]["env"] == {"A": "1"}


def test_a_link_stays_a_link(home: Home) -> None:
    real = home.write("dotfiles/claude.json", '{"a": 1}\n')
    real.chmod(0o600)
    (home.path / ".claude.json").symlink_to("dotfiles/claude.json")
    before = home.content()
    home.done("--client", "claude-code")
    assert (home.path / ".claude.json").is_symlink()
    assert "debug" in meaning(real)["mcpServers"]
    home.done("--client", "claude-code", "--uninstall")
    assert home.content() == before


def test_a_byte_order_mark_stays(home: Home) -> None:
    home.write(".cursor/mcp.json", '\ufeff{"mcpServers": {}}')
    before = home.content()
    home.done("--client", "cursor")
    assert (home.path / ".cursor/mcp.json").read_bytes().startswith(b"\xef\xbb\xbf{")
    home.done("--client", "cursor", "--uninstall")
    assert home.content() == before


@pytest.mark.parametrize("blank", ["", "\n\n", "\ufeff", "\ufeff \r\n"])
def test_an_empty_file_is_empty_again(blank: str, home: Home) -> None:
    home.write(".cursor/mcp.json", blank)
    before = home.content()
    home.done("--client", "cursor")
    home.done("--client", "cursor", "--uninstall")
    assert home.content() == before


def test_a_file_that_two_clients_read_goes_with_the_last(home: Home) -> None:
    before = home.content()
    home.done("--client", "codex", "--client", "zed")
    skill = home.path / ".agents/skills/debug-python/SKILL.md"
    assert "zed reads it, too" in home.done("--client", "codex", "--uninstall")
    assert skill.exists()
    home.done("--client", "zed", "--uninstall")
    assert home.content() == before


def test_clients_that_would_find_two_skills_of_one_name_share_one(home: Home) -> None:
    home.done("--client", "codex", "--client", "gemini")
    assert [name for name in home.content() if name.endswith("SKILL.md")] == [
        ".agents/skills/debug-python/SKILL.md"
    ]


def test_what_was_made_is_remembered_below_the_home(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RELAY_STATE_DIR")
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
    before = home.content()
    monkeypatch.chdir(tmp_path / "first")
    home.done("--client", "cursor")
    assert (home.path / ".opencode-debugger" / "agents.json").exists()
    monkeypatch.chdir(tmp_path / "second")
    home.done("--client", "cursor", "--uninstall")
    assert home.content() == before
    assert [*(tmp_path / "first").iterdir(), *(tmp_path / "second").iterdir()] == []


def test_cline_waits_as_long_as_a_tool_may(home: Home) -> None:
    home.done("--client", "cline")
    entry = meaning(home.path / SERVERS["cline"][0])["mcpServers"]["debug"]
    assert entry["timeout"] > LONGEST_WAIT


def test_a_skill_of_somebody_else_is_left_alone(home: Home) -> None:
    path = home.write(".cursor/skills/debug-python/SKILL.md", "---\nname: debug-python\n---\n")
    assert "it is not of this relay" in home.done("--client", "cursor")
    home.done("--client", "cursor", "--uninstall")
    assert path.read_text() == "---\nname: debug-python\n---\n"


def test_without_a_name_it_takes_those_that_are_found(home: Home) -> None:
    refused = home.install()
    assert refused.exit_code == 1
    assert "no client was found" in refused.output
    (home.path / ".cursor").mkdir()
    (home.path / ".config/zed").mkdir(parents=True)
    printed = home.done()
    assert printed.startswith("Found Cursor, Zed.\nLeft out Claude Code, ")
    assert not (home.path / ".claude.json").exists()


def test_variables_move_the_settings(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home.path / "c"))
    monkeypatch.setenv("CODEX_HOME", str(home.path / "x"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home.path / "g"))
    home.done("--client", "claude-code", "--client", "codex", "--client", "zed")
    there = home.content()
    assert {"c/.claude.json", "c/settings.json", "x/config.toml", "g/zed/settings.json"} <= set(
        there
    )


def test_opencode_2_has_its_servers_deeper(home: Home) -> None:
    text = '{\n  "mcp": {\n    "servers": {\n    },\n  },\n}\n'
    path = home.write(".config/opencode/opencode.jsonc", text)
    home.done("--client", "opencode")
    assert set(meaning(path)["mcp"]) == {"servers"}
    assert "debug" in meaning(path)["mcp"]["servers"]
    home.done("--client", "opencode", "--uninstall")
    assert path.read_text() == text


@pytest.mark.parametrize("client", [one.name for one in CLIENTS if one.in_projects])
def test_a_project_has_its_own(
    client: str, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    home.done("--client", client, "--project")
    outside = {name for name in home.content() if not name.startswith("state")}
    assert outside == set()
    made = [path for path in project.rglob("*") if path.is_file()]
    assert len(made) >= 2
    assert not any(str(home.path) in path.read_text() for path in made)
    home.done("--client", client, "--project", "--uninstall")
    assert list(project.iterdir()) == []
    assert list(home.path.iterdir()) == []


def test_clients_without_project_settings_say_so(home: Home) -> None:
    refused = home.install("--client", "windsurf", "--project")
    assert refused.exit_code == 2
    assert "Windsurf has MCP servers of the user only" in refused.output


def test_wrong_names_are_told(home: Home) -> None:
    refused = home.install("--client", "emacs")
    assert refused.exit_code == 2
    assert "claude-code, codex, gemini" in refused.output
    assert home.install("--client", "cursor", "--name", "a b").exit_code == 2


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=25,
    deadline=None,
)
@given(document=documents())
def test_any_document_is_restored(home: Home, document: tuple[str, dict[str, Any]]) -> None:
    text, value = document
    path = home.path / ".claude.json"
    path.write_bytes(text.encode())
    (client,) = [one for one in CLIENTS if one.name == "claude-code"]
    at, relay, state = Surroundings(home.path, {}), Relay(("/opt/relay",)), home.path / "state"
    installation.install([client], at, relay, state).carry_out()
    assert set(meaning(path)) == {*value, "mcpServers"}
    installation.uninstall([client], at, relay, state).carry_out()
    assert path.read_bytes() == text.encode()
    assert not state.exists()
