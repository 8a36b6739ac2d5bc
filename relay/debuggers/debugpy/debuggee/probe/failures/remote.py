"""Places that are no frames of this process, and are known from what an exception says of them.

A file that cannot be parsed is one, and an example of a doctest. Others are those of another process:
`concurrent.futures` and `multiprocessing.Pool` send an exception without its frames, and the text
of its traceback as its cause; so does joblib from its threads. Twisted before 24.10 takes the frames away, and keeps their places.
"""

from __future__ import annotations

import contextlib
import re
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from relay.debuggers.debugpy.debuggee.probe.failures.example_lines import is_run_of_xdoctest
    from relay.debuggers.debugpy.debuggee.probe.failures.listening import calling_frame
    from relay.debuggers.debugpy.debuggee.probe.failures.raised_frames import TracebackEntry
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt, frame_at
    from relay.debuggers.debugpy.debuggee.probe.process.paths import absolute_path, is_file
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact, name_of

_FRAME_LINE = re.compile(r'^  File "(.+)", line (\d+), in (.+)$', re.MULTILINE)


class RemoteFrame:
    """Looks like a frame that has gone on, or like one whose locals are those that are given."""

    def __init__(
        self,
        path: str,
        line: int,
        name: str,
        locals_: dict[str, Any] | None = None,
        globals_: dict[str, Any] | None = None,
    ) -> None:
        self.f_code = types.SimpleNamespace(
            co_filename=path, co_name=name, co_qualname=name, co_firstlineno=line, co_flags=0
        )
        self.f_globals: dict[str, Any] = globals_ or {
            "__name__": "",
            "__builtins__": sys.modules["builtins"],
        }
        self.f_locals: dict[str, Any] = {} if locals_ is None else locals_
        self.f_builtins = vars(sys.modules["builtins"])
        self.f_lineno = line
        self.f_lasti = -1
        self.f_back = self.f_trace = None
        self.moved_on = locals_ is None
        self.is_elsewhere = False  # of another process, or of a thread that sends as one does


_kept_places: dict[int, list[Any]] = {}  # by the address of an exception


@contextlib.contextmanager
def places_kept(error: Any, places: list[Any]) -> Iterator[None]:
    """While it lasts, the exception's places are these: (path, line, function), outermost first.

    A place may have the locals and globals of then as well, and the exception a traceback, which
    counts no longer.
    """
    _kept_places[id(error)] = places
    try:
        yield
    finally:
        del _kept_places[id(error)]


def has_kept_places(error: Any) -> bool:
    """Whether its places are known otherwise than by its traceback."""
    return bool(_kept_places.get(id(error)))


def is_remote_text(error: Any) -> bool:
    """Whether it is no exception of its own, but the text of another's traceback."""
    return name_of(type(error)) in ("RemoteTraceback", "_RemoteTraceback")


def remote_entries(error: Any) -> list[TracebackEntry]:
    """The frames that are not here, outermost first; none if the exception has its own."""
    places = list(_kept_places.get(id(error), []))
    cause = error.__cause__
    if is_remote_text(cause):
        text = cause.tb if type(cause.tb) is str else ""
        # The text has the causes first, each with a traceback of its own.
        last = text.rpartition("Traceback (most recent call last):")[2]
        places = [(path, int(line), name) for path, line, name in _FRAME_LINE.findall(last)]
    frames = [RemoteFrame(*place) for place in places]
    is_elsewhere = is_remote_text(cause)
    for frame in frames:
        frame.is_elsewhere = is_elsewhere
    return [TracebackEntry(frame, frame.f_lineno, moved_on=frame.moved_on) for frame in frames]


def stated_entries(error: Any) -> list[TracebackEntry]:
    """The line of a file that the exception itself names: what is no Python there, the example of a
    document that gave something else, a cell that nbval has run, who asked pytest for a fixture that is
    not there, or a test or fixture with which pytest is not content. None for any other.
    """
    shown: dict[str, Any] = {}
    if isinstance(error, SyntaxError):
        path, line, name = error.filename, error.lineno, "<module>"
    elif name_of(type(error)) == "DocTestFailure":
        test, example = error.test, error.example
        path, name = test.filename, str(test.name)
        # Where doctest does not know the line it is the file that counts.
        line = 1 if test.lineno is None else test.lineno + example.lineno + 1
        shown = {"want": example.want, "got": error.got}
    elif name_of(type(error)) == "GotWantException":
        path, line, name = _part_of_example(error.__traceback__)
        shown = {"want": error.want, "got": error.got}
    elif name_of(type(error)) == "SybilFailure":
        path, line, name = error.example.path, error.example.line, "<module>"
    elif name_of(type(error)) == "FixtureLookupError":
        code = _asker_of_fixture(error).__code__
        path, line, name = code.co_filename, code.co_firstlineno, code.co_name
    elif name_of(type(error)) == "NbCellError":
        path, line, name, shown = _cell_that_failed(error)
    elif (code := attempt(_code_of_test, error)) is not None:
        path, line, name = code.co_filename, code.co_firstlineno, code.co_name
    else:
        return []
    if type(path) is not str or type(line) is not int or not is_file(path):
        return []
    return [TracebackEntry(RemoteFrame(path, line, name, shown), line)]


def _part_of_example(tb: Any) -> tuple[Any, Any, str]:
    """(path, line, name) of the last statement of what xdoctest has run, which gave something else."""
    while tb is not None and not is_run_of_xdoctest(tb.tb_frame.f_code):
        tb = tb.tb_next
    if tb is None:
        return None, None, ""
    example, part = tb.tb_frame.f_locals["self"], tb.tb_frame.f_locals["part"]
    line = example.lineno + part.line_offset + part.n_exec_lines - 1
    return absolute_path(str(example.fpath)), line, exact(str(example.callname))


def _cell_that_failed(error: Any) -> tuple[str, int, str, dict[str, Any]]:
    """(path, line, name, what is shown of it): the kernel is another process, and gave a text in colours."""
    tb, path = error.__traceback__, ""
    while tb is not None and not path:
        path = attempt(_path_of_item, tb.tb_frame.f_locals.get("self")) or ""
        tb = tb.tb_next
    source = exact(error.source)
    said = re.sub(r"\x1b\[[0-9;]*m", "", exact(error.inner_traceback or ""))
    marked = re.search(r"^-+> (\d+)", said, re.MULTILINE)
    line = attempt(_line_of_cell, path, source, default=1)
    if line > 1 and marked is not None:
        line += int(marked.group(1)) - 1
    last = said.strip().rpartition("\n")[2]
    return path, line, f"Cell {error.cell_num}", {"cell": source, "said": last}


def _path_of_item(item: Any) -> str:
    return exact(str(item.parent.path))


def _line_of_cell(path: str, source: str) -> int:
    """Where the notebook's file has this source, each line of it as a text of JSON; 1 where several have."""
    import json

    wanted = [json.dumps(row, ensure_ascii=False) for row in source.splitlines(keepends=True)]
    with open(path, encoding="utf-8") as file:
        rows = [row.strip().rstrip(",") for row in file]
    found = [i for i in range(len(rows)) if rows[i : i + len(wanted)] == wanted]
    return found[0] + 1 if len(found) == 1 else 1


def _asker_of_fixture(error: Any) -> Any:
    """The function of a fixture or of a test, whose argument pytest has nothing for."""
    import inspect

    fixtures = error.fixturestack
    asker = fixtures[-1].func if fixtures else error.request._pyfuncitem.obj
    return inspect.unwrap(getattr(asker, "__func__", asker))


# Where pytest itself raises, and of whose function: what it calls there is none of these modules'.
_COMPLAINS: dict[tuple[str, str], Callable[[dict[str, Any]], Any]] = {
    ("_pytest.python", "pytest_pyfunc_call"): lambda names: names["pyfuncitem"].obj,
    ("_pytest.python", "pytest_generate_tests"): lambda names: names["metafunc"].function,
    ("_pytest.fixtures", "call_fixture_func"): lambda names: names["fixturefunc"],
    ("_pytest.fixtures", "_teardown_yield_fixture"): lambda names: names["fixturefunc"],
    ("_pytest.fixtures", "_check_scope"): lambda names: _asking_fixture(names).func,
}


def _asking_fixture(names: dict[str, Any]) -> Any:
    """The one that asks for another of a smaller scope: before pytest 8 the request is of the other."""
    request = names["self"]
    return (request if "requested_fixturedef" in names else request._parent_request)._fixturedef


def _code_of_test(error: Any) -> Any:
    """Of the test or fixture with which pytest itself is not content: it is async and nothing can run
    it, it returns something or yields twice, its parameters or scopes do not fit. None where any other
    code has raised.
    """
    import inspect

    tb, found = error.__traceback__, None
    while tb is not None:
        module = exact(str(tb.tb_frame.f_globals.get("__name__", "")))
        subject = _COMPLAINS.get((module, tb.tb_frame.f_code.co_name))
        if subject is not None:
            found = subject(tb.tb_frame.f_locals)
        elif found is not None and not module.startswith("_pytest."):
            return None
        tb = tb.tb_next
    if found is None:
        return None
    function = inspect.unwrap(getattr(found, "__func__", found))
    return getattr(function, "__code__", None)


def traceback_here() -> Any:
    """A traceback for whoever needs one: of the frame that learned of the exception."""
    frame = calling_frame() or frame_at()
    return types.TracebackType(None, frame, frame.f_lasti, frame.f_lineno)
