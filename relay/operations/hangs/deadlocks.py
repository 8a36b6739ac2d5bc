"""Threads that wait for each other in a circle. Pure: facts in, sentences out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Thread = Mapping[str, Any]


_FOR_ALL = ("task", "gather", "group", "nursery")
"""What a task may wait for that is over with the last of the tasks."""


def deadlocks(threads: Sequence[Thread]) -> list[list[Thread]]:
    """The circles, each from its first thread on; none shares a thread with another."""
    by_ident = {thread["ident"]: thread for thread in threads}
    stuck = {ident for ident in by_ident if _holders(by_ident[ident])}
    while True:
        # Whoever waits for one that may go on may go on itself.
        left = {ident for ident in stuck if _is_stuck(by_ident[ident], stuck)}
        if left == stuck:
            break
        stuck = left
    circles: list[list[Thread]] = []
    reported: set[Any] = set()
    for thread in threads:
        way: list[Any] = []
        ident = thread["ident"]
        while ident in stuck and ident not in reported and ident not in way:
            way.append(ident)
            ident = _next(by_ident[ident], way, stuck)
        if ident in way:
            circles.append([by_ident[one] for one in way[way.index(ident) :]])
        reported.update(way)
        for one in way:
            reported.update(_holders(by_ident[one]))  # the rest of a pool is in the same plight
    return circles


def _is_stuck(thread: Thread, stuck: set[Any]) -> bool:
    """Any of several can end a wait; one that is for the end of all ends with the last."""
    holders = _holders(thread)
    if thread["waits_for"].get("for_all"):
        return not stuck.isdisjoint(holders)
    return stuck.issuperset(holders)


def _holders(thread: Thread) -> list[Any]:
    held = (thread["waits_for"] or {}).get("held_by")
    return [] if held is None else [held["ident"], *held["others"]]


def _next(thread: Thread, way: Sequence[Any], stuck: set[Any]) -> Any:
    """Of several, rather one that closes the circle soonest."""
    holders = [one for one in _holders(thread) if one in stuck]
    return max((one for one in holders if one in way), key=way.index, default=holders[0])


def as_threads(tasks: Sequence[Mapping[str, Any]]) -> list[Thread]:
    """Tasks that wait for a lock, a permit, or each other's end, as what `deadlocks` takes."""
    return [{"ident": t["id"], "name": t["name"], "waits_for": _of_task(t)} for t in tasks]


def _of_task(task: Mapping[str, Any]) -> Mapping[str, Any] | None:
    lock, other = task.get("blocked_on"), task["waits_for"]
    if lock is not None and lock["held_by"] is not None:
        held = {
            "ident": lock["held_by"]["id"],
            "others": lock["others"],
            "name_there": lock.get("name_there"),
        }
        return {"kind": lock["kind"], "on": lock["on"], "held_by": held}
    if other is not None and other["kind"] in _FOR_ALL and other["tasks"]:
        first, *others = (one["id"] for one in other["tasks"])
        held = {"ident": first, "others": others}
        return {"kind": "join", "on": "", "held_by": held, "for_all": True}
    return None


def sentence(circle: Sequence[Thread], noun: str = "thread") -> str:
    """`thread A waits for lock x held by B, which waits for lock y held by A`

    Where two locks have one name, as if both threads run one function: `lock x (y in B) held by B`.
    """
    names = [*(thread["name"] for thread in circle[1:]), circle[0]["name"]]
    if len(circle) == 1:
        if circle[0]["waits_for"]["kind"] == "future":
            one = circle[0]["waits_for"]
            self_ = "one of them" if one["held_by"]["others"] else "that thread"
            return f"thread {circle[0]['name']} waits for {one['on']}, and is {self_} itself"
        names = ["itself"]
    locks = [thread["waits_for"]["on"] for thread in circle]
    steps = [
        waited(thread, name, noun, is_ambiguous=locks.count(lock) > 1)
        for thread, name, lock in zip(circle, names, locks, strict=True)
    ]
    return f"{noun} {circle[0]['name']} " + ", which ".join(f"waits for {step}" for step in steps)


def waited(
    thread: Thread, holder: str | None, noun: str = "thread", *, is_ambiguous: bool = False
) -> str:
    """What a thread waits for, and who has to act, in a few words.

    is_ambiguous: another lock has the same name; so its name where it is held is said, too.
    """
    wait = thread["waits_for"]
    if wait["kind"] == "join" and holder is not None:
        return f"the end of {'itself' if holder == 'itself' else noun + ' ' + holder}"
    if wait["kind"] == "future" and holder is not None:
        return f"a future of {holder}"
    named = wait["kind"] in ("lock", "semaphore")
    what = f"{wait['kind']} {wait['on']}" if named else str(wait["on"])
    if holder is None:
        return what
    name_there = (wait["held_by"] or {}).get("name_there")
    if is_ambiguous and name_there and name_there != wait["on"]:
        what += f" ({name_there} in {holder})"
    return f"{what} held by {holder}"
