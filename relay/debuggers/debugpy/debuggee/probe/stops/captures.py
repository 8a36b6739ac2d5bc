"""Captures: what expressions were worth at each hit of a breakpoint that never stops.

Values become text or numbers at once, in the thread that hits, since objects change; nobody is
asked on the way. Rows wait here for a quarter of a second at most while others follow, and go to
the relay in batches. There are never more of them than `_MOST_ROWS`: while the relay does not
read, the oldest go, and the numbers of the rows show how many.
"""

from __future__ import annotations

import ast
import collections
import itertools
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.expressions import mangled
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        debugger,
        debugger_threading,
        pull_locals,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.events import send_event
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt, exception_line
    from relay.debuggers.debugpy.debuggee.probe.process.outside import is_from_outside
    from relay.debuggers.debugpy.debuggee.probe.stops.asked_expressions import (
        NOT_KNOWN,
        AskedExpression,
    )
    from relay.debuggers.debugpy.debuggee.probe.stops.breakpoints import has_patched_conditions
    from relay.debuggers.debugpy.debuggee.probe.values.secrets import (
        MASK,
        clean,
        clean_text,
        holds_text,
        is_secret_expression,
        reveal_in_call,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.text import text_of
    from relay.debuggers.debugpy.debuggee.probe.values.types import Plan, mro_of, name_of, plan_of

CAPTURES_EVENT = "relayCaptures"
_CAPTURES_EVERY = 0.25  # seconds between two reports
_ROOM = 200  # characters of one value
_MOST_ROWS = 5000  # that wait to be reported, for each breakpoint
_MOST_TEXT = 4_000_000  # characters of texts in them; a row beyond is lost
_BATCH_ROWS, _BATCH_TEXT = 250, 100_000  # reported at once, whatever the time
_BACKLOG = 64  # commands that wait for the debugger's writer: the relay does not read
_FEW = 10  # items of a list that is shown without further ado
_MOST_COMPLAINTS = 3
_NUMBERS = (("decimal", "Decimal"), ("fractions", "Fraction"), ("numpy", "generic"))
_INFINITY = float("inf")


class _Column(NamedTuple):
    """An expression, for the frames of one code."""

    function: Any
    """Of the frame; None where there is none."""
    expression: AskedExpression
    is_secret: bool
    """Whether it names one."""


class _Capture:
    """One breakpoint's expressions, and the rows that are not reported yet."""

    def __init__(self, name: str, mark: int, expressions: list[list[str]], reveal: bool) -> None:
        self.name, self.mark, self.reveal = name, mark, reveal
        self.expressions = expressions  # (as written, as it is evaluated)
        # By the code and the globals of the frames that they are for.
        self.prepared: tuple[Any, Any, list[_Column]] = (None, None, [])
        self.runs_code = any("(" in source for source, _ in expressions)
        self.numbers = itertools.count()
        self.rows: Any = collections.deque()  # (characters of the texts in it, row)
        self.size = 0  # characters of texts in all rows, roughly: threads may change it at once
        self.complaints = 0  # of its condition, which may raise at each of a million hits

    def columns_for(self, frame: Any) -> list[_Column]:
        """For frames of this one's code and globals; private names are those of its class."""
        columns = [self._column(source, text, frame) for source, text in self.expressions]
        self.prepared = frame.f_code, frame.f_globals, columns
        return columns

    def _column(self, source: str, text: str, frame: Any) -> _Column:
        expression = _asked_expression(text, frame)
        is_secret = not self.reveal and is_secret_expression(source)
        return _Column(expression.function_for(frame), expression, is_secret)

    def add(self, row: list[Any], size: int) -> None:
        """A row with so many characters of texts: lost where there is no room for more texts."""
        if self.size >= _MOST_TEXT:
            return
        if len(self.rows) >= _MOST_ROWS:
            self.take(1)
        self.rows.append((size, row))
        self.size += size

    def take(self, most: int) -> list[list[Any]]:
        """The oldest rows; they do not wait any more."""
        rows: list[list[Any]] = []
        take = self.rows.popleft  # in C: no other thread's row is lost between
        try:
            while len(rows) < most:
                size, row = take()
                self.size -= size
                rows.append(row)
        except IndexError:
            self.size = 0
        return rows


captures_by_name: dict[str, _Capture] = {}  # by the relay's names
_captured_at = [0.0]  # when rows were reported last; 0: the next row is reported at once
_capturing = threading.local()
_reporting = [threading.Lock()]
_forgets_at_fork: list[bool] = []


def set_captures(captures: list[dict[str, Any]], anew: bool = False) -> dict[str, Any]:
    """From now on these breakpoints capture, and no others. `anew`: nothing of before counts."""
    chosen = {one["name"]: _Capture(**one) for one in captures}
    report_captures()
    for name, capture in chosen.items():
        known = None if anew else captures_by_name.get(name)
        if known is not None and known.mark == capture.mark:
            chosen[name] = known
    captures_by_name.clear()
    captures_by_name.update(chosen)
    return {"can": has_patched_conditions(debugger())}


def forget_captures_at_fork() -> None:
    """The parent reports its rows; a child that is debugged, too, learns later what to capture."""
    if hasattr(os, "register_at_fork") and not _forgets_at_fork:
        _forgets_at_fork.append(True)
        os.register_at_fork(after_in_child=_forget_captures)


def _forget_captures() -> None:
    captures_by_name.clear()
    _reporting[0] = threading.Lock()
    _capturing.__dict__.clear()


def captures_here(name: str | None, frame: Any) -> bool:
    """Record a row if this breakpoint captures. Whatever it raises, the program goes on."""
    capture = captures_by_name.get(name)  # type: ignore[arg-type]
    if capture is None:
        return False
    try:
        _record(capture, frame)
    except BaseException as error:
        if is_from_outside(error):
            raise  # it is the program's, and only fell in here: it goes on to the line that hit
    return True


def complains_here(name: str | None) -> bool:
    """Whether what this breakpoint's condition raised is reported: if it captures, a few times."""
    capture = captures_by_name.get(name)  # type: ignore[arg-type]
    if capture is None:
        return True
    capture.complaints += 1
    return capture.complaints <= _MOST_COMPLAINTS


def _record(capture: _Capture, frame: Any) -> None:
    code, space, columns = capture.prepared
    if code is not frame.f_code or space is not frame.f_globals:
        columns = capture.columns_for(frame)
    now = time.time()
    number = getattr(_capturing, "thread_id", None)
    row: list[Any] = [next(capture.numbers), number or _own_thread_id(), now]
    size = 0
    if capture.reveal:
        reveal_in_call(True)
    try:
        # Each call of a function counts here: loops come by.
        for function, expression, is_secret in columns:
            try:
                value = NOT_KNOWN if function is None else function(frame)
                if value is NOT_KNOWN:
                    value = expression.value_for_client(frame)
            except BaseException as error:
                if is_from_outside(error):
                    raise
                cell = _error_cell(error, is_secret)
            else:
                is_bare = -(2**63) < value < 2**63 if type(value) is int else _is_bare(value)
                if is_bare and not is_secret:
                    row.append(value)
                    continue
                cell = _cell(value, is_secret)
            row.append(cell)
            size += len(cell[1])
    finally:
        if capture.reveal:
            reveal_in_call(False)
    if capture.runs_code:
        pull_locals(frame)
    capture.add(row, size)
    full = len(capture.rows) >= _BATCH_ROWS or capture.size >= _BATCH_TEXT
    if full or now - _captured_at[0] > _CAPTURES_EVERY or now < _captured_at[0]:
        attempt(report_captures, False)


def _is_bare(value: Any) -> bool:
    """Whether JSON has it as it is: a number of at most 64 bits, True, False or None."""
    kind = type(value)
    if kind is int:
        return bool(-(2**63) < value < 2**63)
    if kind is float:
        return bool(-_INFINITY < value < _INFINITY)
    return value is None or kind is bool


def _asked_expression(text: str, frame: Any) -> AskedExpression:
    name = "<capture>"
    try:
        return AskedExpression(mangled(ast.parse(text.strip(), name, "eval"), text, frame), name)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        # The relay has looked; but a debuggee may be asked by another.
        shown = f"SyntaxError({exception_line(error)!r})"
        return AskedExpression(ast.parse(f"(_ for _ in ()).throw({shown})", name, "eval"), name)


def _own_thread_id() -> int:
    """The number that DAP has for this thread, from 1; kept as `_capturing.thread_id`."""
    pydevd = sys.modules["pydevd"]
    schema = sys.modules["_pydevd_bundle._debug_adapter.pydevd_base_schema"].BaseSchema
    thread = pydevd.get_current_thread_id(debugger_threading().current_thread())
    number = _capturing.thread_id = int(schema._translate_id_to_dap(thread))
    return number


# A cell that is not a plain number, True, False or None is [type, text, number, flags]:
# e an error, n not a number or infinite, t cut, r masked.


def _cell(value: Any, secret: bool) -> list[Any]:
    plan = plan_of(value)
    if secret and holds_text(value, plan):
        return [plan.name, MASK, None, "r"]
    if _is_simple(value):  # the commonest, without the machinery for all the others
        shown = repr(value)
        if len(shown) <= _ROOM:
            return [plan.name, shown, None, ""]
    text, cut, masked = text_of(value, plan, _ROOM)
    number = attempt(_number_of, value, plan)
    flags = ("t" if cut else "") + ("r" if masked else "")
    if number is not None and not -_INFINITY < number < _INFINITY:
        number, flags = None, flags + "n"
    return [plan.name[:_ROOM], text[: _ROOM + 20], number, flags]


def _is_simple(value: Any) -> bool:
    """A short text, or a short list of numbers: nothing in it has a name or code of its own."""
    kind = type(value)
    if kind is str:
        return len(value) < _ROOM and clean_text(value) is value
    return kind is list and len(value) <= _FEW and all(map(_is_bare, value))


def _number_of(value: Any, plan: Plan) -> float | None:
    """The number in it, if it is one; asks types of known modules only."""
    if plan.base is float:
        return float.__float__(value)
    if plan.base is int and plan.cls is not bool:
        number = int.__int__(value)
        return number if -(2**63) < number < 2**63 else float(number)
    for cls in plan.mro:
        module = str(cls.__dict__.get("__module__", "")).partition(".")[0]
        if (module, name_of(cls)) in _NUMBERS:
            return None if plan.name.startswith(("bool", "complex")) else float(value)
    return None


def _error_cell(error: BaseException, secret: bool) -> list[Any]:
    error.__traceback__ = None  # it holds the frame
    line = clean(exception_line(error))
    name = str(name_of(mro_of(type(error))[0]))
    text = f"{name}: {MASK}" if secret else line[:_ROOM]
    return [name[:_ROOM], text, None, "er" if secret else "e"]


# Reporting


def report_captures(at_once: bool = True) -> dict[str, Any]:
    """Hand the rows to the debugger's writer, in batches; at_once: however many wait there."""
    py_db = debugger()
    if py_db is None:
        return {"reported": 0}
    waiting = attempt(lambda: py_db.writer._cmd_queue.qsize(), default=0)
    if not at_once and waiting > _BACKLOG:
        return {"reported": 0}
    if at_once and not any(capture.rows for capture in list(captures_by_name.values())):
        _captured_at[0] = 0.0  # the row that comes next begins a new quarter of a second
    # One thread at a time: at the end nobody may have rows in hand that are not queued yet.
    got = _reporting[0].acquire(timeout=1 if at_once else 0)
    try:
        return {"reported": _report_all(py_db) if got or at_once else 0}
    finally:
        if got:
            _reporting[0].release()


def _report_all(py_db: Any) -> int:
    reported = 0
    for capture in list(captures_by_name.values()):
        for _ in range(_MOST_ROWS // _BATCH_ROWS):  # and not for as long as others add to them
            rows = capture.take(_BATCH_ROWS)
            if rows:
                reported += len(rows)
                _send_rows(py_db, capture, rows)
    if reported:
        _captured_at[0] = time.time()
    return reported


def _send_rows(py_db: Any, capture: _Capture, rows: list[list[Any]]) -> None:
    # Column by column, and times as whole numbers: JSON takes a third of the time for that.
    numbers, threads, times, *values = zip(*rows)  # noqa: B905  Python 3.8
    whole = [int(seconds * 1e6) for seconds in times]
    body = {
        "name": capture.name,
        "mark": capture.mark,
        "columns": [numbers, threads, whole, *values],
    }
    send_event(py_db, CAPTURES_EVENT, body)
