"""What is installed: an entry of a document, an item of a list in one, a table, a file of our own.

A part of a document knows how to put itself into the text and to take itself out again, and which
entries are of a relay, whatever else its owner has written into them. Pure: text in, text out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from relay.agents import jsonc, toml_tables
from relay.agents.jsonc import NotThatShape

OfRelay = Callable[[Any], bool]
"""Whether an entry that is there already is one of a relay."""


class NameTaken(ValueError):
    """Another server has the name; says which and where."""


class Part(Protocol):
    """A part of a document that others write to as well."""

    def put(self, text: str) -> tuple[str, list[jsonc.Path]]:
        """The text with the part, and the paths of what was made around it."""
        ...

    def take(self, text: str) -> str:
        """The text without the part; the same if it is not there."""
        ...

    def said(self) -> str:
        """The part in a line."""
        ...


@dataclass(frozen=True)
class Document:
    """A file that others write to as well, and our parts of it."""

    path: Path
    parts: Sequence[Part]

    @property
    def blank(self) -> str:
        """The document with nothing in it."""
        return "" if any(isinstance(part, Table) for part in self.parts) else "{}\n"


@dataclass(frozen=True)
class OwnFile:
    """A file that is all ours."""

    path: Path
    content: str
    what: str
    executable: bool = False


@dataclass(frozen=True)
class ServerEntry:
    """A member of a JSON document: the MCP server, or what the document cannot be without."""

    path: jsonc.Path
    value: Any
    of_relay: OfRelay

    def put(self, text: str) -> tuple[str, list[jsonc.Path]]:
        """Other keys that an entry has been given are kept. Raises NameTaken."""
        node = jsonc.find(jsonc.parse(text), self.path)
        if node is None:
            return jsonc.set_member(text, self.path, self.value)
        if not self.of_relay(node.value):
            raise NameTaken(f"{'.'.join(self.path)} is another server")
        wanted = {**node.value, **self.value}
        return (text, []) if node.value == wanted else jsonc.set_member(text, self.path, wanted)

    def take(self, text: str) -> str:
        """See `Part`."""
        root = jsonc.parse(text)
        node = jsonc.find(root, self.path)
        if node is None or not self.of_relay(node.value):
            return text
        return jsonc.without_member(text, self.path)

    def said(self) -> str:
        """See `Part`."""
        return f"{'.'.join(self.path)} = {_line(self.value)}"


@dataclass(frozen=True)
class Item:
    """An item of a list in a JSON document: a hook."""

    path: jsonc.Path
    value: Any
    of_relay: OfRelay

    def put(self, text: str) -> tuple[str, list[jsonc.Path]]:
        """One of an earlier relay is replaced in its place."""
        at, there = self._there(text)
        if at is None:
            return jsonc.append_item(text, self.path, self.value)
        if there == self.value:
            return text, []
        text = jsonc.without_item(text, self.path, at)
        return jsonc.append_item(text, self.path, self.value)[0], []

    def take(self, text: str) -> str:
        """See `Part`."""
        at, _ = self._there(text)
        return text if at is None else jsonc.without_item(text, self.path, at)

    def said(self) -> str:
        """See `Part`."""
        return f"{'.'.join(self.path)} += {_line(self.value)}"

    def _there(self, text: str) -> tuple[int | None, Any]:
        node = jsonc.find(jsonc.parse(text), self.path)
        if node is None:
            return None, None
        if not isinstance(node.value, list):
            raise NotThatShape(f"{'.'.join(self.path)} is not a list")
        found = ((at, one) for at, one in enumerate(node.value) if self.of_relay(one))
        return next(found, (None, None))


@dataclass(frozen=True)
class Needed:
    """A member that a document cannot be without, and that belongs to nobody: its version."""

    path: jsonc.Path
    value: Any

    def put(self, text: str) -> tuple[str, list[jsonc.Path]]:
        """Whatever it says already stays."""
        if jsonc.find(jsonc.parse(text), self.path) is not None:
            return text, []
        changed, made = jsonc.set_member(text, self.path, self.value)
        return changed, [*made, self.path]

    def take(self, text: str) -> str:
        """It is no part of ours: where it was made, the record says so."""
        return text

    def said(self) -> str:
        """See `Part`."""
        return f"{'.'.join(self.path)} = {_line(self.value)}"


@dataclass(frozen=True)
class Table:
    """A table of a TOML document."""

    group: str
    name: str
    value: Mapping[str, Any]
    of_relay: OfRelay

    def put(self, text: str) -> tuple[str, list[jsonc.Path]]:
        """Other keys that a table has been given are kept. Raises NameTaken."""
        there = toml_tables.table(toml_tables.read(text), self.group, self.name)
        if there is None:
            return toml_tables.put(text, self.group, self.name, self.value), []
        if not self.of_relay(there):
            raise NameTaken(f"{self.group}.{self.name} is another server")
        if there == {**there, **self.value}:
            return text, []
        return toml_tables.set_keys(text, self.group, self.name, self.value), []

    def take(self, text: str) -> str:
        """See `Part`."""
        there = toml_tables.table(toml_tables.read(text), self.group, self.name)
        if there is None or not self.of_relay(there):
            return text
        return toml_tables.take(text, self.group, self.name)

    def said(self) -> str:
        """See `Part`."""
        return f"{self.group}.{self.name} = {_line(self.value)}"


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
