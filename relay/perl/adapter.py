"""The debug adapter: one client, its requests, and its events.

Knows every request of DAP that is answered, and in which state. Refuses to know how a value is
found (inspection.py), how a process is kept (program.py, run.py), and what overtakes what
(conversation.py).
"""

from __future__ import annotations

import contextlib
import signal
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

import trio

from relay.perl import program, requests
from relay.perl.client import DapClient, Request
from relay.perl.conversation import SENT, AdapterConversation, Early, Handler
from relay.perl.event_bodies import CAPABILITIES, THREAD, attached, launched, logged, stopped
from relay.perl.hook import Hook, Reply
from relay.perl.inspection import Body, Inspection
from relay.perl.placing import BreakpointPlacing
from relay.perl.refusals import Refusal, bad_format, ended, failed, source_fault, unreached
from relay.perl.run import PerlRun

START_SECONDS = 10.0
"""For Perl to start and compile; a program that is still compiling then is launched too."""


GRACE = 0.1
"""Seconds that an evaluation has left when the client moves the program on."""

EVALUATIONS = frozenset({"evaluate", "setVariable", "setExpression"})
VALUES = EVALUATIONS | {"variables", "completions"}


def _overtakes(request: Request, earlier: Request) -> bool:
    """Whether a request need not wait for an earlier one that may take long: there are two kinds.

    Input waits for a program that does not read, so whatever moves the program on overtakes it;
    further input does not. An evaluation is waited for by another one, and one that may change
    values by what shows them.
    """
    if earlier.command == "stdin":
        return request.command != "stdin"
    if earlier.command not in EVALUATIONS or request.command in EVALUATIONS:
        return False
    changes = earlier.command != "evaluate" or bool(earlier.arguments.get("allowSideEffects"))
    return not (changes and request.command in VALUES)


class Adapter:
    """One client's debugger, and the program that it debugs."""

    def __init__(self, client: DapClient, *, seccomp: bool) -> None:
        self._client = client
        self._seccomp = seccomp
        self._inspection = Inspection()
        self._placing = BreakpointPlacing(self._changed)
        self._filters: list[str] = []
        self._configured = trio.Event()
        self._initialized = False
        self._launch: requests.Launch | None = None
        self._run: PerlRun | None = None
        self._had_run = False
        self._nursery: trio.Nursery
        self._handlers: dict[str, Handler] = {
            "launch": self._launch_request,
            "attach": self._attach_request,
            "setBreakpoints": self._set_breakpoints,
            "setFunctionBreakpoints": self._set_function_breakpoints,
            "setExceptionBreakpoints": self._set_exceptions,
            "configurationDone": self._configuration_done,
            "continue": self._continue,
            "next": self._step,
            "stepIn": self._step,
            "stepOut": self._step,
            "pause": self._pause,
            "threads": self._threads,
            "restart": self._restart,
            "terminate": self._terminate,
            "exceptionInfo": self._exception_info,
            "stdin": self._stdin,
            "scopes": self._scopes,
            "stackTrace": self._look(self._inspection.stack),
            "variables": self._look(self._inspection.variables),
            "evaluate": self._look(self._inspection.evaluate),
            "setVariable": self._look(self._inspection.set_variable),
            "setExpression": self._look(self._inspection.set_expression),
            "completions": self._look(self._inspection.completions),
            "source": self._look(self._inspection.source),
        }

    async def serve(self) -> None:
        """Until the client disconnects or hangs up; then nothing of what was launched is left."""
        checked = {name: self._checked(verb) for name, verb in self._handlers.items()}
        handlers = {**checked, "initialize": self._initialize, "disconnect": self._disconnect}
        conversation = AdapterConversation(
            self._client,
            handlers,
            urgent=frozenset({"disconnect", "terminate"}),
            overtakes=_overtakes,
            leave="disconnect",
        )
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            await conversation.run(partial(self._let_go, kill=False))
            nursery.cancel_scope.cancel()

    def _checked(self, verb: Handler) -> Handler:
        async def handler(request: Request) -> Mapping[str, Any] | Early | None:
            if not self._initialized:
                raise bad_format("The first request must be initialize")
            requests.thread(request.arguments, THREAD)
            return await verb(request)

        return handler

    # Start and end --------------------------------------------------------------------------

    async def _initialize(self, request: Request) -> Early:
        if self._initialized:
            raise bad_format("initialize was asked already")
        numbering = requests.numbering(request.arguments)
        self._inspection.numbering = self._placing.numbering = numbering
        self._initialized = True
        self._client.respond(request, CAPABILITIES)
        self._client.event("initialized")
        return SENT

    async def _launch_request(self, request: Request) -> Early:
        self._refuse_second()
        self._launch = requests.launch(request.arguments)
        run = await self._start(self._launch)
        if self._launch.await_compilation:
            self._nursery.start_soon(self._open_compiled, request, run, self._launch.program)
            return SENT
        return self._open(request, run)

    async def _open_compiled(self, request: Request, run: PerlRun, program: str) -> None:
        with trio.move_on_after(START_SECONDS):
            await run.compiled.wait()
        fault = run.source_fault(program)
        if fault is None:
            self._open(request, run)
            return
        self._client.refuse(request, source_fault(fault))
        self._run = None  # there was no program, and so there is no end of it
        run.opened.set()

    def _open(self, request: Request, run: PerlRun) -> Early:
        self._client.respond(request)
        run.opened.set()
        return SENT

    def _refuse_second(self) -> None:
        if self._had_run:
            raise bad_format("There is a program already: one conversation, one program")

    async def _start(self, launch: requests.Launch) -> PerlRun:
        started = program.start(launch, seccomp=self._seccomp)
        stream = trio.SocketStream(trio.socket.from_stdlib_socket(started.link))
        run = PerlRun(Hook(stream), started, self)
        self._client.event("process", launched(started, launch))
        await self._begin(run)
        if run.hello is None and run.exit_code is not None:
            self._run = None
            run.opened.set()
            words = f": {run.last_words.strip()}" if run.last_words.strip() else ""
            code = run.exit_code
            raise failed(f"{launch.perl} ended with {code} before the program started{words}")
        if launch.stdin is not None:
            self._nursery.start_soon(self._feed, started, launch.stdin)
        return run

    async def _feed(self, started: program.PerlProgram, text: str) -> None:
        try:
            await started.write(text.encode("utf-8", "surrogateescape"), end=True)
        except Refusal:
            return  # it did not want to read it all

    async def _attach_request(self, request: Request) -> Early:
        self._refuse_second()
        wanted = requests.attach(request.arguments)
        try:
            with trio.fail_after(START_SECONDS):
                stream = await trio.open_tcp_stream(wanted.host, wanted.port)
        except (OSError, UnicodeError, trio.TooSlowError) as error:  # UnicodeError: of the name
            raise unreached(f"Nothing listens at {wanted.host}:{wanted.port}: {error}") from None
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        run = PerlRun(Hook(stream), None, self)
        run.path_mapping = dict(wanted.path_mapping)
        await self._begin(run)
        if run.hello is None:
            raise failed(f"What listens at {wanted.host}:{wanted.port} is no Perl debug hook")
        local = stream.socket.getpeername()[0] == stream.socket.getsockname()[0]
        self._client.event("process", attached(run.hello, local=local))
        return self._open(request, run)

    async def _begin(self, run: PerlRun) -> None:
        run.hook.late = self._late
        self._run, self._had_run = run, True
        self._nursery.start_soon(run.live, self._ended)
        with trio.move_on_after(START_SECONDS):
            await run.ready.wait()
        if run.over.is_set():
            return
        await self._placing.set_all(run)
        if self._configured.is_set():
            await self._go(run)

    async def _configuration_done(self, request: Request) -> Early | None:
        if self._configured.is_set():
            return None
        self._client.respond(request)
        self._configured.set()
        if self._run is not None:
            await self._go(self._run)
        return SENT

    async def _go(self, run: PerlRun) -> None:
        entry = self._launch is not None and self._launch.stop_on_entry
        try:
            await run.hook.send("exceptions", *self._filters)
            await run.hook.send("go", int(entry))
        except Refusal:
            return  # it ended; its end is an event of its own

    async def _ended(self, run: PerlRun) -> None:
        # Its beginning is said first, and all that a client says before the program may run: one
        # that ends while Perl compiles it would otherwise end the conversation in between.
        await run.opened.wait()
        if self._run is run:
            await self._configured.wait()
        if self._run is not run:
            return
        self._run = None
        self._inspection.forget()
        if run.exit_code is not None:
            self._client.event("exited", {"exitCode": run.exit_code})
        self._client.event("terminated", {"restart": False})

    async def _disconnect(self, request: Request) -> None:
        # What was launched cannot live on: its output has nowhere to go.
        kill = requests.typed(request.arguments, "terminateDebuggee", bool, False)
        await self._let_go(kill=kill)

    async def _let_go(self, *, kill: bool) -> None:
        run = self._run
        if run is None:
            return
        self._run = None
        if run.program is not None:
            run.program.kill()
        else:
            await self._leave_attached(run, kill=kill)

    async def _leave_attached(self, run: PerlRun, *, kill: bool) -> None:
        with trio.move_on_after(2):
            try:
                await run.cancel_change()
                await run.hook.ask("kill" if kill else "detach", seconds=1)
            except Refusal:
                return

    async def _terminate(self, request: Request) -> None:
        run = self._running()
        if run.program is None:
            await run.cancel_change()
            await run.hook.send("kill")
            return
        run.program.signal(signal.SIGTERM)
        if run.stopped is not None:
            await run.cancel_change()
            self._goes_on(run)
            self._client.event("continued", {"threadId": THREAD, "allThreadsContinued": True})
            await run.hook.send("continue")

    async def _restart(self, request: Request) -> Early:
        if self._launch is None:
            raise bad_format("Only what was launched can be restarted")
        laid_over = requests.typed(request.arguments, "arguments", dict, {})
        launch = requests.launch(laid_over) if laid_over else self._launch
        old, self._run = self._run, None
        if old is not None and old.program is not None:
            old.program.kill()
            await old.over.wait()
        self._launch = launch
        self._inspection.forget()
        self._placing.forget_places()
        return self._open(request, await self._start(launch))

    async def _stdin(self, request: Request) -> Body:
        """Not of DAP: text for the program's standard input, or its end."""
        run = self._running()
        text = requests.typed(request.arguments, "input", str, "")
        eof = requests.typed(request.arguments, "eof", bool, False)
        if run.program is None:
            raise failed("The program was attached to: its standard input is elsewhere")
        data = text.encode("utf-8", "surrogateescape")
        await run.program.write(data, end=eof)
        return {"written": len(data)}

    # Breakpoints ----------------------------------------------------------------------------

    async def _set_breakpoints(self, request: Request) -> Body:
        path, wishes = requests.wishes(request.arguments, self._inspection.numbering)
        return {"breakpoints": await self._placing.set_lines(self._run, path, wishes)}

    async def _set_function_breakpoints(self, request: Request) -> Body:
        wishes = requests.named_wishes(request.arguments)
        return {"breakpoints": await self._placing.set_functions(self._run, wishes)}

    async def _late(self, reply: Reply) -> None:
        self._placing.bound(self._run, reply)

    def _changed(self, body: Body) -> None:
        self._client.event("breakpoint", {"reason": "changed", "breakpoint": body})

    async def _set_exceptions(self, request: Request) -> Body:
        filters = requests.strings(request.arguments, "filters")
        unknown = set(filters) - {"uncaught", "caught"}
        if unknown:
            raise bad_format(f"filters are uncaught and caught, not {', '.join(sorted(unknown))}")
        self._filters = list(filters)
        if self._run is not None and self._configured.is_set():
            await self._send_exceptions(self._run, filters)
        return {}

    async def _send_exceptions(self, run: PerlRun, filters: Sequence[str]) -> None:
        if run.changes:
            await run.hook.send("exceptions", *filters)  # it takes them before it moves again
        else:
            await run.hook.ask("exceptions", *filters)

    # Motion -----------------------------------------------------------------------------------

    async def _continue(self, request: Request) -> Early:
        return await self._move(request, "continue", {"allThreadsContinued": True})

    async def _step(self, request: Request) -> Early:
        how = {"next": "next", "stepIn": "in", "stepOut": "out"}[request.command]
        return await self._move(request, how, None)

    async def _move(self, request: Request, how: str, body: Body | None) -> Early:
        run = self._stopped_run()
        run.refuse_change()
        with trio.move_on_after(GRACE):
            await run.hook.looked.wait()
        run = self._stopped_run()
        self._goes_on(run)
        self._client.respond(request, body)
        with contextlib.suppress(Refusal):  # it ended; its end is an event of its own
            await run.hook.send(how)
        return SENT

    def _goes_on(self, run: PerlRun) -> None:
        run.goes_on()
        self._inspection.forget()

    async def _pause(self, request: Request) -> None:
        run = self._running()
        if run.stopped is None:
            await run.hook.send("pause")

    async def _threads(self, request: Request) -> Body:
        return {"threads": [{"id": THREAD, "name": "Main Thread"}]}

    async def _exception_info(self, request: Request) -> Body:
        why = self._stopped_run().stopped or {}
        if why.get("reason") != "exception":
            raise bad_format("The program did not stop because of an exception")
        return {
            "exceptionId": why["class"] or "die",
            "description": why["text"],
            "breakMode": "always" if why["caught"] else "unhandled",
        }

    # Inspection -------------------------------------------------------------------------------

    def _look(self, verb: Callable[[PerlRun, Body], Awaitable[Body]]) -> Handler:
        async def handler(request: Request) -> Body:
            return await verb(self._stopped_run(), request.arguments)

        return handler

    async def _scopes(self, request: Request) -> Body:
        return self._inspection.scopes(self._stopped_run(), request.arguments)

    def _running(self) -> PerlRun:
        if self._run is None:
            raise ended() if self._had_run else bad_format("launch or attach first")
        return self._run

    def _stopped_run(self) -> PerlRun:
        run = self._running()
        if run.stopped is None:
            raise failed("The program runs: pause it first")
        return run

    # What the program does --------------------------------------------------------------------

    def printed(self, category: str, text: str) -> None:
        """Hand on to the client what the program printed."""
        self._client.event("output", {"category": category, "output": text})

    async def room(self) -> None:
        """Waits while the client is behind."""
        await self._client.room()

    async def happened(self, run: PerlRun, message: Reply) -> None:
        """Act on what the hook says by itself: a stop, places of breakpoints, the end."""
        if self._run is not run:
            return
        match message["event"]:
            case "stopped":
                by_name = any(map(self._placing.is_on_function, message.get("ids") or []))
                self._client.event("stopped", stopped(message, by_name=by_name))
            case "bound":
                self._placing.bound(run, message)
            case "log":
                self._client.event("output", logged(run, message, self._inspection.numbering))
