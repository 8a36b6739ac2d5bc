"""Who holds a lock: the owner that it knows, or a thread that stands inside a `with` on it.

A plain lock knows no owner. Then frames are asked: in which body of a `with` each stands, and which
`acquire` it has passed with no `release` since. How an answer is known is part of it, and where
nothing is known nobody is named.
"""

from __future__ import annotations

import _thread
import functools
import os
import re
import threading
import types
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import (
        argument_count,
        call_at,
        facts_of,
        index_at,
        line_at,
        may_have_changed,
        names_bound_anew,
        taken_by_call,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import AskedOnce
    from relay.debuggers.debugpy.debuggee.probe.frames.namespaces import items_of
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import (
        JUMPS,
        handler_table,
        operations_named,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.stored_expressions import (
        expression_text,
        stored_result,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.templates import shown_line
    from relay.debuggers.debugpy.debuggee.probe.frames.with_blocks import with_blocks
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.process.tracked_objects import (
        count_of_objects,
        objects_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.attributes import own_dict
    from relay.debuggers.debugpy.debuggee.probe.values.types import mro_of, namespace_of, plan_of
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import module_globals, stored_field
    from relay.debuggers.debugpy.debuggee.probe.waits.tests_run import runs_test_of_pytest

PlainLock: Any = type(_thread.allocate_lock())
OwnedLock: Any = type(threading.RLock())
_OWNER = re.compile(r"owner=(\d+)")
_WITH_NAMES = ("SETUP_WITH", "BEFORE_WITH", "SETUP_ASYNC_WITH", "BEFORE_ASYNC_WITH", "LOAD_SPECIAL")
_LEAD_NO_FURTHER = ("RETURN", "RAISE", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_ABSOLUTE")
_MOST_OBJECTS = 3_000_000


class Holder(NamedTuple):
    """The thread that holds a lock, and by what that is known."""

    ident: int
    known_from: str
    others: tuple[int, ...] = ()
    """Threads of which any could end the wait in its place."""
    name_there: str | None = None
    """What the lock is called where it is held, if that is known: there it may be another argument."""
    task: str | None = None
    """The id of a task of that thread's: both have to go on before the wait is over."""


class HoldingStack(NamedTuple):
    """Frames that may hold something, and whose they are."""

    ident: int
    """The thread's, or that of the event loop of a task."""
    who: str
    """What of the thread it is, in words: `it`, or a task's name."""
    frames: list[Any]
    task: str | None = None
    """The task's id, if it is one that is suspended."""


class LockHold(NamedTuple):
    """A place in a thread's stack at which something is held."""

    value: Any
    ident: int
    known_from: str
    is_entered: bool = True
    """Whether by a `with`, which lets go itself; what is acquired, another thread may release."""
    let_go: frozenset[int] = frozenset()
    """Ids of locks that the same thread has let go for as long as it waits in a condition."""
    name_there: str | None = None
    """What it is called there, if that is known."""
    task: str | None = None
    """The id of the task that holds it while it is suspended."""

    def is_of(self, lock: Any, matches: Callable[[Any, Any], bool]) -> bool:
        """Whether it is this lock that is held here."""
        return id(lock) not in self.let_go and matches(self.value, lock)


def lock_below(value: Any) -> Any:
    """The lock that a Condition or the like is made of; the lock itself otherwise."""
    kinds = [getattr(threading, name, None) for name in ("Condition", "_RLock")]
    if any(base is kinds[0] for base in mro_of(type(value))):
        return lock_below(stored_field(value, "_lock"))
    return value


def is_lock(value: Any) -> bool:
    """Whether it is one of the locks that threads have."""
    return type(value) in (PlainLock, OwnedLock, getattr(threading, "_RLock", None))


def is_locked(lock: Any) -> bool:
    """Whether it is held now; a lock of an unknown kind counts as held."""
    if type(lock) is PlainLock:
        return bool(PlainLock.locked(lock))
    return True


def owner_of(lock: Any) -> int | None:
    """The thread that a reentrant lock says it belongs to; None where it says nothing."""
    if type(lock) is OwnedLock:
        found = _OWNER.search(repr(lock))  # of C
        return int(found.group(1)) or None if found else None
    owner = stored_field(lock, "_owner") if type(lock) is not PlainLock else None
    return owner if type(owner) is int else None


class Holders:
    """Finds who holds a lock. The stacks are searched at the first plain one."""

    def __init__(self, stacks: list[HoldingStack]) -> None:
        self._stacks = stacks
        self._has_tasks = any(stack.task is not None for stack in stacks)
        self._holds: list[LockHold] | None = None
        self._generators: list[tuple[Any, list[LockHold]]] | None = None
        self._known: dict[int, tuple[Any, Holder | None]] = {}

    @property
    def stacks(self) -> list[HoldingStack]:
        """Those that are searched."""
        return self._stacks

    def of(self, lock: Any) -> Holder | None:
        """Who holds the lock; None where that is not known. Each is searched for once."""
        known = self._known.get(id(lock))
        if known is None:
            known = self._known[id(lock)] = lock, self._found(lock)
        return known[1]

    def _found(self, lock: Any) -> Holder | None:
        owner = owner_of(lock)
        if owner is not None:
            # One of its tasks may have entered it, and be suspended: then that one has to go on, too.
            tasks = [
                hold.task
                for hold in (self.all_holds() if self._has_tasks else ())
                if hold.ident == owner and hold.is_of(lock, _is_it)
            ]
            return Holder(owner, "the lock names its owner", task=_only(tasks))
        if type(lock) is not PlainLock or not is_locked(lock):
            return None
        for matches in (_is_it, _has_it):
            found = [hold for hold in self.all_holds() if hold.is_of(lock, matches)]
            if len({hold.ident for hold in found}) > 1:
                return None  # only one can be right
            if found:
                hold, task = found[-1], _only([hold.task for hold in found])
                return Holder(hold.ident, hold.known_from, name_there=hold.name_there, task=task)
        return attempt(self._in_generator, lock)  # type: ignore[no-any-return]

    def inside(self, semaphore: Any) -> list[LockHold]:
        """Where somebody has taken a permit of it."""
        return [hold for hold in self.all_holds() if hold.is_of(semaphore, _is_it)]

    def all_holds(self) -> list[LockHold]:
        """What is held anywhere in these stacks."""
        if self._holds is None:
            self._holds = [
                hold._replace(task=stack.task)
                for stack in self._stacks
                for let_go in [let_go_by(stack.frames)]
                for frame in stack.frames
                for hold in attempt(_holds_of, stack.ident, frame, stack.who, let_go, default=())
            ]
        return self._holds

    def where_suspended(self, lock: Any) -> str | None:
        """Where the generator stands that holds the lock, if one does; no thread may be in it."""
        is_held = type(lock) is PlainLock and is_locked(lock)
        generator = self._generator_of(lock) if is_held else None
        frame = None if generator is None else generator.gi_frame
        return None if frame is None else place_text(frame, frame.f_lineno)

    def _generator_of(self, lock: Any) -> Any:
        """The only generator that stands inside a `with` on the lock, or None."""
        if self._generators is None:
            self._generators = _suspended_holds()
        inside = [
            one for one, holds in self._generators if any(_is_it(h.value, lock) for h in holds)
        ]
        return inside[0] if len(inside) == 1 else None

    def _in_generator(self, lock: Any) -> Holder | None:
        """A context manager that is a generator: it stands inside the `with`, on no stack."""
        generator = self._generator_of(lock)
        frame = None if generator is None else generator.gi_frame
        if frame is None:
            return None
        code = generator.gi_code
        users = [
            (
                f"{known}, whose generator holds it at {place_text(frame, frame.f_lineno)}",
                stack,
            )
            for stack in self._stacks
            for user in stack.frames
            for made_by, given, known in attempt(_generators_entered, user, stack.who, default=())
            if made_by is code and _may_be_given(frame, given)
        ]
        if not users and _is_fixture(generator):
            place = place_text(frame, frame.f_lineno)
            users = [
                (f"{stack.who} runs the test whose fixture holds it at {place}", stack)
                for stack in self._stacks
                if any(runs_test_of_pytest(one) for one in stack.frames)
            ]
        ident = _only([stack.ident for _, stack in users])
        if ident is None:
            return None
        return Holder(ident, users[0][0], task=_only([stack.task for _, stack in users]))


def _only(values: list[Any]) -> Any:
    """What all of them are; None where they differ, or there is none."""
    return values[0] if len(set(values)) == 1 else None


def _suspended_holds() -> list[tuple[Any, list[LockHold]]]:
    """Generators that stand inside a `with`, and what they hold."""
    if count_of_objects() > _MOST_OBJECTS:
        return []
    holds = [
        (one, attempt(_holds_of, 0, one.gi_frame, "", default=()))
        for one in objects_of(types.GeneratorType)
        if one.gi_frame is not None and not one.gi_running
    ]
    return [(one, held) for one, held in holds if held]


def _is_fixture(generator: Any) -> bool:
    """Whether pytest is to end the generator as it tears a fixture down."""
    end = module_globals("_pytest.fixtures").get("_teardown_yield_fixture")
    return end is not None and any(
        one.func is end and any(argument is generator for argument in one.args)
        for one in objects_of(functools.partial)
    )


def _is_it(value: Any, lock: Any) -> bool:
    return lock_below(value) is lock


def _has_it(value: Any, lock: Any) -> bool:
    """An object of the program's own that keeps the lock, and is entered in its place."""
    return not is_lock(value) and any(one is lock for one in locks_kept_by(value))


def locks_kept_by(value: Any) -> list[Any]:
    """Those of an object of the program's own which may be entered in their place."""
    plan = plan_of(value)
    if plan.family != "object":
        return []
    return [item for item in list(dict.values(own_dict(value, plan))) if is_lock(item)]


@AskedOnce
def has_ops(code: Any, names: tuple[str, ...]) -> bool:
    """Whether any of these instructions is in the code, found without reading it as text."""
    return not operations_named(names).isdisjoint(code.co_code[::2])


def may_hold(code: Any) -> bool:
    """Whether a frame of the code may hold a lock, or wait in a condition, by what it does itself."""
    return bool("acquire" in code.co_names or has_ops(code, _WITH_NAMES))


def place_text(frame: Any, line: int) -> str:
    return f"{os.path.basename(frame.f_code.co_filename)}:{shown_line(frame, line)}"


def let_go_by(frames: list[Any]) -> frozenset[int]:
    """Ids of the locks below conditions that a stack waits in: who waits there has let go of them."""
    found = set()
    for module in ("threading", "asyncio.locks"):
        condition = module_globals(module).get("Condition")
        code = attempt(lambda c=condition: namespace_of(c)["wait"].__code__)
        for frame in frames:
            if frame.f_code is code:
                waited = dict(items_of(frame.f_locals)).get("self")
                found.add(id(lock_below(waited)))
                found.add(id(stored_field(waited, "_lock")))
    return frozenset(found)


def _holds_of(
    ident: int, frame: Any, who: str, let_go: frozenset[int] = frozenset()
) -> list[LockHold]:
    """What a frame holds by its `with` blocks, and by what it has acquired."""
    code, found = frame.f_code, []
    given_back = _released(code) if "release" in code.co_names else []
    if has_ops(code, _WITH_NAMES):
        blocks = with_blocks(frame)
        found += attempt(_held_by_exit_stacks, ident, frame, who, blocks, let_go, default=[])
        for expression, line in blocks:
            value = attempt(stored_result, expression, frame)
            if value is not None and expression not in given_back:
                place = place_text(frame, line)
                name = expression_text(expression)
                text = f"{who} stands inside `with {name}` at {place}"
                found.append(LockHold(value, ident, text, True, let_go, name))
    if "acquire" in code.co_names:
        for expression, line in _acquired(code, frame.f_lasti):
            value = attempt(stored_result, expression, frame)
            if value is not None:
                name = expression_text(expression)
                text = f"{who} passed `{name}.acquire()` at {place_text(frame, line)}"
                found.append(LockHold(value, ident, text, False, let_go, name))
    return found


def _held_by_exit_stacks(
    ident: int, frame: Any, who: str, blocks: list[Any], let_go: frozenset[int]
) -> list[LockHold]:
    """What the stacks of `with ExitStack() as stack` have entered, where each is a variable here."""
    kinds = [module_globals("contextlib").get(name) for name in ("ExitStack", "AsyncExitStack")]
    lines = [
        line
        for expression, line in blocks
        if expression[0] == "call" and attempt(stored_result, expression[1], frame) in kinds
    ]
    stacks = {id(one): (name, one) for name, one in items_of(frame.f_locals) if type(one) in kinds}
    if len(stacks) != len(lines):
        return []
    found = []
    for name, stack in stacks.values():
        for _, leave in list(stored_field(stack, "_exit_callbacks")):
            manager = getattr(leave, "__self__", None)
            generator = attempt(stored_field, manager, "gen")
            place = place_text(frame, lines[0] if len(lines) == 1 else frame.f_lineno)
            text = f"{who} stands inside a `with` at {place}, whose {name} has entered it"
            if type(generator) is types.GeneratorType:
                inner = _holds_of(ident, generator.gi_frame, who, let_go)
                found += [hold._replace(known_from=text) for hold in inner]
            else:
                found.append(LockHold(manager, ident, text, True, let_go))
    return found


@AskedOnce
def _released(code: Any) -> list[Any]:
    """What the code releases somewhere: a `with` on it says little."""
    calls = [
        _method_called(code, at) for at, one in enumerate(facts_of(code)[0]) if taken_by_call(one)
    ]
    return [expression for name, expression, _ in calls if name == "release"]


def _may_be_given(frame: Any, given: list[Any]) -> bool:
    """Whether all these values can be arguments of the frame's call."""
    code = frame.f_code
    count = argument_count(code)
    names = code.co_varnames[:count]
    if code.co_argcount + code.co_kwonlyargcount != count or not names_bound_anew(code).isdisjoint(
        names
    ):
        return True
    held = [value for name, value in items_of(frame.f_locals) if name in names]
    return all(any(value is one for one in held) for value in given)


def _generators_entered(frame: Any, who: str) -> list[tuple[Any, list[Any], str]]:
    """The code of generators by which a frame's `with` blocks were entered, with what, and where.
    Arguments that are not known are left out.
    """
    found = []
    if has_ops(frame.f_code, _WITH_NAMES):
        for expression, line in with_blocks(frame):
            if expression[0] != "call":
                continue
            function = attempt(stored_result, expression[1], frame)
            arguments = [attempt(stored_result, one, frame) for one in expression[2][1:]]
            if type(function) is types.MethodType:
                arguments.append(function.__self__)
                function = function.__func__
            if type(function) is types.FunctionType:
                inner = function.__dict__.get("__wrapped__")
                text = f"`with {expression_text(expression)}` at {place_text(frame, line)}"
                if type(inner) is types.FunctionType:
                    given = [value for value in arguments if value is not None]
                    found.append((inner.__code__, given, f"{who} stands inside {text}"))
    return found


# ---------------------------------------------------------------------------- acquire


@AskedOnce
def _acquired(code: Any, offset: int) -> list[tuple[Any, int]]:
    """Locks that the code has acquired on every way to the place, and not released since."""
    found, here = facts_of(code)[0], index_at(code, offset)
    if here is None:
        return []
    calls = [(at, *_method_called(code, at)) for at, one in enumerate(found) if taken_by_call(one)]
    acquired = []
    for at, name, expression, plain in calls:
        if name != "acquire" or at >= here or found[at].opname == "PRECALL":
            continue
        start = _success(code, at, plain)
        if start is None or start > here or may_have_changed(code, expression, at, here):
            continue
        released = [n for n, what, which, _ in calls if what == "release" and which == expression]
        if _leads_only_through(code, start, here, released):
            acquired.append((expression, line_at(found, at)))
    return acquired


def _method_called(code: Any, at: int) -> tuple[str | None, Any, bool]:
    """Name and object of a method call, and whether it is without arguments."""
    function, arguments = call_at(code, at)
    if function[0] != "attribute" or function[2] not in ("acquire", "release"):
        return None, None, False
    return function[2], function[1], not arguments


def _success(code: Any, at: int, plain: bool) -> int | None:
    """Where it is known that the `acquire` at an index has got its lock: behind one that waits as long
    as need be, or where its result has been found true.
    """
    found, indices, _ = facts_of(code)
    after = at + 1
    while after < len(found) - 1 and found[after].opname in ("CACHE", "TO_BOOL"):
        after += 1
    name = found[after].opname
    if name == "POP_TOP":
        return at if plain else None
    if not name.startswith("POP_JUMP"):
        return None
    if name.endswith("IF_FALSE"):
        return after
    target = indices.get(found[after].argval, -1)
    if not name.endswith("IF_TRUE") or target <= after:
        return None
    ways = [one for one in found if one.opcode in JUMPS and one.argval == found[target].offset]
    before = found[target - 1].opname
    return target if len(ways) == 1 and before.startswith(_LEAD_NO_FURTHER) else None


def _leads_only_through(code: Any, start: int, here: int, released: list[int]) -> bool:
    """Whether every way to `here` comes through `start`, and by none of `released` after it."""
    found, indices, _ = facts_of(code)
    if any(start < at < here for at in released):
        return False
    ways = [(n, indices.get(one.argval, -1)) for n, one in enumerate(found) if one.opcode in JUMPS]
    for entry in handler_table(code):
        ways += [
            (indices[at], indices.get(entry.target, -1))
            for at in (entry.start, entry.end - 2)
            if at in indices
        ]
    for origin, target in ways:
        if not start < target <= here:
            continue
        if origin <= start:
            return False
        if origin > here and any(target <= at <= origin for at in released):
            return False
    return True
