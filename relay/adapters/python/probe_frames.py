"""Frames as the probe finds them: locals to read and write, exceptions, evaluated expressions.

Knows what pydevd holds still and how each Python version lets a frame be changed. Refuses to
know references and answers. Part of `probe.py`, which says what holds for the whole probe.
"""
# ruff: noqa: BLE001
# Broad excepts are the trade here: whatever the program's objects raise is an answer.

from __future__ import annotations

import ast
import itertools
import os
import sys
import textwrap
import traceback
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from relay.adapters.python.probe_guard import Interrupted, TroubleError, attempt, exception_line
    from relay.adapters.python.probe_scopes import items_of, local_items
    from relay.adapters.python.probe_types import exact, full_name, mro_of, name_of, namespace_of

_PROXIES = sys.version_info >= (3, 13)  # f_locals writes through


def debugger() -> Any:
    constants = sys.modules.get("_pydevd_bundle.pydevd_constants")
    get = getattr(constants, "get_global_debugger", None)
    return get() if get is not None else None


def _object_id(dap_id: int) -> Any:
    """pydevd numbers objects anew for DAP; behind the number of a frame stands id(frame)."""
    schema = sys.modules.get("_pydevd_bundle._debug_adapter.pydevd_base_schema")
    known = getattr(getattr(schema, "BaseSchema", None), "_dap_id_to_obj_id", {})
    return known.get(dap_id, dap_id)


def find_frame(frame_id: Any) -> Any:
    """The frame that DAP calls `frame_id`."""
    if type(frame_id) is not int:
        raise TroubleError("stale_frame", f"A frame id is an integer, not {frame_id!r}")
    frame_id = _object_id(frame_id)
    try:
        py_db = debugger()
        thread = py_db.suspended_frames_manager.get_thread_id_for_variable_reference(frame_id)
        frame = py_db.find_frame(thread, frame_id)
    except AttributeError:
        frame = next((f for f in _live_frames() if id(f) == frame_id), None)
    if frame is None:
        raise TroubleError("stale_frame", f"No suspended frame has the id {frame_id} now")
    return frame


def find_live_frame(frame_id: int) -> Any:
    """The frame, also of a thread that blocks in C: before 3.12 the debugger keeps none of it."""
    known = attempt(find_frame, frame_id, default=None)
    if known is not None:
        return known
    return next((f for f in _live_frames() if id(f) == _object_id(frame_id)), None)


def _live_frames() -> Iterator[Any]:
    """Every frame on a stack, and those that only a traceback keeps (post-mortem stops)."""
    for top in list(sys._current_frames().values()):
        frame: Any = top
        while frame is not None:
            yield frame
            found = attempt(lambda f=frame: f.f_locals.get("__exception__"))
            tb = found[2] if type(found) is tuple and len(found) == 3 else None
            while type(tb) is types.TracebackType:
                yield tb.tb_frame
                tb = tb.tb_next
            frame = frame.f_back


def _push_locals(frame: Any, clear: bool = False) -> None:
    """Below 3.13 f_locals is a copy: write it back into the frame."""
    if _PROXIES:
        return
    import ctypes

    frame = getattr(frame, "_base_frame", frame)
    if type(frame) is types.FrameType:
        push = ctypes.pythonapi.PyFrame_LocalsToFast
        push(ctypes.py_object(frame), ctypes.c_int(1 if clear else 0))


def pull_locals(frame: Any) -> None:
    """Below 3.13 a tracing debugger writes f_locals back when it resumes. Had the expression
    changed a variable of a closure, that would undo it: take the new values in first."""
    if _PROXIES:
        return
    getattr(frame, "f_locals", None)
    top: Any = sys._getframe()
    while top is not None and is_debugger_file(top.f_code.co_filename):
        top = top.f_back
    getattr(top, "f_locals", None)


def write_locals(frame: Any, changed: dict[str, Any], removed: Iterable[str] = ()) -> None:
    f_locals = frame.f_locals
    for name, value in changed.items():
        f_locals[name] = value
    cleared = False
    for name in removed:
        try:
            del f_locals[name]
        except ValueError:
            raise ValueError(f"Python cannot delete the variable {name!r} of a function") from None
        cleared = True
    _push_locals(frame, cleared)


def _home_dirs() -> tuple[str, ...]:
    # Sent to a debuggee, the probe's files have names of this form: see `probe_calls.injection`.
    homes = [os.path.dirname(__file__) if "__file__" in globals() else "<debug relay>"]
    for name in ("pydevd", "debugpy"):
        file = getattr(sys.modules.get(name), "__file__", None)
        if file:
            homes.append(os.path.dirname(os.path.abspath(file)))
    return tuple(home + os.sep for home in homes)


_OWN_FILE = _home_dirs.__code__.co_filename
_homes = _home_dirs()


def is_debugger_file(filename: str) -> bool:
    return filename == _OWN_FILE or filename.startswith(_homes or "\0")


def current_exception(frame: Any) -> tuple[Any, Any]:
    """(exception, traceback) of the frame's thread, or (None, None)."""
    found = attempt(lambda: frame.f_locals.get("__exception__"))
    if type(found) is tuple and len(found) == 3 and found[0] is not None:
        return found[1], found[2]
    return attempt(_tracked_exception, frame, default=(None, None))  # type: ignore[no-any-return]


def _tracked_exception(frame: Any) -> tuple[Any, Any]:
    manager = debugger().suspended_frames_manager
    thread = manager.get_thread_id_for_variable_reference(id(frame))
    frames = manager.get_frames_list(thread)
    return frames.exc_desc, frames.trace_obj


def exception_head(value: Any, room: int) -> dict[str, Any]:
    message = attempt(lambda: exact(str(value)), default="<str() failed>")
    cls = type(value)
    head = {"type": name_of(cls), "full_type": full_name(cls), "message": message[:room]}
    return dict(head, truncated=True) if len(message) > room else head


def exception_chain(value: Any, room: int) -> list[dict[str, Any]]:
    """Causes and contexts, nearest first, as Python would print them."""
    chain: list[dict[str, Any]] = []
    seen = [value]
    while len(chain) < 20:
        namespace = BaseException.__dict__
        link, relation = namespace["__cause__"].__get__(value), "cause"
        if link is None and not namespace["__suppress_context__"].__get__(value):
            link, relation = namespace["__context__"].__get__(value), "context"
        if link is None or any(known is link for known in seen):
            break
        chain.append(dict(exception_head(link, room), relation=relation))
        seen.append(link)
        value = link
    return chain


def traceback_text(value: Any, tb: Any, most: int = 20_000) -> str:
    """As plain Python would print it, were it not caught and not debugged."""
    try:
        report = traceback.TracebackException(type(value), value, tb)
        entries = list(_outer_entries(tb)) + _tb_entries(tb)
        while entries and _is_bottom(entries[0][0]):
            del entries[0]
        entries = [e for e in entries if not is_debugger_file(e[0].f_code.co_filename)]
        report.stack = traceback.StackSummary.from_list([_summary(*e) for e in entries])
        text = "".join(report.format())
    except Interrupted:
        raise
    except BaseException as error:
        text = f"{exception_line(value)}\n(no traceback: {exception_line(error)})"
    if len(text) > most:
        text = text[: most // 2] + "\n  ...\n" + text[-most // 2 :]
    return text


def _outer_entries(tb: Any) -> list[tuple[Any, int, int]]:
    """Callers of the frame where the traceback starts: an exception just raised has only it."""
    frame = tb.tb_frame.f_back if tb is not None else None
    found = []
    while frame is not None:
        found.append((frame, frame.f_lineno, frame.f_lasti))
        frame = frame.f_back
    return found[::-1]


def _tb_entries(tb: Any) -> list[tuple[Any, int, int]]:
    found = []
    while tb is not None:
        found.append((tb.tb_frame, tb.tb_lineno, tb.tb_lasti))
        tb = tb.tb_next
    return found


def _is_bottom(frame: Any) -> bool:
    name = frame.f_code.co_filename
    if is_debugger_file(name) or name == "<frozen runpy>":
        return True
    base, function = os.path.basename(name), str(frame.f_code.co_name)
    return base == "runpy.py" or (base == "threading.py" and function == "_bootstrap")


def _summary(frame: Any, line: int, offset: int) -> Any:
    code = frame.f_code
    more = {}
    if hasattr(code, "co_positions"):  # 3.11: the markers under the line
        spot = next(itertools.islice(code.co_positions(), offset // 2, None), None)
        if spot is not None:
            more = {"end_lineno": spot[1], "colno": spot[2], "end_colno": spot[3]}
    import linecache

    linecache.lazycache(code.co_filename, frame.f_globals)
    return traceback.FrameSummary(code.co_filename, line, code.co_name, **more)


def is_path(source: str) -> bool:
    return all(part.isidentifier() for part in source.split("."))


def raised_answer(error: BaseException) -> dict[str, Any]:
    tb = error.__traceback__
    while tb is not None and is_debugger_file(tb.tb_frame.f_code.co_filename):
        tb = tb.tb_next
    line = exception_line(error)
    # Not format_exception: from 3.13 on that imports a module to guess at misspelt names.
    entries = attempt(traceback.format_tb, tb, -20, default=[])
    answer = {
        "exception": line[:4000],
        "exception_type": name_of(type(error)),
        "traceback": "".join(["Traceback (most recent call last):\n", *entries, line])[-20_000:],
    }
    # The traceback holds the evaluated frame's namespaces: do not let the error keep them.
    error.__traceback__ = None
    return answer


def compile_source(source: str, statements: bool, frame: Any) -> tuple[Any, Any]:
    """(statements or None, last expression or None) as code objects."""
    name = "<evaluate>"
    try:
        if not statements:
            tree = mangled(ast.parse(source.strip(), name, "eval"), source, frame)
            return None, compile(tree, name, "eval", 0, True)
        tree = mangled(ast.parse(textwrap.dedent(source).strip("\n"), name, "exec"), source, frame)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        body = compile(tree, name, "exec", 0, True) if tree.body else None
        return body, last and compile(ast.Expression(last.value), name, "eval", 0, True)
    except SyntaxError as error:
        where = {"line": error.lineno, "offset": error.offset, "text": error.text}
        raise TroubleError("syntax", str(error.msg), **where) from None
    except (ValueError, MemoryError, RecursionError, OverflowError) as error:
        raise TroubleError("syntax", exception_line(error), line=None, offset=None) from None


def mangled(tree: Any, source: str, frame: Any) -> Any:
    owner = _class_name(frame) if frame is not None and "__" in source else None
    if not owner:
        return tree
    for node in ast.walk(tree):
        for field in ("attr", "id"):
            name = getattr(node, field, "")
            if isinstance(name, str) and name.startswith("__") and not name.endswith("__"):
                setattr(node, field, "_{}{}".format(owner.lstrip("_"), name))
    return tree


def _class_name(frame: Any) -> str | None:
    """The class in whose body the frame's code was written: its private names are mangled."""
    code = frame.f_code
    qualified = getattr(code, "co_qualname", None)
    if qualified is not None:
        parts = qualified.split(".")
        pairs = zip(parts[-2::-1], parts[:0:-1])  # noqa: B905
        return next((a for a, b in pairs if a != "<locals>" and b != "<locals>"), None)
    first = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
    for cls in mro_of(first if type(first) is type else type(first)):
        for found in namespace_of(cls).values():
            if getattr(found, "__code__", None) is code:
                return str(name_of(cls))
    return None


def run_code(codes: tuple[Any, Any], frame: Any) -> Any:
    if frame is None:
        return _execute(codes, sys.modules["__main__"].__dict__)
    f_globals, f_locals = frame.f_globals, frame.f_locals
    if f_locals is f_globals:
        return _execute(codes, f_globals)
    # Lambdas and comprehensions see globals only: give them one namespace with everything.
    space = dict(f_globals)
    space.update(items_of(f_locals))
    space.setdefault("globals", lambda: frame.f_globals)
    space.setdefault("locals", lambda: dict(local_items(frame)))
    before = dict(space)
    del f_locals
    try:
        return _execute(codes, space)
    finally:
        _write_back(frame, before, space, _declared_globals(codes))


def _execute(codes: tuple[Any, Any], space: dict[str, Any]) -> Any:
    statements, expression = codes
    if statements is not None:
        exec(statements, space)
    return eval(expression, space) if expression is not None else None


def _declared_globals(codes: tuple[Any, Any]) -> frozenset[str]:
    """Names under a `global` statement: STORE_GLOBAL at the top level of the code."""
    import dis

    found = (
        [i.argval for i in dis.get_instructions(codes[0]) if i.opname == "STORE_GLOBAL"]
        if codes[0]
        else []
    )
    return frozenset(found)


def _write_back(frame: Any, before: dict[str, Any], space: dict[str, Any], declared: Any) -> None:
    changed = {n: v for n, v in space.items() if n not in before or before[n] is not v}
    removed = [name for name in before if name not in space]
    changed.pop("__builtins__", None)
    if not changed and not removed:
        return
    mine = {name for name, _ in items_of(frame.f_locals)}.union(
        *(getattr(frame.f_code, part, ()) for part in ("co_varnames", "co_cellvars", "co_freevars"))
    )
    f_globals = frame.f_globals
    local = {}
    for name, value in changed.items():
        # A name that the frame's code reads as a global means that global.
        if name in declared or (name not in mine and name in f_globals):
            f_globals[name] = value
        else:
            local[name] = value
    for name in removed:
        if name not in mine:
            f_globals.pop(name, None)
    write_locals(frame, local, [name for name in removed if name in mine])
