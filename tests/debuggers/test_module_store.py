"""The modules that a start imports: kept for the next one, and only used where it would find the same."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import json
import os
import shutil
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay.debuggers.debugpy.debuggee import kept_file, module_store
from relay.debuggers.debugpy.debuggee.module_store import ModuleStore
from relay.debuggers.debugpy.debuggee.parts import Parts
from tests.debuggers.bootstrap_runner import Runner, write

FACTS = """
    import importlib.machinery, json, sys

    def shown(value):
        return value if isinstance(value, (str, int, type(None))) else str(value)

    def of_loader(loader):
        if isinstance(loader, type):
            return [str(loader)]
        return [str(type(loader)), sorted(map(shown, vars(loader).items()))]

    facts = {}
    for name, module in sorted(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        if name == "__main__" or spec is None:
            continue
        names = "name origin cached has_location parent submodule_search_locations loader_state"
        facts[name] = [str(type(spec)), *(shown(getattr(spec, one)) for one in names.split())]
        facts[name] += [of_loader(spec.loader), spec.loader is getattr(module, "__loader__", None)]
        names = "__name__ __file__ __cached__ __package__ __path__ __doc__"
        facts[name] += [shown(getattr(module, one, "absent")) for one in names.split()]
    facts["in line"] = [getattr(one, "__name__", str(type(one))) for one in sys.meta_path]
    facts["finders"] = sorted(map(shown, sys.path_importer_cache.items()))
    print(json.dumps(facts))
"""


Ended = tuple[int, str, str]


def assert_same(one: Ended, other: Ended) -> None:
    assert (one[0], one[2]) == (0, "")
    facts, others = json.loads(one[1]), json.loads(other[1])
    assert {k: (v, others.get(k)) for k, v in facts.items() if v != others.get(k)} == {}
    assert one == other


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of modules ahead of all others."""
    (tmp_path / "state").mkdir()
    found = tmp_path / "modules"
    write(found / "kept_one.py", "value = 1\n")
    write(found / "kept_many" / "__init__.py", "from kept_many.inner import value\n")
    write(found / "kept_many" / "inner.py", "value = 1\n")
    monkeypatch.syspath_prepend(found)
    return found


@contextmanager
def finding(folder: Path) -> Iterator[ModuleStore]:
    """A start: what it imports meanwhile is forgotten at its end."""
    loaded = set(sys.modules)
    store = ModuleStore(kept_file, str(folder.parent / "state" / "cache"), "root")
    importlib.invalidate_caches()
    store.enter()
    try:
        yield store
    finally:
        store.keep()
        for name in set(sys.modules) - loaded:
            del sys.modules[name]


def imported(folder: Path, name: str = "kept_one") -> Any:
    """The module, as a start finds it."""
    with finding(folder):
        return importlib.import_module(name)


def test_a_program_sees_the_same_wherever_modules_come_from(runner: Runner) -> None:
    write(runner.cwd / "prog.py", FACTS)
    runner.cache = runner.cwd / "state" / "cache"
    without = runner.debugged("script", "prog.py")  # no state directory: nothing is kept
    runner.cache.parent.mkdir()
    first = runner.debugged("script", "prog.py")
    assert_same(first, without)
    (store,) = runner.cache.glob("*.modules")
    kept_at = store.stat().st_mtime_ns
    again = runner.debugged("script", "prog.py")
    assert_same(again, without)
    assert store.stat().st_mtime_ns == kept_at


def test_what_a_start_has_imported_the_next_one_finds(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("kept_one", "kept_many"):
        assert imported(folder, name).value == 1
    monkeypatch.setattr(importlib.machinery.PathFinder, "find_spec", lambda *_: None)
    monkeypatch.setattr(importlib.machinery.SourceFileLoader, "get_code", None)
    many = imported(folder, "kept_many")
    assert (many.value, many.__path__) == (1, [str(folder / "kept_many")])
    one = imported(folder)
    assert (one.value, one.__file__) == (1, str(folder / "kept_one.py"))
    assert "get_code" not in vars(one.__loader__)
    assert not any(isinstance(finder, ModuleStore) for finder in sys.meta_path)


def test_an_extension_is_found_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    (folder / f"kept_extension{suffix}").write_bytes(b"")
    with finding(folder):
        first = importlib.util.find_spec("kept_extension")
    monkeypatch.setattr(importlib.machinery.PathFinder, "find_spec", lambda *_: None)
    with finding(folder):
        again = importlib.util.find_spec("kept_extension")
    assert first is not None
    assert again == first


def test_an_edited_module_is_read_anew(folder: Path) -> None:
    assert imported(folder).value == 1
    (folder / "kept_one.py").write_text("value = 12\n")
    assert imported(folder).value == 12
    assert imported(folder).value == 12


def test_a_module_in_an_archive_ahead_wins(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert imported(folder).value == 1
    archive = folder.parent / "ahead.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("kept_one.py", "value = 2\n")
    monkeypatch.syspath_prepend(archive)
    assert imported(folder).value == 2


def test_where_somebody_else_finds_modules_the_store_stays_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hook(path: str) -> Any:
        raise ImportError(path)

    monkeypatch.setattr(sys, "path_hooks", [hook, *sys.path_hooks])
    assert imported(folder).value == 1
    assert not (folder.parent / "state" / "cache").exists()


def test_where_nothing_can_be_kept_modules_are_found_as_ever(tmp_path: Path) -> None:
    finders = list(sys.meta_path)
    parts = Parts(str(tmp_path / "no state directory" / "cache"))
    parts.find_modules()
    assert sys.meta_path == finders
    parts.keep()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", [b"", b"short"])
def test_a_damaged_store_is_passed_over(folder: Path, damage: bytes) -> None:
    assert imported(folder).value == 1
    (store,) = (folder.parent / "state" / "cache").iterdir()
    store.write_bytes(damage)
    assert imported(folder).value == 1
    assert store.read_bytes() != damage


def test_no_more_stores_stay_than_are_of_use(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_store, "MOST", 3)
    cache = folder.parent / "state" / "cache"
    cache.mkdir()
    for number in range(5):
        other = cache / f"other{number}.modules"
        other.write_bytes(b"")
        os.utime(other, ns=(number, number))
    (cache / "part.code").write_bytes(b"")
    assert imported(folder).value == 1
    stay = {path.name for path in cache.iterdir()}
    assert {"other3.modules", "other4.modules", "part.code"} < stay
    assert len(stay) == 4


SOURCE = importlib.machinery.SourceFileLoader
KINDS = {
    "absent": (),
    "file": (".py",),
    "package": ("/__init__.py",),
    "folder": ("/other.txt",),
    "both": (".py", "/__init__.py"),
    "extension": (importlib.machinery.EXTENSION_SUFFIXES[0],),
    "compiled": (".pyc",),
}
Layout = list[dict[str, str]]
LAYOUTS = st.lists(
    st.fixed_dictionaries({name: st.sampled_from(sorted(KINDS)) for name in ("one", "two")}),
    min_size=3,
    max_size=3,
)


def lay_out(root: Path, layout: Layout) -> None:
    for number, names in enumerate(layout):
        shutil.rmtree(root / str(number), ignore_errors=True)
        (root / str(number)).mkdir(parents=True)
        for name, kind in names.items():
            for suffix in KINDS[kind]:
                write(root / str(number) / f"any_{name}{suffix}", f"# {number} {kind}\n")


@settings(max_examples=60, deadline=None)
@given(before=LAYOUTS, after=LAYOUTS)
def test_the_store_finds_what_python_finds(
    before: Layout, after: Layout, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("layouts")
    modules = root / "modules"
    (root / "state").mkdir()
    path = sys.path
    try:
        sys.path = [*(str(modules / str(number)) for number in range(3)), *path]
        for layout in (before, after):
            lay_out(modules, layout)
            with finding(modules) as store:
                specs = {name: store.find_spec(name) for name in ("any_one", "any_two")}
                for spec in specs.values():
                    if isinstance(getattr(spec, "loader", None), SOURCE):
                        spec.loader.get_code(spec.name)
            importlib.invalidate_caches()
            for name, spec in specs.items():
                known = importlib.machinery.PathFinder.find_spec(name)
                if spec is not None:
                    assert known is not None
                    assert (spec.origin, type(spec.loader)) == (known.origin, type(known.loader))
    finally:
        sys.path = path
        shutil.rmtree(root)
