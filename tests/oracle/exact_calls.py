"""The calls of a program with exact values, by a plain trace function: slow, and independent of the relay's.

`exact_calls.py FOLDER SCRIPT` runs the script, and prints as JSON the functions of the folder's files that were
called, in the order in which they began: who called them, what they were given and close over, what that
stores at the end, and how they ended. A value is a text of all that it stores, to any depth.
"""

from __future__ import annotations

import collections
import dis
import json
import os
import re
import sys
import types
from typing import Any

FUNCTION = 0x3  # optimized, new locals: no body of a module or class
PARTS = {"<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>"}
RETURNS = {"RETURN_VALUE", "RETURN_CONST", "RETURN_GENERATOR"}
YIELDS = {"YIELD_VALUE", "RESUME"}
ROWS: tuple[Any, ...] = (list, tuple, collections.deque)
ADDRESS = re.compile("0x[0-9a-f]+")


class Writer:
    """One value, with all that it stores."""

    def __init__(self) -> None:
        self.path: list[int] = []

    def text(self, value: Any) -> str:
        if value is None or type(value) in (int, float, bool, bytes, str):
            return ADDRESS.sub("0x", repr(value))
        name = type(value).__qualname__
        if id(value) in self.path:
            return f"<{name} of {len(self.path) - self.path.index(id(value))}>"
        self.path.append(id(value))
        found = f"{name}<{self.inside(value)}>"
        self.path.pop()
        return found

    def inside(self, value: Any) -> str:
        if isinstance(value, type):
            return value.__qualname__
        if isinstance(value, types.ModuleType):
            return value.__name__
        if isinstance(value, types.FunctionType):
            cells = [cell.cell_contents for cell in value.__closure__ or ()]
            return f"{value.__qualname__} {self.text(value.__defaults__)} {self.text(cells)}"
        if isinstance(value, types.MethodType):
            return f"{value.__func__.__qualname__} of {self.text(value.__self__)}"
        if isinstance(value, re.Pattern):
            return f"{value.pattern!r} {value.flags}"
        if isinstance(value, BaseException):
            return f"{self.text(value.args)} {self.stored(value)}"
        for base in ROWS:
            if isinstance(value, base):
                return ", ".join(map(self.text, base.__iter__(value))) + self.stored(value)
        if isinstance(value, dict):
            pairs = [f"{self.text(key)}: {self.text(item)}" for key, item in dict.items(value)]
            return ", ".join(pairs) + self.stored(value)
        if isinstance(value, set | frozenset):
            return ", ".join(sorted(map(self.text, value))) + self.stored(value)
        return self.stored(value)

    def stored(self, value: Any) -> str:
        found = dict(getattr(value, "__dict__", {}))
        for cls in type(value).__mro__:
            for name, member in vars(cls).items():
                if isinstance(member, types.MemberDescriptorType) and hasattr(value, name):
                    found[name] = getattr(value, name)
        return "".join(f" {name}={self.text(found[name])}" for name in sorted(found))


def bound_anew(code: Any) -> set[str]:
    """Variables that a function binds, which need not be what it was given."""
    found: set[str] = set()
    for one in dis.get_instructions(code):
        if "STORE_FAST" in one.opname or "DELETE_FAST" in one.opname or "STORE_DEREF" in one.opname:
            found.update([one.argval] if isinstance(one.argval, str) else one.argval)
    return found


class Tracer:
    """Every frame of the folder's functions by itself; frames are kept while they are open, so that no two are the same."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.realpath(folder) + os.sep
        self.calls: list[dict[str, Any]] = []
        self.open: dict[Any, dict[str, Any]] = {}
        self.ended = 0
        self.is_busy = False

    def global_trace(self, frame: Any, event: str, arg: Any) -> Any:
        code = frame.f_code
        is_meant = (
            not self.is_busy
            and code.co_flags & FUNCTION == FUNCTION
            and code.co_name not in PARTS
            and code.co_filename[0] != "<"
            and os.path.realpath(code.co_filename).startswith(self.folder)
        )
        if not is_meant:
            return None
        if frame not in self.open:
            above = frame.f_back
            while above is not None and above not in self.open:
                above = above.f_back
            call = {
                "function": code.co_qualname.replace("<locals>.", ""),
                "file": os.path.basename(code.co_filename),
                "line": code.co_firstlineno,
                "number": len(self.calls),
                "caller": -1 if above is None else self.open[above]["number"],
                "given": self.arguments(frame),
                "left": [],
                "yielded": [],
                "outcome": None,
                "ended": -1,
            }
            self.calls.append(call)
            self.open[frame] = call
        frame.f_trace_lines = False
        return self.local_trace

    def arguments(self, frame: Any) -> list[list[str]]:
        code = frame.f_code
        flags = bool(code.co_flags & 0x4) + bool(code.co_flags & 0x8)
        names = [*code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + flags]]
        names += [name for name in code.co_freevars if name != "__class__"]
        return [[name, self.text(frame.f_locals[name])] for name in names if name in frame.f_locals]

    def text(self, value: Any) -> str:
        self.is_busy = True
        try:
            return Writer().text(value)
        finally:
            self.is_busy = False

    def local_trace(self, frame: Any, event: str, arg: Any) -> Any:
        call = self.open.get(frame)
        if self.is_busy or call is None:
            return self.local_trace
        if event == "exception":
            call["error"] = arg[1], frame.f_lineno
        elif event == "return":
            operation = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            error, line = call.pop("error", (None, 0))
            if operation in YIELDS and (error is None or arg is not None):
                call["yielded"].append(self.text(arg))
                return self.local_trace
            if operation in RETURNS:
                call["outcome"] = ["returned", self.text(arg), 0]
            else:
                call["outcome"] = ["raised", f"{type(error).__qualname__} {self.text(error)}", line]
            anew = bound_anew(frame.f_code)
            call["left"] = [pair for pair in self.arguments(frame) if pair[0] not in anew]
            call["ended"], self.ended = self.ended, self.ended + 1
            del self.open[frame]
        return self.local_trace


def main() -> None:
    folder, script = sys.argv[1:3]
    with open(script) as file:
        code = compile(file.read(), os.path.abspath(script), "exec")
    tracer = Tracer(folder)
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    sys.argv = [script]
    sys.settrace(tracer.global_trace)
    exec(code, {"__name__": "__main__", "__file__": script})
    sys.settrace(None)
    for call in tracer.calls:
        call.pop("error", None)
    print("\nCALLS" + json.dumps(tracer.calls))


if __name__ == "__main__":
    main()
