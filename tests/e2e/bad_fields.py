"""Every field of every body, the kind of value that it takes, and values of wrong kinds.

Knows the promise, not the models: a test holds this table against the routes, so a new
field must be added here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BIG = 10**30

WRONG: Mapping[str, tuple[Any, ...]] = {
    "text": (True, 1, 1.5, [], {}, "a\0b"),
    "name": (True, 1, 1.5, [], {}, "", "a\0b", "x" * 256),
    "holder": (True, 1, 1.5, [], {}, "", "a\0b", "x" * 101),
    "path": (True, 1, 1.5, [], {}, "", "a\0b", "x" * 4097),
    "flag": (1, 0, 1.0, "true", "", [], {}),
    "whole": (True, "3", "", 1.5, 3.0, [], {}),
    "seconds": (True, "3", "", [], {}, -1, -0.001, 300.1, BIG),
    "texts": (True, 1, "x", {}, [1], [None], [["x"]], ["a\0b"]),
    "mapping": (True, 1, "x", [], {"A": 1}, {"A": None}, {"A": "\0"}, {"A\0": "x"}, {"A=B": "x"}),
    "choice": (True, 1, "", "other", [], {}),
    "adapter": (True, 1, "", "Not A Name", [], {}),
    "choices": (True, 1, "locals", {}, ["other"], [1]),
    "function": (True, 1, "", "1x", "a b", "a..b", ".a", [], {}, "a\0b"),
    "profile": (True, 1, "", "a b", "a/b", "../x", ".hidden", [], {}, "x" * 256),
    "owner": (True, 1, "", [], {}, "a\0b", "x" * 201),
    "filters": (True, 1, "raised", {}, ["other"], [1]),
    "types": (True, 1, "ValueError", {}, [1], [""], ["a b"], ["1x"]),
    "exceptions": (1, 0, "", "true", "always", [], {}),
    "mappings": (True, 1, "x", {}, [1], [None], [{}], [{"local_root": "a", "remote_root": "b"}]),
    "source": (True, 1, "x", [], {}, {"path": 1}, {"path": ""}, {"path": None}),
    "items": (True, 1, "x", {}, [1], [None], [{}]),
    "limits": (True, 1, "x", [], {"disk": 1}, {"cpu_seconds": "1"}, {"open_files": 1.5}),
    "object": (True, 1, "x", [], {"surprise": 1}),
    "places": (True, 1, "", {}, [1], [None], [""], "a\0b"),
    "captures": (True, 1, "x", {}, [], [1], [None], [""], ["a\0b"], ["1"] * 21, ["x" * 1001]),
    "batch": (True, 1, "x", {}, [], [1], [None], [{}]),
}
"""Values that a field of that kind refuses."""

Fields = Mapping[str, str]
"""A field's name and its kind. What null means, `test_bodies.py` asks the models."""

WAITING: Fields = {
    "wait": "seconds",
    "include": "choices",
    "max_chars": "whole",
    "reveal": "flag",
}
THREAD: Fields = {"thread_id": "whole"}
BREAKPOINT: Fields = {
    "source": "source",
    "file": "path",
    "line": "whole",
    "condition": "text",
    "hit_condition": "text",
    "log_message": "text",
    "capture": "captures",
    "reveal": "flag",
    "enabled": "flag",
}
INPUT: Fields = {"input": "text", "eof": "flag"}
STEP: Fields = {**WAITING, **THREAD, "granularity": "choice"}

LAUNCH: Fields = {
    **WAITING,
    "script": "path",
    "module": "text",
    "args": "texts",
    "cwd": "path",
    "env": "mapping",
    "stop_on_entry": "flag",
    "stop_on_exception": "exceptions",
    "console": "choice",
    "python_args": "texts",
    "launch_mode": "choice",
    "stdin_inputs": "texts",
    "record": "texts",
    "debug_subprocesses": "flag",
    "standby": "flag",
    "limits": "limits",
}

BODIES: Mapping[tuple[str, str], Fields] = {
    ("POST", "/sessions"): {
        "name": "name",
        "project_root": "path",
        "python_path": "path",
        "adapter": "adapter",
        "timeout_minutes": "whole",
        "stop_on_entry": "flag",
        "breakpoints": "items",
        "breakpoint_profiles": "texts",
        "exception_breakpoints": "object",
        "launch": "object",
        "attach": "object",
        "mode": "choice",
        "pid": "whole",
        "host": "text",
        "port": "whole",
    },
    ("PATCH", "/sessions/{session_id}"): {
        "name": "name",
        "project_root": "path",
        "python_path": "path",
        "timeout_minutes": "whole",
        "stop_on_entry": "flag",
    },
    ("POST", "/sessions/{session_id}/clone"): {"name": "name"},
    ("POST", "/sessions/import"): {
        "format": "whole",
        "name": "name",
        "adapter": "adapter",
        "config": "object",
        "launch": "object",
        "attach": "object",
        "breakpoints": "items",
        "exception_breakpoints": "object",
        "watches": "items",
    },
    ("POST", "/sessions/{session_id}/hold"): {"by": "holder"},
    ("POST", "/sessions/{session_id}/launch"): LAUNCH,
    ("POST", "/sessions/{session_id}/restart"): LAUNCH,
    ("POST", "/sessions/{session_id}/attach"): {
        "pid": "whole",
        "host": "text",
        "port": "whole",
        "connect_timeout": "whole",
        "path_mappings": "mappings",
    },
    ("POST", "/sessions/{session_id}/breakpoints"): {
        **BREAKPOINT,
        "line": "whole",
        "function": "function",
        "pending": "flag",
        "breakpoints": "batch",
        "owner": "owner",
    },
    ("PATCH", "/sessions/{session_id}/breakpoints/{breakpoint_id}"): {
        "line": "whole",
        "condition": "text",
        "hit_condition": "text",
        "log_message": "text",
        "capture": "captures",
        "reveal": "flag",
        "enabled": "flag",
    },
    ("POST", "/sessions/{session_id}/exception-breakpoints"): {
        "filters": "filters",
        "types": "types",
        "condition": "text",
        "only_for": "filters",
    },
    ("POST", "/breakpoint-profiles"): {"name": "profile", "breakpoints": "items"},
    ("PUT", "/breakpoint-profiles/{name}"): {"breakpoints": "items"},
    ("POST", "/sessions/{session_id}/hang-report"): {
        **THREAD,
        "frames": "whole",
        "locals": "flag",
        "tasks": "whole",
        "max_chars": "whole",
        "reveal": "flag",
    },
    ("POST", "/sessions/{session_id}/continue"): {**WAITING, **THREAD},
    ("POST", "/sessions/{session_id}/pause"): {**WAITING, **THREAD},
    ("POST", "/sessions/{session_id}/step-over"): STEP,
    ("POST", "/sessions/{session_id}/step-into"): {**STEP, "target_id": "whole"},
    ("POST", "/sessions/{session_id}/step-out"): {**WAITING, **THREAD},
    ("POST", "/sessions/{session_id}/step-back"): STEP,
    ("POST", "/sessions/{session_id}/reverse-continue"): {**WAITING, **THREAD},
    ("POST", "/sessions/{session_id}/restart-frame"): {**WAITING, "frame_id": "whole"},
    ("POST", "/sessions/{session_id}/set-expression"): {
        "expression": "text",
        "value": "text",
        "frame_id": "whole",
        "reveal": "flag",
    },
    ("POST", "/sessions/{session_id}/run-to"): {
        **WAITING,
        **THREAD,
        "file": "path",
        "line": "whole",
    },
    ("POST", "/sessions/{session_id}/trace"): {
        "function": "function",
        "file": "path",
        "line": "whole",
        "call": "whole",
        "depth": "whole",
        "condition": "text",
        "until_result": "text",
        "wait": "seconds",
        "max_chars": "whole",
        "tree": "flag",
        "reveal": "flag",
    },
    ("POST", "/sessions/{session_id}/calls"): {
        "focus": "places",
        "from": "function",
        "wait": "seconds",
        "max_chars": "whole",
        "tree": "flag",
    },
    ("POST", "/sessions/{session_id}/data-breakpoints"): {
        "expression": "text",
        "frame_id": "whole",
        "condition": "text",
    },
    ("POST", "/sessions/{session_id}/history"): {
        "expression": "text",
        "frame_id": "whole",
        "limit": "whole",
        "wait": "seconds",
    },
    ("POST", "/sessions/{session_id}/goto"): {
        **WAITING,
        **THREAD,
        "file": "path",
        "line": "whole",
    },
    **{
        ("POST", f"/sessions/{{session_id}}/threads/{{thread_id}}/{verb}"): WAITING
        for verb in ("continue", "pause", "step-over", "step-into", "step-out")
    },
    ("POST", "/sessions/{session_id}/evaluate"): {
        "expression": "text",
        "frame_id": "whole",
        "context": "choice",
        "max_value": "whole",
        "reveal": "flag",
    },
    ("POST", "/sessions/{session_id}/variables/{variables_reference}/set"): {
        "name": "text",
        "value": "text",
        "reveal": "flag",
    },
    ("POST", "/sessions/{session_id}/watch"): {"expression": "text"},
    ("POST", "/sessions/{session_id}/completions"): {
        "text": "text",
        "column": "whole",
        "frame_id": "whole",
    },
    ("POST", "/sessions/{session_id}/hover"): {
        "expression": "text",
        "file": "path",
        "line": "whole",
        "column": "whole",
        "frame_id": "whole",
        "reveal": "flag",
    },
    ("PATCH", "/config"): {
        "max_sessions": "whole",
        "default_timeout_minutes": "whole",
        "output_limit_bytes": "whole",
        "event_limit": "whole",
        "log_level": "choice",
    },
    ("POST", "/sessions/{session_id}/input"): INPUT,
    ("POST", "/sessions/{session_id}/stdin"): INPUT,
}
"""Every route that takes a body."""

OUT_OF_RANGE: tuple[tuple[str, str, Any], ...] = (
    ("/sessions", "timeout_minutes", 0),
    ("/sessions", "timeout_minutes", 1441),
    ("/sessions", "timeout_minutes", -BIG),
    ("/sessions/{session_id}/launch", "module", ""),
    ("/sessions/{session_id}/launch", "module", "x" * 1025),
    ("/sessions/{session_id}/launch", "max_chars", 199),
    ("/sessions/{session_id}/launch", "max_chars", 1_000_001),
    ("/sessions/{session_id}/launch", "env", {"": "x"}),
    ("/sessions/{session_id}/attach", "pid", 0),
    ("/sessions/{session_id}/attach", "pid", -1),
    ("/sessions/{session_id}/attach", "pid", BIG),
    ("/sessions/{session_id}/attach", "port", 0),
    ("/sessions/{session_id}/attach", "port", 65536),
    ("/sessions/{session_id}/attach", "host", ""),
    ("/sessions/{session_id}/attach", "host", "x" * 256),
    ("/sessions/{session_id}/attach", "connect_timeout", 0),
    ("/sessions/{session_id}/attach", "connect_timeout", 301),
    ("/sessions/{session_id}/breakpoints", "line", 0),
    ("/sessions/{session_id}/breakpoints", "line", -5),
    ("/sessions/{session_id}/breakpoints", "line", BIG),
    ("/sessions/{session_id}/breakpoints", "breakpoints", [{"file": "x", "line": 1}] * 10_001),
    ("/sessions/{session_id}/run-to", "line", 0),
    ("/sessions/{session_id}/goto", "line", 0),
    ("/sessions/{session_id}/goto", "line", BIG),
    ("/sessions/{session_id}/evaluate", "expression", ""),
    ("/sessions/{session_id}/evaluate", "expression", "x" * 1_000_001),
    ("/sessions/{session_id}/evaluate", "frame_id", -1),
    ("/sessions/{session_id}/variables/{variables_reference}/set", "name", ""),
    ("/sessions/{session_id}/variables/{variables_reference}/set", "value", ""),
    ("/sessions/{session_id}/watch", "expression", ""),
    ("/sessions/{session_id}/watch", "expression", "x" * 100_001),
    ("/sessions/{session_id}/completions", "column", 0),
    ("/sessions/{session_id}/completions", "frame_id", -1),
    ("/sessions/{session_id}/hover", "expression", ""),
    ("/sessions/{session_id}/hover", "line", 0),
    ("/sessions/{session_id}/hover", "column", -1),
)
"""Right kinds, but too small, too large or too many: route, field, value."""
