"""An editor beside an agent: both see one session, both may move it, and neither spoils it."""

from __future__ import annotations

import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import trio

from relay.client import AsyncSession
from relay.faces.dap.placing import EditorBreakpoints
from tests.e2e.api import Api, Session
from tests.e2e.api import Refused as ApiRefused
from tests.editor.joining import editor, join, stack, terms
from tests.perl.driver import Peer, Refused
from tests.programs import Program
from tests.relays import environment

Write = Callable[..., Program]

CART = """
    def add(total, price):
        result = total + price
        return result  # @result

    print("shop opens", flush=True)
    total = 0
    for price in (3, 4, 5):
        total = add(total, price)  # @loop
    print("total", total, flush=True)  # @told
"""


async def test_an_editor_sees_and_moves_what_an_agent_has(api: Api, program: Write) -> None:
    cart = program(CART)
    agent = await api.session()
    placed = await agent.breakpoint(cart.text, cart.line("result"))
    await agent.launch(cart.text)
    async with editor(terms(api)) as peer:
        await join(peer)
        why = await peer.event("stopped")
        assert (why["reason"], why["allThreadsStopped"]) == ("breakpoint", True)
        assert peer.printed("stdout") == b"shop opens\n"
        (told,) = peer.events("breakpoint")
        assert (told["reason"], told["breakpoint"]["line"]) == ("new", cart.line("result"))

        frames = await stack(peer, why)
        assert [frame["name"] for frame in frames] == ["add", "<module>"]
        assert frames[0]["source"]["path"] == cart.text
        assert {one["name"] for one in (await peer.ask("threads"))["threads"]} == {"MainThread"}
        values = await peer.locals(frames[0])
        assert (values["total"]["value"], values["result"]["value"]) == ("0", "3")
        assert (await peer.locals(frames[1]))["price"]["value"] == "3"
        assert await peer.value("total + 1", frameId=frames[0]["id"], context="watch") == "1"
        with pytest.raises(Refused, match="nope"):
            await peer.value("nope", frameId=frames[0]["id"])

        # The editor moves, and the agent sees it; then the other way round.
        await peer.ask("stepOut", threadId=why["threadId"])
        assert (await peer.event("stopped"))["reason"] == "step"
        assert (await agent.get())["current_location"]["function"] == "<module>"
        at = await agent.resume()
        assert at["current_location"]["line"] == cart.line("result")
        why = await peer.event("stopped")
        assert why["hitBreakpointIds"] == [int(placed["id"].removeprefix("bp_"))]
        with pytest.raises(Refused, match="earlier stop"):
            await peer.ask("scopes", frameId=frames[0]["id"])

        scope = (await peer.ask("scopes", frameId=(await stack(peer, why))[0]["id"]))["scopes"][0]
        reference = scope["variablesReference"]
        await peer.ask("setVariable", variablesReference=reference, name="result", value="100")
        await agent.delete(f"/breakpoints/{placed['id']}")
        await peer.ask("continue", threadId=why["threadId"])
        assert (await peer.event("exited"))["exitCode"] == 0
        await peer.event("terminated")
        assert peer.printed("stdout") == b"shop opens\ntotal 105\n"
    assert (await agent.get())["status"] == "terminated", "the session is the agent's"


async def test_breakpoints_of_both_stand_side_by_side(api: Api, program: Write) -> None:
    cart = program(CART)
    agent = await api.session()
    kept = await agent.breakpoint(cart.text, cart.line("result"), condition="price == 4")
    async with editor(terms(api)) as peer:
        await join(peer, session=agent.id)
        loop, result = {"line": cart.line("loop")}, {"line": cart.line("result")}
        first, second = await peer.places(cart, loop, result)
        assert (first["verified"], second["id"]) == (True, int(kept["id"].removeprefix("bp_")))
        assert ("message" in first, "Somebody else's" in second["message"]) == (False, True)
        listed = {b["line"]: b for b in (await agent.get("/breakpoints"))["breakpoints"]}
        assert listed.keys() == {cart.line("loop"), cart.line("result")}
        assert listed[cart.line("result")]["condition"] == "price == 4", "the agent's own"
        (moved,) = await peer.places(cart, {"line": cart.line("told"), "condition": "total > 1"})
        assert moved["verified"] is True
        listed = {b["line"]: b for b in (await agent.get("/breakpoints"))["breakpoints"]}
        assert listed.keys() == {cart.line("told"), cart.line("result")}
        assert listed[cart.line("told")]["condition"] == "total > 1"
        (bad,) = await peer.places(cart, {"line": cart.line("loop"), "hitCondition": "often"})
        assert (bad["verified"], "often" in bad["message"]) == (False, True)
        await peer.places(cart, "loop")
        named = await peer.ask("setFunctionBreakpoints", breakpoints=[{"name": "add"}])
        assert named["breakpoints"][0]["id"]
        file = cart.path.name
        theirs = await agent.post("/breakpoints", function=f"{file}:add", hit_condition="99")
        (mine, bad) = (
            await peer.ask(
                "setFunctionBreakpoints",
                breakpoints=[{"name": f"{file}::add"}, {"name": f"{file}:nothing"}],
            )
        )["breakpoints"]
        assert f"bp_{mine['id']}" == theirs["breakpoints"][0]["id"]
        assert (mine["verified"], "Somebody else's" in mine["message"]) == (True, True)
        assert (bad["verified"], "defines no function nothing" in bad["message"]) == (False, True)
        await agent.delete(f"/breakpoints/bp_{mine['id']}")
        await agent.launch(cart.text)
        assert (await peer.event("stopped"))["reason"] == "breakpoint"
    listed = (await agent.get("/breakpoints"))["breakpoints"]
    assert [b["id"] for b in listed] == [kept["id"]], "the editor's went with it"
    assert (await agent.get())["status"] == "paused"


async def test_editors_and_an_agent_at_one_line_have_a_breakpoint_each(
    api: Api, program: Write
) -> None:
    cart = program(CART)
    agent = await api.session()
    await agent.launch(cart.text, stop_on_entry=True)

    async def conditions() -> list[str | None]:
        return [b["condition"] for b in (await agent.get("/breakpoints"))["breakpoints"]]

    async with editor(terms(api)) as second:
        await join(second)
        async with editor(terms(api)) as first:
            await join(first)
            (mine,) = await first.places(cart, {"line": cart.line("result"), "condition": "price"})
            wish = {"line": cart.line("result"), "condition": "price == 4"}
            (theirs,) = await second.places(cart, wish)
            assert (theirs["id"], theirs["verified"]) == (mine["id"], True)
            assert "Somebody else's" in theirs["message"]
            named = await first.ask("setFunctionBreakpoints", breakpoints=[{"name": "add"}])
            again = await second.ask("setFunctionBreakpoints", breakpoints=[{"name": "add"}])
            assert again["breakpoints"][0]["id"] == named["breakpoints"][0]["id"]
            assert await conditions() == ["price", None]
        assert await conditions() == ["price == 4", None], "what the second wants is left to it"
        told = [one["breakpoint"]["id"] for one in second.events("breakpoint")]
        assert mine["id"] in told
        await second.ask("setFunctionBreakpoints", breakpoints=[])
        assert await conditions() == ["price == 4"]
        assert (await agent.resume())["current_location"]["line"] == cart.line("result")
        assert (await agent.evaluate("price"))["result"] == "4"
        await agent.breakpoint(cart.text, cart.line("result"), condition="price == 5")
        assert await conditions() == ["price == 5"]
    assert await conditions() == ["price == 5"], "the agent has set it, too, and it is nobody's"


async def test_what_is_moved_leaves_its_line_to_others(api: Api, program: Write) -> None:
    cart = program(CART)
    agent = await api.session()
    path = f"{agent.path}/breakpoints"
    one = {"file": cart.text, "line": cart.line("result")}
    (first,) = (await agent.post("/breakpoints", **one, owner="a"))["breakpoints"]
    waiting = await agent.post("/breakpoints", **one, owner="b", condition="price")
    assert "this one waits" in waiting["breakpoints"][0]["message"]
    await agent.api.call("PATCH", f"{path}/{first['id']}", json={"line": cart.line("told")})
    listed = {b["line"]: b["condition"] for b in (await agent.get("/breakpoints"))["breakpoints"]}
    assert listed == {cart.line("told"): None, cart.line("result"): "price"}
    left = await agent.api.call("DELETE", path, params={"owner": "a", "ids": first["id"]})
    assert left["deleted"] == [first["id"]]
    assert (await agent.get("/breakpoints"))["total"] == 1


async def test_breakpoints_that_others_change_show_up(api: Api, program: Write) -> None:
    cart = program(CART)
    agent = await api.session()
    await agent.launch(cart.text, stop_on_entry=True)
    async with editor(terms(api)) as peer:
        await join(peer)
        await peer.event("stopped")
        placed = await agent.breakpoint(cart.text, cart.line("loop"))
        number = int(placed["id"].removeprefix("bp_"))
        told = await peer.event("breakpoint")
        assert (told["reason"], told["breakpoint"]["id"]) == ("new", number)
        assert told["breakpoint"]["source"]["path"] == cart.text
        await agent.api.call(
            "PATCH", f"{agent.path}/breakpoints/{placed['id']}", json={"line": cart.line("told")}
        )
        told = await peer.event("breakpoint")
        assert (told["reason"], told["breakpoint"]["line"]) == ("changed", cart.line("told"))
        await agent.delete(f"/breakpoints/{placed['id']}")
        told = await peer.event("breakpoint")
        assert (told["reason"], told["breakpoint"]["id"]) == ("removed", number)
        # Its own are not news to it.
        (own,) = await peer.places(cart, "loop")
        await agent.breakpoint(cart.text, cart.line("told"))
        assert (await peer.event("breakpoint"))["breakpoint"]["id"] != own["id"]


async def test_who_only_looks_on_changes_nothing(api: Api, program: Write) -> None:
    cart = program(CART)
    agent = await api.session()
    await agent.breakpoint(cart.text, cart.line("result"))
    await agent.launch(cart.text)
    for where, attach in ((terms(api, read_only=True), {}), (terms(api), {"readOnly": True})):
        async with editor(where) as peer:
            await join(peer, **attach)
            why = await peer.event("stopped")
            frames = await stack(peer, why)
            assert (await peer.locals(frames[0]))["total"]["value"] == "0"
            (nowhere,) = await peer.places(cart, "told")
            assert (nowhere["verified"], "looks on" in nowhere["message"]) == (False, True)
            for command in ("continue", "next", "pause", "terminate"):
                with pytest.raises(Refused, match="looks on"):
                    await peer.ask(command, threadId=why["threadId"])
            with pytest.raises(Refused, match="looks on"):
                await peer.value("total", frameId=frames[0]["id"])
            await peer.ask("disconnect", terminateDebuggee=True)
    assert (await agent.get())["current_location"]["line"] == cart.line("result")
    assert (await agent.get("/breakpoints"))["total"] == 1


async def test_a_program_that_the_editor_launches_is_its_own(api: Api, program: Write) -> None:
    cart = program(CART)
    async with editor(terms(api)) as peer:
        launching = await peer.send(
            {"command": "launch", "arguments": {"program": cart.text, "cwd": str(cart.path.parent)}}
        )
        await peer.event("initialized")
        (placed,) = await peer.places(cart, "result")
        assert placed["verified"] is True
        await peer.ask("configurationDone")
        assert (await peer.response(launching))["success"] is True
        why = await peer.event("stopped")
        assert (await peer.locals((await stack(peer, why))[0]))["result"]["value"] == "3"
        assert (await api.get("/sessions"))["total"] == 1
        await peer.ask("disconnect")
    assert (await api.get("/sessions"))["total"] == 0


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({}, 'launch: give either "program" or "module"'),
        ({"program": "a.py", "module": "a"}, 'launch: give either "program" or "module"'),
        ({"program": 5}, "program: must be a string. "),
        ({"program": "a.py", "stopOnEntry": "yes"}, "stopOnEntry: must be true or false. "),
        (
            {"program": "a.py", "args": "x", "env": {"A": 1}},
            "args: must be a list; env.A: must be ",
        ),
        ({"program": "a.py", "cwd": "/no-such-place"}, "cwd: no such directory: "),
        ({"program": "a.py", "python": "/no-such-python"}, "python: no such executable: "),
    ],
)
async def test_what_is_wrong_with_a_launch_is_named_as_the_editor_wrote_it(
    api: Api, wrong: dict[str, Any], words: str
) -> None:
    async with editor(terms(api)) as peer:
        launching = await peer.send({"command": "launch", "arguments": wrong})
        await peer.send({"command": "configurationDone"})
        refused = await peer.response(launching)
    assert not refused["success"]
    assert refused["message"].startswith(words)


async def test_a_launch_that_fails_is_refused_in_words(api: Api, tmp_path: Path) -> None:
    async with editor(terms(api)) as peer:
        arguments = {"program": str(tmp_path / "none.py")}
        launching = await peer.send({"command": "launch", "arguments": arguments})
        await peer.event("initialized")
        await peer.ask("configurationDone")
        refused = await peer.response(launching)
        assert (refused["success"], "No such script" in refused["message"]) == (False, True)
        await peer.event("terminated")
    assert (await api.get("/sessions"))["total"] == 0


async def test_two_that_move_at_once_never_spoil_the_session(api: Api, program: Write) -> None:
    endless = program("""
        count = 0
        while True:
            count += 1  # @count
    """)
    agent = await api.session()
    await agent.breakpoint(endless.text, endless.line("count"))
    await agent.launch(endless.text)
    moves: list[str] = []
    refusals: list[str] = []

    async def move(peer: Peer, thread: int, command: str) -> None:
        for _ in range(25):
            try:
                await peer.ask(command, threadId=thread)
                moves.append(command)
            except Refused as error:
                refusals.append(error.text)

    async def agent_moves() -> None:
        for _ in range(25):
            try:
                await agent.post("/step-over", wait=5)
            except ApiRefused as error:
                refusals.append(error.message)

    async with editor(terms(api)) as one, editor(terms(api)) as two:
        await join(one)
        await join(two)
        thread = (await one.event("stopped"))["threadId"]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(move, one, thread, "continue")
            nursery.start_soon(move, two, thread, "next")
            nursery.start_soon(agent_moves)
        assert moves
        assert [text for text in refusals if "not paused" not in text] == []
        with trio.fail_after(30):
            while (await agent.get())["status"] != "paused":
                await agent.get("/events", types="stopped", timeout=1)
        for peer in (one, two):
            assert await peer.value("count >= 0") == "True"
        assert int((await agent.evaluate("count"))["result"]) >= 0


async def test_what_is_wrong_is_said_and_the_session_lives_on(api: Api, program: Write) -> None:
    cart = program(CART)
    async with editor(terms(api)) as peer:
        with pytest.raises(Refused, match="no session to join"):
            await peer.ask("attach")
        with pytest.raises(Refused, match="attach or launch first"):
            await peer.ask("threads")
        agent = await api.session()
        await agent.breakpoint(cart.text, cart.line("result"))
        await agent.launch(cart.text)
        with pytest.raises(Refused, match="sess_none"):
            await peer.ask("attach", session="sess_none")
        await join(peer)  # one that failed is not in the way
        with pytest.raises(Refused, match="in a session already"):
            await peer.ask("launch", program=cart.text)
        assert (await api.get("/sessions"))["total"] == 1
    async with editor(terms(api, agent.id)) as peer:
        await join(peer)
        with pytest.raises(Refused, match="in a session already"):
            await peer.ask("attach")
        with pytest.raises(Refused, match="no request 'fly'"):
            await peer.ask("fly")
        for command, arguments in (
            ("setBreakpoints", {}),
            ("setBreakpoints", {"source": 3}),
            ("setBreakpoints", {"source": {"path": "\0"}, "breakpoints": [{"line": 1}]}),
            ("setBreakpoints", {"source": {"path": cart.text}, "breakpoints": ["x"]}),
            ("stackTrace", {}),
            ("variables", {"variablesReference": "x"}),
            ("evaluate", {"expression": 3}),
            ("scopes", {"frameId": 99}),
        ):
            with pytest.raises(Refused):
                await peer.ask(command, **arguments)
        (refused,) = (await peer.ask("setFunctionBreakpoints", breakpoints=[{"name": "a b"}]))[
            "breakpoints"
        ]
        assert refused["message"].startswith("name: must name a function, such as ")
        wish = {"line": cart.line("loop"), "hitCondition": "often"}
        places = {"source": {"path": cart.text}, "breakpoints": [wish, {"line": 0}]}
        first, second = (await peer.ask("setBreakpoints", **places))["breakpoints"]
        assert first["message"].startswith(
            f"The hitCondition of the breakpoint at line {wish['line']} "
        )
        assert second["message"] == "line: must be at least 1"
        with pytest.raises(Refused, match=r"^next: threadId must be a whole number$"):
            await peer.ask("next", threadId="x")
        with pytest.raises(Refused, match=r"no filter 'often': there are uncaught, raised"):
            await peer.ask("setExceptionBreakpoints", filters=["often"])
        with pytest.raises(Refused, match=r"counted from 1 here$"):
            await peer.ask("initialize", linesStartAt1=False)
        await peer._stream.send_all(b"Content-Length: x\r\n\r\n")
    assert (await agent.get())["status"] == "paused"


def command(*options: str) -> list[str]:
    return [sys.executable, "-m", "relay", "dap", *options]


@asynccontextmanager
async def on_stdio(
    api: Api, agent: Session, folder: Path
) -> AsyncIterator[tuple[trio.Process, Peer]]:
    """`relay dap` as an editor starts it, and the editor's end of it, after `initialize`."""
    process = await trio.lowlevel.open_process(
        command("--url", terms(api).url, "--session", agent.id),
        stdin=-1,
        stdout=-1,
        env=environment(folder / "s"),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    async with trio.open_nursery() as nursery:
        peer = Peer(trio.StapledStream(process.stdin, process.stdout))
        nursery.start_soon(peer.read)
        await peer.ask("initialize", adapterID="relay")
        yield process, peer


async def test_relay_dap_is_an_adapter_on_stdio(api: Api, program: Write, tmp_path: Path) -> None:
    cart = program(CART)
    agent = await api.session()
    await agent.launch(cart.text, stop_on_entry=True)
    async with on_stdio(api, agent, tmp_path) as (process, peer):
        await join(peer)
        await peer.places(cart, "told")
        await peer.event("stopped")
        assert process.stdin is not None
        await process.stdin.aclose()
        with trio.fail_after(30):
            assert await process.wait() == 0
    assert (await agent.get("/breakpoints"))["total"] == 0, "they went with the editor"


async def test_relay_dap_listens_for_editors(api: Api, program: Write, tmp_path: Path) -> None:
    cart = program(CART)
    agent = await api.session()
    await agent.launch(cart.text, stop_on_entry=True)
    async with trio.open_nursery() as nursery:
        process = await nursery.start(
            partial(
                trio.run_process,
                command("--url", terms(api).url, "--listen", "0"),
                stdout=-1,
                env=environment(tmp_path / "s"),
                check=False,
            )
        )
        with trio.fail_after(30):
            line = await process.stdout.receive_some(200)
        port = int(line.rpartition(b":")[2])
        for _ in range(2):  # any number of editors, one after the other or at once
            stream = await trio.open_tcp_stream("127.0.0.1", port)
            peer = Peer(stream)
            nursery.start_soon(peer.read)
            await peer.ask("initialize", adapterID="relay")
            await join(peer)
            await peer.event("stopped")
            await peer.ask("disconnect")
            await stream.aclose()
        process.terminate()
        with trio.fail_after(30):
            assert await process.wait() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_an_editor_that_ends_its_adapter_by_a_signal_leaves_nothing(
    api: Api, program: Write, tmp_path: Path, number: signal.Signals
) -> None:
    cart = program(CART)
    agent = await api.session()
    await agent.launch(cart.text, stop_on_entry=True)
    async with on_stdio(api, agent, tmp_path) as (process, peer):
        await join(peer)
        await peer.places(cart, "told")
        assert (await agent.get("/breakpoints"))["total"] == 1
        process.send_signal(number)
        with trio.fail_after(8):  # less than the time that a farewell may take
            assert await process.wait() == 0
    assert (await agent.get("/breakpoints"))["total"] == 0, "they went with the editor"


async def test_the_breakpoints_of_an_editor_that_is_killed_go_with_its_connection(
    api: Api, program: Write, tmp_path: Path
) -> None:
    cart = program(CART)
    agent = await api.session()
    await agent.launch(cart.text, stop_on_entry=True)
    async with editor(terms(api)) as other:
        await join(other)
        await other.event("stopped")
        async with on_stdio(api, agent, tmp_path) as (process, peer):
            await join(peer)
            await peer.event("stopped")
            await peer.places(cart, "told", "result")
            await other.places(cart, "result")
            process.kill()
            with trio.fail_after(30):
                await process.wait()
                while (await other.event("breakpoint"))["reason"] != "removed":
                    pass
        (left,) = (await agent.get("/breakpoints"))["breakpoints"]
        assert left["line"] == cart.line("result"), "the other editor has one there, too"
    assert (await agent.get("/breakpoints"))["total"] == 0


async def test_a_session_that_ends_while_an_editor_joins_is_told_as_ended(api: Api) -> None:
    agent = await api.session()
    async with editor(terms(api, agent.id)) as peer:
        await peer.ask("attach")
        await agent.delete()
        with pytest.raises(Refused, match=agent.id) as refused:
            await peer.ask("configurationDone")
        assert "/api/" not in str(refused.value), "editors have no routes"
        await peer.event("terminated")


async def test_two_editors_at_one_line_may_be_too_late(program: Write) -> None:
    """Between the question and its answer somebody else may have removed the breakpoint."""

    class Removed:
        async def breakpoints(self) -> Any:
            return SimpleNamespace(breakpoints=[])

        async def set_breakpoints(self, **_: Any) -> Any:
            return SimpleNamespace(breakpoints=[])

    placing = EditorBreakpoints(cast(AsyncSession, Removed()))
    (told,) = await placing.replace(program(CART).text, [{"line": 3}])
    assert (told["verified"], told["line"]) == (False, 3)


async def test_an_editor_watches_a_value(api: Api, program: Write) -> None:
    cart = program(CART)
    agent = await api.session()
    placed = await agent.breakpoint(cart.text, cart.line("loop"))
    await agent.launch(cart.text)
    await agent.delete(f"/breakpoints/{placed['id']}")
    async with editor(terms(api)) as peer:
        await join(peer)
        why = await peer.event("stopped")
        frame = (await stack(peer, why))[0]["id"]
        scope = (await peer.ask("scopes", frameId=frame))["scopes"][0]
        reference = scope["variablesReference"]
        info = await peer.ask("dataBreakpointInfo", variablesReference=reference, name="total")
        assert info["accessTypes"] == ["write"]
        none = await peer.ask("dataBreakpointInfo", name="len(str())", frameId=frame)
        assert (none["dataId"], "call" in none["description"]) == (None, True)
        other = await peer.ask("dataBreakpointInfo", name="price", frameId=frame)
        wishes = [{"dataId": one["dataId"]} for one in (info, other)]
        both = (await peer.ask("setDataBreakpoints", breakpoints=wishes))["breakpoints"]
        assert [one["verified"] for one in both] == [True, True]
        strange = [{"dataId": text} for text in ("cart", "7", '["total"]', '[1, "total"]', "{}")]
        told = (await peer.ask("setDataBreakpoints", breakpoints=[*strange, *wishes]))[
            "breakpoints"
        ]
        assert [one["verified"] for one in told] == [False] * 5 + [True] * 2
        assert told[0]["message"] == "cart is no dataId of this session"
        counted = [{**wishes[0], "hitCondition": "2"}]
        (told,) = (await peer.ask("setDataBreakpoints", breakpoints=counted))["breakpoints"]
        assert not told["verified"]
        assert "no hit condition" in told["message"]
        both = (await peer.ask("setDataBreakpoints", breakpoints=wishes))["breakpoints"]
        (kept,) = (await peer.ask("setDataBreakpoints", breakpoints=wishes[:1]))["breakpoints"]
        assert kept["id"] == both[0]["id"]
        await peer.ask("continue", threadId=why["threadId"])
        why = await peer.event("stopped")
        assert (why["reason"], why["text"]) == ("data breakpoint", "total: 0 -> 3")
        assert why["hitBreakpointIds"] == [kept["id"]]
    assert (await agent.get("/data-breakpoints")) == {"data_breakpoints": []}
    assert (await agent.resume())["status"] == "terminated"
