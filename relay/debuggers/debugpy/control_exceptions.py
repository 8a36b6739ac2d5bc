"""Exceptions by which Python programs and their test runners steer themselves."""

from __future__ import annotations

CONTROL_EXCEPTIONS = frozenset(
    {
        "SystemExit",
        "builtins.SystemExit",  # the debugger leaves out those with a number only
        "Skipped",
        "builtins.Skipped",  # pytest says that it is a builtin
        "_pytest.outcomes.XFailed",
        "_pytest.outcomes.Exit",
        "unittest.case.SkipTest",
    }
)
"""By their full names: no failures, and not what `stop_on_exception` means."""
