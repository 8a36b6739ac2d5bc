"""The calls of a module's functions, by a plain trace function: slow, and independent of the relay's.

`slow_calls.py MODULE SCRIPT PROBE` runs the script, and prints as JSON the tree of calls from the
first call of its function `work` on. Texts of values are the probe's; which calls there are, in which
order, of which values and with which outcome, is found out here.
"""

from __future__ import annotations

import dis
import gc
import json
import sys
from typing import Any

FUNCTION = 0x3  # optimized, new locals: no body of a module or class
PARTS = {"<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>"}
SUSPENDING = 0x20 | 0x80 | 0x200
RETURNS = {"RETURN_VALUE", "RETURN_CONST", "RETURN_GENERATOR"}
YIELDS = {"YIELD_VALUE", "YIELD_FROM", "SEND", "RESUME"}
ENDS = (StopIteration, StopAsyncIteration, GeneratorExit)


BLANK: dict[str, Any] = {"function": "", "arguments": [], "outcome": None, "yields": []}


class Tracer:
    """Every frame of the module by itself; frames are kept, so that no two are the same."""

    def __init__(self, module: str, probe: dict[str, Any]) -> None:
        self.module, self.probe = module, probe
        self.root: dict[str, Any] = {"children": []}
        self.open: dict[Any, dict[str, Any]] = {}
        self.on = False

    def global_trace(self, frame: Any, event: str, arg: Any) -> Any:
        if frame.f_code.co_name == "work" and frame.f_globals["__name__"] == "__main__":
            self.on = True
        if not self.on or not self.is_meant(frame):
            return None
        if frame not in self.open:
            self.begin(frame)
        return self.local_trace

    def is_meant(self, frame: Any) -> bool:
        code, name = frame.f_code, frame.f_globals.get("__name__") or ""
        if code.co_flags & FUNCTION != FUNCTION or code.co_name in PARTS:
            return False
        if code.co_filename == "<string>" and frame.f_globals.get("__file__"):
            return False  # it is in no file of the module's: the `__init__` of a dataclass
        return name == self.module or name.startswith(self.module + ".")

    def begin(self, frame: Any) -> None:
        code = frame.f_code
        stars = bool(code.co_flags & 4) + bool(code.co_flags & 8)
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + stars]
        if code.co_argcount and names[0] in ("self", "cls", "mcs"):
            names = names[1:]
        parent = frame.f_back
        while parent is not None and parent not in self.open:
            parent = parent.f_back
        node = {
            "function": f"{code.co_qualname.replace('<locals>.', '')} {code.co_firstlineno}",
            "arguments": [self.probe["brief_named"](n, frame.f_locals[n]) for n in names],
            "children": [],
            "outcome": None,
            "yields": [],
        }
        (self.root if parent is None else self.open[parent])["children"].append(node)
        self.open[frame] = node

    def local_trace(self, frame: Any, event: str, arg: Any) -> Any:
        node = self.open[frame]
        if event == "exception":
            operation = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            if operation != "SEND" or not isinstance(arg[1], StopIteration):  # the end of a wait
                node["error"], node["thrown_at"] = (arg[1], frame.f_lineno), frame.f_lasti
        elif event == "line":
            node["thrown_at"] = None
        elif event == "return" and self.on:
            operation = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            suspends = bool(frame.f_code.co_flags & SUSPENDING)
            is_thrown = arg is None and node.get("thrown_at") == frame.f_lasti
            if suspends and operation in YIELDS and not is_thrown:
                if frame.f_code.co_flags & 0x20:
                    node["yields"].append(self.probe["brief"](arg))
                elif type(arg).__name__ == "async_generator_wrapped_value":
                    node["yields"].append(self.probe["brief"](gc.get_referents(arg)[0]))
            elif operation in RETURNS:
                node["outcome"] = ["result", self.probe["brief"](arg), 0]
            else:
                error, line = node["error"]
                kind = "ended" if isinstance(error, ENDS) else "raised"
                text = self.probe["brief_error"](error)
                node["outcome"] = [kind, text, line if kind == "raised" else 0]
        return self.local_trace


def folded(node: dict[str, Any]) -> list[Any]:
    """[function, arguments, outcome, values given, children with their counts], equal siblings as one,
    in the place of the last of them."""
    rows: list[Any] = []
    for child in map(folded, node["children"]):
        is_raised = child[2] is not None and child[2][0] == "raised"
        found = None if child[2] is None else next((r for r in rows if r[0] == child), None)
        if is_raised and (not rows or rows[-1][0] != child):
            found = None
        if found is not None:
            rows.remove(found)
            rows.append([child, found[1] + 1])
        else:
            rows.append([child, 1])
    names = ("function", "arguments", "outcome", "yields")
    facts = [node[name] for name in names]
    facts[3] = [len(facts[3]), *facts[3][:3]]
    return [*facts, rows]


def main() -> None:
    module, script, probe = sys.argv[1:4]
    namespace: dict[str, Any] = {"__name__": "probe", "__file__": probe}
    with open(probe) as file:
        exec(compile(file.read(), probe, "exec"), namespace)
    namespace["configure"](list(namespace["DEFAULT_PATTERNS"]), True)
    with open(script) as file:
        code = compile(file.read(), script, "exec")
    tracer = Tracer(module, namespace)
    sys.argv = [script]
    sys.setrecursionlimit(5000)
    sys.settrace(tracer.global_trace)
    exec(code, {"__name__": "__main__", "__file__": script})
    sys.settrace(None)
    tracer.on = False
    print("TREE" + json.dumps(folded({**BLANK, **tracer.root})[4]))


if __name__ == "__main__":
    main()
