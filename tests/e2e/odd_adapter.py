"""A debug adapter of odd ways, on standard input and output: `odd_adapter.py HABIT...`

It debugs nothing: it says that a program of three lines stops at each and then ends. Every habit
is one that some real debugger has, or a fault that one may have.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from typing import Any

HABITS = set(sys.argv[1:])

CAPABILITIES: dict[str, Any] = {
    "supportsConfigurationDoneRequest": True,
    "supportsConditionalBreakpoints": True,
    "supportsLogPoints": "plain" not in HABITS,
    "exceptionBreakpointFilters": [{"filter": "all", "label": "All"}],
}
if "stops-unasked" in HABITS:
    CAPABILITIES["exceptionBreakpointFilters"].append({"filter": "panic", "default": True})
if "watches" in HABITS:
    CAPABILITIES["supportsDataBreakpoints"] = True
if "turns" in HABITS:
    CAPABILITIES |= {"supportsStepBack": True, "supportsRestartFrame": True}
if "sets" in HABITS:
    CAPABILITIES["supportsSetExpression"] = True
if "plain" in HABITS:
    CAPABILITIES = {"supportsConfigurationDoneRequest": True}


class Adapter:
    """Answers requests one after the other."""

    def __init__(self) -> None:
        self.seq = 0
        self.line = 0
        self.path = ""
        self.launch: dict[str, Any] | None = None
        self.stands = False
        self.pauses = 0
        self.watched: list[dict[str, Any]] = []
        self.refused: dict[str, Any] | None = None

    def say(self, kind: str, **told: Any) -> None:
        self.seq += 1
        body = json.dumps({"seq": self.seq, "type": kind, **told}).encode()
        sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        sys.stdout.buffer.flush()

    def event(self, name: str, body: Any = None) -> None:
        self.say("event", event=name, body=body)

    def answer(self, request: dict[str, Any], body: Any = None, error: str = "") -> None:
        told: dict[str, Any] = {"request_seq": request["seq"], "command": request["command"]}
        if error:  # as some do: the words are in the body only
            body = {"error": {"id": 7, "format": error}}
        self.say("response", success=not error, body=body, **told)

    def run(self) -> None:
        while (request := read()) is not None:
            if request["type"] != "request":
                continue
            name = re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", request["command"])
            do = getattr(self, f"do_{name}", None)
            if do is None:
                self.answer(request, error="I do not know that")
            else:
                do(request, request.get("arguments") or {})

    def do_initialize(self, request: dict[str, Any], arguments: dict[str, Any]) -> None:
        if "dies" in HABITS:
            sys.exit("I have no licence")
        if "garbage" in HABITS:
            print("Welcome to the debugger!\nVersion 3\n\n", flush=True)
        if "mute" in HABITS:
            time.sleep(3600)
        self.answer(request, CAPABILITIES)
        if "early" in HABITS:
            self.event("initialized")

    def do_launch(self, request: dict[str, Any], arguments: dict[str, Any]) -> None:
        if "refuses-launch" in HABITS:
            self.answer(request, error="no such program here")
            return
        self.launch = request
        if "asks" in HABITS:
            self.say("request", command="runInTerminal", arguments={"args": ["true"], "cwd": "/"})
            self.say("request", command="startDebugging", arguments={"configuration": {}})
        if "launches-late" not in HABITS:
            self.answer(request)
        if not HABITS & {"early", "never-ready"}:
            self.event("initialized")

    def do_set_breakpoints(self, request: dict[str, Any], arguments: dict[str, Any]) -> None:
        self.path = arguments["source"]["path"]
        wanted = arguments.get("breakpoints") or []
        if "refuses-line-2" in HABITS and any(one["line"] == 2 for one in wanted):
            self.refused = request  # when the next one has been answered
            return
        told = [{"verified": True, "id": None} if "nulls" in HABITS else {"verified": True}]
        self.answer(request, {"breakpoints": told * len(wanted)})
        if self.refused is not None:
            self.answer(self.refused, error="there is no line 2")
            self.refused = None

    def do_data_breakpoint_info(self, request: dict[str, Any], asked: dict[str, Any]) -> None:
        """Knows the variables of a scope only."""
        known = asked.get("variablesReference") == 5 and asked["name"] in ("n", "many")
        described = f"no variable {asked['name']} here"
        self.answer(request, {"dataId": asked["name"] if known else None, "description": described})

    def do_set_data_breakpoints(self, request: dict[str, Any], asked: dict[str, Any]) -> None:
        self.watched = asked["breakpoints"]
        told = [{"verified": one["dataId"] == "n", "message": "4 bytes"} for one in self.watched]
        self.answer(request, {"breakpoints": told})

    def do_set_exception_breakpoints(self, request: dict[str, Any], _: dict[str, Any]) -> None:
        if "ends-early" in HABITS:
            self.end()
        if "plain" in HABITS:
            self.answer(request, error="I have no exceptions")
        else:
            self.answer(request)

    def do_configuration_done(self, request: dict[str, Any], _: dict[str, Any]) -> None:
        self.answer(request)
        if "learns" in HABITS:
            self.event("capabilities", {"capabilities": {"supportsStepBack": True}})
        if "launches-late" in HABITS:
            assert self.launch is not None
            self.answer(self.launch)
        self.oddities()
        if "ends-early" not in HABITS:
            self.go_on()

    def oddities(self) -> None:
        """What nobody asked for, some of it wrong."""
        if "nulls" in HABITS:
            self.event("process", {"name": "x", "systemProcessId": 0})
            for name in ("output", "thread", "module", "breakpoint", "loadedSource", "memory"):
                self.event(name, None)
            self.event("output", {"category": None, "output": "kept\n", "group": "start"})
            self.event("output", {"output": None, "variablesReference": 3})
            self.event("module", {"reason": "new", "module": None})
            self.event("breakpoint", {"reason": "changed", "breakpoint": {"id": None}})
            self.event("continued", {"threadId": None})
        if "wrong" in HABITS:
            for name in (
                "output",
                "thread",
                "module",
                "breakpoint",
                "exited",
                "process",
                "capabilities",
            ):
                self.event(name, {"breakpoint": {"id": "x"}, "module": "m", "threadId": "t"})
            self.event("breakpoint", {"reason": "changed", "breakpoint": "none"})

    def go_on(self) -> None:
        self.line += 1
        self.stands = self.line <= 3
        if "exits" in HABITS:
            sys.exit(0)
        if not self.stands:
            self.end()
            return
        body: dict[str, Any] = {"reason": "breakpoint", "threadId": 1, "allThreadsStopped": True}
        if self.watched:
            body["reason"] = "data breakpoint"
        if "no-thread" in HABITS:
            del body["threadId"]
        if "raises" in HABITS:
            body |= {"reason": "exception", "text": "Boom", "description": "it went wrong"}
        self.event("stopped", body)

    def end(self) -> None:
        if "no-exit-code" not in HABITS:
            self.event("exited", {"exitCode": 0 if "hides-signals" in HABITS else 3})
        if "no-terminated" not in HABITS:
            self.event("terminated", None if "nulls" in HABITS else {})
        if "leaves" in HABITS:
            sys.exit(0)

    def do_threads(self, request: dict[str, Any], _: dict[str, Any]) -> None:
        if "no-threads-while-running" in HABITS and not self.stands:
            self.answer(request, error="notStopped")
        else:
            self.answer(request, {"threads": [{"id": 1, "name": "only"}]})

    def do_stack_trace(self, request: dict[str, Any], arguments: dict[str, Any]) -> None:
        if arguments["threadId"] != 1 or "no-stack" in HABITS:
            self.answer(request, error="unknown goroutine")
            return
        source: Any = {"name": "odd.txt", "path": self.path}
        if "nulls" in HABITS:
            source = None
        # Some number frames anew for each answer.
        top = {"id": self.seq, "name": "main", "line": self.line, "column": 0, "source": source}
        self.answer(request, {"stackFrames": [top, {**top, "id": self.seq + 1, "line": 9}]})

    def do_scopes(self, request: dict[str, Any], _: dict[str, Any]) -> None:
        scopes: list[dict[str, Any]]
        scopes = [{"name": "Locals", "variablesReference": 5, "expensive": False}]
        if "two-scopes" in HABITS:
            scopes[0]["presentationHint"] = "locals"
            scopes.insert(0, {"name": "Arguments", "variablesReference": 7, "expensive": False})
        self.answer(request, {"scopes": scopes})

    def do_variables(self, request: dict[str, Any], arguments: dict[str, Any]) -> None:
        """The second one has 3 named children and 300 indexed ones."""
        if arguments["variablesReference"] == 7:
            given = [{"name": one, "value": "0", "variablesReference": 0} for one in ("a", "n")]
            self.answer(request, {"variables": given})
            return
        if arguments["variablesReference"] == 5:
            many = {"variablesReference": 6, "namedVariables": 3, "indexedVariables": 300}
            hint = "virtual" if "wrong" in HABITS else None
            told = [
                {"name": "n", "value": "1", "type": None, "variablesReference": 0},
                {"name": "many", "value": "", **many, "presentationHint": hint},
            ]
            self.answer(request, {"variables": told})
            return
        kind = arguments.get("filter")
        start, count = arguments.get("start") or 0, arguments.get("count") or 300
        if "pages-nothing" in HABITS or kind != "indexed":  # paging is for what is indexed
            start, count = 0, 300
        named = [f"name{i}" for i in range(3)]
        indexed = [f"[{i}]" for i in range(300)][start : start + count]
        names = {"named": named, "indexed": indexed}.get(kind or "", named + indexed)
        told = [{"name": name, "value": name, "variablesReference": 0} for name in names]
        self.answer(request, {"variables": told})

    def do_evaluate(self, request: dict[str, Any], arguments: dict[str, Any]) -> None:
        if "commands" in HABITS and arguments["context"] == "repl":
            self.answer(request, {"result": "a command has run", "variablesReference": 0})
        elif "commands" in HABITS:
            self.answer(request, {"result": "1", "variablesReference": 0})
        elif arguments["expression"] == "$_exitsignal":
            result = "11" if "by-a-signal" in HABITS else "void"
            self.answer(request, {"result": result, "variablesReference": 0})
        elif "large" in HABITS:
            self.answer(request, {"result": "x" * 5_000_000, "variablesReference": 0})
        else:
            self.answer(request, error="could not find symbol value for nosuch")

    def do_next(self, request: dict[str, Any], _: dict[str, Any]) -> None:
        if "refuses-steps" in HABITS:
            self.answer(request, error="cannot step now")
            return
        self.answer(request)
        self.go_on()

    def do_step_back(self, request: dict[str, Any], asked: dict[str, Any]) -> None:
        if asked.get("granularity") == "statement":
            self.answer(request, error="I go back by lines")
            return
        self.answer(request)
        self.stand("step", max(1, self.line - 1))

    def do_reverse_continue(self, request: dict[str, Any], _: dict[str, Any]) -> None:
        self.answer(request)
        self.stand("entry", 1)

    def do_restart_frame(self, request: dict[str, Any], asked: dict[str, Any]) -> None:
        self.answer(request)
        self.stand("restart", 1 + asked["frameId"] % 2)

    def stand(self, reason: str, line: int) -> None:
        self.line = line
        self.event("stopped", {"reason": reason, "threadId": 1, "allThreadsStopped": True})

    def do_set_expression(self, request: dict[str, Any], asked: dict[str, Any]) -> None:
        if asked["expression"] != "n":
            self.answer(request, error="not an lvalue")
        else:
            self.answer(request, {"value": asked["value"], "type": "int"})

    def do_continue(self, request: dict[str, Any], _: dict[str, Any]) -> None:
        self.answer(request, {} if "nulls" not in HABITS else None)
        self.stands = False
        if "is-sent-sigstop" in HABITS:
            told = {"reason": "exception", "description": "signal SIGSTOP", "threadId": 1}
            self.event("stopped", told)
        elif "stops-late" in HABITS and self.pauses:
            self.stop_for_pause()
        elif "runs-on" not in HABITS:
            self.go_on()

    def do_pause(self, request: dict[str, Any], _: dict[str, Any]) -> None:
        self.answer(request)
        self.pauses += 1
        if "stops-late" in HABITS:  # as one that interrupts a call of C code: once for each pause
            if self.pauses == 1:
                threading.Timer(1, self.stop_for_pause).start()
            return
        if "forgets-a-pause" in HABITS and self.pauses == 1:
            return
        self.stands = True
        if "pauses-by-signal" not in HABITS:
            self.event("stopped", {"reason": "pause", "threadId": 1})
            return
        told = {"reason": "exception", "description": "signal SIGSTOP", "threadId": 1}
        self.event("stopped", told)

    def stop_for_pause(self) -> None:
        self.pauses -= 1
        self.stands = True
        self.event("stopped", {"reason": "pause", "threadId": 1})

    def do_disconnect(self, request: dict[str, Any], _: dict[str, Any]) -> None:
        if "clings" in HABITS:
            time.sleep(3600)
        self.answer(request)
        sys.exit(0)


def read() -> dict[str, Any] | None:
    """The next request; None at the end of the conversation."""
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return json.loads(sys.stdin.buffer.read(length)) if length else None


if __name__ == "__main__":
    Adapter().run()
