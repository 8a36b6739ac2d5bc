"""Log messages taken apart: text, and fields as in an f-string.

Knows where a field ends: brackets, strings, `!r`, `:format`, `=`. Refuses to know
whether an expression is one, and what pydevd makes of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_OPENING = {"(": ")", "[": "]", "{": "}"}
_CLOSING = frozenset(_OPENING.values())
_QUOTE = re.compile(r"'''|\"\"\"|'|\"")
# `x=` shows its own text; `x ==`, `x !=`, `x <=` and `x >=` are unfinished comparisons.
_SHOWS_ITSELF = re.compile(r"(?<![=!<>])=\s*$")
_CONVERSIONS = frozenset("rsa")
_DEEPEST_FORMAT = 1


class TemplateError(ValueError):
    """The text is no template. `position` counts characters from 0."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.message = message
        self.position = position


@dataclass(frozen=True, slots=True)
class Literal:
    """Text to show as it is; `{{` has become `{` already."""

    text: str


@dataclass(frozen=True, slots=True)
class Field:
    """An expression to show. `conversion` is r, s, a or empty; `spec` is its format."""

    expression: str
    position: int
    conversion: str = ""
    spec: list[Literal | Field] = field(default_factory=list)


def parse(text: str) -> list[Literal | Field]:
    """The parts of a template. Raises TemplateError."""
    scanner = _Scanner(text)
    return _joined(scanner.parts())


def _joined(parts: list[Literal | Field]) -> list[Literal | Field]:
    """The same, with neighbouring texts made one."""
    joined: list[Literal | Field] = []
    for part in parts:
        if isinstance(part, Literal) and joined and isinstance(joined[-1], Literal):
            joined[-1] = Literal(joined[-1].text + part.text)
        else:
            joined.append(part)
    return joined


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def parts(self) -> list[Literal | Field]:
        parts: list[Literal | Field] = []
        while self._at < len(self._text):
            pair = self._text[self._at : self._at + 2]
            if pair in ("{{", "}}"):
                self._at += 2
                parts.append(Literal(pair[0]))
            elif pair[0] == "{":
                parts += self._field(depth=0)
            elif pair[0] == "}":
                raise TemplateError("a single '}'; write '}}' for a brace", self._at)
            else:
                parts.append(self._literal())
        return parts

    def _literal(self) -> Literal:
        start = self._at
        while self._peek() not in ("{", "}", ""):
            self._at += 1
        return Literal(self._text[start : self._at])

    def _field(self, depth: int) -> list[Literal | Field]:
        """One field, from its opening brace to its closing one; `x=` gives its text too."""
        start = self._at
        if depth > _DEEPEST_FORMAT:
            raise TemplateError("fields nested too deeply", start)
        self._at += 1
        source = self._expression(start)
        conversion = self._conversion(start) if self._peek() == "!" else ""
        spec = self._spec(start, depth) if self._peek() == ":" else []
        if self._peek() != "}":
            raise self._unclosed(start)
        self._at += 1
        return _make_field(source, start, conversion, spec)

    def _expression(self, start: int) -> str:
        """Up to the `!`, `:` or `}` that ends it, which stays."""
        expected: list[str] = []
        begin = self._at
        while character := self._peek():
            if quote := _QUOTE.match(self._text, self._at):
                self._skip_string(quote[0], start)
                continue
            if not expected and self._ends_expression(character):
                break
            self._balance(character, expected)
            self._at += 1
        return self._text[begin : self._at]

    def _ends_expression(self, character: str) -> bool:
        if character == "!":
            return self._text[self._at + 1 : self._at + 2] != "="
        return character in ":}"

    def _balance(self, character: str, expected: list[str]) -> None:
        if character == "#":
            raise TemplateError("a field cannot have a comment", self._at)
        if character in _OPENING:
            expected.append(_OPENING[character])
        elif character in _CLOSING and (not expected or expected.pop() != character):
            raise TemplateError(f"an unmatched '{character}' in a field", self._at)

    def _skip_string(self, quote: str, start: int) -> None:
        self._at += len(quote)
        while not self._text.startswith(quote, self._at):
            if self._at >= len(self._text):
                raise TemplateError("a string in a field is not closed", start)
            self._at += 2 if self._peek() == "\\" else 1
        self._at += len(quote)

    def _conversion(self, start: int) -> str:
        name = self._text[self._at + 1 : self._at + 2]
        if name not in _CONVERSIONS or self._text[self._at + 2 : self._at + 3] not in (":", "}"):
            raise TemplateError("after '!' in a field comes r, s or a, then ':' or '}'", start)
        self._at += 2
        return name

    def _spec(self, start: int, depth: int) -> list[Literal | Field]:
        self._at += 1
        parts: list[Literal | Field] = []
        while self._peek() not in ("}", ""):
            parts += self._field(depth + 1) if self._peek() == "{" else [self._literal()]
        if not self._peek():
            raise self._unclosed(start)
        return _joined(parts)

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _unclosed(self, start: int) -> TemplateError:
        return TemplateError("a '{' is not closed; write '{{' for a brace", start)


def _make_field(
    source: str, start: int, conversion: str, spec: list[Literal | Field]
) -> list[Literal | Field]:
    shown = _SHOWS_ITSELF.search(source)
    expression = (source[: shown.start()] if shown else source).strip()
    if not expression:
        raise TemplateError("a field without an expression", start)
    if shown is None:
        return [Field(expression, start, conversion, spec)]
    if not conversion and not spec:
        conversion = "r"
    return [Literal(source), Field(expression, start, conversion, spec)]
