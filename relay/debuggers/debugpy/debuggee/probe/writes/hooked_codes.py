"""Data breakpoints without events, on Python 3.12 and 3.13: which codes look at what they write to.

The functions that may write get a code with looks (`traps/write_hooks.py`), where looks will do
(`hook_looks.py`). Its lines are no events until one finds something. A frame that is under way goes on in a code of
its own at an event. Refuses to know what an event is.
"""

from __future__ import annotations

import sys
import time
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import facts_of
    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        frames_of_others_at_work,
        is_debugger_file,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.idle_events import is_every_line_wanted
    from relay.debuggers.debugpy.debuggee.probe.hooks.monitoring_tool import MONITORING
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.process.tracked_objects import objects_of
    from relay.debuggers.debugpy.debuggee.probe.traps.trapped_codes import FUNCTION, give_code
    from relay.debuggers.debugpy.debuggee.probe.traps.write_hooks import (
        CAN_HAVE_HOOKS,
        FramePlace,
        SiteLooks,
        hook_jumps_in,
        with_hooks,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.data_checks import WritersInSpaces
    from relay.debuggers.debugpy.debuggee.probe.writes.data_watches import DataWatch
    from relay.debuggers.debugpy.debuggee.probe.writes.hook_looks import HookLooks
    from relay.debuggers.debugpy.debuggee.probe.writes.quiet_events import ENDS_AT_ONCE
    from relay.debuggers.debugpy.debuggee.probe.writes.write_lines import (
        NO_LINES,
        WriteLines,
        watched_lines_of,
    )

_MOST_WATCHES = 4  # that a store looks for one after the other
_MOST_HOOKED = 300  # each of which gets events, and loses them, with every change
_SECONDS = 0.2  # that it may take at once
_SECONDS_A_CALL = 150e-9  # that the events of a call take at least
_OWN_TOOL = "debug relay"
_PROXIES_IN_C = (
    *("wrapt._wrappers", "lazy_object_proxy.cext", "zope.proxy._zope_proxy_proxy"),
    *("zope.security._zope_security_proxy", "werkzeug.local"),
)
"""Modules of objects whose attributes and items are those of another object, by code in C. A statement
that names one writes to what stands behind it."""
_READERS_OF_CODE = (
    *("numba", "torch._dynamo", "pony.orm.decompiling", "bytecode"),
    "test.support.bytecode_helper",  # what tests of Python's own compiler ask
)
"""Modules that make something else of a function's bytecode, or look at each instruction."""


class HookedCodes:
    """Those for some data breakpoints."""

    def __init__(
        self,
        watches: list[DataWatch],
        tool: int,
        excepted: Iterable[Any] = (),
    ) -> None:
        """tool: whose events do not count. excepted: codes that are to stay."""
        self.watches, self.tool = watches, tool
        self.made = CodeTable()  # of these, with their WriteLines
        self._waited, self._due = (
            0,
            1,
        )  # how often many calls have ended since the last look for such codes
        self._of = CodeTable()  # by the code of the program: what is made of it; None for none
        for code in excepted:
            self._of[code] = None
        self._originals = CodeTable()
        self._functions: list[Any] = []  # weak references
        # Those that report something, by the ids of those codes.
        self.jumps: dict[int, Mapping[int, str]] = {}
        self._writers = WritersInSpaces({watch.kind for watch in watches})
        self.locals = [watch.code for watch in watches if watch.kind == "local"]
        self._looks = HookLooks(watches)

    @property
    def can_be(self) -> bool:
        """Whether there may be some at all."""
        return (
            CAN_HAVE_HOOKS
            and bool(self._looks.are_some or self.locals)
            and len(self.watches) <= _MOST_WATCHES
            and not is_every_line_wanted()
            and sys.modules.keys().isdisjoint((*_PROXIES_IN_C, *_READERS_OF_CODE))
            and not _other_tools()
        )

    def place(self, met: CodeTable) -> bool:
        """Give functions such a code: those of codes that have been met, with their WriteLines, and
        those that may come. Whether any function has got one."""
        began, placed = time.perf_counter(), len(self._functions)
        for function in objects_of(FUNCTION):
            code = function.__code__
            if len(self.made) >= _MOST_HOOKED or time.perf_counter() - began > _SECONDS:
                break
            self.give(function, met.get(code))
        # Another look is to be a tenth of what those calls cost.
        spent = time.perf_counter() - began
        self._waited, self._due = 0, 1 + int(10 * spent / (ENDS_AT_ONCE * _SECONDS_A_CALL))
        return len(self._functions) > placed

    def give(self, function: Any, known: WriteLines | None) -> None:
        """Give one function such a code, if it can have one. known: what writes in its code, if that was met."""
        made = self._made_of(function, function.__code__, known)
        if made is not None and attempt(give_code, function, made, default=False):
            self._functions.append(weakref.ref(function))

    def is_due(self) -> bool:
        """ENDS_AT_ONCE more calls have ended: whether it is time to look for more functions."""
        self._waited += 1
        return self._waited >= self._due

    def place_more(self, met: CodeTable) -> None:
        """The same for functions that were not there before; less often where there are none."""
        due = self._due
        if not (self.can_be and self.place(met)):
            self._waited, self._due = 0, 2 * due

    def lines_of(self, code: Any) -> WriteLines:
        """The lines of a code that was made here which may write; of any other none."""
        lines: WriteLines = self.made.get(code, NO_LINES)
        return lines

    def codes_at_writes(self) -> CodeTable:
        """Those in which another thread is in a line that may write: its look may be over, and its write yet to
        come."""
        found = CodeTable()
        for _, frame, _ in frames_of_others_at_work():
            if frame.f_lineno in self.lines_of(frame.f_code).writes:
                found[frame.f_code] = True
        return found

    def reported_at(self, code: Any, offset: int) -> str:
        """What the jump that lies there reports: DUE or OVER; else nothing."""
        return self.jumps.get(id(code), {}).get(offset, "")

    def take_away(self) -> None:
        """Give functions their own codes back; what runs on in others reports to nobody.

        Of a code that others have events of, or facts, its functions keep it.
        """
        functions = [function() for function in self._functions]
        if functions:
            # Others may have been made of their codes.
            functions += objects_of(FUNCTION)
        for function in functions:
            original = function and self._originals.get(function.__code__)
            if original is not None and not self._is_of_others(function.__code__):
                attempt(give_code, function, original)
        self._functions = []

    # Of a code

    def _made_of(self, function: Any, code: Any, known: WriteLines | None) -> Any:
        """known: what writes in a code that has been met."""
        if code in self._of:
            return self._of.get(code)
        is_local = any(one is code for one in self.locals)
        if code in self.made or not (known is not None or is_local or self._looks.may_come(code)):
            return None
        if known is None and _calls_argument(code):
            return None  # which may be what writes: that is seen when it runs
        self._of[code] = None
        looks = self.looks_of(function, code, known)
        if looks is None or not (looks or is_local):
            return None
        self._of[code] = made = attempt(self.make, code, looks)
        return made

    def looks_of(
        self, function: Any, code: Any, known: WriteLines | None
    ) -> dict[int, SiteLooks] | None:
        """By the offsets of instructions; None if the code is to stay as it is."""
        if is_debugger_file(code.co_filename) or self._is_of_others(code):
            return None
        bound = self._writers.of(function.__globals__) | set(self._writers.given_to(function, code))
        sites = frozenset() if known is None else known.sites
        looks: dict[int, SiteLooks] | None = attempt(self._looks.looks_in, code, bound, sites)
        return looks

    def make(self, code: Any, looks: dict[int, SiteLooks], place: FramePlace | None = None) -> Any:
        made = with_hooks(code, looks, place)
        lines = watched_lines_of(made, self.watches) if looks else NO_LINES
        self._originals[made], self.made[made] = code, lines
        if looks:
            self.jumps[id(made)] = hook_jumps_in(made)
            MONITORING.set_local_events(self.tool, made, MONITORING.events.JUMP)
        return made

    def _is_of_others(self, code: Any) -> bool:
        """Whether another tool than the debugger and this one has events of the code, or somebody keeps
        facts by it, as trio does of who is not to be interrupted."""
        if weakref.getweakrefcount(code):
            return True
        tools = [tool for tool in range(6) if tool not in (self.tool, MONITORING.DEBUGGER_ID)]
        return any(
            MONITORING.get_tool(tool) is not None and MONITORING.get_local_events(tool, code)
            for tool in tools
        )


def _calls_argument(code: Any) -> bool:
    """Whether it calls what it is given, by a name of its own."""
    count = code.co_argcount + code.co_kwonlyargcount
    arguments = code.co_varnames[:count]
    found = facts_of(code)[0]
    for one, after in zip(found, found[1:]):  # noqa: B905, RUF007
        called, null = (one, after) if sys.version_info >= (3, 13) else (after, one)
        names = called.argval if null.opname == "PUSH_NULL" else ()
        names = names if type(names) is tuple else (names,)
        if any(name in arguments for name in names[-1:]):
            return True
    return False


def _other_tools() -> bool:
    """Whether somebody else may have events of single instructions, or of codes: the program."""
    names = [MONITORING.get_tool(tool) for tool in range(6) if tool != MONITORING.DEBUGGER_ID]
    return any(name is not None and not name.startswith(_OWN_TOOL) for name in names)
