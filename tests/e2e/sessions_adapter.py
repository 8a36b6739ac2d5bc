"""An adapter that asks for a session of each process: `sessions_adapter.py PLACE HABIT...`

Made after a transcript of js-debug 1.112, of which it has the order of messages and the oddities: numbers
of breakpoints that begin anew with each connection, breakpoints that are bound late, a second
`initialized`, thread 0. It debugs nothing: its program stops at each breakpoint of its file, then
its worker does, and then both end.
"""

from __future__ import annotations

import json
import os
import re
import socket
import sys
import threading
from typing import Any

PLACE, HABITS = sys.argv[1], set(sys.argv[2:])
PROGRAM = "import sys; print('printed'); open(sys.argv[1]).read(); sys.exit(3)"
GATE = os.path.join(os.environ.get("TMPDIR", "/nowhere"), "gate")
SESSIONS: dict[str, Session] = {}


class Session:
    """One connection: the first one, or that of a process."""

    def __init__(self, connection: socket.socket) -> None:
        self.stream = connection.makefile("rwb")
        self.lock = threading.Lock()
        self.seq = 0
        self.numbers = 0
        self.target = ""
        self.parent: Session | None = None
        self.launch: dict[str, Any] = {}
        self.breakpoints: list[dict[str, Any]] = []
        self.left: list[dict[str, Any]] = []

    def say(self, kind: str, **more: Any) -> None:
        with self.lock:
            self.seq += 1
            body = json.dumps({"seq": self.seq, "type": kind, **more}).encode()
            self.stream.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            self.stream.flush()

    def event(self, name: str, body: Any) -> None:
        self.say("event", event=name, body=body)

    def answer(self, request: dict[str, Any], body: Any = None) -> None:
        facts = {"request_seq": request["seq"], "command": request["command"], "success": True}
        self.say("response", body=body or {}, **facts)

    def ask_for(self, name: str, target: str) -> None:
        SESSIONS[target] = self
        configuration = {"name": name, "__pendingTargetId": target}
        asked = {"request": "launch", "configuration": configuration}
        self.say("request", command="startDebugging", arguments=asked)

    def run(self) -> None:
        while (message := self.read()) is not None:
            if message["type"] == "request":
                name = re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", message["command"])
                getattr(self, f"do_{name}")(message, message.get("arguments") or {})
            elif message["command"] == "runInTerminal":
                self.started(message["body"]["processId"])

    def read(self) -> dict[str, Any] | None:
        length = 0
        while line := self.stream.readline().strip():
            name, _, value = line.partition(b":")
            if name == b"Content-Length":
                length = int(value)
        return json.loads(self.stream.read(length)) if length else None

    def do_initialize(self, request: dict[str, Any], asked: dict[str, Any]) -> None:
        assert asked["supportsStartDebuggingRequest"]
        self.answer(request, {"supportsConfigurationDoneRequest": True})
        self.event("initialized", {})

    def do_launch(self, request: dict[str, Any], asked: dict[str, Any]) -> None:
        self.launch, self.target = request, asked.get("__pendingTargetId", "")

    def do_set_breakpoints(self, request: dict[str, Any], asked: dict[str, Any]) -> None:
        path, told = asked["source"]["path"], []
        if "restarts-numbers" in HABITS:
            self.numbers = 0
        self.breakpoints = [one for one in self.breakpoints if one["path"] != path]
        for one in asked["breakpoints"]:
            self.numbers += 1
            self.breakpoints.append({**one, "id": self.numbers, "path": path})
            message = "breakpoint.provisionalBreakpoint"
            told.append({"id": self.numbers, "verified": False, "message": message})
        self.answer(request, {"breakpoints": told})

    def do_set_exception_breakpoints(self, request: dict[str, Any], asked: dict[str, Any]) -> None:
        self.answer(request)

    def do_configuration_done(self, request: dict[str, Any], asked: dict[str, Any]) -> None:
        self.answer(request)
        if self.target:
            self.begin()
        elif "internal" in HABITS:
            self.answer(self.launch)
            self.started(0)
        else:
            os.mkfifo(GATE)
            words = [sys.executable, "-c", PROGRAM, "/dev/null" if "mute" in HABITS else GATE]
            self.say("request", command="runInTerminal", arguments={"args": words, "cwd": "/"})

    def started(self, pid: int) -> None:
        if "internal" not in HABITS:
            self.answer(self.launch)
        if "mute" not in HABITS:
            self.ask_for(f"odd.txt [{pid}]", "first")

    def begin(self) -> None:
        self.parent = SESSIONS[self.target]
        self.answer(self.launch)
        self.event("initialized", {})
        self.event("thread", {"reason": "started", "threadId": self.thread})
        for one in self.breakpoints:
            place = {"line": one["line"], "source": {"path": one["path"]}}
            bound = {"id": one["id"], "verified": True, **place}
            self.event("breakpoint", {"reason": "changed", "breakpoint": bound})
        self.left = list(self.breakpoints)
        self.go_on()

    @property
    def thread(self) -> int:
        return 0 if self.target == "first" else 1

    def go_on(self) -> None:
        if self.left:
            hit = [self.left[0]["id"]]
            body = {"reason": "breakpoint", "threadId": self.thread, "hitBreakpointIds": hit}
            self.event("stopped", body)
        elif self.target == "first" and "alone" not in HABITS and "worker" not in SESSIONS:
            self.ask_for("[worker 1]", "worker")
        else:
            self.end()

    def end(self) -> None:
        self.event("thread", {"reason": "exited", "threadId": self.thread})
        self.event("terminated", {})
        if self.target == "worker":
            assert self.parent is not None
            self.parent.end()
        elif "internal" in HABITS:
            assert self.parent is not None
            self.parent.event("output", {"category": "stdout", "output": "printed late\n"})
            self.parent.event("terminated", {})
        else:
            with open(GATE, "w"):
                pass

    def do_threads(self, request: dict[str, Any], asked: dict[str, Any]) -> None:
        threads = [{"id": self.thread, "name": self.target}] if self.target else []
        self.answer(request, {"threads": threads})

    def do_stack_trace(self, request: dict[str, Any], asked: dict[str, Any]) -> None:
        assert asked["threadId"] == self.thread
        here = self.left[0]
        source = {"name": "odd.txt", "path": here["path"]}
        frame = {"id": 7, "name": self.target, "line": here["line"], "column": 1, "source": source}
        self.answer(request, {"stackFrames": [frame]})

    def do_evaluate(self, request: dict[str, Any], asked: dict[str, Any]) -> None:
        if asked["expression"] == "die":
            os._exit(1)
        self.answer(request, {"result": self.target, "variablesReference": 0})

    def do_continue(self, request: dict[str, Any], asked: dict[str, Any]) -> None:
        self.left = self.left[1:]
        self.answer(request, {"allThreadsContinued": False})
        self.event("continued", {"threadId": self.thread, "allThreadsContinued": False})
        self.go_on()

    def do_disconnect(self, request: dict[str, Any], asked: dict[str, Any]) -> None:
        self.answer(request)


if __name__ == "__main__":
    if PLACE.isdigit():
        listener = socket.create_server(("127.0.0.1", int(PLACE)))
    else:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(PLACE)
        listener.listen()
    print("listens at", PLACE, flush=True)
    while True:
        threading.Thread(target=Session(listener.accept()[0]).run, daemon=True).start()
