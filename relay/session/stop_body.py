"""A stop, as the body of its event. Source: API section 6."""

from __future__ import annotations

from typing import Any

from relay.session.state.stop import Frame, Stop

DESCRIPTIONS = {
    "breakpoint": "Paused on breakpoint",
    "function breakpoint": "Paused on function breakpoint",
    "step": "Paused after step",
    "exception": "Paused on exception",
    "data_breakpoint": "Paused on data breakpoint",
    "pause": "Paused on request",
    "entry": "Paused on entry",
}


def stopped_body(stop: Stop) -> dict[str, Any]:
    """The body of a `stopped` event."""
    body: dict[str, Any] = {
        "reason": stop.reason,
        "description": DESCRIPTIONS.get(stop.reason, stop.description),
        "thread_id": stop.thread_id,
        "preserve_focus_hint": False,
        "text": stop.text,
        "all_threads_stopped": True,
        "hit_breakpoint_ids": stop.hit_breakpoint_ids,
        "location": _place(stop.top),
    }
    if stop.process is not None:
        body["process"] = stop.process
    if stop.reached is not None:
        body["reached"] = stop.reached
    if stop.change is not None:
        body["change"] = stop.change
    if (failure := stop.failure) is not None:
        facts = {
            "ends": failure.ends,
            "ends_name": failure.name,
            "test": failure.test,
            "explanation": failure.explanation,
            "group": failure.group and dict(failure.group),
        }
        body |= {"post_mortem": True, **{k: v for k, v in facts.items() if v is not None}}
    if (raised := stop.exception) is not None:
        body["text"] = f"{raised.type}: {raised.message}" if raised.message else raised.type
        body["exception_info"] = {
            "exception_id": raised.type,
            "description": raised.message,
            "break_mode": raised.break_mode,
            "details": {
                "type_name": raised.type,
                "full_type_name": raised.full_type,
                "message": raised.message,
                "stack_trace": raised.traceback,
            },
        }
    return body


def _place(frame: Frame | None) -> dict[str, Any] | None:
    if frame is None:
        return None
    return {
        "path": frame.path,
        "line": frame.line,
        "column": frame.column,
        "function": frame.name,
    }
