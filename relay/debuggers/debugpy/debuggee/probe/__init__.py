"""The probe: lives in the debuggee, and answers about frames and values in JSON.

It runs inside other people's programs. So it imports the standard library only, supports
Python 3.8 and later, asks types and never objects (`type(x)`, descriptors of the builtin
base, never `x.__class__`, `len(x)` or `isinstance(x, …)`), calls a `__repr__` once and
guarded, runs no property, and leaves no name and no module behind.

Several files, one noun each, and one namespace: in the debuggee the parts are run in the globals
of `entry.py`, and import each other for the type checker only. The relay sends all of them to a
debuggee that cannot read them. Several are named as modules of the standard library are: nothing
may put these directories on a `sys.path`, nor run a file of them as a script.

hooks/     where the probe takes hold of pydevd and of `sys.monitoring`
process/   code of the program under guard, children and forks, standard input, the end
values/    a value as a variable: type, text, contents, attributes; secrets masked
frames/    frames, their scopes and code; expressions, looked up or run in them
stops/     breakpoints, steps, exceptions; what a stop says of itself; how threads run on
waits/     what threads and tasks wait for, without a stop
trace/     one call, line by line
calls/     the tree of all own calls
writes/    data breakpoints, and the history of a value
failures/  exceptions that end something
"""

PARTS = (
    "values/credentials",
    "values/secrets",
    "process/guard",
    "values/types",
    "values/text",
    "values/writers",
    "values/tables",
    "values/contents",
    "values/attributes",
    "frames/stack_frames",
    "frames/opcodes",
    "frames/code_table",
    "frames/frame_memory",
    "frames/scopes",
    "process/interrupts",
    "values/references",
    "values/variables",
    "values/pages",
    "frames/returns",
    "stops/exceptions",
    "frames/snapshot",
    "frames/expressions",
    "frames/evaluation",
    "frames/assignment",
    "frames/state_targets",
    "writes/dict_watch",
    "frames/static_lookup",
    "frames/modules",
    "hooks/events",
    "hooks/probe_requests",
    "hooks/pydevd_names",
    "hooks/patches",
    "hooks/monitoring_tool",
    "hooks/suspensions",
    "process/children",
    "process/forks",
    "process/ending",
    "hooks/install",
    "stops/entry_stop",
    "stops/steps",
    "stops/direct_questions",
    "hooks/idle_events",
    "hooks/late_loads",
    "stops/own_stops",
    "stops/arrivals",
    "stops/resumes",
    "stops/captures",
    "frames/statement_visits",
    "stops/breakpoints",
    "stops/functions",
    "trace/values",
    "trace/record",
    "trace/monitor",
    "hooks/tracing",
    "trace/holder",
    "trace/settrace",
    "trace/lines",
    "trace/types",
    "trace/copies",
    "trace/conditions",
    "trace/tape",
    "trace/until",
    "trace/until_events",
    "trace/traces",
    "calls/values",
    "calls/tree",
    "calls/stream",
    "calls/scope",
    "calls/record",
    "calls/monitor",
    "calls/settrace",
    "calls/recordings",
    "writes/value_equality",
    "writes/writer_names",
    "writes/write_lines",
    "writes/data_watches",
    "writes/data_changes",
    "writes/data_monitor",
    "writes/data_settrace",
    "writes/data_breakpoints",
    "stops/raises",
    "stops/stop_places",
    "stops/expected",
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
    "failures/ends_logged",
    "failures/ends_process",
    "failures/watching",
    "process/inherit",
    "process/stdin",
    "stops/threads",
    "waits/awaits",
    "waits/asyncio",
    "waits/trio",
    "waits/tasks",
    "frames/report",
    "frames/bytecode",
    "frames/stored_expressions",
    "waits/descriptors",
    "waits/holders",
    "waits/pools",
    "waits/known_waits",
    "waits/thread_waits",
    "waits/quiet",
    "waits/task_waits",
    "waits/hang",
    "writes/write_sites",
    "writes/write_log",
    "writes/write_effects",
    "writes/write_places",
    "writes/write_recorder",
    "writes/write_monitor",
    "writes/write_settrace",
    "writes/write_history",
)
"""In the order in which they are run, from the ground up; `entry` comes last.

A part that needs others while it is loaded, such as the classes that its own inherit from, comes
behind them.
"""
