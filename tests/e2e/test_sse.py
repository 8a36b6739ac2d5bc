"""Server-Sent Events: as it happens, resumable without a gap, and gone when they are over."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
import trio

from relay import Settings
from relay.operations.output import streaming
from tests.e2e.api import Api, Refused, Session
from tests.e2e.conftest import hub_and_api
from tests.e2e.test_events import until
from tests.programs import Program

Write = Callable[..., Program]

LONG = 60
"""Seconds that no test waits for: whoever needs them has failed."""

TICKS = """
    import sys
    for line in sys.stdin:
        print("tick", line, end="")
        print("err", line, end="", file=sys.stderr)
"""


@dataclass(frozen=True)
class Message:
    """One event as a browser sees it; of a comment only `event` is there, and empty."""

    event: str
    id: str | None
    data: Any

    @classmethod
    def parse(cls, block: str) -> Message:
        fields: dict[str, str] = {}
        for line in block.split("\n"):
            name, _, value = line.partition(": ")
            assert name not in fields, block
            fields[name] = value
        data = fields.get("data")
        event, last = fields.get("event", ""), fields.get("id")
        return cls(event, last, None if data is None else json.loads(data))


class Reader:
    """One stream on a connection of its own, read no faster than it is asked for."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream = stream
        self._received = b""
        self._text = b""

    def __aiter__(self) -> Reader:
        return self

    async def __anext__(self) -> Message:
        while b"\n\n" not in self._text:
            size = int(await self._until(b"\r\n"), 16)
            self._text += await self._exactly(size)
            await self._exactly(2)
            if not size:
                assert self._text == b""
                raise StopAsyncIteration
        block, _, self._text = self._text.partition(b"\n\n")
        if block.startswith(b"retry: "):
            return await anext(self)
        return Message.parse(block.decode())

    async def head(self) -> tuple[int, dict[str, str]]:
        """Status and headers."""
        lines = (await self._until(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines[1:])
        return int(lines[0].split()[1]), {k.lower(): v for k, v in headers.items()}

    async def refusal(self, headers: Mapping[str, str], status: int) -> Refused:
        answer = json.loads(await self._exactly(int(headers["content-length"])))
        return Refused(status, answer["error"])

    async def _until(self, end: bytes) -> bytes:
        while end not in self._received:
            await self._receive()
        found, _, self._received = self._received.partition(end)
        return found

    async def _exactly(self, size: int) -> bytes:
        while len(self._received) < size:
            await self._receive()
        found, self._received = self._received[:size], self._received[size:]
        return found

    async def _receive(self) -> None:
        piece = await self._stream.receive_some()
        assert piece, "the stream broke off"
        self._received += piece


@asynccontextmanager
async def streaming_from(
    session: Session, path: str, headers: Mapping[str, str] | None = None, **params: Any
) -> AsyncIterator[Reader]:
    """The messages of a stream, as they come; leaving the block hangs up."""
    url = session.api.client.base_url
    request = httpx.Request("GET", f"{url}{session.path[1:]}{path}", params=params, headers=headers)
    lines = [f"{name}: {value}" for name, value in request.headers.items()]
    text = "\r\n".join([f"GET {request.url.raw_path.decode()} HTTP/1.1", *lines, "", ""])
    assert url.port is not None
    with trio.fail_after(LONG):
        async with await trio.open_tcp_stream(url.host, url.port) as stream:
            await stream.send_all(text.encode())
            reader = Reader(stream)
            status, answered = await reader.head()
            if status != 200:
                raise await reader.refusal(answered, status)
            assert answered["content-type"].startswith("text/event-stream")
            assert answered["x-request-id"]
            yield reader


async def whole(session: Session, path: str, **more: Any) -> list[Message]:
    """A stream to its end."""
    async with streaming_from(session, path, **more) as messages:
        found = [message async for message in messages]
    assert found[-1].event == "end"
    return found


def printed(messages: list[Message]) -> str:
    return "".join(m.data["output"] for m in messages if m.event == "output")


# Content -------------------------------------------------------------------------------------


async def test_output_comes_as_it_is_printed_and_the_end_is_told(api: Api, program: Write) -> None:
    session = await api.session()
    async with streaming_from(session, "/output/stream", category="stdout") as messages:
        # Opened before the launch: it waits for that, too.
        await session.launch(program(TICKS).text, wait=0)
        for word in ("one", "two", "grüße 🐛"):
            await session.post("/input", input=f"{word}\n")
            message = await anext(messages)
            assert (message.event, message.data["category"]) == ("output", "stdout")
            assert message.data["output"] == f"tick {word}\n"
            assert message.data["timestamp"].endswith("Z")
        await session.post("/input", eof=True)
        last = await anext(messages)
        assert (last.event, last.data["session_status"]) == ("end", "terminated")
        assert last.data["exit_code"] == 0
        with pytest.raises(StopAsyncIteration):
            await anext(messages)
    everything = await whole(session, "/output/stream")
    assert {m.data["category"] for m in everything[:-1]} == {"stdout", "stderr"}
    pages = (await session.get("/output"))["entries"]
    assert [m.data for m in everything[:-1]] == pages


async def test_events_come_under_their_types(api: Api, program: Write) -> None:
    script = program("""
        print("one")
        here = 1  # @here
    """)
    session = await api.session()
    await session.breakpoint(script.text, script.line("here"))
    async with streaming_from(
        session, "/events/stream", types="stopped,continued,terminated"
    ) as messages:
        await session.launch(script.text)
        stopped = await anext(messages)
        assert stopped.event == stopped.data["type"] == "stopped"
        assert stopped.data["body"]["location"]["line"] == script.line("here")
        await session.resume()
        rest = [message.event async for message in messages]
    assert rest == ["continued", "terminated", "end"]
    streamed = [m.data for m in await whole(session, "/events/stream")]
    assert streamed[:-1] == await session.events()


@pytest.mark.parametrize("path", ["/output", "/events"])
async def test_a_stream_goes_on_where_it_broke_off(api: Api, program: Write, path: str) -> None:
    script = program("for n in range(250):\n    n += 1  # @log\n")
    session = await api.session()
    await session.breakpoint(script.text, script.line("log"), log_message="line {n}")
    await session.launch(script.text)
    everything = await whole(session, f"{path}/stream")
    assert len(everything) > 250  # one for each line of a logpoint
    for at in (0, 99, 100, 101, len(everything) - 2):
        last = everything[at].id
        assert last is not None
        rest = everything[at + 1 :]
        header = {"Last-Event-ID": last}
        # The header wins: a browser that comes back has both.
        assert await whole(session, f"{path}/stream", headers=header, cursor="nonsense") == rest
        assert await whole(session, f"{path}/stream", cursor=last) == rest
        assert await whole(session, f"{path}/stream", since=last) == rest
    # Pages and streams share their cursors.
    page = await session.get(path, limit=10)
    rest = everything[10:]
    assert await whole(session, f"{path}/stream", cursor=page["next_cursor"]) == rest
    assert len(await whole(session, f"{path}/stream", cursor=everything[-1].id)) == 1


@pytest.mark.parametrize("path", ["/output/stream", "/events/stream"])
async def test_what_cannot_be_streamed_is_refused_before_it_starts(api: Api, path: str) -> None:
    session = await api.session()
    for params in ({"cursor": "x"}, {"since": "e30="}, {"limit": 3}, {"types": "nothing"}):
        with pytest.raises(Refused) as refused:
            await whole(session, path, **params)
        assert (refused.value.status, refused.value.code) == (400, "INVALID_PARAMETER")
    with pytest.raises(Refused) as refused:
        await whole(session, path, headers={"Last-Event-ID": "x"})
    assert refused.value.details["errors"][0]["field"] == "Last-Event-ID"
    with pytest.raises(Refused) as refused:
        await whole(Session(api, "sess_none"), path)
    assert (refused.value.status, refused.value.code) == (404, "SESSION_NOT_FOUND")


async def test_a_silent_stream_says_that_it_lives(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "HEARTBEAT_SECONDS", 0.02)
    session = await api.session()
    async with streaming_from(session, "/events/stream") as messages:
        assert [await anext(messages) for _ in range(3)] == [Message("", None, None)] * 3


# Clearing, dropping, slowness ------------------------------------------------------------------


async def test_cleared_output_is_gone_and_no_cursor_with_it(api: Api, program: Write) -> None:
    script = program("""
        print("old")
        here = 1  # @here
        print("new")
    """)
    session = await api.session()
    assert (await session.delete("/output"))["cleared"] == 0
    await session.breakpoint(script.text, script.line("here"))
    await session.launch(script.text)
    old = await session.get("/output")
    assert [entry["output"] for entry in old["entries"]] == ["old\n"]
    cleared = await session.delete("/output")
    assert cleared == {"cleared": 1, "next_cursor": old["next_cursor"]}
    await session.resume()
    for cursor in ({}, {"cursor": old["next_cursor"]}):
        page = await session.get("/output", **cursor)
        assert ([e["output"] for e in page["entries"]], page["dropped"]) == (["new\n"], 0)
    assert printed(await whole(session, "/output/stream")) == "new\n"


async def test_a_reader_who_is_too_slow_is_told_how_much_it_missed(
    settings: Settings, program: Write
) -> None:
    lines, limit = 100_000, 200_000
    script = program(f"""
        import sys
        for number in range({lines}):
            sys.stdout.write("%06d %s\\n" % (number, "x" * 150))
    """)
    small = settings.model_copy(update={"output_limit_bytes": limit})
    async with hub_and_api(small) as (hub, api):
        session = await api.session()
        inside = hub.get(session.id)
        async with streaming_from(session, "/output/stream") as reader:
            await until(lambda: inside.events.waiting == 1)
            ended = await session.launch(script.text, wait=LONG)
            assert ended["status"] == "terminated"
            # Nobody has read until now, and there was no other place than the log for it.
            assert inside.output.size <= limit
            messages = [message async for message in reader]
        assert messages[-1].event == "end"
        numbers = [int(m.data["output"][:6]) for m in messages if m.event == "output"]
        missed = sum(m.data["dropped"] for m in messages if m.event == "dropped")
        assert numbers == sorted(set(numbers))
        assert missed > 0
        assert len(numbers) + missed == lines
        assert numbers[-1] == lines - 1


# Ends ------------------------------------------------------------------------------------------


async def test_who_hangs_up_is_forgotten_at_once(settings: Settings) -> None:
    async with hub_and_api(settings) as (hub, api):
        session = await api.session()
        log = hub.get(session.id).events
        for path in ("/output/stream", "/events/stream"):
            async with streaming_from(session, path):
                await until(lambda: log.waiting == 1)
            await until(lambda: log.waiting == 0)


@pytest.mark.parametrize("path", ["/output/stream", "/events/stream"])
async def test_a_deleted_session_ends_its_streams(api: Api, program: Write, path: str) -> None:
    session = await api.session()
    await session.launch(program("import time\ntime.sleep(600)\n").text, wait=0)
    async with (
        streaming_from(session, path, types="stopped")
        if "events" in path
        else (streaming_from(session, path)) as messages,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(session.delete)
        found = [message.event async for message in messages]
    assert [event for event in found if event] == ["end"]


async def test_a_relay_that_ends_ends_its_streams(settings: Settings, program: Write) -> None:
    async with hub_and_api(settings) as (hub, api):
        session = await api.session()
        await session.launch(program(TICKS).text, wait=0)
        ends: list[str] = []

        async def read(path: str) -> None:
            async with streaming_from(session, path) as messages:
                ends.append([message.event async for message in messages][-1])

        log = hub.get(session.id).events
        async with trio.open_nursery() as nursery:
            for path in ("/output/stream", "/events/stream"):
                nursery.start_soon(read, path)
            await until(lambda: log.waiting == 2)
            hub.drain()
        assert ends == ["end", "end"]
