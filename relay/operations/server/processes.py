"""The Python processes of this user. Source: contract sections 5 and 9, user story 3.2."""

from __future__ import annotations

import trio

from relay.debuggers.debugpy.processes import Target, python_processes
from relay.hub import Hub
from relay.models.processes import AttachWay, ProcessPage, ProcessQuery, ProcessView


async def list_processes(hub: Hub, *, query: ProcessQuery) -> ProcessPage:
    """List the Python processes of this user, and how each can be attached to.

    What a session debugs already carries its `session_id`.
    """
    found = await trio.to_thread.run_sync(python_processes, abandon_on_cancel=True)
    found.sort(key=lambda target: target.pid)
    shown = found[query.offset : query.offset + query.limit]
    return ProcessPage(
        items=[_view(target) for target in shown],
        total=len(found),
        offset=query.offset,
        limit=query.limit,
        has_more=query.offset + len(shown) < len(found),
    )


def _view(target: Target) -> ProcessView:
    return ProcessView(
        pid=target.pid,
        name=target.name,
        command=list(target.command),
        cwd=target.cwd,
        python=target.python,
        session_id=target.session_id,
        attach=_way(target),
    )


def _way(target: Target) -> AttachWay:
    listener = target.listener
    if target.session_id is None and listener is not None:
        if not listener.is_taken:
            return AttachWay(method="listen", host=listener.host, port=listener.port)
        reason = f"another debug client is attached at {listener.host}:{listener.port}"
        return AttachWay(method=None, reason=reason)
    if target.obstacle is not None:
        return AttachWay(method=None, reason=target.obstacle.reason)
    return AttachWay(method="inject")
