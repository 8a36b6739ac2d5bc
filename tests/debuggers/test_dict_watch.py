"""Dict watchers: every write is reported, and no process ends badly for having had them."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from relay.debuggers.debugpy.debuggee.probe import entry as _entry
from tests.debuggers.bare_ends import assert_ends_well, in_each_way

probe: Any = _entry
in_process = pytest.mark.skipif(
    sys.version_info < (3, 12), reason="no dict watchers before Python 3.12"
)


class Point:
    def __init__(self) -> None:
        self.x, self.y = 1, 2

    def move(self) -> None:
        self.x += 1


@pytest.fixture
def writes() -> Iterator[list[Any]]:
    yield []
    probe.forget_dict_watches()
    assert probe._watcher.number == -1
    assert not probe._watcher.watches


def watch_point(point: Point, writes: list[Any]) -> Any:
    space = point.__dict__
    probe.prepare_attributes(point, space)
    assert point.__dict__ is space
    return probe.watch_dict(space, writes.append)


@in_process
def test_each_way_to_write_is_reported_with_its_frame(writes: list[Any]) -> None:
    point = Point()
    for _ in range(50):
        point.move()  # specialised by now
    watch_point(point, writes)
    for _ in range(50):
        point.move()
    assert len(writes) == 50
    assert {w.frame.f_code.co_name for w in writes} == {"move"}
    assert [writes[0].event, writes[0].key, writes[0].new] == ["modified", "x", 52]
    writes.clear()
    setattr(point, "x", 0)  # noqa: B010
    point.__dict__.update(y=1)
    del point.x
    point.__dict__.clear()
    point.__dict__.update({"x": 5})
    assert [(w.event, w.key) for w in writes] == [
        ("modified", "x"),
        ("modified", "y"),
        ("deleted", "x"),
        ("cleared", None),
        ("added" if len(writes) == 5 and writes[4].event == "added" else "cloned", writes[4].key),
    ]
    assert writes[4].key == "x" or writes[4].key == {"x": 5}


@in_process
def test_a_dict_has_several_listeners_and_ends_by_itself(writes: list[Any]) -> None:
    space: dict[str, Any] = {"a": 1}
    others: list[Any] = []
    first = probe.watch_dict(space, writes.append)
    probe.watch_dict(space, others.append)

    def broken(write: Any) -> None:
        raise ValueError

    probe.watch_dict(space, broken)
    space["a"] = 2
    probe.unwatch_dict(first)
    probe.unwatch_dict(first)
    space["a"] = 3
    assert [w.new for w in writes] == [2]
    assert len(others) == 2
    writes.clear()
    others.clear()  # each holds the dict
    del space
    assert [w.event for w in others] == ["gone"]
    assert not probe._watcher.watches


@in_process
def test_of_one_key_alone_its_writes_and_what_changes_all_are_reported(writes: list[Any]) -> None:
    space: dict[Any, Any] = {"a": 1}
    probe.watch_dict(space, writes.append, ("a",))
    everything: list[Any] = []
    for number in range(3000):  # more than it remembers
        space["".join(("b", str(number)))] = number
        if number % 1000 == 0:
            space["".join("a")] = number
    space[1] = 2
    del space["b7"], space["a"]
    probe.watch_dict(space, everything.append)
    space["b7"] = 0
    space.clear()
    told = [(one.event, one.key, one.new) for one in writes]
    modified = [("modified", "a", number) for number in (0, 1000, 2000)]
    assert told == [*modified, ("deleted", "a", None), ("cleared", None, None)]
    assert [one.event for one in everything] == ["added", "cleared"]
    for held in (writes, everything):
        held.clear()  # each holds the dict


@in_process
def test_the_last_watch_gives_the_number_back(writes: list[Any]) -> None:
    point = Point()
    watch = watch_point(point, writes)
    assert probe._watcher.number >= 0
    probe.unwatch_dict(watch)
    assert probe._watcher.number == -1
    point.move()
    assert writes == []
    watch_point(point, writes)
    point.move()
    assert len(writes) == 1


@in_process
def test_numbers_that_others_have_taken_are_said(writes: list[Any]) -> None:
    import ctypes

    address = ctypes.c_void_p
    kind = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, address, address, address)
    nothing = kind(lambda *_: 0)
    taken = []
    try:
        with contextlib.suppress(RuntimeError):
            while True:
                taken.append(ctypes.pythonapi.PyDict_AddWatcher(nothing))
        with pytest.raises(probe.TroubleError) as refused:
            probe.watch_dict({}, writes.append)
        assert "taken by others" in refused.value.answer["error"]["message"]
    finally:
        for number in taken:
            ctypes.pythonapi.PyDict_ClearWatcher(number)


ENDS = {
    "quiet": "",
    "exit": "sys.exit(0)",
    "deletes": """
        class Late:
            def __del__(self):
                point.x = 3
                globals()["rate"] = 9
        late = Late()
        point.late = late
        """,
    "threads": """
        import threading
        def work():
            while True:
                point.x += 1
                globals()["rate"] = point.x
        for _ in range(3):
            threading.Thread(target=work, daemon=True).start()
        """,
    "atexit": """
        import atexit
        def last():
            point.x = 5
            globals()["rate"] = 5
        atexit.register(last)
        """,
    "fork": """
        import os, warnings
        warnings.simplefilter("ignore")
        child = os.fork()
        point.x = 8
        if child:
            assert os.waitpid(child, 0)[1] == 0
            assert writes[-1].key == "x"
        else:
            assert not writes, writes
        """,
}
PROGRAM = """
point, rate, writes = Point(), 1, []
probe.prepare_attributes(point, point.__dict__)
probe.watch_dict(point.__dict__, writes.append)
probe.watch_dict(globals(), lambda write: None)
"""


@in_each_way(ENDS)
def test_a_process_ends_well_with_dicts_watched(version: str, end: str, tmp_path: Path) -> None:
    assert_ends_well(version, PROGRAM + end, tmp_path)
