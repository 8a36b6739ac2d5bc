"""Scenarios and test cases that fail, as the runners of their steps know it: behave, Robot Framework.

A step of behave keeps what ended it. Robot Framework has an exception of its own for each keyword
that failed, raised while the real one is handled; those that a keyword expects, or ignores, never
come to where a test has failed. Refuses to know what a step does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.failing import (
        begin_test,
        end_test,
        failed,
        failed_without_stop,
        is_in_test,
        running_test,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.imports import when_imported
    from relay.debuggers.debugpy.debuggee.probe.failures.listening import (
        calling_frame,
        listen,
        module_of_frame,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact, module_of

_FAILED = ("failed", "error", "pending")  # of behave's words for how a step has ended
_TIME_IS_OVER = ("TimeoutExceeded", "TimeoutError")  # Robot Framework's, of 7.3 and before


def listen_to_steps() -> None:
    """Both runners, loaded or not."""
    when_imported("behave.model", _listen_to_behave)
    for module in ("behave.exception_util", "behave._types"):  # the one of 1.3, and of 1.2
        when_imported(module, _listen_to_hooks)
    when_imported("behave.runner", _listen_to_cleanups)
    when_imported("robot.errors", _listen_to_robot_errors)
    when_imported("robot.libraries.BuiltIn", _listen_to_robot_keywords)
    when_imported("robot.running.status", _listen_to_robot)
    when_imported("robot.running.suiterunner", _listen_to_robot_tests)


# behave ------------------------------------------------------------------------------------------


def _listen_to_behave(model: Any) -> None:
    listen(model.Scenario, "run", before=_at_scenario, after=lambda *_, **__: end_test())
    listen(model.Step, "run", after=_after_step)


def _at_scenario(scenario: Any, *_: Any, **__: Any) -> None:
    begin_test(exact(str(scenario.location)))


def _after_step(_: Any, step: Any, *__: Any, **___: Any) -> None:
    if getattr(step.status, "name", None) == "undefined" and not _is_sub_step():
        failed_without_stop(running_test(), f"undefined step: {step.keyword} {step.name}")
    error, tb = _raised_by(step)
    if error is not None and getattr(step.status, "name", None) in _FAILED and not _is_sub_step():
        failed(error, "test", None, tb=tb, test=running_test())


def _raised_by(step: Any) -> tuple[Any, Any]:
    """What ended a step, and its traceback: of what it had behave run as steps below it, the one
    that failed. behave raises another exception for that, in whose text it is.
    """
    error, tb = getattr(step, "exception", None), getattr(step, "exc_traceback", None)
    last = tb
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is not None and _is_at_sub_steps(last.tb_frame):
        inner = _raised_by(last.tb_frame.f_locals.get("step"))
        return (error, tb) if inner[0] is None else inner
    return error, tb


def _is_sub_step() -> bool:
    """Whether the step that has ended was run by another, which may expect how it ends."""
    frame = calling_frame()
    while frame is not None and not _is_at_sub_steps(frame):
        frame = frame.f_back
    return frame is not None


def _is_at_sub_steps(frame: Any) -> bool:
    return frame.f_code.co_name == "execute_steps" and module_of_frame(frame) == "behave.runner"


def _listen_to_cleanups(runner: Any) -> None:
    listen(runner.Context, "print_cleanup_error", before=_at_cleanup_error)


def _at_cleanup_error(context: Any, _: Any, error: Any) -> None:
    if getattr(context, "fail_on_cleanup_errors", True):
        failed(error, "test", "cleanup", test=running_test())


def _listen_to_hooks(module: Any) -> None:
    listen(module.ExceptionUtil, "describe", before=_at_description)


def _at_description(_: Any, error: Any, *__: Any, **___: Any) -> None:
    """behave says of a hook in words only what it raised. That of a feature is in no scenario."""
    frame = calling_frame()
    if frame.f_code.co_name == "run_hook":
        about = frame.f_locals.get("args", ())
        places = (one.location for one in about if getattr(one, "location", None) is not None)
        place = attempt(lambda: next((exact(str(one)) for one in places), None))
        failed(error, "test", "hook", test=running_test() or place)


# Robot Framework ---------------------------------------------------------------------------------


def _listen_to_robot(status: Any) -> None:
    listen(status.TestStatus, "__init__", before=_at_robot_test)
    listen(status.TestStatus, "test_failed", before=_at_robot_failure)
    for phase in ("setup", "teardown"):
        name = phase + "_executed"
        listen(status.ExecutionStatus, name, before=_robot_listener(phase))


def _listen_to_robot_tests(runner: Any) -> None:
    listen(runner.SuiteRunner, "visit_test", after=_after_robot_test)


def _at_robot_test(status: Any, parent: Any, test: Any, *_: Any, **__: Any) -> None:
    begin_test(_name_in_robot(test))


def _after_robot_test(*_: Any, **__: Any) -> None:
    end_test()
    _forget_parts()


def _name_in_robot(item: Any) -> str:
    """Of a test or a suite."""
    return exact(str(getattr(item, "full_name", None) or item.longname))


# Robot Framework keeps the text alone of two failures: of a keyword whose own teardown failed, and of
# one that was expected to fail in another way. So what they were made of is noted as it happens.

_parts: list[tuple[Any, list[Any]]] = []
"""(failure of a keyword with a teardown, those of its steps and of its teardown)"""
_not_as_expected: list[tuple[str, Any]] = []
"""(the text that was not expected, the failure that has it)"""


class _Latest:
    """The latest failure in a keyword that is expected to fail, while it is run."""

    failure: Any = None


_latest = _Latest()


def _forget_parts() -> None:
    _parts.clear()
    _not_as_expected.clear()
    _latest.failure = None


def _listen_to_robot_errors(errors: Any) -> None:
    listen(errors.HandlerExecutionFailed, "__init__", after=_after_keyword_failure)
    listen(errors.UserKeywordExecutionFailed, "__init__", after=_after_keyword_with_teardown)


def _after_keyword_failure(_: Any, failure: Any, *__: Any, **___: Any) -> None:
    frame = calling_frame()
    while frame is not None and frame.f_code.co_name != "run_keyword_and_expect_error":
        frame = frame.f_back
    if frame is not None:
        _latest.failure = failure


def _after_keyword_with_teardown(
    _: Any, failure: Any, run_errors: Any = None, teardown_errors: Any = None
) -> None:
    if teardown_errors is not None:
        failures = (one for one in (run_errors, teardown_errors) if hasattr(one, "get_errors"))
        _parts.append((failure, [part for one in failures for part in one.get_errors()]))
    _after_keyword_failure(_, failure)


def _listen_to_robot_keywords(module: Any) -> None:
    listen(module.BuiltIn, "_error_is_expected", after=_after_robot_expectation)


def _after_robot_expectation(is_expected: Any, _: Any, error: Any, *__: Any) -> None:
    failure, _latest.failure = _latest.failure, None
    if not is_expected and getattr(failure, "message", None) == error:
        _not_as_expected.append((exact(str(error)), failure))


def _at_robot_failure(status: Any, message: Any = None, error: Any = None) -> None:
    if error is not None:
        _robot_failed(status, error, None)
    elif not (status.failure or status.parent.failed or status._skip_on_failure()):
        failed_without_stop(_name_in_robot(status.test), message)  # one without keywords, say


def _robot_listener(phase: str) -> Any:
    return lambda status, error=None: _robot_failed(status, error, phase)


def _robot_failed(status: Any, failure: Any, phase: str | None) -> None:
    if not hasattr(failure, "get_errors") or failure.skip or status._skip_on_failure():
        return
    item = getattr(status, "test", None)
    if item is None:  # of a suite only its runner knows which
        item = calling_frame().f_locals.get("item")
    name = attempt(_name_in_robot, item)
    for one in failure.get_errors():
        raised = [(error, words) for error, words in _of_keyword(one) if error.__traceback__]
        for error, words in raised:
            failed(error, "test", phase, test=name, explanation=words)
        if not raised:
            failed_without_stop(name, getattr(one, "message", one))
    if not is_in_test():
        _forget_parts()


def _of_keyword(failure: Any) -> list[tuple[Any, str | None]]:
    """What a keyword raised, and what Robot Framework says of it beyond that; its own exceptions
    have no traceback. For one that was tried until time was over, it raises another while the last
    failure is handled.
    """
    parts = next((parts for known, parts in _parts if known is failure), None)
    if parts is not None:
        return [one for part in parts for one in _of_keyword(part)]
    error = failure.__context__
    while error is not None and error.__traceback__ is None and _is_of_robot(error.__context__):
        error = error.__context__.__context__
    if _is_of_robot(error) and type(error).__name__ not in _TIME_IS_OVER:
        return []  # that a keyword is not there, say
    if error is not None and error.__traceback__ is None:
        words = exact(str(error))
        for text, inner in reversed(_not_as_expected):
            if text in words:
                return [(one, words) for one, _ in _of_keyword(inner)]
    return [] if error is None else [(error, None)]


def _is_of_robot(error: Any) -> bool:
    return bool(module_of(type(error)) == "robot.errors")
