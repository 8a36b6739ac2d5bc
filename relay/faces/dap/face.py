"""Requests of an editor, carried out through the relay's API.

The editor is one more client of the session: what it may do, and when, the relay decides, as for
the agent. Source: DAP requests; contract, section 3.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping
from pathlib import PurePath
from typing import Any, Literal

import trio

from relay.client import AsyncClient, AsyncSession
from relay.dap import types as dap
from relay.dap.conversation import IncomingRequest
from relay.errors import RelayError, SessionNotFound
from relay.faces.dap import views
from relay.faces.dap.actions import error_text
from relay.faces.dap.data_placing import EditorDataBreakpoints
from relay.faces.dap.editor import Editor
from relay.faces.dap.event_writer import EventWriter
from relay.faces.dap.placing import FUNCTIONS, EditorBreakpoints
from relay.faces.dap.request_queue import RequestQueue
from relay.faces.dap.sources import EditorSources
from relay.faces.dap.starting import (
    attach_fields,
    launch_fields,
    names_process,
    restart_fields,
    session_fields,
)
from relay.models.inspection import FrameView
from relay.models.sessions import SessionView

Arguments = Mapping[str, Any]
Body = Mapping[str, Any] | None

MOST_CHILDREN = 10_000
FAREWELL_SECONDS = 10.0

NEEDS_CONTROL = frozenset(
    [
        "launch",
        "continue",
        "next",
        "stepIn",
        "stepOut",
        "stepBack",
        "reverseContinue",
        "restartFrame",
        "goto",
        "restart",
        "pause",
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

BREAKS_OFF = frozenset(
    [
        "threads",
        "stackTrace",
        "scopes",
        "variables",
        "evaluate",
        "completions",
        "exceptionInfo",
        "modules",
        "loadedSources",
        "source",
    ]
)
"""Requests that can be cancelled in their midst: an expression is then interrupted."""

CONTEXTS: Mapping[object, Literal["hover", "watch", "repl"]] = {
    "hover": "hover",
    "watch": "watch",
    "variables": "watch",
    "clipboard": "watch",
}
"""What an expression is evaluated for, as the relay has it; in every other one, `repl`."""

SHOWN_CHARACTERS = 1000
COPIED_CHARACTERS = 1_000_000
"""Of a value, before it is cut; the second is for the context `clipboard`."""

CANCELLED = "cancelled"
"""DAP's word for it."""


class _Refusal(Exception):
    """The face refuses by itself; the text is for people at an editor."""


class _Later(Exception):
    """The answer comes with a later request."""


class Face:
    """One editor and the session that it has joined."""

    def __init__(
        self, editor: Editor, client: AsyncClient, *, session_id: str | None, read_only: bool
    ) -> None:
        self._editor = editor
        self._client = client
        self._asked = session_id
        self._read_only = read_only
        self._joined: AsyncSession | None = None
        self._is_own = False  # the session was made for the editor
        self._is_attached = False  # its own, to a process that lives on
        self._launch: IncomingRequest | None = None
        self._launched: Arguments | None = None  # the launch request's
        self._configured = False
        self._frames: dict[int, tuple[int, int]] = {}
        self._last_frame = 0
        self._frame_of_reference: dict[int, int] = {}
        self._targets: list[tuple[str, int]] = []
        self._queue = RequestQueue(
            self._handle, lambda request: request.command in BREAKS_OFF, self._say_cancelled
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
        number = request.arguments.get("requestId")
        if type(number) is not int:
            self._editor.refuse(request, "cancel: give the requestId, a whole number")
            return
        self._queue.cancel(number)
        self._editor.answer(request)

    def _say_cancelled(self, request: IncomingRequest) -> None:
        self._editor.refuse(request, CANCELLED)

    async def _handle(self, request: IncomingRequest) -> None:
        try:
            body = await self._carry_out(request)
        except _Later:
            self._launch = request
            return
        except (RelayError, _Refusal) as error:
            self._editor.refuse(request, _words(error))
            return
        except Exception as error:  # noqa: BLE001 - an editor waits for its answer for ever
            self._editor.refuse(request, f"{request.command} failed: {error!r}")
            return
        self._editor.answer(request, body)
        if (after := _AFTER.get(request.command)) is not None:
            await after(self)

    async def _carry_out(self, request: IncomingRequest) -> Body:
        do = _REQUESTS.get(request.command)
        if do is None:
            raise _Refusal(f"the relay has no request {request.command!r}")
        if self._read_only and request.command in NEEDS_CONTROL:
            raise _Refusal(
                "this editor only looks on. "
                'Attach without "readOnly" (or --read-only) to be in control'
            )
        try:
            return await do(self, request.arguments)
        except KeyError as error:
            raise _Refusal(f"{request.command}: {error.args[0]} is missing") from None
        except (AttributeError, TypeError, ValueError) as error:
            raise _Refusal(
                f"{request.command}: an argument is of the wrong type: {error}"
            ) from None

    # Joining and leaving ----------------------------------------------------------------------

    async def _initialize(self, arguments: Arguments) -> Body:
        if not (arguments.get("linesStartAt1", True) and arguments.get("columnsStartAt1", True)):
            raise _Refusal("lines and columns are counted from 1 here")
        if arguments.get("pathFormat", "path") != "path":
            raise _Refusal("paths are paths here, not URIs")
        return dict(views.CAPABILITIES)

    async def _attach(self, arguments: Arguments) -> Body:
        self._require_alone()
        self._read_only = self._read_only or arguments.get("readOnly", False) is True
        if names_process(arguments):
            return await self._attach_to_process(arguments)
        wanted = arguments.get("session") or self._asked
        if not isinstance(wanted, str | None):
            raise _Refusal("session: must be the id of a session")
        session = self._client.session(wanted or await self._only())
        view = await session.view()  # or it is not there
        self._join(session)
        await self._say_capabilities(view)
        return None

    async def _attach_to_process(self, arguments: Arguments) -> Body:
        """A session of the editor's own, whose process lives on when it leaves."""
        if arguments.get("session") or self._asked:
            raise _Refusal("attach: give either a session or a process")
        if self._read_only:
            raise _Refusal("attach: who only looks on joins a session, and attaches to no process")
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
        differs = {} if adapter is None else views.capabilities_with(adapter.capabilities)
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
            raise _Refusal('launch: give either "program" or "module"')
        session = await self._client.create_session(**session_fields(arguments))
        self._join(session)
        self._is_own = True
        await self._say_capabilities(await session.view())
        self._editor.event("initialized")
        raise _Later

    def _require_alone(self) -> None:
        if self._joined is not None:
            raise _Refusal("this editor is in a session already")

    def _join(self, session: AsyncSession) -> None:
        self._joined = session
        self._placed = EditorBreakpoints(session)
        self._watched = EditorDataBreakpoints(session)
        self._sources = EditorSources(session)
        self._events = EventWriter(
            session, self._editor, self._placed, self._forget_stop, self._forget_run
        )

    def _forget_run(self) -> None:
        for gone in self._watched.forget():
            self._editor.event("breakpoint", {"reason": "changed", "breakpoint": gone})

    def _forget_stop(self) -> None:
        self._frames.clear()
        self._frame_of_reference.clear()
        self._sources.forget_stop()

    @property
    def _placing(self) -> EditorBreakpoints:
        if self._joined is None:
            raise _too_early()
        return self._placed

    @property
    def _session(self) -> AsyncSession:
        if self._joined is None:
            raise _too_early()
        return self._joined

    async def _say_initialized(self) -> None:
        self._editor.event("initialized")

    async def _configuration_done(self, arguments: Arguments) -> Body:
        try:
            await self._session.ping()
        except RelayError:  # it has ended meanwhile: editors wait for that word
            self._events.end(None)
            raise
        self._configured = True
        self._queue.then(self._begin)
        return None

    async def _begin(self) -> None:
        """Everything is set: the program starts, or the editor is shown where it stands."""
        if self._launch is None:
            try:
                cursor = await self._events.catch_up()
                await self._events.introduce("attach")
                await self._events.where()
            except RelayError as error:
                self._editor.event("output", {"category": "console", "output": _words(error)})
                self._events.end(None)
                return
            self._nursery.start_soon(self._events.follow, cursor)
            return
        launch, fields = self._launch, launch_fields(self._launch.arguments)
        try:
            await self._session.launch(**fields, wait=0)
        except RelayError as error:
            self._launch = None
            self._editor.refuse(launch, _words(error))
            self._events.end(None)
            return
        self._launch, self._launched = None, launch.arguments
        self._editor.answer(launch)
        with contextlib.suppress(RelayError):  # it has ended by now
            await self._events.introduce("launch")
        self._nursery.start_soon(self._events.follow, None)

    async def _disconnect(self, arguments: Arguments) -> Body:
        if self._launch is not None:
            self._say_cancelled(self._launch)
            self._launch = None
        ends = arguments.get("terminateDebuggee", self._is_own and not self._is_attached) is True
        await self._leave(ends=ends)
        self._queue.close()
        return None

    async def _leave(self, *, ends: bool) -> None:
        """Take the editor's own away with it: its breakpoints, or all that it has launched."""
        session, self._joined = self._joined, None
        if session is None:
            return
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
                await self._placed.remove_all()
                await self._watched.remove_all()
        except RelayError:
            return  # it has ended without us, or another client holds it

    async def _terminate(self, arguments: Arguments) -> Body:
        await self._session.terminate()
        return None

    async def _restart(self, arguments: Arguments) -> Body:
        """The launch once more; of one's own, with what the editor's configuration says now."""
        session = self._session
        if not self._configured or self._events.is_over:
            raise _Refusal("restart: no program runs here. Start debugging again")
        given = arguments.get("arguments") or {}
        if not isinstance(given, dict):
            raise _Refusal("restart: arguments must be an object")
        try:
            fields = {} if self._launched is None else restart_fields(given, self._launched)
        except ValueError as error:
            raise _Refusal(f"restart: {error}") from None
        await session.restart(**fields, wait=0)
        return None

    # Breakpoints ------------------------------------------------------------------------------

    async def _set_breakpoints(self, arguments: Arguments) -> Body:
        path = arguments["source"]["path"]
        wanted = arguments.get("breakpoints") or []
        if self._read_only:
            why = "This editor only looks on"
            return {"breakpoints": [views.refused_breakpoint(b["line"], why) for b in wanted]}
        return {"breakpoints": await self._placing.replace(path, wanted)}

    async def _set_function_breakpoints(self, arguments: Arguments) -> Body:
        wanted = arguments.get("breakpoints") or []
        if self._read_only:
            why = "This editor only looks on"
            return {"breakpoints": [views.refused_breakpoint(None, why) for _ in wanted]}
        return {"breakpoints": await self._placing.replace(FUNCTIONS, wanted)}

    async def _data_breakpoint_info(self, arguments: Arguments) -> Body:
        """By an expression in a frame, or by a variable as the editor shows it."""
        session, expression = self._session, str(arguments["name"])
        index, reference = 0, arguments.get("variablesReference")
        if not reference:
            index = await self._index_of(arguments.get("frameId"))
            return await self._watched.info(expression, index)
        index = self._frame_of_reference.get(reference, 0)
        found = await session.variables(variables_reference=reference, count=MOST_CHILDREN)
        names = [one.evaluate_name for one in found.variables if one.name == expression]
        if not names or names[0] is None:
            return {"dataId": None, "description": f"{expression} has no name in the program"}
        return await self._watched.info(names[0], index)

    async def _set_data_breakpoints(self, arguments: Arguments) -> Body:
        self._session  # noqa: B018  raises before there is one
        return {"breakpoints": await self._watched.replace(arguments.get("breakpoints") or [])}

    async def _set_exceptions(self, arguments: Arguments) -> Body:
        """What an editor says of exceptions as it joins is its default, and not a wish."""
        filters = list(arguments["filters"])
        if not self._read_only and (self._configured or self._is_own):
            await self._session.set_exception_breakpoints(filters=filters)
        return None

    # Motion -----------------------------------------------------------------------------------

    async def _continue(self, arguments: Arguments) -> Body:
        await self._session.continue_(wait=0)
        return {"allThreadsContinued": True}

    async def _next(self, arguments: Arguments) -> Body:
        await self._session.step_over(wait=0, thread_id=arguments["threadId"])
        return None

    async def _step_in(self, arguments: Arguments) -> Body:
        await self._session.step_into(wait=0, thread_id=arguments["threadId"])
        return None

    async def _step_out(self, arguments: Arguments) -> Body:
        await self._session.step_out(wait=0, thread_id=arguments["threadId"])
        return None

    async def _step_back(self, arguments: Arguments) -> Body:
        await self._session.step_back(wait=0, thread_id=arguments["threadId"])
        return None

    async def _reverse_continue(self, arguments: Arguments) -> Body:
        await self._session.reverse_continue(wait=0, thread_id=arguments["threadId"])
        return None

    async def _restart_frame(self, arguments: Arguments) -> Body:
        index = await self._index_of(arguments["frameId"])
        await self._session.restart_frame(wait=0, frame_id=index)
        return None

    async def _goto_targets(self, arguments: Arguments) -> Body:
        """The line itself; whether it can be jumped to is seen when it is tried."""
        path, line = arguments["source"]["path"], arguments["line"]
        if not isinstance(path, str) or type(line) is not int:
            raise TypeError("source.path is a text, line a whole number")
        self._session  # noqa: B018  raises before there is one
        self._targets.append((path, line))
        label = f"{PurePath(path).name}:{line}"
        return {"targets": [{"id": len(self._targets), "label": label, "line": line}]}

    async def _goto(self, arguments: Arguments) -> Body:
        number = _count(arguments, "targetId")
        if not 1 <= number <= len(self._targets):
            raise _Refusal(f"goto: {number} is no id of gotoTargets")
        path, line = self._targets[number - 1]
        await self._session.goto(file=path, line=line, thread_id=arguments["threadId"], wait=0)
        return None

    async def _pause(self, arguments: Arguments) -> Body:
        await self._session.pause(wait=0)
        return None

    # Looking ----------------------------------------------------------------------------------

    async def _threads(self, arguments: Arguments) -> Body:
        threads = (await self._session.threads()).threads
        return {"threads": [views.thread(one) for one in threads]}

    async def _stack(self, arguments: Arguments) -> Body:
        thread, first = arguments["threadId"], arguments.get("startFrame") or 0
        stack = await self._session.stack(
            thread_id=thread, start_frame=first, levels=arguments.get("levels") or 0
        )
        frames = [self._shown(one, thread) for one in stack.frames]
        return {"stackFrames": frames, "totalFrames": stack.total_frames}

    def _shown(self, frame: FrameView, thread: int) -> dap.StackFrame:
        at = frame.id if thread == self._events.stopped_thread else None
        source = None if frame.source is None else self._sources.shown(frame.source.path, at)
        return views.frame(frame, self._number(thread, frame.id), source)

    def _number(self, thread: int, index: int) -> int:
        self._last_frame += 1
        self._frames[self._last_frame] = (thread, index)
        return self._last_frame

    async def _index_of(self, frame: int | None) -> int:
        """Which frame of the stopped thread; the innermost one without a number."""
        if not frame:
            return 0
        if frame not in self._frames:
            raise _Refusal(f"frame {frame} is of an earlier stop")
        thread, index = self._frames[frame]
        stopped = (await self._session.view()).stopped_thread_id
        if thread != stopped:
            raise _Refusal(f"values are shown of the thread that stopped, {stopped}")
        return index

    async def _scopes(self, arguments: Arguments) -> Body:
        index = await self._index_of(arguments["frameId"])
        found = await self._session.scopes(frame_id=index)
        for one in found.scopes:
            self._frame_of_reference[one.variables_reference] = index
        return {"scopes": [views.scope(one) for one in found.scopes]}

    async def _variables(self, arguments: Arguments) -> Body:
        found = await self._session.variables(
            variables_reference=arguments["variablesReference"],
            start=arguments.get("start") or 0,
            count=min(arguments.get("count") or MOST_CHILDREN, MOST_CHILDREN),
            filter=arguments.get("filter"),
        )
        index = self._frame_of_reference.get(arguments["variablesReference"], 0)
        for one in found.variables:
            self._frame_of_reference[one.variables_reference] = index
        return {"variables": [views.variable(one) for one in found.variables]}

    async def _evaluate(self, arguments: Arguments) -> Body:
        given = arguments.get("context")
        context = CONTEXTS.get(given, "repl") if isinstance(given, str) else "repl"
        found = await self._session.evaluate(
            arguments["expression"],
            frame_id=await self._index_of(arguments.get("frameId")),
            context=context,
            max_value=COPIED_CHARACTERS if given == "clipboard" else SHOWN_CHARACTERS,
        )
        if found.error is not None:
            raise _Refusal(found.error)
        return views.evaluation(found, is_echo=given == "repl")

    async def _set_variable(self, arguments: Arguments) -> Body:
        reference, name = arguments["variablesReference"], arguments["name"]
        view = await self._session.set_variable(reference, name=name, value=arguments["value"])
        return views.changed(view)

    async def _set_expression(self, arguments: Arguments) -> Body:
        view = await self._session.set_expression(
            expression=arguments["expression"],
            value=arguments["value"],
            frame_id=await self._index_of(arguments.get("frameId")),
        )
        return views.changed(view)

    async def _completions(self, arguments: Arguments) -> Body:
        found = await self._session.completions(
            text=arguments["text"],
            column=arguments["column"],
            frame_id=await self._index_of(arguments.get("frameId")),
        )
        return {"targets": [views.completion(one) for one in found.items]}

    async def _exception_info(self, arguments: Arguments) -> Body:
        found = await self._session.exception()
        if found.exception is None:
            raise _Refusal("the stop is about no exception")
        return views.exception_info(found.exception)

    async def _modules(self, arguments: Arguments) -> Body:
        first, count = _count(arguments, "startModule"), _count(arguments, "moduleCount")
        self._session  # noqa: B018  raises before there is one
        found, total = await self._sources.modules(first, count)
        return {"modules": [views.module(one) for one in found], "totalModules": total}

    async def _loaded_sources(self, arguments: Arguments) -> Body:
        self._session  # noqa: B018  raises before there is one
        return {"sources": await self._sources.loaded()}

    async def _source(self, arguments: Arguments) -> Body:
        self._session  # noqa: B018  raises before there is one
        source = arguments.get("source") or {}
        number = source.get("sourceReference") or arguments.get("sourceReference") or 0
        try:
            return {"content": await self._sources.text(source.get("path"), number)}
        except LookupError as error:
            raise _Refusal(f"source: {error.args[0]}") from None


def _count(arguments: Arguments, name: str) -> int:
    value = arguments.get(name) or 0
    if type(value) is not int or value < 0:
        raise _Refusal(f"{name}: must be a whole number, from 0 on")
    return value


def _too_early() -> _Refusal:
    return _Refusal("no session yet. Send attach or launch first")


def _words(error: RelayError | _Refusal) -> str:
    return str(error) if isinstance(error, _Refusal) else error_text(error)


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
    "continue": Face._continue,
    "next": Face._next,
    "stepIn": Face._step_in,
    "stepOut": Face._step_out,
    "stepBack": Face._step_back,
    "reverseContinue": Face._reverse_continue,
    "restartFrame": Face._restart_frame,
    "gotoTargets": Face._goto_targets,
    "goto": Face._goto,
    "pause": Face._pause,
    "threads": Face._threads,
    "stackTrace": Face._stack,
    "scopes": Face._scopes,
    "variables": Face._variables,
    "evaluate": Face._evaluate,
    "setVariable": Face._set_variable,
    "setExpression": Face._set_expression,
    "completions": Face._completions,
    "exceptionInfo": Face._exception_info,
    "modules": Face._modules,
    "loadedSources": Face._loaded_sources,
    "source": Face._source,
}

_AFTER: Mapping[str, Callable[[Face], Awaitable[None]]] = {
    "attach": Face._say_initialized,
}
