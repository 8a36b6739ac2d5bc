"""Tests that fail, as their runners know it: pytest, unittest and what is built on it, trial,
doctest.

Each is listened to where it has decided: so what it expects, skips or tries again is no failure.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.example_lines import note_example
    from relay.debuggers.debugpy.debuggee.probe.failures.failing import (
        begin_test,
        end_test,
        failed,
        is_in_test,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.imports import when_imported
    from relay.debuggers.debugpy.debuggee.probe.failures.inner_tests import (
        is_run_by_a_test,
        tests_around,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.listening import (
        calling_frame,
        error_under_way,
        listen,
        module_of_frame,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.noted import (
        forget_noted,
        note_check,
        noted_failed,
        take_noted,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.time_limits import (
        keep_time_limits,
        lift_time_limit,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt, frame_at
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact

_LONGEST_EXPLANATION = 2000


def listen_to_tests() -> None:
    """All runners, those that are loaded and those that will be."""
    when_imported("_pytest.runner", _listen_to_pytest)
    when_imported("_pytest.config", _listen_to_config)
    when_imported("_pytest.reports", _listen_to_phases)
    when_imported("_pytest.main", _listen_to_session)
    when_imported("pytest_check.check_log", _listen_to_checks)
    keep_time_limits()
    when_imported("unittest.case", _listen_to_cases)
    when_imported("unittest.suite", _listen_to_suites)
    when_imported("unittest.loader", _listen_to_loader)
    when_imported("nose2.loader", _listen_to_nose2)
    when_imported("nose2.result", _listen_to_results_of_nose2)
    when_imported("zope.testrunner.find", _listen_to_zope_imports)
    when_imported("zope.testrunner.runner", _listen_to_zope_layers)
    when_imported("twisted.trial.reporter", _listen_to_trial)
    when_imported("doctest", _listen_to_doctest)
    when_imported("pdb", lambda pdb: listen(pdb.Pdb, "__init__", before=_at_pdb))


# pytest ------------------------------------------------------------------------------------------


def _listen_to_pytest(runner: Any) -> None:
    listen(runner, "check_interactive_exception", after=_after_pytest_phase)
    listen(runner, "_update_current_test_var", before=_at_pytest_phase)


def _at_pytest_phase(item: Any, when: Any) -> None:
    if is_run_by_a_test():
        return
    _running_test.item = None if when is None else item
    _running_test.phase = when
    if when is None:
        end_test()
    else:
        if when == "setup":
            _undecided.clear()
            _examples.clear()
            forget_noted()
        begin_test(exact(str(item.nodeid)), _directory_of(item))


class _RunningTest:
    """The test that pytest runs, and which phase of it."""

    item: Any = None
    phase: str | None = None


_running_test = _RunningTest()


def pytest_phase() -> str | None:
    """setup, call or teardown, while pytest runs one."""
    return _running_test.phase


# A phase that raised has failed when it is reported as failed: who tries again, or expects it,
# reports it otherwise. Not every runner reports the phase and the outcome in the same order,
# nor in one process.

_undecided: list[Any] = []
"""Phases of this test that raised: the report of each, what pytest says of it there, its call, and
what that had raised then.
"""
_sessions: list[int] = []
"""The processes in which a run of pytest has begun since failures are listened to."""
_reported: list[Any] = []
"""The latest reports of a failure which is not among the undecided."""
_MOST_REPORTED = 4


def _listen_to_phases(reports: Any) -> None:
    listen(reports.TestReport, "from_item_and_call", after=_after_pytest_report)


def _listen_to_session(main: Any) -> None:
    listen(main.Session, "__init__", before=_at_session)
    listen(main.Session, "pytest_runtest_logreport", before=_at_pytest_report)


def _at_session(*_: Any, **__: Any) -> None:
    _sessions.append(os.getpid())


def _after_pytest_report(report: Any, kind: Any, item: Any, call: Any) -> None:
    raised = None if call.excinfo is None else call.excinfo.type
    if raised is not None and raised.__name__ != "BdbQuit" and report.outcome == "failed":
        _undecided.append((report, report.longrepr, call, call.excinfo))


def _at_pytest_report(session: Any, report: Any) -> None:
    """What is reported as failed is: an attempt that another follows is reported otherwise."""
    if report.outcome == "failed" and not hasattr(report, "wasxfail"):
        call, raised = _call_of(report) or (None, None)
        if call is not None:
            _phase_failed(call, report, raised)
        else:
            _reported[:] = [*_reported[1 - _MOST_REPORTED :], report]


def _call_of(report: Any) -> Any:
    """The call that a report is about, and what it raised: the one whose text it shows, before the
    one that it was made for, since who tries again may put the last attempt's text into the report
    of the first.
    """
    by_text = (rest for _, text, *rest in reversed(_undecided) if text is report.longrepr)
    by_report = (rest for known, _, *rest in reversed(_undecided) if known is report)
    return next(by_text, None) or next(by_report, None)


def _after_pytest_phase(is_failure: Any, call: Any, report: Any) -> None:
    if not is_failure or report.outcome != "failed":
        return
    if (
        getattr(report, "when", None) in (None, "collect")
        or os.getpid() not in _sessions
        or any(known is report for known in _reported)
    ):
        _phase_failed(call, report)
    elif _call_of(report) is None:
        _undecided.append((report, report.longrepr, call, call.excinfo))


def _directory_of(item: Any) -> str | None:
    path = getattr(item, "path", None) or getattr(item, "fspath", None)
    return None if path is None else os.path.dirname(str(path))


def _phase_failed(call: Any, report: Any, raised: Any = None) -> None:
    """`raised`: what pytest knew of it, before a plugin put something else in its place."""
    is_inner = is_run_by_a_test()
    if _running_test.item is not None and not is_inner:
        lift_time_limit(_running_test.item)
    about = call.excinfo
    if _stands_for_others(about) and not is_inner:
        if _noted_failed(report) and (raised is None or _stands_for_others(raised)):
            return
        about = raised or about
    error, tb = about.value, about.tb
    if type(error).__name__ == "ConftestImportFailure":
        return  # which has been told: see `_at_conftest`
    if type(error).__name__ == "CollectError" and error.__cause__ is not None:
        error, tb = error.__cause__, error.__cause__.__traceback__  # an import that failed
    error, tb = _of_example(error, tb)
    failed(
        error,
        "test",
        _phase(report),
        tb=tb,
        test=exact(str(report.nodeid)),
        explanation=_explanation(report, error),
        expectable=is_inner,
        home=_home_of_report(report),
    )


def _stands_for_others(about: Any) -> bool:
    """Whether a test was made to fail with it for what has failed before: see `noted`."""
    if type(about.value).__name__ == "Failed":
        return str(about.value).startswith("NOTE: Incompatible Exception Representation")
    frame = None if about.tb is None else about.tb.tb_frame
    return module_of_frame(frame) == "pytest_check.plugin"


def _noted_failed(report: Any) -> bool:
    """Whether anything was noted while this phase ran; it has failed by that."""
    noted = take_noted(report.when)
    about = {"test": exact(str(report.nodeid)), "home": _home_of_report(report)}
    for one in noted:
        noted_failed(one, _phase(report), **about)
    return bool(noted)


def _listen_to_checks(log: Any) -> None:
    """`log_failure` itself counts the frames above it, so a function that it calls is listened to."""
    listen(log, "_current_state", before=_at_state_of_checks)


def _at_state_of_checks() -> None:
    frame = calling_frame()
    if frame.f_code.co_name == "log_failure" and not is_run_by_a_test():
        note_check(_error_of_check(**frame.f_locals), _running_test.phase)


def _error_of_check(msg: Any, check_str: Any, tb: Any, **_: Any) -> Any:
    """What the block raised that was checked, or what the function that checks says."""
    error = error_under_way() if tb is not None else msg
    if isinstance(error, BaseException):
        return error
    return AssertionError(": ".join(str(part).strip() for part in (msg, check_str) if part))


def _of_example(error: Any, tb: Any) -> Any:
    """What an example of a doctest has raised, in place of the runner's own word for that."""
    if type(error).__name__ == "MultipleDoctestFailures":
        error = error.failures[0]
    if type(error).__name__ == "DocTestFailure":
        return error, None
    if type(error).__name__ == "UnexpectedException":
        return error.exc_info[1], error.exc_info[2]
    if type(error).__name__ == "SybilFailure":
        note_example(error.example.path, error.example.line)
        known = (one for one in _examples if one[2] is error.example.parsed and one[1] is not None)
        return next(known, (error, tb))[:2]
    return error, tb


def _phase(report: Any) -> str | None:
    """The phase that failed, unless it is the test itself; of that, the subtest in pytest's words."""
    for name in ("_sub_test_description", "sub_test_description"):  # of pytest, of the plugin
        describe = getattr(report, name, None)
        if describe is not None:
            return exact(str(describe())) or None
    when = getattr(report, "when", None)
    return {None: "collection", "collect": "collection", "call": None}.get(when, when)


def _home_of_report(report: Any) -> str | None:
    path = getattr(report, "fspath", None) or (getattr(report, "location", None) or [None])[0]
    return os.path.dirname(os.path.abspath(str(path))) if path else None


def _explanation(report: Any, error: Any) -> str | None:
    """What pytest says of a failed assertion; it stands in the exception, where it can rewrite."""
    if type(error).__name__ == "DocTestFailure":
        return _explanation_of_example(error)
    if type(error).__name__ == "FixtureLookupError":
        words = getattr(getattr(report, "longrepr", None), "errorstring", None)
        return words.partition("\n")[0] if type(words) is str else None
    if not isinstance(error, AssertionError):
        return None
    crash = getattr(getattr(report, "longrepr", None), "reprcrash", None)
    words = getattr(crash, "message", None)
    return words[:_LONGEST_EXPLANATION] if type(words) is str else None


def _listen_to_config(config: Any) -> None:
    """What ends the run before there is a test: a conftest that cannot be imported, say."""
    listen(config.ConftestImportFailure, "__init__", before=_at_conftest)
    listen(config.Config, "notify_exception", before=_at_internal_error)


def _at_conftest(self: Any, path: Any, excinfo: Any = None, *, cause: Any = None) -> None:
    error = cause if cause is not None else excinfo[1]
    failed(
        error,
        "test",
        "collection",
        test=str(path),
        expectable=is_run_by_a_test(),
        home=os.path.dirname(str(path)),
    )


def _at_internal_error(config: Any, about: Any, *_: Any, **__: Any) -> None:
    failed(about.value, "process", "pytest", tb=about.tb, expectable=is_run_by_a_test())


# unittest ----------------------------------------------------------------------------------------


def _listen_to_cases(case: Any) -> None:
    listen(case.TestCase, "run", before=at_case, after=after_case)
    listen(case._Outcome, "__init__", after=_after_outcome)
    listen(case, "_addError", before=_at_error)  # since 3.11


def at_case(test: Any, *_: Any, **__: Any) -> None:
    if not tests_around() and not runs_pytest():
        begin_test(id_of_case(test), home_of_case(test))


def after_case(*_: Any, **__: Any) -> None:
    _examples.clear()
    if not tests_around() and not runs_pytest():  # which reports of the test only after this
        end_test()


def id_of_case(test: Any) -> str:
    return exact(str(test.id()))


def home_of_case(test: Any) -> str | None:
    file = getattr(sys.modules.get(type(test).__module__), "__file__", None)
    return None if file is None else os.path.dirname(file)


def runs_pytest() -> bool:
    """Whether pytest calls: it runs cases of unittest, too, and says itself which of them fail."""
    home = os.path.dirname(getattr(sys.modules.get("_pytest.unittest"), "__file__", None) or "")
    frame: Any = frame_at(1)
    while frame is not None and home:
        if frame.f_code.co_filename.startswith(home):
            return True
        frame = frame.f_back
    return False


class _Errors(list):  # type: ignore[type-arg]
    """Where an outcome of Python 3.10 and older notes what failed, long before it says so."""

    def append(self, one: Any) -> None:
        list.append(self, one)
        if one[1] is not None:
            attempt(_case_failed, *one)


def _after_outcome(_: Any, outcome: Any, result: Any = None) -> None:
    if type(getattr(outcome, "errors", None)) is list:
        outcome.errors = _Errors()
    elif hasattr(result, "addSubTest"):
        listen(type(result), "addSubTest", before=_at_subtest)


def _at_error(result: Any, test: Any, error: Any) -> None:
    if result is not None and error is not None:
        _case_failed(test, error)


def _at_subtest(result: Any, test: Any, subtest: Any, error: Any) -> None:
    if error is not None:
        _case_failed(subtest, error)


def _case_failed(test: Any, about: Any) -> None:
    _, error, tb = about
    if _is_skip(error) or runs_pytest():
        return
    original = next((first for stand_in, first in _stand_ins if stand_in is error), None)
    if original is not None:
        error, tb = original, original.__traceback__
    if _examples and type(test).__module__ == "doctest":
        error, tb, _ = _examples[0]
    words = _explanation_of_example(error)
    failed(
        error,
        "test",
        None,
        tb=tb,
        test=id_of_case(test),
        explanation=words,
        expectable=tests_around() > 1,
        home=home_of_case(test),
    )


def _is_skip(error: Any) -> bool:
    return isinstance(error, sys.modules["unittest.case"].SkipTest)


def _listen_to_suites(suite: Any) -> None:
    listen(suite.TestSuite, "_addClassOrModuleLevelException", before=_at_fixture)


def _at_fixture(suite: Any, result: Any, error: Any, name: Any, info: Any = None) -> None:
    if not _is_skip(error):
        tb = info[2] if info else None
        failed(error, "test", None, tb=tb, test=str(name), expectable=tests_around() > 0)


_stand_ins: list[Any] = []
"""(what a stand-in of the loader raises when it is run, what kept the real test from loading)"""


def _listen_to_loader(loader: Any) -> None:
    listen(loader, "_make_failed_test", before=_at_stand_in)


def _at_stand_in(name: Any, error: Any, *_: Any) -> None:
    first = error_under_way()
    if first is not None and first is not error:
        _stand_ins.append((error, first))


def _listen_to_nose2(loader: Any) -> None:
    listen(loader.PluggableTestLoader, "_makeFailedTest", before=_at_stand_in_of_nose2)


def _at_stand_in_of_nose2(loader: Any, kind: Any, name: Any, error: Any) -> None:
    _at_stand_in(name, error)


def _listen_to_results_of_nose2(module: Any) -> None:
    listen(module.PluggableTestResult, "addError", before=_at_error_of_nose2)


def _at_error_of_nose2(result: Any, test: Any, about: Any) -> None:
    """What a layer of several tests sets up or takes down is no case's."""
    if type(test).__name__ == "LayerSuite":
        layer = test.layer
        name = exact(f"{layer.__module__}.{layer.__qualname__}")
        failed(about[1], "test", "layer", tb=about[2], test=name, expectable=is_in_test())


def _listen_to_zope_imports(find: Any) -> None:
    listen(find.StartUpFailure, "__init__", before=_at_zope_import)


def _at_zope_import(stand_in: Any, options: Any, module: Any, *_: Any) -> None:
    """Its runner reports a module that it cannot import without running the case made for it, and
    so does not a process of its own in which it runs one layer.
    """
    name = exact(str(module))
    if not getattr(options, "resume_layer", None):
        failed(error_under_way(), "test", "collection", test=name, expectable=is_in_test())


def _listen_to_zope_layers(runner: Any) -> None:
    listen(runner, "handle_layer_failure", before=_at_zope_layer)


def _at_zope_layer(case: Any, *_: Any, **__: Any) -> None:
    """What a layer of several tests sets up or takes down is no case's."""
    failed(error_under_way(), "test", None, test=exact(str(case)), expectable=is_in_test())


# trial -------------------------------------------------------------------------------------------


def _listen_to_trial(reporter: Any) -> None:
    when_imported("twisted.python.failure", _listen_to_twisted_failures)
    for name in ("addError", "addFailure"):
        listen(reporter.TestResult, name, before=_at_trial)
    listen(reporter.TestResult, "startTest", before=_at_trial_test)
    listen(reporter.TestResult, "stopTest", after=lambda *_: end_test())


_tracebacks: list[Any] = []  # (twisted's Failure, traceback), before it is cleaned


def _listen_to_twisted_failures(module: Any) -> None:
    listen(module.Failure, "cleanFailure", before=_keep_traceback)


def _keep_traceback(failure: Any) -> None:
    tb = getattr(failure.value, "__traceback__", None)
    if tb is not None:
        _tracebacks[:] = [*_tracebacks[-7:], (failure, tb)]


def _at_trial_test(result: Any, test: Any) -> None:
    begin_test(id_of_case(test), home_of_case(test))


def _at_trial(result: Any, test: Any, failure: Any) -> None:
    if type(failure) is tuple:
        error, tb = failure[1], failure[2]
    else:
        error = failure.value
        tb = error.__traceback__ or next((t for f, t in _tracebacks if f is failure), None)
    _tracebacks.clear()
    failed(error, "test", None, tb=tb, test=id_of_case(test), home=home_of_case(test))


# doctest -----------------------------------------------------------------------------------------


def _listen_to_doctest(doctest: Any) -> None:
    listen(doctest.DocTestRunner, "report_unexpected_exception", before=_at_example)
    listen(doctest.DocTestRunner, "report_failure", before=_at_other_output)


def _at_pdb(*_: Any, **__: Any) -> None:
    """`python -m doctest` is not imported; but each run of examples has a debugger of its own."""
    main = sys.modules["__main__"]
    if getattr(getattr(main, "__spec__", None), "name", None) == "doctest":
        _listen_to_doctest(main)


_examples: list[Any] = []
"""What failed in the examples of a case of unittest, or of Sybil's, which reports it as text: the
exception, its traceback, the example.
"""


def _at_example(runner: Any, out: Any, test: Any, example: Any, info: Any) -> None:
    _example_failed(runner, test, example, info[1], info[2])


def _at_other_output(runner: Any, out: Any, test: Any, example: Any, got: str) -> None:
    error = sys.modules[type(test).__module__].DocTestFailure(test, example, got)
    _example_failed(runner, test, example, error, None)


def _example_failed(runner: Any, test: Any, example: Any, error: Any, tb: Any) -> None:
    if type(runner).__name__ != "DocTestRunner":
        return  # others raise it, and report it themselves
    if is_in_test():
        _examples.append((error, tb, example))
    else:
        words = _explanation_of_example(error)
        failed(error, "test", None, tb=tb, test=str(test.name), explanation=words)


def _explanation_of_example(error: Any) -> str | None:
    """What was printed, and what should have been; None of an exception."""
    if type(error).__name__ != "DocTestFailure":
        return None
    return f"expected {error.example.want!r}, got {error.got!r}"[:_LONGEST_EXPLANATION]
