"""Starting a Python program on a rung.

fast     DAP on an inherited socket pair; no port, so nobody else can connect
plain    the debuggee connects to our listener and proves itself by a token
adapter  the stock adapter on its standard streams; it has us spawn its launcher
"""

from __future__ import annotations

import contextlib
import errno
import logging
import sys
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Literal

import trio

from relay.dap.conversation import IncomingRequest
from relay.debuggers.debugpy import rungs as launch
from relay.debuggers.debugpy.fast_debuggee import FastDebuggee, FastStart
from relay.debuggers.debugpy.handshake import shake_hands
from relay.debuggers.debugpy.interpreter import Interpreter
from relay.debuggers.debugpy.interpreter_query import interpreter_of
from relay.debuggers.debugpy.join_listener import JoinListener
from relay.debuggers.debugpy.process_start import not_started, start_process
from relay.debuggers.debugpy.rungs import Program, Rung, Spawn
from relay.debuggers.debugpy.unfit import DebuggerUnfit
from relay.edition import REPLACED, START_AGAIN, is_replaced
from relay.errors import LaunchFailed, NotSupported, RelayError
from relay.process.guarded_process import GuardedProcess
from relay.process.spawn_error import TOO_LONG
from relay.session.children.child_joining import follow_children
from relay.session.dap.connection import (
    StdioByteStream,
)
from relay.session.dap.event_handler import EventHandler
from relay.session.debuggee.debuggee import Debuggee
from relay.session.debuggee.launch_plan import LaunchPlan
from relay.session.debuggee.start import Launched, Starter
from relay.session.debuggee.start_failures import RungUnfit, relay_error_in
from relay.session.session import Session
from relay.session.standby import Standby

log = logging.getLogger("relay.session")

LAST_WORDS = 2000
"""Characters of the program's standard error that a failed launch shows."""


async def launch_starters(session: Session, plan: LaunchPlan) -> list[tuple[Launched, Starter]]:
    """The ways to try, best first; one only if the client forces it.

    Raises LaunchFailed for an interpreter that is none, InvalidRequest for
    python_args that cannot be honoured, NotSupported for children that cannot be debugged.
    """
    # A command runs in the place of its Python: that may be any.
    python = sys.executable if plan.is_command else session.config.python_path
    interpreter = await interpreter_of(python)
    chosen = launch.choose(interpreter, _program(plan))
    if plan.is_command:
        return [
            (plan.launched(Rung.FAST), _starter(plan, interpreter, Rung.FAST, _state_dir(session)))
        ]
    rungs = [Rung(plan.mode)] if plan.mode else [chosen, *launch.rungs_after(chosen)]
    if plan.debug_subprocesses and not plan.children_optional:
        rungs = _with_children(rungs)
    state_dir = _state_dir(session)
    return [(plan.launched(rung), _starter(plan, interpreter, rung, state_dir)) for rung in rungs]


def _state_dir(session: Session) -> str:
    return str(session.settings.state_dir.expanduser().absolute())


def _program(plan: LaunchPlan) -> Program:
    kind: Literal["script", "module"] = "script" if plan.script is not None else "module"
    return Program(
        kind="command" if plan.is_command else kind,
        target=plan.script if plan.script is not None else plan.module or "",
        named=plan.named,
        cwd=plan.cwd,
        env=plan.env,
        args=plan.args,
        python_args=plan.python_args,
        hash_seed=plan.hash_seed,
    )


def _with_children(rungs: list[Rung]) -> list[Rung]:
    """Those on which children can be debugged, too."""
    found: list[Rung] = [rung for rung in rungs if rung is not Rung.ADAPTER]
    if not found:
        raise NotSupported(
            "debug_subprocesses needs the launch mode fast or plain",
            suggestion="Leave launch_mode out: the relay takes the best that fits",
        )
    return found


def _starter(plan: LaunchPlan, interpreter: Interpreter, rung: Rung, state_dir: str) -> Starter:
    start = _Start(plan, interpreter, rung, state_dir)
    return {Rung.FAST: start.fast, Rung.PLAIN: start.plain, Rung.ADAPTER: start.adapter}[rung]


class _Start:
    """One start of one program on one rung."""

    def __init__(
        self, plan: LaunchPlan, interpreter: Interpreter, rung: Rung, state_dir: str
    ) -> None:
        self._plan = plan
        self._program = _program(plan)
        self._interpreter = interpreter
        self._rung = rung
        self._fast = FastStart(interpreter, self._program, state_dir, plan.terminal, plan.limits)

    async def fast(self, debuggee: Debuggee) -> None:
        """The debuggee speaks DAP on an inherited socket. One that waits for its program is quicker."""
        if launch.is_too_long(self._interpreter, self._program):
            raise not_started(self._interpreter.executable, errno.E2BIG, TOO_LONG)
        # One that waits was started without limits, and has used some of its time.
        any_fits = self._plan.standby and not self._plan.limits
        standby = debuggee.session.standby if any_fits else None
        kind = None if standby is None else self._fast.kind
        if standby is None or kind is None:
            await self._run(debuggee, None)
            return
        await self._run(debuggee, await self._taken(standby, kind))
        if standby.renews:
            standby.prepare(kind, self._fast.begin_next)

    async def _run(self, debuggee: Debuggee, spare: FastDebuggee | None) -> None:
        begun = spare or await self._fast.begin()
        debuggee.adopt(begun.process, self._plan.stdin)
        if spare is None:
            try:
                with contextlib.suppress(trio.BrokenResourceError):  # ended: the handshake says why
                    await begun.stream.send_all(launch.fast_program(self._program))
            except trio.Cancelled:  # the socket is nobody's yet
                with trio.CancelScope(shield=True):
                    await begun.stream.aclose()
                raise
        else:
            debuggee.session.journey.begin_with_seed(spare.hash_seed)
        debuggee.connect(begun.stream, EventHandler(debuggee))
        await self._shake_hands(debuggee, has_probe=True)

    async def _taken(self, standby: Standby, kind: tuple[object, ...]) -> FastDebuggee | None:
        """One that has its program now; None if none waits that is as good as a new one."""
        spare = await standby.take(kind)
        if spare is None:
            return None
        assert isinstance(spare, FastDebuggee)
        try:
            if await spare.receives(launch.fast_program(self._program, spare.begun_at)):
                return spare
        except BaseException:
            standby.discard(spare)
            raise
        standby.discard(spare)
        return None

    async def plain(self, debuggee: Debuggee) -> None:
        """The debuggee connects to us; a peer that does not know the token is hung up on."""
        with JoinListener() as listener:
            plan = launch.plain_spawn(
                self._interpreter, self._program, port=listener.port, token=listener.token
            )
            debuggee.adopt(await self._spawn(plan), self._plan.stdin)
            await self._admit(debuggee, listener)
        assert debuggee.link is not None
        await debuggee.request("evaluate", {"expression": launch.PLAIN_PREPARATION})
        await self._shake_hands(debuggee, has_probe=False)

    async def _admit(self, debuggee: Debuggee, listener: JoinListener) -> None:
        """Until the debuggee has proved itself, or has ended before it came."""
        assert debuggee.process is not None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_cancel_after, debuggee.process.wait, nursery.cancel_scope)
            await listener.admit(debuggee)
            nursery.cancel_scope.cancel()
        if debuggee.process.returncode is not None:
            raise await self._why(debuggee, LaunchFailed("the debuggee did not connect"))

    async def adapter(self, debuggee: Debuggee) -> None:
        """The stock adapter, which has us spawn launcher and debuggee with our own pipes."""
        plan = launch.adapter_spawn(self._program.env)
        adapter = await start_process(plan, cwd=self._plan.cwd, terminal=False)
        debuggee.helpers.append(adapter)
        assert adapter.stderr is not None
        debuggee.nursery.start_soon(adapter.stderr.pump, lambda text: None)
        debuggee.connect(
            StdioByteStream(adapter.stdin, adapter.stdout),
            EventHandler(debuggee),
            partial(self._run_in_terminal, debuggee),
        )
        await self._shake_hands(debuggee, has_probe=False)

    async def _run_in_terminal(
        self, debuggee: Debuggee, request: IncomingRequest
    ) -> Mapping[str, Any]:
        if request.command != "runInTerminal":
            raise ValueError(f"{request.command} is not supported")
        plan = launch.terminal_spawn(request.arguments, self._program)
        process = await self._spawn(plan)
        debuggee.adopt(process, self._plan.stdin, launch.exit_code_of_launcher)
        return {"processId": process.pid}

    async def _spawn(self, plan: Spawn) -> GuardedProcess:
        asked = self._plan
        return await start_process(
            plan, cwd=asked.cwd, terminal=asked.terminal, limits=asked.limits
        )

    async def _shake_hands(self, debuggee: Debuggee, *, has_probe: bool) -> None:
        if self._plan.debug_subprocesses and self._rung is not Rung.ADAPTER:
            await follow_children(
                debuggee,
                optional=self._plan.children_optional,
                workers_only=self._plan.workers_only,
            )
        try:
            await shake_hands(
                debuggee,
                launch.initialize_arguments(self._rung),
                launch.launch_arguments(
                    self._rung,
                    self._interpreter,
                    self._program,
                    stop_on_entry=self._plan.stop_on_entry,
                ),
                has_probe=has_probe,
                watched_state=self._plan.watched_state,
                recorded_places=self._plan.recorded_places,
            )
        except (RelayError, ExceptionGroup) as error:
            known = relay_error_in(error)
            if known is None:
                raise
            why = await self._why(debuggee, known)
            if not _has_run(debuggee):
                raise why from None

    async def _why(self, debuggee: Debuggee, error: RelayError) -> Exception:
        """The error of a start that came to nothing: often the process itself knows."""
        process = debuggee.process
        if process is not None:
            with trio.move_on_after(2):
                await process.wait()
            if process.returncode == launch.UNFIT_EXIT_CODE and self._rung is Rung.FAST:
                return RungUnfit(debuggee.unfit or "the fast start does not know its debugger")
            if process.returncode is not None:
                return _ended_early(debuggee, process.returncode)
        if isinstance(error, DebuggerUnfit) and self._rung is not Rung.ADAPTER:
            return RungUnfit(error.message)
        return error


def _has_run(debuggee: Debuggee) -> bool:
    """Whether a program that ended at once took along the answer that it runs."""
    ended = debuggee.process is not None and debuggee.process.returncode is not None
    return debuggee.configured and ended and not debuggee.helpers


def _ended_early(debuggee: Debuggee, returncode: int) -> LaunchFailed:
    debuggee.drain_output()
    session = debuggee.session
    entries = session.output.last(session.program_run.first_output, 50, "stderr")
    message = f"the interpreter ended with code {returncode} before the program began"
    replaced = is_replaced()
    return LaunchFailed(
        f"{message}: {REPLACED}" if replaced else message,
        suggestion=START_AGAIN if replaced else None,
        exit_code=returncode,
        stderr="".join(entry.output for entry in entries)[-LAST_WORDS:],
    )


async def _cancel_after(wait: Callable[[], Awaitable[object]], scope: trio.CancelScope) -> None:
    await wait()
    scope.cancel()
