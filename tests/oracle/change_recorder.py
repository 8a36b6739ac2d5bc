"""Every change of one place, by looking at it at every event of a plain `sys.settrace` run.

Run by the interpreter under test, without the relay: FILE LINE EXPRESSION MODULE ARGUMENTS…
From the first time at that line on it writes down old, new, line and function of each change, as
JSON lines at the end. Slow, and knows nothing of how the relay does it.
"""

from __future__ import annotations

import ast
import json
import os
import runpy
import sys
from typing import Any

NOTHING = object()
PLAIN = (int, float, bool, str, bytes, type(None), tuple, list, dict)


class Recorder:
    """One place, and what has become of it."""

    def __init__(self, file: str, line: int, expression: str) -> None:
        self.file, self.line, self.expression = file, line, expression
        self.read: Any = None
        self.frame: Any = None  # whose local it is
        self.last: Any = NOTHING
        self.lines: dict[Any, int] = {}
        self.found: list[dict[str, Any]] = []

    def __call__(self, frame: Any, event: str, arg: Any) -> Any:
        if self.read is not None:
            self.look(frame, event)
        elif event == "line" and (frame.f_code.co_filename, frame.f_lineno) == (
            self.file,
            self.line,
        ):
            self.begin(frame)
        if event == "line":
            self.lines[frame] = frame.f_lineno
        elif event == "return":
            self.lines.pop(frame, None)
        return self

    def begin(self, frame: Any) -> None:
        node = ast.parse(self.expression, mode="eval").body
        space = {**frame.f_globals, **frame.f_locals}
        if isinstance(node, ast.Name):
            name = node.id
            if name in frame.f_code.co_varnames:
                self.frame = frame
                self.read = lambda: frame.f_locals.get(name, NOTHING)
            else:
                self.read = lambda: frame.f_globals.get(name, NOTHING)
        elif isinstance(node, ast.Attribute):
            owner, name = eval(ast.unparse(node.value), space), node.attr
            self.read = lambda: getattr(owner, name, NOTHING)
        else:
            assert isinstance(node, ast.Subscript)
            owner, key = eval(ast.unparse(node.value), space), ast.literal_eval(node.slice)
            self.read = lambda: owner.get(key, NOTHING)
        self.last = self.read()

    def look(self, frame: Any, event: str) -> None:
        now = self.read()
        if not equal(self.last, now):
            self.note(now, frame, event)
        if frame is self.frame and event == "return":
            self.write(self.last, NOTHING, frame.f_lineno, frame, ended=True)
            self.read = lambda: NOTHING
            self.frame, self.last = None, NOTHING

    def note(self, now: Any, frame: Any, event: str) -> None:
        """At a line the one before it has written; at a call, the caller's; else the present one."""
        line = frame.f_lineno
        if event == "call" or (event == "line" and frame not in self.lines):
            frame = frame.f_back
            line = frame.f_lineno
        elif event == "line":
            line = self.lines[frame]
        while frame.f_code.co_filename.startswith("<"):
            frame = frame.f_back
            line = frame.f_lineno
        self.write(self.last, now, line, frame)
        self.last = now

    def write(self, old: Any, new: Any, line: int, frame: Any, ended: bool = False) -> None:
        texts = [None if value is NOTHING else repr(value) for value in (old, new)]
        name = os.path.basename(frame.f_code.co_filename)
        self.found.append(
            {"change": texts, "at": [name, line, frame.f_code.co_name], "ended": ended}
        )


def equal(one: Any, other: Any) -> bool:
    if one is other:
        return True
    return type(one) is type(other) and type(one) in PLAIN and repr(one) == repr(other)


def main() -> None:
    file, line, expression, module, *arguments = sys.argv[1:]
    recorder = Recorder(file, int(line), expression)
    out = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.path[0] = os.getcwd()
    sys.argv = [module, *arguments]
    sys.settrace(recorder)
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit:
        pass
    finally:
        sys.settrace(None)
    with os.fdopen(out, "w") as stream:
        stream.writelines(json.dumps(one) + "\n" for one in recorder.found)


main()
