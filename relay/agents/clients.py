"""The clients: where each keeps its settings, and what of ours goes there.

Where they say so themselves, as of 2026:

Claude Code   code.claude.com/docs: mcp, skills, sub-agents, hooks (PostToolUseFailure)
Codex         developers.openai.com/codex: mcp, skills, subagents, hooks (PostToolUse)
Gemini CLI    geminicli.com/docs: tools/mcp-server, cli/skills, core/subagents, hooks/reference (AfterTool)
VS Code       code.visualstudio.com/docs: reference/mcp-configuration, agent-customization/agent-skills,
              custom-agents, hooks (PostToolUse)
Cursor        cursor.com/docs: context/mcp, context/skills, context/subagents, agent/hooks (postToolUse)
Windsurf      docs.windsurf.com: cascade/mcp, cascade/skills; its hooks cannot say anything to the agent
Zed           zed.dev/docs/ai: mcp, skills; no sub-agents and no hooks of users
opencode      opencode.ai/docs: mcp-servers, skills, agents; a hook would have to be a plugin
Cline         docs.cline.bot: getting-started/config, customization/hooks (PostToolUse)
"""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import tomlkit

from relay.agents.jsonc import NotJson, parse
from relay.agents.parts import Document, Item, Needed, OwnFile, Part, ServerEntry, Table

SKILL = "debug-python"
DEBUGGER = "python-debugger"
"""The sub-agent."""

DESCRIPTION = (
    "Finds the root cause of a failing test, a wrong value, a crash or a hang in a Python program "
    "with a live debugger, and reports it with evidence. Use it when a test fails and the "
    "traceback does not show why. Give it the command that fails."
)

HOOK_SECONDS = 10

CLINE_SECONDS = 330
"""More than the longest `wait` of a tool. By itself Cline waits 3 s for a server to start."""

WORKSPACE = "${workspaceFolder}"
"""VS Code's word for the folder that is open."""


@dataclass(frozen=True)
class Surroundings:
    """Where an installation happens: the home of a user, and one project if it is for that only."""

    home: Path
    environment: Mapping[str, str]
    project: Path | None = None

    @property
    def config(self) -> Path:
        """Where programs keep settings, by the XDG rules."""
        given = self.environment.get("XDG_CONFIG_HOME")
        return Path(given) if given else self.home / ".config"

    def directory(self, variable: str, default: str) -> Path:
        """The directory that a variable of the environment names, else one below the home."""
        given = self.environment.get(variable)
        return Path(given) if given else self.home / default

    def has(self, *commands: str) -> bool:
        """Whether one of these commands can be run."""
        path = self.environment.get("PATH", "")
        return any(shutil.which(command, path=path) for command in commands)


@dataclass(frozen=True)
class Relay:
    """How a client is to start this relay, and what it calls it."""

    command: tuple[str, ...]
    name: str = "debug"

    def mcp(self, *more: str) -> dict[str, Any]:
        """The server as most clients describe one."""
        program, *args = self.command
        return {"command": program, "args": [*args, "mcp", *more]}

    def hook(self, client: str) -> str:
        """The hook as a line for a shell."""
        return shlex.join([*self.command, "agent", "hook", client])


@dataclass(frozen=True)
class AgentClient:
    """One program that runs agents."""

    name: str
    title: str
    is_here: Callable[[Surroundings], bool]
    gets: Callable[[Surroundings, Relay], Sequence[Document | OwnFile]]
    in_projects: bool = True
    """Whether a project can have MCP servers of its own."""
    note: str = ""
    """What is left for the user to do."""


# Whose an entry is -----------------------------------------------------------------------


def is_server(entry: Any) -> bool:
    """Whether an MCP entry starts a relay."""
    if not isinstance(entry, dict):
        return False
    command, args = entry.get("command"), entry.get("args", [])
    words = command if isinstance(command, list) else [command, *_listed(args)]
    return _starts_relay([str(word) for word in words], "mcp")


def is_hook(entry: Any) -> bool:
    """Whether an item of a list of hooks is one of a relay, and nothing else."""
    if not isinstance(entry, dict):
        return False
    inner = entry.get("hooks")
    if isinstance(inner, list):
        return bool(inner) and all(is_hook(one) for one in inner)
    try:
        words = shlex.split(str(entry.get("command", "")))
    except ValueError:
        return False
    return _starts_relay(words, "agent", "hook")


def _starts_relay(words: Sequence[str], *rest: str) -> bool:
    if words[1:3] == ["-m", "relay"]:
        words = words[2:]
    named = bool(words) and Path(words[0]).name == "relay"
    return named and tuple(words[1 : 1 + len(rest)]) == rest


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


# Texts -----------------------------------------------------------------------------------


def skill_text() -> str:
    """The skill, as a file."""
    return _text("skill.md")


def debugger_text() -> str:
    """The instructions of the sub-agent: its task, and the questions of the skill."""
    questions = skill_text().split("---\n", 2)[2].strip()
    return f"{_text('debugger.md')}\n{questions}\n"


def _text(name: str) -> str:
    return (files("relay.agents") / "texts" / name).read_text(encoding="utf-8")


def _skill(folder: Path) -> OwnFile:
    return OwnFile(folder / SKILL / "SKILL.md", skill_text(), "the skill")


def _debugger(folder: Path, *more: str, suffix: str = ".md") -> OwnFile:
    """A sub-agent as most clients take one. JSON's strings are strings in YAML, too."""
    head = [f"name: {DEBUGGER}", f"description: {json.dumps(DESCRIPTION)}", *more]
    content = "\n".join(["---", *head, "---", "", debugger_text()])
    return OwnFile(folder / f"{DEBUGGER}{suffix}", content, "the sub-agent")


def _hook(relay: Relay, client: str, **more: Any) -> dict[str, Any]:
    hook = {"type": "command", "command": relay.hook(client), "timeout": HOOK_SECONDS}
    return {**hook, **more}


def _entry(relay: Relay, *path: str, **value: Any) -> ServerEntry:
    return ServerEntry((*path, relay.name), value, is_server)


def _hook_of(*path: str, value: Any) -> Item:
    return Item(path, value, is_hook)


# Each client -----------------------------------------------------------------------------


def _claude_code(at: Surroundings, relay: Relay) -> list[Document | OwnFile]:
    own = at.project / ".claude" if at.project else at.directory("CLAUDE_CONFIG_DIR", ".claude")
    if at.project:
        servers = at.project / ".mcp.json"
    elif at.environment.get("CLAUDE_CONFIG_DIR"):
        servers = own / ".claude.json"
    else:
        servers = at.home / ".claude.json"
    matched = {"matcher": "Bash", "hooks": [_hook(relay, "claude-code")]}
    return [
        Document(servers, [_entry(relay, "mcpServers", type="stdio", **relay.mcp())]),
        _skill(own / "skills"),
        _debugger(own / "agents", "disallowedTools: Edit, Write, NotebookEdit"),
        Document(own / "settings.json", [_hook_of("hooks", "PostToolUseFailure", value=matched)]),
    ]


def _codex(at: Surroundings, relay: Relay) -> list[Document | OwnFile]:
    own = at.project / ".codex" if at.project else at.directory("CODEX_HOME", ".codex")
    table = Table("mcp_servers", relay.name, relay.mcp(), is_server)
    matched = {"matcher": "Bash", "hooks": [_hook(relay, "codex")]}
    agent = tomlkit.document()
    agent["name"] = DEBUGGER
    agent["description"] = DESCRIPTION
    agent["developer_instructions"] = tomlkit.string(debugger_text(), multiline=True)
    return [
        Document(own / "config.toml", [table]),
        _skill((at.project or at.home) / ".agents" / "skills"),
        OwnFile(own / "agents" / f"{DEBUGGER}.toml", tomlkit.dumps(agent), "the sub-agent"),
        Document(own / "hooks.json", [_hook_of("hooks", "PostToolUse", value=matched)]),
    ]


def _gemini(at: Surroundings, relay: Relay) -> list[Document | OwnFile]:
    own = (at.project or at.home) / ".gemini"
    hook = _hook(relay, "gemini", name="debug-relay", timeout=HOOK_SECONDS * 1000)
    matched = {"matcher": "run_shell_command", "hooks": [hook]}
    return [
        Document(
            own / "settings.json",
            [
                _entry(relay, "mcpServers", **relay.mcp()),
                _hook_of("hooks", "AfterTool", value=matched),
            ],
        ),
        # Read by Gemini as well, which warns of a second one of the same name.
        _skill((at.project or at.home) / ".agents" / "skills"),
        _debugger(own / "agents", "kind: local"),
    ]


def _vscode(at: Surroundings, relay: Relay) -> list[Document | OwnFile]:
    own = at.project / ".github" if at.project else at.home / ".copilot"
    servers = at.project / ".vscode" if at.project else at.config / "Code" / "User"
    entry = _entry(relay, "servers", type="stdio", **relay.mcp("--project-root", WORKSPACE))
    hooks = {"hooks": {"PostToolUse": [_hook(relay, "vscode")]}}
    hook = OwnFile(
        own / "hooks" / "debug-relay.json", f"{json.dumps(hooks, indent=2)}\n", "the hook"
    )
    return [
        Document(servers / "mcp.json", [entry]),
        _skill(own / "skills"),
        _debugger(own / "agents", suffix=".agent.md"),
        hook,
    ]


def _cursor(at: Surroundings, relay: Relay) -> list[Document | OwnFile]:
    own = (at.project or at.home) / ".cursor"
    hook = {"command": relay.hook("cursor"), "matcher": "Shell", "timeout": HOOK_SECONDS}
    return [
        Document(own / "mcp.json", [_entry(relay, "mcpServers", **relay.mcp())]),
        _skill(own / "skills"),
        _debugger(own / "agents"),
        Document(
            own / "hooks.json",
            [Needed(("version",), 1), _hook_of("hooks", "postToolUse", value=hook)],
        ),
    ]


def _windsurf(at: Surroundings, relay: Relay) -> list[Document | OwnFile]:
    own = at.home / ".codeium" / "windsurf"
    return [
        Document(own / "mcp_config.json", [_entry(relay, "mcpServers", **relay.mcp())]),
        _skill(own / "skills"),
    ]


def _zed(at: Surroundings, relay: Relay) -> list[Document | OwnFile]:
    own = at.project / ".zed" if at.project else at.config / "zed"
    return [
        Document(own / "settings.json", [_entry(relay, "context_servers", **relay.mcp(), env={})]),
        _skill((at.project or at.home) / ".agents" / "skills"),
    ]


def _opencode(at: Surroundings, relay: Relay) -> list[Document | OwnFile]:
    folder = at.project or at.config / "opencode"
    own = at.project / ".opencode" if at.project else folder
    settings = folder / "opencode.json"
    if not settings.exists() and settings.with_suffix(".jsonc").exists():
        settings = settings.with_suffix(".jsonc")
    group = ("mcp", "servers") if _has_servers(settings) else ("mcp",)
    command = [*relay.command, "mcp"]
    part: Part = _entry(relay, *group, type="local", command=command, enabled=True)
    return [
        Document(settings, [part]),
        _skill(own / "skills"),
        _debugger(own / "agents", "mode: subagent", "permission:", "  edit: deny"),
    ]


def _has_servers(settings: Path) -> bool:
    """Whether the settings are those of opencode 2, which has its servers one level deeper."""
    try:
        document = parse(settings.read_text(encoding="utf-8")).value
    except (OSError, NotJson, UnicodeDecodeError):
        return False  # what is wrong with it is said when it is changed
    servers = document.get("mcp") if isinstance(document, dict) else None
    inner = servers.get("servers") if isinstance(servers, dict) else None
    return isinstance(inner, dict) and "command" not in inner and "url" not in inner


def _cline(at: Surroundings, relay: Relay) -> list[Document | OwnFile]:
    own = at.home / ".cline"
    settings = own / "data" / "settings"
    if not own.exists() and (older := _cline_in_vscode(at)).exists():
        settings = older / "settings"
    command = f"exec {relay.hook('cline')}"
    hook = f"#!/bin/sh\n# Of debug-relay: offers the debugger when a test run failed.\n{command}\n"
    return [
        Document(
            settings / "cline_mcp_settings.json",
            [_entry(relay, "mcpServers", **relay.mcp(), timeout=CLINE_SECONDS)],
        ),
        _skill(own / "skills"),
        OwnFile(own / "hooks" / "PostToolUse", hook, "the hook", executable=True),
    ]


def _cline_in_vscode(at: Surroundings) -> Path:
    return at.config / "Code" / "User" / "globalStorage" / "saoudrizwan.claude-dev"


CLIENTS = (
    AgentClient(
        "claude-code",
        "Claude Code",
        lambda at: (
            at.directory("CLAUDE_CONFIG_DIR", ".claude").is_dir()
            or (at.home / ".claude.json").exists()
            or at.has("claude")
        ),
        _claude_code,
    ),
    AgentClient(
        "codex",
        "Codex",
        lambda at: at.directory("CODEX_HOME", ".codex").is_dir() or at.has("codex"),
        _codex,
        note="Codex asks before it trusts a new hook: /hooks",
    ),
    AgentClient(
        "gemini",
        "Gemini CLI",
        lambda at: (at.home / ".gemini" / "settings.json").exists() or at.has("gemini"),
        _gemini,
    ),
    AgentClient(
        "vscode",
        "VS Code",
        lambda at: (at.config / "Code" / "User").is_dir() or at.has("code"),
        _vscode,
    ),
    AgentClient(
        "cursor",
        "Cursor",
        lambda at: (at.home / ".cursor").is_dir() or at.has("cursor", "cursor-agent"),
        _cursor,
    ),
    AgentClient(
        "windsurf",
        "Windsurf",
        lambda at: (at.home / ".codeium" / "windsurf").is_dir() or at.has("windsurf"),
        _windsurf,
        in_projects=False,
    ),
    AgentClient(
        "zed",
        "Zed",
        lambda at: (at.config / "zed").is_dir() or at.has("zed", "zeditor"),
        _zed,
    ),
    AgentClient(
        "opencode",
        "opencode",
        lambda at: (at.config / "opencode").is_dir() or at.has("opencode"),
        _opencode,
    ),
    AgentClient(
        "cline",
        "Cline",
        lambda at: (
            (at.home / ".cline").is_dir() or _cline_in_vscode(at).is_dir() or at.has("cline")
        ),
        _cline,
        in_projects=False,
        note="Cline runs hooks if its setting Enable Hooks is on",
    ),
)
"""Every client, by the names that `--client` takes."""
