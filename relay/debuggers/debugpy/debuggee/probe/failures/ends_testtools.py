"""Cases of testtools that fail, whoever runs them.

They have their own way to run: what such a case raises goes into the details of its result, as text,
and there is one result for all of it. pytest, which runs them too, learns no more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.ends_tests import (
        after_case,
        at_case,
        at_unexpected_success,
        home_of_case,
        id_of_case,
        runs_pytest,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.imports import when_imported
    from relay.debuggers.debugpy.debuggee.probe.failures.inner_tests import tests_around
    from relay.debuggers.debugpy.debuggee.probe.failures.listening import calling_frame, listen
    from relay.debuggers.debugpy.debuggee.probe.failures.noted import (
        note_check,
        note_raised,
        noted_failed,
        take_noted,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.pytest_test import pytest_test
    from relay.debuggers.debugpy.debuggee.probe.values.types import module_of, mro_of, name_of

_NO_FAILURES = ("_ExpectedFailure", "_UnexpectedSuccess", "KeyboardInterrupt", "MultipleExceptions")
_CARRIER = "fixtures.fixture"
"""Where the package fixtures has an exception of its own, by which it carries details."""
_AROUND_UNDER_PYTEST = 2
"""The phase, and the case: see `inner_tests`."""
_FORCED = "_raise_force_fail_error"
"""The function by which testtools fails a test whose checks have failed."""


def listen_to_testtools() -> None:
    """Its cases and their results, loaded or not."""
    when_imported("testtools.testcase", _listen_to_testtools_cases)
    when_imported("testtools.testresult.real", _listen_to_testtools_results)


def _listen_to_testtools_cases(module: Any) -> None:
    listen(module.TestCase, "run", before=_at_testtools_case, after=_after_testtools_case)
    listen(module.TestCase, "onException", before=_at_testtools_exception)
    listen(module.TestCase, "_matchHelper", after=_after_match)


def _at_testtools_case(test: Any, *_: Any, **__: Any) -> None:
    take_noted(test)
    at_case(test)


def _after_testtools_case(_: Any, test: Any, *__: Any, **___: Any) -> None:
    if not runs_pytest():
        take_noted(test)  # what it expected
    after_case()


def _part_of_case(test: Any) -> Any:
    """What pytest will report of, or the case itself; None where a case of pytest's runs another."""
    if not runs_pytest():
        return test
    return pytest_test.phase if tests_around() == _AROUND_UNDER_PYTEST else None


def _at_testtools_exception(test: Any, about: Any, *_: Any, **__: Any) -> None:
    kinds = mro_of(about[0])
    if test.skipException in kinds or any(name_of(kind) in _NO_FAILURES for kind in kinds):
        return
    if module_of(about[0]) == _CARRIER:
        return
    error, last = about[1], about[2]
    while last.tb_next is not None:
        last = last.tb_next
    part = _part_of_case(test)
    if part is not None and last.tb_frame.f_code.co_name != _FORCED:
        note_raised(error, part)


def _after_match(mismatch: Any, test: Any, *_: Any, **__: Any) -> None:
    part = _part_of_case(test)
    is_check = mismatch is not None and calling_frame().f_code.co_name == "expectThat"
    if is_check and part is not None:
        note_check(mismatch, part)


def _listen_to_testtools_results(module: Any) -> None:
    """Each case reports to one of these, whatever result it was given."""
    for name in ("addError", "addFailure"):
        listen(module.ExtendedToOriginalDecorator, name, before=_at_testtools_result)
    surprise = "addUnexpectedSuccess"
    listen(module.ExtendedToOriginalDecorator, surprise, before=at_unexpected_success)


def _at_testtools_result(result: Any, test: Any, error: Any = None, details: Any = None) -> None:
    if error is not None or runs_pytest():
        return  # a case of unittest, or one of which pytest reports
    for noted in take_noted(test):
        noted_failed(
            noted,
            None,
            test=id_of_case(test),
            expectable=tests_around() > 1,
            home=home_of_case(test),
        )
