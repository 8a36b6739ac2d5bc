"""What the debuggee's own Python makes of a source file; asked once per version of the file.

The relay's compiler answers when it has the debuggee's minor version; otherwise
the debuggee's interpreter is asked, in a process of its own. Nothing is ever run.
"""

from __future__ import annotations

import ast
import base64
import errno
import json
import os
import sys
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import trio

from relay.debuggers.debugpy.debuggee import source_lines
from relay.debuggers.debugpy.debuggee.source_lines import Analysis, ExpressionFault
from relay.debuggers.debugpy.interpreter import Interpreter
from relay.debuggers.debugpy.interpreter_query import identity_of, interpreter_of, run_python
from relay.session.source_analysis import NoCode, SourceAnalysis
from relay.session.source_text import LARGEST_SOURCE

REMEMBERED = 256
REMEMBERED_BYTES = LARGEST_SOURCE
"""Of all their sources together: the texts of their lines are kept as well."""
REMEMBERED_EXPRESSIONS = 4096
LONGEST_EXPRESSION = 1000
"""Characters of one that is remembered."""
IN_THREAD_BYTES = 64 * 1024
"""Sources above this are compiled off the event loop."""

TEMPLATES = frozenset(
    (".html", ".htm", ".xhtml", ".xml", ".jinja", ".jinja2", ".j2", ".djhtml", ".mako", ".mak")
)
"""How names of files end that are no Python, though each line may look like some."""
BESIDE_TEMPLATE = (
    "Set it in a function that the template calls, or stop on exceptions: the stack has the"
    " template's own lines"
)
OF_CYTHON = frozenset((".pyx", ".pxi", ".pxd"))
"""Some of these are Python, too; what runs is C that was made of them."""
BESIDE_CYTHON = (
    "Set it in a function that calls it or that it calls, or stop on exceptions: the stack has Cython's"
    " own lines"
)

_analyses: OrderedDict[tuple[Any, ...], SourceAnalysis] = OrderedDict()
_faults: OrderedDict[tuple[tuple[int, int], str], ExpressionFault | None] = OrderedDict()


class UnrunAnalysis(NamedTuple):
    """The lines of a file that no program runs as they stand. what: the file is."""

    texts: tuple[str, ...]
    what: str
    suggestion: str
    executable: tuple[int, ...] = ()
    syntax_error: None = None

    @property
    def total_lines(self) -> int:
        return len(self.texts)

    def nearest(self, line: int) -> None:
        """None has code."""

    def no_code(self, line: int) -> NoCode:
        """The same of every line."""
        why = f"the file is {self.what}, and breakpoints stop in Python code"
        return NoCode(f"No Python code at line {line}: {why}", self.suggestion)


async def analyse(path: str, python_path: str) -> SourceAnalysis:
    """Lines, code and syntax error of the file. Raises OSError if it cannot be read."""
    interpreter = await interpreter_of(python_path)
    key = (*identity_of(path), interpreter.version[:2])
    if key[2] > LARGEST_SOURCE:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    known = _analyses.get(key)
    if known is None:
        source = await trio.Path(path).read_bytes()
        known = _analyses[key] = await _compile(source, path, interpreter)
        while len(_analyses) > REMEMBERED or _bytes_remembered() > REMEMBERED_BYTES:
            _analyses.popitem(last=False)
    return known


def _bytes_remembered() -> int:
    return sum(size for _, _, size, *_ in _analyses)


async def _compile(source: bytes, path: str, interpreter: Interpreter) -> SourceAnalysis:
    if _is_template(source, path):
        return UnrunAnalysis(source_lines.lines_of(source), "a template", BESIDE_TEMPLATE)
    if os.path.splitext(path)[1].lower() in OF_CYTHON:
        return UnrunAnalysis(source_lines.lines_of(source), "Cython's", BESIDE_CYTHON)
    if interpreter.version[:2] != sys.version_info[:2]:
        question = {"source": base64.b64encode(source).decode(), "filename": path}
        return Analysis.from_json((await _ask(interpreter, question))["analysis"])
    if len(source) <= IN_THREAD_BYTES:
        return source_lines.analyse(source, path)
    return await trio.to_thread.run_sync(source_lines.analyse, source, path)


def _is_template(source: bytes, path: str) -> bool:
    """Whether it is no program, though it may look like one.

    `{{ a }}` is a set of a set, which cannot be: no program has it as a statement.
    """
    ending = os.path.splitext(path)[1].lower()
    if ending in TEMPLATES or ending.startswith(".py") or b"{{" not in source:
        return ending in TEMPLATES
    try:
        with source_lines.muted_warnings():
            statements = ast.parse(source).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False  # and so it has no line with code
    values = (one.value for one in statements if isinstance(one, ast.Expr))
    return any(isinstance(one, ast.Set) and isinstance(one.elts[0], ast.Set) for one in values)


async def check_expressions(texts: Sequence[str], python_path: str) -> list[ExpressionFault | None]:
    """For each text why it is no expression of the debuggee's Python, or None.

    Another interpreter is asked once for all of them, and only what is not known yet.
    """
    interpreter = await interpreter_of(python_path)
    if interpreter.version[:2] == sys.version_info[:2]:
        return [source_lines.check_expression(text) for text in texts]
    keys = [(interpreter.version[:2], text) for text in texts]
    found = {key: _faults[key] for key in keys if key in _faults}
    unknown = [key for key in dict.fromkeys(keys) if key not in found]
    if unknown:
        answer = await _ask(interpreter, {"expressions": [text for _, text in unknown]})
        for key, fault in zip(unknown, answer["expressions"], strict=True):
            found[key] = ExpressionFault(**fault) if fault else None
            if len(key[1]) <= LONGEST_EXPRESSION:
                _faults[key] = found[key]
    while len(_faults) > REMEMBERED_EXPRESSIONS:
        _faults.popitem(last=False)
    return [found[key] for key in keys]


async def _ask(interpreter: Interpreter, question: Mapping[str, Any]) -> dict[str, Any]:
    script = str(Path(source_lines.__file__))
    argv = [interpreter.executable, "-I", "-S", script]
    answer = json.loads(
        await run_python(argv, json.dumps(question).encode(), interpreter.executable)
    )
    assert isinstance(answer, dict)
    return answer
