"""Where what clients name may lie, if the settings say so: refused by name, before anything is looked at."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path
from typing import Any

import pytest

from relay import Settings
from tests.e2e.api import Api, Refused, Session
from tests.e2e.conftest import running_relay
from tests.programs import Program
from tests.relays import environment

SECRET = "the text of a file outside"


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    """A directory with a program; beside it lies one that is not allowed."""
    Program.write(tmp_path / "inside" / "main.py", "print('here')\n")
    Program.write(tmp_path / "outside" / "other.py", f"print({SECRET!r})\n")
    (tmp_path / "inside" / "link.py").symlink_to(tmp_path / "outside" / "other.py")
    return tmp_path / "inside"


@pytest.fixture
async def api(settings: Settings, inside: Path) -> AsyncIterator[Api]:
    values = settings.model_dump() | {"project_root": inside, "allowed_roots": (inside,)}
    async with running_relay(Settings(**values)) as api:
        yield api


async def refused(call: Awaitable[Any], field: str) -> None:
    with pytest.raises(Refused) as found:
        await call
    assert found.value.status == 400
    assert [error["field"] for error in found.value.details["errors"]] == [field]
    assert "lies outside of the allowed roots" in found.value.message
    assert "allowed_roots" in found.value.details["suggestion"]
    assert SECRET not in json.dumps(found.value.details)


def source(session: Session, path: str) -> Awaitable[Any]:
    return session.api.call("GET", f"{session.path}/source", params={"path": path})


async def test_what_lies_there_is_served(api: Api, inside: Path) -> None:
    session = await api.session(project_root=str(inside))
    assert (await session.breakpoint("main.py", 1))["verified"]
    assert (await source(session, "main.py"))["lines"][0]["text"] == "print('here')"
    assert (await session.launch("main.py", cwd=str(inside)))["status"] == "paused"
    await refused(session.post("/hover", file="../outside/other.py", line=1, column=1), "file")
    assert (await session.resume())["exit_code"] == 0
    assert (await api.get("/config"))["allowed_roots"] == [str(inside)]


@pytest.mark.parametrize(
    "path", ["../outside/other.py", "{outside}/other.py", "link.py", "../inside2/none.py"]
)
async def test_scripts_and_sources(api: Api, inside: Path, path: str) -> None:
    path = path.format(outside=inside.parent / "outside")
    session = await api.session()
    await refused(session.post("/launch", script=path), "script")
    await refused(source(session, path), "path")
    place = {"source": {"path": path}, "line": 1}
    await refused(session.post("/breakpoints", breakpoints=[place]), "path")
    await refused(session.post("/launch", script="main.py", record=[f"{path}:1:x"]), "record")
    assert (await session.get())["status"] == "created"


async def test_directories_and_interpreters(api: Api, inside: Path) -> None:
    outside = str(inside.parent / "outside")
    session = await api.session()
    await refused(session.post("/launch", script="main.py", cwd=outside), "cwd")
    for field, value in (("project_root", outside), ("python_path", "/bin/sh")):
        with pytest.raises(Refused, match="allowed roots"):
            await api.session(**{field: value})
        with pytest.raises(Refused, match="allowed roots"):
            await api.call("PATCH", session.path, json={field: value})
    (inside / "bin").mkdir()
    python = inside / "bin" / "python"  # as in a virtual environment
    python.symlink_to(sys.executable)
    allowed = await api.session(python_path=str(python))
    assert (await allowed.launch("main.py"))["exit_code"] == 0


async def test_what_was_saved_or_exported_elsewhere(api: Api, inside: Path) -> None:
    session = await api.session()
    await session.launch("main.py")
    document = await session.get("/export")
    document["launch"]["script"] = str(inside.parent / "outside" / "other.py")
    imported = Session(api, (await api.post("/sessions/import", **document))["session_id"])
    await refused(imported.post("/launch", script=document["launch"]["script"]), "script")
    document["config"]["python_path"] = "/bin/sh"
    with pytest.raises(Refused, match="allowed roots"):
        await api.post("/sessions/import", **document)


def test_a_relay_whose_own_root_is_not_allowed_does_not_start(inside: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "relay", "serve", "--port", "0", "--allowed-root", str(inside)],
        cwd=inside.parent,
        env=environment(inside.parent / "state") | {"PWD": os.fspath(inside.parent)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "lies outside of allowed_roots" in done.stderr
