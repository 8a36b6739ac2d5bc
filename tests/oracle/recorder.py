"""Runs a program under `sys.settrace` and writes down every event of its Python code.

`recorder.py OUT PROGRAM ARG…`, in the interpreter that the relay will debug. Standard library
only. An event is a list, see `trace.py`, which reads the file.
"""

from __future__ import annotations

import dis
import functools
import inspect
import json
import sys
from types import CodeType, FrameType, ModuleType
from typing import Any

SIMPLE = (int, float, bool, type(None), str)
LONGEST = 60
"""Characters of the longest representation that is written down."""

GENERATED = "<string>"
"""The file name of code that was made of a string."""

SMALLEST_ADDRESS = 1 << 32
"""Greater numbers may be addresses, which differ from run to run."""

GENERATOR = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
YIELDS = ("YIELD_VALUE", "RESUME")  # from 3.13 on the offset is that of the instruction after
RETURNS = ("RETURN_VALUE", "RETURN_CONST")
PRELUDE = {"COPY_FREE_VARS", "MAKE_CELL", "RETURN_GENERATOR", "GEN_START", "POP_TOP", "RESUME"}


class Recorder:
    """The trace function, and what it saw since `begin` returned."""

    def __init__(self) -> None:
        self.events: list[list[Any]] = []
        self.recording = False
        self._numbers: dict[int, int] = {}
        self._count = 0
        self._raising: set[int] = set()

    def trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename in (__file__, GENERATED):
            return None
        if self.recording and event in ("call", "line", "return", "exception"):
            self._note(frame, event)
        elif event == "return" and frame.f_code.co_name == "begin":
            self.recording = True
        return self.trace

    def _note(self, frame: FrameType, event: str) -> None:
        if event == "call":
            self._enter(frame)
        number = self._number(frame)
        entry: list[Any] = [event, *_place(frame), number]
        if event == "line":
            entry += [simple_locals(frame), frame.f_lasti in _loop_heads(frame.f_code)]
        elif event == "return":
            can_pause = bool(frame.f_code.co_flags & GENERATOR)
            entry += [self._how(frame, number), can_pause, self._caller(frame.f_back)]
        (self._raising.add if event == "exception" else self._raising.discard)(number)
        self.events.append(entry)

    def _how(self, frame: FrameType, number: int) -> str:
        """How a frame was left: "return", "yield", or "unwind" (by an exception)."""
        name = dis.opname[frame.f_code.co_code[frame.f_lasti]]
        if name in RETURNS:
            return "return"
        if frame.f_code.co_flags & GENERATOR and name in YIELDS and number not in self._raising:
            return "yield"
        return "unwind"

    def _caller(self, back: FrameType | None) -> list[Any] | None:
        if back is None or back.f_code.co_filename == __file__:
            return None
        return [*_place(back), self._number(back), simple_locals(back)]

    def _enter(self, frame: FrameType) -> None:
        if not frame.f_code.co_flags & GENERATOR or _is_fresh(frame.f_code, frame.f_lasti):
            self._numbers.pop(id(frame), None)

    def _number(self, frame: FrameType) -> int:
        number = self._numbers.get(id(frame))
        if number is None:
            self._count += 1
            number = self._numbers[id(frame)] = self._count
        return number


def _place(frame: FrameType) -> tuple[str, int, str]:
    return frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name


@functools.cache
def _loop_heads(code: CodeType) -> frozenset[int]:
    """Offsets of a frame that jumps back: from 3.13 on the jump's own, before its target."""
    jumps = [i for i in dis.get_instructions(code) if i.opname.startswith("JUMP_BACKWARD")]
    return frozenset(offset for jump in jumps for offset in (jump.offset, jump.argval))


def _is_fresh(code: CodeType, offset: int) -> bool:
    before = [i.opname for i in dis.get_instructions(code) if i.offset < offset]
    return all(name in PRELUDE for name in before)


def simple_locals(frame: FrameType) -> dict[str, list[str] | None]:
    """Type and representation of each simple local; None for the others."""
    if frame.f_code.co_name == "<module>":
        return {}
    return {name: _simple(value) for name, value in frame.f_locals.items()}


def _simple(value: Any) -> list[str] | None:
    shown = repr(value) if type(value) in SIMPLE else None
    if shown is None or len(shown) > LONGEST:
        return None
    if type(value) is int and value > SMALLEST_ADDRESS:
        return None
    return [type(value).__name__, shown]


def main() -> None:
    out, program = sys.argv[1:3]
    sys.argv[:] = sys.argv[2:]
    with open(program, encoding="utf-8") as file:
        code = compile(file.read(), program, "exec", dont_inherit=True)
    main_module = sys.modules["__main__"] = ModuleType("__main__")
    main_module.__file__ = program
    recorder = Recorder()
    sys.settrace(recorder.trace)
    try:
        exec(code, main_module.__dict__)
    finally:
        sys.settrace(None)
    with open(out, "w", encoding="utf-8") as file:
        json.dump(recorder.events, file)


if __name__ == "__main__":
    main()
