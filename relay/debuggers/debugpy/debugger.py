"""PythonDebugger: Python programs under debugpy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from relay.debuggers.debugpy.about import SUPPORTED_DEBUGGER, is_supported_debugger
from relay.session.debugger import Ability, Debugger
from relay.session.state.debugger_report import DebuggerReport


@dataclass(frozen=True)
class PythonDebugger(Debugger):
    """debugpy, on the best rung that fits the program's interpreter."""

    def report(self, body: Mapping[str, Any]) -> DebuggerReport:
        found = super().report(body)
        if found.version is None or is_supported_debugger(found.version):
            return found
        untried = f"{found.name} {found.version} is not {SUPPORTED_DEBUGGER}: not tried"
        return replace(found, limitations=(*found.limitations, untried))


PYTHON = PythonDebugger(
    name="python",
    languages=("Python",),
    suffixes=(".py", ".pyw"),
    abilities=frozenset(Ability),
    types={
        "int": "int",
        "float": "float",
        "str": "string",
        "bool": "bool",
        "NoneType": "nil",
        **dict.fromkeys(("list", "tuple", "set", "frozenset", "deque", "array"), "array"),
        **dict.fromkeys(("dict", "OrderedDict", "defaultdict", "Counter", "mappingproxy"), "map"),
    },
    pauses_any_thread=True,
    takes_python_path=True,
)
