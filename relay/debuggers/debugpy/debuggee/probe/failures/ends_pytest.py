"""Tests that fail under pytest: phases of a test, what it cannot collect, checks that let a test go on.

pytest is listened to where it has decided: so what it expects, skips or tries again is no failure.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.ends_doctest import (
        LONGEST_EXPLANATION,
        explanation_of_example,
        failed_examples,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.example_lines import (
        note_example,
        note_test,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.failing import (
        begin_test,
        end_test,
        failed,
        failed_without_stop,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.imports import when_imported
    from relay.debuggers.debugpy.debuggee.probe.failures.inner_tests import is_run_by_a_test
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
    from relay.debuggers.debugpy.debuggee.probe.failures.pytest_ids import (
        name_tests_of,
        test_id,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.pytest_test import pytest_test
    from relay.debuggers.debugpy.debuggee.probe.failures.time_limits import (
        keep_time_limits,
        lift_time_limit,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.warned import (
        forget_warnings,
        listen_to_warnings,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import process_id
    from relay.debuggers.debugpy.debuggee.probe.process.paths import absolute_path
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact


def listen_to_pytest() -> None:
    """pytest and its plugin pytest-check, loaded or not."""
    when_imported("_pytest.runner", _listen_to_pytest)
    when_imported("_pytest.config", _listen_to_config)
    when_imported("_pytest.reports", _listen_to_phases)
    when_imported("_pytest.main", _listen_to_session)
    when_imported("pytest_check.check_log", _listen_to_checks)
    listen_to_warnings()
    keep_time_limits()


def _listen_to_pytest(runner: Any) -> None:
    listen(runner, "check_interactive_exception", after=_after_pytest_phase)
    listen(runner, "_update_current_test_var", before=_at_pytest_phase)


def _at_pytest_phase(item: Any, when: Any) -> None:
    if _is_inner_run():
        return
    pytest_test.item = None if when is None else item
    pytest_test.phase = when
    if when is None:
        end_test()
    else:
        if when == "setup":
            _undecided.clear()
            failed_examples.clear()
            forget_noted()
            forget_warnings()
            name_tests_of(item.config)
        begin_test(test_id(item), _directory_of(item))


def _is_inner_run() -> bool:
    return is_run_by_a_test(pytest_test.item)


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


def _at_session(_session: Any, config: Any, *_: Any, **__: Any) -> None:
    _sessions.append(process_id())
    if not _is_inner_run():
        name_tests_of(config)


def _after_pytest_report(report: Any, kind: Any, item: Any, call: Any) -> None:
    if call.excinfo is not None and report.outcome == "failed":
        _undecided.append((report, report.longrepr, call, call.excinfo))


def _at_pytest_report(session: Any, report: Any) -> None:
    """What is reported as failed is: an attempt that another follows is reported otherwise."""
    if report.outcome == "failed" and not hasattr(report, "wasxfail"):
        call, raised = _call_of(report) or (None, None)
        if call is not None:
            _phase_failed(call, report, raised)
        else:
            _reported[:] = [*_reported[1 - _MOST_REPORTED :], report]
            _at_report_without_call(session, report)


def _at_report_without_call(session: Any, report: Any) -> None:
    """Nothing was raised by a test that passes though it must fail, nor by one whose process died,
    of which pytest-xdist and pytest-forked make a report in no known phase.
    """
    words = report.longrepr
    is_unseen = type(words) is str and (words.startswith("[XPASS(strict)]") or report.when == "???")
    if is_unseen and not hasattr(session.config, "workerinput") and not _is_inner_run():
        failed_without_stop(test_id(report), words)


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
        or process_id() not in _sessions
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
    is_inner = _is_inner_run()
    if pytest_test.item is not None and not is_inner:
        lift_time_limit(pytest_test.item)
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
        test=test_id(report),
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
    about = {"test": test_id(report), "home": _home_of_report(report)}
    for one in noted:
        noted_failed(one, _phase(report), **about)
    return bool(noted)


def _listen_to_checks(log: Any) -> None:
    """`log_failure` itself counts the frames above it, so a function that it calls is listened to."""
    listen(log, "_current_state", before=_at_state_of_checks)


def _at_state_of_checks() -> None:
    frame = calling_frame()
    if frame.f_code.co_name == "log_failure" and not _is_inner_run():
        note_check(_error_of_check(**frame.f_locals), pytest_test.phase)


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
        note_test(error.test)
        return error.exc_info[1], error.exc_info[2]
    if type(error).__name__ == "SybilFailure":
        note_example(error.example.path, error.example.line)
        known = (
            one for one in failed_examples if one[2] is error.example.parsed and one[1] is not None
        )
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
    return os.path.dirname(absolute_path(str(path))) if path else None


def _explanation(report: Any, error: Any) -> str | None:
    """What pytest says of a failed assertion; it stands in the exception, where it can rewrite."""
    if type(error).__name__ in ("DocTestFailure", "GotWantException"):
        return explanation_of_example(error)
    if type(error).__name__ == "FixtureLookupError":
        words = getattr(getattr(report, "longrepr", None), "errorstring", None)
        return words.partition("\n")[0].strip() if type(words) is str else None
    if not isinstance(error, AssertionError):
        return None
    crash = getattr(getattr(report, "longrepr", None), "reprcrash", None)
    words = getattr(crash, "message", None)
    return words[:LONGEST_EXPLANATION] if type(words) is str else None


def _listen_to_config(config: Any) -> None:
    """What ends the run before there is a test: a conftest that cannot be imported, say."""
    listen(config.ConftestImportFailure, "__init__", before=_at_conftest)
    listen(config.Config, "notify_exception", before=_at_internal_error)
    listen(config, "print_plugin_import_error", before=_at_plugin)  # since pytest 9.2


def _at_conftest(self: Any, path: Any, excinfo: Any = None, *, cause: Any = None) -> None:
    error = cause if cause is not None else excinfo[1]
    failed(
        error,
        "test",
        "collection",
        test=str(path),
        expectable=_is_inner_run(),
        home=os.path.dirname(str(path)),
    )


def _at_plugin(failure: Any, *_: Any, **__: Any) -> None:
    """A plugin that raised as it was imported; pytest prints that, and ends."""
    failed(failure.__cause__, "process", "pytest", expectable=_is_inner_run())


def _at_internal_error(config: Any, about: Any, *_: Any, **__: Any) -> None:
    failed(about.value, "process", "pytest", tb=about.tb, expectable=_is_inner_run())
