"""Transcripts of conversations, and what may not be said in one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay.dap.conversation import Conversation, IncomingEvent, IncomingRequest, Response
from relay.dap.framing import BrokenStream, encode
from relay.errors import ProtocolViolation
from tests.dap.playbook import Playbook


def response(request_seq: int, **more: Any) -> dict[str, Any]:
    return {"seq": 9, "type": "response", "request_seq": request_seq, "success": True, **more}


def event(name: str, **more: Any) -> dict[str, Any]:
    return {"seq": 9, "type": "event", "event": name, **more}


def request(seq: int, command: str, **more: Any) -> dict[str, Any]:
    return {"seq": seq, "type": "request", "command": command, **more}


def test_a_start() -> None:
    (
        Playbook()
        .asks(
            "initialize",
            {"adapterID": "relay"},
            sends={"seq": 1, "command": "initialize", "arguments": {"adapterID": "relay"}},
        )
        .hears(
            response(1, command="initialize", body={"supportsX": True}),
            as_=[Response(1, "initialize", True, body={"supportsX": True})],
        )
        .asks("launch", {}, sends={"seq": 2, "command": "launch", "arguments": {}})
        .hears(event("initialized"), as_=[IncomingEvent("initialized")])
        .asks("configurationDone", sends={"seq": 3, "command": "configurationDone"})
        .waits_for(launch=2, configurationDone=3)
        .hears(
            response(3),
            response(2, body=None),
            event("stopped", body={"reason": "entry", "threadId": 1}),
            as_=[
                Response(3, "configurationDone", True),
                Response(2, "launch", True),
                IncomingEvent("stopped", {"reason": "entry", "threadId": 1}),
            ],
        )
        .waits_for()
    )


def test_the_other_side_asks() -> None:
    terminal = IncomingRequest(7, "runInTerminal", {"args": ["python"]})
    other = IncomingRequest(8, "startDebugging")
    (
        Playbook()
        .hears(
            request(7, "runInTerminal", arguments={"args": ["python"]}),
            request(8, "startDebugging"),
            as_=[terminal, other],
        )
        .answers(
            other,
            error="not {now}",
            sends={
                "seq": 1,
                "request_seq": 8,
                "command": "startDebugging",
                "success": False,
                "message": "not {now}",
                "body": {
                    "error": {
                        "id": 1,
                        "format": "{text}",
                        "variables": {"text": "not {now}"},
                        "showUser": True,
                    }
                },
            },
        )
        .answers(
            terminal,
            body={"processId": 4},
            sends={
                "seq": 2,
                "request_seq": 7,
                "command": "runInTerminal",
                "success": True,
                "body": {"processId": 4},
            },
        )
        .hears(request(7, "again"), as_=[IncomingRequest(7, "again")])
    )


def test_an_adapter_speaks() -> None:
    ask = IncomingRequest(1, "threads")
    (
        Playbook()
        .hears(request(1, "threads"), as_=[ask])
        .tells(
            "output", {"output": "x"}, sends={"seq": 1, "event": "output", "body": {"output": "x"}}
        )
        .tells("initialized", sends={"seq": 2, "event": "initialized"})
        .answers(ask, sends={"seq": 3, "request_seq": 1, "command": "threads", "success": True})
    )


def test_forgotten_answers_are_dropped_once() -> None:
    (
        Playbook()
        .asks("evaluate", sends={"seq": 1, "command": "evaluate"})
        .asks("threads", sends={"seq": 2, "command": "threads"})
        .forgets(1)
        .waits_for(threads=2)
        .hears(
            response(1),
            event("e"),
            response(2),
            as_=[IncomingEvent("e"), Response(2, "threads", True)],
        )
        .rejects(response(1), "which is not pending")
    )


def test_forgetting_what_was_answered_changes_nothing() -> None:
    (
        Playbook()
        .asks("threads", sends={"seq": 1, "command": "threads"})
        .hears(response(1), as_=[Response(1, "threads", True)])
        .forgets(1)
        .forgets(77)
        .rejects(response(1), "which is not pending")
    )


def test_failures_have_a_text() -> None:
    structured = {"error": {"id": 1, "format": "no {what} here", "variables": {"what": "frame"}}}
    (
        Playbook()
        .asks("goto", sends={"seq": 1, "command": "goto"})
        .hears(
            response(1, success=False, message="short", body=structured),
            as_=[Response(1, "goto", False, "short", structured)],
        )
    )
    assert Response(1, "goto", False, "short", structured).error_text == "no frame here"
    variables = {"what": "{where}", "where": "x"}
    twice = {"error": {"format": "no {what} at {where}, {who}", "variables": variables}}
    assert Response(1, "goto", False, None, twice).error_text == "no {where} at x, {who}"
    assert Response(1, "goto", False, "short").error_text == "short"
    assert Response(1, "goto", False).error_text == "goto failed"
    assert Response(1, "goto", False, "short", {"error": {"format": 3}}).error_text == "short"


def test_our_errors_are_read_back_as_they_were() -> None:
    server, client = Conversation(), Conversation()
    _, data = client.request("evaluate")
    [asked] = server.receive(data)
    assert isinstance(asked, IncomingRequest)
    [told] = client.receive(server.respond(asked, error="NameError: {x}"))
    assert isinstance(told, Response)
    assert (told.success, told.error_text) == (False, "NameError: {x}")


@pytest.mark.parametrize(
    ("message", "because"),
    [
        ({}, "type None"),
        ({"type": "telegram"}, "type 'telegram'"),
        (response(1), "request 1"),
        (response(True), "request_seq is True"),
        ({"type": "response"}, "request_seq is None"),
        (event("x", body=[]), r"body is \[\]"),
        ({"type": "event"}, "event is None"),
        ({"type": "event", "event": 3}, "event is 3"),
        ({"type": "request", "command": "x"}, "seq is None"),
        ({"type": "request", "seq": 1}, "command is None"),
    ],
)
def test_violations(message: dict[str, Any], because: str) -> None:
    Playbook().rejects(message, because)


def test_one_number_for_two_open_requests() -> None:
    Playbook().hears(request(1, "a"), as_=[IncomingRequest(1, "a")]).rejects(
        request(1, "b"), "two open requests"
    )


def test_answering_what_was_not_asked_is_our_own_mistake() -> None:
    conversation = Conversation()
    [asked] = conversation.receive(encode(request(1, "a")))
    assert isinstance(asked, IncomingRequest)
    conversation.respond(asked)
    with pytest.raises(ValueError, match="awaits no answer"):
        conversation.respond(asked)


def test_what_cannot_be_sent_leaves_no_trace() -> None:
    conversation = Conversation()
    with pytest.raises(TypeError):
        conversation.request("x", {"y": object()})
    assert dict(conversation.pending) == {}
    assert conversation.request("x")[0] == 1


def test_what_was_said_before_the_bytes_broke() -> None:
    conversation = Conversation()
    with pytest.raises(BrokenStream) as broken:
        conversation.receive(encode(event("exited")) + b"Traceback\r\n\r\n")
    assert conversation.salvage(broken.value) == [IncomingEvent("exited")]


def test_the_end_of_the_stream() -> None:
    conversation = Conversation()
    conversation.close()
    conversation.receive(b"Content-")
    with pytest.raises(ProtocolViolation):
        conversation.close()


def test_arguments_may_be_anything_and_only_an_object_is_understood() -> None:
    fault = "the arguments must be an object, not ['y']"
    Playbook().hears(
        request(1, "x", arguments=["y"]), as_=[IncomingRequest(1, "x", fault=fault)]
    ).hears(request(2, "x", arguments=None), as_=[IncomingRequest(2, "x")])


@settings(deadline=None)
@given(st.lists(st.sampled_from(["ask", "answer", "answer last", "forget"]), max_size=40))
def test_every_answer_finds_its_question(steps: list[str]) -> None:
    conversation = Conversation()
    open_: list[int] = []
    forgotten: set[int] = set()
    for step in steps:
        if step == "ask":
            open_.append(conversation.request(f"c{len(open_)}")[0])
        elif step == "forget" and open_:
            conversation.forget(open_[0])
            forgotten.add(open_[0])
        elif open_:
            seq = open_.pop(-1 if step == "answer last" else 0)
            heard = conversation.receive(encode(response(seq)))
            assert [m.request_seq for m in heard if isinstance(m, Response)] == (
                [] if seq in forgotten else [seq]
            )
        assert set(conversation.pending) == set(open_) - forgotten
        assert open_ == sorted(open_)
