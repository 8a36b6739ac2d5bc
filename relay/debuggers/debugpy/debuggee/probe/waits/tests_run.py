"""Which test a thread runs, by the frames of pytest, unittest and trial on its stack; nothing of them is called."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.namespaces import items_of
    from relay.debuggers.debugpy.debuggee.probe.values.types import full_name
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import stored_field


_CASES = (("unittest", "case.py"), ("twisted", "trial", "_synctest.py"))
"""Where cases of unittest, and those of twisted's trial, which are others, run."""
_FIXTURES = {
    # function of unittest's suites: (the local that has what it is of, what it calls there)
    "_handleClassSetUp": ("currentClass", "setUpClass"),
    "_tearDownPreviousClass": ("previousClass", "tearDownClass"),
    "_handleModuleFixture": ("currentModule", "setUpModule"),
    "_handleModuleTearDown": ("previousModule", "tearDownModule"),
}


def test_run_in(frames: list[Any]) -> str | None:
    """The test that a stack runs, the innermost of several, by the id that its runner has for it."""
    for number, frame in enumerate(frames):
        if runs_test_of_pytest(frame):
            return _id_of_item(dict(items_of(frame.f_locals)).get("item"))
        is_case = any(_is_of(frame, "run", *file) for file in _CASES)
        if is_case and not any(map(runs_test_of_pytest, frames[number:])):  # which names it itself
            case = dict(items_of(frame.f_locals)).get("self")
            method = stored_field(case, "_testMethodName")
            return f"{full_name(type(case))}.{method}" if type(method) is str else None
        if (fixture := _fixture_of_suite(frame)) is not None:
            return fixture
    return None


def _fixture_of_suite(frame: Any) -> str | None:
    """What unittest runs ahead of the tests of a class or a module, or after them, as `module.Class.setUpClass`."""
    name, called = _FIXTURES.get(frame.f_code.co_name, ("", ""))
    if not name or not _is_of(frame, frame.f_code.co_name, "unittest", "suite.py"):
        return None
    owner: Any = dict(items_of(frame.f_locals)).get(name)
    return f"{owner if type(owner) is str else full_name(owner)}.{called}"


def runs_test_of_pytest(frame: Any) -> bool:
    """Whether pytest sets up, calls and tears down a test in this frame."""
    return _is_of(frame, "runtestprotocol", "_pytest", "runner.py")


def _is_of(frame: Any, function: str, *file: str) -> bool:
    """By its name, as hooks of the debugger may have put another in the function's place."""
    code = frame.f_code
    return bool(code.co_name == function and code.co_filename.endswith(os.path.join(os.sep, *file)))


def _id_of_item(item: Any) -> str | None:
    """As pytest prints it: the file from where it was started, and not from its root."""
    given = _kept_id(item)
    config = stored_field(item, "config")
    root = stored_field(config, "_rootpath")
    start = stored_field(stored_field(config, "invocation_params"), "dir")
    file, colons, within = given.partition("::")
    if root is None or start is None or not file:
        return given or None
    path: str = os.path.relpath(os.path.join(str(root), file), str(start))
    return path.replace(os.sep, "/") + colons + within


def _kept_id(item: Any) -> str:
    """As the item keeps it, up to pytest 9.1 or from then on. Else as the environment has it, which tests may change."""
    for kept in (
        stored_field(item, "_nodeid"),
        stored_field(stored_field(item, "_id"), "_str_cache"),
    ):
        if type(kept) is str:
            return kept
    kept = os.environ._data.get(b"PYTEST_CURRENT_TEST", b"")  # type: ignore[attr-defined]
    return os.fsdecode(kept).rpartition(" (")[0]  # behind it is whether it is set up, or called
