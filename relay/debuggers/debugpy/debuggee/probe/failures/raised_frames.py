"""The frames of a traceback: where each raised, and whether its locals are still those of then.

A frame that was left by the exception keeps its locals for good. One that caught it may run on, in
another round of a loop say: what it holds then is no longer what the exception saw. Which of the
two it is can be read from the instruction at which the frame is now, and from the handlers that
its code has for the one that raised.
"""

from __future__ import annotations

import itertools
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from relay.debuggers.debugpy.debuggee.probe.failures.example_lines import (
        example_place,
        note_examples,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.rewritten import (
        links_of_greenlet,
        rewritten_places,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import AskedOnce
    from relay.debuggers.debugpy.debuggee.probe.frames.made_frames import is_made_of_place
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import HAS_TABLE, handler_table
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import is_debugger_file
    from relay.debuggers.debugpy.debuggee.probe.frames.templates import template_place

_MOST_ENTRIES = 2000
"""A recursion without an end has a traceback of a thousand frames and more."""


_SOON = 50
_COMPILED = (".so", ".pyd")


class RaisedFrame:
    """One entry of a traceback; in place of the frame wherever that would show what is of now.

    Looks like a frame to whoever reads one. `_base_frame` is pydevd's name for the real one.
    """

    def __init__(
        self,
        frame: Any,
        line: int,
        moved_on: bool,
        file: str | None = None,
        above: int = 0,
        name: str | None = None,
    ) -> None:
        """`file`: that of the source, `above`: how many lines of it the code knows nothing of, `name`:
        what is said in the place of the function's.
        """
        self._base_frame = frame
        code = frame.f_code
        first = code.co_firstlineno + above
        shown = {"co_filename": file, "co_firstlineno": first, "co_name": name or code.co_name}
        self.f_code = code if file is None else code.replace(**shown)
        self.f_globals = frame.f_globals
        self.f_builtins = getattr(frame, "f_builtins", None)
        self.f_lineno = line
        self.f_lasti = frame.f_lasti
        self.f_back = frame.f_back
        self.f_trace = None
        self.moved_on = moved_on
        self.is_elsewhere = False  # of another process, or of a thread that sends as one does

    @property
    def f_locals(self) -> Any:
        return {} if self.moved_on else self._base_frame.f_locals


class TracebackEntry:
    """A frame to show, its line, and what is known of it."""

    def __init__(self, frame: Any, line: int, moved_on: bool = False, column: int = 1) -> None:
        self.frame = frame
        self.line = line
        self.column = column
        self.moved_on = moved_on
        self.inner = False
        """Whether it is a library's, deeper than the program's own code that is shown on top."""

    @property
    def real_frame(self) -> Any:
        """The interpreter's frame, where `frame` is one that was made to be shown in its place."""
        return getattr(self.frame, "_base_frame", self.frame)


def raised_entries(tb: Any) -> list[TracebackEntry]:
    """The traceback's frames, outermost first."""
    links = _of_the_last_raise(links_of_greenlet(list(_links(tb))))
    note_examples([link.tb_frame for link in links])
    running = running_frames()
    rewritten = rewritten_places(links)
    left_again = set(_places_left_again(links))
    entries: list[TracebackEntry] = []
    for position, link in enumerate(links):
        caller = links[position - 1] if position else None
        frame = link.tb_frame
        is_made = is_made_of_place(frame)
        moved_on = is_made or _has_moved_on(link, caller, id(frame) in running)
        again = position in left_again
        file, above = example_place(frame.f_code) or (compiled_file(frame), 0)
        line, name = link.tb_lineno + above, None
        place = template_place(frame, line, position == len(links) - 1)
        place = rewritten.get(id(frame), place)
        if place is not None:
            file, line, name = place.path, place.line, place.name
        if moved_on or again or file is not None:
            frame = RaisedFrame(frame, line, moved_on, file, above, name)
            frame.is_elsewhere = is_made
        is_elsewhere = above or place is not None
        here = None if is_elsewhere else position_of(link.tb_frame.f_code, link.tb_lasti)
        # An example is indented, and has a prompt: it has no column that is known.
        column = 1 if here is None or here[2] is None else int(here[2]) + 1
        entries.append(TracebackEntry(frame, line, moved_on, column))
    return entries


def _places_left_again(links: list[Any]) -> Iterator[int]:
    """Where among the links are those whose frames come again soon after."""
    following: dict[int, int] = {}  # by the frame's id: where it was seen last, from behind
    for position in range(len(links) - 1, -1, -1):
        frame = id(links[position].tb_frame)
        if following.get(frame, position + _SOON + 1) - position <= _SOON:
            yield position
        following[frame] = position


def compiled_file(frame: Any) -> str | None:
    """The source of a frame that Cython or mypyc made up for a traceback; None for any other.

    Such a frame names its file from the directory of the build, which is not here: another file
    may have that name from the program's. The source belongs beside the module made from it.
    """
    file = frame.f_code.co_filename
    module = frame.f_globals.get("__file__")
    if type(module) is not str or not module.endswith(_COMPILED) or os.path.isabs(file):
        return None
    return os.path.join(os.path.dirname(module), os.path.basename(file))


@AskedOnce
def position_of(code: Any, offset: int) -> Any:
    """(line, last line, column, last column) of what an instruction belongs to, or None where Python does not say. A frame
    that Cython made up has not begun, and so an offset below 0: before 3.11 each of them.

    Python looks for it from the code's beginning, and the failures of a test suite come through the
    same code of its runner: each is looked for once.
    """
    return None if offset < 0 else _nth(getattr(code, "co_positions", tuple)(), offset // 2)


def _nth(items: Iterable[Any], number: int) -> Any:
    """The item of this number, from 0 on; None if there are fewer."""
    return next(itertools.islice(items, number, None), None)


def _links(tb: Any) -> Iterator[Any]:
    count = 0
    while tb is not None and count < _MOST_ENTRIES:
        yield tb
        tb, count = tb.tb_next, count + 1


def _of_the_last_raise(links: list[Any]) -> list[Any]:
    """The links without those of earlier times at which the very object was raised by the same `raise`:
    an error that a mock is to raise at each call. Python puts them below the new ones.

    One that was kept and is raised elsewhere, as a future does, has its origin there.
    """
    return links[: next(_raises(links), len(links) - 1) + 1]


def times_raised(error: BaseException) -> int:
    """How often the `raise` by which this very object came about has raised it, as its traceback tells."""
    return len(list(_raises(list(_links(error.__traceback__)))))


def _raises(links: list[Any]) -> Iterator[int]:
    """Where among the links it was that the innermost one's `raise` raised the object, the last time
    first. Of what is raised otherwise, in C code say, this cannot be told.
    """
    last = links[-1] if links else None
    if last is None or _opname(last.tb_frame.f_code, last.tb_lasti) != "RAISE_VARARGS":
        return
    for position, link in enumerate(links):
        is_same = link.tb_frame.f_code is last.tb_frame.f_code and link.tb_lasti == last.tb_lasti
        # What a `raise` calls is the constructor of its exception, which may raise one itself.
        if link is last or (is_same and links[position + 1].tb_frame.f_back is not link.tb_frame):
            yield position


def running_frames() -> set[int]:
    """The identities of all frames that are on a thread's stack now.

    This one is among them: it lets go of each, or all would live until the collector comes.
    """
    found = set()
    waiting: list[Any] = list(sys._current_frames().values())
    while waiting:
        frame = waiting.pop()
        while frame is not None:
            found.add(id(frame))
            frame = frame.f_back
    return found


def _has_moved_on(link: Any, caller: Any, running: bool) -> bool:
    """Whether the frame has run on since it raised, otherwise than to clean up and leave."""
    frame, raised, now = link.tb_frame, link.tb_lasti, link.tb_frame.f_lasti
    if running:  # at the very instruction that raised it would be in another round
        return bool(now == raised or not _is_in_handler(frame.f_code, raised, now))
    # A `with` that passes an exception on leaves the frame where it was; `finally` at its end.
    has_left = now == raised or _raises_anew(frame.f_code, now)
    if has_left and _went_to(frame, caller):
        return False
    if now == raised:
        return bool(_may_catch(frame.f_code, raised))
    return not (has_left and _is_in_handler(frame.f_code, raised, now))


def _went_to(frame: Any, caller: Any) -> bool:
    """Whether the exception went from the frame to the one that the traceback names before it.

    Not so where one was kept and raised again elsewhere, as a future does. A wrapper of the debugger's
    is between two frames, and has taken itself out of the traceback.
    """
    back = frame.f_back
    while back is not None and is_debugger_file(back.f_code.co_filename):
        back = back.f_back
    return caller is not None and (back is None or back is caller.tb_frame)


# Handlers ------------------------------------------------------------------------------------


_RERAISING = ("RERAISE", "END_ASYNC_FOR", "CLEANUP_THROW")
"""What passes an exception on: the last two do unless it is what their loop or `await` ends with."""


def _opname(code: Any, offset: int) -> str:
    import dis

    return dis.opname[code.co_code[offset]] if 0 <= offset < len(code.co_code) else ""


@AskedOnce
def _raises_anew(code: Any, offset: int) -> bool:
    return _opname(code, offset) in (*_RERAISING, "END_FINALLY", "RAISE_VARARGS")


@AskedOnce
def _may_catch(code: Any, raised: int) -> bool:
    """Whether a handler around the instruction may keep an exception, as `except` does."""
    if HAS_TABLE:
        return any(not _passes_on(code, handler) for handler in _handlers(code, raised))
    return any(start < raised < end for start, end in _blocks(code, "SETUP_FINALLY"))


def _passes_on(code: Any, handler: int) -> bool:
    """Of the end of a `with`, and of what no source says: it cleans up after an `except`, within
    which another exception may be raised, a comprehension or an `await`.
    """
    return not _is_written(code, handler) or _opname(code, handler + 2) == "WITH_EXCEPT_START"


def _is_written(code: Any, handler: int) -> bool:
    """Whether it is an `except`, a `finally` or the end of a `with`."""
    return _opname(code, handler) == "PUSH_EXC_INFO"


@AskedOnce
def _is_in_handler(code: Any, raised: int, now: int) -> bool:
    """Whether `now` lies in what runs for an exception of the instruction `raised`."""
    if HAS_TABLE:
        return any(
            start <= now < end
            for handler in _handlers(code, raised)
            for start, end in _ranges(code, handler)
        )
    # Before, this alone is certain: that a `with` around the instruction is being left.
    if _opname(code, now) not in ("WITH_EXCEPT_START", "WITH_CLEANUP_START"):
        return False
    blocks = [*_blocks(code, "SETUP_WITH"), *_blocks(code, "SETUP_ASYNC_WITH")]
    return any(end == now and start < raised < end for start, end in blocks)


def _blocks(code: Any, opname: str) -> list[tuple[int, int]]:
    """Where each block of this kind is set up, and where its handler begins; up to 3.10."""
    import dis

    return [(i.offset, i.argval) for i in dis.get_instructions(code) if i.opname == opname]


def _handlers(code: Any, raised: int) -> list[int]:
    """Offsets of the handlers that an exception of the instruction comes to, innermost first."""
    table = handler_table(code)
    found: list[int] = []
    for start in _searched_from(code, raised):
        at = start
        while True:
            target = next((e.target for e in table if e.start <= at < e.end), None)
            if target is None or target in found:
                break
            cleanup = _cleanup(code, table, target)
            found.append(target)
            at = target if cleanup is None else cleanup
    return found


def _searched_from(code: Any, raised: int) -> list[int]:
    """Where Python looks for handlers. What is thrown into a generator is raised by its `yield`, but
    since 3.13 a traceback says that it was the instruction after that, which may raise as well.
    """
    if _opname(code, raised) == "RESUME" and _opname(code, raised - 2) == "YIELD_VALUE":
        return [raised - 2, raised]
    return [raised]


def _cleanup(code: Any, table: list[Any], handler: int) -> int | None:
    """What takes the exception off the stack if the handler itself raises: it guards all of it."""
    if not _is_written(code, handler):
        return None
    first = handler + 2  # past PUSH_EXC_INFO, which nothing guards
    return next((e.target for e in table if e.start <= first < e.end), None)


def _ranges(code: Any, handler: int) -> list[tuple[int, int]]:
    """First and past-last offsets of a handler: what its cleanup guards, and the cleanup; of one that
    no source says, up to where it passes the exception on.
    """
    if not _is_written(code, handler):
        rest = range(handler, len(code.co_code), 2)
        end = next((at for at in rest if _opname(code, at) in _RERAISING), handler)
        return [(handler, end + 2)]
    table = handler_table(code)
    cleanup = _cleanup(code, table, handler)
    if cleanup is None:
        return [(handler, handler + 4)]
    guarded = [(e.start, e.end) for e in table if e.target == cleanup and e.start >= handler]
    return [(handler, handler + 4), *guarded, (cleanup, cleanup + 8)]
