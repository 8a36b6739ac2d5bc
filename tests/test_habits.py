"""The project's habits: a commit is checked as CI checks it."""

from __future__ import annotations

import configparser
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"\]\((?P<target>[^)\s#]+)(?:#[^)]*)?\)")


def test_a_commit_is_checked_as_tox_checks_style_and_types() -> None:
    tox = configparser.ConfigParser()
    tox.read(ROOT / "tox.ini")
    checks = [
        line
        for environment in ("lint", "types")
        for line in tox[f"testenv:{environment}"]["commands"].splitlines()
        if line
    ]
    hooks = re.findall(r"entry: (.*)", (ROOT / ".pre-commit-config.yaml").read_text())
    assert set(checks) <= set(hooks)
    tests = [hook.split()[-1] for hook in hooks if hook.startswith("pytest")]
    assert all((ROOT / test.partition("::")[0]).exists() for test in tests)


def test_the_version_is_the_newest_tag() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" in project["project"]["dynamic"]
    version = project["tool"]["hatch"]["version"]
    assert version["source"] == "vcs"
    assert re.fullmatch(version["tag-pattern"], "v1.2.3")
    assert not re.fullmatch(version["tag-pattern"], "1.2.3-draft")


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(page: str) -> None:
    targets = {match["target"] for match in LINK.finditer((ROOT / page).read_text())}
    local = {target for target in targets if "://" not in target}
    assert [target for target in local if not (ROOT / target).exists()] == []


def test_the_environments_that_contributors_are_sent_to_exist() -> None:
    tox = (ROOT / "tox.ini").read_text()
    named = re.findall(r"`tox -e ([\w,]+)`", (ROOT / "CONTRIBUTING.md").read_text())
    assert named
    for environment in {name for names in named for name in names.split(",")}:
        assert environment in tox
