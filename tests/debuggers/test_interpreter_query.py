"""An interpreter is asked once for what it is and has, until something is installed into it."""

from __future__ import annotations

import os
import sys
import venv
from pathlib import Path

import debugpy
import pytest
import trio

from relay.debuggers.debugpy import interpreter_query
from relay.debuggers.debugpy.interpreter_query import interpreter_of, run_python
from tests.debuggers.bootstrap_runner import OWN_VERSION, VERSIONS, installed_python
from tests.e2e.served import until

Asked = list[str]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """The interpreters that were asked, in the order of the questions."""
    found: Asked = []

    async def noted(argv: list[str], stdin: bytes, python_path: str) -> bytes:
        found.append(python_path)
        return await run_python(argv, stdin, python_path)

    monkeypatch.setattr(interpreter_query, "run_python", noted)
    return found


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    venv.create(tmp_path / "venv", symlinks=True)
    return tmp_path / "venv"


async def test_what_is_installed_later_is_found(environment: Path, asked: Asked) -> None:
    python = str(environment / "bin" / "python")
    before = await interpreter_of(python)
    assert (before.debugpy_version, before.has_gevent) == (None, False)
    assert await interpreter_of(python) is before
    assert len(asked) == 1
    packages = environment / "lib" / f"python{OWN_VERSION}" / "site-packages"
    (packages / "debugpy").symlink_to(Path(debugpy.__file__).parent)
    (packages / "gevent").mkdir()
    now = await interpreter_of(python)
    assert (now.debugpy_version, now.has_gevent) == (debugpy.__version__, True)
    assert now != before
    (packages / "gevent").rmdir()
    assert not (await interpreter_of(python)).has_gevent
    (environment / "pyvenv.cfg").touch()
    await interpreter_of(python)
    assert asked == [python] * 4


async def test_who_asks_at_once_has_it_asked_once(environment: Path, asked: Asked) -> None:
    python = str(environment / "bin" / "python")
    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(interpreter_of, python)
    assert asked == [python]


async def test_who_gives_up_asking_keeps_nobody_from_it(environment: Path, asked: Asked) -> None:
    python = str(environment / "bin" / "python")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(interpreter_of, python)
        await until(lambda: bool(asked), "nobody asks")
        nursery.cancel_scope.cancel()
    assert (await interpreter_of(python)).prefix == str(environment)
    assert asked == [python] * 2


async def test_the_newest_are_remembered(
    tmp_path: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was asked long ago is asked again: a relay may be told of thousands."""
    monkeypatch.setattr(interpreter_query, "REMEMBERED", 2)
    monkeypatch.setattr(interpreter_query, "_answers", {})
    pythons = [str(tmp_path / f"python{number}") for number in range(4)]
    for python in pythons:
        os.symlink(sys.executable, python)
        await interpreter_of(python)
    await interpreter_of(pythons[3])
    await interpreter_of(pythons[2])
    assert asked == pythons
    await interpreter_of(pythons[0])
    assert asked == [*pythons, pythons[0]]
    assert len(interpreter_query._answers) == 2
    assert not interpreter_query._asking.get()


@pytest.mark.parametrize("version", VERSIONS)
async def test_every_python_says_where_its_packages_are(version: str) -> None:
    interpreter = await interpreter_of(installed_python(version))
    packages = [path for path, changed in interpreter.installed_in if changed is not None]
    assert f"{interpreter.prefix}/lib/python{version}/site-packages" in packages
    assert all(
        os.stat(path).st_mtime_ns == changed
        for path, changed in interpreter.installed_in
        if changed is not None
    )
