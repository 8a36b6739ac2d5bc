"""What people write into breakpoints, in the words that pydevd understands.

Knows conditions, hit conditions and log messages: which of them would work, why
not, and how to say them so that they do. pydevd itself refuses nothing: what it
does not understand never stops, stops always, or logs an error, without a word.
Pure; refuses to know breakpoints and files, and evaluates nothing.
"""

from __future__ import annotations

import ast
import io
import itertools
import re
import symtable
import tokenize
from collections.abc import Iterator
from typing import NamedTuple

from relay.debuggers.debugpy.debuggee.source_lines import (
    ExpressionFault,
    check_expression,
    muted_warnings,
)
from relay.debuggers.debugpy.log_template import Field, Literal, TemplateError, parse
from relay.session.state.hit_condition import canonical_hit_condition

MAX_LOG_MESSAGE = 10_000
"""Longest log message taken, in characters."""

_COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)
_SCOPES = (ast.Lambda, *_COMPREHENSIONS)


def translate_condition(text: str) -> str:
    """A condition that means in pydevd what it means in the program.

    Two differences are removed. pydevd takes no line breaks around it; and it
    evaluates with globals and locals apart, so that nested scopes, as in
    `any(item > limit for item in items)`, would not see the frame's locals.
    Expects what `check_expression` accepts; returns anything else unchanged.
    """
    return _reach_locals(text.strip())


def translate_hits(hit_condition: str) -> str:
    """A hit condition as pydevd keeps it. Raises ValueError as `canonical_hit_condition` does."""
    return _hits_expression(canonical_hit_condition(hit_condition))


def translate_both(condition: str, hit_condition: str) -> str:
    """One hit condition that stops when both hold; send it without a condition.

    Sent apart, pydevd stops when either of them holds. Hits are counted on every
    pass of the line. Raises ValueError as `canonical_hit_condition` does.
    """
    hits = _hits_expression(canonical_hit_condition(hit_condition))
    return f"{hits} and ({translate_condition(condition)})"


def check_log_message(text: str) -> ExpressionFault | None:
    """What is wrong with a log message, or None. `offset` counts into the whole text.

    A message is text with fields as in an f-string: `{expression}`, `{x!r}`, `{x:>5}`,
    `{x=}`, nested `{x:{width}}`; `{{` and `}}` stand for braces.
    """
    if not text:
        # pydevd takes it for none at all, and stops.
        return ExpressionFault("the log message is empty", 0, text)
    if len(text) > MAX_LOG_MESSAGE:
        message = f"the log message has {len(text)} characters, more than {MAX_LOG_MESSAGE}"
        return ExpressionFault(message, 0, text[:80])
    try:
        for field in _fields(parse(text)):
            _check_field(field)
    except TemplateError as error:
        return ExpressionFault(error.message, error.position + 1, text)
    return None


def translate_log_message(text: str) -> str:
    """The same message for pydevd, which knows no `!r`, `:format`, `{{` or `%`.

    Raises ValueError for what `check_log_message` refuses.
    """
    fault = check_log_message(text)
    if fault is not None:
        raise ValueError(fault.message)
    parts = parse(text)
    # pydevd formats with % if there is at least one field, and only then.
    formatted = any(isinstance(part, Field) or "{" in part.text for part in parts)
    return "".join(
        _pydevd_field(part) if isinstance(part, Field) else _pydevd_text(part.text, formatted)
        for part in parts
    )


def _hits_expression(canonical: str) -> str:
    comparison = f"@HIT@ {canonical}"
    return f"{comparison} == 0" if canonical.startswith("%") else comparison


def _fields(parts: list[Literal | Field]) -> Iterator[Field]:
    for part in parts:
        if isinstance(part, Field):
            yield part
            yield from _fields(part.spec)


def _check_field(field: Field) -> None:
    fault = check_expression(f"({field.expression})")
    if fault is not None and field.expression.split(maxsplit=1)[0] == "lambda":
        raise TemplateError("a lambda in a field needs parentheses around it", field.position)
    if fault is not None:
        raise TemplateError(f"{{{field.expression}}}: {fault.message}", field.position)
    if not _balanced_for_pydevd(_pydevd_expression(field)):
        message = "braces in raw strings or f-strings inside a field must be balanced"
        raise TemplateError(message, field.position)


def _pydevd_text(text: str, formatted: bool) -> str:
    if not formatted:
        return text
    return text.replace("%", "%%").replace("{", "{'\\x7b'}")


def _pydevd_field(field: Field) -> str:
    return "{" + _pydevd_expression(field) + "}"


def _pydevd_expression(field: Field) -> str:
    """An expression whose `str` is what the field shows. Uses no name of the program."""
    value = _value(field)
    if not field.conversion and not field.spec:
        return value
    layout, arguments = _layout(field)
    return f"{layout!r}.format({', '.join([value, *arguments])})"


def _layout(field: Field) -> tuple[str, list[str]]:
    """The field for `str.format`, and the values of the fields inside its format."""
    spec = "".join(
        _layout(part)[0] if isinstance(part, Field) else part.text for part in field.spec
    )
    conversion = f"!{field.conversion}" if field.conversion else ""
    arguments = [_value(part) for part in field.spec if isinstance(part, Field)]
    return "{" + conversion + (f":{spec}" if spec else "") + "}", arguments


def _value(field: Field) -> str:
    # In parentheses, `a, b` is one value, and an expression may have line breaks.
    expression = _reach_locals(f"({field.expression})")
    return expression if _balanced_for_pydevd(expression) else _escape_braces(expression)


def _balanced_for_pydevd(expression: str) -> bool:
    """Whether pydevd, which counts braces in strings too, finds the field's end."""
    level = 0
    for character in expression:
        level += (character == "{") - (character == "}")
        if level < 0:
            return False
    return level == 0


def _escape_braces(expression: str) -> str:
    """The same expression without braces in its strings, but for f-strings."""
    starts = _line_starts(expression)
    edits = []
    inside = 0  # of f-strings: from 3.12 on they are several tokens, with strings among them
    for token in tokenize.generate_tokens(io.StringIO(expression).readline):
        kind = tokenize.tok_name[token.type]
        inside += kind.endswith("STRING_START") - kind.endswith("STRING_END")
        if kind == "STRING" and not inside:
            (first, column), (last, end) = token.start, token.end
            place = starts[first - 1] + column, starts[last - 1] + end
            edits.append(_Edit(*place, _escaped(token.string)))
    return _edited(expression, edits)


def _escaped(string: str) -> str:
    if "f" in string[:2].lower():  # before 3.12 an f-string is one token
        return string
    if "{" not in string and "}" not in string:
        return string
    with muted_warnings():
        plain = repr(ast.literal_eval(string))  # not raw: every backslash belongs to an escape
    return plain.replace("{", "\\x7b").replace("}", "\\x7d")


class _Edit(NamedTuple):
    """What stands in a text from `start` to `end`, in characters, is to be `text`."""

    start: int
    end: int
    text: str


def _edited(source: str, edits: list[_Edit], start: int = 0, end: int | None = None) -> str:
    """The source from `start` to `end` with edits in their order, which do not overlap."""
    parts = []
    for edit in edits:
        parts += [source[start : edit.start], edit.text]
        start = edit.end
    return "".join([*parts, source[start:end]])


def _line_starts(source: str) -> list[int]:
    """Where each line begins, in characters, as the compiler counts lines."""
    return [0, *(end.end() for end in re.finditer(r"\r\n?|\n", source))]


def _reach_locals(expression: str) -> str:
    """Hand the names that nested scopes use in as arguments, from where they are seen.

    All else stays as it is written. Unparsed, an f-string might be one that only
    this interpreter understands, and not the debuggee's.
    """
    try:
        with muted_warnings():
            body = ast.parse(expression, mode="eval").body
            binder = _Binder(expression)
            edits = binder.edits(body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return expression
    if not edits:
        return expression
    return f"({_edited(expression, edits, *binder.place(body))})"  # without a comment behind it


class _Binder:
    """Wraps each outermost nested scope: `G` becomes `(lambda name: G)(name)`.

    What a comprehension goes through first is evaluated outside of it, as in the program.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.starts = _line_starts(source)

    def edits(self, node: ast.AST) -> list[_Edit]:
        """What is to be written otherwise in the node."""
        if isinstance(node, ast.JoinedStr):
            # Before 3.12 its parts do not say where they are: it is one scope with them.
            return self._bound(node) if _has_scopes(node) else []
        if isinstance(node, _SCOPES):
            return self._bound(node)
        return [edit for child in ast.iter_child_nodes(node) for edit in self.edits(child)]

    def _bound(self, node: ast.expr) -> list[_Edit]:
        start, end = self.place(node)
        given, inner = {}, []
        first = node.generators[0].iter if isinstance(node, _COMPREHENSIONS) else None
        if first is not None:
            place = self.place(first)
            name = _unused_name(node)
            given[name] = _edited(self.source, self.edits(first), *place)
            inner.append(_Edit(*place, name))
        body = _edited(self.source, inner, start, end)
        names = [name for name in _outer_names(body, node) if name not in given]
        if not names:
            return self.edits(first) if first is not None else []
        parameters, arguments = ", ".join([*names, *given]), ", ".join([*names, *given.values()])
        call = f"(lambda {parameters}: {body})({arguments})"
        # The parentheses of a call with one generator belong to the generator.
        return [_Edit(start, end, f"({call})" if isinstance(node, ast.GeneratorExp) else call)]

    def place(self, node: ast.expr) -> tuple[int, int]:
        """Where it begins and ends, in characters."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        begins = self._offset(node.lineno, node.col_offset)
        return begins, self._offset(node.end_lineno, node.end_col_offset)

    def _offset(self, line: int, column: int) -> int:
        """The compiler counts bytes of UTF-8 in a line."""
        start = self.starts[line - 1]
        return start + len(self.source[start:].encode()[:column].decode())


def _has_scopes(node: ast.AST) -> bool:
    return any(isinstance(part, _SCOPES) for part in ast.walk(node))


def _unused_name(node: ast.AST) -> str:
    used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return next(name for name in map("items{}".format, itertools.count()) if name not in used)


def _outer_names(text: str, node: ast.AST) -> list[str]:
    """Names which the text of `node` reads and does not bind, sorted."""
    with muted_warnings():
        table = symtable.symtable(f"lambda: ({text})", "<expression>", "eval")
    bound = {
        part.target.id
        for part in ast.walk(node)
        if isinstance(part, ast.NamedExpr) and isinstance(part.target, ast.Name)
    }
    return sorted(_globals_below(table) - bound)


def _globals_below(table: symtable.SymbolTable) -> set[str]:
    names: set[str] = set()
    for child in table.get_children():
        names |= {symbol.get_name() for symbol in child.get_symbols() if symbol.is_global()}
        names |= _globals_below(child)
    return names
