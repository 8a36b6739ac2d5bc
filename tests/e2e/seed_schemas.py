"""The shapes of `data` in the answers of the API document's 23 endpoints, as it has them.

Those with a schema in its section 4.2 are transcribed from there, the others from the
examples of section 3. Null is allowed where an example shows null, and where there is
nothing to show: a session that was not launched has no program, location or exit code.
Fields beyond these are allowed, as in the document.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
FLAG: Schema = {"type": "boolean"}
TIME: Schema = {
    "type": "string",
    "format": "date-time",
    "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$",
}
SESSION_ID: Schema = {"type": "string", "pattern": "^sess_[0-9a-f]{8}$"}
BREAKPOINT_ID: Schema = {"type": "string", "pattern": "^bp_[1-9][0-9]*$"}
CURSOR: Schema = {"type": "string", "pattern": "^[A-Za-z0-9_=-]+$"}


def one_of(*words: str) -> Schema:
    return {"type": "string", "enum": list(words)}


def exactly(value: Any) -> Schema:
    return {"const": value}


def listing(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def maybe(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def record(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    properties = {**required, **(optional or {})}
    return {"type": "object", "properties": properties, "required": list(required)}


STATUS = one_of("created", "launching", "running", "paused", "terminated", "failed")
STOP_REASON = one_of("breakpoint", "step", "exception", "pause", "entry")

LOCATION = record({"path": TEXT, "line": WHOLE, "column": WHOLE, "function": TEXT})
CONFIG = record({"project_root": TEXT, "python_path": TEXT, "stop_on_entry": FLAG})
LAUNCHED = record({"args": listing(TEXT), "cwd": TEXT}, {"script": TEXT, "module": TEXT})
PROGRAM = record(
    {"args": listing(TEXT), "cwd": TEXT, "env": {"type": "object"}},
    {"script": TEXT, "module": TEXT},
)
EXCEPTION = record({"type": TEXT, "message": TEXT, "traceback": TEXT})

CREATED_SESSION = record(
    {
        "session_id": SESSION_ID,
        "name": TEXT,
        "status": exactly("created"),
        "created_at": TIME,
        "expires_at": TIME,
        "config": CONFIG,
    }
)
SESSION = record(
    {
        "session_id": SESSION_ID,
        "name": TEXT,
        "status": STATUS,
        "stop_reason": maybe(STOP_REASON),
        "created_at": TIME,
        "expires_at": TIME,
        "config": CONFIG,
        "program": maybe(PROGRAM),
        "current_location": maybe(LOCATION),
        "stopped_thread_id": maybe(WHOLE),
        "breakpoint_count": WHOLE,
        "exception": maybe(EXCEPTION),
    }
)
SESSION_LIST = record(
    {
        "items": listing(
            record(
                {
                    "session_id": SESSION_ID,
                    "name": TEXT,
                    "status": STATUS,
                    "created_at": TIME,
                    "program": maybe(TEXT),
                }
            )
        ),
        "total": WHOLE,
        "offset": WHOLE,
        "limit": WHOLE,
        "has_more": FLAG,
    }
)
DELETED_SESSION = record(
    {
        "session_id": SESSION_ID,
        "deleted": exactly(True),
        "final_status": STATUS,
        "exit_code": maybe(WHOLE),
        "runtime_seconds": NUMBER,
    }
)

HEALTH = record(
    {
        "status": exactly("healthy"),
        "version": TEXT,
        "uptime_seconds": NUMBER,
        "active_sessions": WHOLE,
        "debugpy_available": FLAG,
    }
)
INFO = record(
    {
        "name": TEXT,
        "version": TEXT,
        "api_version": exactly("v1"),
        "python_version": TEXT,
        "debugpy_version": TEXT,
        "capabilities": record(
            {
                "supports_conditional_breakpoints": FLAG,
                "supports_hit_conditional_breakpoints": FLAG,
                "supports_log_points": FLAG,
                "supports_exception_breakpoints": FLAG,
                "supports_function_breakpoints": FLAG,
                "supports_evaluate": FLAG,
                "supports_set_variable": FLAG,
                "supports_restart": FLAG,
                "supports_attach": FLAG,
                "max_sessions": WHOLE,
            }
        ),
        "endpoints": listing(TEXT),
    }
)

LAUNCH = record({"session_id": SESSION_ID, "status": STATUS, "pid": WHOLE, "program": LAUNCHED})
ATTACH = record(
    {
        "session_id": SESSION_ID,
        "status": STATUS,
        "attached": exactly(True),
        "pid": WHOLE,
        "host": TEXT,
        "port": WHOLE,
    }
)

BREAKPOINT = {
    "id": BREAKPOINT_ID,
    "verified": FLAG,
    "source": record({"path": TEXT}),
    "line": WHOLE,
    "condition": maybe(TEXT),
    "hit_condition": maybe(TEXT),
    "log_message": maybe(TEXT),
    "enabled": FLAG,
}
BREAKPOINT_BATCH = record(
    {"breakpoints": listing(record({**BREAKPOINT, "message": maybe(TEXT)}, {"hit_count": WHOLE}))}
)
BREAKPOINT_LIST = record(
    {
        "breakpoints": listing(record({**BREAKPOINT, "hit_count": WHOLE})),
        "total": WHOLE,
    }
)
DELETED_BREAKPOINT = record({"id": BREAKPOINT_ID, "deleted": exactly(True)})

CONTINUED = record(
    {"session_id": SESSION_ID, "status": STATUS, "continued": exactly(True)},
)
PAUSED = {
    "session_id": SESSION_ID,
    "status": exactly("paused"),
    "stop_reason": STOP_REASON,
    "current_location": LOCATION,
}
PAUSE = record({**PAUSED, "stop_reason": exactly("pause")})
STEP = record({**PAUSED, "stop_reason": exactly("step"), "thread_id": WHOLE})
STEP_OUT = record(
    {
        **PAUSED,
        "stop_reason": exactly("step"),
        "thread_id": WHOLE,
        "return_value": record({"type": TEXT, "value": TEXT}),
    }
)

THREADS = record(
    {
        "threads": listing(
            record(
                {
                    "id": WHOLE,
                    "name": TEXT,
                    "status": one_of("running", "paused"),
                    "is_current": FLAG,
                }
            )
        ),
        "stopped_thread_id": maybe(WHOLE),
    }
)
STACK_TRACE = record(
    {
        "thread_id": WHOLE,
        "frames": listing(
            record(
                {
                    "id": WHOLE,
                    "name": TEXT,
                    "source": record({"path": TEXT, "name": TEXT}),
                    "line": WHOLE,
                    "column": WHOLE,
                    "module_name": TEXT,
                    "presentation_hint": one_of("normal", "label", "subtle"),
                }
            )
        ),
        "total_frames": WHOLE,
    }
)
SCOPES = record(
    {
        "frame_id": WHOLE,
        "scopes": listing(
            record(
                {
                    "name": TEXT,
                    "presentation_hint": one_of("locals", "globals", "registers"),
                    "variables_reference": WHOLE,
                    "named_variables": WHOLE,
                    "indexed_variables": WHOLE,
                    "expensive": FLAG,
                }
            )
        ),
    }
)
VARIABLE_HINT = record({}, {"kind": TEXT, "attributes": listing(TEXT), "visibility": TEXT})
VARIABLES = record(
    {
        "variables_reference": WHOLE,
        "variables": listing(
            record(
                {
                    "name": TEXT,
                    "value": TEXT,
                    "type": TEXT,
                    "variables_reference": WHOLE,
                    "named_variables": WHOLE,
                    "indexed_variables": WHOLE,
                },
                {"presentation_hint": VARIABLE_HINT, "truncated": FLAG},
            )
        ),
    }
)
EVALUATION = {
    "anyOf": [
        record(
            {
                "result": TEXT,
                "type": TEXT,
                "variables_reference": WHOLE,
                "named_variables": WHOLE,
                "indexed_variables": WHOLE,
            },
            {"presentation_hint": maybe(record({}, {"kind": TEXT}))},
        ),
        record({"result": {"type": "null"}, "type": {"type": "null"}, "error": TEXT}),
    ]
}

OUTPUT = record(
    {
        "entries": listing(
            record(
                {
                    "category": one_of("stdout", "stderr", "console"),
                    "output": TEXT,
                    "timestamp": TIME,
                    "source": maybe(TEXT),
                    "line": maybe(WHOLE),
                }
            )
        ),
        "next_cursor": CURSOR,
        "has_more": FLAG,
    }
)
STOPPED = record(
    {
        "reason": STOP_REASON,
        "description": TEXT,
        "thread_id": WHOLE,
        "preserve_focus_hint": FLAG,
        "text": maybe(TEXT),
        "all_threads_stopped": FLAG,
    },
    {
        "hit_breakpoint_ids": listing(BREAKPOINT_ID),
        "exception_info": record(
            {
                "exception_id": TEXT,
                "description": TEXT,
                "break_mode": TEXT,
                "details": record(
                    {
                        "type_name": TEXT,
                        "full_type_name": TEXT,
                        "message": TEXT,
                        "stack_trace": TEXT,
                    }
                ),
            }
        ),
    },
)
EVENT_BODIES: Mapping[str, Schema] = {
    "stopped": STOPPED,
    "continued": record({"thread_id": WHOLE, "all_threads_continued": FLAG}),
    "terminated": record({"exit_code": maybe(WHOLE), "restart": FLAG}, {"error": TEXT}),
    "output": record(
        {
            "category": one_of("stdout", "stderr", "console", "important", "telemetry"),
            "output": TEXT,
            "source": maybe(TEXT),
            "line": maybe(WHOLE),
            "column": maybe(WHOLE),
        }
    ),
    "breakpoint": record(
        {
            "reason": one_of("changed", "new", "removed"),
            "breakpoint": record(
                {"id": BREAKPOINT_ID, "verified": FLAG, "line": WHOLE, "message": maybe(TEXT)}
            ),
        }
    ),
    "thread": record({"reason": one_of("started", "exited"), "thread_id": WHOLE}),
    "module": record(
        {
            "reason": TEXT,
            "module": record(
                {
                    "id": {"type": ["integer", "string"]},
                    "name": TEXT,
                    "path": maybe(TEXT),
                    "is_optimized": FLAG,
                    "is_user_code": FLAG,
                    "version": maybe(TEXT),
                }
            ),
        }
    ),
}
"""Section 6.1: the bodies of the event types."""

EVENTS = record(
    {
        "events": listing(
            {
                "anyOf": [
                    record({"seq": WHOLE, "type": exactly(kind), "timestamp": TIME, "body": body})
                    for kind, body in EVENT_BODIES.items()
                ]
            }
        ),
        "next_cursor": CURSOR,
        "has_more": FLAG,
        "session_status": STATUS,
    }
)

SHAPES: Mapping[tuple[str, str], Schema] = MappingProxyType(
    {
        ("GET", "/health"): HEALTH,
        ("GET", "/info"): INFO,
        ("POST", "/sessions"): CREATED_SESSION,
        ("GET", "/sessions"): SESSION_LIST,
        ("GET", "/sessions/{session_id}"): SESSION,
        ("DELETE", "/sessions/{session_id}"): DELETED_SESSION,
        ("POST", "/sessions/{session_id}/launch"): LAUNCH,
        ("POST", "/sessions/{session_id}/attach"): ATTACH,
        ("POST", "/sessions/{session_id}/breakpoints"): BREAKPOINT_BATCH,
        ("GET", "/sessions/{session_id}/breakpoints"): BREAKPOINT_LIST,
        ("DELETE", "/sessions/{session_id}/breakpoints/{breakpoint_id}"): DELETED_BREAKPOINT,
        ("POST", "/sessions/{session_id}/continue"): CONTINUED,
        ("POST", "/sessions/{session_id}/pause"): PAUSE,
        ("POST", "/sessions/{session_id}/step-over"): STEP,
        ("POST", "/sessions/{session_id}/step-into"): STEP,
        ("POST", "/sessions/{session_id}/step-out"): STEP_OUT,
        ("GET", "/sessions/{session_id}/threads"): THREADS,
        ("GET", "/sessions/{session_id}/stacktrace"): STACK_TRACE,
        ("GET", "/sessions/{session_id}/scopes"): SCOPES,
        ("GET", "/sessions/{session_id}/variables"): VARIABLES,
        ("POST", "/sessions/{session_id}/evaluate"): EVALUATION,
        ("GET", "/sessions/{session_id}/output"): OUTPUT,
        ("GET", "/sessions/{session_id}/events"): EVENTS,
    }
)
"""Method and path of every endpoint of section 3, with the shape of its `data`."""
