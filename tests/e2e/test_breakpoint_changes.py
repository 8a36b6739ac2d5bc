"""Breakpoints shown, changed, switched off and counted, in every state of a session."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.api import Api, Refused, Session
from tests.programs import Program

Write = Callable[..., Program]

LOOP = """
    def total(limit):
        found = 0
        for number in range(limit):
            found += number  # @add
            found -= 0  # @next

        return found  # @return

    total(8)  # @call
"""

ENDLESS = """
    import sys
    turns = 0
    while True:
        turns += 1  # @turn
        if turns == 1:
            print("begun", flush=True)
"""


async def patch(session: Session, breakpoint_id: str, **body: Any) -> Any:
    path = f"{session.path}/breakpoints/{breakpoint_id}"
    return await session.api.call("PATCH", path, json=body)


async def shown(session: Session, breakpoint_id: str = "bp_1") -> Any:
    return await session.get(f"/breakpoints/{breakpoint_id}")


async def number_at(session: Session, answer: dict[str, Any]) -> str:
    assert answer["status"] == "paused", answer
    return str((await session.evaluate("number"))["result"])


async def next_stop(session: Session, cursor: str) -> dict[str, Any]:
    page = await session.get("/events", types="stopped,terminated", timeout=30, cursor=cursor)
    return dict(page["events"][0])


async def here(session: Session) -> str:
    """A cursor behind every event so far."""
    return str((await session.get("/events", limit=1000))["next_cursor"])


# Show and change ---------------------------------------------------------------------------


async def test_one_is_shown_by_its_id(api: Api, program: Write) -> None:
    written = program(LOOP)
    session = await api.session()
    placed = await session.breakpoint(written.text, written.line("add"), condition="number > 3")
    assert await shown(session) == placed
    with pytest.raises(Refused) as refused:
        await shown(session, "bp_9")
    assert (refused.value.status, refused.value.code) == (404, "BREAKPOINT_NOT_FOUND")


async def test_every_field_is_changed_before_at_a_stop_and_taken_away(
    api: Api, program: Write
) -> None:
    written = program(LOOP)
    session = await api.session()
    await session.breakpoint(written.text, written.line("call"))
    changed = await patch(session, "bp_1", line=written.line("add"), condition="number == 2")
    assert (changed["id"], changed["line"], changed["verified"]) == (
        "bp_1",
        written.line("add"),
        True,
    )
    assert await number_at(session, await session.launch(written.text)) == "2"
    await patch(session, "bp_1", condition=None, hit_condition="% 2")
    assert await number_at(session, await session.resume()) == "4"
    await patch(session, "bp_1", hit_condition=None, log_message="at {number}")
    await session.breakpoint(written.text, written.line("next"), condition="number == 6")
    assert await number_at(session, await session.resume()) == "6"
    assert await session.printed("console") == "at 5\nat 6\n"
    last = await patch(session, "bp_1", log_message=None)
    assert (last["condition"], last["hit_condition"], last["log_message"]) == (None, None, None)
    assert await number_at(session, await session.resume()) == "7"
    changes = [e["body"]["reason"] for e in await session.events("breakpoint")]
    assert changes == ["new", "changed", "changed", "changed", "new", "changed"]


async def test_switched_off_and_on_while_it_runs(api: Api, program: Write) -> None:
    written = program(ENDLESS)
    session = await api.session()
    await session.breakpoint(written.text, written.line("turn"))
    assert (await session.launch(written.text))["status"] == "paused"
    off = await patch(session, "bp_1", enabled=False)
    assert (off["enabled"], off["verified"]) == (False, True)
    await session.resume(wait=0)
    await session.get("/events", types="output", timeout=30)  # it is past the first turns
    cursor = await here(session)
    await patch(session, "bp_1", enabled=True)
    stop = await next_stop(session, cursor)
    assert stop["body"]["hit_breakpoint_ids"] == ["bp_1"]
    cursor = await here(session)
    await session.resume(wait=0)
    stop = await next_stop(session, cursor)
    assert stop["body"]["location"]["line"] == written.line("turn")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"condition": "number >"}, "BREAKPOINT_INVALID_CONDITION"),
        ({"hit_condition": "often"}, "BREAKPOINT_INVALID_CONDITION"),
        ({"log_message": "{"}, "BREAKPOINT_INVALID_CONDITION"),
        ({"line": 99}, "BREAKPOINT_INVALID_LINE"),
        ({"line": 0}, "INVALID_REQUEST"),
        ({"enabled": "yes"}, "INVALID_REQUEST"),
        ({"file": "other.py"}, "INVALID_REQUEST"),
        ({"line": "taken"}, "INVALID_REQUEST"),
    ],
)
async def test_a_bad_change_is_refused_and_changes_nothing(
    api: Api, program: Write, body: dict[str, Any], code: str
) -> None:
    written = program(LOOP)
    session = await api.session()
    await session.breakpoint(written.text, written.line("add"), condition="number > 3")
    await session.breakpoint(written.text, written.line("return"))
    before = await session.get("/breakpoints")
    if body.get("line") == "taken":
        body = {"line": written.line("return")}
    with pytest.raises(Refused) as refused:
        await patch(session, "bp_1", **body)
    assert (refused.value.status, refused.value.code) == (400, code)
    assert await session.get("/breakpoints") == before


async def test_null_changes_nothing_of_what_cannot_be_taken_away(api: Api, program: Write) -> None:
    written = program(LOOP)
    session = await api.session()
    await session.breakpoint(written.text, written.line("add"), condition="number > 3")
    before = await session.get("/breakpoints/bp_1")
    assert await patch(session, "bp_1", line=None, enabled=None) == before


async def test_a_change_to_a_line_without_code_says_so_and_does_not_stop(
    api: Api, program: Write
) -> None:
    written = program(LOOP)
    session = await api.session()
    await session.breakpoint(written.text, written.line("add"))
    moved = await patch(session, "bp_1", line=written.line("next") + 1)
    assert moved["verified"] is False
    assert moved["message"].startswith("No executable code")
    assert (await session.launch(written.text))["status"] == "terminated"


async def test_all_are_removed_at_once_or_those_of_a_file(api: Api, program: Write) -> None:
    written, other = program(LOOP), program("print(1)\nprint(2)\n", "other.py")
    session = await api.session()
    for mark in ("add", "return", "call"):
        await session.breakpoint(written.text, written.line(mark))
    await session.breakpoint(other.text, 1)
    gone = await session.api.call("DELETE", f"{session.path}/breakpoints?file=other.py")
    assert gone == {"deleted": ["bp_4"], "total": 1}
    assert (await session.launch(written.text))["status"] == "paused"
    gone = await session.delete("/breakpoints")
    assert gone == {"deleted": ["bp_1", "bp_2", "bp_3"], "total": 3}
    assert (await session.resume())["status"] == "terminated"
    assert (await session.get("/breakpoints"))["total"] == 0


# Counts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
async def test_hits_are_counted_where_they_happen(api: Api, program: Write, mode: str) -> None:
    written = program(LOOP)
    session = await api.session()
    batch = [
        {"line": written.line("add"), "log_message": "at {number}"},
        {"line": written.line("next"), "condition": "number % 3 == 0"},
        {"line": written.line("return"), "hit_condition": "> 5"},
        {"line": written.line("call"), "condition": "False"},
    ]
    await session.post("/breakpoints", breakpoints=[{"file": written.text, **b} for b in batch])
    at = await session.launch(written.text, launch_mode=mode)
    counts = []
    while at["status"] == "paused":
        listed = await session.get("/breakpoints")
        counts.append([b["hit_count"] for b in listed["breakpoints"]])
        at = await session.resume()
    assert counts == [[1, 1, 0, 0], [4, 2, 0, 0], [7, 3, 0, 0]]
    listed = await session.get("/breakpoints")
    assert [b["hit_count"] for b in listed["breakpoints"]] == [8, 3, 1, 0]


async def test_hits_are_counted_while_it_runs(api: Api, program: Write) -> None:
    written = program(ENDLESS)
    session = await api.session()
    await session.breakpoint(written.text, written.line("turn"), hit_condition="== 1000000000")
    await session.launch(written.text, wait=0)
    await session.get("/events", types="output", timeout=30)
    first = (await shown(session))["hit_count"]
    assert first >= 1
    deadline = time.monotonic() + 30
    while (await shown(session))["hit_count"] <= first:
        assert time.monotonic() < deadline


async def test_a_count_outlives_changes_of_its_neighbours_but_not_itself(
    api: Api, program: Write
) -> None:
    written = program(LOOP)
    session = await api.session()
    await session.breakpoint(written.text, written.line("next"), condition="number in (1, 4)")
    await session.breakpoint(written.text, written.line("add"), hit_condition="4")
    assert await number_at(session, await session.launch(written.text)) == "1"
    await session.breakpoint(written.text, written.line("return"))
    await patch(session, "bp_3", enabled=False)
    assert await number_at(session, await session.resume()) == "3"  # the fourth pass
    await session.delete("/breakpoints/bp_2")
    await session.breakpoint(written.text, written.line("add"), hit_condition="4")
    assert await number_at(session, await session.resume()) == "4"
    assert await number_at(session, await session.resume()) == "7"  # the fourth from then on
    assert (await shown(session, "bp_4"))["hit_count"] == 4


async def test_a_hit_condition_counts_on_under_another_condition(api: Api, program: Write) -> None:
    written = program(LOOP)
    session = await api.session()
    await session.breakpoint(written.text, written.line("next"), condition="number == 2")
    await session.breakpoint(written.text, written.line("add"), hit_condition="5")
    assert await number_at(session, await session.launch(written.text)) == "2"
    await patch(session, "bp_2", condition="found >= 0")
    assert await number_at(session, await session.resume()) == "4"  # the fifth pass of all
    assert (await shown(session, "bp_2"))["hit_count"] == 5


# The source changes ------------------------------------------------------------------------


async def test_breakpoints_stay_and_warn_when_the_source_changes(api: Api, program: Write) -> None:
    written = program(LOOP)
    lines = {mark: written.line(mark) for mark in ("add", "next", "return")}
    session = await api.session()
    await session.breakpoint(written.text, lines["add"])
    await session.breakpoint(written.text, lines["return"])
    await session.launch(written.text)
    assert "warning" not in await session.get("/breakpoints")
    assert "warning" not in await session.get("/frames/0/source")
    written.path.write_text("# shorter\n")
    later = time.time() + 2  # whatever the file system's clock
    os.utime(written.path, (later, later))
    listed = await session.get("/breakpoints")
    assert "main.py was changed after the program was started" in listed["warning"]
    text = await session.get("/frames/0/source")
    assert text["warning"] == (
        f"{written.text} was changed after the program was started: these lines may not be those that it "
        "runs"
    )
    assert [b["warning"] for b in listed["breakpoints"]] == [listed["warning"]] * 2
    again = await session.post("/breakpoints", file="main.py", line=lines["return"])
    assert again["breakpoints"][0]["verified"] is True
    assert again["warning"] == listed["warning"]
    changed = await patch(session, "bp_1", condition="number == 5")
    assert (changed["line"], changed["verified"]) == (lines["add"], True)
    assert await number_at(session, await session.resume()) == "5"
    assert (await session.resume())["current_location"]["line"] == lines["return"]


async def test_what_was_mended_before_the_launch_is_checked_again(api: Api, program: Write) -> None:
    written = program("value = (\n\nprint(value)\n")
    session = await api.session()
    placed = await session.breakpoint(written.text, 3)
    assert placed["verified"] is False
    written.path.write_text("value = 1\n\nprint(value)\n")
    at = await session.launch(written.text)
    assert (at["status"], at["current_location"]["line"]) == ("paused", 3)
    assert (await shown(session))["verified"] is True


# Many --------------------------------------------------------------------------------------


async def test_a_hundred_breakpoints_are_set_in_a_live_program_in_one_call(
    api: Api, program: Write
) -> None:
    written = program("import time\n" + "value = 1\n" * 200)
    session = await api.session()
    await session.breakpoint(written.text, 1)
    await session.launch(written.text)
    batch = [{"file": written.text, "line": n, "condition": "value < 0"} for n in range(2, 102)]
    begun = time.monotonic()
    placed = await session.post("/breakpoints", breakpoints=batch)
    took = time.monotonic() - begun
    assert all(b["verified"] for b in placed["breakpoints"])
    assert took < 20  # the machine may be busy; about 0.3
