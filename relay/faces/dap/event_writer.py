"""The session's events, as they come, written for an editor.

Source: contract, section 6; DAP events.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any, Literal

import trio

from relay.client import AsyncSession
from relay.errors import RelayError
from relay.faces.dap import views
from relay.faces.dap.editor import Editor
from relay.faces.dap.placing import EditorBreakpoints
from relay.models.output import EventView
from relay.models.streams import StreamEvent

Body = Mapping[str, Any]

RESTART_SECONDS = 60.0
"""How long a program that is launched once more may take until something of it is heard."""

SIGNS_OF_LIFE = frozenset(["thread", "stopped", "continued"])
"""Events of a program that runs."""


class EventWriter:
    """Writes what happens in one session to one editor."""

    def __init__(
        self,
        session: AsyncSession,
        editor: Editor,
        placing: EditorBreakpoints,
        moved: Callable[[], None],
        began_anew: Callable[[], None],
    ) -> None:
        self._session = session
        self._editor = editor
        self._placing = placing
        self._moved = moved
        """Called when frames and references of the last stop are of no use any more."""

        self._began_anew = began_anew
        """Called when the program has ended and is launched once more."""

        self.turn = trio.Lock()
        """Held while an event is written, and from a motion to its answer."""

        self.stopped_thread: int | None = None
        """The thread that has stopped last, as far as the editor was told."""

        self._threads: set[int] = set()
        self._restarts = False
        self._leaves = False
        self.is_over = False

    async def catch_up(self) -> str:
        """Write what was printed before; the cursor behind that."""
        cursor: str | None = None
        while True:
            page = await self._session.event_page(cursor=cursor, limit=1000)
            for event in page.events:
                if event.type == "output":
                    await self._write(event)
            cursor = page.next_cursor
            if not page.has_more:
                return cursor

    async def introduce(self, how: Literal["launch", "attach"]) -> None:
        """Tell which process the program is, and what its debugger has said that it can."""
        view = await self._session.view()
        if can := views.capabilities_of(view.extras or ()):
            self._editor.event("capabilities", {"capabilities": can})
        if view.pid is not None and not self.is_over:
            self._editor.event("process", views.process(view, view.pid, how))

    async def where(self) -> None:
        """Show an editor that has just joined where the program stands."""
        for view in (await self._session.breakpoints()).breakpoints:
            if not self._placing.is_own(view.id):
                shown = views.breakpoint(view)
                self._editor.event("breakpoint", {"reason": "new", "breakpoint": shown})
        now = await self._session.view()
        self.stopped_thread = now.stopped_thread_id
        if now.status == "paused":
            body: dict[str, Any] = {
                "reason": views.reason_of(now.stop_reason),
                "threadId": now.stopped_thread_id,
                "allThreadsStopped": True,
            }
            self._editor.event("stopped", body)

    async def follow(self, cursor: str | None) -> None:
        """Write everything from `cursor` on, until the program or the session has ended."""
        try:
            while True:
                async with contextlib.aclosing(self._follow_from(cursor)) as events:
                    async for sent in events:
                        cursor = sent.cursor or cursor
                        if isinstance(sent.data, EventView):
                            await self._write(sent.data)
                if not (self._restarts and await self._comes_again(cursor)):
                    break
        except RelayError as error:
            if not self._leaves:
                self._console(f"{error.message}\n")
        self.end(None)

    def _follow_from(self, cursor: str | None) -> AsyncGenerator[StreamEvent[EventView], None]:
        """Its breakpoints last as long as the connection: an editor that is killed leaves none."""
        return self._session.events(cursor=cursor, owner=self._placing.owner)

    def leave(self) -> None:
        """The editor leaves, and may end the session itself: that it is gone is no news then."""
        self._leaves = True

    async def _comes_again(self, cursor: str | None) -> bool:
        """Whether the program that was ended to be launched once more is launched."""
        page = await self._session.event_page(cursor=cursor, limit=1, timeout=RESTART_SECONDS)
        return bool(page.events)

    async def _write(self, event: EventView) -> None:
        await self._editor.room()
        async with self.turn:
            if self._restarts and event.type in SIGNS_OF_LIFE:
                self._restarts = False
                await self.introduce("launch")
            write = _WRITERS.get(event.type)
            if write is not None:
                await write(self, event.body)

    async def _stopped(self, body: Body) -> None:
        self._moved()
        self.stopped_thread = body["thread_id"]
        change = body.get("change")
        hit = [views.number_of(one) for one in body["hit_breakpoint_ids"]]
        hit += [] if change is None else [views.number_of_data(change["id"])]
        sent = {
            "reason": views.reason_of(body["reason"]),
            "description": body.get("description"),
            "threadId": body["thread_id"],
            "text": views.change_text(change) or body.get("text"),
            "allThreadsStopped": body["all_threads_stopped"],
            "preserveFocusHint": body["preserve_focus_hint"],
            "hitBreakpointIds": hit,
        }
        self._editor.event("stopped", {key: it for key, it in sent.items() if it is not None})

    async def _continued(self, body: Body) -> None:
        self._moved()
        sent = {"threadId": body["thread_id"], "allThreadsContinued": body["all_threads_continued"]}
        self._editor.event("continued", sent)

    async def _output(self, body: Body) -> None:
        self._editor.event("output", {"category": body["category"], "output": body["output"]})

    async def _warning(self, body: Body) -> None:
        self._console(f"{body['message']}\n")

    def _console(self, text: str) -> None:
        self._editor.event("output", {"category": "console", "output": text})

    async def _thread(self, body: Body) -> None:
        if body["reason"] == "started":
            self._threads.add(body["thread_id"])
        else:
            self._threads.discard(body["thread_id"])
        self._editor.event("thread", {"reason": body["reason"], "threadId": body["thread_id"]})

    async def _breakpoint(self, body: Body) -> None:
        sent = body["breakpoint"]
        async with self._placing.lock:
            if body["reason"] == "new" and self._placing.is_own(sent["id"]):
                return  # the answer to the request has said it
        if body["reason"] == "removed" and self._placing.has_removed(sent["id"]):
            return
        if body["reason"] == "removed":
            shown: Any = {"id": views.number_of(sent["id"]), "verified": False}
        else:
            try:
                shown = views.breakpoint(await self._session.breakpoint(sent["id"]))
            except RelayError:
                return  # it is gone already, and its event comes next
        self._editor.event("breakpoint", {"reason": body["reason"], "breakpoint": shown})

    async def _terminated(self, body: Body) -> None:
        self._restarts = bool(body.get("restart"))
        if not self._restarts:
            self.end(body.get("exit_code"))
            return
        self._moved()
        self._began_anew()
        for gone in sorted(self._threads):
            self._editor.event("thread", {"reason": "exited", "threadId": gone})
        self._threads.clear()

    def end(self, exit_code: int | None) -> None:
        """Write the end, once."""
        if self.is_over:
            return
        self.is_over = True
        if exit_code is not None:
            self._editor.event("exited", {"exitCode": exit_code})
        self._editor.event("terminated")


_WRITERS = {
    "stopped": EventWriter._stopped,
    "continued": EventWriter._continued,
    "output": EventWriter._output,
    "warning": EventWriter._warning,
    "thread": EventWriter._thread,
    "breakpoint": EventWriter._breakpoint,
    "terminated": EventWriter._terminated,
}
