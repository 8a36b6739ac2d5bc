"""A table put into a TOML document, and taken out without a trace."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from relay.agents import toml_tables
from relay.agents.jsonc import NotThatShape

ENTRY = {"command": "/opt/relay", "args": ["mcp"]}

DOCUMENTS = [
    "",
    'model = "x"',
    'model = "x" # mine\n',
    "# only a comment\n",
    '[mcp_servers.other]\ncommand = "y"\n\n# the end\n',
    '[mcp_servers]\n\n[mcp_servers.other]\ncommand = "y"\n',
    '[profiles.a]\r\nmodel = "x"\r\n\r\n',
    'text = """\n[mcp_servers.debug]\ncommand = "no"\n"""\n',
    "[[list]]\na = 1\n[[list]]\na = 2\n[z]\nb = { c = 1 }\n",
    'mcp_servers = { other = { command = "y" } } # inline\n',
    'mcp_servers.other.command = "y"\n',
]

TABLES = st.dictionaries(
    st.text("abz-_ é", min_size=1, max_size=5),
    st.integers(-5, 5) | st.text(max_size=8) | st.lists(st.booleans(), max_size=2)
    | st.dictionaries(st.text("xy", min_size=1, max_size=2), st.integers(0, 3), max_size=2),
    max_size=4,
)  # fmt: skip


def there_and_back(text: str) -> None:
    meant: dict[str, Any] = tomllib.loads(text)
    added = toml_tables.put(text, "mcp_servers", "debug", ENTRY)
    servers = {**meant.get("mcp_servers", {}), "debug": ENTRY}
    assert tomllib.loads(added) == {**meant, "mcp_servers": servers}
    assert toml_tables.take(added, "mcp_servers", "debug") == text


@pytest.mark.parametrize("text", DOCUMENTS)
def test_what_was_added_is_taken_out_without_a_trace(text: str) -> None:
    there_and_back(text)


@given(TABLES, st.sampled_from(["", "\n", "# end", "\n\n# end\n\n"]))
def test_of_any_document(value: dict[str, Any], end: str) -> None:
    there_and_back(tomlkit.dumps(value) + end)


def test_what_others_have_added_behind_it_stays() -> None:
    added = toml_tables.put('model = "x"\n', "mcp_servers", "debug", ENTRY)
    behind = added + '\n# mine\n[mcp_servers.mine]\ncommand = "y"\n'
    left = toml_tables.take(behind, "mcp_servers", "debug")
    assert left == 'model = "x"\n\n# mine\n[mcp_servers.mine]\ncommand = "y"\n'
    assert tomllib.loads(left) == {"model": "x", "mcp_servers": {"mine": {"command": "y"}}}


def test_tables_that_others_have_put_below_it_go_too() -> None:
    added = toml_tables.put('model = "x"\n', "mcp_servers", "debug", ENTRY)
    below = added + '\n[mcp_servers.debug.env]\nA = "1"\n\n[z]\n'
    left = toml_tables.take(below, "mcp_servers", "debug")
    assert tomllib.loads(left) == {"model": "x", "z": {}}


def test_keys_are_set_anew_and_others_kept() -> None:
    text = '[mcp_servers.debug]\ncommand = "/old/relay" # here\nargs = ["mcp"]\nenabled = false\n'
    changed = toml_tables.set_keys(text, "mcp_servers", "debug", ENTRY)
    assert changed == text.replace("/old/relay", "/opt/relay")


def test_what_is_no_toml_is_refused() -> None:
    with pytest.raises(toml_tables.NotToml, match="end of document"):
        toml_tables.put("a = ", "mcp_servers", "debug", ENTRY)


def test_another_shape_is_refused() -> None:
    with pytest.raises(NotThatShape):
        toml_tables.put("mcp_servers = 3\n", "mcp_servers", "debug", ENTRY)
