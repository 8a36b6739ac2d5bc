"""The writer of the fast start: what goes out in one piece, and what it waits for."""

from __future__ import annotations

import queue
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from relay.debuggers.debugpy.debuggee.pydevd.link import SAID_SECONDS, writer_class

EXIT = 129


class Command:
    """Stands for one of pydevd's."""

    def __init__(self, text: str, answers: str | None = None, number: int = 1) -> None:
        self.id = number
        self.as_dict = None if answers is None else {"command": answers}
        self._text = text

    def send(self, sock: Any) -> None:
        sock.sendall(self._text.encode())


class Commands:
    """A queue in which each next command comes after a while, or with None none does in time."""

    def __init__(self, *commands: Command | None) -> None:
        self.left = list(commands)
        self.waited: list[float | None] = []

    def get(self, timeout: float | None = None) -> Command:
        self.waited.append(timeout)
        found = self.left.pop(0) if self.left and timeout != 0 else None
        if found is None:
            raise queue.Empty
        return found


def sent(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the writer sends of them, piece by piece, until one ends it."""
    constants: Any = ModuleType("constants")
    constants.CMD_EXIT = EXIT
    monkeypatch.setitem(sys.modules, "_pydevd_bundle.pydevd_comm_constants", constants)
    pydevd: Any = SimpleNamespace(
        WriterThread=type("WriterThread", (), {"__init__": lambda *_: None})
    )
    pieces: list[str] = []
    sock: Any = SimpleNamespace(sendall=lambda data, flags: pieces.append(data.decode()))
    writer: Any = writer_class(pydevd)(sock, None)
    writer._cmd_queue = commands
    writer._on_run()
    return pieces


@pytest.mark.parametrize("verb", ["continue", "next", "stepIn", "stepOut"])
def test_what_a_resume_says_goes_out_with_its_answer(
    verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = Commands(
        Command("answered ", verb), Command("continued"), Command("end", number=EXIT)
    )
    assert sent(commands, monkeypatch) == ["answered continued", "end"]
    assert commands.waited == [None, SAID_SECONDS, 0, None]


def test_the_answer_to_a_resume_that_says_nothing_goes_out_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    commands = Commands(Command("answered", "next"), None, Command("end", number=EXIT))
    assert sent(commands, monkeypatch) == ["answered", "end"]


def test_any_other_answer_goes_out_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = Commands(Command("values", "variables"), Command("end", number=EXIT))
    assert sent(commands, monkeypatch) == ["values", "end"]
    assert commands.waited == [None, 0, None]
