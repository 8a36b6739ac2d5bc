"""The processes below a program that are its own: neither the help that its debugger takes, nor the program itself."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from relay.process.guarded_process import Child
from relay.session.debuggee.ends import command_line

if TYPE_CHECKING:
    from relay.session.debuggee.debuggee import Debuggee


async def processes_below(debuggee: Debuggee) -> list[Child]:
    """What lives below the program, whose process is there. A fork of it has its arguments, which are ours."""
    assert debuggee.process is not None
    own = command_line(debuggee.pid) or debuggee.command_line
    folders = await _adapter_folders(debuggee)
    return [
        child if _joined(child.argv) != own else child._replace(argv=())
        for child in await debuggee.process.children()
        if child.pid != debuggee.pid and _folder_of_script(child.argv) not in folders
    ]


async def _adapter_folders(debuggee: Debuggee) -> set[str]:
    """Where the adapter's scripts lie: what runs another one of there, below the program, is its help."""
    helpers = debuggee.helpers
    lines = [os.fsdecode(command_line(one.pid)).split("\0") for one in helpers]
    lines += [list(child.argv) for one in helpers for child in await one.children()]
    return {_folder_of_script(words) for words in lines} - {""}


def _folder_of_script(argv: Sequence[str]) -> str:
    """Of a command line the directory of what an interpreter runs; empty if there is none."""
    return os.path.dirname(argv[1]) if len(argv) > 1 and os.path.isabs(argv[1]) else ""


def _joined(argv: Sequence[str]) -> bytes:
    return b"".join(os.fsencode(word) + b"\0" for word in argv)
