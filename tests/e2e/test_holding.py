"""A session that one client has taken, and the timeline that tells who asked what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import trio

from relay import AsyncClient
from tests.e2e.api import Api, Refused, Session
from tests.e2e.test_sse import streaming_from
from tests.mcp.client import over_http
from tests.programs import Program

Write = Callable[..., Program]

LOOP = """
    for round in range(1000):
        total = round * 2  # @inside
"""

ADA = {"Relay-Client": "Ada L%C3%B6we; face=page"}

RUNNING: list[tuple[str, dict[str, Any]]] = [
    *((verb, {}) for verb in ("continue", "step-over", "step-into", "step-out", "pause")),
    *((verb, {}) for verb in ("restart", "terminate", "detach", "restart-frame", "calls")),
    *((verb, {}) for verb in ("step-back", "reverse-continue", "threads/1/continue")),
    *((f"threads/1/{verb}", {}) for verb in ("step-over", "step-into", "step-out", "pause")),
    ("launch", {"script": "main.py"}),
    ("attach", {"pid": 1}),
    ("run-to", {"file": "main.py", "line": 2}),
    ("goto", {"line": 2}),
    ("trace", {"function": "f"}),
]


@pytest.fixture
async def paused(api: Api, program: Write) -> Session:
    source = program(LOOP)
    session = await api.session()
    await session.breakpoint(source.text, source.line("inside"))
    await session.launch(source.text)
    return session


async def test_who_holds_a_session_runs_it_and_others_look(paused: Session) -> None:
    taken = await paused.post("/hold", by="Ada Löwe")
    assert taken["hold"]["by"] == "Ada Löwe"
    assert (await paused.get())["hold"] == taken["hold"]
    assert (await paused.api.get("/sessions"))["items"][0]["hold"] == taken["hold"]

    for verb, body in RUNNING:
        with pytest.raises(Refused) as refused:
            await paused.post(f"/{verb}", **body)
        assert (refused.value.status, refused.value.code) == (409, "SESSION_HELD"), verb
        assert refused.value.details["held_by"] == "Ada Löwe"
        assert refused.value.details["held_since"] == taken["hold"]["since"]
        assert "Ada Löwe" in refused.value.message
        assert "Ada Löwe" in refused.value.details["suggestion"]

    with pytest.raises(Refused, match="SESSION_HELD: Cannot end the session"):
        await paused.delete()

    # The others look, and she runs it.
    assert (await paused.evaluate("round"))["result"] == "0"
    await paused.api.call("POST", f"{paused.path}/continue", json={"wait": 30}, headers=ADA)
    assert (await paused.evaluate("round"))["result"] == "1"

    with pytest.raises(Refused, match="SESSION_HELD"):
        await paused.post("/hold", by="someone else")
    assert (await paused.post("/hold", by="Ada Löwe"))["hold"] == taken["hold"]
    assert (await paused.delete("/hold"))["hold"] is None
    assert "hold" not in await paused.get()
    assert (await paused.resume())["status"] == "paused"
    assert (await paused.delete("/hold"))["hold"] is None  # nobody held it

    await paused.post("/hold", by="Ada Löwe")
    await paused.api.call("DELETE", paused.path, headers=ADA)
    assert (await paused.api.get("/sessions"))["items"] == []


READS = """
    print("ready")  # @ready
    print("read", input("name? "))
    print("read", input("and? "))
"""


async def test_input_of_others_runs_no_program_that_is_held(api: Api, program: Write) -> None:
    """At a stop it is kept for the program; what waits for it would go on by it."""
    source = program(READS)
    session = await api.session()
    await session.breakpoint(source.text, source.line("ready"))
    await session.launch(source.text)
    await session.post("/hold", by="Ada Löwe")
    assert (await session.post("/input", input="at a stop\n"))["written"] == 10
    await api.call("POST", f"{session.path}/continue", headers=ADA)
    await session.until_printed("and? ")
    for name in ("input", "stdin"):
        for body in ({"input": "while it waits\n"}, {"eof": True}):
            with pytest.raises(Refused, match="SESSION_HELD"):
                await session.post(f"/{name}", **body)
    await api.call("POST", f"{session.path}/input", json={"input": "hers\n"}, headers=ADA)
    assert "name? read at a stop\nand? read hers\n" in await session.until_printed("hers\n")


# The official client leaves its response streams to the garbage collector.
@pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")
async def test_agents_respect_a_hold_and_are_named_in_the_timeline(paused: Session) -> None:
    await paused.post("/hold", by="Ada")
    url = str(paused.api.client.base_url).removesuffix("/api/v1/")
    async with over_http(f"{url}/mcp") as agent:
        answer = await agent.refused("debug_continue", session=paused.id)
        assert "Ada holds the session" in answer
        assert "Ada holds the session" in await agent.refused("debug_end", session=paused.id)
    asked, refusal = (await paused.get("/timeline"))["entries"][-4:-2]
    assert asked["author"] == {"face": "mcp", "client": "mcp"}
    assert (asked["what"], refusal["kind"]) == ("debug_continue", "refusal")
    tool = f"{url}/tool/v0/sessions/{paused.id}"
    refused = await paused.api.client.delete(tool)
    assert (refused.status_code, refused.json()["error"]["type"]) == (409, "SessionHeld")
    async with AsyncClient(url, name="Ada") as client:
        await client.session(paused.id).step_over()


async def test_the_timeline_says_who_asked_what_and_what_the_program_did(paused: Session) -> None:
    await paused.post("/hold", by="Ada Löwe")
    page = await paused.get("/timeline", limit=1000)
    with pytest.raises(Refused):
        await paused.post("/continue")
    with trio.fail_after(30):
        later = await paused.get("/timeline", cursor=page["next_cursor"], timeout=30)
    continued, refusal = later["entries"]
    assert (continued["kind"], continued["what"]) == ("request", "POST continue")
    assert continued["author"]["face"] == "http"
    assert continued["author"]["client"].startswith("python-httpx")
    assert refusal["kind"] == "refusal"
    assert refusal["body"]["request"] == continued["id"]
    assert refusal["body"]["code"] == "SESSION_HELD"

    secret = {"expression": "1", "context": "repl"}
    await paused.api.call("POST", f"{paused.path}/evaluate", json=secret, headers=ADA)
    [asked] = (await paused.get("/timeline", cursor=later["next_cursor"]))["entries"]
    assert asked["author"] == {"face": "page", "client": "Ada Löwe"}
    assert '"expression":"1"' in asked["body"]["arguments"].replace(" ", "")

    # A launch comes before the stop that it leads to; each entry has an address of its own.
    entries = page["entries"]
    whats = [entry["what"] for entry in entries]
    assert whats.index("POST /sessions") < whats.index("POST launch") < whats.index("stopped")
    assert len({entry["id"] for entry in entries}) == len(entries)
    assert [entry["timestamp"] for entry in entries] == sorted(e["timestamp"] for e in entries)

    # In pages of two it is the same listing.
    cursor, found = None, []
    while True:
        asks = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        part = await paused.get("/timeline", **asks)
        found += part["entries"]
        cursor = part["next_cursor"]
        if not part["has_more"]:
            break
    assert found[: len(entries)] == entries
    with pytest.raises(Refused, match="INVALID_PARAMETER"):
        await paused.get("/timeline", cursor="e1")


async def test_the_timeline_is_followed_until_the_session_ends(paused: Session) -> None:
    async with streaming_from(paused, "/timeline/stream") as reader:
        first = await anext(reader)
        assert (first.event, first.data["what"]) == ("request", "POST /sessions")
        await paused.post("/evaluate", expression="round")
        while (message := await anext(reader)).data["what"] != "POST evaluate":
            pass
        last = message.id
        await paused.post("/terminate")
        while (message := await anext(reader)).data["what"] != "terminated":
            pass
        # A program's end is none of the timeline.
        await paused.post("/restart")
        while (message := await anext(reader)).data["what"] != "POST restart":
            pass
    async with streaming_from(paused, "/timeline/stream", cursor=last) as reader:
        assert (await anext(reader)).data["what"] == "POST terminate"
        await paused.delete()
        while (message := await anext(reader)).event != "end":
            pass
