"""What a client asks, checked: types, paths, bounds. Pure; nothing is done here.

Knows the arguments of launch, attach, setBreakpoints and evaluate. Raises Refusal with 1001
or 1004 for what does not fit. Unknown arguments are left alone: DAP lets clients add some.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from relay.perl.numbering import Numbering
from relay.perl.refusals import Refusal, bad_format, traversal

T = TypeVar("T")
Arguments = Mapping[str, Any]

LONGEST_EXPRESSION = 64 * 1024
"""Characters of an expression, a condition or a log message."""

HIT_CONDITION = re.compile(r"^\s*(?P<operator>==|>=|<=|>|<|%)?\s*(?P<number>[0-9]{1,9})\s*$")

SUB_NAME = re.compile(r"^[^\W\d]\w*((::|\.)[^\W\d]\w*)*$")


@dataclass(frozen=True, slots=True)
class Launch:
    """How the program is started."""

    program: str
    args: tuple[str, ...] = ()
    perl: str = "perl"
    include_paths: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    stop_on_entry: bool = False
    stdin: str | None = None
    await_compilation: bool = False
    """Answer when Perl has compiled the program, which may take `configurationDone`."""


@dataclass(frozen=True, slots=True)
class AttachArguments:
    """Where the hook listens, and how paths here become paths there."""

    host: str
    port: int
    path_mapping: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wish:
    """One breakpoint as it was asked for. An empty text means: none."""

    line: int
    condition: str = ""
    operator: str = ""
    hits: int = 0
    log_message: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class NamedWish:
    """One breakpoint on a sub, by its name with `::`, as it was asked for."""

    name: str
    condition: str = ""
    operator: str = ""
    hits: int = 0
    problem: str = ""


def numbering(arguments: Arguments) -> Numbering:
    """Of initialize. Raises Refusal 1004 for a form of paths that is not spoken here."""
    form = text(arguments, "pathFormat", "path")
    if form != "path":
        raise bad_format(f"pathFormat must be path, not {form!r:.40}")
    return Numbering(
        int(typed(arguments, "linesStartAt1", bool, True)),
        int(typed(arguments, "columnsStartAt1", bool, True)),
    )


def launch(arguments: Arguments) -> Launch:
    """Raises Refusal 1001 for a path that climbs, 1004 for anything else that is wrong."""
    program = path_of(arguments, "program")
    cwd = path_of(arguments, "cwd") if arguments.get("cwd") is not None else None
    if not os.path.isfile(program):
        raise bad_format(f"program: there is no file {program}")
    if cwd is not None and not os.path.isdir(cwd):
        raise bad_format(f"cwd: there is no directory {cwd}")
    return Launch(
        program=program,
        args=strings(arguments, "args"),
        perl=text(arguments, "perlPath", "perl"),
        include_paths=tuple(
            climbing("includePaths", path) for path in strings(arguments, "includePaths")
        ),
        env=string_map(arguments, "env"),
        cwd=cwd,
        stop_on_entry=typed(arguments, "stopOnEntry", bool, False),
        stdin=text(arguments, "stdin", "") if arguments.get("stdin") is not None else None,
        await_compilation=typed(arguments, "awaitCompilation", bool, False),
    )


def attach(arguments: Arguments) -> AttachArguments:
    """Raises Refusal 1004 for a host or port that cannot be."""
    port = typed(arguments, "port", int, 0)
    if not 1 <= port <= 65535:
        raise bad_format(f"port must be from 1 to 65535, not {arguments.get('port')!r:.40}")
    mapping = string_map(arguments, "pathMapping")
    return AttachArguments(text(arguments, "host", "localhost"), port, mapping)


def wishes(arguments: Arguments, numbering: Numbering) -> tuple[str, list[Wish]]:
    """The path and the breakpoints of setBreakpoints. Raises Refusal 1001 or 1004."""
    source = arguments.get("source")
    if not isinstance(source, dict):
        raise bad_format("source must be an object with a path")
    path = path_of(source, "path")
    listed = arguments.get("breakpoints")
    if listed is None:
        listed = [{"line": line} for line in listed_lines(arguments)]
    if not isinstance(listed, list):
        raise bad_format("breakpoints must be a list")
    return path, [_wish(one, numbering) for one in listed]


def listed_lines(arguments: Arguments) -> list[Any]:
    """The form that DAP had before conditions."""
    lines = arguments.get("lines", [])
    if not isinstance(lines, list):
        raise bad_format("lines must be a list")
    return lines


def _wish(one: object, numbering: Numbering) -> Wish:
    if not isinstance(one, dict):
        raise bad_format("a breakpoint must be an object")
    line = typed(one, "line", int, -1)
    if not 0 <= line <= 2**31 - 1:
        raise bad_format(f"line must be a number of a line, not {one.get('line')!r:.40}")
    operator, hits, problem = _hits(one)
    return Wish(
        line=numbering.line(line),
        condition=text(one, "condition", "").strip(),
        operator=operator,
        hits=hits,
        log_message=text(one, "logMessage", ""),
        problem=problem,
    )


def _hits(one: Arguments) -> tuple[str, int, str]:
    """Operator and number of a hit condition, and what is wrong with it."""
    hit_condition = text(one, "hitCondition", "")
    if not hit_condition.strip():
        return "", 0, ""
    match = HIT_CONDITION.match(hit_condition)
    if match is None or int(match["number"]) < 1:
        problem = (
            f"hitCondition {hit_condition!r:.40} is not a number from 1 on, "
            "with ==, >, >=, <, <= or % before it"
        )
        return "", 0, problem
    return match["operator"] or "==", int(match["number"]), ""


def named_wishes(arguments: Arguments) -> list[NamedWish]:
    """The breakpoints of setFunctionBreakpoints. Raises Refusal 1004."""
    listed = typed(arguments, "breakpoints", list, [])
    return [_named_wish(one) for one in listed]


def _named_wish(one: object) -> NamedWish:
    if not isinstance(one, dict):
        raise bad_format("a breakpoint must be an object")
    name = text(one, "name", "").strip().removeprefix("&")
    operator, hits, problem = _hits(one)
    if not SUB_NAME.match(name):
        problem = f"{name!r:.60} is no name of a sub: write total or Cart::total"
    return NamedWish(
        name=name.replace(".", "::"),
        condition=text(one, "condition", "").strip(),
        operator=operator,
        hits=hits,
        problem=problem,
    )


def expression_of(arguments: Arguments, key: str = "expression") -> str:
    """Raises Refusal 1004 for an empty, overlong or unprintable expression."""
    value = text(arguments, key, "")
    if not value.strip():
        raise bad_format(f"{key} is empty")
    return value


def thread(arguments: Arguments, only: int) -> None:
    """Raises Refusal 1004 if another thread is named than the one that there is."""
    named = typed(arguments, "threadId", int, only)
    if named != only:
        raise bad_format(f"threadId {named} is no thread: the only one is {only}")


def filter_of(arguments: Arguments) -> str | None:
    """Of variables: the indexed children alone, the named ones alone, or None for all."""
    kind = typed(arguments, "filter", str, "")
    if kind not in ("", "indexed", "named"):
        raise bad_format(f"filter must be indexed or named, not {kind!r:.40}")
    return kind or None


def text(arguments: Arguments, key: str, default: str) -> str:
    """A string without NUL, at most LONGEST_EXPRESSION long."""
    value = typed(arguments, key, str, default)
    if "\0" in value or len(value) > LONGEST_EXPRESSION:
        raise bad_format(f"{key} has a NUL in it or is longer than {LONGEST_EXPRESSION} characters")
    return value


def typed(arguments: Arguments, key: str, kind: type[T], default: T) -> T:
    """The value, or the default for null and nothing. A bool is no int."""
    value = arguments.get(key)
    if value is None:
        return default
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise bad_format(f"{key} must be of type {kind.__name__}, not {value!r:.40}")
    return value


def path_of(arguments: Arguments, key: str) -> str:
    """An absolute path that does not climb."""
    value = arguments.get(key)
    if not isinstance(value, str) or not value or "\0" in value:
        raise bad_format(f"{key} must be a path, not {value!r:.40}")
    climbing("breakpoint" if key == "path" else key, value)
    if not os.path.isabs(value):
        raise bad_format(f"{key} must be an absolute path, not {value!r:.200}")
    return value


def climbing(what: str, path: str) -> str:
    """The path itself. Raises Refusal 1001 if one of its parts is `..`."""
    if ".." in path.replace("\\", "/").split("/"):
        raise traversal(what, path)
    return path


def strings(arguments: Arguments, key: str) -> tuple[str, ...]:
    """A list of strings, empty if it is missing."""
    values = arguments.get(key)
    if values is None:
        return ()
    if not isinstance(values, list) or any(
        not isinstance(one, str) or "\0" in one for one in values
    ):
        raise bad_format(f"{key} must be a list of strings")
    return tuple(values)


def string_map(arguments: Arguments, key: str) -> dict[str, str]:
    """An object whose values are strings, empty if it is missing."""
    values = arguments.get(key)
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise bad_format(f"{key} must be an object")
    for name, value in values.items():
        if not isinstance(value, str) or "\0" in value + name or not name or "=" in name:
            raise bad_format(f"{key} must have names and strings, not {name!r:.40}: {value!r:.40}")
    return dict(values)


def bounded(arguments: Arguments, key: str, default: int) -> int:
    """A number from 0 to 2**31 - 1."""
    value = typed(arguments, key, int, default)
    if not 0 <= value <= 2**31 - 1:
        raise bad_format(f"{key} must be from 0 to 2147483647, not {value}")
    return value


__all__ = ["AttachArguments", "Launch", "Refusal", "Wish", "attach", "launch", "wishes"]
