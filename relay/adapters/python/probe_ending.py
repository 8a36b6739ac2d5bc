"""The program's end, which waits until the relay has heard all that pydevd still has to say.

Knows pydevd's writer, and when nobody is there to hear it. Refuses to know what is said. Part of
`probe.py`, which says what holds for the whole probe.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.adapters.python.probe_breakpoints import new_hits
    from relay.adapters.python.probe_captures import tell_captures
    from relay.adapters.python.probe_frames import debugger
    from relay.adapters.python.probe_guard import attempt
    from relay.adapters.python.probe_trace import tell_trace

# The relay reads all the time; one that does not for this long is as good as dead.
LAST_WORDS_SECONDS = 30.0


class _LastWord:
    """A command for pydevd's writer: an event that the relay answers with a `threads` request.

    Only an answer proves that all was heard: the stock adapter throws away what it has not
    passed on when the program ends.
    """

    as_dict = None

    def __init__(self) -> None:
        self.id = sys.modules["_pydevd_bundle.pydevd_comm_constants"].CMD_RETURN
        self.heard = threading.Event()

    def send(self, sock: Any) -> None:
        body = {"hits": attempt(new_hits, default={})}
        event = {"type": "event", "event": "relayEnding", "body": body}
        sys.modules["pydevd"].NetCommand(self.id, 0, event, is_json=True).send(sock)

    # As a listener of pydevd's.

    def before_send(self, message: Any) -> None:
        pass

    def after_receive(self, message: Any) -> None:
        if message.get("command") == "threads":
            self.heard.set()


class _Presence:
    """Whether a client is attached; a listener of pydevd's.

    A process that was attached to keeps its connection with the stock adapter after the
    client has gone: at its end nobody would answer, and it must not wait.
    """

    def __init__(self) -> None:
        self.is_here = True

    def before_send(self, message: Any) -> None:
        pass

    def after_receive(self, message: Any) -> None:
        if message.get("command") in ("attach", "launch", "disconnect"):
            self.is_here = message["command"] != "disconnect"


def send_all_at_end() -> bool:
    """At the end pydevd gives its writer half a second, and then throws away what is queued:
    logpoints of a busy program are thousands."""
    py_db = debugger()
    dispose = py_db.dispose_and_kill_all_pydevd_threads
    if getattr(dispose, "sends_all", False):
        return True
    relay = _Presence()
    py_db.add_dap_messages_listener(relay)

    def dispose_and_kill_all_pydevd_threads(*arguments: Any, **named: Any) -> Any:
        if relay.is_here:
            attempt(_await_relay, py_db)
        return dispose(*arguments, **named)

    dispose_and_kill_all_pydevd_threads.sends_all = True  # type: ignore[attr-defined]
    py_db.dispose_and_kill_all_pydevd_threads = dispose_and_kill_all_pydevd_threads
    return True


def _await_relay(py_db: Any) -> None:
    talkers = (py_db.writer, py_db.reader)
    if threading.get_ident() in [thread.ident for thread in talkers]:
        return  # the connection is at its end
    attempt(tell_captures)
    attempt(tell_trace)
    word = _LastWord()
    py_db.add_dap_messages_listener(word)
    py_db.writer.add_command(word)
    deadline = time.monotonic() + LAST_WORDS_SECONDS
    while all(t.is_alive() for t in talkers) and time.monotonic() < deadline:
        if word.heard.wait(0.1):
            return
