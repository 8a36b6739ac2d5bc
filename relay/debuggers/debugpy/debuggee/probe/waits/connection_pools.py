"""Who has the connections of a pool of SQLAlchemy's that has none left: the threads and tasks that keep them in a variable.

The pool itself does not keep who has taken one out. So a connection that several of them have, or that is kept
elsewhere, is nobody's here.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from relay.debuggers.debugpy.debuggee.probe.frames.namespaces import items_of
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.process.tracked_objects import (
        and_subclasses,
        objects_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.types import mro_of
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import (
        clipped,
        function_name,
        module_globals,
        stored_field,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.holders import place_text
    from relay.debuggers.debugpy.debuggee.probe.waits.permits import taken_by

_POOL = "sqlalchemy.pool.impl", "QueuePool"
_TAKEN_OUT = "sqlalchemy.pool.base", "_ConnectionFairy"
_HULLS = (
    # (module, class, the field with what it is a hull of)
    ("sqlalchemy.engine.base", "Connection", "_dbapi_connection"),
    ("sqlalchemy.ext.asyncio.engine", "AsyncConnection", "sync_connection"),
    ("sqlalchemy.ext.asyncio.session", "AsyncSession", "sync_session"),
)
_SESSION = "sqlalchemy.orm.session", "Session"
_MOST_NESTED = 50
_MOST_HULLS = 5


class StackOfOne(NamedTuple):
    """The frames of a thread or a task, innermost first."""

    key: Any
    name: str
    frames: list[Any]


class ConnectionWait(NamedTuple):
    """What there is to say of one that waits for a connection."""

    on: str
    note: str | None


def wait_for_connection(
    queue: Any, stacks: Iterable[StackOfOne], asker: Any
) -> ConnectionWait | None:
    """queue: in which the pool keeps those that are not taken out. asker: the key of who waits. None of any other queue."""
    pool = _pool_of(queue)
    if pool is None:
        return None
    size, further = (
        stored_field(stored_field(pool, "_pool"), "maxsize"),
        stored_field(pool, "_max_overflow"),
    )
    if type(size) is not int or type(further) is not int:
        return None
    taken = [
        one
        for one in objects_of(*_with_subclasses(*_TAKEN_OUT))
        if stored_field(one, "_pool") is pool
        and stored_field(one, "dbapi_connection") is not None
        and stored_field(one, "_connection_record") is not None
    ]
    on = f"a connection of SQLAlchemy's pool, which has {size + further}"
    return ConnectionWait(on, attempt(_takers_in_words, taken, stacks, asker))


def _pool_of(queue: Any) -> Any:
    for pool in objects_of(*_with_subclasses(*_POOL)):
        inner = stored_field(pool, "_pool")
        if inner is queue or stored_field(inner, "_queue") is queue:
            return pool
    return None


def _with_subclasses(module: str, name: str) -> list[Any]:
    cls = module_globals(module).get(name)
    return and_subclasses(cls) if isinstance(cls, type) else []


def _takers_in_words(taken: list[Any], stacks: Iterable[StackOfOne], asker: Any) -> str | None:
    wanted = {id(one) for one in taken}
    found: dict[int, dict[Any, tuple[str, str]]] = {number: {} for number in wanted}
    for stack in stacks:
        who = "itself" if stack.key == asker else stack.name
        for frame in stack.frames:
            for name, value in _variables(frame):
                for number in wanted & attempt(_connections_of, value, default=set()):
                    function = clipped(function_name(frame.f_code))
                    where = (
                        f"its {clipped(name)} in {function} at {place_text(frame, frame.f_lineno)}"
                    )
                    found[number].setdefault(stack.key, (who, where))
    of_one = [next(iter(each.values())) for each in found.values() if len(each) == 1]
    are_all = len(of_one) == len(taken)
    if are_all and len(of_one) == 1:
        ((who, where),) = of_one
        return f"taken by {who} ({where})"
    return taken_by(sorted(of_one, key=lambda one: one[0] != "itself"), are_all)


def _variables(frame: Any) -> list[tuple[Any, Any]]:
    """Of a frame that is not SQLAlchemy's own, which handles connections of others."""
    home = module_globals("sqlalchemy.pool.base").get("__file__")
    if type(home) is not str:
        return []
    if frame.f_code.co_filename.startswith(os.path.dirname(os.path.dirname(home)) + os.sep):
        return []
    return items_of(frame.f_locals)


def _connections_of(value: Any) -> set[int]:
    """The numbers of the connections that a variable's value has taken out, which may be a session with several."""
    fairy, session = _class(*_TAKEN_OUT), _class(*_SESSION)
    for _ in range(_MOST_HULLS):
        bases = mro_of(type(value))
        if _is_one(bases, fairy):
            return {id(value)}
        if _is_one(bases, session):
            return _connections_of_session(value)
        fields = [field for module, name, field in _HULLS if _is_one(bases, _class(module, name))]
        if not fields:
            break
        value = stored_field(value, fields[0])
    return set()


def _connections_of_session(session: Any) -> set[int]:
    found: set[int] = set()
    transaction = stored_field(session, "_transaction")
    for _ in range(_MOST_NESTED):
        if transaction is None:
            break
        for kept in list(dict.values(stored_field(transaction, "_connections") or {})):
            found |= _connections_of(kept[0])
        transaction = stored_field(transaction, "_parent")
    return found


def _class(module: str, name: str) -> Any:
    return module_globals(module).get(name)


def _is_one(bases: Any, cls: Any) -> bool:
    return cls is not None and any(base is cls for base in bases)
