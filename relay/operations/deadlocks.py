"""Threads that wait for each other in a circle. Pure: facts in, sentences out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Thread = Mapping[str, Any]


def deadlocks(threads: Sequence[Thread]) -> list[list[Thread]]:
    """The circles, each from its first thread on; none shares a thread with another."""
    by_ident = {thread["ident"]: thread for thread in threads}
    stuck = {ident for ident in by_ident if _holders(by_ident[ident])}
    while True:
        # Whoever waits for one that may go on may go on itself.
        left = {ident for ident in stuck if stuck.issuperset(_holders(by_ident[ident]))}
        if left == stuck:
            break
        stuck = left
    circles: list[list[Thread]] = []
    told: set[int] = set()
    for thread in threads:
        way: list[int] = []
        ident = thread["ident"]
        while ident in stuck and ident not in told and ident not in way:
            way.append(ident)
            ident = _next(by_ident[ident], way)
        if ident in way:
            circles.append([by_ident[one] for one in way[way.index(ident) :]])
        told.update(way)
    return circles


def _holders(thread: Thread) -> list[int]:
    held = (thread["waits_for"] or {}).get("held_by")
    return [] if held is None else [held["ident"], *held["others"]]


def _next(thread: Thread, way: Sequence[int]) -> int:
    """Of several that could help, rather one that closes the circle soonest."""
    holders = _holders(thread)
    return max((one for one in holders if one in way), key=way.index, default=holders[0])


def sentence(circle: Sequence[Thread]) -> str:
    """`thread A waits for lock x held by B, which waits for lock y held by A`"""
    names = [*(thread["name"] for thread in circle[1:]), circle[0]["name"]]
    if len(circle) == 1:
        names = ["itself"]
    steps = [waited(thread, name) for thread, name in zip(circle, names, strict=True)]
    return f"thread {circle[0]['name']} " + ", which ".join(f"waits for {step}" for step in steps)


def waited(thread: Thread, holder: str | None) -> str:
    """What a thread waits for, and who has to act, in a few words."""
    wait = thread["waits_for"]
    if wait["kind"] == "join" and holder is not None:
        return f"the end of {'itself' if holder == 'itself' else 'thread ' + holder}"
    if wait["kind"] == "future" and holder is not None:
        return f"a future of {holder}"
    what = f"lock {wait['on']}" if wait["kind"] == "lock" else str(wait["on"])
    return what if holder is None else f"{what} held by {holder}"
