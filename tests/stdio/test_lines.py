"""Lines: whatever comes in becomes commands or complaints, and what goes out fits a line."""

from __future__ import annotations

import json
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.debuggers.debugpy.debugger import PYTHON
from relay.debuggers.perl import PERL
from relay.faces.stdio.changes import VariableChanges
from relay.faces.stdio.lines import (
    LONGEST_OUT,
    BadLineError,
    Command,
    LineReader,
    cut,
    encode,
    front,
    parse,
    pieces,
)
from relay.models.line_protocol import (
    COMMANDS,
    Error,
    EvaluateResult,
    Output,
    StackFrame,
    Variable,
    Variables,
)
from relay.operations.tool.spoken_values import spoken

SOUND: dict[str, dict[str, Any]] = {
    "initialize": {"file": "a.py", "workingDir": "/"},
    "setBreakpoint": {"file": "a.py", "line": 1},
    "clearBreakpoint": {"file": "a.py", "line": 1},
    "getVariables": {"frameIndex": 0},
    "evaluate": {"expression": "x"},
}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
MESSAGES = st.fixed_dictionaries(
    {"type": st.just("command") | JSON, "command": st.sampled_from(list(COMMANDS)) | JSON},
    optional={"params": st.dictionaries(st.sampled_from(["file", "line", "x"]), JSON) | JSON},
)


def line_of(command: str, **params: Any) -> bytes:
    return json.dumps({"type": "command", "command": command, "params": params}).encode()


@given(st.lists(st.binary(max_size=12)), st.data())
def test_the_lines_are_the_same_in_whatever_pieces_they_come(
    written: list[bytes], data: st.DataObject
) -> None:
    stream = b"\n".join(written)
    whole, torn = LineReader(longest=8), LineReader(longest=8)
    expected = whole.feed(stream) + whole.close()
    size = data.draw(st.integers(1, 5))
    found = [
        line for at in range(0, len(stream), size) for line in torn.feed(stream[at : at + size])
    ]
    assert found + torn.close() == expected
    assert expected == [
        None if len(line) > 8 else line.strip()
        for line in stream.split(b"\n")
        if len(line) > 8 or line.strip()
    ]


@given(st.binary(max_size=40) | MESSAGES.map(lambda m: json.dumps(m).encode()))
def test_every_line_is_a_command_or_a_complaint_that_can_be_told(line: bytes) -> None:
    found = parsed(line)
    if isinstance(found, Error):
        assert found.message
        assert len(encode(found)) <= LONGEST_OUT
    else:
        assert isinstance(found.params, COMMANDS[found.name])


def parsed(line: bytes) -> Command | Error:
    try:
        return parse(line)
    except BadLineError as error:
        return Error(message=error.message, command=error.command)


def test_every_command_is_understood() -> None:
    for name, model in COMMANDS.items():
        found = parse(line_of(name, **SOUND.get(name, {})))
        assert found == Command(name, model.model_validate(SOUND.get(name, {})))
    for params in ("", ',"params":null'):  # null is as good as none
        assert parse(b'{"type":"command","command":"start"%s}' % params.encode()).name == "start"


@pytest.mark.parametrize(
    ("line", "command", "said"),
    [
        (b"nonsense", None, "not JSON"),
        (b'{"type": "command", "type": "command"}', None, "type: is given more than once"),
        (b'{"type": "command", "params": {"a": 1, "a": 2}}', None, "a: is given more than once"),
        (b"\xff\xfe\xfd", None, "not"),
        (b"[" * 100_000, None, "nested"),
        (b"[]", None, "must be a JSON object"),
        (b'{"command": "start"}', "start", 'type: must be "command"'),
        (b'{"type": "command"}', None, "command: must be a string"),
        (b'{"type": "command", "command": "stepin"}', "stepin", "did you mean 'stepInto'"),
        (b'{"type": "command", "command": "\\ud800"}', "\\ud800", "is unknown"),
        (b'{"type": "command", "command": "start", "id": 1}', "start", "id: is unknown"),
        (b'{"type": "command", "command": "start", "params": []}', "start", "params: must be"),
        (line_of("start", now=True), "start", "now: is unknown"),
        (line_of("initialize"), "initialize", "file: is required"),
        (line_of("initialize", file="a\0b"), "initialize", "NUL"),
        (line_of("initialize", file="a", working_dir="/"), "initialize", "'workingDir'"),
        (line_of("setBreakpoint", file="a", line=0), "setBreakpoint", "at least 1"),
        (line_of("setBreakpoint", file="a", line="3"), "setBreakpoint", "whole number"),
        (line_of("getVariables", frameIndex=-1), "getVariables", "at least 0"),
        (line_of("evaluate", expression=""), "evaluate", "must not be empty"),
        (
            line_of("setBreakpoint", line=0),
            "setBreakpoint",
            "params: file: is required; line: must be at least 1",
        ),
        (
            line_of("start", **{f"x{number}": 1 for number in range(7)}),
            "start",
            "x4: is unknown (known: none) (and 2 more)",
        ),
        (None, None, "longer than"),
    ],
)
def test_what_is_wrong_is_said_with_the_command_that_it_is_about(
    line: bytes | None, command: str | None, said: str
) -> None:
    with pytest.raises(BadLineError) as caught:
        parse(line)
    assert caught.value.command == command
    assert said in caught.value.message


@given(st.text(max_size=50), st.integers(1, 3000))
def test_texts_of_any_length_go_out_whole_in_lines_that_fit(text: str, times: int) -> None:
    text *= times
    found = pieces(text, lambda piece: Output(category="stdout", text=piece))
    assert "".join(json.loads(encode(event))["data"]["text"] for event in found) == text
    assert all(len(encode(event)) <= LONGEST_OUT for event in found)


def test_a_value_that_is_too_long_is_cut_with_a_mark() -> None:
    event = cut("ä" * 100_000, lambda t: EvaluateResult(expression="x", result=t, type="string"))
    line = encode(event)
    assert len(line) <= LONGEST_OUT
    assert json.loads(line)["data"]["result"].endswith("ä…")


def test_of_many_items_as_many_go_out_as_fit() -> None:
    items = [Variable(name=f"v{n}", value="x" * 100, type="string") for n in range(1000)]
    event, taken = front(items, lambda some: Variables(frame_index=0, variables=list(some)))
    assert 100 < taken < 1000
    assert len(encode(event)) <= LONGEST_OUT
    longer = Variables(frame_index=0, variables=items[: taken + 1])
    assert len(encode(longer)) > LONGEST_OUT


def variables(**values: str) -> list[Variable]:
    return [Variable(name=name, value=value, type="int") for name, value in values.items()]


def stack(*functions: str) -> list[StackFrame]:
    return [StackFrame(index=0, function=f, file="a.py", line=1) for f in functions]


def test_changes_are_those_of_the_frame_that_is_on_top() -> None:
    changes = VariableChanges()

    def names(frames: list[StackFrame], **values: str) -> str:
        return " ".join(v.name for v in changes.since(frames, variables(**values)))

    main, inner = stack("main"), stack("f", "main")
    assert names(main, x="1", y="1") == "x y"
    assert names(main, x="1", y="2", z="3") == "y z"
    assert names(inner, x="1") == "x"
    assert names(stack("f", "f", "main"), x="1") == "x", "a frame of its own, in recursion"
    assert names(inner, x="1", w="1") == "w"
    assert names(main, x="1", y="2", z="3") == ""
    assert names(inner, x="1") == "x", "called again, it is another frame"


@given(st.text(alphabet=st.sampled_from([*string.printable, "ä", "\ud800", "\U0001f600"])))
def test_texts_are_in_double_quotes_whatever_is_in_them(text: str) -> None:
    shown, kind = spoken(PYTHON, repr(text), "str")
    assert kind == "string"
    assert shown.startswith('"')
    assert json.loads(shown) == text
    shown.encode()


def test_types_have_common_names_and_classes_their_own() -> None:
    for name, kind in (
        ("tuple", "array"),
        ("dict", "map"),
        ("NoneType", "nil"),
        ("float", "float"),
    ):
        assert spoken(PYTHON, "…", name) == ("…", kind)
    assert spoken(PYTHON, "<C>", "pkg.mod.C") == ("<C>", "C")
    assert spoken(PYTHON, "***", "str") == ("***", "string")


def test_a_scalar_is_what_it_looks_like() -> None:
    for shown, expected in (
        ("42", ("42", "int")),
        ("-7", ("-7", "int")),
        ("3.5", ("3.5", "float")),
        ("1e+100", ("1e+100", "float")),
        ("-Inf", ("-Inf", "float")),
        ("undef", ("undef", "nil")),
        ("007", ('"007"', "string")),
        ("00.5", ('"00.5"', "string")),
        ('say "hé"', ('"say \\"hé\\""', "string")),
        ("", ('""', "string")),
    ):
        assert spoken(PERL, shown, "scalar") == expected
    assert spoken(PERL, "[2 items]", "array") == ("[2 items]", "array")
    assert spoken(PERL, "{1 keys}", "hash") == ("{1 keys}", "map")
