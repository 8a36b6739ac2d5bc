"""What the client receives without asking, and what it may ask: shapes of DAP, no state."""

from __future__ import annotations

from relay.perl.hook import Reply
from relay.perl.inspection import Body
from relay.perl.numbering import Numbering
from relay.perl.program import PerlProgram
from relay.perl.requests import Launch
from relay.perl.run import PerlRun

THREAD = 1

CAPABILITIES: Body = {
    "supportsConfigurationDoneRequest": True,
    "supportsEvaluateForHovers": True,
    "supportsStepInTargetsRequest": False,
    "supportsSetVariable": True,
    "supportsSetExpression": True,
    "supportsConditionalBreakpoints": True,
    "supportsFunctionBreakpoints": True,
    "supportsHitConditionalBreakpoints": True,
    "supportsExceptionBreakpoints": True,
    "supportsExceptionInfoRequest": True,
    "supportsDataBreakpoints": False,
    "supportsLogPoints": True,
    "supportsCompletionsRequest": True,
    "completionTriggerCharacters": ["$", "@", "%", ":"],
    "supportsTerminateRequest": True,
    "supportTerminateDebuggee": True,
    "supportsRestartRequest": True,
    "exceptionBreakpointFilters": [
        {"filter": "uncaught", "label": "Uncaught die", "default": True},
        {"filter": "caught", "label": "Caught die", "default": False},
    ],
}


def stopped(message: Reply, *, by_name: bool) -> Body:
    """With `by_name`, a breakpoint on a sub is among those that stopped it."""
    body = {
        "reason": "function breakpoint" if by_name else message["reason"],
        "threadId": THREAD,
        "preserveFocusHint": False,
        "allThreadsStopped": True,
    }
    if message["reason"] == "breakpoint":
        body["hitBreakpointIds"] = message["ids"]
    if message["reason"] == "exception":
        body["text"] = message["text"]
        body["description"] = "Uncaught die" if not message["caught"] else "Caught die"
    return body


def attached(hello: Reply, *, local: bool) -> Body:
    return {
        "name": hello["program"],
        "systemProcessId": hello["pid"],
        "isLocalProcess": local,
        "startMethod": "attach",
    }


def launched(program: PerlProgram, launch: Launch) -> Body:
    return {
        "name": launch.program,
        "systemProcessId": program.pid,
        "isLocalProcess": True,
        "startMethod": "launch",
    }


def logged(run: PerlRun, message: Reply, numbering: Numbering) -> Body:
    return {
        "category": "console",
        "output": message["text"] + "\n",
        "source": {"path": run.path_here(message["file"])},
        "line": numbering.client_line(message["line"]),
        "column": 0,
    }
