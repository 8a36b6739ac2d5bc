"""Which files were loaded as the program began, without following the links of all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from relay.debuggers.debugpy.debuggee.probe import entry as _entry

probe: Any = _entry


@pytest.fixture
def followed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Whose links are followed, in this order."""
    files: list[str] = []

    def path_of(file: str) -> str:
        files.append(file)
        return str(Path(file).resolve())

    monkeypatch.setattr(probe, "path_of", path_of)
    return files


def test_only_files_of_a_paths_name_are_followed(tmp_path: Path, followed: list[str]) -> None:
    files = [str(tmp_path / name) for name in ("one.py", "two.py", "three.cpython-311.so")]
    loaded = probe.LoadedFiles(files)
    assert followed == []
    wanted = [files[0], str(tmp_path / "other" / "two.py"), str(tmp_path / "mine.py")]
    assert loaded.among(wanted) == {files[0]}
    assert sorted(followed) == files[:2]
    assert loaded.among(wanted) == {files[0]}
    assert len(followed) == 2


def test_links_lead_to_paths_of_any_name(tmp_path: Path, followed: list[str]) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "code.py").touch()
    (real / "more.py").touch()
    (tmp_path / "linked").symlink_to(real)
    (tmp_path / "alias.py").symlink_to(real / "more.py")
    loaded = probe.LoadedFiles([str(tmp_path / "linked" / "code.py"), str(tmp_path / "alias.py")])
    paths = {str(real / "code.py"), str(real / "more.py")}
    assert loaded.among([*paths, str(tmp_path / "alias.py")]) == paths


def test_a_relative_file_is_that_of_the_folder_in_which_the_program_began(
    tmp_path: Path, followed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    loaded = probe.LoadedFiles(["code.py"])
    monkeypatch.chdir("/")
    assert loaded.among([str(tmp_path / "code.py")]) == {str(tmp_path / "code.py")}
