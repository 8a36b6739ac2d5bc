"""Examples of doctests: each is compiled under a name of its own, and stands in lines of a file.

The frames of its code name no file: `<doctest lib.half[1]>`, line 1. The test knows the file and the
line: who reports a failure has it, and the runner's own frame, from which tracebacks of examples lead
before Python 3.14. xdoctest runs the parts of an example under one name: `<doctest:lib.py::half:0>`.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import types

    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.process.paths import absolute_path, is_file

_NAME_OF_EXAMPLE = re.compile(r"<doctest (.+)\[(\d+)\]>$")
_lines_of_test: dict[str, tuple[str, list[int]]] = {}
"""The latest test by its name: its file, and the line at which each example begins, from 1."""


def note_examples(frames: list[Any]) -> None:
    """Remember where the examples stand that one of the frames runs, if one does."""
    for frame in frames:
        code = frame.f_code
        if code.co_name == "__run" and os.path.basename(code.co_filename) == "doctest.py":
            note_test(frame.f_locals.get("test"))
        elif is_run_of_xdoctest(code):
            attempt(_note_part, frame.f_locals)


def is_run_of_xdoctest(code: types.CodeType) -> bool:
    """Whether it is xdoctest's own that runs the parts of an example."""
    return code.co_name == "run" and os.path.basename(code.co_filename) == "doctest_example.py"


def _note_part(names: Any) -> None:
    example, part = names["self"], names["part"]
    if is_file(str(example.fpath)):
        place = (absolute_path(str(example.fpath)), [example.lineno + part.line_offset])
        _lines_of_test.clear()
        _lines_of_test[example._partfilename] = place


def note_test(test: Any) -> None:
    """Remember where the examples of a test stand."""
    attempt(_note_lines, test)


def _note_lines(test: Any) -> None:
    """The line of a test is not always known: then neither is that of an example."""
    if test.lineno is not None and is_file(test.filename or ""):
        begin = test.lineno + 1
        lines = [begin + example.lineno for example in test.examples]
        _lines_of_test.clear()
        _lines_of_test[str(test.name)] = (absolute_path(test.filename), lines)


def note_example(path: str, line: int) -> None:
    """Remember an example of Sybil's: all of a document have one name, that of the document."""
    _lines_of_test.clear()
    _lines_of_test[path] = (path, [line])


def example_place(code: Any) -> tuple[str, int] | None:
    """The file that the code of an example stands in, and how many lines are above it there."""
    if code.co_filename in _lines_of_test and code.co_name == "<module>":
        path, lines = _lines_of_test[code.co_filename]
        return path, lines[0] - 1
    found = _NAME_OF_EXAMPLE.match(code.co_filename)
    if found is None or found.group(1) not in _lines_of_test:
        return None
    (path, lines), number = _lines_of_test[found.group(1)], int(found.group(2))
    if path == found.group(1) and code.co_name != "<module>":
        return None  # a function may be that of another example
    return (path, lines[number] - 1) if number < len(lines) else None
