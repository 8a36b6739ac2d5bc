"""Conditions, hit conditions and log messages: as tables, fuzzed, and in a real debugger."""

from __future__ import annotations

import re
import subprocess
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay.debuggers.debugpy.breakpoint_text import (
    MAX_LOG_MESSAGE,
    check_log_message,
    translate_both,
    translate_condition,
    translate_log_message,
)
from relay.session.state.hit_condition import (
    HIT_CONDITION_FORMS,
    canonical_hit_condition,
    check_hit_condition,
)
from tests.debuggers.bootstrap_runner import installed_python
from tests.debuggers.live_peer import live_peer
from tests.programs import Program

LOOP = """
    def run(items, limit):
        unique = {"}": 1, "{": 2}
        for n in range(1, 11):
            print(n)


    run([1, 5], 3)
"""
LOOPS = "print(n)"


# What pydevd makes of a log message: its own words, kept here so that the tables and
# the fuzzing need no debuggee. The live test below shows that they are still its words.
def pydevd_expression(message: str) -> str:
    text, variables, characters = "", [], iter(message)
    for character in characters:
        if character != "{":
            text += character
        elif variable := pydevd_variable(characters):
            text += "%s"
            variables.append(variable)
    return repr(text) + (f" % ({', '.join(variables)},)" if variables else "")


def pydevd_variable(characters: Iterable[str]) -> str:
    variable, level = "", 0
    for character in characters:
        level += (character == "{") - (character == "}")
        if level < 0:
            return variable.strip()
        variable += character
    raise AssertionError("unbalanced for pydevd")


def logged(message: str, /, **names: Any) -> str:
    expression = pydevd_expression(translate_log_message(message))
    return str(eval(expression, {}, names))


HIT_CONDITIONS = {
    "5": "==5",
    "== 5": "==5",
    "==5": "==5",
    ">5": ">5",
    "> 5": ">5",
    " >=  5 ": ">=5",
    "< 3": "<3",
    "<=2": "<=2",
    "% 5": "%5",
    "%5": "%5",
    "007": "==7",
}


@pytest.mark.parametrize(("text", "canonical"), HIT_CONDITIONS.items())
def test_hit_conditions(text: str, canonical: str) -> None:
    assert canonical_hit_condition(text) == canonical
    assert canonical_hit_condition(canonical) == canonical
    assert check_hit_condition(text) is None


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "0", "% 0", "-1", "+5", "5.0", "!=3", "=5", "= =5", "five", "5 5", "1_0"),
        *("٣", "²", "5 or 1", ">", "> n", "@HIT@ > 1", "9" * 19, "5\x00", "5;"),
    ],
)
def test_no_hit_conditions(text: str) -> None:
    message = check_hit_condition(text)
    assert message is not None
    assert HIT_CONDITION_FORMS in message
    with pytest.raises(ValueError, match="the forms are"):
        canonical_hit_condition(text)


@settings(deadline=None)
@given(st.text(max_size=12) | st.text("=<>% 0123456789", max_size=8))
def test_any_hit_condition_is_refused_or_evaluates(text: str) -> None:
    if check_hit_condition(text) is None:
        canonical = canonical_hit_condition(text)
        assert canonical == canonical_hit_condition(f" {canonical} ")
        assert int(canonical.lstrip("=<>%")) > 0
        assert isinstance(eval("3" + canonical), int)


CONDITIONS = {
    "n > 3": "n > 3",
    " \n n\n": "n",
    "len(items)": "len(items)",
    "'for'": "'for'",
    "n >": "n >",
    "any(i > n for i in items)": "(any((lambda n, items0: (i > n for i in items0))(n, items)))",
    "[1 for _ in ()]": "[1 for _ in ()]",
    "[i for i in items if i]": "[i for i in items if i]",
}


@pytest.mark.parametrize(("text", "translated"), CONDITIONS.items())
def test_conditions(text: str, translated: str) -> None:
    assert translate_condition(text) == translated


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("any(i > limit for i in items)", True),
        ("[i for i in items if i > limit]", [5]),
        ("{i: limit for i in items}", {1: 3, 5: 3}),
        ("sorted(items, key=lambda i: -i * limit)", [5, 1]),
        ("[[limit for _ in items] for _ in items]", [[3, 3], [3, 3]]),
        ("all(any(j == i for j in items) for i in items)", True),
        ("[last := i + limit for i in items]", [4, 8]),
        ("True or any(missing for _ in items)", True),
        ("'{' in unique and {len(k) for k in unique} == {limit - 2}", True),
        ("sorted(k for k in locals() if k != 'unique' and k)", ["items", "limit"]),
        ("[f'{i}é{limit}' for i in items if 'é'] # each", ["1é3", "5é3"]),
        ("f'é{[i * limit for i in items]}'", "é[3, 15]"),
        ("[i for i in sorted(items, key=lambda i: -i * limit)\n if i]", [5, 1]),
        ("[items0 + limit for items0 in (i + limit for i in items)]", [7, 11]),
        ("any(  # one\r\n i > limit for i in items)", True),
    ],
)
def test_conditions_reach_locals_from_nested_scopes(text: str, value: Any) -> None:
    names = {"items": [1, 5], "limit": 3, "unique": {"{": 1}}
    assert eval(translate_condition(text), {}, names) == value


OF_F_STRINGS = {
    """any(f"{p['a']}" == "2" for p in pair)""": "True",
    """f"{p['a']} of {[q['a'] * n for q in pair]}\"""": "'1 of [3, 6]'",
}


def test_f_strings_stay_what_an_older_debuggee_understands() -> None:
    names = {"n": 3, "p": {"a": 1}, "pair": [{"a": 1}, {"a": 2}]}
    expressions = [translate_condition(text) for text in OF_F_STRINGS]
    expressions.append(translate_log_message("""{f"{p['a']}" + '}'}""")[1:-1])
    show = f"for text in {expressions!r}: print(repr(eval(text, {{}}, {names!r})))"
    python = installed_python("3.8")
    shown = subprocess.run([python, "-c", show], capture_output=True, text=True, check=False)
    assert (shown.stdout.splitlines(), shown.stderr) == ([*OF_F_STRINGS.values(), "'1}'"], "")


def test_both_conditions_must_hold() -> None:
    expression = translate_both("n != 4 or x", "% 2")
    hits = [
        hit
        for hit in range(1, 9)
        if eval(expression.replace("@HIT@", str(hit)), {"n": hit, "x": 0})
    ]
    assert hits == [2, 6, 8]
    assert translate_both("n", "5") == "@HIT@ ==5 and (n)"
    with pytest.raises(ValueError, match="forms"):
        translate_both("n", "five")


LOG_MESSAGES = {
    "plain": "plain",
    "100%": "100%",
    "100% of {n}": "100% of 3",
    "%s %d {n}": "%s %d 3",
    "{n}{n}": "33",
    "{ n }": "3",
    "{text}": "it's",
    "{text!r}": '"it\'s"',
    "{text!a:>8}|": '  "it\'s"|',
    "{n:>5}|": "    3|",
    "{n:{width}}|": "         3|",
    "{n:{width}.{n}f}|": "     3.000|",
    "{text!s:{'>'}{width}}|": "      it's|",
    "{n=}": "n=3",
    "{text=}": 'text="it\'s"',
    "{ n = :>3}|": " n =   3|",
    "{n+1=!s}": "n+1=4",
    "{n == 3}": "True",
    "{n != 3}": "False",
    "{n >= 3}": "True",
    "{n:}": "3",
    "{{n}}": "{n}",
    "{{{n}}}": "{3}",
    "}}{{": "}{",
    "{{}}%": "{}%",
    "{ {1: 2}[1] }": "2",
    "{unique['}']} {unique['{']}": "1 2",
    '{unique["}"]:>3}|': "  1|",
    "{'\\\\}'}": "\\}",
    "{r'\\}'}": "\\}",
    "{'''}'''}": "}",
    "{pair}": "(1, 2)",
    "{1, 2}": "(1, 2)",
    "{(lambda i: i + n)(1)}": "4",
    "{(lambda: {'}': n}['}'])()}": "3",
    "{sum(i * n for i in pair)}": "9",
    "{[i for i in pair if i < n]}": "[1, 2]",
    "{f'{n:>3}'}": "  3",
    "{'%d%%' % n}": "3%",
    "{text[1:3]}": "t'",
    "{n if n else 0}": "3",
    "{n\n +\n 1}": "4",
    "é {text} \n\t\\": "é it's \n\t\\",
    "'{n}' \"{n}\"": "'3' \"3\"",
}


@pytest.mark.parametrize(("message", "shown"), LOG_MESSAGES.items())
def test_log_messages(message: str, shown: str) -> None:
    assert check_log_message(message) is None
    names = {"n": 3, "text": "it's", "width": 10, "unique": {"}": 1, "{": 2}, "pair": (1, 2)}
    assert logged(message, **names) == shown


BAD_LOG_MESSAGES = {
    "": ("empty", 0),
    "{": ("'{' is not closed", 1),
    "a {n": ("'{' is not closed", 3),
    "{n:>5": ("'{' is not closed", 1),
    "n}": ("single '}'", 2),
    "{}": ("without an expression", 1),
    "a { }": ("without an expression", 3),
    "{=}": ("without an expression", 1),
    "{!r}": ("without an expression", 1),
    "{n!q}": ("after '!'", 1),
    "{n!}": ("after '!'", 1),
    "{n!r }": ("after '!'", 1),
    "{a b}": ("{a b}: ", 1),
    "ok {n} {n +}": ("{n +}: ", 8),
    "{n ==}": ("{n ==}: ", 1),
    "{n = 1}": ("{n = 1}: ", 1),
    "{n)+(n}": ("unmatched ')'", 3),
    "{n[}": ("unmatched '}'", 4),
    "{'}": ("string in a field", 1),
    "{lambda: 1}": ("parentheses", 1),
    "{n # c}": ("comment", 4),
    "{yield}": ("yield", 1),
    "{await n}": ("await", 1),
    "{*n}": ("{*n}: ", 1),
    "{n:{m:{k}}}": ("nested too deeply", 7),
    "{n:{}}": ("without an expression", 4),
    "{rf'\\{{'}": ("raw strings", 1),
    "{\0}": ("null byte", 1),
    "x" * (MAX_LOG_MESSAGE + 1): ("characters", 0),
}


@pytest.mark.parametrize(("message", "reason"), BAD_LOG_MESSAGES.items())
def test_log_messages_that_cannot_work(message: str, reason: tuple[str, int]) -> None:
    fault = check_log_message(message)
    assert fault is not None
    assert reason[0] in fault.message
    assert fault.offset == reason[1]
    with pytest.raises(ValueError, match=re.escape(fault.message)):
        translate_log_message(message)


@settings(deadline=None)
@given(st.text("{}'\"!:=rsa n1[]()%\\\n,#f", max_size=16) | st.text(max_size=16))
def test_any_log_message_is_refused_or_understood_by_pydevd(message: str) -> None:
    if check_log_message(message) is None:
        expression = pydevd_expression(translate_log_message(message))
        with warnings.catch_warnings(action="ignore"):
            compile(expression, "<log>", "eval")


def test_warnings_about_expressions_are_muted() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert translate_condition("any(n is 1 for n in '\\d')") != ""
        assert translate_log_message("{'\\d}'}") != ""
    assert caught == []


@settings(deadline=None)
@given(st.text())
def test_escaped_text_is_logged_as_it_is(text: str) -> None:
    message = text.replace("{", "{{").replace("}", "}}")
    if 0 < len(message) <= MAX_LOG_MESSAGE:
        assert logged(message) == text
        assert logged(message + "{n}", n=1) == text + "1"


@settings(deadline=None)
@given(st.text(max_size=30), st.sampled_from(["", "!r", "!s", "!a"]), st.sampled_from(["", ":>9"]))
def test_fields_show_what_f_strings_show(value: str, conversion: str, spec: str) -> None:
    field = "{value" + conversion + spec + "}"
    assert logged(field, value=value) == field.format(value=value)


class Copies:
    """A program whose loop has a line for each of some breakpoints; they know nothing of each other."""

    def __init__(self, directory: Path, points: Sequence[Mapping[str, Any]]) -> None:
        marks = [f"line{number}" for number in range(len(points))]
        body = "\n            ".join(f"print(n)  # @{mark}" for mark in marks)
        self.program = Program.write(directory / "copies.py", LOOP.replace(LOOPS, body))
        self.lines = [self.program.line(mark) for mark in marks]
        placed = zip(self.lines, points, strict=True)
        self.breakpoints = {self.program.path: [{"line": line, **point} for line, point in placed]}


def test_live_log_messages(tmp_path: Path) -> None:
    messages = [
        "[{n=}] 100% {items!r:>10} {{x}} {unique['}']}",
        "{[i for i in items if i > limit]}",
    ]
    second = canonical_hit_condition("== 2")
    points = [{"logMessage": translate_log_message(m), "hitCondition": second} for m in messages]
    copies = Copies(tmp_path, points)
    with live_peer(copies.program.path) as peer:
        peer.start(copies.breakpoints)
        printed = peer.output()
    names = {"n": 2, "items": [1, 5], "limit": 3, "unique": {"}": 1, "{": 2}}
    assert [message for message in messages if logged(message, **names) not in printed] == []


LIVE_CONDITIONS: list[tuple[dict[str, str], int]] = [
    ({"condition": translate_condition("\n n == 2\n")}, 1),
    ({"condition": translate_condition("any(i * n > limit * 12 for i in items)")}, 3),
    ({"hitCondition": canonical_hit_condition("% 4")}, 2),
    ({"hitCondition": canonical_hit_condition("<= 03")}, 3),
    ({"hitCondition": canonical_hit_condition("7")}, 1),
    ({"hitCondition": translate_both("n > 5", "% 2")}, 3),
    ({"hitCondition": translate_both("sum(n for _ in items) > 12", ">= 2")}, 4),
    # Why `translate_both` is there: sent apart, either is enough.
    ({"condition": "n > 5", "hitCondition": "%2"}, 7),
]
"""What a breakpoint says, and how often it stops a loop of ten rounds."""


def test_live_conditions(tmp_path: Path) -> None:
    copies = Copies(tmp_path, [point for point, _ in LIVE_CONDITIONS])
    with live_peer(copies.program.path) as peer:
        peer.start(copies.breakpoints)
        stopped = Counter(line for _, line in peer.stops())
    found = [
        (point, stopped[line])
        for (point, _), line in zip(LIVE_CONDITIONS, copies.lines, strict=True)
    ]
    assert found == LIVE_CONDITIONS
