"""Whose a code is, found by the object: as pydevd says it, until it is told anew, and of few codes."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from relay.debuggers.debugpy.debuggee.probe import entry

probe: Any = entry


class Debugger:
    """Stands for pydevd's: says of each file what it was told, and how often it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.libraries: set[str] = set()
        self.mtime: Any = 0

    def get_file_type(self, frame: Any, names: Any = None) -> str | None:
        self.asked.append(frame.f_code.co_filename)
        return "library" if frame.f_code.co_filename in self.libraries else None

    def in_project_scope(self, frame: Any, name: str | None = None) -> bool:
        return self.get_file_type(frame) is None

    def _clear_caches(self) -> None:
        self.mtime = object()


@pytest.fixture
def debugger(monkeypatch: pytest.MonkeyPatch) -> Debugger:
    """One whose codes the probe knows at once."""
    found: Any = type("Own", (Debugger,), dict(vars(Debugger)))()
    monkeypatch.setitem(vars(probe), "debugger", lambda: found)
    probe.know_codes_at_once()
    found._clear_caches()  # it was another one's before
    return found  # type: ignore[no-any-return]


def frame_of(text: str, file: str) -> Any:
    return SimpleNamespace(f_code=compile(text, file, "exec"))


@pytest.mark.parametrize("question", ["get_file_type", "in_project_scope"])
def test_each_code_is_asked_about_once_until_the_debugger_is_told_anew(
    debugger: Debugger, question: str
) -> None:
    ask: Any = getattr(debugger, question)
    one, other, copy = frame_of("a", "one.py"), frame_of("a", "two.py"), frame_of("a", "one.py")
    assert one.f_code == copy.f_code
    debugger.libraries.add("two.py")
    first = [ask(frame) for frame in (one, other, copy)]
    assert first[0] == first[2] != first[1]
    assert debugger.asked == ["one.py", "two.py", "one.py"]
    assert [ask(frame) for frame in (one, other, copy)] == first
    assert ask(one, ("one.py",)) == first[0]
    assert len(debugger.asked) == 3
    debugger.libraries = {"one.py"}
    debugger._clear_caches()
    assert [ask(frame) for frame in (one, other)] == [first[1], first[0]]


@pytest.mark.parametrize("question", ["get_file_type", "in_project_scope"])
def test_what_was_found_out_as_the_debugger_was_told_anew_is_asked_again(
    debugger: Debugger, question: str
) -> None:
    """A thread may look while pydevd forgets: what it was told of before holds no more."""
    ask: Any = getattr(debugger, question)
    one, asked = frame_of("a", "one.py"), debugger.asked

    class Told(list[str]):
        def append(self, file: str) -> None:
            if debugger.asked is self:  # the debugger is told as it looks
                debugger.asked = asked
                debugger._clear_caches()
            super().append(file)

    debugger.asked = Told()
    ask(one)
    ask(one)
    assert asked == ["one.py"]


def test_what_is_no_code_is_asked_about_each_time(debugger: Debugger) -> None:
    """A frame that is made to be shown may have the id of one before."""
    made = SimpleNamespace(f_code=SimpleNamespace(co_filename="page.html"))
    for _ in range(2):
        assert debugger.get_file_type(made) is None
    assert debugger.asked == ["page.html"] * 2


def test_few_codes_are_kept_alive() -> None:
    table = probe.LatestCodes()
    made = compile("0", "made.py", "exec")
    alone = sys.getrefcount(made)
    table[made] = None
    assert (sys.getrefcount(made), table.get(made, "unknown")) == (alone + 1, None)
    for number in range(5000):
        table[compile(str(number), "made.py", "exec")] = number
    assert sys.getrefcount(made) == alone
    assert len(table) < 5000


def test_equal_codes_of_one_file_share_what_is_known_of_them() -> None:
    table = probe._ByFileAndCode()
    one, copy = (compile("a = 1", "one.py", "exec") for _ in range(2))
    other = compile("a = 1", "two.py", "exec")
    table[one] = "known"
    assert [table.get(code) for code in (one, copy, other)] == ["known", "known", None]
    table[copy] = "newer"
    assert table.get(copy) == "newer"
