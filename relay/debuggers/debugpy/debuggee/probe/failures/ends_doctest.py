"""Examples of doctests that fail, under doctest's own runner; or under another one, which asks here what
they were.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.example_lines import note_test
    from relay.debuggers.debugpy.debuggee.probe.failures.failing import failed, is_in_test
    from relay.debuggers.debugpy.debuggee.probe.failures.imports import when_imported
    from relay.debuggers.debugpy.debuggee.probe.failures.listening import listen

LONGEST_EXPLANATION = 2000
"""Characters of what a runner says of a failure."""


def listen_to_doctest() -> None:
    """Loaded or not."""
    when_imported("doctest", _listen_to_doctest)
    when_imported("pdb", lambda pdb: listen(pdb.Pdb, "__init__", before=_at_pdb))


def _listen_to_doctest(doctest: Any) -> None:
    listen(doctest.DocTestRunner, "report_unexpected_exception", before=_at_example)
    listen(doctest.DocTestRunner, "report_failure", before=_at_other_output)


def _at_pdb(*_: Any, **__: Any) -> None:
    """`python -m doctest` is not imported; but each run of examples has a debugger of its own."""
    main = sys.modules["__main__"]
    if getattr(getattr(main, "__spec__", None), "name", None) == "doctest":
        _listen_to_doctest(main)


failed_examples: list[Any] = []
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
    note_test(test)
    if is_in_test():
        failed_examples.append((error, tb, example))
    else:
        words = explanation_of_example(error)
        failed(error, "test", None, tb=tb, test=str(test.name), explanation=words)


def explanation_of_example(error: Any) -> str | None:
    """What was printed, and what should have been; None of an exception."""
    if type(error).__name__ == "GotWantException":  # xdoctest's
        return f"expected {error.want!r}, got {error.got!r}"[:LONGEST_EXPLANATION]
    if type(error).__name__ != "DocTestFailure":
        return None
    return f"expected {error.example.want!r}, got {error.got!r}"[:LONGEST_EXPLANATION]
