"""The files of a traced call: what their lines say, and where the statement of each begins."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from relay.errors import SourceNotFound
from relay.session.source_text import source_lines, split_lines

MOST_PARSED = 30_000
"""Lines of a file whose statements are looked for: half a second."""


class TracedSources:
    """Lines of source by path and number; what is in no file that can be read has none."""

    def __init__(self, lines: Mapping[str, Sequence[str]]) -> None:
        self._lines = lines
        self._starts: dict[str, dict[int, int]] = {}

    @classmethod
    async def read(cls, paths: Iterable[str], unfiled: Mapping[str, str]) -> TracedSources:
        """These files, as they are now. unfiled: what the program has of code that is in none, by path."""
        lines: dict[str, Sequence[str]] = {}
        for path in paths:
            try:
                lines[path] = await source_lines(path)
            except SourceNotFound:
                lines[path] = split_lines(unfiled.get(path, ""))
        return cls(lines)

    def text(self, path: str, line: int) -> str:
        """The line without its end, or nothing."""
        known = self._lines.get(path) or []
        return known[line - 1].rstrip().expandtabs() if line <= len(known) else ""

    def statement(self, path: str, line: int) -> int:
        """The first line of the statement that this line goes on with, or begins.

        Of one with a block, its head is meant. The line itself where a file is too long, or is of another
        Python. Parses the file when it is asked for the first time: not for the event loop.
        """
        if path not in self._starts:
            lines = self._lines.get(path) or []
            parsed = "\n".join(lines) if len(lines) <= MOST_PARSED else ""
            self._starts[path] = dict(_continued(parsed))
        return self._starts[path].get(line, line)


def _continued(source: str) -> Iterator[tuple[int, int]]:
    """(line, the line where its statement begins) of those that do not begin one."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        for first, last in _extents(node):
            yield from ((line, first) for line in range(first + 1, last + 1))


def _extents(node: Any) -> Iterator[tuple[int, int]]:
    """First and last line of a statement, of the head of a block, and of each decorator."""
    if isinstance(node, ast.match_case):
        yield node.pattern.lineno, node.body[0].lineno - 1
    elif isinstance(node, ast.Match):
        yield node.lineno, node.subject.end_lineno or node.lineno
    elif isinstance(node, ast.stmt | ast.ExceptHandler):
        decorators = getattr(node, "decorator_list", [])
        yield from ((one.lineno, one.end_lineno) for one in decorators)
        block = getattr(node, "body", None)
        yield node.lineno, _first_line(block[0]) - 1 if block else node.end_lineno or node.lineno


def _first_line(statement: Any) -> int:
    return min(int(one.lineno) for one in (statement, *getattr(statement, "decorator_list", [])))
