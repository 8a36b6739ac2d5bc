"""Inspector: values of a stopped program, asked of the probe that lives in it.

Knows the probe's calls and their time limit; the handles behind references live
in the debuggee and die with the stop. A call that hangs is interrupted there,
and nothing else is: the session stays usable. Source: contract, section 5.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from relay.adapters.python import probe_calls
from relay.errors import DebugpyError, DebugpyTimeout, EvaluateError, VariableNotFound
from relay.session.stop import Frame, RaisedException

if TYPE_CHECKING:
    from relay.session.debuggee import Debuggee

MAX_VALUE = 1000
"""Characters of one value before it is cut."""

BREAK_MODES = {"raised": "always", "uncaught": "unhandled", "userUnhandled": "userUnhandled"}


@dataclass(frozen=True, slots=True)
class Page:
    """Some children of a value, and how many there are in all."""

    variables: Sequence[dict[str, Any]]
    total: int
    cut: bool = False


class Inspector:
    """The way to the probe of one debuggee."""

    def __init__(self, debuggee: Debuggee) -> None:
        self._debuggee = debuggee
        self._calls = itertools.count(1)
        self._stop = 0
        self._used = False

    def new_stop(self) -> None:
        """Whatever was shown of an earlier stop is stale from now on."""
        self._stop += 1

    # Values ------------------------------------------------------------------------

    async def scopes(self, frame: Frame) -> list[dict[str, Any]]:
        """Locals and globals of a frame, each with a reference."""
        answer = await self._ask("scopes", frame, frame=frame.dap_id)
        return list(answer["scopes"])

    async def variables(
        self, frame: Frame, reference: int, *, start: int, count: int, kind: str | None
    ) -> Page:
        """A page of children; raises VariableNotFound for a reference that is not of this stop."""
        answer = await self._ask(
            "variables",
            frame,
            ref=reference,
            start=start,
            count=count,
            filter=kind,
            max_value=MAX_VALUE,
        )
        return Page(answer["variables"], answer["total"], answer.get("next") is not None)

    async def locals(self, frame: Frame, *, max_chars: int) -> Page:
        """The locals of a frame within a budget of characters."""
        answer = await self._ask(
            "snapshot",
            frame,
            frames=[frame.dap_id],
            max_value=min(MAX_VALUE, max(40, max_chars // 4)),
            max_chars=max_chars,
        )
        scope = answer["frames"][0]
        return Page(scope["variables"], scope["total"], bool(scope["truncated"]))

    async def evaluate(self, frame: Frame, expression: str, context: str) -> dict[str, Any]:
        """Result, or `exception`; raises EvaluateError on a syntax error."""
        return await self._ask(
            "evaluate",
            frame,
            frame=frame.dap_id,
            expression=expression,
            context=context,
            max_value=MAX_VALUE,
        )

    async def return_value(self, frame: Frame) -> dict[str, Any] | None:
        """What the call that the last step ran gave back, if it ran one."""
        answer = await self._ask("return_values", frame, frame=frame.dap_id, max_value=MAX_VALUE)
        if not answer["return_values"]:
            return None
        return dict(answer["return_values"][-1])

    async def exception(self, frame: Frame) -> RaisedException | None:
        """The exception that the frame's stop is about."""
        answer = await self._ask("exception", frame, frame=frame.dap_id)
        found = answer.get("exception")
        if not found:
            return None
        return RaisedException(
            type=found["type"],
            full_type=found["full_type"],
            message=found["message"],
            traceback=found["traceback"],
            expected=bool(found.get("expected")),
        )

    async def modules(self, frames: Sequence[Frame], at: Frame | None) -> dict[int, str]:
        """Module names of frames, by the adapter's frame ids; asked at a frame that stands.

        Before Python 3.12 a thread that blocks in C does not stand, though all are stopped.
        """
        if not frames:
            return {}
        answer = await self._ask("modules", at, frames=[f.dap_id for f in frames])
        return {int(key): name for key, name in answer["modules"].items()}

    # Housekeeping ---------------------------------------------------------------------

    async def inject(self) -> None:
        """Put the probe into a debuggee that was started without it, and mend what it lacks."""
        await self._evaluate(probe_calls.injection(), None)
        await self._ask("install", None)

    async def refine_exceptions(self) -> None:
        """Stop once for each raised exception, in the program's own code."""
        await self._ask("refine_exceptions", None, user_code_only=True, first_raise_only=True)

    async def release(self) -> None:
        """Let go of every value that was shown, so that objects die as without us."""
        if self._used:
            self._used = False
            await self._ask("release", None)

    # The way in ---------------------------------------------------------------------------

    async def _ask(self, do: str, at: Frame | None, /, **arguments: Any) -> dict[str, Any]:
        """One call of the probe, on the frame's thread (or on the debugger's own without one)."""
        number = next(self._calls)
        self._used = self._used or at is not None
        call = None if at is None else number  # the debugger's own thread is never interrupted
        expression = probe_calls.expression(do, call=call, stop=self._stop, **arguments)
        try:
            text = await self._evaluate(expression, at)
        except DebugpyTimeout as error:
            raise await self._interrupt(number, do, error) from None
        return self._checked(do, text, arguments)

    async def _evaluate(self, expression: str, frame: Frame | None) -> str:
        arguments: dict[str, Any] = {"expression": expression, "context": probe_calls.CONTEXT}
        if frame is not None:
            arguments["frameId"] = frame.dap_id
        body = await self._debuggee.request("evaluate", arguments)
        return str(body.get("result", ""))

    async def _interrupt(self, number: int, do: str, timeout: DebugpyTimeout) -> DebugpyTimeout:
        expression = probe_calls.expression("interrupt", target=number)
        try:
            answer = probe_calls.decode(await self._evaluate(expression, None))
            done = bool(answer.get("interrupted"))
        except (DebugpyTimeout, DebugpyError, ValueError):
            done = False
        hint = (
            "It was interrupted; the session is usable. Ask for something cheaper"
            if done
            else "It could not be interrupted: resume the program, or DELETE the session"
        )
        limit = timeout.details.get("timeout_seconds")
        return DebugpyTimeout(
            f"{do} did not end within {limit:g} s",
            suggestion=hint,
            operation=do,
            timeout_seconds=limit,
            interrupted=done,
        )

    def _checked(self, do: str, text: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        try:
            answer = probe_calls.decode(text)
        except ValueError as fault:
            raise DebugpyError(f"the debuggee did not answer {do}: {fault}") from None
        error = answer.get("error")
        if not isinstance(error, Mapping):
            return answer
        if error.get("kind") == "stale_reference":
            reference = arguments.get("ref")
            raise VariableNotFound(
                f"variables_reference {reference} is not of this stop",
                variables_reference=reference,
            )
        if error.get("kind") == "syntax":
            raise EvaluateError(
                f"SyntaxError: {error['message']}",
                **{k: error[k] for k in ("line", "offset", "text") if k in error},
            )
        raise DebugpyError(f"{do} failed in the debuggee: {error.get('message')}", operation=do)
