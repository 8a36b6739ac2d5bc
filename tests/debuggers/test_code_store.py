"""The compiled code of what runs in a debuggee: kept, found again, and never believed blindly."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from relay.debuggers.debugpy.debuggee import kept_file
from relay.debuggers.debugpy.debuggee.code_store import CodeStore
from tests.debuggers.bootstrap_runner import Runner, write


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "root" / "part.py", "value = 1\n")


def kept(source: Path) -> Path:
    """The one file that a first start leaves."""
    (source.parents[1] / "state").mkdir(exist_ok=True)
    store = CodeStore(kept_file, str(source.parents[1] / "state" / "cache"), str(source.parent))
    assert value_of(store, source) == 1
    store.keep()
    (found,) = (source.parents[1] / "state" / "cache").iterdir()
    return found


def value_of(store: CodeStore, source: Path) -> int:
    names: dict[str, int] = {}
    exec(store.code(str(source)), names)
    return names["value"]


def opened(source: Path) -> CodeStore:
    return CodeStore(kept_file, str(source.parents[1] / "state" / "cache"), str(source.parent))


def test_what_a_start_has_compiled_the_next_one_finds(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = kept(source)
    assert stat.S_IMODE(found.stat().st_mode) == 0o600
    assert stat.S_IMODE(found.parent.stat().st_mode) == 0o700
    store = opened(source)
    monkeypatch.setattr("importlib.machinery.SourceFileLoader.get_code", None)
    assert value_of(store, source) == 1
    store.keep()
    assert [found] == list(found.parent.iterdir())


def test_an_edited_file_is_compiled_anew(source: Path) -> None:
    found = kept(source)
    before = found.read_bytes()
    source.write_text("value = 12\n")
    store = opened(source)
    assert value_of(store, source) == 12
    store.keep()
    assert found.read_bytes() != before
    assert value_of(opened(source), source) == 12


@pytest.mark.parametrize("damage", [b"", b"short", None])
def test_a_damaged_store_is_passed_over(source: Path, damage: bytes | None) -> None:
    found = kept(source)
    whole = found.read_bytes()
    found.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]) if damage is None else damage)
    assert value_of(opened(source), source) == 1


def test_a_store_that_others_may_write_is_passed_over(source: Path) -> None:
    found = kept(source)
    found.write_bytes(
        kept(write(source.parents[1] / "other" / "root" / "part.py", "value = 1\n")).read_bytes()
    )
    found.chmod(0o622)
    store = opened(source)
    assert value_of(store, source) == 1
    store.keep()
    assert stat.S_IMODE(found.stat().st_mode) == 0o600


def test_without_a_place_nothing_is_kept(source: Path) -> None:
    (source.parents[1] / "state").write_text("no directory")
    store = opened(source)
    assert value_of(store, source) == 1
    store.keep()


def test_a_start_leaves_its_code_and_the_next_one_uses_it(traced: Runner) -> None:
    traced.cache = traced.cwd / "state" / "cache"
    traced.cache.parent.mkdir()
    write(traced.cwd / "prog.py", "import sys\nprint(sys.dont_write_bytecode)\n")
    (first,) = {traced.debugged("script", "prog.py", options=["-B"]) for _ in range(2)}
    assert first == (0, "True\n", "")
    (found,) = traced.cache.glob("*.code")
    written = os.stat(found).st_mtime_ns
    assert traced.debugged("script", "prog.py", options=["-B"]) == first
    assert os.stat(found).st_mtime_ns == written
