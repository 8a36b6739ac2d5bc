"""The invariant first: however the bytes arrive, the same messages come out."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay.dap.framing import MAX_HEADER_SIZE, BrokenStream, Decoder, encode
from relay.errors import ProtocolViolation

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
MESSAGES = st.lists(st.dictionaries(st.text(), JSON, max_size=4), max_size=5)


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def outcome(pieces: Iterable[bytes], max_size: int = 1000) -> tuple[list[dict[str, Any]], str]:
    """All that a stream gives: messages, and the fault that ended it, if one did."""
    decoder = Decoder(max_size=max_size)
    messages: list[dict[str, Any]] = []
    try:
        for piece in pieces:
            messages += decoder.feed(piece)
        decoder.close()
    except BrokenStream as broken:
        return [*messages, *broken.whole], str(broken)
    return messages, ""


def one_by_one(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]


def split(data: bytes, cuts: Iterable[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


@settings(deadline=None)
@given(MESSAGES, st.lists(st.integers(0), max_size=8))
def test_what_is_encoded_is_decoded(messages: list[dict[str, Any]], cuts: list[int]) -> None:
    data = b"".join(map(encode, messages))
    for pieces in ([data], one_by_one(data), split(data, cuts)):
        assert outcome(pieces, max_size=10**6) == (messages, "")


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [b"Content-Length: 2\r\n\r\n{}", b"content-length:2\r\n\r\n", b"{}", b"\r\n"]
        )
        | st.sampled_from([b"Content-Length: 9999\r\n\r\n", b"X: y\r\n", b"[]", b"Content-Length"])
        | st.binary(max_size=6),
        max_size=8,
    ).map(b"".join),
    st.lists(st.integers(0), max_size=8),
)
def test_faults_do_not_depend_on_the_pieces(data: bytes, cuts: list[int]) -> None:
    whole = outcome([data])
    assert outcome(one_by_one(data)) == whole
    assert outcome(split(data, cuts)) == whole


@pytest.mark.parametrize(
    "headers",
    [
        b"Content-Length: 2",
        b"content-length:2",
        b"CONTENT-LENGTH:   2  ",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2",
        b"Content-Length: 2\r\nX-Anything: a: b",
        b"Content-Length: 0002",
        b"Content-Length: 2\r\nContent-Length: 2",
    ],
)
def test_headers_taken(headers: bytes) -> None:
    assert Decoder().feed(headers + b"\r\n\r\n{}") == [{}]


@pytest.mark.parametrize(
    "data",
    [
        b"Content-Type: x\r\n\r\n{}",
        b"\r\n\r\n{}",
        b"Content-Length: -2\r\n\r\n{}",
        b"Content-Length: +2\r\n\r\n{}",
        b"Content-Length: 1_0\r\n\r\n{}",
        b"Content-Length: \xd9\xa3\r\n\r\n{}",
        b"Content-Length: 2.0\r\n\r\n{}",
        b"Content-Length:\r\n\r\n{}",
        b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n{}",
        b"a line printed by accident\nContent-Length: 2\r\n\r\n{}",
        b": 2\r\n\r\n{}",
        b"x" * (MAX_HEADER_SIZE + 1),
        b"X: " + b"x" * MAX_HEADER_SIZE + b"\r\nContent-Length: 2\r\n\r\n{}",
        framed(b""),
        framed(b"[]"),
        framed(b"null"),
        framed(b"{"),
        framed(b"{} {}"),
        framed(b'{"a": "\xff"}'),
        framed('{"a": 1}'.encode("utf-16")),
        framed(b"[" * 100_000),
        framed(b'{"a": ' * 100_000),
    ],
)
def test_violations(data: bytes) -> None:
    decoder = Decoder()
    with pytest.raises(ProtocolViolation) as first:
        decoder.feed(data)
    for again in (lambda: decoder.feed(encode({})), decoder.close):
        with pytest.raises(BrokenStream) as second:
            again()
        assert str(second.value) == str(first.value)


def test_too_large_is_refused_before_it_is_read() -> None:
    with pytest.raises(BrokenStream, match="a message of 11 bytes, more than the 10 allowed"):
        Decoder(max_size=10).feed(b"Content-Length: 11\r\n\r\n")
    assert Decoder(max_size=10).feed(framed(b'{"a": 123}')) == [{"a": 123}]


def test_what_came_before_a_fault_is_kept() -> None:
    with pytest.raises(BrokenStream) as broken:
        Decoder().feed(encode({"event": "exited"}) + b"garbage\r\n\r\n")
    assert broken.value.whole == ({"event": "exited"},)


@pytest.mark.parametrize(
    "data", [b"C", b"Content-Length: 2\r\n\r\n", b"Content-Length: 2\r\n\r\n{"]
)
def test_end_inside_a_message(data: bytes) -> None:
    decoder = Decoder()
    assert decoder.feed(data) == []
    with pytest.raises(BrokenStream, match="ended inside a message"):
        decoder.close()


def test_end_between_messages() -> None:
    decoder = Decoder()
    decoder.close()
    assert decoder.feed(encode({})) == [{}]
    decoder.close()


def test_lone_surrogates_survive() -> None:
    message = {"value": "\udc80 \U0001f600 é"}
    assert encode(message).isascii()
    assert Decoder().feed(encode(message)) == [message]


def test_what_json_cannot_say_is_not_encoded() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        encode({"a": float("nan")})
    with pytest.raises(TypeError):
        encode({"a": object()})


def test_time_is_linear() -> None:
    """Eight times as much in small pieces takes about eight times as long, not 64 times."""

    def seconds(size: int) -> float:
        data = framed(json.dumps({"a": "x" * size}).encode()) + b"".join(
            [encode({})] * (size // 20)
        )
        decoder, count = Decoder(), 0
        start = time.process_time()
        for at in range(0, len(data), 100):
            count += len(decoder.feed(data[at : at + 100]))
        assert count == 1 + size // 20
        return time.process_time() - start

    small = min(seconds(50_000) for _ in range(3))
    assert min(seconds(400_000) for _ in range(3)) < 30 * small


def test_a_body_that_cannot_be_read_is_none_where_something_can_stand_in_its_place() -> None:
    decoder = Decoder(instead=lambda why: {"why": why})
    told = decoder.feed(framed(b"{") + framed(b"[1]") + framed(b'{"a": 1}'))
    assert [list(one) for one in told] == [["why"], ["why"], ["a"]]
    with pytest.raises(BrokenStream):
        decoder.feed(b"Content-Length: x\r\n\r\n")
