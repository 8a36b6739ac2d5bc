"""What a client may look at while the program stands: stack, scopes, variables, expressions.

Knows how the hook's answers become DAP's. Refuses to know how a program is started or moved.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from relay.perl import requests
from relay.perl.handles import HandlePlace, Handles, child, expression_lvalue, spelling
from relay.perl.hook import Reply, Silence
from relay.perl.numbering import Numbering
from relay.perl.refusals import bad_format, failed, timed_out
from relay.perl.run import PerlRun

Body = dict[str, Any]
EFFECT_SECONDS = 5.0
HIDDEN = {
    "beyond": "a stack this deep is not looked through to its end",
    "anonymous": "an anonymous sub's variables are visible in the innermost frame only",
    "eval": "a string eval's variables are visible in the innermost frame only",
    "file": "a file's variables are visible in the innermost frame only",
}


class Inspection:
    """The handles of one conversation, and what they lead to."""

    def __init__(self) -> None:
        self.handles = Handles()
        self.numbering = Numbering()
        self._children: dict[tuple[int, str], tuple[HandlePlace, Body]] = {}
        """What was shown: the parent and the row of each child, by reference and name."""
        self._evals: dict[int, str] = {}

    def forget(self) -> None:
        """The program goes on: every number of this stop dies."""
        self.handles.forget()
        self._children.clear()

    async def stack(self, run: PerlRun, arguments: Mapping[str, Any]) -> Body:
        start = requests.bounded(arguments, "startFrame", 0)
        levels = requests.bounded(arguments, "levels", 0)
        total = run.frames_in_all
        if total is None or not run.frames.keys() >= set(_numbers(start, levels, total)):
            run.refuse_change()
            reply = await _look(run, "stack", start, levels)
            run.frames.update(enumerate(reply["frames"], start))
            total = run.frames_in_all = int(reply["total"])
        shown = [self._frame(run, i, run.frames[i]) for i in _numbers(start, levels, total)]
        return {"stackFrames": shown, "totalFrames": total}

    def _frame(self, run: PerlRun, index: int, frame: Body) -> Body:
        return {
            "id": self.handles.frame_id(index),
            "name": frame["name"],
            "source": self._source(run, frame),
            "line": self.numbering.client_line(frame["line"]),
            "column": 0,
            "presentationHint": "label" if frame["kind"] == "beyond" else "normal",
        }

    def _source(self, run: PerlRun, frame: Body) -> Body:
        file = frame["file"]
        if not frame["saved"]:
            path = run.path_here(file)
            return {"path": path, "name": os.path.basename(path)}
        known = [number for number, name in self._evals.items() if name == file]
        number = known[0] if known else len(self._evals) + 1
        self._evals[number] = file
        return {"name": file, "sourceReference": number, "presentationHint": "deemphasize"}

    async def source(self, run: PerlRun, arguments: Mapping[str, Any]) -> Body:
        number = requests.bounded(arguments, "sourceReference", 0)
        if number not in self._evals:
            raise bad_format(f"sourceReference {number} is none of ours")
        reply = await _look(run, "source", self._evals[number])
        return {"content": reply["text"], "mimeType": "text/x-perl"}

    def scopes(self, run: PerlRun, arguments: Mapping[str, Any]) -> Body:
        index = self.handles.frame(arguments.get("frameId"))
        frame = run.frames[index]
        hidden = HIDDEN.get(frame["kind"]) if index else None
        package = HandlePlace(index, "package", package=frame["package"])
        return {
            "scopes": [
                {
                    "name": f"Locals ({hidden})" if hidden else "Locals",
                    "presentationHint": "locals",
                    "variablesReference": self.handles.reference(HandlePlace(index, "locals")),
                    "expensive": False,
                },
                {
                    "name": "Package",
                    "variablesReference": self.handles.reference(package),
                    "expensive": False,
                },
            ]
        }

    async def variables(self, run: PerlRun, arguments: Mapping[str, Any]) -> Body:
        number = arguments.get("variablesReference")
        place = self.handles.place(number)
        start = requests.bounded(arguments, "start", 0)
        count = requests.bounded(arguments, "count", 0)
        reply = await self._children_of(run, place, start, count)
        kind = requests.filter_of(arguments)
        wanted = [row for row in reply["variables"] if _is_of(row, kind)]
        spelled = spelling(place)
        rows = [self._variable(number, place, row, spelled(row)) for row in wanted]
        left = reply["total"] - start - len(rows)
        if rows and not count and left > 0:
            note = f"{left} more: ask with start and count"
            rows.append({"name": "…", "value": note, "type": "scalar", "variablesReference": 0})
        return {"variables": rows}

    async def _children_of(self, run: PerlRun, place: HandlePlace, start: int, count: int) -> Reply:
        reply = await _look(
            run, "variables", place.frame, place.root, place.name, start, count, *place.steps
        )
        result: Reply = reply.get("result", reply)
        return result

    def _variable(self, number: object, parent: HandlePlace, row: Body, lvalue: str) -> Body:
        if isinstance(number, int):
            self._children[number, row["name"]] = parent, row
        place = child(parent, row) if row["kids"] else None
        shown = {"name": row["name"], **self._value(place, row)}
        if lvalue:
            shown["evaluateName"] = lvalue
        return shown

    def _value(self, place: HandlePlace | None, row: Body) -> Body:
        """`place` is None for what has no children."""
        shown: Body = {"value": row["value"], "type": row["type"], "variablesReference": 0}
        if place is not None and row["kids"]:
            shown["variablesReference"] = self.handles.reference(place)
            if row["type"] in ("array", "hash"):
                key = "indexedVariables" if row["type"] == "array" else "namedVariables"
                shown[key] = row["kids"]
        return shown

    async def evaluate(self, run: PerlRun, arguments: Mapping[str, Any]) -> Body:
        expression = requests.expression_of(arguments)
        requests.text(arguments, "context", "")
        allowed = requests.typed(arguments, "allowSideEffects", bool, False)
        number = arguments.get("frameId")
        index = 0 if number is None else self.handles.frame(number)
        if allowed:
            place, row = await self._change(run, index, expression, expression, expression)
        else:
            row = (await _look(run, "safe", index, expression))["result"]
            holds = bool(row.get("reference"))
            lvalue = expression_lvalue(expression, f"({expression.strip()})", holds)
            place = HandlePlace(index, "safe", expression, (), lvalue, holds)
        shown = self._value(place, row)
        return {"result": shown.pop("value"), **shown}

    async def _change(
        self, run: PerlRun, index: int, text: str, said: str, lvalue: str = ""
    ) -> tuple[HandlePlace, Body]:
        """Evaluates in the program itself. `said` is the part of `text` that the client gave."""
        run.changes = True
        try:
            reply = await run.hook.ask("effects", index, text, said, seconds=EFFECT_SECONDS)
        except Silence:
            await run.hook.send("cancel")
            raise timed_out(said) from None
        finally:
            run.changes = False
        kept = reply["kept"]
        row = (await _look(run, "look", kept))["result"]
        # Asked for by its number: to evaluate the text again would do it again.
        holds = bool(row.get("reference"))
        spelled = expression_lvalue(lvalue, f"${{$DB::kept[{kept}]}}", holds)
        return HandlePlace(index, "kept", str(kept), (), spelled, holds), row

    async def set_variable(self, run: PerlRun, arguments: Mapping[str, Any]) -> Body:
        number, name = arguments.get("variablesReference"), requests.text(arguments, "name", "")
        value = requests.expression_of(arguments, "value")
        parent = self.handles.place(number)
        assert isinstance(number, int)
        if (number, name) not in self._children:
            for row in (await self._children_of(run, parent, 0, 0))["variables"]:
                self._children[number, row["name"]] = parent, row
        if (number, name) not in self._children:
            raise bad_format(f"there is no variable {name!r:.80}")
        place = child(*self._children[number, name])
        if not place.lvalue:
            raise failed(f"{name} cannot be written: it is no part of a variable")
        return await self._assign(run, place, value)

    async def set_expression(self, run: PerlRun, arguments: Mapping[str, Any]) -> Body:
        target = requests.expression_of(arguments)
        value = requests.expression_of(arguments, "value")
        number = arguments.get("frameId")
        index = 0 if number is None else self.handles.frame(number)
        return await self._assign(run, HandlePlace(index, "safe", target, (), target), value)

    async def _assign(self, run: PerlRun, place: HandlePlace, value: str) -> Body:
        target = place.lvalue
        text = f'{target} = (\n#line 1 "expression"\n{value}\n)'
        if target[0] in "@%":
            text += f"; \\{target}"
        _, row = await self._change(run, place.frame, text, value)
        return self._value(place, row)

    async def completions(self, run: PerlRun, arguments: Mapping[str, Any]) -> Body:
        text = requests.text(arguments, "text", "")
        end = self.numbering.client_column(len(text) + 1)
        column = self.numbering.column(requests.bounded(arguments, "column", end))
        number = arguments.get("frameId")
        index = 0 if number is None else self.handles.frame(number)
        # Columns count UTF-16 units, from 1.
        before = text.encode("utf-16-le")[: max(0, column - 1) * 2].decode("utf-16-le", "ignore")
        reply = await _look(run, "complete", index, before)
        start = self.numbering.client_column(column - reply["length"])
        return {"targets": [_target(item, start, reply["length"]) for item in reply["items"]]}


async def _look(run: PerlRun, name: str, *arguments: str | int) -> Reply:
    """What the hook says of the stop in force. Raises Refusal 1008 if that is over meanwhile."""
    stop = run.stopped
    reply = await run.hook.ask(name, *arguments)
    if run.stopped is not stop:
        raise failed("the program went on before there was an answer")
    return reply


def _numbers(start: int, levels: int, total: int) -> range:
    """Of the frames that were asked for."""
    return range(start, min(total, start + levels) if levels else total)


def _is_of(row: Body, kind: str | None) -> bool:
    """Whether it is one of the indexed children, or of the named ones, as asked for."""
    return kind is None or (kind == "indexed") == str(row.get("step", row["name"])).startswith("[")


def _target(item: str, start: int, length: int) -> Body:
    kind = "variable" if item[0] in "$@%" else "function"
    return {"label": item, "type": kind, "start": start, "length": length}
