"""Tests of ward that fail, and modules that green cannot import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.ends_tests import at_unexpected_success
    from relay.debuggers.debugpy.debuggee.probe.failures.failing import (
        begin_test,
        end_test,
        failed,
        failed_without_stop,
        is_raised_later,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.imports import when_imported
    from relay.debuggers.debugpy.debuggee.probe.failures.listening import error_under_way, listen
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact, name_of


def listen_to_runners() -> None:
    """Both, loaded or not."""
    when_imported("green.suite", _listen_to_green)
    when_imported("green.result", _listen_to_results_of_green)
    when_imported("ward.testing", _listen_to_ward)


# green: its loader makes a case that raises, later, an ImportError with the traceback as text. Then
# green itself calls it, outside of any test, and ends by it.


def _listen_to_green(module: Any) -> None:
    listen(module.GreenTestSuite, "__init__", before=_at_suite_of_green)


def _listen_to_results_of_green(module: Any) -> None:
    """Those of its workers, which run the tests."""
    listen(module.ProtoTestResult, "addUnexpectedSuccess", before=at_unexpected_success)


def _at_suite_of_green(suite: Any, tests: Any = (), *_: Any) -> None:
    error = error_under_way()
    if error is None or type(tests) is not tuple or not tests:
        return
    if name_of(type(tests[0])) == "ModuleImportFailure":
        raising = vars(type(tests[0]))[tests[0]._testMethodName]
        is_raised_later(error, raising.__closure__[0].cell_contents)


# ward --------------------------------------------------------------------------------------------


def _listen_to_ward(module: Any) -> None:
    listen(module.Test, "run", before=_at_test_of_ward, after=_after_test_of_ward)
    listen(module.TestResult, "__init__", before=_at_result_of_ward)


def _at_test_of_ward(test: Any, *_: Any, **__: Any) -> None:
    begin_test(_id_in_ward(test), exact(str(test.path.parent)))


def _after_test_of_ward(result: Any, *_: Any, **__: Any) -> None:
    end_test()


def _at_result_of_ward(
    result: Any, test: Any, outcome: Any, error: Any = None, *_: Any, **__: Any
) -> None:
    if outcome.name == "FAIL":
        failed(error, "test", None, test=_id_in_ward(test))
    elif outcome.name == "XPASS":
        failed_without_stop(_id_in_ward(test), "unexpected pass")


def _id_in_ward(test: Any) -> str:
    """As ward shows it: `test_shop:12 the price of bread`."""
    return exact(f"{test.module_name}:{test.line_number} {test.description}")
