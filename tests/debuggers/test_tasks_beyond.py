"""Of tasks beyond those that are shown only that is found out by which they may be in a circle: the same as of those shown."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from relay.debuggers.debugpy.debuggee.probe import entry

probe: Any = entry


async def listings() -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """All tasks with all that is said of each; as far as they stand beyond an empty page; and those shown of that."""
    first, second, event = asyncio.Lock(), asyncio.Lock(), asyncio.Event()

    async def holds(one: asyncio.Lock, other: asyncio.Lock) -> None:
        async with one:
            await asyncio.sleep(0)
            async with other:
                pass

    async def waits() -> None:
        await event.wait()

    async def gathers(others: list[asyncio.Task[None]]) -> None:
        await asyncio.gather(*others)

    made = [
        asyncio.create_task(holds(first, second), name="first"),
        asyncio.create_task(holds(second, first), name="second"),
        asyncio.create_task(waits(), name="waits"),
        asyncio.create_task(asyncio.sleep(1000), name="sleeps"),
    ]
    made.append(asyncio.create_task(gathers(made[:3]), name="gathers"))
    for _ in range(3):
        await asyncio.sleep(0)
    whole = await asyncio.to_thread(probe.tasks, None, 0, 100)
    part = await asyncio.to_thread(probe.tasks, None, 0, 0, beyond=100)
    for one in made:
        one.cancel()
    await asyncio.wait(made)
    return whole["tasks"], part["beyond"], part["tasks"]


def test_who_waits_for_whom_is_the_same_of_tasks_that_are_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []
    real = probe.asyncio_answer

    def counted(one: Any, relations: Any) -> Any:
        asked.append(one)
        return real(one, relations)

    monkeypatch.setitem(probe._ANSWERS, "asyncio", counted)
    whole, beyond, shown = asyncio.run(listings())
    assert shown == []
    assert len(asked) == len(whole)  # of those that are shown only
    bound = {
        task["name"]: task
        for task in whole
        if (task["blocked_on"] or {}).get("held_by") or (task["waits_for"] or {}).get("ids")
    }
    assert {one["name"] for one in beyond} == set(bound) >= {"first", "second", "gathers"}
    for one in beyond:
        for field in ("blocked_on", "waits_for"):
            known = bound[one["name"]][field] or {}
            assert (one[field] or {}).items() <= known.items()
            assert (one[field] or {}).get("held_by") == known.get("held_by")
            assert (one[field] or {}).get("ids") == known.get("ids")
