"""Requests of an editor, carried out through the relay's API.

The editor is one more client of the session: what it may do, and when, the relay decides, as for
the agent. Source: DAP requests; contract, section 3.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple

import trio

from relay.client import AsyncClient, AsyncSession
from relay.dap.conversation import IncomingRequest
from relay.errors import RelayError, SessionNotFound
from relay.faces.dap import views
from relay.faces.dap.actions import error_text, message_of
from relay.faces.dap.arguments import checked
from relay.faces.dap.data_placing import EditorDataBreakpoints
from relay.faces.dap.editor import Editor
from relay.faces.dap.event_writer import EventWriter
from relay.faces.dap.exceptions import ExceptionWish
from relay.faces.dap.inspector import (
    CHANGES,
    LOOKS,
    Arguments,
    Body,
    EditorInspector,
    EditorRefusal,
)
from relay.faces.dap.motions import MOTIONS
from relay.faces.dap.placing import FUNCTIONS, EditorBreakpoints
from relay.faces.dap.request_queue import RequestQueue
from relay.faces.dap.starting import (
    NO_TERMINAL,
    RUNS_ONLY,
    attach_fields,
    is_whole,
    launch_fields,
    names_process,
    restart_fields,
    runs_only,
    session_fields,
    wants_terminal,
)
from relay.models.sessions import SessionView

FAREWELL_SECONDS = 10.0

NEEDS_CONTROL = frozenset(
    [
        *MOTIONS,
        "launch",
        "restart",
        "evaluate",
        "setVariable",
        "setExpression",
        "completions",
        "dataBreakpointInfo",
        "setDataBreakpoints",
        "terminate",
    ]
)
"""Requests that change the program, or run code in it; in read-only, all are refused."""

CANCELLED = "cancelled"
"""DAP's word for it."""


class _Later(Exception):
    """The answer comes with a later request."""


class _Joined(NamedTuple):
    """The session that an editor has joined, and what it has of it."""

    session: AsyncSession
    placed: EditorBreakpoints
    watched: EditorDataBreakpoints
    inspector: EditorInspector
    events: EventWriter


class Face:
    """One editor and the session that it has joined."""

    def __init__(
        self, editor: Editor, client: AsyncClient, *, session_id: str | None, read_only: bool
    ) -> None:
        self._editor = editor
        self._client = client
        self._asked = session_id
        self._read_only = read_only
        self._joined: _Joined | None = None
        self._is_own = False  # the session was made for the editor
        self._is_attached = False  # its own, to a process that lives on
        self._launch: IncomingRequest | None = None
        self._launched: Arguments | None = None  # the launch request's
        self._runs_only = False  # its own, which stops nowhere
        self._configured = False
        self._queue = RequestQueue(
            self._handle, lambda request: request.command in LOOKS, self._say_cancelled
        )

    async def run(self) -> None:
        """Serve the editor until it leaves."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            nursery.start_soon(self._editor.write)
            try:
                await self._serve()
            finally:
                with trio.move_on_after(FAREWELL_SECONDS, shield=True):
                    await self._leave(ends=self._is_own and not self._is_attached)
                    await self._editor.room(0)
            nursery.cancel_scope.cancel()

    async def _serve(self) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._carry_out_all, nursery.cancel_scope)
            while (requests := await self._editor.receive()) is not None:
                for request in requests:
                    self._take(request)
                await self._queue.room()
            self._queue.close()

    async def _carry_out_all(self, reading: trio.CancelScope) -> None:
        await self._queue.run()
        reading.cancel()

    def _take(self, request: IncomingRequest) -> None:
        """`cancel` does not wait, and who leaves or ends the program has no use for answers."""
        if request.command == "cancel":
            self._cancel(request)
            return
        if request.command == "disconnect":
            self._queue.leave()
        elif request.command == "terminate":
            self._queue.cancel_looks()
        self._queue.put(request)

    def _cancel(self, request: IncomingRequest) -> None:
        number = request.arguments.get("requestId")  # of none, where the arguments are no object
        if type(number) is not int:
            self._editor.refuse(request, "cancel: give the requestId, a whole number")
            return
        self._queue.cancel(number)
        self._editor.answer(request)

    def _say_cancelled(self, request: IncomingRequest) -> None:
        self._editor.refuse(request, CANCELLED)

    async def _handle(self, request: IncomingRequest) -> None:
        if self._joined is not None and request.command in MOTIONS:
            async with self._joined.events.turn:
                await self._answer(request)
        else:
            await self._answer(request)

    async def _answer(self, request: IncomingRequest) -> None:
        try:
            body = await self._carry_out(request)
        except _Later:
            self._launch = request
            return
        except (RelayError, EditorRefusal) as error:
            self._editor.refuse(request, _words(error))
            return
        except Exception as error:  # noqa: BLE001 - an editor waits for its answer for ever
            self._editor.refuse(request, f"{request.command} failed: {error!r}")
            return
        self._editor.answer(request, body)
        if (after := _AFTER.get(request.command)) is not None:
            await after(self)

    async def _carry_out(self, request: IncomingRequest) -> Body:
        if self._read_only and request.command in NEEDS_CONTROL:
            raise EditorRefusal(
                "this editor only looks on. "
                'Attach without "readOnly" (or --read-only) to be in control'
            )
        inspect, move = _INSPECTS.get(request.command), MOTIONS.get(request.command)
        if inspect is not None or move is not None:
            self._here  # noqa: B018 - without a session nothing of the request counts
        if request.fault is not None:
            raise EditorRefusal(f"{request.command}: {request.fault}")
        try:
            arguments = checked(request.command, request.arguments)
        except ValueError as error:
            raise EditorRefusal(str(error)) from None
        if inspect is not None:
            return await inspect(self._here.inspector, arguments)
        if move is not None:
            return await move(self._session, self._here.inspector, arguments)
        if (do := _REQUESTS.get(request.command)) is not None:
            return await do(self, arguments)
        raise EditorRefusal(f"the relay has no request {request.command!r}")

    # Joining and leaving ----------------------------------------------------------------------

    async def _initialize(self, arguments: Arguments) -> Body:
        if not (arguments.get("linesStartAt1", True) and arguments.get("columnsStartAt1", True)):
            raise EditorRefusal("lines and columns are counted from 1 here")
        if arguments.get("pathFormat", "path") != "path":
            raise EditorRefusal("paths are paths here, not URIs")
        return dict(views.CAPABILITIES)

    async def _attach(self, arguments: Arguments) -> Body:
        self._require_alone()
        looks_on = self._read_only or arguments.get("readOnly", False) is True
        if names_process(arguments):
            return await self._attach_to_process(arguments, looks_on=looks_on)
        wanted = arguments.get("session") or self._asked
        session = self._client.session(wanted or await self._only())
        view = await session.view()  # or it is not there
        self._join(session)
        self._read_only = looks_on
        await self._say_capabilities(view)
        return None

    async def _attach_to_process(self, arguments: Arguments, *, looks_on: bool) -> Body:
        """A session of the editor's own, whose process lives on when it leaves."""
        if arguments.get("session") or self._asked:
            raise EditorRefusal("attach: give either a session or a process")
        if looks_on:
            raise EditorRefusal(
                "attach: who only looks on joins a session, and attaches to no process"
            )
        fields = attach_fields(arguments)
        session = await self._client.create_session(**session_fields(arguments))
        self._join(session)
        self._is_own = self._is_attached = True
        try:
            await session.attach(**fields)
            view = await session.view()
        except RelayError:
            await self._leave(ends=True)
            self._is_own = self._is_attached = False
            raise
        await self._say_capabilities(view)
        return None

    async def _say_capabilities(self, view: SessionView) -> None:
        """How the session's debugger differs from what `initialize` has said."""
        adapter = (await self._client.info()).adapters.get(view.adapter)
        differs = {} if adapter is None else views.capabilities_with(adapter)
        if view.program is None and view.status in ("running", "paused"):  # attached to
            differs["supportsRestartRequest"] = False
        if differs:
            self._editor.event("capabilities", {"capabilities": differs})

    async def _only(self) -> str:
        items = (await self._client.sessions()).items
        if len(items) == 1:
            return items[0].session_id
        ids = ", ".join(item.session_id for item in items)
        raise SessionNotFound(
            f"there are {len(items)} sessions: {ids}" if items else "there is no session to join",
            suggestion='Name one: "session" in the attach request, or --session',
        )

    async def _prepare_launch(self, arguments: Arguments) -> Body:
        """Make the session; the program starts when the editor has set everything."""
        self._require_alone()
        if bool(arguments.get("program")) == bool(arguments.get("module")):
            raise EditorRefusal('launch: give either "program" or "module"')
        session = await self._client.create_session(**session_fields(arguments))
        self._join(session)
        self._is_own = True
        self._runs_only = runs_only(arguments)
        await self._say_capabilities(await session.view())
        self._editor.event("initialized")
        raise _Later

    def _require_alone(self) -> None:
        if self._joined is not None:
            raise EditorRefusal("this editor is in a session already")

    def _join(self, session: AsyncSession) -> None:
        placed, watched = EditorBreakpoints(session), EditorDataBreakpoints(session)
        inspector = EditorInspector(session, lambda: events.stopped_thread)

        def began_anew() -> None:
            for gone in watched.forget():
                self._editor.event("breakpoint", {"reason": "changed", "breakpoint": gone})

        events = EventWriter(session, self._editor, placed, inspector.forget_stop, began_anew)
        self._joined = _Joined(session, placed, watched, inspector, events)

    @property
    def _here(self) -> _Joined:
        if self._joined is None:
            raise EditorRefusal("no session yet. Send attach or launch first")
        return self._joined

    @property
    def _session(self) -> AsyncSession:
        return self._here.session

    async def _say_initialized(self) -> None:
        self._editor.event("initialized")

    async def _configuration_done(self, arguments: Arguments) -> Body:
        session = self._session
        if self._configured:
            raise EditorRefusal("configurationDone: it was sent already")
        try:
            await session.ping()
        except RelayError:  # it has ended meanwhile: editors wait for that word
            self._here.events.end(None)
            raise
        self._configured = True
        self._queue.then(self._begin)
        return None

    async def _begin(self) -> None:
        """Everything is set: the program starts, or the editor is shown where it stands."""
        events, launch = self._here.events, self._launch
        try:
            cursor = await (self._show(events) if launch is None else self._start(events, launch))
        except RelayError as error:
            self._launch = None
            if launch is None:
                self._editor.event("output", {"category": "console", "output": _words(error)})
            else:
                self._editor.refuse(launch, _words(error))
            events.end(None)
            return
        self._nursery.start_soon(events.follow, cursor)

    async def _show(self, events: EventWriter) -> str:
        cursor = await events.catch_up()
        await events.introduce("attach")
        await events.where()
        return cursor

    async def _start(self, events: EventWriter, launch: IncomingRequest) -> None:
        await self._session.launch(**launch_fields(launch.arguments), wait=0)
        self._launch, self._launched = None, launch.arguments
        self._editor.answer(launch)
        if wants_terminal(launch.arguments):
            self._editor.event("output", {"category": "console", "output": NO_TERMINAL})
        with contextlib.suppress(RelayError):  # it has ended by now
            await events.introduce("launch")

    async def _disconnect(self, arguments: Arguments) -> Body:
        if self._launch is not None:
            self._say_cancelled(self._launch)
            self._launch = None
        is_empty = self._is_own and not self._is_attached and self._launched is None
        ends = arguments.get("terminateDebuggee", self._is_own and not self._is_attached) is True
        ends = ends or is_empty  # nothing has run there that could live on
        await self._leave(ends=ends)
        self._queue.close()
        return None

    async def _leave(self, *, ends: bool) -> None:
        """Take the editor's own away with it: its breakpoints, or all that it has launched."""
        left, self._joined = self._joined, None
        if left is None:
            return
        session = left.session
        left.events.leave()
        try:
            if ends and not self._read_only:
                if self._is_attached or not self._is_own:  # a process that outlives its session
                    with contextlib.suppress(RelayError):  # it may have ended
                        await session.terminate()
                await session.delete()
            elif self._is_attached:
                with contextlib.suppress(RelayError):  # its program may be over
                    await session.detach()
                await session.delete()
            else:
                await left.placed.remove_all()
                await left.watched.remove_all()
        except RelayError:
            return  # it has ended without us, or another client holds it

    async def _terminate(self, arguments: Arguments) -> Body:
        await self._session.terminate()
        return None

    async def _restart(self, arguments: Arguments) -> Body:
        """The launch once more; of one's own, with what the editor's configuration says now."""
        session = self._session
        if not self._configured or self._here.events.is_over:
            raise EditorRefusal("restart: no program runs here. Start debugging again")
        given = arguments.get("arguments") or {}
        try:
            fields = {} if self._launched is None else restart_fields(given, self._launched)
        except ValueError as error:
            raise EditorRefusal(f"restart: {error}") from None
        await session.restart(**fields, wait=0)
        if self._launched is not None and is_whole(given):
            self._launched = given
        return None

    # Breakpoints ------------------------------------------------------------------------------

    def _sets_nothing(self) -> str | None:
        """Why no breakpoint of this editor's is set."""
        if self._read_only:
            return "This editor only looks on"
        return RUNS_ONLY if self._runs_only else None

    async def _set_breakpoints(self, arguments: Arguments) -> Body:
        path = arguments["source"]["path"]
        wanted = arguments.get("breakpoints") or []
        if (why := self._sets_nothing()) is not None:
            return {"breakpoints": [views.refused_breakpoint(b["line"], why) for b in wanted]}
        return {"breakpoints": await self._here.placed.replace(path, wanted)}

    async def _set_function_breakpoints(self, arguments: Arguments) -> Body:
        wanted = arguments.get("breakpoints") or []
        if (why := self._sets_nothing()) is not None:
            return {"breakpoints": [views.refused_breakpoint(None, why) for _ in wanted]}
        return {"breakpoints": await self._here.placed.replace(FUNCTIONS, wanted)}

    async def _data_breakpoint_info(self, arguments: Arguments) -> Body:
        """By an expression in a frame, or by a variable as the editor shows it."""
        here = self._here
        expression, index = await here.inspector.named(arguments)
        if expression is None:
            return {
                "dataId": None,
                "description": f"{arguments['name']} has no name in the program",
            }
        return await here.watched.info(expression, index)

    async def _set_data_breakpoints(self, arguments: Arguments) -> Body:
        wanted = arguments.get("breakpoints") or []
        return {"breakpoints": await self._here.watched.replace(wanted)}

    async def _set_exceptions(self, arguments: Arguments) -> Body:
        """What an editor says of exceptions as it joins is its default, and not a wish."""
        try:
            wish = ExceptionWish.of(arguments)
        except ValueError as error:
            raise EditorRefusal(f"setExceptionBreakpoints: {error}") from None
        session, fault = self._session, None
        why = self._sets_nothing()
        if why is not None:
            return {"breakpoints": [views.refused_breakpoint(None, why) for _ in wish.asked]}
        if not (self._configured or self._is_own):
            return {"breakpoints": wish.answers(await session.exception_breakpoints())}
        try:
            view = await session.set_exception_breakpoints(**wish.fields())
        except RelayError as error:
            if not wish.condition:
                raise
            fault = message_of(error)
            whole = wish.without_condition().fields()
            view = await session.set_exception_breakpoints(**whole)
        return {"breakpoints": wish.answers(view, fault)}


def _words(error: RelayError | EditorRefusal) -> str:
    return str(error) if isinstance(error, EditorRefusal) else error_text(error)


_Do = Callable[[Face, Arguments], Awaitable[Body]]

_REQUESTS: Mapping[str, _Do] = {
    "initialize": Face._initialize,
    "attach": Face._attach,
    "launch": Face._prepare_launch,
    "configurationDone": Face._configuration_done,
    "disconnect": Face._disconnect,
    "terminate": Face._terminate,
    "restart": Face._restart,
    "setBreakpoints": Face._set_breakpoints,
    "setFunctionBreakpoints": Face._set_function_breakpoints,
    "dataBreakpointInfo": Face._data_breakpoint_info,
    "setDataBreakpoints": Face._set_data_breakpoints,
    "setExceptionBreakpoints": Face._set_exceptions,
}

_INSPECTS = {**LOOKS, **CHANGES}

_AFTER: Mapping[str, Callable[[Face], Awaitable[None]]] = {
    "attach": Face._say_initialized,
}
