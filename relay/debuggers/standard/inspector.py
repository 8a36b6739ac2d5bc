"""StandardInspector: values of a stopped program, by what every DAP debugger knows.

Has no probe in the debuggee: what DAP has no request for is refused with NotSupported, and what
only makes an answer richer is left out. References are the adapter's, with the stop's own check
that they were shown since it stopped. Source: DAP scopes, variables, evaluate, setVariable.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Never

from relay.debuggers.standard.data_breakpoints import AdapterDataBreakpoints
from relay.debuggers.standard.values import AdapterValues
from relay.errors import DebuggerError, EvaluateError
from relay.session.dap.breakpoint_sync import id_of, take_answers
from relay.session.debugger import WATCH
from relay.session.inspector import MAX_VALUE, Extra, FoundFunction, Inspector, Page
from relay.session.state.breakpoints import Breakpoint
from relay.session.state.exception_breakpoints import ExceptionBreakpoints
from relay.session.state.stop import Frame, RaisedException

if TYPE_CHECKING:
    from relay.session.debuggee.debuggee import Debuggee
    from relay.session.debugger import Debugger
    from relay.session.session import Session

EXTRAS = (
    ("condition", "supportsConditionalBreakpoints", "conditions of breakpoints"),
    ("hit_condition", "supportsHitConditionalBreakpoints", "hit conditions"),
    ("log_message", "supportsLogPoints", "logpoints"),
)
"""Fields of a breakpoint, each with DAP's capability and what to call it."""

CAPABILITIES = {
    Extra.STEP_BACK: "supportsStepBack",
    Extra.RESTART_FRAME: "supportsRestartFrame",
    Extra.SET_EXPRESSION: "supportsSetExpression",
    Extra.STEP_IN_TARGETS: "supportsStepInTargetsRequest",
}

LOCALS = 200
"""Variables of a frame that are asked for at once, to be cut to a budget afterwards."""


LLDB_VERSION = "$__lldb_version"
"""What lldb's adapter says of itself. To it an expression is the address of what is to be watched: of a
pointer `p` it would watch `*p`."""


class StandardInspector(Inspector):
    """`can` is what the adapter said of itself in its answer to `initialize`."""

    def __init__(self, debuggee: Debuggee, debugger: Debugger, can: Mapping[str, Any]) -> None:
        super().__init__()
        self._debuggee = debuggee
        self._debugger = debugger
        self._can = dict(can)
        self._values = AdapterValues(debuggee)
        self._data_breakpoints = AdapterDataBreakpoints(
            debuggee, self._values.scopes, takes_expressions=LLDB_VERSION not in can
        )
        self._threads: list[dict[str, Any]] = []  # as the adapter listed them last

    def learn(self, capabilities: Mapping[str, Any]) -> None:
        self._can.update(capabilities)

    def refusal(self, breakpoint: Breakpoint) -> str | None:
        """What of it the adapter has not said that it can, or has no field for."""
        name = self._debugger.name
        if breakpoint.function is not None:
            if not self._can.get("supportsFunctionBreakpoints"):
                return f"The {name} adapter cannot stop in a function by its name"
            if breakpoint.log_message is not None:
                return f"The {name} adapter takes logpoints on lines only"
        for field, capability, what in EXTRAS:
            if getattr(breakpoint, field) is not None and not self._can.get(capability):
                return f"The {name} adapter has no {what}"
        return None

    def new_stop(self) -> None:
        self._values.forget()

    # Values ------------------------------------------------------------------------

    async def scopes(self, frame: Frame) -> list[dict[str, Any]]:
        """The adapter's scopes of a frame, in its order."""
        return await self._values.scopes(frame)

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
        """A page of children; raises VariableNotFound for a reference that is not of this stop."""
        return await self._values.page(reference, start, count, kind)

    async def variables_of_locals(
        self,
        frame: Frame,
        scopes: Sequence[Mapping[str, Any]],
        *,
        start: int,
        count: int,
        summary: bool = False,
        reveal: bool = False,
    ) -> Page:
        found, total = await self._locals_in(frame, scopes, start + count)
        return Page(found[start : start + count], total)

    async def _locals_in(
        self, frame: Frame, scopes: Sequence[Mapping[str, Any]], most: int
    ) -> tuple[list[dict[str, Any]], int]:
        """`most` local variables at least, if there are so many; and how many there are.

        Where a block has a scope of its own, or arguments have, what one scope hides is left out of those behind it.
        """
        found: dict[str, dict[str, Any]] = {}
        total = 0
        for scope in scopes:
            if scope["presentation_hint"] == "locals":
                reference, count = int(scope["variables_reference"]), most + len(found)
                page = await self.variables(frame, reference, start=0, count=count)
                seen = {one["name"]: one for one in page.variables if one["name"] not in found}
                found.update(seen)
                total += page.total - len(page.variables) + len(seen)
        return list(found.values()), total

    async def locals(
        self, frame: Frame, *, max_chars: int, max_value: int | None = None, reveal: bool = False
    ) -> Page:
        """The locals of a frame, their values cut to a share of `max_chars`."""
        most = max_value or min(MAX_VALUE, max(40, max_chars // 4))
        found, total = await self._locals_in(frame, await self.scopes(frame), LOCALS)
        kept, left = [], max_chars
        for one in found:
            cut = _cut(one, most)
            left -= len(cut["name"]) + len(cut["value"])
            if left < 0:
                break
            kept.append(cut)
        return Page(kept, total, len(kept) < total)

    async def report(
        self, frame: Frame, first: Sequence[str], *, max_value: int, reveal: bool = False
    ) -> dict[str, Any]:
        """The locals of a frame, those named in `first` ahead."""
        page = await self.locals(frame, max_chars=100_000, max_value=max_value)
        bare = {name.lstrip("$@%"): name for name in first}
        ahead = [v for v in page.variables if v["name"].lstrip("$@%") in bare]
        rest = [v for v in page.variables if v not in ahead]
        return {"variables": [*ahead, *rest], "total": page.total}

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
        """Result, or `exception` with the debugger's words for why there is none."""
        arguments: dict[str, Any] = {
            "expression": expression,
            "frameId": frame.dap_id,
            "context": self._debugger.evaluate_context(context),
        }
        try:
            body = await self._debuggee.request("evaluate", arguments, timeout=timeout)
        except DebuggerError as error:
            return self._raised(error)
        said = {**body, "value": body.get("result", ""), "name": expression}
        shown = _cut(self._values.shown(said), max_value)
        return {**shown, "result": shown["value"]}

    async def hover(self, frame: Frame, expression: str, *, reveal: bool) -> dict[str, Any]:
        """As evaluate, in the context that must not change anything."""
        return await self.evaluate(frame, expression, "hover")

    async def completions(self, frame: Frame, text: str) -> tuple[int, list[dict[str, str]]]:
        if not self._can.get("supportsCompletionsRequest"):
            self._cannot("complete a text")
        column = len(text.encode("utf-16-le")) // 2 + 1
        body = await self._debuggee.request(
            "completions", {"frameId": frame.dap_id, "text": text, "column": column}
        )
        targets = body.get("targets") or []
        typed = max((int(one.get("length") or 0) for one in targets), default=0)
        return typed, [
            {"name": str(one.get("text") or one.get("label")), "type": str(one.get("type", ""))}
            for one in targets
        ]

    async def set_variable(
        self, frame: Frame, reference: int, name: str, expression: str, *, reveal: bool
    ) -> dict[str, Any]:
        """The child with its new value, or `exception`; raises VariableNotFound."""
        if not self._can.get("supportsSetVariable"):
            self._cannot("set a variable")
        self._values.sizes_of(reference)
        try:
            body = await self._debuggee.request(
                "setVariable",
                {"variablesReference": reference, "name": name, "value": expression},
            )
        except DebuggerError as error:
            return self._raised(error)
        return self._values.shown({**body, "name": name})

    @property
    def extras(self) -> frozenset[Extra]:
        """What the adapter's capabilities have of it."""
        return frozenset(extra for extra, name in CAPABILITIES.items() if self._can.get(name))

    async def set_expression(
        self, frame: Frame, expression: str, value: str, *, reveal: bool
    ) -> dict[str, Any]:
        """In the debugger's own syntax; `exception` has its words for why not."""
        if Extra.SET_EXPRESSION not in self.extras:
            self._cannot("set an expression")
        asked = {"expression": expression, "value": value, "frameId": frame.dap_id}
        try:
            body = await self._debuggee.request("setExpression", asked)
        except DebuggerError as error:
            return self._raised(error)
        return self._values.shown({**body, "name": expression})

    # What DAP does not say: answers are poorer without it --------------------------

    async def source(self, frame: Frame) -> dict[str, Any]:
        """Nothing beyond the file that the frame names."""
        return {}

    async def return_value(self, frame: Frame, *, reveal: bool = False) -> dict[str, Any] | None:
        """None: DAP shows it among the variables, if at all."""
        return None

    async def exception(self, frame: Frame) -> RaisedException | None:
        """Always None: it is asked for by DAP's exceptionInfo."""
        return None

    async def exception_details(self, frame: Frame, *, reveal: bool) -> dict[str, Any] | None:
        """Always None: what DAP has was in the answer to exceptionInfo."""
        return None

    async def modules(self, frames: Sequence[Frame], at: Frame | None) -> dict[int, str]:
        """Always empty: DAP does not say which module a frame belongs to."""
        return {}

    async def stack_modules(self, top: Frame) -> dict[int, str] | None:
        """Always empty, too."""
        return {}

    async def threads(self, *, timeout: float | None = None) -> list[dict[str, Any]]:
        """As listed now, or at the last stop: some debuggers cannot list them while the program runs."""
        return await self._listed(lambda: self._debuggee.request("threads", timeout=timeout))

    async def _listed(
        self, ask: Callable[[], Awaitable[Mapping[str, Any]]]
    ) -> list[dict[str, Any]]:
        try:
            threads = (await ask()).get("threads") or []
            self._threads = [one for one in threads if isinstance(one.get("id"), int)]
        except DebuggerError:
            if self._debuggee.session.stop is not None:
                raise
        return self._threads

    async def thread_states(self, *, timeout: float | None = None) -> list[dict[str, Any]]:
        """Every thread, as stopped at a stop and as running otherwise."""
        debuggee = self._debuggee
        has_stopped = debuggee.session.stop is not None and debuggee.group.has_stopped(debuggee)
        own = await self._listed(lambda: debuggee.ask("threads", timeout=timeout))
        return [
            {
                "id": debuggee.outer_id(int(thread["id"])),
                "name": str(thread.get("name", "")),
                "ident": int(thread["id"]),
                "state": "stopped" if has_stopped else "running",
                "frame": None,
            }
            for thread in own
        ]

    async def hits(self, *, timeout: float) -> dict[str, int]:
        """Nothing: stops name the breakpoints that were hit."""
        return {}

    async def release(self) -> None:
        """Nothing: the adapter lets go of values by itself."""

    # Breakpoints --------------------------------------------------------------------

    async def set_function_breakpoints(self, breakpoints: Sequence[Breakpoint]) -> None:
        """One more with each request: some debuggers answer in an order of their own, without names.

        Those that were sent before stay in each request.
        """
        before, self.functions = self.functions, frozenset(b.id for b in breakpoints)
        session = self._debuggee.session
        sent = [b for b in breakpoints if b.id in before]
        added = [[b] for b in breakpoints if b.id not in before]
        for one in added or [[]]:
            sent += one
            body = await self._debuggee.request(
                "setFunctionBreakpoints", {"breakpoints": [_named(b) for b in sent]}
            )
            answers = body.get("breakpoints") or []
            take_answers(self._debuggee, _in_order_of(answers, session, sent), answers)

    async def set_exception_breakpoints(self, setting: ExceptionBreakpoints) -> None:
        """The adapter's own filters; DAP forbids to ask one that has none.

        Where its entry names none for what nobody catches, those that the adapter itself sets unless it
        is asked: an empty list would take them away.
        """
        filters = self._debugger.exception_filters(setting.filters)
        offered = self._can.get("exceptionBreakpointFilters") or []
        if "uncaught" in setting.filters and not self._debugger.exception_filters(["uncaught"]):
            filters = [*filters, *(one["filter"] for one in offered if one.get("default"))]
        if filters or offered:
            await self._debuggee.request("setExceptionBreakpoints", {"filters": filters})

    async def function_places(self, *, timeout: float) -> dict[str, dict[str, Any]]:
        """None: answers to the breakpoints have said them."""
        return {}

    async def limit_exceptions(self, types: Sequence[str], only_for: Sequence[str]) -> list[str]:
        """Nothing to limit; raises NotSupported for types of exceptions."""
        if types:
            self._cannot("stop at named types of exceptions")
        return []

    async def set_captures(self, captures: list[dict[str, Any]]) -> None:
        """Raises NotSupported if there is anything to capture."""
        if captures:
            self._cannot("capture values at a breakpoint")

    async def send_captures(self, *, timeout: float) -> int:
        """Always 0: nothing was captured."""
        return 0

    # What DAP has no request for ----------------------------------------------------

    async def loaded_modules(self) -> list[dict[str, Any]]:
        self._cannot("list modules")

    async def hang_report(
        self, *, timeout: float | None = None, reveal: bool = False, **wanted: Any
    ) -> dict[str, Any]:
        self._cannot("say what threads wait for")

    async def resume_thread(self, thread_id: int, step: str | None) -> str:
        self._cannot("resume one thread alone")

    async def resume_all(self) -> None:
        self._cannot("resume one thread alone")

    async def jump_lines(self, frame: Frame) -> tuple[str, list[int]]:
        self._cannot("set the next line")

    async def tasks(
        self, at: Frame | None, *, offset: int, limit: int, frames: int
    ) -> dict[str, Any]:
        self._cannot("list tasks")

    async def trace_start(self, **wanted: Any) -> bool:
        self._cannot("trace a call")

    async def watch_writes(
        self, *, state: Mapping[str, Any] | None = None, places: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        self._cannot("say who wrote a value")

    async def write_question(self, frame: Frame, expression: str) -> dict[str, Any]:
        self._cannot("say who wrote a value")

    async def written(self, frame: Frame, expression: str, limit: int) -> dict[str, Any]:
        self._cannot("say who wrote a value")

    async def kill_answered(self, number: int) -> None:
        self._cannot("ask the processes that the program is about to kill")

    async def trace_read(self, *, stopped: bool) -> dict[str, Any] | None:
        self._cannot("trace a call")

    async def trace_functions(self, function: str) -> FoundFunction:
        self._cannot("trace a call")

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
        self._cannot("record calls")

    async def calls_read(self, *, stopped: bool) -> dict[str, Any] | None:
        self._cannot("record calls")

    def require_data_breakpoints(self) -> None:
        """Raise NotSupported unless the adapter has said that it has data breakpoints."""
        if not self._can.get("supportsDataBreakpoints"):
            self._cannot(WATCH)

    async def set_data_breakpoint(
        self, frame: Frame, number: str, expression: str, *, condition: str | None
    ) -> dict[str, Any]:
        """Raises InvalidRequest for what the adapter does not take, in its own words."""
        self.require_data_breakpoints()
        note = await self._data_breakpoints.add(frame, number, expression, condition)
        return {"how": "debugger", "note": note}

    async def delete_data_breakpoint(self, number: str) -> None:
        await self._data_breakpoints.remove(number)

    async def data_breakpoint_states(self) -> dict[str, dict[str, Any]]:
        return {number: {"how": "debugger"} for number in self._data_breakpoints.numbers}

    async def data_change(self, frame: Frame) -> dict[str, Any] | None:
        return None  # DAP says that something has changed, and not what

    async def exception_holds(self, frame: Frame, condition: str) -> tuple[bool, str | None]:
        self._cannot("stop at exceptions by a condition")

    async def debug_children(self, socket_path: str, *, workers_only: bool) -> dict[str, Any]:
        self._cannot("debug subprocesses")

    def _raised(self, error: DebuggerError) -> dict[str, Any]:
        """What the debugger says for why there is no value; raises EvaluateError for the syntax."""
        said = str(error.details.get("adapter_message") or error.message)
        if self._debugger.syntax_fault(error) is not None:
            raise EvaluateError(f"SyntaxError: {said}") from None
        if (change := self._debugger.changed_by(error)) is not None:
            said = f"Side effects not allowed: {change}"
        return {"exception": said}

    def _cannot(self, what: str) -> Never:
        raise self._debugger.cannot(what)


def _named(breakpoint: Breakpoint) -> dict[str, Any]:
    """DAP's FunctionBreakpoint, which knows no log message."""
    found = {
        "name": breakpoint.function,
        "condition": breakpoint.condition,
        "hitCondition": breakpoint.hit_condition,
    }
    return {name: value for name, value in found.items() if value is not None}


def _in_order_of(
    answers: list[Mapping[str, Any]], session: Session, sent: list[Breakpoint]
) -> list[Breakpoint]:
    """What was sent, in the order of the answers: by their ids those that were known before."""
    known = [session.breakpoints.id_of(id_of(answer)) for answer in answers]
    by_id = {b.id: b for b in sent if b.id in known}
    others = iter([b for b in sent if b.id not in by_id])
    found = [by_id.get(number or "") or next(others, None) for number in known]
    return [breakpoint for breakpoint in found if breakpoint is not None]


def _cut(shown: dict[str, Any], most: int) -> dict[str, Any]:
    if len(shown["value"]) <= most:
        return shown
    return {**shown, "value": shown["value"][: most - 1] + "…", "truncated": True}
