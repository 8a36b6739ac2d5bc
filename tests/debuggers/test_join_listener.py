"""The listener for one debuggee: nobody but that is heard, and nothing is left behind."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from relay.config import Settings
from relay.dap.framing import Decoder, encode
from relay.debuggers.debugpy import join_listener, rungs
from relay.debuggers.debugpy.join_listener import JoinListener
from relay.debuggers.debugpy.rungs import Rung
from relay.debuggers.known import known_debuggers
from relay.session.debuggee.debuggee import Debuggee
from relay.session.session import Session
from relay.session.state.session_definition import SessionOptions
from tests.e2e.served import until
from tests.editor.test_strangers import NOBODY, connecting, needs_root
from tests.leftovers import descriptors

SECONDS = 60


async def test_who_is_cancelled_as_it_enters_leaves_no_socket() -> None:
    before = descriptors()
    with trio.CancelScope() as scope:
        scope.cancel()
        with JoinListener() as listener:
            assert listener.port
            assert descriptors() > before
            await trio.lowlevel.checkpoint()
            pytest.fail("cancelled at its first checkpoint")
    assert scope.cancelled_caught
    assert descriptors() == before


@pytest.fixture
def debuggee(tmp_path: Path, nursery: trio.Nursery) -> Debuggee:
    config = SessionOptions(project_root=str(tmp_path), python_path=sys.executable)
    settings = Settings(state_dir=tmp_path)
    debuggee = Debuggee(Session("sess_1", None, config, settings, known_debuggers({})))
    debuggee.nursery = nursery
    return debuggee


@contextmanager
def connecting_program(listener: JoinListener) -> Iterator[subprocess.Popen[bytes]]:
    """A program whose debugger connects there, and knows the token."""
    options = ["--connect", f"127.0.0.1:{listener.port}", "--configure-subProcess", "false"]
    options += ["--adapter-access-token", listener.token, "-c", "pass"]
    with subprocess.Popen([sys.executable, "-m", "debugpy", *options]) as process:
        yield process
        process.kill()


LIES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("initialized", {}),
    ("output", {"category": "console", "output": "a lie"}),
    ("process", {"systemProcessId": 1}),
    ("stopped", {"reason": "pause", "threadId": 1}),
    ("exited", {"exitCode": 3}),
    ("terminated", {}),
)


async def lie(port: int) -> None:
    """Say all that a debugger may say, and a wrong token, until the relay hangs up."""
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        decoder = Decoder()
        asked: list[dict[str, Any]] = []
        for seq, (event, body) in enumerate(LIES, 1):
            await stream.send_all(
                encode({"seq": seq, "type": "event", "event": event, "body": body})
            )
        while not asked:
            asked = decoder.feed(await stream.receive_some())
        answer = {"request_seq": asked[0]["seq"], "command": asked[0]["command"], "success": True}
        body = {"clientAccessToken": "a guess"}
        await stream.send_all(encode({"seq": 99, "type": "response", **answer, "body": body}))
        assert await stream.receive_some() == b""


def has_heard_nothing(debuggee: Debuggee) -> bool:
    session = debuggee.session
    facts = debuggee.link, debuggee.pid, debuggee.exit_code, session.stop, session.output.last_seq
    return facts == (None, None, None, None, 0) and not (
        debuggee.initialized.is_set() or debuggee.said_terminated
    )


async def test_who_does_not_know_the_token_is_neither_heard_nor_waited_for(
    debuggee: Debuggee, nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(join_listener, "AUTHORIZE_SECONDS", 10.0 * SECONDS)
    with JoinListener() as listener, trio.fail_after(SECONDS):
        async with await trio.open_tcp_stream("127.0.0.1", listener.port) as silent:
            nursery.start_soon(listener.admit, debuggee)
            await lie(listener.port)
            assert has_heard_nothing(debuggee)
            with connecting_program(listener) as process:
                await until(lambda: debuggee.link is not None, "the program is not admitted")
                await debuggee.ask("initialize", rungs.initialize_arguments(Rung.PLAIN))
                await debuggee.ask("attach", rungs.debug_arguments())
                await debuggee.initialized.wait()
                assert debuggee.pid == process.pid
                while await silent.receive_some():
                    pass
    assert debuggee.link is not None
    debuggee.link.hang_up()


@needs_root
@pytest.mark.parametrize("is_expected", [False, True])
async def test_another_user_is_asked_for_the_token_only_where_it_may_be_the_debuggee(
    debuggee: Debuggee, nursery: trio.Nursery, is_expected: bool
) -> None:
    code = connecting(f"os.setuid({NOBODY})")
    with JoinListener(users=[NOBODY] if is_expected else []) as listener:
        nursery.start_soon(listener.admit, debuggee)
        run = partial(trio.run_process, capture_stdout=True)
        done = await run([sys.executable, "-c", code, str(listener.port), "AF_INET"])
        assert (b"pydevdAuthorize" in done.stdout) is is_expected
        assert (done.stdout == b"hung up on\n") is not is_expected
        nursery.cancel_scope.cancel()
