"""`relay diff` names the call that differs first, in modules of the standard library that were changed in one point.

Each mutant runs once by itself, every call recorded by a plain trace function with exact values
(`exact_calls.py`), and `relay diff --rev HEAD` compares it with the module as it is. Function, line, and both
outcomes must be those that the recordings say; where these say that no call differs, none may be named.

RELAY_ORACLE_MUTANTS=N takes N mutants a module, and RELAY_ORACLE_SEED another sample.
"""

from __future__ import annotations

import ast
import difflib
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.debuggers.bootstrap_runner import installed_python
from tests.oracle.mutants import mutants
from tests.relays import environment

MUTANTS = int(os.environ.get("RELAY_ORACLE_MUTANTS", "2"))
SEED = os.environ.get("RELAY_ORACLE_SEED", "relay")
RECORDER = Path(__file__).parent / "exact_calls.py"
SECONDS = 10
"""A mutant that runs longer goes on for ever."""

PROGRAMS = {
    "shlex": """
        def each(text):
            return list(own.split(text)), list(own.shlex(text, posix=True, punctuation_chars=True))
        for text in ("a 'b c' d", 'x="1 2" # no', "p|q && r\\\\ s", "'open", ""):
            shown(each, text)
        shown(own.join, ["a", "b c", ""])
        shown(own.quote, "it's")
    """,
    "textwrap": """
        text = "The quick  brown fox-like animal jumped over\\n the lazy dog.  And then, it ended.\\n\\n  So."
        shown(own.wrap, text, 20)
        shown(own.fill, text, 12, initial_indent="* ", subsequent_indent="  ", max_lines=4)
        shown(own.shorten, text, 30)
        shown(own.dedent, "    a\\n      b\\n    c\\n")
        shown(own.indent, "a\\n\\nb", "> ")
        shown(own.wrap, "averylongwordindeed", 5, fix_sentence_endings=True)
        shown(own.wrap, "a", 0)
    """,
    "difflib": """
        one, other = ["one\\n", "two\\n", "three\\n"], ["ore\\n", "tree\\n", "emu\\n"]
        shown(own.SequenceMatcher(None, "qabxcd", "abycdf").get_opcodes)
        shown(lambda: list(own.unified_diff(one, other, "a", "b", n=1)))
        shown(lambda: list(own.ndiff(one, other)))
        shown(own.get_close_matches, "appel", ["ape", "apple", "peach"])
        shown(own.get_close_matches, "appel", [], -1)
        shown(lambda: list(own.restore(own.ndiff(one, other), 2)))
    """,
    "optparse": """
        def parsed(*words):
            parser = own.OptionParser(prog="sell", version="1")
            parser.add_option("-n", "--number", type="int", default=1, help="how many")
            parser.add_option("-v", action="count", dest="loud")
            parser.add_option("--name", action="append", metavar="NAME")
            parser.exit = lambda status=0, msg=None: shown(str, msg)
            options, rest = parser.parse_args(list(words))
            return sorted(vars(options).items()), rest, parser.format_help()
        shown(parsed, "-n", "3", "a", "-vv", "--name=x", "--na", "y")
        shown(parsed, "--nothing")
        shown(parsed, "-nx")
    """,
}

SHOWN = """
import {module} as own

def shown(function, *args, **more):
    try:
        print(function(*args, **more))
    except Exception as error:
        print(repr(error))

"""


@dataclass
class Call:
    """One call of a recording; the ones that it has made are its children."""

    about: dict[str, Any]
    children: list[Call] = field(default_factory=list)

    @property
    def key(self) -> tuple[str, str]:
        return self.about["function"], str(self.about["given"])

    @property
    def outcome(self) -> Any:
        """Of a generator with the first three of the values that it has given."""
        yielded = self.about["yielded"]
        return self.about["outcome"][:2], len(yielded), yielded[:3]

    @property
    def branch(self) -> list[str]:
        return [one.about["function"] for one in self.children]


Pair = tuple[Call, Call]


@pytest.fixture(params=["3.11", "3.12", "3.13"])
def python(request: pytest.FixtureRequest) -> str:
    return installed_python(request.param)


def recorded(python: str, tree: Path) -> Call | None:
    """What is above all calls, and what the program printed; None if that does not come to its end."""
    command = [python, str(RECORDER), ".", "main.py"]
    try:
        done = subprocess.run(
            command,
            cwd=tree,
            env=os.environ | {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    printed, found, told = done.stdout.rpartition("\nCALLS")
    if not found:
        return None
    calls = [Call(about) for about in json.loads(told)]
    if any(call.about["outcome"] is None for call in calls):
        return None
    top = Call({"printed": printed})
    for call in calls:
        above = call.about["caller"]
        (top if above < 0 else calls[above]).children.append(call)
    return top


def pairs(one: Call, other: Call) -> Iterator[Pair]:
    """Equal calls of equal calls, in their order; of the others, those of the same function."""
    waiting = [(one, other)]
    while waiting:
        ours, theirs = (call.children for call in waiting.pop())
        for left, right in aligned(ours, theirs, lambda call: call.key):
            for a, b in zip(left, right, strict=True) if is_equal(left, right) else ():
                yield a, b
                waiting.append((a, b))
            if not is_equal(left, right):
                for some, others in aligned(left, right, lambda call: call.about["function"]):
                    waiting += zip(some, others, strict=True) if len(some) == len(others) else ()


def is_equal(left: list[Call], right: list[Call]) -> bool:
    return [call.key for call in left] == [call.key for call in right]


def aligned(
    ours: list[Call], theirs: list[Call], key: Callable[[Call], object]
) -> Iterator[tuple[list[Call], list[Call]]]:
    """Rows of calls that are each other's counterpart, and what is between them."""
    matcher = difflib.SequenceMatcher(None, [*map(key, ours)], [*map(key, theirs)], False)
    for _, a, b, c, d in matcher.get_opcodes():
        yield ours[a:b], theirs[c:d]


def wanted(one: Call, other: Call) -> Pair | None:
    """The first call that ended otherwise; if none did, that branched so, gave others arguments, or, if the
    program printed something else, left others."""
    found = sorted(pairs(one, other), key=lambda pair: pair[0].about["ended"])
    ways: list[Callable[[Call], object]] = [
        lambda call: call.outcome,
        lambda call: call.branch,
        lambda call: [each.key for each in call.children],
    ]
    if one.about["printed"] != other.about["printed"]:
        ways.append(lambda call: call.about["left"])
    for what in ways:
        for a, b in found:
            if what(a) != what(b):
                return a, b
    return None


def simple(call: Call) -> str | None:
    """How the relay tells the outcome of a call that gave a number, a short text or a type of exception."""
    kind, text, line = call.about["outcome"]
    if len(text) > 100:
        return None
    if kind == "raised":
        return f"raised {text.split()[0]}" + f" at line {line}"
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    return f"→ {text}"


def compared(python: str, tree: Path) -> str:
    words = ["diff", "--rev", "HEAD", "--python", python, "--", "main.py"]
    done = subprocess.run(
        [sys.executable, "-m", "relay", *words],
        cwd=tree,
        env=environment(tree.parent / ".state") | {"PYTHONHASHSEED": "0"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode in (0, 1), done
    return done.stdout


def git(tree: Path, *words: str) -> None:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=tree, capture_output=True, check=True)


@pytest.mark.parametrize("module", PROGRAMS)
def test_the_call_that_differs_first_is_named(python: str, module: str, tmp_path: Path) -> None:
    tree, name = tmp_path / "tree", f"own_{module}"
    tree.mkdir()
    where = subprocess.run(
        [python, "-c", f"import {module}; print({module}.__file__)"],
        capture_output=True,
        text=True,
        check=True,
    )
    source = Path(where.stdout.strip()).read_text()
    program = SHOWN.format(module=name) + "\n".join(
        line[8:] for line in PROGRAMS[module].split("\n")
    )
    (tree / "main.py").write_text(program)
    file = tree / f"{name}.py"
    file.write_text(source)
    git(tree, "init", "-q")
    git(tree, "add", ".")
    git(tree, "commit", "-q", "-m", "as it is")
    before = recorded(python, tree)
    assert before is not None

    def run(mutant: tuple[str, str]) -> bool:
        """Whether the program came to its end, so that something could be checked."""
        about, text = mutant
        file.write_text(text)
        now = recorded(python, tree)
        if now is None:
            return False
        check(wanted(now, before), compared(python, tree), about)
        return True

    checked = filter(run, mutants(source, random.Random(f"{SEED} {module}")))
    assert len(list(islice(checked, MUTANTS))) == MUTANTS


def check(pair: Pair | None, answer: str, about: str) -> None:
    """What `relay diff` says against what the recordings say."""
    lines = answer.splitlines()
    if pair is None:
        assert "first call that differs" not in answer, (about, answer)
        return
    call = pair[0].about
    place = f"{call['function']} at {call['file']}:{call['line']}"
    assert lines[0] == f"first call that differs: {place}", (about, call, answer)
    gave = any(one.about["yielded"] for one in pair)
    if pair[0].outcome != pair[1].outcome and not gave:
        for side, one in zip(("this tree", "HEAD"), pair, strict=True):
            text = simple(one)
            shown = [line for line in lines if line.startswith(f"{side}: ")]
            if text is None or shown[0] == f"{side}: → ***":
                continue  # what a function called `read_token` gives is a secret
            start, _, end = text.partition(" at line ")
            assert shown[0].startswith(f"{side}: {start}"), (about, text, answer)
            assert not end or shown[0].endswith(f" at line {end}"), (about, text, answer)
