"""A session in each state that matters, for requests made by lot to find something.

Knows the API as a client does. A request may end, delete or resume what it finds: before the next
one each session is looked at, and made anew if it is no longer what it is there for.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.faults.relay_process import RelayProcess
from tests.programs import Program

LOOP = """
import os
import time

def work(number):
    text = "abc" * number
    return {"number": number, "text": text}  # @stop

found = []
while os.path.exists(__file__) and len(found) < 2000:  # also when nobody debugs it any more
    found.append(work(len(found) % 9))
    time.sleep(0.01)
"""
SESSIONS = "/api/v1/sessions"

STATES = {"created": "created", "paused": "paused", "ended": "terminated"}
"""What a session is there for, and its status then."""


class SessionsInStates:
    """One without a program, one that stands at a breakpoint, and one whose program has ended.

    A resume of the second comes to the same breakpoint again.
    """

    def __init__(self, relay: RelayProcess, folder: Path) -> None:
        self._relay = relay
        self._loop = Program.write(folder / "loop.py", LOOP)
        self._short = Program.write(folder / "short.py", "print('over')\n")
        self._paths: dict[str, str] = {}
        self._reference = 0
        self._unchanged: set[str] = set()

    def known(self, state: str) -> dict[str, Any]:
        """For the names of parameters and fields: values that lead to something in that session."""
        session = self._session(state)
        line = self._loop.line("stop")
        return {
            "session_id": session.rpartition("/")[2],
            "frame_id": 0,
            "thread_id": 1,
            "variables_reference": self._reference,
            "breakpoint_id": "bp_1",
            "watch_id": "watch_1",
            "expression": "number",
            "name": "number",
            "script": self._short.text,
            "path": self._loop.text,
            "file": self._loop.text,
            "source": {"path": self._loop.text},
            "line": line,
        }

    def may_have_changed(self) -> None:
        """Something else than a look has been asked for."""
        self._unchanged.clear()

    def end_detached(self) -> None:
        """Programs that were let go run on for half a minute; until now."""
        self._loop.path.unlink()

    def _session(self, state: str) -> str:
        path = self._paths.get(state)
        if path is not None:
            if state in self._unchanged or self._has_status(path, STATES[state]):
                self._unchanged.add(state)
                return path
            self._relay.call("DELETE", f"{path}?force=true", b"")
        path = self._paths[state] = self._make(state)
        return path

    def _has_status(self, path: str, status: str) -> bool:
        found, answer = self._relay.call("GET", path, b"")
        return found == 200 and answer["data"]["status"] == status

    def _make(self, state: str) -> str:
        session = self._relay.session()
        if state == "paused":
            place = {"source": {"path": self._loop.text}, "line": self._loop.line("stop")}
            self._post(f"{session}/breakpoints", breakpoints=[place])
            stop = self._post(f"{session}/launch", script=self._loop.text, wait=30)
            assert stop["status"] == "paused", stop
            scopes = self._relay.call("GET", f"{session}/scopes?frame_id=0", b"")[1]["data"]
            self._reference = scopes["scopes"][0]["variables_reference"]
        elif state == "ended":
            self._post(f"{session}/launch", script=self._short.text, wait=30)
        return session

    def _post(self, path: str, **body: Any) -> Any:
        status, answer = self._relay.call("POST", path, json.dumps(body).encode())
        assert status < 300, answer
        return answer["data"]

    def tidy(self) -> None:
        """Delete what a request has created beside them."""
        kept = {path.rpartition("/")[2] for path in self._paths.values()}
        for item in self._relay.call("GET", f"{SESSIONS}?limit=100", b"")[1]["data"]["items"]:
            if item["session_id"] not in kept:
                self._relay.call("DELETE", f"{SESSIONS}/{item['session_id']}?force=true", b"")
