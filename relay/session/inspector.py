"""Inspector: what can be asked of the debugger in one process, and the shapes of the answers.

One for each process under a debugger. References and frames belong to a stop and die with it.
Knows the questions. How they are asked is a debugger's affair: of a probe in the program, or by
what plain DAP has. What a debugger cannot answer raises NotSupported. Source: contract, section 5.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from relay.session.state.breakpoints import Breakpoint
from relay.session.state.exception_breakpoints import ExceptionBreakpoints
from relay.session.state.stop import Frame, RaisedException

MAX_VALUE = 1000
"""Characters of one value before it is cut."""


class Extra(StrEnum):
    """What few debuggers can do, and say only once they are there; a session lists it by these words."""

    STEP_BACK = "step_back"
    """It also runs backwards: DAP's stepBack and reverseContinue."""
    RESTART_FRAME = "restart_frame"
    SET_EXPRESSION = "set_expression"
    STEP_IN_TARGETS = "step_in_targets"
    """It tells the calls that a step may go into, and goes into a chosen one."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some children of a value, and how many there are in all."""

    variables: Sequence[dict[str, Any]]
    total: int
    cut: bool = False
    indexed: int = 0
    """How many of the children, the first ones, are items of a sequence."""


@dataclass(frozen=True, slots=True)
class FoundFunction:
    """What a program has loaded by the name of a function."""

    found: bool
    """Whether it is a function of Python."""
    similar: Sequence[str]
    """Names that are nearly it, where there is none."""
    in_c: bool = False
    """Whether it is one in C, whose calls the debugger does not see."""


class Inspector(ABC):
    """The way to the debugger in one process."""

    def __init__(self) -> None:
        self.functions: frozenset[str] = frozenset()
        """Ids of the function breakpoints that the debugger was sent last."""
        self.captures: list[dict[str, Any]] = []
        """What breakpoints capture, as the debugger was sent it last."""

    @abstractmethod
    def learn(self, capabilities: Mapping[str, Any]) -> None:
        """The debugger says anew what it can, as DAP's capabilities; those left out stay."""

    @abstractmethod
    def refusal(self, breakpoint: Breakpoint) -> str | None:
        """Why the debugger would take it for a plain one, and stop where it must not."""

    @abstractmethod
    def new_stop(self) -> None:
        """Whatever was shown of an earlier stop is stale from now on."""

    # Values ------------------------------------------------------------------------

    @abstractmethod
    async def scopes(self, frame: Frame) -> list[dict[str, Any]]:
        """Locals and globals of a frame, each with a reference."""

    @abstractmethod
    async def variables(
        self,
        frame: Frame,
        reference: int,
        *,
        start: int,
        count: int,
        kind: str | None = None,
        summary: bool = False,
        reveal: bool = False,
    ) -> Page:
        """A page of children; raises VariableNotFound for a reference that is not of this stop.

        summary: names, types and sizes only, for which no repr is run.
        """

    async def variables_of_locals(
        self,
        frame: Frame,
        scopes: Sequence[Mapping[str, Any]],
        *,
        start: int,
        count: int,
        summary: bool = False,
        reveal: bool = False,
    ) -> Page:
        """A page of the local variables of a frame, whose scopes these are."""
        reference = int(scopes[0]["variables_reference"])
        return await self.variables(
            frame, reference, start=start, count=count, summary=summary, reveal=reveal
        )

    @abstractmethod
    async def locals(
        self, frame: Frame, *, max_chars: int, max_value: int | None = None, reveal: bool = False
    ) -> Page:
        """The locals of a frame within a budget of characters, for each and for all."""

    @abstractmethod
    async def report(
        self, frame: Frame, first: Sequence[str], *, max_value: int, reveal: bool = False
    ) -> dict[str, Any]:
        """The locals of a frame that are worth showing, those named in `first` ahead, and its whole stack."""

    @abstractmethod
    async def evaluate(
        self,
        frame: Frame,
        expression: str,
        context: str,
        *,
        reveal: bool = False,
        max_value: int = MAX_VALUE,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """Result, or `exception`; raises EvaluateError on a syntax error."""

    @abstractmethod
    async def hover(self, frame: Frame, expression: str, *, reveal: bool) -> dict[str, Any]:
        """As evaluate, but runs no code of the program for names, attributes and items."""

    @abstractmethod
    async def completions(self, frame: Frame, text: str) -> tuple[int, list[dict[str, str]]]:
        """(characters of the word that are typed already, names with their kinds)."""

    @abstractmethod
    async def set_variable(
        self, frame: Frame, reference: int, name: str, expression: str, *, reveal: bool
    ) -> dict[str, Any]:
        """The child with its new value, or `exception`; raises VariableNotFound, EvaluateError."""

    @property
    @abstractmethod
    def extras(self) -> frozenset[Extra]:
        """What it can do of that which few can."""

    @abstractmethod
    async def set_expression(
        self, frame: Frame, expression: str, value: str, *, reveal: bool
    ) -> dict[str, Any]:
        """What the expression names with its new value, or `exception`.

        Raises EvaluateError, InvalidRequest for what cannot be assigned to, NotSupported.
        """

    @abstractmethod
    async def loaded_modules(self) -> list[dict[str, Any]]:
        """Every module in sys.modules but the debugger's: name, path, version. At any time."""

    @abstractmethod
    async def source(self, frame: Frame) -> dict[str, Any]:
        """path and source of a frame as the program's own loader gives it; may be empty."""

    @abstractmethod
    async def return_value(self, frame: Frame, *, reveal: bool = False) -> dict[str, Any] | None:
        """What the call that the last step ran gave back, if it ran one."""

    @abstractmethod
    async def exception(self, frame: Frame) -> RaisedException | None:
        """The exception that the frame's stop is about."""

    @abstractmethod
    async def exception_details(self, frame: Frame, *, reveal: bool) -> dict[str, Any] | None:
        """The same with its chain, the line and a reference to the exception itself."""

    @abstractmethod
    async def modules(self, frames: Sequence[Frame], at: Frame | None) -> dict[int, str]:
        """Module names of frames, by the adapter's frame ids; asked at a frame that stands.

        Before Python 3.12 a thread that blocks in C does not stand, though all are stopped.
        """

    @abstractmethod
    async def stack_modules(self, top: Frame) -> dict[int, str] | None:
        """The same for the whole stack of the thread that stands at `top`, which need not be known yet.

        None where they can only be asked for by frame.
        """

    # Threads -----------------------------------------------------------------------

    @abstractmethod
    async def threads(self, *, timeout: float | None = None) -> list[dict[str, Any]]:
        """DAP's threads: `id` and `name` of each."""

    @abstractmethod
    async def thread_states(self, *, timeout: float | None = None) -> list[dict[str, Any]]:
        """Every thread: id, name, ident, state (stopped, held, running), frame. At any time."""

    @abstractmethod
    async def hang_report(
        self, *, timeout: float | None = None, reveal: bool = False, **wanted: Any
    ) -> dict[str, Any]:
        """Every thread's stack, locals and what it waits for, and the tasks. At any time."""

    @abstractmethod
    async def resume_thread(self, thread_id: int, step: str | None) -> str:
        """Let one thread run or step (over, into, out) alone; returns the state that it had."""

    @abstractmethod
    async def resume_all(self) -> None:
        """Let every thread run, also after some went alone."""

    @abstractmethod
    async def jump_lines(self, frame: Frame) -> tuple[str, list[int]]:
        """Name of the frame's function, and the lines where its next one can be set."""

    @abstractmethod
    async def tasks(
        self, at: Frame | None, *, offset: int, limit: int, frames: int
    ) -> dict[str, Any]:
        """A page of the program's asyncio and trio tasks, and greenlets; `at` is where it stopped."""

    # Breakpoints -------------------------------------------------------------------

    @abstractmethod
    async def hits(self, *, timeout: float) -> dict[str, int]:
        """How often each breakpoint was hit, by the names that the debuggee has for them."""

    @abstractmethod
    async def function_places(self, *, timeout: float) -> dict[str, dict[str, Any]]:
        """Where the functions of function breakpoints lie, by the breakpoints' names."""

    @abstractmethod
    async def set_captures(self, captures: list[dict[str, Any]]) -> None:
        """Replace what breakpoints capture. Raises NotSupported if this debuggee cannot."""

    @abstractmethod
    async def send_captures(self, *, timeout: float) -> int:
        """Have the rows that wait in the debuggee sent, as events before this returns."""

    @abstractmethod
    async def kill_answered(self, number: int) -> None:
        """The program may do what it has said, with this number, that it is about to: those whom it ends were asked for
        their last words."""

    @abstractmethod
    async def trace_start(self, **wanted: Any) -> bool:
        """Have a call recorded from now on, in place of any before; False if it cannot be."""

    @abstractmethod
    async def trace_read(self, *, stopped: bool) -> dict[str, Any] | None:
        """What is recorded so far, if anything was asked for; ends it if the program stopped."""

    @abstractmethod
    async def trace_functions(self, function: str) -> FoundFunction:
        """What the program has loaded by this name."""

    @abstractmethod
    async def calls_start(
        self,
        *,
        focus: Sequence[str],
        start: str | None = None,
        stream: str | None = None,
        rereads: bool = False,
        seed: int | None = None,
        chance: Mapping[str, Any] | None = None,
        trees: Sequence[str] = (),
        other_tree: str | None = None,
        whole: Mapping[str, Any] | None = None,
    ) -> bool:
        """Have own calls recorded from now on, in place of any before; False if they cannot be.

        stream: an empty file that gets a line for each call as it ends, in place of a tree; with
        rereads, also with what has become of the arguments by then. seed: of the addresses at which
        what the program makes from now on lies; None: as they come. chance: `examples`, the
        directory that hypothesis has in the place of its own, and `anew`, the number of the call from which on random
        numbers are others than in each run that has this; None: as they come. trees: paths that its texts leave out.
        other_tree: a folder whose sources are not the program's, see `strayed` of the answer.
        whole: of which calls the stream has all that their values store: `first` and `last`, numbers in the order
        in which calls begin, and the `seconds` that may go into that. Of the others it has a line in brief.
        """

    @abstractmethod
    async def calls_read(self, *, stopped: bool) -> dict[str, Any] | None:
        """The calls so far, if any were asked for; ends the recording if the program stopped."""

    @abstractmethod
    async def watch_writes(
        self, *, state: Mapping[str, Any] | None = None, places: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        """Record who writes states, in whatever object has them; before the program begins only.

        state: that of an answer of `write_question`. places: each with an `expression`, and where it
        will be asked about: `path` and `line`, or `function`. Raises NotSupported if it cannot be,
        InvalidRequest for an expression whose state is not known before.
        """

    @abstractmethod
    async def write_question(self, frame: Frame, expression: str) -> dict[str, Any]:
        """What the expression names (`state`, `value`), and what is equal at an equal stop (`values`).

        `recorded`: whether `written` has its writes from the beginning of this run.

        Raises EvaluateError for bad syntax, InvalidRequest for what cannot be watched.
        """

    @abstractmethod
    async def written(self, frame: Frame, expression: str, limit: int) -> dict[str, Any]:
        """The `writes` of the object that the expression names, newest first, and the `reason` why
        they are not all."""

    @abstractmethod
    async def set_data_breakpoint(
        self, frame: Frame, number: str, expression: str, *, condition: str | None
    ) -> dict[str, Any]:
        """Stop when what the expression names in the frame has changed; its state: `how`, `note`.

        Raises InvalidRequest, EvaluateError for what does not parse, NotSupported.
        """

    @abstractmethod
    async def delete_data_breakpoint(self, number: str) -> None:
        """Stop for it no more. At any time."""

    @abstractmethod
    async def data_breakpoint_states(self) -> dict[str, dict[str, Any]]:
        """By number: `how`, `note`, and `ended` if it watches nothing any more. At any time."""

    @abstractmethod
    async def data_change(self, frame: Frame) -> dict[str, Any] | None:
        """What the thread of this frame has stopped for, if it is a data breakpoint."""

    @abstractmethod
    async def limit_exceptions(self, types: Sequence[str], only_for: Sequence[str]) -> list[str]:
        """Stop at these types of exceptions only, if there are any; the names not known yet.

        only_for: the filters of DAP for which this counts; empty: for all.
        """

    @abstractmethod
    async def exception_holds(self, frame: Frame, condition: str) -> tuple[bool, str | None]:
        """Whether the condition holds of the stop's exception, and what it raised itself."""

    @abstractmethod
    async def set_function_breakpoints(self, breakpoints: Sequence[Breakpoint]) -> None:
        """Replace the function breakpoints, and note what is learned of them at once."""

    @abstractmethod
    async def set_exception_breakpoints(self, setting: ExceptionBreakpoints) -> None:
        """Replace what exceptions the program stops at."""

    # Housekeeping ------------------------------------------------------------------

    @abstractmethod
    async def release(self) -> None:
        """Let go of every value that was shown, so that objects die as without us."""

    @abstractmethod
    async def debug_children(self, socket_path: str, *, workers_only: bool) -> dict[str, Any]:
        """Have the processes that this one makes join the session; before it begins only.

        They connect to the Unix socket at `socket_path`. The answer says whether they can
        (`can_join`), and else why not and what helps (`reason`, `suggestion`).
        """
