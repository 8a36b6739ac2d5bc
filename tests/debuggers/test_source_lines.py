"""Lines with code, against the interpreter's own line events and a real debugger."""

from __future__ import annotations

import base64
import io
import json
import runpy
import subprocess
import sys
import tokenize
import warnings
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay.debuggers.debugpy.debuggee import source_lines
from relay.debuggers.debugpy.debuggee.source_lines import (
    MAX_EXPRESSION,
    Analysis,
    analyse,
    answer,
    check_expression,
    describe,
    nearest,
)
from tests.debuggers.live_peer import live_peer

CORPUS = Path(__file__).with_name("corpus_lines.py")
NEVER_RUN = "# never run"
NO_CODE = "# no code"


@pytest.fixture
def corpus() -> Analysis:
    return analyse(CORPUS.read_bytes(), str(CORPUS))


def analysed(source: str) -> Analysis:
    return analyse(source.encode(), "program.py")


def lines_that_run(path: Path) -> set[int]:
    """The lines with line events while the program runs."""
    seen: set[int] = set()

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != str(path):
            return None
        if event == "line":
            seen.add(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        runpy.run_path(str(path))
    finally:
        sys.settrace(before)
    return seen


def marked(analysis: Analysis, mark: str) -> set[int]:
    return {number for number, text in enumerate(analysis.texts, 1) if text.endswith(mark)}


def never_run(analysis: Analysis) -> set[int]:
    """Lines whose code is there and not come to: from Python 3.14 on an annotation waits to be asked for."""
    waits = marked(analysis, "# annotated") if sys.version_info >= (3, 14) else set()
    return marked(analysis, NEVER_RUN) | waits


def test_executable_lines_are_those_with_line_events(corpus: Analysis) -> None:
    never = never_run(corpus)
    assert set(corpus.executable) - never == lines_that_run(CORPUS)


def test_debugger_stops_exactly_on_executable_lines(corpus: Analysis) -> None:
    points = [{"line": line} for line in corpus.executable]
    with live_peer(CORPUS) as peer:
        peer.start({CORPUS: points})
        stops = set(peer.stops())
    never = never_run(corpus)
    assert stops == {(str(CORPUS), line) for line in set(corpus.executable) - never}


@pytest.mark.parametrize("third", range(3))
def test_debugger_stops_on_lines_that_stand_alone(corpus: Analysis, third: int) -> None:
    """Not only because each line before it has a breakpoint too."""
    wanted = corpus.executable[third::3]
    with live_peer(CORPUS) as peer:
        peer.start({CORPUS: [{"line": line} for line in wanted]})
        stops = {line for _, line in peer.stops()}
    assert stops == set(wanted) - never_run(corpus)


def test_lines_without_code(corpus: Analysis) -> None:
    assert marked(corpus, NO_CODE)
    assert not marked(corpus, NO_CODE) & set(corpus.executable)
    assert corpus.syntax_error is None
    assert corpus.total_lines == len(corpus.texts) == len(CORPUS.read_text().splitlines())


def test_optimized_asserts_have_no_code() -> None:
    source = b"x = 1\nassert x\n"
    assert analyse(source, "p.py", 0).executable == (1, 2)
    assert analyse(source, "p.py", 1).executable == (1,)


DESCRIBED = '''\
"""Module.
                                    # docstring

more"""
import sys
                                    # comment
# one
class A:
    """Class."""                    # code
    value: int                      # code

    def f(self):
        """Method.
        # docstring
        """                         # docstring
        global g                    # declaration
        if self:
            text = """
            # continuation
            """
        else:                       # declaration
            return (
                1,                  # continuation
                                    # comment
                # comment
                2,                  # continuation
            )                       # continuation
        if False:
            never = 1               # declaration
'''


def test_describe() -> None:
    analysis = analysed(DESCRIBED)
    said = {n: text.rpartition("# ")[2] for n, text in enumerate(analysis.texts, 1) if "# " in text}
    words = {"docstring", "comment", "code", "continuation", "declaration"}
    expected = {line: word for line, word in said.items() if word in words}
    assert {line: describe(analysis, line) for line in expected} == expected
    assert set(expected.values()) == words
    assert describe(analysis, analysis.texts.index("# one") + 1) == "comment"
    assert [describe(analysis, line) for line in (0, -1, analysis.total_lines + 1)] == [
        "outside",
        "outside",
        "outside",
    ]
    assert describe(analysed("\n\nx = 1\n"), 2) == "blank"


def test_nearest_looks_forward_first() -> None:
    analysis = analysed("\nx = 1\n# a\n# b\ny = 2\n\n")
    assert [nearest(analysis, line) for line in range(8)] == [2, 2, 2, 5, 5, 5, 5, 5]
    assert nearest(analysed("# only\n"), 1) is None


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(end: str) -> None:
    analysis = analyse(end.join(["x = 1", "", "y = '\x0c \x0b \u2028'", ""]).encode(), "p.py")
    assert (analysis.total_lines, analysis.executable) == (3, (1, 3))


def test_sources_without_lines() -> None:
    assert analysed("") == Analysis(0, (), (), None)
    assert analysed("\n").total_lines == 1
    assert analysed("x") == Analysis(1, (1,), ("x",), None)


@pytest.mark.parametrize(
    "source",
    [
        "# coding: latin-1\nx = 'é'\n".encode("latin-1"),
        b"\xef\xbb\xbf# with a BOM\nx = '\xc3\xa9'\n",
        "# vim: set fileencoding=cp1252 :\nx = 'é'\n".encode("cp1252"),
    ],
)
def test_declared_encodings(source: bytes) -> None:
    analysis = analyse(source, "p.py")
    assert analysis.executable == (2,)
    assert analysis.texts[1] == "x = 'é'"


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (b"x = 1\ndef f(:\n", 2),
        (b"x = (\n", 1),
        (b"if x:\n  a\n b\n", 3),
        (b"return 1\n", 1),
        (b"# coding: nonsense\nx = 1\n", 0),
        (b"x = '\xff'\n", None),
        (b"x = '\0'\n", None),
        (b"x = " + b"(" * 300 + b")" * 300, None),
        (b"x = " + b"-" * 100_000 + b"1", None),
    ],
)
def test_syntax_errors(source: bytes, line: int | None) -> None:
    analysis = analyse(source, "p.py")
    assert analysis.executable == ()
    assert analysis.total_lines == source.rstrip(b"\n").count(b"\n") + 1
    assert analysis.syntax_error is not None
    assert analysis.syntax_error.message
    assert line is None or analysis.syntax_error.line == line
    assert describe(analysis, 1) != "code"


def test_syntax_error_shows_its_place() -> None:
    fault = analysed("x = 1\ny = = 2\n").syntax_error
    assert fault is not None
    assert (fault.line, fault.offset, fault.text) == (2, 5, "y = = 2")


def test_warnings_of_the_source_are_muted() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert analysed("x = 1 is 1\ny = '\\d'\nassert (x, y)\n").syntax_error is None
    assert caught == []


def test_nothing_is_run() -> None:
    assert analysed("raise SystemExit\n").executable == (1,)
    assert check_expression("exit()") is None


def test_inherits_no_future() -> None:
    """This package's own __future__ imports must not change what others' lines are."""
    assert 3 in analysed("def f(\n    a:\n    int\n): pass\n").executable


def test_json_round_trip(corpus: Analysis) -> None:
    for analysis in (corpus, analysed("x = = 1\n")):
        assert Analysis.from_json(json.loads(json.dumps(analysis.as_json()))) == analysis


def other_interpreters() -> list[str]:
    """What is installed beside this one, from the oldest that debugpy supports."""
    found = sorted(Path.home().glob(".pyenv/versions/3.[89].*/bin/python"))
    found += sorted(Path.home().glob(".pyenv/versions/3.1[0-9].*/bin/python"))
    return [str(path) for path in found] or [sys.executable]


@pytest.mark.parametrize("python", other_interpreters())
def test_as_program_in_another_interpreter(python: str) -> None:
    source = b"# coding: utf-8\nimport sys\n\nx = [\n    n\n    for n in range(3)\n]\nif x: pass\n"
    question = {
        "source": base64.b64encode(source).decode(),
        "filename": "p.py",
        "expressions": ["x > 1", "x >"],
    }
    done = subprocess.run(
        [python, "-I", "-S", source_lines.__file__],
        input=json.dumps(question).encode(),
        capture_output=True,
        check=True,
        timeout=60,
    )
    told = json.loads(done.stdout)
    analysis = Analysis.from_json(told["analysis"])
    assert {2, 4, 5, 6, 8} == set(analysis.executable)
    assert told["expressions"][0] is None
    assert told["expressions"][1]["message"]


def test_empty_question() -> None:
    assert answer({}) == {"analysis": None, "expressions": []}


@pytest.mark.parametrize(
    "text",
    [
        "x",
        " x\t",
        "\n x > 1 \n",
        "x == 'a'",
        "(x := 1)",
        "lambda: (yield)",
        "[i for i in x]",
        "a, b",
    ],
)
def test_expressions(text: str) -> None:
    assert check_expression(text) is None


@pytest.mark.parametrize(
    "text",
    [
        *("", "  ", "x = 1", "x >", "x; y", "import a", "a\nb", "x := 1", "return", "a b", "*a"),
        *("yield x", "(yield x)", "await x", "[a async for a in b]", "f'{'", "x\0y", "'"),
        *("(" * 300, "-" * (MAX_EXPRESSION - 1) + "1", "x" * (MAX_EXPRESSION + 1), "9" * 5000),
    ],
)
def test_no_expressions(text: str) -> None:
    fault = check_expression(text)
    assert fault is not None
    assert fault.message
    assert 0 <= fault.offset <= len(text)


def test_offset_counts_the_white_space_before() -> None:
    fault = check_expression("   x = = 1")
    assert fault is not None
    assert (fault.offset, fault.text) == (6, "   x = = 1")


def test_await_on_demand() -> None:
    assert check_expression("await x", allow_await=True) is None


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_answered(text: str) -> None:
    fault = check_expression(text)
    assert fault is None or 0 <= fault.offset <= len(text)


@settings(deadline=None)
@given(st.binary(max_size=80) | st.text("\n\r\t #()'\"\\:ax=,{}", max_size=60).map(str.encode))
def test_any_bytes_are_answered(source: bytes) -> None:
    analysis = analyse(source, "p.py")
    assert analysis.total_lines == len(analysis.texts)
    assert all(1 <= line <= analysis.total_lines for line in analysis.executable)
    for line in range(analysis.total_lines + 2):
        assert (describe(analysis, line) == "code") == (line in analysis.executable)
        assert nearest(analysis, line) in (*analysis.executable, None)


def test_tokenizer_and_compiler_agree_about_lines(corpus: Analysis) -> None:
    readline = io.BytesIO(CORPUS.read_bytes()).readline
    assert max(token.start[0] for token in tokenize.tokenize(readline)) == corpus.total_lines + 1
