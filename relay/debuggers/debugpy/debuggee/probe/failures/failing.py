"""A failure: an exception that has ended something, and the one stop that is made for it.

Whatever learns of one calls `failed`, each as often as it likes: an exception stops once each time
that it is raised. While a
test runs, what a framework answers with an error is no failure yet, for the test may expect it;
it is kept, and shown beside the failure of that test.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.failures.post_mortem import PostMortem, suspend
    from relay.debuggers.debugpy.debuggee.probe.failures.raised_frames import times_raised
    from relay.debuggers.debugpy.debuggee.probe.failures.remote import (
        has_kept_places,
        places_kept,
        remote_entries,
        stated_entries,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.request_names import request_in_traceback
    from relay.debuggers.debugpy.debuggee.probe.failures.warned import (
        Warned,
        places_where_dropped,
        warned_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        debugger,
        debugger_threading,
        is_debugger_file,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.events import send_event
    from relay.debuggers.debugpy.debuggee.probe.hooks.suspensions import make_stop, postpone_in_stop
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.process.paths import absolute_path
    from relay.debuggers.debugpy.debuggee.probe.stops.raises import is_wanted_exception
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact, mro_of

_NO_STOP_EVENT = "relayNoStop"
_MOST_KEPT = 20
_MOST_LEAVES = 50
_LONGEST_OF_RUNNER = 300  # characters of what a runner says
LONGEST_FAREWELL = 2.0
"""Seconds that a process that ends at once may go on for its last word to leave it."""
_MOST_HELD = 8
_PUT_AROUND = (
    ("litestar.exceptions.base_exceptions", "LitestarException"),
    ("hypercorn.utils", "LifespanFailureError"),
    ("ward._errors", "FixtureError"),
    ("ward.errors", "FixtureError"),
)


class _Watch:
    """Whether failures stop, and what is known of those that did."""

    on = False
    test: str | None = None
    """The id of the test that runs, as its runner writes it."""
    home: str | None = None
    """The directory of that test."""
    ran_tests = False
    """Whether there was one: a runner has said by then what has failed."""


_watch = _Watch()
_kept: list[tuple[str, BaseException, Any]] = []  # what ended a request or a job in this test
_stopped: list[Any] = []
"""What leads to an exception that was shown, the test that it failed, whether it is kept alive, and how
often it had been raised by then."""
_raised_later: list[Any] = []  # (message, exception): see `is_raised_later`
_stopped_lock = threading.RLock()
_listeners: list[Callable[[BaseException], None]] = []


def failures_stop(on: bool) -> None:
    """Whether a failure stops the program from now on."""
    _watch.on = on


def has_debugger() -> bool:
    """Whether failures stop here: not in a forked child that is not debugged, nor after the end."""
    py_db = debugger() if _watch.on else None
    return py_db is not None and not py_db.pydb_disposed


# Tests -----------------------------------------------------------------------------------------


def begin_test(name: str | None, home: str | None = None) -> None:
    """A runner starts a test; `name` is its id."""
    if name != _watch.test:
        _kept.clear()
    _watch.test, _watch.home, _watch.ran_tests = name, home, True


def end_test() -> None:
    """It has ended, and what its frameworks answered was its own business."""
    _kept.clear()
    _let_go_of(_watch.test)
    _watch.test = _watch.home = None


def running_test() -> str | None:
    """The id of the test that runs, if one does."""
    return _watch.test


def home_of_running_test() -> str | None:
    """The directory of that test."""
    return _watch.home


def is_in_test() -> bool:
    return _watch.test is not None


def has_run_tests() -> bool:
    return _watch.ran_tests


def kept_errors(error: BaseException) -> list[tuple[str, BaseException, Any]]:
    """(what it ended, exception, traceback) of what failed earlier in the test of this failure."""
    chain = set(map(id, _linked(error)))
    return [one for one in _kept if id(one[1]) not in chain]


# Failures ----------------------------------------------------------------------------------------


def failed(
    error: Any,
    ends: str,
    name: str | None = None,
    *,
    tb: Any = None,
    test: str | None = None,
    explanation: str | None = None,
    expectable: bool = False,
    home: str | None = None,
) -> None:
    """Stop at an exception that has ended something, unless it did so before.

    ends: what: test, thread, task, process, request, command, job, future; `name`: which.
    expectable: a test that caused it may look for just that.
    """
    if not has_debugger() or not _is_exception(error) or _is_no_failure(error, ends, name):
        return
    original = attempt(_original, error, default=error)
    if original is not error:
        error, tb = original, None
    tb = error.__traceback__ if tb is None else tb
    tb = None if has_kept_places(error) else _from_program(tb)
    if not has_place(error, tb) or was_shown(error, test):
        return
    if expectable and is_in_test():
        if len(_kept) < _MOST_KEPT:
            _kept.append((ends, error, tb))
        return
    if debugger_threading().get_ident() in _threads_of_debugger():
        return
    if ends == "request" and name is None:
        name = attempt(request_in_traceback, tb)
    words = {"ends": ends, "ends_name": name, "test": test, "explanation": explanation}
    is_noted = False
    for leaf, leaf_tb, about in _leaves(error, tb):
        if not was_shown(leaf, test) and attempt(is_wanted_exception, type(leaf), default=True):
            _note_shown(leaf, test)
            is_noted = is_noted or leaf is error
            _show(_post_mortem(leaf, leaf_tb, home or _watch.home), dict(words, **about))
    if not is_noted:
        _note_shown(error, test)


def has_place(error: Any, tb: Any) -> bool:
    """Whether it has left a frame, or says in another way where it belongs: a stop can show it."""
    return tb is not None or bool(remote_entries(error) or stated_entries(error))


def failed_without_stop(
    test: str | None, words: Any, frame: Any = None, line: int | None = None
) -> None:
    """A test has failed, or the process outside of one, and nothing was raised that could be shown.

    words: of the runner, as a rule; frame: the one that runs the statement by which it has failed;
    line: where that is, if the frame is over.
    """
    if has_debugger():
        first = exact(str(words)).strip().partition("\n")[0]
        body: Any = {"test": test, "words": first[:_LONGEST_OF_RUNNER]}
        if frame is not None:
            path, name = absolute_path(frame.f_code.co_filename), frame.f_code.co_name
            body["place"] = {"path": path, "line": line or frame.f_lineno, "function": name}
        send_event(debugger(), _NO_STOP_EVENT, body)


def _post_mortem(error: Any, tb: Any, home: str | None) -> PostMortem:
    places = places_where_dropped(error)
    if not places:
        return PostMortem(error, tb, home)
    with places_kept(error, places):
        return PostMortem(error, None, home)


def _show(shown: PostMortem, words: dict[str, Any]) -> None:
    """Suspend this thread at it, or after the stop that it makes just now, of whatever kind."""
    if not postpone_in_stop(lambda: _show(shown, words)):
        make_stop(lambda: suspend(shown, words))


def _original(error: Any) -> Any:
    """The one that a library has put another around, which says no more than that it was there."""
    for message, first in _raised_later:
        if error.args and error.args[0] is message:
            return first
    while (type(error).__module__, type(error).__name__) in _PUT_AROUND:
        inner = error.__cause__ or error.__context__
        package = type(error).__module__.partition(".")[0]
        if inner is None or raised_in(error).partition(".")[0] != package:
            break
        error = inner
    return error


def is_raised_later(error: BaseException, message: str) -> None:
    """A library keeps `error` as text only, and will raise another with this very message for it."""
    _raised_later.append((message, error))


def raised_in(error: Any) -> str:
    """The name of the module whose code raised it; empty where that is not known."""
    tb = getattr(error, "__traceback__", None)
    while tb is not None and tb.tb_next is not None:
        tb = tb.tb_next
    return "" if tb is None else exact(str(tb.tb_frame.f_globals.get("__name__", "")))


def _is_exception(error: Any) -> bool:
    return any(base is BaseException for base in mro_of(type(error)))


def _is_no_failure(error: Any, ends: str, name: str | None) -> bool:
    """What Python itself says nothing of; a runner that reports it as failed means it."""
    if ends == "test" or (ends == "process" and name == "pytest"):
        return False
    bases = mro_of(type(error))
    if any(base in (KeyboardInterrupt, SystemExit) for base in bases):
        return True
    return type(error) is GeneratorExit


def _from_program(tb: Any) -> Any:
    """The traceback from its first frame on that is not the debugger's."""
    while tb is not None and is_debugger_file(tb.tb_frame.f_code.co_filename):
        tb = tb.tb_next
    return tb


def _threads_of_debugger() -> list[int]:
    py_db = debugger()
    return [t.ident for t in (py_db.writer, py_db.reader) if t is not None]


def _leaves(error: Any, tb: Any) -> list[tuple[Any, Any, dict[str, Any]]]:
    """The exceptions of a group, each with its own traceback; one that is no group by itself.

    The last item is what is to be said of it alone: `group`, and its own `explanation`.
    """
    warned = attempt(warned_of, error)
    if warned is not None:
        return [_warned_leaf(error, warned)]
    # Before 3.11 trio, anyio and pytest take those of a package.
    homes = [sys.modules.get(name) for name in ("builtins", "exceptiongroup")]
    kinds = [getattr(home, "BaseExceptionGroup", None) for home in homes]
    group = next((kind for kind in kinds if kind is not None), None)
    if group is None or not any(base is group for base in mro_of(type(error))):
        return [(error, tb, {})]
    found: list[Any] = []  # (leaf, traceback)
    waiting = [(one, tb) for one in error.exceptions]
    while waiting:
        one, around = waiting.pop(0)
        # What was never raised by itself has the place of the innermost group that was.
        own = _from_program(one.__traceback__) or around
        if any(base is group for base in mro_of(type(one))):
            waiting[:0] = [(inner, own) for inner in one.exceptions]
        else:
            found.append((one, own))
    return [
        (leaf, leaf_tb, {"group": _membership(error, number, len(found))})
        for number, (leaf, leaf_tb) in enumerate(found[:_MOST_LEAVES], 1)
    ]


def _warned_leaf(error: Any, warned: Warned) -> tuple[Any, Any, dict[str, Any]]:
    about: dict[str, Any] = {"explanation": warned.words}
    if warned.of > 1:
        about["group"] = _membership(error, warned.number, warned.of)
    return warned.error, _from_program(warned.error.__traceback__), about


def _membership(group: Any, number: int, of: int) -> dict[str, Any]:
    words = attempt(lambda: exact(str(group)), default="")
    return {"message": words[:200], "number": number, "of": of}


def was_shown(error: BaseException, test: str | None = None) -> bool:
    """Whether it has been stopped at; what fails several tests, a fixture say, fails each.

    Not so of an object that was raised anew since: each time it has ended something else.
    """
    times = [
        raised
        for known, other, _, raised in list(_stopped)
        if known() is error and test in (None, other)
    ]
    return bool(times) and attempt(times_raised, error, default=0) <= max(times)


def when_shown(act: Callable[[BaseException], None]) -> None:
    """Call `act` with each exception that was stopped at."""
    _listeners.append(act)


def _note_shown(error: BaseException, test: str | None) -> None:
    """Remember it as long as it lives; of those of which that cannot be known, the last few."""
    import weakref

    for act in _listeners:
        attempt(act, error)
    raised = attempt(times_raised, error, default=0)
    with _stopped_lock:
        _stopped[:] = [one for one in _stopped if one[0]() is not None][-200:]
        try:
            _stopped.append((weakref.ref(error), test, False, raised))
        except TypeError:  # no weak reference leads to a builtin exception
            _stopped.append((lambda: error, test, True, raised))
            strong = [one for one in _stopped if one[2]]
            if len(strong) > _MOST_HELD:
                _stopped.remove(strong[0])


def _let_go_of(test: str | None) -> None:
    """Hold no exception any more that has failed this test: to another one it would be new."""
    with _stopped_lock:
        _stopped[:] = [one for one in _stopped if not (one[1] == test is not None and one[2])]


def forget_failures() -> None:
    """No more stops: what the failures keep alive is to die as it would without a debugger."""
    failures_stop(False)
    _kept.clear()
    _raised_later.clear()
    with _stopped_lock:
        _stopped.clear()


def _linked(error: Any) -> list[Any]:
    found: list[Any] = []
    while error is not None and not any(known is error for known in found):
        found.append(error)
        error = error.__cause__ or error.__context__
    return found
