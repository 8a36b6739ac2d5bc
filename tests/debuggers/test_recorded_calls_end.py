"""A recording of calls ends where nothing more of it is written or read: the program goes on at its own speed."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from relay.debuggers.debugpy.debuggee.probe import entry
from relay.operations.compare.stream_reader import MOST_CALLS

probe: Any = entry  # whose parts are run in its globals


def recording(path: Path) -> Any:
    """One that has begun, in this thread."""
    path.touch()
    stream = probe.CallStream(str(path))
    stream.root_of(threading.get_ident())
    scope = SimpleNamespace(start=None, functions={})
    return probe.CallRecord(scope, stream, probe.WholeCalls(stream.note_whole_until))


def begin(record: Any) -> None:
    """A call that this function stands for."""
    about = {"number": 1, "name": "f", "path": "f.py", "line": 1, "arguments": ()}
    more = {"collecting": 0, "free": 0, "hides_any": False, "is_start": False}
    record.begin(sys._getframe(), SimpleNamespace(**about, **more))


def test_at_the_last_call_that_the_relay_reads(tmp_path: Path) -> None:
    record = recording(tmp_path / "calls")
    record.whole_calls.begun = MOST_CALLS - 1
    begin(record)
    assert record.state == "recording"
    begin(record)
    assert (record.state, record.is_active) == ("stopped", False)


def test_at_the_bound_of_the_file(tmp_path: Path) -> None:
    record = recording(tmp_path / "calls")
    begin(record)
    record.stream.left = 10
    record.stream.flush()  # the function's line
    begin(record)
    assert (record.state, record.is_active) == ("stopped", False)
    assert (tmp_path / "calls").read_text() == "[-1]\n"
