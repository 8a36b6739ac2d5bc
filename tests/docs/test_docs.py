"""The documentation: nothing is missing from it, and nothing in it is wrong."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import click
import pytest
import trio

from relay.actions import in_words
from relay.command_line import COMMANDS
from relay.config import Settings, variable_of
from relay.dap.lifecycle import Happening, Phase
from relay.errors import catalog
from relay.faces.common.actions import ROUTE_WORDS
from relay.faces.http.routes import ROUTES
from relay.models.output import EventType
from relay.models.sessions import STOP_REASONS
from tests.docs import walk
from tests.e2e.conftest import running_relay
from tools import generate_reference as generator
from tools.markdown import anchor

ROOT = Path(__file__).resolve().parent.parent.parent
README = ROOT / "README.md"
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
PAGES = [README, *sorted(DOCS.rglob("*.md"))]
WALKED = [page for page in PAGES if walk.steps(page.read_text())]
LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#+ (?P<text>.*)$", re.MULTILINE)
INSTALLS = bool(os.environ.get("CI") or os.environ.get("RELAY_TEST_INSTALL"))
"""Whether the README's set-up is run to the letter, which downloads what it needs."""


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def prose(page: Path) -> str:
    """A page without its fenced blocks and inline code."""
    return re.sub(r"`[^`\n]*`", "`code`", walk.FENCE.sub("", page.read_text()))


def headings(page: Path) -> set[str]:
    text = walk.FENCE.sub("", page.read_text())
    return {anchor(match["text"]) for match in HEADING.finditer(text)}


# Complete -------------------------------------------------------------------------------


def test_the_generated_parts_are_fresh() -> None:
    assert generator.stale() == {}, "run python -m tools.generate_reference"
    assert generator.main(["--check"]) == 0


def test_a_stale_part_is_noticed() -> None:
    text = "before\n<!-- generated: statuses -->\nold\n<!-- end: statuses -->\nafter\n"
    fresh = generator.refresh(text)
    assert "old" not in fresh
    assert "| happening |" in fresh
    assert fresh.startswith("before\n")
    assert fresh.endswith("after\n")


def test_every_generated_part_is_on_a_page() -> None:
    pages = "".join(page.read_text() for page in REFERENCE.glob("*.md"))
    for name in generator.PARTS:
        assert f"<!-- generated: {name} -->" in pages


def test_every_route_has_a_section() -> None:
    text = (REFERENCE / "routes.md").read_text()
    for route in ROUTES:
        assert f"\n### {route.method} {route.path}\n" in text


def test_every_parameter_and_field_of_a_request_is_described() -> None:
    text = (REFERENCE / "routes.md").read_text()
    for route in ROUTES:
        for model in (route.signature.query, route.signature.body):
            for name in model.model_fields if model else ():
                assert f"| `{name}` |" in text, f"{route.method} {route.path}: {name}"


def test_every_error_code_has_a_section_with_meaning_and_way_out() -> None:
    text = (REFERENCE / "errors.md").read_text()
    for code, error in catalog().items():
        section = text.partition(f"\n### {code}\n")[2].partition("\n### ")[0]
        assert f"Status {error.status}. {error.__doc__}" in section
        assert str(in_words(error.way_out, {}, ROUTE_WORDS)) in section


def test_every_setting_is_documented_under_all_its_names() -> None:
    text = (REFERENCE / "configuration.md").read_text()
    for name in Settings.model_fields:
        assert f"`{variable_of(name)}`" in text
        assert name in generator.NO_OPTION or f"`{generator.option_of(name)}`" in text
        assert name == "state_dir" or f"| `{name}` |" in text


def test_every_command_and_option_is_documented() -> None:
    text = (REFERENCE / "cli.md").read_text()
    known = generator.commands()
    assert set(COMMANDS) < set(known)
    for name, command in known.items():
        section = text.partition(f"\n## relay {name}\n")[2].partition("\n## ")[0]
        help_text = section.split("\n\n")[2]
        assert len(help_text.split()) > 5, f"relay {name}: its help says what it does"
        for parameter in command.params:
            if getattr(parameter, "hidden", False):
                continue
            if isinstance(parameter, click.Option):
                assert parameter.help, f"relay {name} {parameter.opts[0]}"
                assert f"| `{', '.join(sorted(parameter.opts, key=len))}" in section
            else:
                assert parameter.human_readable_name.strip("[].").lower() in section.lower()


def test_every_variable_that_the_pages_name_exists() -> None:
    known = {variable_of(name) for name in (*Settings.model_fields, "url", "session")}
    known |= set(catalog())  # `RELAY_UNREACHABLE` is a code
    known |= {"RELAY_TEST_WORKERS", "RELAY_TEST_STANDBY"}  # of the tests themselves
    for page in PAGES:
        assert set(re.findall(r"\bRELAY_[A-Z_]+[A-Z]\b", page.read_text())) <= known, page


def test_every_event_type_has_a_section() -> None:
    assert {anchor(name) for name in get_args(EventType)} <= headings(REFERENCE / "events.md")


def test_every_status_and_stop_reason_is_named() -> None:
    text = (REFERENCE / "statuses.md").read_text()
    for word in (*Phase, *Happening, *STOP_REASONS):
        assert f"`{word}`" in text


# Right ----------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for match in LINK.finditer(prose(page).replace("`code`", "x")):
        target, _, anchor = match["target"].partition("#")
        if target.startswith(("http://", "https://")):
            continue
        other = (page.parent / target).resolve() if target else page
        assert other.is_file(), f"{page.name} links to {target}"
        assert not anchor or anchor in headings(other), f"{page.name} links to {match['target']}"


def test_the_index_links_to_every_page() -> None:
    linked = {
        (DOCS / match["target"].partition("#")[0]).resolve()
        for match in LINK.finditer((DOCS / "index.md").read_text())
    }
    assert set(PAGES) - {DOCS / "index.md"} <= linked


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_json_blocks_are_json(page: Path) -> None:
    for block in walk.FENCE.finditer(page.read_text()):
        if block["language"] == "json":
            json.loads(block["text"])


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_python_blocks_compile(page: Path) -> None:
    for block in walk.FENCE.finditer(page.read_text()):
        if block["language"] == "python":
            compile(block["text"], name_of(page), "exec", flags=0x2000)  # top-level await


def test_the_pages_that_show_sessions_are_walked() -> None:
    names = {page.name for page in WALKED}
    assert {"README.md", "tutorial.md", "attach.md", "embed.md", "stdin.md"} <= names


@pytest.mark.parametrize("page", [page for page in WALKED if page != README], ids=name_of)
async def test_commands_do_what_the_page_says(page: Path, tmp_path: Path) -> None:
    await _walk(page, tmp_path)


@pytest.mark.parametrize("stand_in", [False, True], ids=["with curl", "without curl"])
async def test_the_readme_does_what_it_says(stand_in: bool, tmp_path: Path) -> None:
    await _walk(README, tmp_path, stand_in=stand_in)


async def _walk(page: Path, directory: Path, *, stand_in: bool = False) -> None:
    settings = Settings(port=0, state_dir=directory / "state", project_root=directory)
    text = await trio.Path(page).read_text()
    async with running_relay(settings) as api:
        url = str(api.client.base_url).partition("/api")[0]
        await walk.walk(text, directory, url, stand_in=stand_in)


# The comparison itself ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shown", "real"),
    [
        ({"a": 1}, {"a": 1, "b": 2}),
        ([1], [1, 2]),
        ("…/x.py", "/home/me/x.py"),
        ({"a": [{"b": "1…3"}]}, {"a": [{"b": "123", "c": 0}]}),
        (None, None),
    ],
)
def test_an_answer_as_shown_is_accepted(shown: object, real: object) -> None:
    assert walk.differences(shown, real) == []


@pytest.mark.parametrize(
    ("shown", "real"),
    [
        ({"a": 1}, {"b": 2}),
        ({"a": 1}, {"a": True}),
        ([1, 2], [1]),
        ("x.py", "/home/me/x.py"),
        ({"a": [{"b": "1…3"}]}, {"a": [{"b": "124"}]}),
        (None, 0),
    ],
)
def test_another_answer_is_not(shown: object, real: object) -> None:
    assert walk.differences(shown, real) != []


# Setting up -----------------------------------------------------------------------------


def test_the_readme_opens_with_the_two_commands_that_set_up_everything() -> None:
    first, second = _setup_commands()
    venv = "python3 -m venv .venv && .venv/bin/pip install -q "
    assert first == f"{venv}. && .venv/bin/relay demo"
    assert second == f"{venv}tox && .venv/bin/tox"


def test_tox_needs_nothing_that_tox_does_not_install() -> None:
    text = (ROOT / "tox.ini").read_text()
    assert "env_list" in text
    assert "allowlist_externals" not in text


def test_the_first_command_installs_the_relay_and_runs_the_demo(tmp_path: Path) -> None:
    """To the letter in CI, or if asked to; otherwise its last part, in this environment."""
    if INSTALLS:
        checkout = tmp_path / "checkout"
        kept = shutil.ignore_patterns(".*", "__pycache__", "tests", "benchmarks")
        shutil.copytree(ROOT, checkout, ignore=kept)
        command, cwd = ["sh", "-c", _setup_commands()[0]], checkout
    else:
        command, cwd = [sys.executable, "-m", "relay", "demo"], tmp_path
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Found: " in done.stdout


def _setup_commands() -> list[str]:
    blocks = list(walk.FENCE.finditer(README.read_text()))
    return [block["text"].strip() for block in blocks[:2]]
