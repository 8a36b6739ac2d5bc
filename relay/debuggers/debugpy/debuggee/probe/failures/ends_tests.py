"""Tests that fail, as their runners know it: unittest and what is built on it, nose2, Zope's runner,
trial.

Each is listened to where it has decided: so what it expects, skips or tries again is no failure.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.ends_doctest import (
        explanation_of_example,
        failed_examples,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.failing import (
        begin_test,
        end_test,
        failed,
        failed_without_stop,
        has_place,
        is_in_test,
        running_test,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.imports import when_imported
    from relay.debuggers.debugpy.debuggee.probe.failures.inner_tests import (
        is_in_method,
        is_innermost,
        tests_around,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.listening import error_under_way, listen
    from relay.debuggers.debugpy.debuggee.probe.process.guard import (
        attempt,
        exception_line,
        frame_at,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact


def listen_to_tests() -> None:
    """All runners, those that are loaded and those that will be."""
    when_imported("unittest.case", _listen_to_cases)
    when_imported("unittest.result", _listen_to_results)
    when_imported("unittest.suite", _listen_to_suites)
    when_imported("unittest.loader", _listen_to_loader)
    when_imported("nose2.loader", _listen_to_nose2)
    when_imported("nose2.result", _listen_to_results_of_nose2)
    when_imported("zope.testrunner.find", _listen_to_zope_imports)
    when_imported("zope.testrunner.runner", _listen_to_zope_layers)
    when_imported("twisted.trial.reporter", _listen_to_trial)


# unittest ----------------------------------------------------------------------------------------


def _listen_to_cases(case: Any) -> None:
    listen(case.TestCase, "run", before=at_case, after=after_case)
    listen(case._Outcome, "__init__", after=_after_outcome)
    listen(case, "_addError", before=_at_error)  # since 3.11


def at_case(test: Any, *_: Any, **__: Any) -> None:
    if not tests_around() and not runs_pytest():
        begin_test(id_of_case(test), home_of_case(test))


def after_case(*_: Any, **__: Any) -> None:
    if tests_around():
        return  # an example may have run this case: what has failed in others is still to be told
    failed_examples.clear()
    _surprising.clear()
    if not runs_pytest():  # which reports of the test only after this
        end_test()


def id_of_case(test: Any) -> str:
    # Of a test with parameters nose2 has them on a second line; its own name for it is the first.
    return exact(str(test.id())).partition("\n")[0]


def home_of_case(test: Any) -> str | None:
    if type(test).__module__ in _OF_STAND_INS:
        return None
    file = getattr(sys.modules.get(type(test).__module__), "__file__", None)
    return None if file is None else os.path.dirname(file)


_OF_STAND_INS = ("unittest.loader", "nose2.loader", "twisted.trial.runner")
"""Where the cases are that a loader makes in place of what cannot be loaded: no tests lie beside them."""


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


def _listen_to_results(module: Any) -> None:
    for name in ("addError", "addFailure"):
        listen(module.TestResult, name, before=_at_result)
    listen(module.TestResult, "addUnexpectedSuccess", before=at_unexpected_success)


def _at_result(result: Any, test: Any, about: Any) -> None:
    """What a class of cases tells by itself, of what it does around `run`: Django's do. It handles
    the exception then; a result that was made in another process is told of one that nobody handles.
    """
    if about[1] is not None and about[1] is error_under_way() and not tests_around():
        _case_failed(test, about)


_surprising: list[Any] = []
"""The case that has succeeded and must not: a result tells it to others that stand behind it."""


def at_unexpected_success(result: Any, test: Any, *_: Any, **__: Any) -> None:
    """Of a worker's, too; where another process merges what its workers tell, it is told again."""
    name = id_of_case(test)
    is_here = tests_around() == 1 and running_test() == name
    if is_here and not runs_pytest() and test not in _surprising:
        _surprising.append(test)
        failed_without_stop(name, "unexpected success")


def _at_subtest(result: Any, test: Any, subtest: Any, error: Any) -> None:
    if error is not None:
        _case_failed(subtest, error)


def _case_failed(test: Any, about: Any) -> None:
    _, error, tb = about
    if _is_skip(error) or runs_pytest():
        return
    original = next((first for stand_in, first in _stand_ins if _stands_in(error, stand_in)), None)
    if original is not None:
        error, tb = original, original.__traceback__
    if type(test).__module__ == "doctest":
        examples = [id(one) for one in test._dt_test.examples]
        for first, its_tb, example in failed_examples:
            if id(example) in examples:
                error, tb = first, its_tb
                break
    words = explanation_of_example(error)
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


def _stands_in(error: Any, stand_in: Any) -> bool:
    """Itself, or as it comes in a forked worker to which the case was sent: it quotes a traceback."""
    if error is stand_in:
        return True
    is_like = type(error) is type(stand_in) is ImportError
    return is_like and error.args == stand_in.args and bool(error.args)


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
    listen(module.PluggableTestResult, "addUnexpectedSuccess", before=at_unexpected_success)


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
    listen(reporter.TestResult, "stopTest", after=_after_trial_test)


_tracebacks: list[Any] = []  # (twisted's Failure, traceback), before it is cleaned


def _listen_to_twisted_failures(module: Any) -> None:
    listen(module.Failure, "cleanFailure", before=_keep_traceback)


def _keep_traceback(failure: Any) -> None:
    tb = getattr(failure.value, "__traceback__", None)
    if tb is not None:
        _tracebacks[:] = [*_tracebacks[-7:], (failure, tb)]


def _at_trial_test(result: Any, test: Any) -> None:
    if tests_around() <= 1 and is_innermost(test):
        begin_test(id_of_case(test), home_of_case(test))


def _after_trial_test(_: Any, result: Any, test: Any) -> None:
    if tests_around() <= 1 and is_innermost(test):
        end_test()


def _at_trial(result: Any, test: Any, failure: Any) -> None:
    if type(failure) is tuple:
        error, tb = failure[1], failure[2]
    else:
        error = failure.value
        tb = error.__traceback__ or next((t for f, t in _tracebacks if f is failure), None)
    _tracebacks.clear()
    name, around = id_of_case(test), tests_around()
    # A test may run others, or tell a result of its own that some have failed, or that it has itself.
    expectable = around > 1 or (around == 1 and (not is_innermost(test) or is_in_method(test)))
    if around == 1 and not (expectable or has_place(error, tb)):
        failed_without_stop(name, exception_line(error))  # of a reactor that was left unclean, say
    failed(error, "test", None, tb=tb, test=name, expectable=expectable, home=home_of_case(test))
