"""What one editor is shown of a session: frames, values, modules and sources, by numbers of its own.

Each method carries out one request of DAP by the relay's API, and returns the answer's body.
Refuses to know who may ask. Source: DAP requests.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import PurePath
from typing import Any, Literal, TypeVar

from relay.client import AsyncSession
from relay.dap import types as dap
from relay.faces.dap import views
from relay.faces.dap.sources import EditorSources
from relay.models.inspection import FrameView, VariableView

Arguments = Mapping[str, Any]
Body = Mapping[str, Any] | None
Shown = TypeVar("Shown", dap.Scope, dap.Variable, dict[str, Any])

MOST_CHILDREN = 10_000

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


class EditorRefusal(Exception):
    """The face refuses by itself; the text is for people at an editor."""


class EditorInspector:
    """One editor's view of its session. Frames and references are those of the present stop."""

    def __init__(self, session: AsyncSession, stopped_thread: Callable[[], int | None]) -> None:
        """`stopped_thread`: the thread that has stopped last, as far as the editor was told."""
        self._session = session
        self._stopped_thread = stopped_thread
        self._sources = EditorSources(session)
        self._frames: dict[int, tuple[int, int]] = {}
        self._last_frame = 0
        self._last_reference = 0
        self._numbers: dict[int, int] = {}
        """The editor's numbers of the relay's references, which may be larger than DAP's 31 bits."""

        self._values: dict[int, tuple[int, int]] = {}
        """By the editor's number: the relay's reference, and the frame whose value it is."""

        self._elsewhere: dict[int, tuple[int, int]] = {}
        """By the editor's number: a frame of a thread that has not stopped, which shows its locals."""

        self._targets: list[tuple[str, int]] = []

    def forget_stop(self) -> None:
        """The program runs on: what was numbered is of no use any more."""
        self._frames.clear()
        self._numbers.clear()
        self._values.clear()
        self._elsewhere.clear()
        self._sources.forget_stop()

    async def threads(self, arguments: Arguments) -> Body:
        """The threads of the program."""
        threads = (await self._session.threads()).threads
        several = len({one.process and one.process.pid for one in threads}) > 1
        return {"threads": [views.thread(one, named=several) for one in threads]}

    async def stack(self, arguments: Arguments) -> Body:
        """Frames of a thread, each with a number."""
        thread, first = arguments["threadId"], arguments.get("startFrame") or 0
        stack = await self._session.stack(
            thread_id=thread, start_frame=first, levels=arguments.get("levels") or 0
        )
        frames = [await self._shown(one, thread) for one in stack.frames]
        return {"stackFrames": frames, "totalFrames": stack.total_frames}

    async def _shown(self, frame: FrameView, thread: int) -> dap.StackFrame:
        at = frame.id if thread == self._stopped_thread() else None
        source = None if frame.source is None else await self._sources.shown(frame.source.path, at)
        return views.frame(frame, self._number(thread, frame.id), source)

    def _number(self, thread: int, index: int) -> int:
        self._last_frame += 1
        self._frames[self._last_frame] = (thread, index)
        return self._last_frame

    def _numbered(self, shown: Shown, index: int) -> Shown:
        """What is shown of a value of this frame, with a number of the editor's for its children."""
        if reference := shown["variablesReference"]:
            number = self._numbers.setdefault(reference, self._last_reference + 1)
            self._last_reference = max(self._last_reference, number)
            self._values[number] = reference, index
            shown["variablesReference"] = number
        return shown

    def _value(self, number: int) -> tuple[int, int]:
        """The relay's reference, and the frame whose value it is."""
        if number in self._elsewhere:
            raise EditorRefusal("values are set in the thread that stopped")
        if number not in self._values:
            raise EditorRefusal(f"variablesReference {number} is of no value of the present stop")
        return self._values[number]

    async def index_of(self, frame: int | None) -> int:
        """Which frame of the stopped thread; the innermost one without a number."""
        thread, index = await self._place_of(frame)
        if thread is not None:
            raise EditorRefusal(
                "expressions are evaluated, and values expanded and set, in the thread that stopped. "
                f"Thread {thread} has not: its locals are shown"
            )
        return index

    async def _place_of(self, frame: int | None) -> tuple[int | None, int]:
        """Thread and index of a frame; no thread if it is the one that stopped."""
        if not frame:
            return None, 0
        if frame not in self._frames:
            raise EditorRefusal(f"frame {frame} is of an earlier stop")
        thread, index = self._frames[frame]
        stopped = (await self._session.view()).stopped_thread_id
        return (None if thread == stopped else thread), index

    async def named(self, arguments: Arguments) -> tuple[str | None, int]:
        """A variable as the editor shows it, or an expression, as the program names it; and the frame."""
        expression, reference = str(arguments["name"]), arguments.get("variablesReference")
        if not reference:
            return expression, await self.index_of(arguments.get("frameId"))
        reference, index = self._value(reference)
        found = await self._session.variables(variables_reference=reference, count=MOST_CHILDREN)
        names = [one.evaluate_name for one in found.variables if one.name == expression]
        return (names[0] if names else None), index

    async def scopes(self, arguments: Arguments) -> Body:
        """The scopes of a frame."""
        thread, index = await self._place_of(arguments["frameId"])
        if thread is not None:
            self._last_reference += 1
            self._elsewhere[self._last_reference] = thread, index
            return {"scopes": [views.locals_elsewhere(self._last_reference)]}
        found = await self._session.scopes(frame_id=index)
        return {"scopes": [self._numbered(views.scope(one), index) for one in found.scopes]}

    async def variables(self, arguments: Arguments) -> Body:
        """What a reference stands for."""
        start = arguments.get("start") or 0
        count = min(arguments.get("count") or MOST_CHILDREN, MOST_CHILDREN)
        if (place := self._elsewhere.get(arguments["variablesReference"])) is not None:
            thread, index = place
            there = await self._session.frame_variables(
                index, thread_id=thread, offset=start, limit=count
            )
            found_there = [one for one in there.variables if isinstance(one, VariableView)]
            return {"variables": [views.variable(one) for one in found_there]}
        reference, index = self._value(arguments["variablesReference"])
        found = await self._session.variables(
            variables_reference=reference,
            start=start,
            count=count,
            filter=arguments.get("filter"),
        )
        shown = [self._numbered(views.variable(one), index) for one in found.variables]
        return {"variables": shown}

    async def evaluate(self, arguments: Arguments) -> Body:
        """The value of an expression in a frame."""
        given = arguments.get("context")
        context = CONTEXTS.get(given, "repl") if isinstance(given, str) else "repl"
        index = await self.index_of(arguments.get("frameId"))
        found = await self._session.evaluate(
            arguments["expression"],
            frame_id=index,
            context=context,
            max_value=COPIED_CHARACTERS if given == "clipboard" else SHOWN_CHARACTERS,
        )
        if found.error is not None:
            raise EditorRefusal(found.error)
        return self._numbered(views.evaluation(found, is_echo=given == "repl"), index)

    async def set_variable(self, arguments: Arguments) -> Body:
        """Give a variable another value."""
        (reference, index), name = self._value(arguments["variablesReference"]), arguments["name"]
        view = await self._session.set_variable(reference, name=name, value=arguments["value"])
        return self._numbered(views.changed(view), index)

    async def set_expression(self, arguments: Arguments) -> Body:
        """Assign to an expression."""
        index = await self.index_of(arguments.get("frameId"))
        view = await self._session.set_expression(
            expression=arguments["expression"], value=arguments["value"], frame_id=index
        )
        return self._numbered(views.changed(view), index)

    async def goto_targets(self, arguments: Arguments) -> Body:
        """The line itself; whether it can be jumped to is seen when it is tried."""
        path, line = arguments["source"]["path"], arguments["line"]
        self._targets.append((path, line))
        label = f"{PurePath(path).name}:{line}"
        return {"targets": [{"id": len(self._targets), "label": label, "line": line}]}

    def target(self, number: int) -> tuple[str, int]:
        """File and line of a target that was shown. Raises EditorRefusal for any other number."""
        if not 1 <= number <= len(self._targets):
            raise EditorRefusal(f"goto: {number} is no id of gotoTargets")
        return self._targets[number - 1]

    async def step_in_targets(self, arguments: Arguments) -> Body:
        """The calls that the innermost function has still to make; of others, none can be chosen."""
        thread, index = await self._place_of(arguments["frameId"])
        if thread is not None or index:
            return {"targets": []}
        found = await self._session.step_in_targets()
        return {"targets": [views.step_in_target(one) for one in found.targets]}

    async def completions(self, arguments: Arguments) -> Body:
        """How what was typed may go on."""
        found = await self._session.completions(
            text=arguments["text"],
            column=arguments["column"],
            frame_id=await self.index_of(arguments.get("frameId")),
        )
        return {"targets": [views.completion(one) for one in found.items]}

    async def exception_info(self, arguments: Arguments) -> Body:
        """The exception of the stop."""
        found = await self._session.exception()
        if found.exception is None:
            raise EditorRefusal("the stop is about no exception")
        return views.exception_info(found.exception)

    async def modules(self, arguments: Arguments) -> Body:
        """Modules that the program has imported."""
        first, count = arguments.get("startModule", 0), arguments.get("moduleCount", 0)
        found, total = await self._sources.modules(first, count)
        return {"modules": [views.module(one) for one in found], "totalModules": total}

    async def loaded_sources(self, arguments: Arguments) -> Body:
        """Their files."""
        return {"sources": await self._sources.loaded()}

    async def source(self, arguments: Arguments) -> Body:
        """The text of a source."""
        source = arguments.get("source") or {}
        number = source.get("sourceReference") or arguments.get("sourceReference") or 0
        try:
            return {"content": await self._sources.text(source.get("path"), number)}
        except LookupError as error:
            raise EditorRefusal(f"source: {error.args[0]}") from None


LOOKS: Mapping[str, Callable[[EditorInspector, Arguments], Awaitable[Body]]] = {
    "threads": EditorInspector.threads,
    "stackTrace": EditorInspector.stack,
    "scopes": EditorInspector.scopes,
    "variables": EditorInspector.variables,
    "evaluate": EditorInspector.evaluate,
    "gotoTargets": EditorInspector.goto_targets,
    "stepInTargets": EditorInspector.step_in_targets,
    "completions": EditorInspector.completions,
    "exceptionInfo": EditorInspector.exception_info,
    "modules": EditorInspector.modules,
    "loadedSources": EditorInspector.loaded_sources,
    "source": EditorInspector.source,
}
"""Requests that only look. They can be cancelled in their midst: an expression is then interrupted."""

CHANGES: Mapping[str, Callable[[EditorInspector, Arguments], Awaitable[Body]]] = {
    "setVariable": EditorInspector.set_variable,
    "setExpression": EditorInspector.set_expression,
}
"""Requests that change what was looked at."""
