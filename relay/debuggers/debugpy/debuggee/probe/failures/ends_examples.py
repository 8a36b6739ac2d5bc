"""Examples and scenarios that fail under mamba, TestSlide, vedro and xdoctest.

What a test of another runner's runs by one of these is that test's own business.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from relay.debuggers.debugpy.debuggee.probe.failures.ends_doctest import (
        explanation_of_example,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.failing import (
        begin_test,
        end_test,
        failed,
        is_in_test,
        running_test,
        was_shown,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.imports import when_imported
    from relay.debuggers.debugpy.debuggee.probe.failures.listening import listen
    from relay.debuggers.debugpy.debuggee.probe.process.paths import absolute_path
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact


def listen_to_examples() -> None:
    """All four, loaded or not."""
    when_imported("mamba.example", _listen_to_examples_of_mamba)
    when_imported("mamba.example_group", _listen_to_groups_of_mamba)
    when_imported("testslide", _listen_to_testslide)
    when_imported("testslide.runner", _listen_to_runner_of_testslide)
    when_imported("vedro.core", _listen_to_vedro)
    when_imported("xdoctest.doctest_example", _listen_to_xdoctest)


def _begin_example(name: str, path: Any) -> None:
    if not is_in_test():
        begin_test(name, os.path.dirname(absolute_path(exact(str(path)))))


def _end_example(name: str, errors: Iterable[Any], explanation: str | None = None) -> None:
    """The runner has said what has failed the test; nothing if it has passed."""
    if running_test() == name:
        for error in errors:
            tb = getattr(error, "__traceback__", None)
            failed(error, "test", None, tb=tb, test=name, explanation=explanation)
        end_test()


# mamba -------------------------------------------------------------------------------------------


def _listen_to_examples_of_mamba(module: Any) -> None:
    listen(module.Example, "_start", before=_at_example_of_mamba)
    listen(module.Example, "_finish", before=_after_example_of_mamba)


def _listen_to_groups_of_mamba(module: Any) -> None:
    listen(module.ExampleGroup, "_finish", before=_after_group_of_mamba)


def _at_example_of_mamba(example: Any, *_: Any) -> None:
    _begin_example(_name_in_mamba(example), example.file)


def _after_example_of_mamba(example: Any, *_: Any) -> None:
    _end_example(_name_in_mamba(example), [example.error.exception] if example.error else [])


def _after_group_of_mamba(group: Any, *_: Any) -> None:
    """What a hook behind the last example raises fails them all when they have ended."""
    error = group.error.exception if group.error and not is_in_test() else None
    if error is not None and not was_shown(error):
        failed(error, "test", None, tb=error.__traceback__, test=_name_in_mamba(group))


def _name_in_mamba(example: Any) -> str:
    """As mamba shows it in its list of failures: `Shop, when it is closed, it sells nothing`."""
    names: list[str] = []
    while example is not None:
        names.insert(0, exact(str(example.name)))
        example = example.parent
    return ", ".join(names)


# TestSlide ---------------------------------------------------------------------------------------


def _listen_to_testslide(module: Any) -> None:
    listen(module._ExampleRunner, "run", before=_at_example_of_testslide)


def _listen_to_runner_of_testslide(module: Any) -> None:
    listen(module.Runner, "run", before=_at_runner_of_testslide)


def _at_runner_of_testslide(runner: Any, *_: Any) -> None:
    """Whoever formats, one of the program's own say, is told what has become of each example."""
    kind = type(runner.formatter)
    for name in ("fail", "success", "skip"):
        owner = next(cls for cls in kind.__mro__ if name in vars(cls))
        listen(owner, name, before=_after_example_of_testslide)


def _at_example_of_testslide(runner: Any, *_: Any) -> None:
    example = runner.example
    _begin_example(exact(str(example.full_name)), example.code.__code__.co_filename)


def _after_example_of_testslide(
    formatter: Any, example: Any, exception: Any = None, *_: Any
) -> None:
    several = getattr(exception, "exceptions", None)
    kept = several if type(exception).__name__ == "AggregatedExceptions" else None
    errors = list(kept) if type(kept) is list else [exception] if exception is not None else []
    _end_example(exact(str(example.full_name)), errors)


# vedro: an attempt that is followed by another is no failure; the report has the last word.


def _listen_to_vedro(module: Any) -> None:
    listen(module.MonotonicScenarioRunner, "run_scenario", before=_at_scenario_of_vedro)
    listen(module.Report, "add_result", before=_after_scenario_of_vedro)


def _at_scenario_of_vedro(runner: Any, scenario: Any, *_: Any, **__: Any) -> None:
    name = _id_in_vedro(scenario)
    if running_test() != name:
        _begin_example(name, scenario.path)


def _after_scenario_of_vedro(report: Any, result: Any, *_: Any) -> None:
    steps = result.step_results if result.is_failed() else []
    kept = [step.exc_info for step in steps if step.is_failed()]
    _end_example(_id_in_vedro(result.scenario), [one.value for one in kept if one is not None])


def _id_in_vedro(scenario: Any) -> str:
    """As vedro takes it: `scenarios/sells.py::Scenario#2`."""
    number = f"#{scenario.template_index}" if scenario.template_index is not None else ""
    return exact(f"{scenario.rel_path}::{scenario.name}{number}")


# xdoctest, under its own runner: under pytest an example is an item like others.


def _listen_to_xdoctest(module: Any) -> None:
    listen(module.DocTest, "run", before=_at_example_of_xdoctest)
    listen(module.DocTest, "_post_run", before=_after_example_of_xdoctest)


def _at_example_of_xdoctest(example: Any, *_: Any, **__: Any) -> None:
    _begin_example(exact(str(example.node)), example.fpath or "")


def _after_example_of_xdoctest(example: Any, *_: Any) -> None:
    error = example.exc_info[1] if example.exc_info else None
    words = explanation_of_example(error)
    _end_example(exact(str(example.node)), [] if error is None else [error], words)
