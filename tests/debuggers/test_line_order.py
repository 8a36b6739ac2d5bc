"""Which lines are taken to run after others: compared with the lines that the interpreter reports."""

from __future__ import annotations

import argparse
import ast
import configparser
import difflib
import email
import inspect
import json
import sys
import textwrap
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from relay.debuggers.debugpy.debuggee.probe import entry as _entry

probe: Any = _entry

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 12), reason="before 3.12 no line is taken to run after another"
)

CASES = {
    "straight": """
        def function(a):
            b = a  # @beginning-b
            c = [b]  # @b-c
            return c  # @c-d
    """,
    "branch": """
        def function(a):
            if a:  # @beginning-if
                b = 1
                c = b  # @inner-c
            else:
                c = 2
            return c
    """,
    "loop": """
        def function(items):
            total = 0  # @beginning-b
            for one in items:
                total += one
                last = total  # @body-last
            return total
    """,
    "try": """
        def function(a):
            try:  # @beginning-try
                b = 1 / a  # @try-b
                c = b  # @b-c
            except ZeroDivisionError:
                c = 0
                b = c  # @handler-b
            return c
    """,
    "with": """
        def function(manager):
            with manager as a:
                b = a
                c = b  # @b-c
            return c
    """,
    "choice within a line": """
        def function(a):
            b = a or 1
            c = 1 if b else 2
            d = c
            return d  # @d-e
    """,
    "loop within a line": """
        def function(a):
            b = [one for one in a]
            return b
    """,
    "one line": """
        def function(a): return a
    """,
    "variables that functions share": """
        def function(a):
            b = a  # @beginning-b
            inner = lambda: b  # @b-inner
            return inner  # @inner-c
    """,
    "generator": """
        def function(a):
            b = a
            yield b
    """,
}


@pytest.mark.parametrize("case", CASES)
def test_a_line_follows_another_where_nothing_else_leads_to_it(case: str) -> None:
    text = textwrap.dedent(CASES[case])
    names: dict[str, Any] = {}
    exec(compile(text, "<case>", "exec"), names)
    marked = [number for number, line in enumerate(text.splitlines(), 1) if "# @" in line]
    first = [number for number in marked if "# @beginning" in text.splitlines()[number - 1]]
    found = probe.following_lines(names["function"].__code__)
    assert sorted(found.values()) == marked
    assert [found[probe.BEGINNING]] == first if first else probe.BEGINNING not in found
    assert all(line == then - 1 for line, then in found.items() if line != probe.BEGINNING)


def with_library() -> None:
    """Runs code of many kinds that nobody here wrote."""
    text = inspect.getsource(configparser)
    tree = ast.parse(text)
    ast.unparse(tree)
    lines = text.splitlines(keepends=True)[:150]
    list(difflib.unified_diff(lines, [line.upper() if len(line) % 7 else line for line in lines]))
    encoder = json.encoder.JSONEncoder(indent=1)
    encoder.c_make_encoder = None  # type: ignore[attr-defined]
    encoder.encode([{"a": [1, 2.5, None, "b"], "c": {str(n): n for n in range(20)}}] * 5)
    parser = configparser.ConfigParser(interpolation=configparser.ExtendedInterpolation())
    parser.read_string("[one]\na = ${b}\nb = 2\nc: x\n  y\n[two]\nd = ${one:a}\n")
    for section in parser:
        list(parser[section].items())
    with pytest.raises(configparser.Error):
        parser.read_string("[one]\na\n[one]\n")
    options = argparse.ArgumentParser("prog", exit_on_error=False)
    options.add_argument("--level", type=int, choices=[1, 2])
    options.add_argument("files", nargs="*")
    options.parse_args(["--level", "2", "a", "b"])
    with pytest.raises(argparse.ArgumentError):
        options.parse_args(["--level", "3"])
    options.format_help()
    message = email.message_from_string("Subject: =?utf-8?q?a?=\nTo: b@c, d <e@f>\n\nbody\n")
    message.as_string()
    textwrap.fill(" ".join(text.split()[:300]), 40)


class Watched:
    """Compares the lines of all frames, as they are reported, with those that are taken to follow."""

    def __init__(self) -> None:
        self.following: dict[types.CodeType, dict[int, int]] = {}
        self.preceding: dict[types.CodeType, dict[int, int]] = {}
        self.last: dict[types.FrameType, int | None] = {}  # None after an exception
        self.followed = 0
        self.wrong: list[tuple[types.CodeType, int | None, int]] = []

    def start(self, code: types.CodeType, offset: int) -> None:
        if code.co_filename.startswith("<frozen"):
            return  # 3.12.1 reports their lines in part, if they have been reported before
        self.last[sys._getframe(1)] = probe.BEGINNING
        if code not in self.following:
            found = self.following[code] = probe.following_lines(code)
            self.preceding[code] = {then: line for line, then in found.items()}

    def line(self, code: types.CodeType, line: int) -> None:
        frame = sys._getframe(1)
        if frame in self.last:
            last, self.last[frame] = self.last[frame], line
            expected = line if last is None else self.following[code].get(last, line)
            self.followed += last is not None and last in self.following[code]
            if expected != line or self.preceding[code].get(line, last) != last:
                self.wrong.append((code, last, line))

    def raised(self, code: types.CodeType, offset: int, error: BaseException) -> None:
        frame = sys._getframe(1)
        if frame in self.last:
            self.last[frame] = None

    def ended(self, code: types.CodeType, offset: int, value: object) -> None:
        self.last.pop(sys._getframe(1), None)


@contextmanager
def watching() -> Iterator[Watched]:
    watched = Watched()
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
    events = monitoring.events
    callbacks: dict[int, Callable[..., object]] = {
        events.PY_START: watched.start,
        events.LINE: watched.line,
        events.RAISE: watched.raised,
        events.RERAISE: watched.raised,
        events.PY_RETURN: watched.ended,
        events.PY_UNWIND: watched.ended,
    }
    tool = next(number for number in range(6) if monitoring.get_tool(number) is None)
    monitoring.use_tool_id(tool, "order of lines")
    try:
        for event, callback in callbacks.items():
            monitoring.register_callback(tool, event, callback)
        monitoring.set_events(tool, sum(callbacks))
        yield watched
    finally:
        monitoring.set_events(tool, 0)
        for event in callbacks:
            monitoring.register_callback(tool, event, None)
        monitoring.free_tool_id(tool)


def test_lines_of_library_code_run_in_the_order_that_they_are_taken_to() -> None:
    with watching() as watched:
        with_library()
    assert watched.wrong == []
    assert watched.followed > 20_000
    assert sum(map(bool, watched.following.values())) > 100
