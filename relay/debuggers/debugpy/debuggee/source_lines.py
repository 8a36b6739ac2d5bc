"""Static questions about Python source: which lines have code, is this an expression.

Knows what this interpreter's compiler makes of a text; it compiles and never runs.
Refuses to know breakpoints, sessions and debuggers. Where a debuggee's Python has
another minor version, its lines differ: run this file there (`python source_lines.py`,
JSON in, JSON out, see `main`). Therefore: standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import ast
import base64
import bisect
import contextlib
import dis
import functools
import io
import json
import re
import sys
import threading
import tokenize
import warnings
from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple

MAX_EXPRESSION = 10_000
"""Longest expression taken, in characters: the compiler recurses into longer ones
until the process, which is the relay's, dies."""

_compiling = threading.RLock()

_INVISIBLE = frozenset(
    (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
)


class SyntaxFault(NamedTuple):
    """Why a source does not compile. `line` and `offset` count from 1; 0 means unknown."""

    line: int
    offset: int
    message: str
    text: str


class ExpressionFault(NamedTuple):
    """Why a text is no expression. `offset` counts characters from 1; 0 means unknown."""

    message: str
    offset: int
    text: str


class Analysis(NamedTuple):
    """What the compiler made of one source.

    `executable` is sorted: the lines, from 1, on which a debugger can stop. It is
    empty if there is a `syntax_error`. `texts` are the lines without their ends.
    """

    total_lines: int
    executable: tuple[int, ...]
    texts: tuple[str, ...]
    syntax_error: SyntaxFault | None

    def nearest(self, line: int) -> int | None:
        """The nearest line with code: `line` itself, else the next, else the last before."""
        return nearest(self, line)

    def no_code(self, line: int) -> None:
        """Nothing more is known than that there is none: see `describe`."""

    def as_json(self) -> dict[str, Any]:
        """For another interpreter; `from_json` is the way back."""
        fault = self.syntax_error
        return {**self._asdict(), "syntax_error": fault and fault._asdict()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Analysis:
        """What `as_json` gave. Raises KeyError or TypeError for anything else."""
        fault = data["syntax_error"]
        return cls(
            total_lines=int(data["total_lines"]),
            executable=tuple(data["executable"]),
            texts=tuple(data["texts"]),
            syntax_error=SyntaxFault(**fault) if fault else None,
        )


def analyse(source: bytes, filename: str, optimize: int = -1) -> Analysis:
    """Compile `source` as a module, and find which of its lines have code.

    `optimize` is the debuggee's level of `-O` (0 to 2; -1: as this interpreter runs).
    Takes as long as the compiler: about a second for 50,000 lines.
    """
    texts = lines_of(source)
    try:
        code = _compile(source, filename, "exec", optimize=optimize)
    except Exception as error:  # noqa: BLE001 - the compiler raises six kinds, see _fault
        return Analysis(len(texts), (), texts, _fault(error, texts))
    lines = sorted(set(_lines_with_code(code)))
    return Analysis(len(texts), tuple(lines), texts, None)


def lines_of(source: bytes) -> tuple[str, ...]:
    """The lines, without their ends."""
    return tuple(_split_lines(_decode(source)))


def nearest(analysis: Analysis, line: int) -> int | None:
    """The nearest line with code: `line` itself, else the next, else the last before."""
    index = bisect.bisect_left(analysis.executable, line)
    if index < len(analysis.executable):
        return analysis.executable[index]
    return analysis.executable[-1] if analysis.executable else None


def describe(analysis: Analysis, line: int) -> str:
    """What stands on a line, as one word for a message.

    `code`; or, without code: `outside` (no such line), `blank`, `comment`,
    `docstring`, `continuation` (of a statement or a string that began above), or
    `declaration` (`else:`, `global x`, what the compiler removed, and the like).
    """
    if not 1 <= line <= analysis.total_lines:
        return "outside"
    if line in analysis.executable:
        return "code"
    return _describe_idle(analysis, line)


@functools.lru_cache(64)  # breakpoints of one request, and their conditions, are often alike
def check_expression(text: str, allow_await: bool = False) -> ExpressionFault | None:
    """Why `text` is no expression, or None if it is one.

    White space around it does not count. `yield` is refused: evaluated in a frame
    it would make a generator, not a value. `await` only on demand.
    """
    fault = _check_length(text)
    if fault is not None:
        return fault
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if allow_await else 0
    expression = text.strip()
    try:
        _compile(expression, "<expression>", "eval", flags=flags)
    except Exception as error:  # noqa: BLE001 - the compiler raises six kinds, see _fault
        fault_of_line = _fault(error, _split_lines(expression))
        lead = len(text) - len(text.lstrip()) if fault_of_line.line == 1 else 0
        offset = fault_of_line.offset and min(len(text), fault_of_line.offset + lead)
        return ExpressionFault(fault_of_line.message, offset, text)
    return None


@contextlib.contextmanager
def muted_warnings() -> Iterator[None]:
    """For compiling others' source: what it is warned of is no business of this process.

    One thread at a time: the filters of warnings belong to the whole process.
    """
    with _compiling, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def main() -> None:
    """One question as JSON on standard input, its answer on standard output.

    `{"source": base64, "filename": str, "optimize": int, "expressions": [str]}`, all
    optional, gives `{"analysis": {…} or null, "expressions": [{…} or null]}`.
    """
    question = json.load(sys.stdin)
    json.dump(answer(question), sys.stdout)


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """What `main` replies to."""
    analysis = None
    if question.get("source") is not None:
        analysis = analyse(
            base64.b64decode(question["source"]),
            question.get("filename", "<source>"),
            question.get("optimize", -1),
        ).as_json()
    faults = [check_expression(text) for text in question.get("expressions", ())]
    return {"analysis": analysis, "expressions": [fault and fault._asdict() for fault in faults]}


def _compile(source: Any, filename: str, mode: str, flags: int = 0, optimize: int = -1) -> CodeType:
    with muted_warnings():
        code: CodeType = compile(
            source, filename, mode, flags=flags, dont_inherit=True, optimize=optimize
        )
        return code


def _lines_with_code(code: CodeType) -> Iterator[int]:
    for _, line in dis.findlinestarts(code):
        # From 3.11 on a module starts with an instruction on line 0; from 3.13 on
        # some instructions have no line.
        if line:
            yield line
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _lines_with_code(constant)


def _decode(source: bytes) -> str:
    """As the compiler would, but never failing: its verdict comes from the compiler."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    except SyntaxError:
        encoding = "utf-8"
    return source.decode(encoding, "replace")


def _split_lines(text: str) -> list[str]:
    """Lines as the compiler counts them: unlike `splitlines`, it knows three ends only."""
    lines = re.split("\r\n|\r|\n", text)
    return lines if lines[-1] else lines[:-1]


def _fault(error: Exception, texts: Any) -> SyntaxFault:
    if isinstance(error, SyntaxError):
        line, text = error.lineno or 0, error.text or ""
        if not text and 1 <= line <= len(texts):
            text = texts[line - 1]
        return SyntaxFault(line, max(0, error.offset or 0), str(error.msg), text.rstrip("\r\n"))
    if isinstance(error, (RecursionError, MemoryError)):
        return SyntaxFault(0, 0, "too deeply nested to compile", "")
    # ValueError (null bytes before 3.12, huge numbers), OverflowError, UnicodeError.
    return SyntaxFault(0, 0, str(error) or type(error).__name__, "")


def _check_length(text: str) -> ExpressionFault | None:
    if not text.strip():
        return ExpressionFault("the expression is empty", 0, text)
    if "\0" in text:
        return ExpressionFault("the expression has a null byte", text.index("\0") + 1, text)
    if len(text) > MAX_EXPRESSION:
        message = f"the expression has {len(text)} characters, more than {MAX_EXPRESSION}"
        return ExpressionFault(message, 0, text[:80])
    return None


def _describe_idle(analysis: Analysis, line: int) -> str:
    text = analysis.texts[line - 1].strip()
    strings, continued = _extents(analysis)
    if line in strings:
        return "docstring"
    if not text:
        return "blank"
    if text.startswith("#") and line not in _lines_in_strings(analysis):
        return "comment"
    return "continuation" if line in continued else "declaration"


def _extents(analysis: Analysis) -> tuple[set[int], set[int]]:
    """Lines of statements that are nothing but a string; lines that go on with a statement."""
    strings: set[int] = set()
    continued: set[int] = set()
    statement: list[tokenize.TokenInfo] = []
    for token in _tokens(analysis):
        if token.type == tokenize.NEWLINE:
            lines = range(statement[0].start[0], statement[-1].end[0] + 1) if statement else ()
            alone = all(part.type == tokenize.STRING for part in statement)
            (strings if alone else continued).update(lines if alone else lines[1:])
            statement = []
        elif token.type not in _INVISIBLE:
            statement.append(token)
    return strings, continued


def _lines_in_strings(analysis: Analysis) -> set[int]:
    """Lines that begin inside a string: a `#` there begins no comment."""
    lines: set[int] = set()
    for token in _tokens(analysis):
        if token.type not in _INVISIBLE and token.type != tokenize.NEWLINE:
            lines.update(range(token.start[0] + 1, token.end[0] + 1))
    return lines


def _tokens(analysis: Analysis) -> Iterator[tokenize.TokenInfo]:
    """The tokens of the source, up to where it stops making sense."""
    readline = iter([text + "\n" for text in analysis.texts]).__next__
    try:
        yield from tokenize.generate_tokens(readline)
    except (tokenize.TokenError, SyntaxError):
        return


if __name__ == "__main__":
    main()
