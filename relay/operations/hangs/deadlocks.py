"""Threads and tasks that wait for each other in a circle. Pure: facts in, sentences out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Waiter = Mapping[str, Any]
"""A thread as the debuggee reports it, or a task in the same shape, with a `noun` of its own."""

_FOR_ALL = ("task", "gather", "group", "nursery")
"""What a task may wait for that is over with the last of the tasks."""


def deadlocks(
    threads: Sequence[Waiter], tasks: Sequence[Mapping[str, Any]] = ()
) -> list[list[Waiter]]:
    """The circles, each from its first thread on, or else its first task; none shares one with another."""
    waiters = [*threads, *map(_as_waiter, tasks)]
    by_ident = {one["ident"]: one for one in waiters}
    stuck = _stuck(by_ident)
    circles: list[list[Waiter]] = []
    reported: set[Any] = set()
    for waiter in waiters:
        way: dict[Any, int] = {}  # and where on it each is
        ident = waiter["ident"]
        while ident in stuck and ident not in reported and ident not in way:
            way[ident] = len(way)
            ident = _next(by_ident[ident], way, stuck)
        if ident in way:
            circles.append([by_ident[one] for one in list(way)[way[ident] :]])
        reported.update(way)
        for one in way:
            if not _is_for_all(by_ident[one]):  # the rest of a pool is in the same plight
                reported.update(_holders(by_ident[one]))
    return circles


def _stuck(by_ident: Mapping[Any, Waiter]) -> set[Any]:
    """Those of whom nobody can go on who would have to: whoever waits for one that may go on may go on itself.

    Any of several can end a wait; one that is for the end of all ends with the last. Each is looked at once for
    each that it waits for: tasks may wait for each other in a row of thousands.
    """
    holders = {ident: set(_holders(one)) for ident, one in by_ident.items()}
    waiting: dict[Any, list[Any]] = {}
    for ident, of_one in holders.items():
        for holder in of_one:
            waiting.setdefault(holder, []).append(ident)
    stuck = {ident for ident, of_one in holders.items() if of_one}
    free = [holder for holder in waiting if holder not in stuck]
    while free:
        one = free.pop()
        for ident in waiting.get(one, ()):
            holders[ident].discard(one)
            if ident in stuck and not (holders[ident] and _is_for_all(by_ident[ident])):
                stuck.discard(ident)
                free.append(ident)
    return stuck


def _is_for_all(waiter: Waiter) -> bool:
    """Whether all have to act that it waits for: several tasks, or a task and the thread that runs its event loop."""
    wait = waiter["waits_for"]
    return wait is not None and (
        wait.get("needs_all", False) or bool((wait.get("held_by") or {}).get("task"))
    )


def _holders(waiter: Waiter) -> list[Any]:
    """Nobody, of one that has gone on since it was looked at: what the others wait for is of another moment then."""
    held = (waiter["waits_for"] or {}).get("held_by")
    if held is None or waiter.get("has_gone_on"):
        return []
    task = held.get("task")
    return [held["ident"], *held["others"], *([] if task is None else [task])]


def _next(waiter: Waiter, way: Mapping[Any, int], stuck: set[Any]) -> Any:
    """Of several, rather one that closes the circle soonest."""
    holders = [one for one in _holders(waiter) if one in stuck]
    return max((one for one in holders if one in way), key=way.__getitem__, default=holders[0])


def _as_waiter(task: Mapping[str, Any]) -> Waiter:
    return {
        "ident": task["id"],
        "name": task["name"],
        "noun": "task",
        "waits_for": _of_task(task),
        "has_gone_on": task.get("has_gone_on"),
        "is_limited": task.get("is_limited"),
    }


def _of_task(task: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Of one that waits for a lock, a permit, another's end, or what a thread does for it."""
    lock, other = task.get("blocked_on"), task["waits_for"] or {}
    if lock is not None and lock.get("worker") is not None:
        return {"kind": "work", "on": "", "held_by": lock["worker"]}
    if lock is not None and lock["held_by"] is not None:
        held = {
            "ident": lock["held_by"]["id"],
            "others": lock["others"],
            "name_there": lock.get("name_there"),
        }
        return {"kind": lock["kind"], "on": lock["on"], "held_by": held}
    if other.get("kind") in _FOR_ALL or other.get("needs_all"):
        members = [*other["ids"], *other.get("workers", ())]
        if members:
            held = {"ident": members[0], "others": members[1:]}
            return {"kind": "join", "on": "", "held_by": held, "needs_all": True}
    if other.get("kind") == "future" and other.get("worker") is not None:
        return {"kind": "work", "on": "", "held_by": other["worker"]}
    return None


def noun_of(waiter: Waiter) -> str:
    """`thread` or `task`"""
    return str(waiter.get("noun", "thread"))


def sentence(circle: Sequence[Waiter]) -> str:
    """`thread A waits for lock x held by B, which waits for lock y held by A`

    Where two locks have one name, as if both threads run one function: `lock x (y in B) held by B`.
    One that a time limit will end says so.
    """
    return _circle_text(circle) + _limit_text(circle)


def _limit_text(circle: Sequence[Waiter]) -> str:
    """Whose wait ends by itself, and so the circle; nothing where none is known to."""
    for one in circle:
        seconds = one["waits_for"].get("timeout_seconds")
        if seconds is not None or one.get("is_limited"):
            has = "has a time limit" if seconds is None else f"waits for {seconds:g} s at most"
            return f"; {noun_of(one)} {one['name']} {has}, which ends the circle"
    return ""


def _circle_text(circle: Sequence[Waiter]) -> str:
    noun = noun_of(circle[0])
    is_mixed = len({noun_of(one) for one in circle}) > 1
    names = [
        f"{noun_of(one)} {one['name']}" if is_mixed else one["name"]
        for one in (*circle[1:], circle[0])
    ]
    if len(circle) == 1:
        if circle[0]["waits_for"]["kind"] == "future":
            one = circle[0]["waits_for"]
            self_ = "one of them" if one["held_by"]["others"] else "that thread"
            return f"thread {circle[0]['name']} waits for {one['on']}, and is {self_} itself"
        names = ["itself"]
    locks = [one["waits_for"]["on"] for one in circle]
    steps = [
        _waited(one, name, "" if is_mixed else f"{noun} ", is_ambiguous=locks.count(lock) > 1)
        for one, name, lock in zip(circle, names, locks, strict=True)
    ]
    return f"{noun} {circle[0]['name']} " + ", which ".join(f"waits for {step}" for step in steps)


def _waited(waiter: Waiter, holder: str, noun: str, *, is_ambiguous: bool) -> str:
    """What a thread or task waits for, and who has to act, in a few words.

    is_ambiguous: another lock has the same name; so its name where it is held is said, too.
    """
    wait = waiter["waits_for"]
    if wait["kind"] == "work" or (noun_of(waiter) == "task" and holder.startswith("thread ")):
        return f"what {holder} does for it"
    if wait["kind"] == "join":
        return f"the end of {'itself' if holder == 'itself' else noun + holder}"
    if wait["kind"] == "future":
        return f"a future of {holder}"
    named = wait["kind"] in ("lock", "semaphore")
    what = f"{wait['kind']} {wait['on']}" if named else str(wait["on"])
    name_there = wait["held_by"].get("name_there")
    if is_ambiguous and name_there and name_there != wait["on"]:
        what += f" ({name_there} in {holder})"
    return f"{what} held by {holder}"
