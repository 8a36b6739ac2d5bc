"""StdinWatch: whether a program waits for input, and what it asks for.

Two witnesses. The probe says when a read of sys.stdin begins and ends to wait: at once, in
any thread, on any system (`reported`). What it cannot see, reads by C code, of the bare
descriptor and of `input()` on a terminal, is looked for where Linux shows what each thread
of the program does (`poll`); where it shows nothing, the probe's word is all.

Refuses to know what is written, and by whom. Source: contract, section 2.
"""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Callable
from typing import TYPE_CHECKING

import trio

from relay.dap.lifecycle import Phase
from relay.process.streams import ProgramInput
from relay.session.output_log import OutputLog

if TYPE_CHECKING:
    from relay.session.debuggee.debuggee import Debuggee

QUICK_LOOK = 0.02
"""Seconds from something happening to a look: it may have been a prompt."""

SLOW_LOOK = 0.5
"""Seconds between looks while nothing happens; reached by doubling. Longer after a while: a tenth of it."""

SLOWEST_LOOK = 10.0

MOST_THREADS = 200
"""Threads that one look looks at."""

LONGEST_PROMPT = 1000
"""Characters of a prompt; of a longer one, the end."""

PROMPT_ENTRIES = 50

READ_CALLS = {"x86_64": frozenset({"0", "19"}), "aarch64": frozenset({"63", "65"})}
"""Numbers of read and readv, by machine."""


class StdinWatch:
    """Keeps `Session.waiting_for_input` true for one program; announces each request."""

    def __init__(
        self,
        debuggee: Debuggee,
        pipe: ProgramInput,
        drain: Callable[[], None],
        queued: Callable[[], int],
    ) -> None:
        """`queued`: bytes for the program that are not in the pipe yet; it asks for none then."""
        self._queued = queued
        self._session = debuggee.session
        self._events = debuggee.events
        self._pipe = pipe
        self._drain = drain
        self._reading = 0  # reads that wait, by the probe's word
        self._fed = False  # something was written since the probe's last word
        self._seen = False  # a thread was seen to wait
        self._answered = 0  # output up to here asked for what was written since
        self._stirred = trio.Event()
        self._ended = False  # no read waits any more, whatever word of one is still on its way
        self._over = False

    def reported(self, waiting: bool) -> None:
        """The probe's word: one more read waits, or one less."""
        self._reading = max(0, self._reading + (1 if waiting else -1))
        self._fed = False
        self._judge()

    def written(self, data: bytes) -> None:
        """This is in the pipe now: whoever waited will wake."""
        whole = b"\n" in data
        if self._pipe.is_terminal and not whole:
            return  # a terminal hands over whole lines
        if whole:
            self._answered = self._session.output.last_seq
        self._woken()

    def ended(self) -> None:
        """The pipe has come to its end: nobody waits any more."""
        self._ended = True
        self._woken()

    def over(self) -> None:
        """The program is gone, and waits for nothing any more: the session learns it."""
        self._over = True
        self._events.input_over()
        self.stir()

    def stir(self) -> None:
        """Something happened, after which the program may ask: it has printed, or runs on."""
        self._stirred.set()

    async def poll(self) -> None:
        """Look at the program's threads, soon after something happened and then rarer; never while it
        stands."""
        pause, since = QUICK_LOOK, trio.current_time()
        while not self._over:
            runs = self._session.phase is Phase.RUNNING
            with trio.move_on_after(pause if runs else math.inf):
                await self._stirred.wait()
            if self._stirred.is_set():
                self._stirred = trio.Event()
                pause, since = QUICK_LOOK, trio.current_time()
                await trio.sleep(QUICK_LOOK)
            if self._session.phase is Phase.RUNNING and not self._look():
                return
            slow = max(SLOW_LOOK, (trio.current_time() - since) / 10)
            pause = min(pause * 2, slow, SLOWEST_LOOK)

    def _woken(self) -> None:
        self._fed = True
        self._seen = False
        self._judge()
        self.stir()

    def _look(self) -> bool:
        """Whether it was worth it: not where nobody may see what threads do."""
        pid = self._session.pid
        seen = None if pid is None else waits_for(pid, self._pipe)
        if seen is None:
            return False
        self._seen = seen
        self._judge()
        return True

    def _judge(self) -> None:
        waits = self._seen or (self._reading > 0 and not self._fed)
        if self._over or self._ended or not waits or self._queued():
            self._events.input_over()
        elif self._session.waiting_for_input is None:
            self._drain()
            prompt = prompt_of(self._session.output, self._answered)
            self._events.input_wanted(prompt)


def prompt_of(output: OutputLog, after: int) -> str:
    """What was printed to stdout since its last newline, and after entry number `after`."""
    text = ""
    start = max(after, output.last_seq - PROMPT_ENTRIES)
    for entry in reversed(output.read(start, PROMPT_ENTRIES, "stdout").entries):
        if entry.output.endswith("\n"):
            break
        text = entry.output + text
    return text[-LONGEST_PROMPT:]


def waits_for(pid: int, pipe: ProgramInput) -> bool | None:
    """Whether a thread of the process waits in a read of `pipe`.

    None if this system does not show it, or the process is gone.
    """
    calls = READ_CALLS.get(platform.machine())
    if calls is None:
        return None
    try:
        threads = os.listdir(f"/proc/{pid}/task")
        return any(_waits(pid, thread, calls, pipe) for thread in threads[:MOST_THREADS])
    except OSError:
        return None


def _waits(pid: int, thread: str, calls: frozenset[str], pipe: ProgramInput) -> bool:
    """Whether one thread does. Raises OSError when the process is gone."""
    try:
        # A thread that was woken and is not on a processor yet is still shown in its read: it
        # waits if it was asleep before one looked.
        return (
            _is_in_read(pid, thread, calls, pipe)
            and _sleeps(pid, thread)
            and _is_in_read(pid, thread, calls, pipe)
        )
    except (FileNotFoundError, ProcessLookupError):
        if thread == str(pid):
            raise
        return False  # this thread has just ended


def _is_in_read(pid: int, thread: str, calls: frozenset[str], pipe: ProgramInput) -> bool:
    with open(f"/proc/{pid}/task/{thread}/syscall") as file:
        words = file.read().split()
    if len(words) < 2 or words[0] not in calls:
        return False
    try:
        return pipe.is_read_through(os.stat(f"/proc/{pid}/fd/{int(words[1], 16)}"))
    except FileNotFoundError:
        return False


def _sleeps(pid: int, thread: str) -> bool:
    with open(f"/proc/{pid}/task/{thread}/stat", "rb") as file:
        return file.read().rpartition(b") ")[2].startswith(b"S")
