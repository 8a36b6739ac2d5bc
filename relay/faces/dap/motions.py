"""Requests of an editor by which the program goes on, or stops.

Each is answered before anything is said of what it leads to: editors take the answer for the program's
running on, also after its stop. Refuses to know in which order requests are carried out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from relay.client import AsyncSession
from relay.faces.dap.inspector import Arguments, Body, EditorInspector


async def _continue(session: AsyncSession, _: EditorInspector, arguments: Arguments) -> Body:
    await session.continue_(wait=0)
    return {"allThreadsContinued": True}


async def _next(session: AsyncSession, _: EditorInspector, arguments: Arguments) -> None:
    await session.step_over(wait=0, thread_id=arguments["threadId"])


async def _step_in(session: AsyncSession, _: EditorInspector, arguments: Arguments) -> None:
    chosen = {} if (one := arguments.get("targetId")) is None else {"target_id": one}
    await session.step_into(wait=0, thread_id=arguments["threadId"], **chosen)


async def _step_out(session: AsyncSession, _: EditorInspector, arguments: Arguments) -> None:
    await session.step_out(wait=0, thread_id=arguments["threadId"])


async def _step_back(session: AsyncSession, _: EditorInspector, arguments: Arguments) -> None:
    await session.step_back(wait=0, thread_id=arguments["threadId"])


async def _reverse_continue(
    session: AsyncSession, _: EditorInspector, arguments: Arguments
) -> None:
    await session.reverse_continue(wait=0, thread_id=arguments["threadId"])


async def _restart_frame(
    session: AsyncSession, inspector: EditorInspector, arguments: Arguments
) -> None:
    index = await inspector.index_of(arguments["frameId"])
    await session.restart_frame(wait=0, frame_id=index)


async def _goto(session: AsyncSession, inspector: EditorInspector, arguments: Arguments) -> None:
    path, line = inspector.target(arguments["targetId"])
    await session.goto(file=path, line=line, thread_id=arguments["threadId"], wait=0)


async def _pause(session: AsyncSession, _: EditorInspector, arguments: Arguments) -> None:
    await session.pause(wait=0)


MOTIONS: Mapping[str, Callable[[AsyncSession, EditorInspector, Arguments], Awaitable[Body]]] = {
    "continue": _continue,
    "next": _next,
    "stepIn": _step_in,
    "stepOut": _step_out,
    "stepBack": _step_back,
    "reverseContinue": _reverse_continue,
    "restartFrame": _restart_frame,
    "goto": _goto,
    "pause": _pause,
}
