"""The probe: lives in the debuggee, and answers about frames and values in JSON.

It runs inside other people's programs. So it imports the standard library only, supports
Python 3.8 and later, asks types and never objects (`type(x)`, descriptors of the builtin
base, never `x.__class__`, `len(x)` or `isinstance(x, …)`), calls a `__repr__` once and
guarded, runs no property, and leaves no name and no module behind.

Several files, one noun each, and one namespace: in the debuggee the parts are run in the globals
of `entry.py`, and import each other for the type checker only. The relay sends all of them to a
debuggee that cannot read them. Several are named as modules of the standard library are: nothing
may put this directory on a `sys.path`, nor run a file of it as a script.
"""

PARTS = (
    "credentials",
    "secrets",
    "guard",
    "types",
    "text",
    "writers",
    "contents",
    "attributes",
    "frames",
    "scopes",
    "interrupts",
    "references",
    "variables",
    "pages",
    "returns",
    "exceptions",
    "snapshot",
    "expressions",
    "evaluation",
    "assignment",
    "state_targets",
    "dict_watch",
    "static_lookup",
    "modules",
    "events",
    "pydevd_names",
    "patches",
    "suspensions",
    "children",
    "forks",
    "ending",
    "install",
    "steps",
    "resumes",
    "captures",
    "statement_visits",
    "breakpoints",
    "functions",
    "trace_values",
    "trace_record",
    "trace_monitor",
    "tracing",
    "trace_settrace",
    "trace",
    "raises",
    "stops",
    "expected",
    "failures/raised_frames",
    "failures/own_code",
    "failures/imports",
    "failures/listening",
    "failures/remote",
    "failures/rewritten",
    "failures/post_mortem",
    "failures/failing",
    "failures/time_limits",
    "failures/ends_tests",
    "failures/ends_threads",
    "failures/ends_loops",
    "failures/ends_requests",
    "failures/ends_jobs",
    "failures/ends_process",
    "failures/watching",
    "inherit",
    "stdin",
    "threads",
    "awaits",
    "asyncio",
    "trio",
    "tasks",
    "report",
    "bytecode",
    "descriptors",
    "holders",
    "pools",
    "waits",
    "quiet",
    "task_waits",
    "hang",
)
"""In the order in which they are run, from the ground up; `entry` comes last.

Only `writers` needs another, `types`, while it is loaded.
"""
