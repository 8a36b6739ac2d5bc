"""ProbeInspector: values of a stopped program, asked of the probe that lives in it.

Knows what the probe can be asked, and the shapes of its answers; the handles behind references
live in the debuggee and die with the stop. Refuses to know how it is asked (see `probe_connection.py`).
Source: contract, section 5.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import trio

from relay.actions import Action
from relay.debuggers.debugpy import probe_calls
from relay.debuggers.debugpy.about import DEBUGGER
from relay.debuggers.debugpy.breakpoints import exception_filters, function_breakpoint
from relay.debuggers.debugpy.probe_connection import ProbeLink
from relay.debuggers.debugpy.rungs import children_spec
from relay.debuggers.debugpy.silent_process import answered_or_seen, report_from_outside
from relay.debuggers.debugpy.unfit import DebuggerUnfit
from relay.errors import NotSupported
from relay.session.dap.breakpoint_events import name_of, take_places
from relay.session.inspector import MAX_VALUE, Extra, FoundFunction, Inspector, Page
from relay.session.own_code import own_roots
from relay.session.state.breakpoints import Breakpoint
from relay.session.state.exception_breakpoints import ExceptionBreakpoints
from relay.session.state.stop import Frame, RaisedException

if TYPE_CHECKING:
    from relay.redaction.redaction import Redaction
    from relay.session.debuggee.debuggee import Debuggee


class ProbeInspector(Inspector):
    """The way to the probe of one debuggee."""

    def __init__(self, debuggee: Debuggee, *, direct: bool = False) -> None:
        """direct: the relay has started the debuggee."""
        super().__init__()
        self._debuggee = debuggee
        self._probe = ProbeLink(debuggee, direct=direct)
        self._knows_captures = False

    def refusal(self, breakpoint: Breakpoint) -> str | None:
        return None

    def new_stop(self) -> None:
        self._probe.new_stop()

    # Values ------------------------------------------------------------------------

    async def configure(self, redaction: Redaction) -> None:
        """Say whose values are masked, before any is asked for."""
        patterns, credentials = list(redaction.patterns), redaction.credentials
        await self._ask("configure", None, redact=patterns, credentials=credentials)

    async def scopes(self, frame: Frame) -> list[dict[str, Any]]:
        answer = await self._ask("scopes", frame, frame=frame.dap_id)
        return list(answer["scopes"])

    async def variables(
        self,
        frame: Frame,
        reference: int,
        *,
        start: int,
        count: int,
        kind: str | None = None,
        summary: bool = False,
        reveal: bool = False,
    ) -> Page:
        answer = await self._ask(
            "variables",
            frame,
            ref=reference,
            start=start,
            count=count,
            filter=kind,
            max_value=MAX_VALUE,
            summary=summary,
            reveal=reveal,
        )
        return Page(
            answer["variables"],
            answer["total"],
            answer.get("next") is not None,
            0 if kind == "named" else answer["indexed_variables"],
        )

    async def locals(
        self, frame: Frame, *, max_chars: int, max_value: int | None = None, reveal: bool = False
    ) -> Page:
        answer = await self._ask(
            "snapshot",
            frame,
            frames=[frame.dap_id],
            max_value=max_value or min(MAX_VALUE, max(40, max_chars // 4)),
            max_chars=max_chars,
            reveal=reveal,
        )
        scope = answer["frames"][0]
        return Page(scope["variables"], scope["total"], bool(scope["truncated"]))

    async def report(
        self, frame: Frame, first: Sequence[str], *, max_value: int, reveal: bool = False
    ) -> dict[str, Any]:
        """The locals of a frame that are worth showing, those in `first` ahead, and its whole stack."""
        return await self._ask(
            "report",
            frame,
            frame=frame.dap_id,
            first=list(first),
            max_value=max_value,
            reveal=reveal,
        )

    async def evaluate(
        self,
        frame: Frame,
        expression: str,
        context: str,
        *,
        reveal: bool = False,
        max_value: int = MAX_VALUE,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        return await self._ask(
            "evaluate",
            frame,
            timeout,
            frame=frame.dap_id,
            expression=expression,
            context=context,
            max_value=max_value,
            reveal=reveal,
        )

    async def hover(self, frame: Frame, expression: str, *, reveal: bool) -> dict[str, Any]:
        return await self._ask(
            "hover",
            frame,
            frame=frame.dap_id,
            expression=expression,
            max_value=MAX_VALUE,
            reveal=reveal,
        )

    async def completions(self, frame: Frame, text: str) -> tuple[int, list[dict[str, str]]]:
        answer = await self._ask("completions", frame, frame=frame.dap_id, text=text)
        return answer["typed"], list(answer["items"])

    async def set_variable(
        self, frame: Frame, reference: int, name: str, expression: str, *, reveal: bool
    ) -> dict[str, Any]:
        return await self._ask(
            "set_variable",
            frame,
            ref=reference,
            name=name,
            expression=expression,
            max_value=MAX_VALUE,
            reveal=reveal,
        )

    def learn(self, capabilities: Mapping[str, Any]) -> None:
        """Nothing: what it can is known."""

    @property
    def extras(self) -> frozenset[Extra]:
        """Not running backwards, nor restarting a frame."""
        return frozenset((Extra.SET_EXPRESSION, Extra.STEP_IN_TARGETS))

    async def set_expression(
        self, frame: Frame, expression: str, value: str, *, reveal: bool
    ) -> dict[str, Any]:
        return await self._ask(
            "set_expression",
            frame,
            frame=frame.dap_id,
            expression=expression,
            value=value,
            max_value=MAX_VALUE,
            reveal=reveal,
        )

    async def loaded_modules(self) -> list[dict[str, Any]]:
        return list((await self._ask("loaded_modules", None))["modules"])

    async def source(self, frame: Frame) -> dict[str, Any]:
        return await self._ask("source", frame, frame=frame.dap_id)

    async def return_value(self, frame: Frame, *, reveal: bool = False) -> dict[str, Any] | None:
        answer = await self._ask(
            "return_values", frame, frame=frame.dap_id, max_value=MAX_VALUE, reveal=reveal
        )
        if not answer["return_values"]:
            return None
        return dict(answer["return_values"][-1])

    async def exception(self, frame: Frame) -> RaisedException | None:
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
            chain=found["chain"],
            notes=found["notes"],
        )

    async def exception_details(self, frame: Frame, *, reveal: bool) -> dict[str, Any] | None:
        answer = await self._ask("exception", frame, frame=frame.dap_id, reveal=reveal)
        return answer.get("exception") or None

    async def modules(self, frames: Sequence[Frame], at: Frame | None) -> dict[int, str]:
        if not frames:
            return {}
        answer = await self._ask("modules", at, frames=[f.dap_id for f in frames])
        return {int(key): name for key, name in answer["modules"].items()}

    async def stack_modules(self, top: Frame) -> dict[int, str] | None:
        found = (await self._ask("stack_modules", top, frame=top.dap_id))["modules"]
        return None if found is None else {int(key): name for key, name in found.items()}

    # Threads ----------------------------------------------------------------------------

    async def threads(self, *, timeout: float | None = None) -> list[dict[str, Any]]:
        body = await self._debuggee.request("threads", timeout=timeout)
        return [one for one in body.get("threads") or [] if isinstance(one.get("id"), int)]

    async def thread_states(self, *, timeout: float | None = None) -> list[dict[str, Any]]:
        states = (await self._probe.ask_any_time("thread_states", timeout))["threads"]
        return [{**state, "id": self._debuggee.outer_id(state["id"])} for state in states]

    async def hang_report(
        self, *, timeout: float | None = None, reveal: bool = False, **wanted: Any
    ) -> dict[str, Any]:
        if (number := wanted.get("thread")) is not None:
            wanted["thread"] = self._debuggee.inner_id(number)
        wanted |= self._numbers()
        ask = partial(self._probe.ask_any_time, "hang_report", timeout, reveal=reveal, **wanted)
        if number is not None:
            answer = await ask()
        else:
            roots = own_roots(self._debuggee.session)
            look = partial(report_from_outside, self._debuggee.pid, roots, wanted.get("frames", 30))
            answer = await answered_or_seen(ask, timeout, self._debuggee.pid, look)
        for thread in (*answer["threads"], *answer.get("beyond", ())):
            for one in (thread, (thread["waits_for"] or {}).get("held_by") or {}):
                for key in ("id", "thread_id"):
                    if one.get(key) is not None:
                        one[key] = self._debuggee.outer_id(one[key])
        return answer

    async def resume_thread(self, thread_id: int, step: str | None) -> str:
        number = self._debuggee.inner_id(thread_id)
        answer = await self._ask("resume_thread", None, thread=number, step=step)
        return str(answer["state"])

    async def resume_all(self) -> None:
        await self._ask("resume_all", None)

    async def jump_lines(self, frame: Frame) -> tuple[str, list[int]]:
        answer = await self._ask("jump_lines", None, frame=frame.dap_id)
        return answer["name"], list(answer["lines"])

    async def tasks(
        self, at: Frame | None, *, offset: int, limit: int, frames: int
    ) -> dict[str, Any]:
        where = {} if at is None else {"frame": at.dap_id}
        where |= self._numbers()
        return await self._ask("tasks", at, offset=offset, limit=limit, frames=frames, **where)

    def _numbers(self) -> dict[str, int]:
        """From where on the session numbers the threads of this process, unless it is the first."""
        first = self._debuggee.outer_id(0)
        return {"numbers_from": first} if first else {}

    # Breakpoints ------------------------------------------------------------------------

    async def hits(self, *, timeout: float) -> dict[str, int]:
        return dict((await self._probe.ask_any_time("hits", timeout))["hits"])

    async def set_function_breakpoints(self, breakpoints: Sequence[Breakpoint]) -> None:
        """Replace the function breakpoints; the places of those that are known are noted."""
        session = self._debuggee.session
        self.functions = frozenset(b.id for b in breakpoints)
        sent = [function_breakpoint(b, name_of(session, b)) for b in breakpoints]
        answer = await self._ask("set_function_breakpoints", None, breakpoints=sent)
        take_places(session, answer["places"])

    async def set_exception_breakpoints(self, setting: ExceptionBreakpoints) -> None:
        """The filters of pydevd; `raised` is narrowed to user code and to the first raise."""
        wanted = setting.filters
        await self.limit_exceptions(setting.types, setting.only_for)
        roots = own_roots(self._debuggee.session)
        await self._ask("watch_failures", None, on="uncaught" in wanted, roots=roots)
        filters = exception_filters(wanted, has_probe=True)
        await self._debuggee.request("setExceptionBreakpoints", {"filters": filters})
        if "raised" in wanted:
            await self._ask("refine_exceptions", None, user_code_only=True, first_raise_only=True)

    async def function_places(self, *, timeout: float) -> dict[str, dict[str, Any]]:
        return dict((await self._probe.ask_any_time("function_places", timeout))["places"])

    async def set_captures(self, captures: list[dict[str, Any]]) -> None:
        """Replace what breakpoints capture. Raises NotSupported where pydevd cannot."""
        anew = not self._knows_captures  # what an earlier session left behind does not count
        answer = await self._ask("set_captures", None, captures=captures, anew=anew)
        self.captures, self._knows_captures = captures, True
        if captures and not answer["can"]:
            raise NotSupported(
                "the debugpy of this program does not let its breakpoints be evaluated by the "
                "relay, so it cannot capture",
                suggestion="Launch with the relay's own debugpy (launch_mode fast), or use "
                "log_message",
            )

    async def send_captures(self, *, timeout: float) -> int:
        """Have the rows that wait in the debuggee sent, as events before this returns."""
        return int((await self._probe.ask_any_time("report_captures", timeout))["reported"])

    async def kill_answered(self, number: int) -> None:
        await self._probe.ask_any_time("kill_answered", None, number=number)

    async def trace_start(self, **wanted: Any) -> bool:
        given = {name: value for name, value in wanted.items() if value is not None}
        return bool((await self._ask("trace_start", None, **given))["can"])

    async def trace_read(self, *, stopped: bool) -> dict[str, Any] | None:
        return (await self._ask("trace_read", None, stopped=stopped))["trace"]  # type: ignore[no-any-return]

    async def trace_functions(self, function: str) -> FoundFunction:
        answer = await self._ask("trace_functions", None, function=function)
        return FoundFunction(answer["found"], answer["similar"], answer.get("in_c", False))

    async def calls_start(
        self,
        *,
        focus: Sequence[str],
        start: str | None = None,
        stream: str | None = None,
        rereads: bool = False,
        seed: int | None = None,
        chance: Mapping[str, Any] | None = None,
        trees: Sequence[str] = (),
        other_tree: str | None = None,
        whole: Mapping[str, Any] | None = None,
    ) -> bool:
        roots = own_roots(self._debuggee.session)
        wanted = {
            "start": start,
            "stream": stream,
            "rereads": rereads or None,
            "seed": seed,
            "chance": None if chance is None else dict(chance),
            "trees": list(trees) or None,
            "other_tree": other_tree,
            "whole": None if whole is None else dict(whole),
        }
        given = {name: value for name, value in wanted.items() if value is not None}
        answer = await self._ask("calls_start", None, roots=roots, focus=list(focus), **given)
        return bool(answer["can"])

    async def calls_read(self, *, stopped: bool) -> dict[str, Any] | None:
        return (await self._ask("calls_read", None, stopped=stopped))["calls"]  # type: ignore[no-any-return]

    async def watch_writes(
        self, *, state: Mapping[str, Any] | None = None, places: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        given = {} if state is None else {"state": dict(state)}
        answer = await self._ask("watch_writes", None, **given, places=[*map(dict, places)])
        if not answer["can"]:
            raise NotSupported("The program's own tracing tools leave no room to watch writes")

    async def write_question(self, frame: Frame, expression: str) -> dict[str, Any]:
        return await self._ask("write_question", frame, frame=frame.dap_id, expression=expression)

    async def written(self, frame: Frame, expression: str, limit: int) -> dict[str, Any]:
        return await self._ask(
            "written", frame, frame=frame.dap_id, expression=expression, limit=limit
        )

    async def set_data_breakpoint(
        self, frame: Frame, number: str, expression: str, *, condition: str | None
    ) -> dict[str, Any]:
        return await self._ask(
            "data_set",
            frame,
            number=number,
            expression=expression,
            frame=frame.dap_id,
            condition=condition,
        )

    async def delete_data_breakpoint(self, number: str) -> None:
        await self._probe.ask_any_time("data_delete", None, number=number)

    async def data_breakpoint_states(self) -> dict[str, dict[str, Any]]:
        return dict((await self._probe.ask_any_time("data_states", None))["states"])

    async def data_change(self, frame: Frame) -> dict[str, Any] | None:
        return (await self._ask("data_change", frame, frame=frame.dap_id))["change"]  # type: ignore[no-any-return]

    async def limit_exceptions(self, types: Sequence[str], only_for: Sequence[str]) -> list[str]:
        asked = {"types": list(types), "only_for": list(only_for)}
        return list((await self._ask("limit_exceptions", None, **asked))["unknown"])

    async def exception_holds(self, frame: Frame, condition: str) -> tuple[bool, str | None]:
        answer = await self._ask(
            "exception_condition", frame, frame=frame.dap_id, condition=condition
        )
        return bool(answer["holds"]), answer.get("complaint")

    # Housekeeping ---------------------------------------------------------------------

    async def inject(self) -> None:
        """Put the probe into a debuggee that was started without it, and make up for what it lacks.

        Raises DebuggerUnfit where that cannot be done.
        """
        try:
            look = probe_calls.seen(await self._probe.evaluate(probe_calls.look(), None))
            if not look.is_present:
                optimize = look.optimize if look.bytecode == probe_calls.OWN_BYTECODE else None
                if optimize is None or not await self._have_fetched(optimize):
                    injection = await trio.to_thread.run_sync(probe_calls.injection, optimize)
                    probe_calls.decode(await self._probe.evaluate(injection, None))
        except ValueError:
            raise DebuggerUnfit from None
        await self._ask("install", None)

    async def _have_fetched(self, optimize: int) -> bool:
        """Whether the debuggee could take the probe from the memory of this process."""
        if not hasattr(os, "memfd_create"):
            return False
        await trio.to_thread.run_sync(probe_calls.bytecode, optimize)
        with probe_calls.fetching(optimize) as expression:
            return bool(probe_calls.decode(await self._probe.evaluate(expression, None))["ok"])

    async def debug_children(self, socket_path: str, *, workers_only: bool) -> dict[str, Any]:
        """Have the processes that this one makes join the session; before it begins only."""
        spec = children_spec(socket_path, workers_only=workers_only)
        answer = await self._ask("debug_children", None, **spec)
        return {**answer, "suggestion": Action.GIVE_PYTHON_WITH_DEBUGGER.of(debugger=DEBUGGER)}

    async def watch_stdin(self) -> None:
        """Have the program's reads of its standard input announced; before it begins only."""
        await self._ask("watch_input", None)

    async def release(self) -> None:
        if self._probe.used:
            self._probe.used = False
            await self._ask("release", None)

    async def _ask(
        self, do: str, at: Frame | None, timeout: float | None = None, /, **arguments: Any
    ) -> dict[str, Any]:
        """One call of the probe, on the frame's thread (or on the debugger's own without one)."""
        return await self._probe.ask(do, at, timeout, **arguments)
