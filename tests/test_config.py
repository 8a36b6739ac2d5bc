"""Settings: where a value comes from, which source wins, and what a bad one is told."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.config import ConfigurationError, Settings, load_settings, variable_of
from relay.debuggers.known import known_debuggers
from relay.debuggers.standard.debugger import StandardDebugger

Write = Callable[..., Path]

LOWEST_AND_HIGHEST: dict[str, tuple[Any, Any]] = {
    "port": (0, 65535),
    "max_sessions": (1, 1000),
    "default_timeout_minutes": (1, 1440),
    "output_limit_bytes": (1024, 2**32),
    "event_limit": (100, 1_000_000),
}


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting of the developer's own; the state directory is the test's."""
    for name in list(os.environ):
        if name.upper() in map(variable_of, Settings.model_fields):
            monkeypatch.delenv(name)
    monkeypatch.setenv("RELAY_STATE_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def config_json(tmp_path: Path) -> Write:
    def write(_text: str | None = None, **values: Any) -> Path:
        path = tmp_path / "config.json"
        path.write_text(json.dumps(values) if _text is None else _text)
        return path

    return write


def complaint(**command_line: Any) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_settings(**command_line)
    return str(caught.value)


# Precedence -----------------------------------------------------------------------------

FILE, ENVIRONMENT, COMMAND_LINE = "file", "environment", "command line"


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ([], 10),
        ([FILE], 11),
        ([ENVIRONMENT], 12),
        ([COMMAND_LINE], 13),
        ([FILE, ENVIRONMENT], 12),
        ([FILE, COMMAND_LINE], 13),
        ([ENVIRONMENT, COMMAND_LINE], 13),
        ([FILE, ENVIRONMENT, COMMAND_LINE], 13),
    ],
)
def test_the_later_source_wins(
    sources: list[str], expected: int, config_json: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    if FILE in sources:
        config_json(max_sessions=11)
    if ENVIRONMENT in sources:
        monkeypatch.setenv("RELAY_MAX_SESSIONS", "12")
    given = {"max_sessions": 13} if COMMAND_LINE in sources else {}
    assert load_settings(**given).max_sessions == expected


def test_sources_add_up(config_json: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    config_json(port=5700, event_limit=500)
    monkeypatch.setenv("RELAY_LOG_LEVEL", "debug")
    settings = load_settings(max_sessions=3, port=None)
    assert settings.port == 5700
    assert settings.event_limit == 500
    assert settings.log_level == "debug"
    assert settings.max_sessions == 3


def test_none_on_the_command_line_means_not_given() -> None:
    assert load_settings(**dict.fromkeys(Settings.model_fields)) == load_settings()


def test_the_defaults(tmp_path: Path) -> None:
    settings = load_settings()
    assert (settings.host, settings.port) == ("127.0.0.1", 5679)
    assert settings.project_root == tmp_path
    assert settings.python_path == sys.executable
    assert settings.token is None
    assert settings.allowed_hosts == ()
    assert settings.allowed_roots == ()


@pytest.mark.parametrize("name", sorted(Settings.model_fields.keys() - {"adapters"}))
def test_every_setting_can_come_from_the_environment(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    texts = {
        "host": "::1",
        "state_dir": str(tmp_path / "elsewhere"),
        "project_root": str(tmp_path),
        "python_path": "python3",
        "log_level": "error",
        "log_format": "json",
        "token": "a long secret",
        "output_limit_bytes": "2000",
        "allowed_hosts": "devbox",
        "redact_credentials": "false",
        "same_user_only": "true",
    }
    text = texts.get(name, "200")
    monkeypatch.setenv(variable_of(name), text)
    value = getattr(load_settings(), name)
    assert str(value) in (text, f"{text}.0", f"('{text}',)", f"({Path(text)!r},)", text.title())


@pytest.mark.parametrize("value", ["r0", "a", "0123456789abcdef"])
def test_a_relay_may_have_an_id(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().relay_id is None
    assert load_settings(relay_id=value).relay_id == value
    monkeypatch.setenv("RELAY_ID", value)
    assert load_settings().relay_id == value


@pytest.mark.parametrize("value", ["", "R0", "r-0", "r_0", "é", "٣", "a" * 17, "r0\n", " r0"])
def test_a_bad_id_is_refused(
    value: str, monkeypatch: pytest.MonkeyPatch, config_json: Write
) -> None:
    said = r"relay_id, from {}: .*1 to 16 of a-z and 0-9 \(got"
    with pytest.raises(ConfigurationError, match=said.format("the command line")):
        load_settings(relay_id=value)
    config_json(relay_id=value)
    with pytest.raises(ConfigurationError, match=said.format("config.json")):
        load_settings()
    monkeypatch.setenv("RELAY_ID", value)
    with pytest.raises(ConfigurationError, match=said.format("RELAY_ID")):
        load_settings()


LLDB = {"command": ["lldb-vscode"], "languages": ["C"], "suffixes": [".out"]}


def test_adapters_are_added_to_the_relays_own(config_json: Write) -> None:
    filters = {"raised": ["cpp_throw"]}
    config_json(adapters={"lldb": {**LLDB, "exception_filters": filters}})
    known = known_debuggers(load_settings().adapters)
    assert known.names == ["python", "perl", "lldb"]
    lldb = known.named("lldb")
    assert isinstance(lldb, StandardDebugger)
    assert (lldb.command, lldb.transport, lldb.languages) == (("lldb-vscode",), "stdio", ("C",))
    assert lldb.launch_template["stopOnEntry"] == "{stop_on_entry}"
    assert lldb.exception_filters(("raised", "uncaught")) == ["cpp_throw"]
    assert known.for_program("/b/a.out") is lldb


def test_adapters_can_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAY_ADAPTERS", json.dumps({"lldb": LLDB}))
    assert "lldb" in load_settings().adapters
    monkeypatch.setenv("RELAY_ADAPTERS", "lldb")
    assert '"adapters"' in complaint()


@pytest.mark.parametrize(
    ("name", "entry", "told"),
    [
        ("perl", LLDB, "the relay's own"),
        ("Big Name", LLDB, "a letter first"),
        ("lldb", {}, "adapters.lldb.command"),
        ("lldb", {"command": []}, "adapters.lldb.command"),
        ("lldb", {**LLDB, "transport": "udp"}, "adapters.lldb.transport"),
        ("lldb", {**LLDB, "transport": "tcp"}, "{port}, where the adapter is to listen"),
        ("lldb", {**LLDB, "transport": "tcp_client"}, "{port}, to connect to"),
        ("lldb", {**LLDB, "suffixes": ["c"]}, "adapters.lldb.suffixes.0"),
        ("lldb", {**LLDB, "launch": []}, "adapters.lldb.launch"),
        ("lldb", {**LLDB, "attach": "{pid}"}, "adapters.lldb.attach"),
        ("lldb", {**LLDB, "attach": {"process": "pid"}}, "attach needs {pid}"),
        ("lldb", {**LLDB, "lunch": {}}, "adapters.lldb.lunch"),
    ],
)
def test_a_bad_adapter_is_refused_by_its_place(
    name: str, entry: dict[str, Any], told: str, config_json: Write
) -> None:
    config_json(adapters={name: entry})
    text = complaint()
    assert told in text
    assert "config.json" in text


def test_the_state_directory_of_the_command_line_has_the_file(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "config.json").write_text('{"port": 5701}')
    assert load_settings(state_dir=str(other)).port == 5701
    assert load_settings().port == 5679


def test_a_tilde_in_the_state_directory_is_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "config.json").write_text('{"port": 5702}')
    monkeypatch.setenv("HOME", str(tmp_path))
    assert load_settings(state_dir="~/mine").port == 5702


def test_unknown_variables_are_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAY_RACE", "4 x 100")
    load_settings()


def test_a_dotenv_file_of_the_project_is_not_read(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("RELAY_PORT=1\n")
    assert load_settings().port == 5679


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("devbox", ("devbox",)),
        ("devbox, 10.0.0.7", ("devbox", "10.0.0.7")),
        ("", ()),
        (" , ", ()),
        ("*", ("*",)),
    ],
)
def test_host_names_are_separated_by_commas(
    text: str, expected: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELAY_ALLOWED_HOSTS", text)
    assert load_settings().allowed_hosts == expected


def test_host_names_are_a_list_in_the_file(config_json: Write) -> None:
    config_json(allowed_hosts=["devbox", "10.0.0.7"])
    assert load_settings().allowed_hosts == ("devbox", "10.0.0.7")


# Bad values -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(LOWEST_AND_HIGHEST))
def test_bounds_are_inclusive_and_kept(name: str) -> None:
    low, high = LOWEST_AND_HIGHEST[name]
    assert getattr(load_settings(**{name: low}), name) == low
    assert getattr(load_settings(**{name: high}), name) == high
    assert name in complaint(**{name: low - 1})
    assert name in complaint(**{name: high + 1})


@given(port=st.integers())
def test_a_port_is_taken_or_named(port: int) -> None:
    if 0 <= port <= 65535:
        assert load_settings(port=port).port == port
    else:
        assert complaint(port=port).startswith("bad configuration\n  port, from the command line:")


@given(text=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_any_list_of_host_names_is_taken(text: str) -> None:
    names = load_settings(allowed_hosts=text).allowed_hosts
    assert all(name and name == name.strip() and "," not in name for name in names)


def test_every_bad_value_is_told_at_once_with_its_source(
    config_json: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    config_json(port="many", sessions=3)
    monkeypatch.setenv("RELAY_EVENT_LIMIT", "7")
    told = complaint(max_sessions=0)
    assert "port, from config.json: " in told
    assert "(got 'many')" in told
    assert "event_limit, from RELAY_EVENT_LIMIT: " in told
    assert "max_sessions, from the command line: " in told
    assert "sessions, from config.json: there is no such setting" in told


@pytest.mark.parametrize("bad", ["hush" * 200, "hush\nhush", "hüsh hush"])
def test_a_bad_token_is_not_shown(bad: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAY_TOKEN", bad)
    told = complaint()
    assert "token, from RELAY_TOKEN" in told
    assert "hush" not in told


def test_a_token_may_be_short() -> None:
    assert load_settings(token="hush").token == "hush"


@pytest.mark.parametrize("text", ["", "{", "[1]", '"port"', "null", "\udcff"])
def test_a_file_that_is_no_object_is_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(text.encode(errors="surrogateescape"))
    assert str(path) in complaint()


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.json").mkdir()
    assert str(tmp_path / "config.json") in complaint()


def test_the_file_cannot_move_itself(config_json: Write) -> None:
    config_json(state_dir="/elsewhere")
    assert "RELAY_STATE_DIR or --state-dir" in complaint()


def test_settings_do_not_change() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load_settings().port = 1  # type: ignore[misc]
