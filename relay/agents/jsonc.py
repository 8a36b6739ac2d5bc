"""Edits of JSON with comments that leave every byte alone which is not theirs.

A document is read with the place of each value, and changed as text: what is added goes behind the
last element of its object or list, in the document's own style, and what is removed takes along
exactly what was added with it. So removing what was added gives the very text from before.
Comments and trailing commas are read as VS Code and Zed read them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Path: TypeAlias = tuple[str, ...]
"""The names of members that lead to a value, from the root on; empty for the root itself."""

_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_REST_OF_LINE = re.compile(r"(?:[ \t]*(?://[^\n\r]*|/\*[^\n]*?\*/))*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_DECODER = json.JSONDecoder()
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_LEFT_LINE = re.compile(r"\r?\n[ \t]*\Z")
_RIGHT_LINE = re.compile(r"\r?\n[ \t]*")
_INDENTED = re.compile(r"^([ \t]+)\S", re.MULTILINE)


class NotJson(ValueError):
    """The text cannot be read; says where."""


class NotThatShape(ValueError):
    """What should be an object or a list is something else; names it."""


@dataclass(frozen=True)
class Node:
    """A value and its place: `text[start:end]`."""

    start: int
    end: int
    value: Any
    elements: list[Element] = field(default_factory=list)

    def get(self, key: str) -> Element | None:
        """The member of that name; the last one counts, as for every reader of JSON."""
        return next((one for one in reversed(self.elements) if one.key == key), None)

    def index(self, key: str) -> int:
        """The place of that member among the others."""
        return max(at for at, one in enumerate(self.elements) if one.key == key)


@dataclass(frozen=True)
class Element:
    """A member of an object or an item of a list, and the comma behind it if there is one."""

    start: int
    key: str | None
    node: Node
    comma: int | None

    @property
    def end(self) -> int:
        """The position behind its value, before any comma."""
        return self.node.end


# Reading ---------------------------------------------------------------------------------


def parse(text: str) -> Node:
    """The document's value, each part with its place in `text`. Raises NotJson."""
    try:
        node = _value(text, _after_space(text, 0))
    except RecursionError:
        raise NotJson("it is nested too deeply") from None
    end = _after_space(text, node.end)
    if end != len(text):
        raise _fault(text, end, "more text after the end")
    return node


def find(root: Node, path: Path) -> Node | None:
    """The value at a path; None if there is none. Raises NotThatShape."""
    node = root
    for depth, key in enumerate(path):
        _require(node, dict, path[:depth])
        element = node.get(key)
        if element is None:
            return None
        node = element.node
    return node


def _value(text: str, at: int) -> Node:
    opening = text[at : at + 1]
    if opening == "{":
        return _container(text, at, "}")
    if opening == "[":
        return _container(text, at, "]")
    if opening == '"':
        value, end = _string(text, at)
        return Node(at, end, value)
    number = _NUMBER.match(text, at)
    if number is not None:
        return Node(at, number.end(), json.loads(number[0]))
    for word, meant in _WORDS.items():
        if text.startswith(word, at):
            return Node(at, at + len(word), meant)
    raise _fault(text, at, "a value is missing")


def _container(text: str, start: int, closing: str) -> Node:
    elements: list[Element] = []
    at = _after_space(text, start + 1)
    while not text.startswith(closing, at):
        if elements and elements[-1].comma is None:
            raise _fault(text, at, "a comma is missing")
        element = _element(text, at, named=closing == "}")
        elements.append(element)
        at = _after_space(text, element.end if element.comma is None else element.comma + 1)
    value: Any = [one.node.value for one in elements]
    if closing == "}":
        value = {one.key: one.node.value for one in elements}
    return Node(start, at + 1, value, elements)


def _element(text: str, start: int, *, named: bool) -> Element:
    key, at = None, start
    if named:
        if not text.startswith('"', at):
            raise _fault(text, at, "a name in quotes is missing")
        key, at = _string(text, at)
        at = _after_space(text, at)
        if not text.startswith(":", at):
            raise _fault(text, at, "a colon is missing")
        at = _after_space(text, at + 1)
    node = _value(text, at)
    behind = _after_space(text, node.end)
    return Element(start, key, node, behind if text.startswith(",", behind) else None)


def _string(text: str, at: int) -> tuple[str, int]:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise _fault(text, error.pos, error.msg) from None
    return str(value), end


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return at if match is None else match.end()


def _fault(text: str, at: int, what: str) -> NotJson:
    line = text.count("\n", 0, at) + 1
    return NotJson(f"line {line}, column {at - text.rfind(chr(10), 0, at)}: {what}")


def _require(node: Node, kind: type, path: Path) -> None:
    if not isinstance(node.value, kind):
        word = "an object" if kind is dict else "a list"
        raise NotThatShape(f"{'.'.join(path) or 'the document'} is not {word}")


# Changing --------------------------------------------------------------------------------


def set_member(text: str, path: Path, value: Any) -> tuple[str, list[Path]]:
    """The document with a value at the path, and the objects that were made on the way.

    A value that is there already is replaced in its place. Raises NotJson and NotThatShape.
    """
    root = parse(text)
    there = find(root, path)
    if there is not None:
        multiline = "\n" in text[root.start : root.end]
        style = _Style.of(text, root, _indent_at(text, there.start), multiline=multiline)
        return text[: there.start] + style.rendered(value) + text[there.end :], []
    container, made = root, []
    for depth, key in enumerate(path[:-1]):
        element = container.get(key)
        if element is None:
            made = [path[:end] for end in range(depth + 1, len(path))]
            for name in reversed(path[depth + 1 :]):
                value = {name: value}
            return _added(text, root, container, key, value), made
        container = element.node
    return _added(text, root, container, path[-1], value), made


def append_item(text: str, path: Path, value: Any) -> tuple[str, list[Path]]:
    """The document with a new last item in the list at the path, and what was made on the way."""
    root = parse(text)
    there = find(root, path)
    if there is None:
        changed, made = set_member(text, path, [value])
        return changed, [*made, path]
    _require(there, list, path)
    return _added(text, root, there, None, value), []


def without_item(text: str, path: Path, index: int) -> str:
    """The document without an item of the list at the path."""
    node = find(parse(text), path)
    assert node is not None
    return _removed(text, node, index)


def prune(text: str, made: Sequence[Path]) -> str:
    """The document without what was made around a part that is no longer there.

    Containers go if they are empty, and plain values only if all of these containers are gone.
    """
    unused = True
    for path in sorted((one for one in made if one), key=len, reverse=True):
        node = find(parse(text), path)
        if node is not None and isinstance(node.value, dict | list):
            inside = text[node.start + 1 : node.end - 1].strip()
            unused = unused and not inside
            text = text if inside else without_member(text, path)
    for path in made if unused else ():
        text = without_member(text, path) if path else text
    return text


def without_member(text: str, path: Path) -> str:
    """The document without the member at the path, if it is there."""
    root = parse(text)
    container = find(root, path[:-1])
    if container is None or container.get(path[-1]) is None:
        return text
    return _removed(text, container, container.index(path[-1]))


def is_empty(text: str) -> bool:
    """Whether the document has nothing in it, no comment either."""
    return re.sub(r"\s", "", text) in ("", "{}")


def _added(text: str, root: Node, container: Node, key: str | None, value: Any) -> str:
    base = _indent_at(text, container.start)
    if not container.elements:
        return _first_added(text, root, container, key, value, base)
    first, last = container.elements[0], container.elements[-1]
    own_line = _LEFT_LINE.search(text, container.start, first.start)
    indent = _indent_at(text, first.start) if own_line else base
    style = _Style.of(text, root, indent, multiline=own_line is not None)
    before = _separator(text, container, own_line is not None, style)
    new = before + style.element(key, value)
    if last.comma is not None:
        at = _end_of_line(text, last.comma + 1, own_line is not None)
        return text[:at] + new + "," + text[at:]
    at = _end_of_line(text, last.end, own_line is not None)
    return text[: last.end] + "," + text[last.end : at] + new + text[at:]


def _first_added(
    text: str, root: Node, container: Node, key: str | None, value: Any, base: str
) -> str:
    at = container.end - 1
    multiline = "\n" in text[root.start : root.end] or not root.elements
    style = _Style.of(text, root, base, multiline=multiline)
    if not multiline:
        return text[:at] + style.element(key, value) + text[at:]
    inner = _Style(style.unit, base + style.unit, style.newline)
    new = f"{style.newline}{inner.indent}{inner.element(key, value)}{style.newline}{base}"
    return text[:at] + new + text[at:]


def _separator(text: str, container: Node, own_line: bool, style: _Style) -> str:
    if own_line:
        return style.newline + style.indent
    commas = [one.comma for one in container.elements[:-1] if one.comma is not None]
    tight = any(text[comma + 1 : comma + 2] not in (" ", "\n", "\r") for comma in commas)
    return "" if tight else " "


def _end_of_line(text: str, at: int, own_line: bool) -> int:
    """Behind the comments that belong to what stands before them on the line."""
    match = _REST_OF_LINE.match(text, at) if own_line else None
    return at if match is None else match.end()


def _removed(text: str, container: Node, index: int) -> str:
    element = container.elements[index]
    inside = text[container.start + 1 : element.start]
    line = _LEFT_LINE.search(inside)
    alone = len(container.elements) == 1
    start, end = element.start, element.end
    if line is not None:
        start = container.start + 1 + line.start()
    elif index:
        start = len(text[:start].rstrip(" \t"))
    if element.comma is not None:
        between = text[end : element.comma]
        kept = between if between.strip() else ""
        end = element.comma + 1
        if line is None and not index:
            end += len(text[end:]) - len(text[end:].lstrip(" \t"))
    else:
        kept = ""
    if alone and line is not None:
        behind = _RIGHT_LINE.match(text, end)
        end = end if behind is None else behind.end()
    changed = text[:start] + kept + text[end:]
    comma = container.elements[index - 1].comma if index else None
    if element.comma is None and comma is not None:
        changed = changed[:comma] + changed[comma + 1 :]
    return changed


# Style -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Style:
    """How a document is written: one step of indentation, where we are, how lines end."""

    unit: str
    indent: str
    newline: str
    multiline: bool = True

    @classmethod
    def of(cls, text: str, root: Node, indent: str, *, multiline: bool = True) -> _Style:
        found = _INDENTED.search(text, root.start)
        unit = "  " if found is None else found[1]
        newline = "\r\n" if "\r\n" in text else "\n"
        return cls(unit, indent, newline, multiline)

    def element(self, key: str | None, value: Any) -> str:
        name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
        return name + self.rendered(value)

    def rendered(self, value: Any) -> str:
        if not self.multiline:
            return json.dumps(value, ensure_ascii=False)
        return "".join(self._pieces(value, self.indent))

    def _pieces(self, value: Any, indent: str) -> Iterator[str]:
        """Lists of plain values stay on one line, as people write them."""
        inner = indent + self.unit
        if isinstance(value, dict) and value:
            lead = "{"
            for key, item in value.items():
                yield f"{lead}{self.newline}{inner}{json.dumps(key, ensure_ascii=False)}: "
                yield from self._pieces(item, inner)
                lead = ","
            yield f"{self.newline}{indent}}}"
        elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
            lead = "["
            for item in value:
                yield f"{lead}{self.newline}{inner}"
                yield from self._pieces(item, inner)
                lead = ","
            yield f"{self.newline}{indent}]"
        else:
            yield json.dumps(value, ensure_ascii=False)


def _indent_at(text: str, at: int) -> str:
    """The white space at the beginning of the line."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]
