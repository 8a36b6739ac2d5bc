"""Sessions by a client that is not ours: @vscode/debugadapter-testsupport, under node."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from relay.faces.dap.serving import serve_editor
from tests.e2e.api import Api
from tests.editor.joining import terms
from tests.programs import Program

JS = Path(__file__).with_name("js")
RELAY = str(Path(sys.executable).with_name("relay"))
DEADLINE = 120

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or not (JS / "node_modules").is_dir(),
    reason=f"needs node, and: npm ci --prefix {JS.relative_to(JS.parents[2])}",
)

Write = Callable[..., Program]

PYTHON = """
    def add(left, right):
        total = left + right
        return total  # @here

    print("sum", add(3, 4), flush=True)
"""

PERL = """
    use strict;
    sub add {
        my ($left, $right) = @_;
        my $total = $left + $right;
        return $total;    # @here
    }
    my $sum = add(3, 4);
    print "sum $sum\\n";
"""


async def converse(how: str, told: dict[str, Any]) -> None:
    with trio.fail_after(DEADLINE):
        done = await trio.run_process(
            ["node", str(JS / "session.cjs"), RELAY, how, json.dumps(told)],
            check=False,
            capture_stdout=True,
            capture_stderr=True,
        )
    assert done.returncode == 0, (done.stdout + done.stderr).decode()


def session(program: Program, **more: Any) -> dict[str, Any]:
    return {
        "program": program.text,
        "cwd": str(program.path.parent),
        "breakpoint": program.line("here"),
        "value": "7",
        "result": "8",
        "output": "sum 7\n",
        **more,
    }


@asynccontextmanager
async def listening(api: Api) -> AsyncIterator[str]:
    """The DAP face on a port, as `relay dap --listen`."""

    async def serve(stream: trio.SocketStream) -> None:
        async with stream:
            await serve_editor(terms(api), stream, stream)

    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
        yield str(listeners[0].socket.getsockname()[1])
        nursery.cancel_scope.cancel()


@pytest.mark.skipif(shutil.which("perl") is None, reason="perl is not installed")
async def test_a_session_with_the_perl_adapter(program: Write) -> None:
    script = program(PERL, "sum.pl")
    await converse("perl-adapter", session(script, local="$total", expression="$total + 1"))


async def test_a_program_launched_through_the_relay(api: Api, program: Write) -> None:
    script = program(PYTHON)
    async with listening(api) as port:
        await converse(port, session(script, local="total", expression="total + 1"))
    assert (await api.get("/sessions"))["total"] == 0, "the session ends with its editor"


async def test_an_editor_joins_an_agents_session(api: Api, program: Write) -> None:
    script = program(PYTHON)
    agent = await api.session()
    await agent.breakpoint(script.text, script.line("here"))
    await agent.launch(script.text)
    attach = {"session": agent.id}
    async with listening(api) as port:
        told = session(script, local="total", expression="total + 1", attach=attach)
        await converse(port, told)
    assert (await agent.get())["status"] == "paused"
    assert (await agent.get("/breakpoints"))["total"] == 1, "the agent's own"
    assert (await agent.resume())["exit_code"] == 0
