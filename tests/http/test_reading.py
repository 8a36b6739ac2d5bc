"""Requests that do not fit are refused with everything that is wrong with them."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.errors import (
    InvalidParameter,
    InvalidRequest,
    MissingParameter,
    RelayError,
    UnsupportedMediaType,
)
from relay.faces.common.reading import MOST_VALUES, read_body, read_query, refuse_query
from relay.models.breakpoints import BreakpointSpec
from relay.models.complaints import MOST_COMPLAINTS
from relay.models.creating import CreateSession
from relay.models.definition import Definition
from relay.models.launch import AttachRequest
from relay.models.patterns import PATTERN_WORDS
from relay.models.profiles import CreateProfile
from relay.models.trace import TraceRequest
from relay.models.variables import ChildrenQuery
from tests.http.fake import Body, Needed, Query

JSON = "application/json"


def refused_body(raw: bytes, model: Any = Body) -> dict[str, str]:
    with pytest.raises(InvalidRequest) as caught:
        read_body(model, raw, JSON)
    return complaints_of(caught.value)


def complaints_of(error: RelayError) -> dict[str, str]:
    return {item["field"]: item["message"] for item in error.details["errors"]}


@pytest.mark.parametrize("content_type", [None, "", JSON, "text/plain"])
def test_absent_body_is_the_empty_object(content_type: str | None) -> None:
    assert read_body(Body, b"", content_type) == Body()


@pytest.mark.parametrize(
    "content_type",
    [JSON, "application/json; charset=utf-8", "Application/JSON", "application/vnd.x+json;v=1"],
)
def test_json_media_types(content_type: str) -> None:
    assert read_body(Body, b'{"name": "x"}', content_type).name == "x"


@pytest.mark.parametrize("name", ["utf-16", "UTF-16LE", '"latin1"', "utf-7;q=1"])
def test_a_body_is_utf_8_and_says_nothing_else(name: str) -> None:
    with pytest.raises(UnsupportedMediaType, match=r"must be UTF-8, not (?i:utf-|latin1)"):
        read_body(Body, b"{}", f"application/json; charset={name}")
    for known in ("utf-8", '"UTF-8"', "us-ascii", ""):
        read_body(Body, b"{}", f"application/json; Charset = {known}")


def test_fields_that_do_not_go_together_are_a_fault_of_the_whole() -> None:
    for body in (
        {"mode": "attach"},
        {"pid": 1},
        {"launch": {"script": "a"}, "attach": {"pid": 1}},
    ):
        with pytest.raises(InvalidRequest) as refused:
            read_body(CreateSession, json.dumps(body).encode(), JSON)
        assert [one["field"] for one in refused.value.details["errors"]] == ["body"]
        assert not refused.value.message.startswith("body")
    with pytest.raises(InvalidParameter) as refused_query:
        read_query(ChildrenQuery, b"offset=1&start=1")
    assert [one["field"] for one in refused_query.value.details["errors"]] == ["query"]


@pytest.mark.parametrize(
    "content_type", [None, "", "text/plain", "application/x-www-form-urlencoded", "json", "+json"]
)
def test_other_media_types(content_type: str | None) -> None:
    with pytest.raises(UnsupportedMediaType):
        read_body(Body, b"{}", content_type)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b'{"name": 3}', {"name": "must be a string"}),
        (b'{"name": "12345678901"}', {"name": "must have at most 10 characters"}),
        (b'{"name": "a\\u0000"}', {"name": "must not contain NUL characters"}),
        (b'{"wait": "1"}', {"wait": "must be a number"}),
        (b'{"wait": true}', {"wait": "must be a number"}),
        (b'{"wait": 301}', {"wait": "must be at most 300"}),
        (b'{"wait": 1e999}', {"wait": "must be a finite number"}),
        (b'{"breakpoints": {}}', {"breakpoints": "must be a list"}),
        (b'{"breakpoints": [3]}', {"breakpoints[0]": "must be an object"}),
        (
            b'{"breakpoints": [{"path": "x", "line": 0}, {"path": "", "line": 1.0}]}',
            {
                "breakpoints[0].line": "must be at least 1",
                "breakpoints[1].path": "must not be empty",
                "breakpoints[1].line": "must be a whole number",
            },
        ),
        (b'{"breakpoints": [{"path": "x"}]}', {"breakpoints[0].line": "is required"}),
        (b'{"env": {"A": 1}}', {"env.A": "must be a string"}),
        (b'{"mode": 1}', {"mode": "must be true or false, or 'always' or 'never'"}),
        (
            b'{"nmae": 1}',
            {
                "nmae": "is unknown; did you mean 'name'? "
                "(known: anything, breakpoints, env, mode, name, wait)"
            },
        ),
        (
            b'{"breakpoints": [{"path": "x", "line": 1, "lines": 2}]}',
            {"breakpoints[0].lines": "is unknown; did you mean 'line'? (known: line, path)"},
        ),
    ],
)
def test_complaints_about_bodies(raw: bytes, expected: dict[str, str]) -> None:
    assert refused_body(raw) == expected


def test_all_complaints_at_once() -> None:
    found = refused_body(b'{"name": 1, "wait": -1, "x": 2, "breakpoints": [{}]}')
    assert list(found) == ["name", "breakpoints[0].path", "breakpoints[0].line", "wait", "x"]


def test_absent_body_lacks_required_fields() -> None:
    assert refused_body(b"", Needed) == {"expression": "is required"}


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"{", "not valid JSON"),
        (b"   ", "not valid JSON"),
        (b"{'a': 1}", "not valid JSON"),
        (b'{"name": "\xff"}', "not UTF-8"),
        (b'{"name": "\\ud800"}', "not valid JSON"),
        (b'{"anything": ' + b'{"a":' * 5000, "recursion"),
        (b'{"anything": {"x": NaN}}', "no NaN"),
        (b'{"anything": {"x": -Infinity}}', "no -Infinity"),
        (b'{"wait": 1' + b"0" * 5000 + b"}", "not valid JSON"),
        (b"[]", "must be a JSON object"),
        (b"null", "must be a JSON object"),
        (b'"text"', "must be a JSON object"),
    ],
)
def test_bodies_that_are_no_json_object(raw: bytes, says: str) -> None:
    found = refused_body(raw)
    assert list(found) == ["body"]
    assert says in found["body"]


def commas(values: int) -> bytes:
    """A body of so many values in one list."""
    return b'{"anything": {"x": [0' + b",0" * (values - 1) + b"]}}"


def test_the_number_of_values_is_bounded() -> None:
    read_body(Body, commas(MOST_VALUES), JSON)
    assert "values" in refused_body(commas(MOST_VALUES + 1))["body"]


@pytest.mark.parametrize("text", [b",", b'\\"', b"\\\\"])
def test_commas_in_a_text_are_no_values(text: bytes) -> None:
    raw = b'{"anything": {"x": "' + text * MOST_VALUES + b"," * MOST_VALUES + b'"}}'
    assert len(read_body(Body, raw, JSON).anything["x"]) >= 2 * MOST_VALUES


def patterns_in(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from patterns_in(part)


def test_what_a_text_must_look_like_is_said_in_words() -> None:
    models: list[Any] = [
        Definition,
        CreateSession,
        AttachRequest,
        BreakpointSpec,
        TraceRequest,
        CreateProfile,
    ]
    known = {pattern for model in models for pattern in patterns_in(model.model_json_schema())}
    assert len(known) > 4
    assert known <= PATTERN_WORDS.keys()
    said = refused_body(b'{"function": ""}', BreakpointSpec)
    assert said == {
        "function": 'must name a function, such as "Cart.total" or "cart.py:Cart.total"'
    }
    said = refused_body(b'{"launch": {"script": "x.py", "env": {"A=B": ""}}}', CreateSession)
    assert list(said.values()) == ['must name an environment variable, such as "LEVEL"']


def test_of_many_unknown_names_few_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    def compare(name: str, *_: Any, **__: Any) -> list[str]:
        compared.append(name)
        return []

    monkeypatch.setattr(difflib, "get_close_matches", compare)
    raw = b"{" + b",".join(b'"unknown%d": 1' % number for number in range(5000)) + b"}"
    assert len(refused_body(raw)) == len(compared) == MOST_COMPLAINTS


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b'{"name": "x", "name": "x"}', {"name": "is given more than once"}),
        (b'{"env": {"A": "x", "A": "y"}}', {"A": "is given more than once"}),
        (b'{"env": {"A" : "x", "A"\n: "y"}}', {"A": "is given more than once"}),
        (b'{"env": {"A": "x", "\\u0041": "y"}}', {"A": "is given more than once"}),
        (b'{"env": {"": "x", "": "y"}}', {"": "is given more than once"}),
        (b'{"env": {"A": ", ", "B": ":", "A": "B"}}', {"A": "is given more than once"}),
        (
            b'{"anything": {"a": 1, "b": 2, "a": 3, "b": 4, "c": 5}}',
            {"a": "is given more than once", "b": "is given more than once"},
        ),
    ],
)
def test_names_given_twice(raw: bytes, expected: dict[str, str]) -> None:
    assert refused_body(raw) == expected


@pytest.mark.parametrize(
    "raw",
    [
        b'{"name": "env", "env": {"env": "name"}}',
        b'{"breakpoints": [{"path": "/a", "line": 1}, {"path": "/b", "line": 2}]}',
        b'{"env": {"A": "NaN", "B": "\\"C\\": 1", "C": "A", "D": "A"}}',
    ],
)
def test_a_name_that_comes_again_elsewhere_is_not_given_twice(raw: bytes) -> None:
    assert read_body(Body, raw, "application/json").model_dump(exclude_unset=True) == json.loads(
        raw
    )


def test_constants_inside_texts_are_texts() -> None:
    assert read_body(Body, b'{"anything": {"x": "NaN Infinity"}}', JSON).anything == {
        "x": "NaN Infinity"
    }


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    with suppress(InvalidRequest):
        read_body(Body, raw, JSON)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=300),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=20), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*Body.model_fields, "x"]), values))
def test_values_that_are_echoed_are_bounded(body: dict[str, Any]) -> None:
    try:
        read_body(Body, json.dumps(body).encode(), JSON)
    except InvalidRequest as error:
        for item in error.details["errors"]:
            assert len(json.dumps(item["value"], ensure_ascii=False)) <= 450


def read(raw: bytes) -> Query:
    return read_query(Query, raw)


def test_query_values_are_typed() -> None:
    query = read(b"reference=3&verified=true&types=a,b&timeout=1.5&filter=named")
    assert query.model_dump() == {
        "reference": 3,
        "limit": 100,
        "verified": True,
        "types": ["a", "b"],
        "timeout": 1.5,
        "filter": "named",
    }


def test_lists_may_be_repeated_or_empty() -> None:
    assert read(b"reference=1&types=a&types=b%2Cc").types == ["a", "b", "c"]
    assert read(b"reference=1&types=").types == []


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"reference=x", {"reference": "must be a whole number"}),
        (b"reference=", {"reference": "must be a whole number"}),
        (b"reference=1.5", {"reference": "must be a whole number"}),
        (b"reference=-1", {"reference": "must be at least 0"}),
        (b"reference=1&limit=1001", {"limit": "must be at most 1000"}),
        (b"reference=1&verified=maybe", {"verified": "must be true or false"}),
        (b"reference=1&timeout=nan", {"timeout": "must be a finite number"}),
        (b"reference=1&filter=x", {"filter": "must be 'indexed' or 'named'"}),
        (b"reference=1&reference=2", {"reference": "is given more than once"}),
        (b"reference=1&types=a,12345678901", {"types[1]": "must have at most 10 characters"}),
        (
            b"refrence=1",
            {
                "reference": "is required",
                "refrence": "is unknown; did you mean 'reference'? "
                "(known: filter, limit, reference, timeout, types, verified)",
            },
        ),
        (b"reference=%ff", {"query": "is not valid UTF-8"}),
        (b"&".join([b"x=1"] * 1001), {"query": "has over 1000 parameters"}),
        (
            b"reference=1&limit=0&verified=2",
            {"limit": "must be at least 1", "verified": "must be true or false"},
        ),
    ],
)
def test_complaints_about_queries(raw: bytes, expected: dict[str, str]) -> None:
    with pytest.raises(InvalidParameter) as caught:
        read(raw)
    assert complaints_of(caught.value) == expected


def test_absent_parameters() -> None:
    with pytest.raises(MissingParameter) as caught:
        read(b"limit=3")
    assert complaints_of(caught.value) == {"reference": "is required"}


def test_routes_without_parameters_take_none() -> None:
    refuse_query(b"")
    with pytest.raises(InvalidParameter):
        refuse_query(b"x=1")


@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), max_size=100))
def test_any_query_is_read_or_refused(raw: str) -> None:
    with suppress(InvalidParameter, MissingParameter):
        read(raw.encode())


@given(st.integers(0, 2**53), st.integers(1, 1000), st.booleans())
def test_queries_round_trip(reference: int, limit: int, verified: bool) -> None:
    query = read(f"reference={reference}&limit={limit}&verified={verified}".encode())
    assert (query.reference, query.limit, query.verified) == (reference, limit, verified)


def test_a_parameter_without_a_name_is_not_taken_for_the_whole_query() -> None:
    with pytest.raises(InvalidParameter) as refused:
        refuse_query(b"=1")
    assert [one["field"] for one in refused.value.details["errors"]] == [""]
