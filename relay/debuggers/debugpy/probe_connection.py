"""ProbeLink: one question to the probe in a debuggee, and what its answer or its silence means.

Knows the probe's calls by name, their time limit, and how one that hangs is interrupted. Refuses
to know what any of them is for (see `probe_inspector.py`). Source: contract, section 5.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import trio

from relay.actions import Action
from relay.dap.lifecycle import Phase
from relay.debuggers.debugpy import probe_calls
from relay.debuggers.debugpy.about import DEBUGGER, SUPPORTED_DEBUGGER
from relay.debuggers.debugpy.unfit import DebuggerUnfit
from relay.errors import (
    DebuggerError,
    DebuggerTimeout,
    EvaluateError,
    InvalidRequest,
    InvalidSessionState,
    NotSupported,
    RelayError,
    VariableNotFound,
)
from relay.session.state.stop import Frame

if TYPE_CHECKING:
    from relay.session.debuggee.debuggee import Debuggee


OTHER_DEBUGGER = Action.SEE_LIMITATIONS.of(debugger=f"{DEBUGGER} {SUPPORTED_DEBUGGER}")


GIVING_UP = (0.0, 0.05, 0.2, 1.0, 4.0)
"""Seconds before each attempt to interrupt what nobody waits for: it may have ended, or not begun."""


class ProbeLink:
    """The way to the probe of one debuggee."""

    def __init__(self, debuggee: Debuggee, *, direct: bool = False) -> None:
        """direct: the relay has started the debuggee, which takes requests to the probe itself."""
        self._debuggee = debuggee
        self._direct = direct
        self._calls = itertools.count(1)
        self._stop = 0
        self.used = False
        """Whether values were shown that it holds on to until it is asked to let go."""

    def new_stop(self) -> None:
        """Whatever was shown of an earlier stop is stale from now on."""
        self._stop += 1

    async def ask(
        self, do: str, at: Frame | None, timeout: float | None = None, /, **arguments: Any
    ) -> dict[str, Any]:
        """One call of the probe, on the frame's thread (or on the debugger's own without one)."""
        number = next(self._calls)
        self.used = self.used or at is not None
        stop = self._debuggee.session.stop
        try:
            with self._timed(do):
                text = await self._put(do, number, at, timeout, arguments)
            return self._checked(do, text, arguments)
        except DebuggerTimeout as error:
            raise await self._interrupt(number, do, error) from None
        except trio.Cancelled:
            session = self._debuggee.session
            if (
                at is not None and not session.is_ending
            ):  # else it ends of itself, or with the session
                session.start_soon(self._give_up, number)
            raise
        except DebuggerError:
            session = self._debuggee.session
            # It may have moved before this began: `at` was found, and then its turn was waited for.
            if at is not None and (stop is None or session.stop is not stop or not stop.shows(at)):
                raise _moved_on(do, session.phase) from None
            raise

    async def _put(
        self,
        do: str,
        number: int,
        at: Frame | None,
        timeout: float | None,
        arguments: Mapping[str, Any],
    ) -> str:
        if at is not None and self._direct:
            question = probe_calls.question(do, call=number, stop=self._stop, **arguments)
            asked = {"call": question, "frameId": at.dap_id}
            try:
                body = await self._debuggee.request(probe_calls.REQUEST, asked, timeout=timeout)
            except RelayError as error:  # it names the request, which is nobody's but ours
                error.message = error.message.replace(probe_calls.REQUEST, do)
                raise
            return str(body.get("result", ""))
        call = None if at is None else number  # the debugger's own thread is never interrupted
        expression = probe_calls.expression(do, call=call, stop=self._stop, **arguments)
        return await self.evaluate(expression, at, timeout)

    async def ask_any_time(
        self, do: str, timeout: float | None, /, **arguments: Any
    ) -> dict[str, Any]:
        """A call that needs no stop, and ends none of its own: it is not interrupted."""
        with self._timed(do):
            text = await self.evaluate(probe_calls.expression(do, **arguments), None, timeout)
        return self._checked(do, text, arguments)

    @contextmanager
    def _timed(self, do: str) -> Iterator[None]:
        asked = trio.current_time()
        try:
            yield
        finally:
            metrics = self._debuggee.session.metrics
            metrics.note_question(do, trio.current_time() - asked)

    async def evaluate(
        self, expression: str, frame: Frame | None, timeout: float | None = None
    ) -> str:
        """The text that the debuggee gives for an expression, on the frame's thread."""
        arguments: dict[str, Any] = {"expression": expression, "context": probe_calls.CONTEXT}
        if frame is not None:
            arguments["frameId"] = frame.dap_id
        body = await self._debuggee.request("evaluate", arguments, timeout=timeout)
        return str(body.get("result", ""))

    async def _interrupt(self, number: int, do: str, timeout: DebuggerTimeout) -> DebuggerTimeout:
        done = await self._cut_short(number)
        hint = (
            "It was interrupted; the session is usable. Ask for something cheaper"
            if done
            else Action.RESUME_OR_END
        )
        limit = timeout.details.get("timeout_seconds")
        return DebuggerTimeout(
            f"{do} did not end within {limit:g} s",
            suggestion=hint,
            operation=do,
            timeout_seconds=limit,
            interrupted=done,
        )

    async def _cut_short(self, number: int) -> bool:
        """Interrupt a call; whether it was under way."""
        expression = probe_calls.expression("interrupt", target=number)
        try:
            answer = probe_calls.decode(await self.evaluate(expression, None))
        except (RelayError, ValueError):  # it may have no debugger any more
            return False
        return bool(answer.get("interrupted"))

    async def _give_up(self, number: int) -> None:
        """Nobody waits for a call any more: it must not keep its thread from who asks next.

        It may be waiting for its turn on that thread, and cannot be interrupted before.
        """
        for pause in GIVING_UP:
            await trio.sleep(pause)
            if await self._cut_short(number):
                return

    def _checked(self, do: str, text: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        try:
            answer = probe_calls.decode(text)
        except ValueError as fault:
            raise DebuggerError(f"the debuggee did not answer {do}: {fault}") from None
        if answer.pop("expires", False):
            self.used = False  # the debuggee lets go of it as it resumes
        error = answer.get("error")
        if not isinstance(error, Mapping):
            return answer
        if error.get("kind") == "stale_reference":
            reference = arguments.get("ref")
            raise VariableNotFound(
                f"variables_reference {reference} is not of this stop",
                variables_reference=reference,
            )
        if error.get("kind") == "not_found":
            raise VariableNotFound(
                str(error["message"]),
                variables_reference=arguments.get("ref"),
                name=arguments.get("name"),
                suggestion=Action.LIST_VARIABLES,
            )
        if error.get("kind") == "syntax":
            raise EvaluateError(
                f"SyntaxError: {error['message']}",
                **{k: error[k] for k in ("line", "offset", "text") if k in error},
            )
        if error.get("kind") == "unwatchable":
            raise _unwatchable(str(error["message"]), arguments.get("expression"))
        if error.get("kind") == "raised":
            raise _bad_expression(str(error["message"]), arguments.get("expression"))
        if error.get("kind") == "unsupported":
            raise NotSupported(str(error["message"]), suggestion=OTHER_DEBUGGER)
        if error.get("kind") == "unfit":
            raise DebuggerUnfit(reason=str(error["message"]))
        raise DebuggerError(f"{do} failed in the debuggee: {error.get('message')}", operation=do)


_ADVICE = re.compile(r"(?::|;|, so) (?=(?:name|watch|ask|set a breakpoint) )")
"""What stands before the end of a reason that says what to do instead."""


def _unwatchable(reason: str, expression: Any) -> InvalidRequest:
    text, *advice = _ADVICE.split(reason, maxsplit=1)
    if not advice:
        return _bad_expression(reason, expression)
    return _bad_expression(text, expression, advice[0][0].upper() + advice[0][1:])


def _bad_expression(
    reason: str, expression: Any, suggestion: str = "Name a variable, an attribute or an item"
) -> InvalidRequest:
    return InvalidRequest.of_field(
        "expression", reason, expression, text=reason, suggestion=suggestion
    )


def _moved_on(do: str, phase: Phase) -> InvalidSessionState:
    """Another client has resumed the program while this one looked."""
    return InvalidSessionState(
        f"The program went on during {do}",
        current_state=phase.value,
        required_state=Phase.PAUSED.value,
        suggestion="Ask again at the next stop: what was shown of this one is stale",
    )
