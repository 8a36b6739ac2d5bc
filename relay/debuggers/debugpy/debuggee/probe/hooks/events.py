"""Events of the relay's own, sent by pydevd's writer: in order with the stops.

Knows what the writer takes for a command. Refuses to know what they mean.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.hooks.running_frames import innermost_frames
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt


# Where pydevd's threads are while they answer: the reader, and the one for what needs no frame.
_AT_A_REQUEST = frozenset(("process_net_command_json", "process_internal_commands"))


_LOOK_EVERY = 0.05


def send_event(py_db: Any, name: str, body: dict[str, Any]) -> None:
    """Queue the event; it says what is so now."""
    py_db.writer.add_command(_event_command(name, body))


class LateEvent:
    """A command of pydevd's that asks for its body when the writer's own thread sends it.

    So the thread that queues it is not held up, and runs none of pydevd's code for it.
    """

    as_dict = None

    def __init__(self, name: str, body: Callable[[], dict[str, Any]]) -> None:
        self.id = event_kind()
        self._name = name
        self._body = body

    def send(self, sock: Any) -> None:
        _event_command(self._name, self._body()).send(sock)


class _Sent:
    """A command of pydevd's that sends nothing: its turn comes when all before it is sent."""

    as_dict = None

    def __init__(self) -> None:
        self.id = event_kind()
        # C's own: the program may have replaced what `queue` and `threading` have.
        self.turn: Any = sys.modules["_queue"].SimpleQueue()

    def send(self, sock: Any) -> None:
        # The relay's writer gathers commands, and sends them together.
        later = getattr(sock, "when_sent", None)
        if later is None:
            self.turn.put(None)
        else:
            later.append(self.turn.put)


def wait_until_answered(py_db: Any, seconds: float) -> None:
    """Until what the client has asked is answered, and the answers are sent; at most for so long."""
    writer = py_db.writer
    if writer is None or not writer.is_alive():
        return
    deadline = time.monotonic() + seconds
    while _is_any_busy(py_db) and time.monotonic() < deadline:
        time.sleep(0.0002)
    sent = _Sent()
    writer.add_command(sent)
    # A writer that is asked to end leaves what is queued then.
    while writer.is_alive() and not py_db.pydb_disposed and time.monotonic() < deadline:
        if attempt(sent.turn.get, True, _LOOK_EVERY, default=sent) is None:
            return


def _is_any_busy(py_db: Any) -> bool:
    """Whether a thread of the debugger's is in the middle of a request: its answer is yet to come."""
    threads = [thread.ident for thread in list(py_db.created_pydb_daemon_threads)]
    # Not all of them: with its own among them, this call would keep the program's alive.
    for top in list(filter(None, map(innermost_frames().get, threads))):
        frame: Any = top
        while frame is not None:
            if frame.f_code.co_name in _AT_A_REQUEST:
                return True
            frame = frame.f_back
    return False


def _event_command(name: str, body: dict[str, Any]) -> Any:
    return _as_command({"type": "event", "event": name, "body": body})


def response_command(number: int, command: str, **more: Any) -> Any:
    """The response to this request, for pydevd's writer: a success if it has a `body`, else with a `message`."""
    response = {"type": "response", "request_seq": number, "command": command}
    return _as_command({**response, "success": "body" in more, **more})


def _as_command(message: dict[str, Any]) -> Any:
    return sys.modules["pydevd"].NetCommand(event_kind(), 0, message, is_json=True)


def event_kind() -> Any:
    return sys.modules["_pydevd_bundle.pydevd_comm_constants"].CMD_RETURN
