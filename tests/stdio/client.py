"""The tests' end of the line protocol: a real process, and transcripts to follow.

A transcript is text. `→ command {params}` is sent; `← event {data}` must be the next line that
comes; `# …` is for the reader. `@mark` stands for the number of the line with that mark,
`$DIR` for the test's directory.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import trio

from relay.faces.stdio.lines import LONGEST_OUT
from tests.programs import Program
from tests.relays import environment

DEADLINE = 60.0

_ADDRESS = re.compile(r"0x[0-9a-f]+")


class Ended(Exception):
    """The relay has closed its output."""


class Client:
    """One conversation with a relay in a process of its own."""

    def __init__(self, process: trio.Process, directory: Path) -> None:
        self.process = process
        self.directory = directory
        self._waiting = b""

    async def send_raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        await self.process.stdin.send_all(data)

    async def send(self, command: str, **params: Any) -> None:
        message = {"type": "command", "command": command, "params": params}
        await self.send_raw(json.dumps(message).encode() + b"\n")

    async def close_input(self) -> None:
        assert self.process.stdin is not None
        await self.process.stdin.aclose()

    async def next(self) -> tuple[str, dict[str, Any]]:
        """The next event and its data; raises Ended after the last."""
        with trio.fail_after(DEADLINE):
            line = await self._line()
        assert len(line) <= LONGEST_OUT
        message = json.loads(line)
        assert set(message) == {"type", "event", "data"}
        assert message["type"] == "event"
        return message["event"], message["data"]

    async def _line(self) -> bytes:
        assert self.process.stdout is not None
        while b"\n" not in self._waiting:
            piece = await self.process.stdout.receive_some()
            if not piece:
                assert not self._waiting, "the last line has no end"
                raise Ended
            self._waiting += piece
        line, _, self._waiting = self._waiting.partition(b"\n")
        return line + b"\n"

    async def until(self, event: str) -> list[tuple[str, dict[str, Any]]]:
        """Everything up to the first such event, that one included."""
        found = [await self.next()]
        while found[-1][0] != event:
            found.append(await self.next())
        return found

    async def rest(self) -> list[tuple[str, dict[str, Any]]]:
        """Everything that still comes before the process ends; its exit code must be 0."""
        found = []
        try:
            while True:
                found.append(await self.next())
        except Ended:
            with trio.fail_after(DEADLINE):
                assert await self.process.wait() == 0
        return found

    async def follow(self, transcript: str, program: Program) -> None:
        """Say what the transcript says, and hear what it hears."""
        text = re.sub(r"(?<!# )@(\w+)", lambda m: str(program.line(m[1])), transcript)
        heard: list[str] = []
        for line in text.splitlines():
            mark, _, rest = line.strip().partition(" ")
            if mark == "→":
                name, _, params = rest.partition(" ")
                given = json.loads(params.replace("$DIR", str(self.directory)) or "{}")
                await self.send(name, **given)
                heard.append(line.strip())
            elif mark == "←":
                name, data = await self._printed(rest)
                heard.append(f"← {name} {self._stable(data)}")
                assert heard[-1] == line.strip(), "\n".join(heard)

    async def _printed(self, wanted: str) -> tuple[str, dict[str, Any]]:
        """The next event; what a program prints in a row may come in pieces."""
        name, data = await self.next()
        if name == "output" and wanted.startswith("output "):
            text = wanted.partition(" ")[2].replace("$DIR", str(self.directory))
            whole = json.loads(text)["text"]
            while data["text"] != whole and whole.startswith(data["text"]):
                data["text"] += (await self.next())[1]["text"]
        return name, data

    def _stable(self, data: dict[str, Any]) -> str:
        text = json.dumps(data, ensure_ascii=False).replace(str(self.directory), "$DIR")
        return _ADDRESS.sub("0x…", text)


@asynccontextmanager
async def conversation(directory: Path, words: Sequence[str] = ("stdio",)) -> AsyncIterator[Client]:
    """`relay` with these words, in this directory; it is killed at the end if it lives."""
    process = await trio.lowlevel.open_process(
        [sys.executable, "-m", "relay", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=directory,
        env=environment(directory / "state"),
    )
    try:
        yield Client(process, directory)
    finally:
        with trio.CancelScope(shield=True):
            process.kill()
            await process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    await stream.aclose()
