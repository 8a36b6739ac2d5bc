"""Stack frames of a stopped thread, as the adapter lists them.

Clients name a frame by its index in the visible stack; the adapter's own ids are
reused across stops and never leave this room. Source: DAP stackTrace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from relay.errors import FrameNotFound
from relay.session.state.stop import Frame, Stop

if TYPE_CHECKING:
    from relay.session.debuggee.debuggee import Debuggee


async def top_frame(debuggee: Debuggee, thread_id: int) -> Frame | None:
    """The innermost frame of a stopped thread."""
    body = await debuggee.request(
        "stackTrace", {"threadId": thread_id, "startFrame": 0, "levels": 1}
    )
    frames = _visible(debuggee, body.get("stackFrames") or [])
    return frames[0] if frames else None


def frame_of_place(debuggee: Debuggee, place: Mapping[str, Any]) -> Frame | None:
    """The frame where the probe says that a thread stops; None for one that only started the program."""
    frame = place["frame"]
    if debuggee.session.debugger.is_launcher_frame(frame["path"], frame["name"]):
        return None
    return Frame(
        dap_id=frame["id"], name=frame["name"], path=frame["path"], line=frame["line"], column=1
    )


async def stack(debuggee: Debuggee, stop: Stop, thread_id: int) -> list[Frame]:
    """The whole visible stack of a thread, top first; asked for once a stop."""
    known = stop.stacks.get(thread_id)
    if known is None:
        body = await debuggee.request("stackTrace", {"threadId": thread_id})
        known = stop.stacks[thread_id] = _visible(debuggee, body.get("stackFrames") or [])
    return known


async def frame_at(debuggee: Debuggee, stop: Stop, index: int) -> Frame:
    """Frame `index` of the stopped thread; raises FrameNotFound beyond the stack."""
    if index == 0 and stop.top is not None:
        return stop.top
    frames = await stack(debuggee, stop, stop.thread_id)
    if not 0 <= index < len(frames):
        count = "1 frame" if len(frames) == 1 else f"{len(frames)} frames"
        raise FrameNotFound(
            f"frame {index} does not exist: the stack has {count}",
            frame_id=index,
            total_frames=len(frames),
        )
    return frames[index]


def _visible(debuggee: Debuggee, stack_frames: Sequence[Mapping[str, Any]]) -> list[Frame]:
    """Without the frames below the program that only its start needed."""
    debugger = debuggee.session.debugger
    frames = [_frame(raw) for raw in stack_frames if not _is_chained(raw)]
    while frames and debugger.is_launcher_frame(frames[-1].path, frames[-1].name):
        frames.pop()
    return frames


def _is_chained(raw: Mapping[str, Any]) -> bool:
    """Frames of an exception's cause are appended as if they were callers."""
    return str(raw.get("name", "")).startswith("[Chained Exc:")


def _frame(raw: Mapping[str, Any]) -> Frame:
    path = (raw.get("source") or {}).get("path")
    # Code that has no file of its own: frozen modules, exec and eval, extensions.
    is_native = path is None or path.startswith("<")
    return Frame(
        dap_id=int(raw["id"]),
        name=str(raw.get("name", "")).removesuffix(" (Current frame)"),
        path=path,
        line=int(raw.get("line") or 0),
        column=int(raw.get("column") or 0),
        subtle=is_native or raw.get("presentationHint") == "subtle",
    )
