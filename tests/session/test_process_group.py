"""A program alone is a process group of one, which costs nothing and asks nobody else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from relay.config import Settings
from relay.debuggers.known import known_debuggers
from relay.errors import RelayError
from relay.session.children.child_joining import ChildJoining
from relay.session.dap.connection import Link
from relay.session.debuggee.debuggee import Debuggee
from relay.session.session import Session
from relay.session.state.session_definition import SessionOptions
from relay.session.state.stop import Stop


@pytest.fixture
async def program(tmp_path: Path) -> Debuggee:
    config = SessionOptions(project_root=str(tmp_path), python_path=sys.executable)
    settings = Settings(state_dir=tmp_path)
    return Debuggee(Session("sess_1", None, config, settings, known_debuggers({})))


class Unheard:
    """A stream on which nothing goes, since nobody runs the link."""

    def send_now(self, data: bytes) -> int:
        raise NotImplementedError

    async def send_all(self, data: bytes) -> None:
        raise NotImplementedError

    async def receive_some(self, max_bytes: int) -> bytes:
        raise NotImplementedError

    async def aclose(self) -> None:
        raise NotImplementedError


async def test_a_request_of_a_program_alone_is_its_own_without_a_layer(program: Debuggee) -> None:
    program.link = Link(Unheard(), lambda event: None)
    request = program.request("threads")
    assert request.cr_code is Debuggee._answer_to.__code__  # type: ignore[attr-defined]
    request.close()


async def test_a_stop_of_a_program_alone_is_the_session_s_at_once(program: Debuggee) -> None:
    stop, announced = Stop(id=0, thread_id=1, reason="step", top=None), []
    program.group.stopped(program, stop, lambda: announced.append(stop))
    assert announced == [stop]
    assert (stop.process, stop.is_stopped) == (None, None)
    assert program.group.is_current(program)
    assert program.group.current is program


async def test_numbers_of_a_program_are_its_own(program: Debuggee) -> None:
    assert (program.outer_id(7), program.inner_id(7)) == (7, 7)
    child = Debuggee(program.session, program.group)
    child.number = 2
    assert child.inner_id(child.outer_id(7)) == 7
    assert child.outer_id(7) != 7


async def test_hits_of_a_program_alone_are_as_it_counts_them(program: Debuggee) -> None:
    hits = {"sess_1:bp_1": 3}
    assert program.group.total_hits(program, hits) is hits


async def test_a_process_that_runs_is_not_stopped_again_as_the_debugger_parts_from_another(
    program: Debuggee,
) -> None:
    group = program.group
    joining = ChildJoining(program, optional=False, workers_only=False)
    group.follow(joining)
    child = Debuggee(program.session, group)
    child.number = 1
    group.add(child)
    announced: list[Debuggee] = []

    def stop(member: Debuggee) -> None:
        found = Stop(id=0, thread_id=member.outer_id(1), reason="step", top=None)
        group.stopped(member, found, lambda: announced.append(member))

    stop(child)
    group.resumed()
    stop(program)
    program.link = Link(Unheard(), lambda event: None)
    program.link.closed.set()
    with pytest.raises(RelayError):
        await program.request("continue", {"threadId": 1})
    group.resumed()
    group.announce_next()
    joining.close()
    assert announced == [child, program]
