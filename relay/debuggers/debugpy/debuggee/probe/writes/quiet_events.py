"""The events of lines that may write as long as nothing has changed: quick, and nothing is noted.

Each compares, and says which line was the last. What has changed is for others to find out; so is,
from time to time, whether a place has to be an event at all.
"""

from __future__ import annotations

import keyword
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from relay.debuggers.debugpy.debuggee.probe.frames.state_targets import ABSENT
    from relay.debuggers.debugpy.debuggee.probe.process.guard import frame_at
    from relay.debuggers.debugpy.debuggee.probe.writes.data_checks import quick_check_of
    from relay.debuggers.debugpy.debuggee.probe.writes.data_watches import DataWatch, Strong

_MOST_IN_A_ROW = 250  # events that are no more than compared
ENDS_AT_ONCE = 20_000  # ends of calls after which it is said that there are many
_TEXT = """
def make({given}codes, thorough, changed, often, hooks, hooked, under_way, came, frame_at):
    thorough_line = thorough["LINE"]
    left, last_code, last_line, ends_left, known_code = {most}, None, 0, {ends}, None

    def on_line(code, line):
        nonlocal left, last_code, last_line, known_code
        try:
            if {same}:
                last_line = line
                if code is known_code:
                    return None
                last_code = code
                waits = under_way.get(id(code))
                if waits is not None:
                    known_code = None
                    under_way[id(code)] = waits - 1
                    if waits <= 0:
                        came(frame_at(1), code, line)
                    return None
                known_code = code
                left -= 1
                if left:
                    return None
                left = {most}
                return thorough_line(frame_at(1), code, line)
        except (AttributeError, IndexError, ValueError):
            pass
        return changed("LINE", frame_at(1), last_code, last_line, code, line)

    def jumps(event):
        thorough_jump = thorough[event]

        def on_jump(code, offset, target):
            nonlocal left
            if id(code) in hooks:
                return hooked(frame_at(1), code, offset, target)
            try:
                if {same}:
                    left -= 1
                    if left:
                        return None
                    left = {most}
                    return thorough_jump(frame_at(1), code, offset, target)
            except (AttributeError, IndexError, ValueError):
                pass
            return changed(event, frame_at(1), last_code, last_line, code, offset, target)

        return on_jump

    def ends(event):
        def on_end(code, offset, value):
            nonlocal last_line, ends_left
            try:
                if {same}{stays}:
                    if code is last_code:
                        last_line = 0
                    ends_left -= 1
                    if not ends_left:
                        ends_left = {ends}
                        often()
                    return None
            except (AttributeError, IndexError, ValueError):
                pass
            return changed(event, frame_at(1), last_code, last_line, code, offset, value)

        return on_end

    def on_yield(code, offset, value):
        nonlocal last_line
        try:
            if {same}:
                if code is last_code:
                    last_line = 0
                return None
        except (AttributeError, IndexError, ValueError):
            pass
        return changed("PY_YIELD", frame_at(1), last_code, last_line, code, offset, value)

    return dict(
        LINE=on_line, JUMP=jumps("JUMP"), BRANCH=jumps("BRANCH"),
        PY_RETURN=ends("PY_RETURN"), PY_YIELD=on_yield, PY_UNWIND=ends("PY_UNWIND"),
    )
"""
"""`{same}` is asked some million times a second: a call of it would take as long as all else."""


class HookCalls(NamedTuple):
    """What is called of codes that look whom they write to, and of those that are to."""

    jumps: Mapping[int, Any]
    """By the ids of the first kind."""
    jumped: Callable[..., Any]
    """Is given all jumps in these, with the frame and the event's arguments."""
    under_way: dict[int, int]
    """By the ids of codes whose lines need not be events, perhaps, from such a one on: how many come before that."""
    came: Callable[..., Any]
    """Is given the lines after that, in the same way."""


class QuietEvents:
    """The callbacks for some data breakpoints."""

    def __init__(self, watches: list[DataWatch]) -> None:
        self.watches = watches
        self._had_values = [watch.last is not ABSENT for watch in watches]
        looks = [_look_at(watch, number) for number, watch in enumerate(watches)]
        given = "".join(f"value{number}, last{number}, " for number in range(len(watches)))
        self._readers = [reader for _, reader in looks]
        self._codes = [watch.code for watch in watches if watch.kind == "local"]
        text = _TEXT.format(
            given=given,
            same=" and ".join(same for same, _ in looks),
            stays=" and all(code is not one for one in codes)" if self._codes else "",
            most=_MOST_IN_A_ROW,
            ends=ENDS_AT_ONCE,
        )
        space: dict[str, Any] = {}
        exec(compile(text, QuietEvents.__init__.__code__.co_filename, "exec", 0, True), space)
        self._make: Any = space["make"]

    def are_for(self, watches: list[DataWatch]) -> bool:
        """Whether they can be made for these as they are now."""
        return self.watches == watches and self._had_values == [
            watch.last is not ABSENT for watch in watches
        ]

    def callbacks(
        self,
        thorough: Mapping[str, Any],
        changed: Callable[..., Any],
        often: Callable[[], Any],
        hooks: HookCalls,
    ) -> dict[str, Any]:
        """By the names of their events. They keep the last values, and what is watched.

        thorough: by those names, what is called in their place once in a while, with the frame and
        the event's arguments. changed: called with the event's name, the frame, the code and line of
        the last event of a line, no line if that code has been left since, and the event's arguments.
        often: called once for ENDS_AT_ONCE ends of calls.
        """
        given: list[Any] = []
        for watch, reader in zip(self.watches, self._readers):  # noqa: B905  Python 3.8
            given += reader(), watch.last
        calls = changed, often, *hooks
        made: dict[str, Any] = self._make(*given, self._codes, thorough, *calls, frame_at)
        return made


def _look_at(watch: DataWatch, number: int) -> tuple[str, Callable[[], Any]]:
    """An expression that is true if the value is the last one; what gives its `valueN`.

    It may raise AttributeError, IndexError or ValueError.
    """
    last = f"last{number}"
    slot, key = _plain_slot(watch), watch.key
    if watch.last is not ABSENT and type(watch.owner) is Strong:
        if slot:
            return f"value{number}.{slot} is {last}", watch.owner
        if watch.kind == "list_item" and type(watch.owner()) is list:
            return f"value{number}[{key}] is {last}", watch.owner
        if watch.kind == "cell":
            return f"value{number}.cell_contents is {last}", watch.owner
    if watch.last is not ABSENT and slot and not hasattr(None, slot):
        return f"value{number}().{slot} is {last}", lambda: watch.owner
    return f"value{number}() is {last}", lambda: watch.peek


def _plain_slot(watch: DataWatch) -> str:
    """The name of a slot that is read as by `owner.name`; else nothing."""
    quick, key = quick_check_of(watch) if watch.kind == "slot" else None, str(watch.key)
    is_plain = quick is not None and key.isidentifier() and not keyword.iskeyword(key)
    return key if is_plain else ""
