"""The tools that look at what is released: what they say, and that they notice what they look for."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
from packaging.utils import canonicalize_name

from tools.audit import verdict
from tools.requirements import RELAY, needed
from tools.same_wheel import ROOT, differences
from tools.sbom import missing


def test_what_the_relay_needs_is_found_to_the_bottom_and_no_further() -> None:
    found = {str(name) for name in needed()}
    assert {RELAY, "trio", "pydantic-core", "wsproto", "starlette"} <= found
    assert not {"pytest", "numpy", "ruff"} & found


CLEAN = {"name": "h11", "version": "0.16.0", "vulns": []}
FAULTY = {
    "name": "jinja2",
    "version": "2.10",
    "vulns": [{"id": "PYSEC-2019-217", "fix_versions": ["2.10.1"]}],
}
UNKNOWN = {"name": "trio", "skip_reason": "Dependency not found on PyPI"}


@pytest.mark.parametrize(
    ("told", "code", "said"),
    [
        ([CLEAN], 0, ["1 of 3 audited, 0 known vulnerabilities"]),
        ([CLEAN, FAULTY], 1, ["jinja2 2.10: PYSEC-2019-217, corrected in 2.10.1", "2 of 3"]),
        ([UNKNOWN], 0, ["not audited: none of 3 could be looked up: Dependency not found"]),
        ([UNKNOWN, CLEAN], 0, ["not audited: trio: Dependency", "1 of 3 audited"]),
        (None, 0, ["not audited: pip-audit has no answer"]),
    ],
)
def test_an_audit_says_what_it_could_not_ask(told: Any, code: int, said: list[str]) -> None:
    answer = None if told is None else json.dumps({"dependencies": told, "fixes": []})
    found, text = verdict(answer, 3)
    assert found == code
    for words in said:
        assert words in text


def test_a_list_that_lacks_something_is_noticed() -> None:
    installed = {canonicalize_name(name) for name in ("debug-relay", "Typing_Extensions", "h11")}
    sbom = {
        "metadata": {"component": {"name": "debug-relay"}},
        "components": [{"name": "typing.extensions"}],
    }
    licensed = [
        {"Name": "typing_extensions", "License": "PSF-2.0"},
        {"Name": "h11", "License": "UNKNOWN"},
        {"Name": "debug-relay", "License": "MIT"},
    ]
    assert missing(installed, sbom, licensed) == [
        "h11: not in the SBOM",
        "h11: no licence is known",
    ]


def wheel(folder: Path, *, text: str = "x = 1\n", mode: int = 0o644, year: int = 2026) -> Path:
    folder.mkdir()
    with zipfile.ZipFile(folder / "relay-1.whl", "w") as archive:
        info = zipfile.ZipInfo("relay/x.py", (year, 1, 1, 0, 0, 0))
        info.external_attr = mode << 16
        archive.writestr(info, text)
    return folder / "relay-1.whl"


def test_two_wheels_that_differ_are_told_apart(tmp_path: Path) -> None:
    first = wheel(tmp_path / "first")
    assert differences(first, wheel(tmp_path / "same")) == []
    for number, other in enumerate(({"text": "x = 2\n"}, {"mode": 0o600}, {"year": 2027})):
        second = wheel(tmp_path / str(number), **other)  # type: ignore[arg-type]
        assert differences(first, second) == ["relay/x.py differs"]
    renamed = wheel(tmp_path / "renamed").rename(tmp_path / "relay-2.whl")
    assert differences(first, renamed) == ["relay-1.whl is called relay-2.whl"]


def test_what_tools_write_is_not_committed() -> None:
    written = ["dist/sbom.cdx.json", "dist/licenses.md"]
    ignored = subprocess.run(["git", "check-ignore", *written], cwd=ROOT, capture_output=True)
    assert ignored.returncode in (0, 128), "128: this is no checkout"
    assert "dist/" in (ROOT / ".gitignore").read_text().splitlines()
