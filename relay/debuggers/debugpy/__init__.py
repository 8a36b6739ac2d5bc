"""Python programs under debugpy, started on the best of three rungs.

launch.py       argv, environment and DAP arguments of each rung
interpreter.py  what a Python executable says about itself
bootstrap.py    runs in the debuggee (fast rung): starts pydevd, mends what it would change
probe/          runs in the debuggee: stack, values, pages as JSON, within a budget
probe_calls.py  asks it: how a call is spelled, and how it is sent to where it is not
about.py        the debugpy that the relay itself carries
"""

from __future__ import annotations

from relay.debuggers.debugpy.about import debugpy_version as debugger_version

__all__ = ["debugger_version"]
