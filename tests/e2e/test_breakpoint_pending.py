"""Pending breakpoints: in files that do not exist yet, and verify themselves when they do."""

from __future__ import annotations

import os
import py_compile
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from relay.operations.breakpoints.placing import placed_again
from relay.session.session import Session as OwnSession
from relay.session.state.breakpoints import Breakpoint
from tests.e2e.api import Api, Refused, Session
from tests.e2e.served import until
from tests.programs import Program

Write = Callable[..., Program]

WRITES_MODULE = """
    import importlib, pathlib, sys

    input()
    import later
    print(later.answer())
"""

LATER = "def answer():\n    return 42\n"


async def change(session: Session, cursor: str | None = None) -> dict[str, Any]:
    """The next time that a breakpoint changes by itself."""
    params = {"types": "breakpoint", "timeout": 30, **({"cursor": cursor} if cursor else {})}
    page = await session.get("/events", **params)
    return dict(page["events"][-1]["body"], cursor=page["next_cursor"])


async def pending(session: Session, path: Path, line: int, **more: Any) -> tuple[Any, str]:
    placed = await session.breakpoint(str(path), line, pending=True, **more)
    return placed, (await change(session))["cursor"]


def appear(path: Path, text: str) -> None:
    """As editors do: whole, or not there."""
    beside = path.with_suffix(".new")
    beside.write_text(text)
    os.replace(beside, path)


async def test_a_missing_file_is_refused_unless_it_is_to_be_waited_for(
    api: Api, tmp_path: Path
) -> None:
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await session.breakpoint(str(tmp_path / "later.py"), 2)
    assert (refused.value.status, refused.value.code) == (400, "BREAKPOINT_FILE_NOT_FOUND")
    placed, _ = await pending(session, tmp_path / "later.py", 2)
    assert (placed["verified"], placed["pending"], placed["line"]) == (False, True, 2)
    assert placed["message"] == "Source file not found. Breakpoint pending."
    with pytest.raises(Refused) as refused:
        await pending(session, tmp_path / "later.py", 3, condition="a b")
    assert refused.value.code == "BREAKPOINT_INVALID_CONDITION"


async def test_code_in_an_archive_is_stopped_in_by_its_function(api: Api, tmp_path: Path) -> None:
    archive = tmp_path / "app.pyz"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("inner.py", LATER)
        file.writestr("__main__.py", "import inner\ninner.answer()\n")
    (tmp_path / "inner.py").write_text(LATER)
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await session.breakpoint(str(archive / "inner.py"), 2)
    suggestion = f"{archive} is a file: for code in an archive, name the function"
    assert refused.value.details["suggestion"] == suggestion
    await session.post("/breakpoints", function="answer")
    stopped = await session.launch(str(archive))
    assert (stopped["status"], stopped["current_location"]["function"]) == ("paused", "answer")


RAISES_IN_CALL = """
    class Cart:
        def add(self, number):  # @add
            self.total = 1 / number  # @fail

    def run():
        Cart().add(0)  # @run
"""


@pytest.mark.parametrize("ahead", [True, False], ids=["function", "exception"])
async def test_compiled_code_without_its_source_is_the_programs_own(
    api: Api, program: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ahead: bool
) -> None:
    """`python -m compileall -b .` gives it the relative name of its source."""
    code = Program.write(tmp_path / "shop" / "cart.py", RAISES_IN_CALL)
    source, at, called = code.path, code.line("add" if ahead else "fail"), code.line("run")
    monkeypatch.chdir(tmp_path)
    py_compile.compile("shop/cart.py", cfile="shop/cart.pyc")
    source.unlink()
    written = program("from shop.cart import run\nrun()  # @call")
    session = await api.session(project_root=str(tmp_path), python_path=sys.executable)
    with pytest.raises(Refused) as refused:
        await session.breakpoint(str(source), 4)
    hint = refused.value.details["suggestion"]
    assert hint == f"Only its compiled code is there, {source}c: name the function"
    with pytest.raises(Refused) as refused:
        await session.breakpoint(f"{source}c", 4)
    assert refused.value.details["suggestion"] == "Give its source; without one, name the function"
    with pytest.raises(Refused) as refused:
        await session.post("/breakpoints", function=f"{source}:Cart.add")
    assert refused.value.details["suggestion"].endswith("leave the file out, Cart.add")
    if ahead:
        await session.post("/breakpoints", function="Cart.add")
    stopped = await session.launch(written.text, cwd=str(tmp_path), include=["stack"])
    place = stopped["current_location"]
    assert stopped["stop_reason"] == ("function breakpoint" if ahead else "exception")
    assert (place["path"], place["line"]) == (str(source), at)
    frames = [(one["name"], one["line"]) for one in stopped["stop"]["stack"][:3]]
    assert frames[1:] == [("run", called), ("<module>", written.line("call"))]
    report = (await session.get("/report"))["report"]
    assert "stack: add shop/cart.py:" in report
    assert f"< run :{called} < <module>" in report


async def test_it_verifies_itself_when_the_file_appears_and_stops_there(
    api: Api, program: Write, tmp_path: Path
) -> None:
    written = program(WRITES_MODULE)
    session = await api.session()
    _, cursor = await pending(session, tmp_path / "later.py", 2, condition="1 < 2")
    await session.launch(written.text, wait=0)
    appear(tmp_path / "later.py", LATER)
    told = await change(session, cursor)
    assert told["reason"] == "changed"
    assert told["breakpoint"] == {"id": "bp_1", "verified": True, "line": 2, "message": None}
    shown = await session.get("/breakpoints/bp_1")
    assert "pending" not in shown
    assert "warning" not in shown, "what is loaded is what has appeared"
    before = (await session.get("/events", limit=1000))["next_cursor"]
    await session.post("/input", input="\n")
    stop = (await session.get("/events", types="stopped", timeout=30, cursor=before))["events"][0]
    assert stop["body"]["hit_breakpoint_ids"] == ["bp_1"]
    assert stop["body"]["location"]["path"] == str(tmp_path / "later.py")
    assert (await session.resume())["status"] == "terminated"


async def test_a_file_that_appears_too_short_is_waited_for_until_it_has_the_line(
    api: Api, tmp_path: Path
) -> None:
    session = await api.session()
    _, cursor = await pending(session, tmp_path / "new" / "later.py", 2)
    (tmp_path / "new").mkdir()
    appear(tmp_path / "new" / "later.py", "x = 1\n")
    told = await change(session, cursor)
    assert told["breakpoint"]["verified"] is False
    assert told["breakpoint"]["message"].endswith("later.py has 1 lines")
    appear(tmp_path / "new" / "later.py", LATER)
    told = await change(session, told["cursor"])
    assert told["breakpoint"]["verified"] is True


async def test_a_file_that_is_gone_again_is_waited_for(
    api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, name = tmp_path / "later.py", "relay.operations.breakpoints.pending.placed_again"

    async def placed_and_gone(session: OwnSession, breakpoint: Breakpoint) -> Breakpoint:
        """An editor takes the file away once more, as soon as it was read."""
        found = await placed_again(session, breakpoint)
        path.unlink()
        appear(tmp_path / "moved.py", LATER)
        monkeypatch.setattr(name, placed_again)
        return found

    monkeypatch.setattr(name, placed_and_gone)
    session = await api.session()
    _, cursor = await pending(session, path, 2)
    appear(path, LATER)
    await until((tmp_path / "moved.py").exists, "nobody has looked")
    assert (await session.get("/breakpoints/bp_1"))["pending"] is True
    appear(path, LATER)
    assert (await change(session, cursor))["breakpoint"]["verified"] is True


async def test_a_breakpoint_that_was_removed_while_it_waited_does_not_come_back(
    api: Api, tmp_path: Path
) -> None:
    session = await api.session()
    await pending(session, tmp_path / "later.py", 1)
    _, cursor = await pending(session, tmp_path / "later.py", 2)
    await session.delete("/breakpoints/bp_1")
    cursor = (await change(session, cursor))["cursor"]
    appear(tmp_path / "later.py", LATER)
    told = await change(session, cursor)
    assert told["breakpoint"]["id"] == "bp_2"
    assert [b["id"] for b in (await session.get("/breakpoints"))["breakpoints"]] == ["bp_2"]


async def test_pending_says_nothing_about_a_file_that_exists(api: Api, program: Write) -> None:
    written = program("print(1)\n")
    session = await api.session()
    placed = await session.breakpoint(written.text, 1, pending=True)
    assert placed["verified"] is True
    assert "pending" not in placed
    with pytest.raises(Refused) as refused:
        await session.breakpoint(written.text, 9, pending=True)
    assert refused.value.code == "BREAKPOINT_INVALID_LINE"
