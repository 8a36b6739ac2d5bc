"""Events of the relay's own, told by pydevd's writer: in order with the stops.

Knows what the writer takes for a command. Refuses to know what is told.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def send_event(py_db: Any, name: str, body: dict[str, Any]) -> None:
    """Queue the event; it tells what is so now."""
    py_db.writer.add_command(_event_command(name, body))


class LateEvent:
    """A command of pydevd's that asks for its body when the writer's own thread sends it.

    So the thread that queues it is not held up, and runs none of pydevd's code for it.
    """

    as_dict = None

    def __init__(self, name: str, body: Callable[[], dict[str, Any]]) -> None:
        self.id = _event_kind()
        self._name = name
        self._body = body

    def send(self, sock: Any) -> None:
        _event_command(self._name, self._body()).send(sock)


def _event_command(name: str, body: dict[str, Any]) -> Any:
    event = {"type": "event", "event": name, "body": body}
    return sys.modules["pydevd"].NetCommand(_event_kind(), 0, event, is_json=True)


def _event_kind() -> Any:
    return sys.modules["_pydevd_bundle.pydevd_comm_constants"].CMD_RETURN
