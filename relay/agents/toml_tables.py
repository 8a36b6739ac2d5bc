"""Edits of TOML that leave every byte alone which is not theirs: one table, put in and taken out.

A table of its own goes to the end of the document, as text, and is cut out as text. tomlkit serves
where the document has its tables in another shape, and where a key is changed in its place. tomllib
says each time whether the document means what it should.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from relay.agents.jsonc import NotThatShape


class NotToml(ValueError):
    """The text cannot be read; says where."""


def read(text: str) -> dict[str, Any]:
    """What the document means. Raises NotToml."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise NotToml(str(error)) from None


def table(document: Mapping[str, Any], group: str, name: str) -> Any:
    """What `[group.name]` means; None if there is none. Raises NotThatShape."""
    tables = document.get(group, {})
    if not isinstance(tables, dict):
        raise NotThatShape(f"{group} is not a table")
    return tables.get(name)


def put(text: str, group: str, name: str, value: Mapping[str, Any]) -> str:
    """The document with `[group.name]`, which is not in it. Raises NotToml and NotThatShape."""
    meant = read(text)
    table(meant, group, name)
    meant[group] = {**meant.get(group, {}), name: dict(value)}
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{group}.{_key(name)}]", *(f"{_key(k)} = {_literal(v)}" for k, v in value.items())]
    block = newline.join(lines)
    # As the document ends, with a line's end or without one, so does the table: then it can be
    # taken out without a trace.
    if not text:
        changed = block + newline
    elif text.endswith("\n"):
        changed = text + newline + block + newline
    else:
        changed = text + newline + newline + block
    if _means(changed, meant):
        return changed
    return _checked(_by_library(text, group, name, value), meant)


def take(text: str, group: str, name: str) -> str:
    """The document without `[group.name]`, which is in it. Raises NotToml and NotThatShape."""
    meant = read(text)
    table(meant, group, name)
    del meant[group][name]
    wanted = [meant, {key: value for key, value in meant.items() if key != group or value}]
    for changed in (*_without_lines(text, group, name), *_without_table(text, group, name)):
        if any(_means(changed, one) for one in wanted):
            return changed
    raise NotThatShape(f"[{group}.{name}] cannot be taken out of it; do so by hand")


def _without_lines(text: str, group: str, name: str) -> Iterator[str]:
    """What is left without the lines of a table, for each place where it may begin and end.

    tomllib chooses: as long as a key is left, or something is cut that is not the table's, the
    rest means something else. So comments behind the last key stay.
    """
    header = rf"^[ \t]*\[[ \t]*{re.escape(group)}[ \t]*\.[ \t]*{_any_key(name)}[ \t]*\]"
    for start in re.finditer(header, text, re.MULTILINE):
        for line in re.finditer(r"\n|\Z", text[start.end() :]):
            end = start.end() + line.end()
            yield (
                _blank_line_off(text[: start.start()], at_end=end == len(text), text=text)
                + (text[end:])
            )
            yield text[: start.start()] + text[end:]


def _without_table(text: str, group: str, name: str) -> Iterator[str]:
    """What tomlkit leaves: of tables in one line, or with tables below them."""
    document = _parsed(text)
    try:
        tables: Any = document[group]
        del tables[name]
        yield tomlkit.dumps(document)
    except TOMLKitError:
        return


def set_keys(text: str, group: str, name: str, value: Mapping[str, Any]) -> str:
    """The document with these keys of `[group.name]`, which is in it, set anew."""
    meant = read(text)
    there = table(meant, group, name)
    meant[group][name] = {**there, **value}
    document = _parsed(text)
    tables: Any = document[group]
    for key, item in value.items():
        if there.get(key) != item:
            tables[name][key] = item
    return _checked(tomlkit.dumps(document), meant)


def _blank_line_off(before: str, *, at_end: bool, text: str) -> str:
    """Without the blank line that was put before a table; see `put`."""
    blank = re.search(r"(\r?\n)(\r?\n)\Z", before)
    if blank is None:
        return before
    return before[: blank.start(1 if at_end and not text.endswith("\n") else 2)]


def _any_key(name: str) -> str:
    return rf"(?:{re.escape(name)}|\"{re.escape(name)}\"|'{re.escape(name)}')"


def _by_library(text: str, group: str, name: str, value: Mapping[str, Any]) -> str:
    document = _parsed(text)
    tables: Any = document[group]
    entry = tomlkit.inline_table()
    entry.update(value)
    tables[name] = entry
    return tomlkit.dumps(document)


def _parsed(text: str) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise NotToml(str(error)) from None


def _means(text: str, meant: Mapping[str, Any]) -> bool:
    try:
        return tomllib.loads(text) == meant
    except tomllib.TOMLDecodeError:
        return False


def _checked(text: str, meant: Mapping[str, Any]) -> str:
    if not _means(text, meant):
        raise NotThatShape("its tables cannot be added to without changing others")
    return text


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _literal(name)


def _literal(value: Any) -> str:
    return str(tomlkit.item(value).as_string())
