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
    "path": (True, 1, 1.5, [], {}, "", "a\0b", "x" * 4097),
    "flag": (1, 0, 1.0, "true", "", [], {}),
    "whole": (True, "3", "", 1.5, 3.0, [], {}),
    "seconds": (True, "3", "", [], {}, -1, -0.001, 300.1, BIG),
    "texts": (True, 1, "x", {}, [1], [None], [["x"]], ["a\0b"]),
    "mapping": (True, 1, "x", [], {"A": 1}, {"A": None}, {"A": "\0"}, {"A\0": "x"}, {"A=B": "x"}),
    "choice": (True, 1, "", "other", [], {}),
    "choices": (True, 1, "locals", {}, ["other"], [1]),
    "exceptions": (1, 0, "", "true", "always", [], {}),
    "source": (True, 1, "x", [], {}, {"path": 1}, {"path": ""}, {"path": None}),
    "batch": (True, 1, "x", {}, [], [1], [None], [{}]),
}
"""Values that a field of that kind refuses."""

Fields = Mapping[str, str]
"""A field's name and its kind; `?` behind the kind: null says the same as absence."""

WAITING: Fields = {"wait": "seconds?", "include": "choices", "max_chars": "whole"}
THREAD: Fields = {"thread_id": "whole?"}
BREAKPOINT: Fields = {
    "source": "source?",
    "file": "path?",
    "line": "whole",
    "condition": "text?",
    "hit_condition": "text?",
    "log_message": "text?",
    "enabled": "flag",
}
INPUT: Fields = {"input": "text?", "eof": "flag"}
STEP: Fields = {**WAITING, **THREAD, "granularity": "choice"}

BODIES: Mapping[tuple[str, str], Fields] = {
    ("POST", "/sessions"): {
        "name": "name?",
        "project_root": "path?",
        "python_path": "path?",
        "adapter": "choice",
        "timeout_minutes": "whole?",
        "stop_on_entry": "flag",
    },
    ("POST", "/sessions/{session_id}/launch"): {
        **WAITING,
        "script": "path?",
        "module": "text?",
        "args": "texts",
        "cwd": "path?",
        "env": "mapping",
        "stop_on_entry": "flag?",
        "stop_on_exception": "exceptions",
        "console": "choice",
        "python_args": "texts",
        "launch_mode": "choice?",
    },
    ("POST", "/sessions/{session_id}/attach"): {
        "pid": "whole?",
        "host": "text",
        "port": "whole?",
        "connect_timeout": "whole",
    },
    ("POST", "/sessions/{session_id}/breakpoints"): {
        **BREAKPOINT,
        "line": "whole?",
        "breakpoints": "batch?",
    },
    ("POST", "/sessions/{session_id}/continue"): {**WAITING, **THREAD},
    ("POST", "/sessions/{session_id}/pause"): {**WAITING, **THREAD},
    ("POST", "/sessions/{session_id}/step-over"): STEP,
    ("POST", "/sessions/{session_id}/step-into"): STEP,
    ("POST", "/sessions/{session_id}/step-out"): {**WAITING, **THREAD},
    ("POST", "/sessions/{session_id}/evaluate"): {
        "expression": "text",
        "frame_id": "whole",
        "context": "choice",
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
    ("/sessions/{session_id}/evaluate", "expression", ""),
    ("/sessions/{session_id}/evaluate", "expression", "x" * 1_000_001),
    ("/sessions/{session_id}/evaluate", "frame_id", -1),
)
"""Right kinds, but too small, too large or too many: route, field, value."""


def wrong_values(kind: str) -> tuple[Any, ...]:
    """Everything that a field of this kind refuses."""
    values = WRONG[kind.removesuffix("?")]
    return values if kind.endswith("?") else (*values, None)
