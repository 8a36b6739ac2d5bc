"""The Python processes of this user. Source: contract sections 5 and 9, user story 3.2."""

from __future__ import annotations

import trio

from relay.hub import Hub
from relay.models.processes import AttachWay, ProcessPage, ProcessQuery, ProcessView
from relay.session.debuggee.attachable_process import AttachableProcess
from relay.session.debugger import KnownDebuggers


async def list_processes(hub: Hub, *, query: ProcessQuery) -> ProcessPage:
    """List the Python processes of this user, and how each can be attached to.

    What a session debugs already carries its `session_id`.
    """
    found = await trio.to_thread.run_sync(_processes, hub.debuggers, abandon_on_cancel=True)
    shown = found[query.offset : query.offset + query.limit]
    return ProcessPage(
        items=[_view(process) for process in shown],
        total=len(found),
        offset=query.offset,
        limit=query.limit,
        has_more=query.offset + len(shown) < len(found),
    )


def _processes(debuggers: KnownDebuggers) -> list[AttachableProcess]:
    found = [process for debugger in debuggers for process in debugger.processes()]
    return sorted(found, key=lambda process: process.pid)


def _view(process: AttachableProcess) -> ProcessView:
    return ProcessView(
        pid=process.pid,
        name=process.name,
        command=list(process.command),
        cwd=process.cwd,
        python=process.python,
        session_id=process.session_id,
        attach=_way(process),
    )


def _way(process: AttachableProcess) -> AttachWay:
    listener = process.listener
    if process.session_id is None and listener is not None:
        if not listener.is_taken:
            return AttachWay(method="listen", host=listener.host, port=listener.port)
        reason = f"another debug client is attached at {listener.host}:{listener.port}"
        return AttachWay(method=None, reason=reason)
    if process.obstacle is not None:
        return AttachWay(method=None, reason=process.obstacle.reason)
    return AttachWay(method="inject")
