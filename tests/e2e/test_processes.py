"""GET /processes: the Python processes of this user, and how each can be attached to."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from relay.debuggers.debugpy import processes as targets
from relay.process.foreign_calls import CAN_CALL
from relay.process.ports import free_port
from tests.e2e.api import Api, Refused
from tests.e2e.test_attach import LOOP, refusal, sleeper, target
from tests.programs import Program

__all__ = ["sleeper"]


async def listed(api: Api) -> dict[int, dict[str, Any]]:
    """Every process, by pages of a few."""
    found: dict[int, dict[str, Any]] = {}
    offset = 0
    while True:
        page = await api.get("/processes", offset=offset, limit=200)
        assert page["offset"] == offset
        found |= {item["pid"]: item for item in page["items"]}
        offset += len(page["items"])
        if not page["has_more"]:
            return found


async def test_a_plain_python_process_can_be_injected_into(
    api: Api, program: Callable[..., Program], sleeper: int
) -> None:
    loop = program(LOOP)
    with target(loop.text, "an argument") as process:
        found = await listed(api)
        entry = found[process.pid]
        assert entry["command"][1:] == [loop.text, "an argument"]
        assert entry["cwd"] == os.getcwd()
        assert os.path.basename(entry["python"]).startswith("python")
        assert "session_id" not in entry
        assert entry["attach"] == {"method": "inject", "host": None, "port": None, "reason": None}
        assert sleeper not in found
        # The list keeps its word.
        session = await api.session()
        await session.post("/attach", pid=process.pid, connect_timeout=120)
        entry = (await listed(api))[process.pid]
        assert entry["session_id"] == session.id
        assert entry["attach"]["method"] is None
        assert session.id in entry["attach"]["reason"]


async def test_one_that_listens_says_where_and_whether_it_is_taken(
    api: Api, program: Callable[..., Program]
) -> None:
    loop, port = program(LOOP), free_port()
    listen = ["-X", "frozen_modules=off", "-m", "debugpy", "--listen", f"127.0.0.1:{port}"]
    with target(*listen, loop.text) as process:
        way = (await listed(api))[process.pid]["attach"]
        assert way == {"method": "listen", "host": "127.0.0.1", "port": port, "reason": None}
        session = await api.session()
        await session.post("/attach", host=way["host"], port=way["port"], connect_timeout=60)
        assert (await listed(api))[process.pid]["attach"]["method"] is None
        await session.delete()


async def test_our_own_are_marked_and_the_relay_is_no_target(
    api: Api, program: Callable[..., Program]
) -> None:
    session = await api.session()
    at = await session.launch(program(LOOP).text, stop_on_entry=True)
    found = await listed(api)
    assert found[at["pid"]]["session_id"] == session.id
    assert found[at["pid"]]["attach"]["method"] is None
    assert found[os.getpid()]["attach"]["method"] is None
    assert "this relay" in found[os.getpid()]["attach"]["reason"]


async def test_the_list_comes_in_pages(api: Api) -> None:
    first = await api.get("/processes", limit=1)
    assert len(first["items"]) == 1
    assert first["has_more"] is (first["total"] > 1)
    beyond = await api.get("/processes", offset=100_000)
    assert (beyond["items"], beyond["has_more"]) == ([], False)
    with pytest.raises(Refused) as refused:
        await api.get("/processes", limit=0)
    assert refused.value.code == "INVALID_PARAMETER"


@pytest.mark.skipif(sys.platform != "linux", reason="ptrace_scope is Linux's")
@pytest.mark.parametrize(
    ("scope", "may_all", "words"),
    [
        ("0", 0, None),
        ("1", 0, "sysctl kernel.yama.ptrace_scope=0"),
        ("2", 0, "sysctl kernel.yama.ptrace_scope=0"),
        ("2", -1, None),
        ("3", -1, "debugpy --listen"),
    ],
)
async def test_a_kernel_that_forbids_tracing_is_named_with_the_way_out(
    api: Api,
    program: Callable[..., Program],
    tmp_path: Any,
    monkeypatch: pytest.MonkeyPatch,
    scope: str,
    may_all: int,
    words: str | None,
) -> None:
    """The kernel's setting cannot be changed here, so its file and our rights are others."""
    setting = tmp_path / "ptrace_scope"
    setting.write_text(scope + "\n")
    monkeypatch.setattr(targets, "PTRACE_SCOPE", setting)
    monkeypatch.setattr(targets, "_capabilities", lambda: may_all)
    with target(program(LOOP).text) as process:
        way = (await listed(api))[process.pid]["attach"]
        if words is None:
            assert way["method"] == "inject"
            return
        assert way["method"] is None
        assert "ptrace_scope" in way["reason"]
        refused = await refusal(api, pid=process.pid)
        assert refused.code == "ATTACH_FAILED"
        assert words in refused.details["suggestion"]


@pytest.mark.skipif(not CAN_CALL, reason="gdb is needed on other processors than x86-64")
async def test_gdb_is_not_needed(
    api: Api, program: Callable[..., Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with target(program(LOOP).text) as process:
        session = await api.session()
        await session.post("/attach", pid=process.pid, connect_timeout=120)
        assert (await session.get())["status"] == "running"


@pytest.mark.skipif(
    "amx_tile" in Path("/proc/cpuinfo").read_text(),
    reason="gdb up to 13 cannot call functions where the processor has AMX",
)
async def test_where_we_make_no_calls_gdb_does(
    api: Api, program: Callable[..., Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relay.debuggers.debugpy.injection.CAN_CALL", False)
    with target(program(LOOP).text) as process:
        session = await api.session()
        await session.post("/attach", pid=process.pid, connect_timeout=120)
        assert (await session.get())["status"] == "running"


async def test_without_gdb_the_way_out_is_named(
    api: Api, program: Callable[..., Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    if hasattr(sys, "remote_exec"):
        return  # this Python needs none
    monkeypatch.setattr("relay.debuggers.debugpy.processes.CAN_CALL", False)  # another machine
    monkeypatch.setenv("PATH", "/nonexistent")
    with target(program(LOOP).text) as process:
        refused = await refusal(api, pid=process.pid)
        assert "gdb is not installed" in refused.message
        assert "debugpy --listen" in refused.details["suggestion"]
