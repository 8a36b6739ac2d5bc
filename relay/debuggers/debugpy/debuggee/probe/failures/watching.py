"""Failures watched or not: the one call by which the relay asks for stops at them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.ends_doctest import listen_to_doctest
    from relay.debuggers.debugpy.debuggee.probe.failures.ends_examples import listen_to_examples
    from relay.debuggers.debugpy.debuggee.probe.failures.ends_jobs import listen_to_jobs
    from relay.debuggers.debugpy.debuggee.probe.failures.ends_logged import listen_to_logs
    from relay.debuggers.debugpy.debuggee.probe.failures.ends_loops import listen_to_loops
    from relay.debuggers.debugpy.debuggee.probe.failures.ends_process import listen_to_process
    from relay.debuggers.debugpy.debuggee.probe.failures.ends_pytest import listen_to_pytest
    from relay.debuggers.debugpy.debuggee.probe.failures.ends_requests import listen_to_requests
    from relay.debuggers.debugpy.debuggee.probe.failures.ends_runners import listen_to_runners
    from relay.debuggers.debugpy.debuggee.probe.failures.ends_steps import listen_to_steps
    from relay.debuggers.debugpy.debuggee.probe.failures.ends_tests import listen_to_tests
    from relay.debuggers.debugpy.debuggee.probe.failures.ends_testtools import listen_to_testtools
    from relay.debuggers.debugpy.debuggee.probe.failures.ends_threads import listen_to_threads
    from relay.debuggers.debugpy.debuggee.probe.failures.ends_twisted import listen_to_twisted
    from relay.debuggers.debugpy.debuggee.probe.failures.exits import listen_to_exits
    from relay.debuggers.debugpy.debuggee.probe.failures.failing import failures_stop
    from relay.debuggers.debugpy.debuggee.probe.failures.own_code import own_roots
    from relay.debuggers.debugpy.debuggee.probe.failures.rewritten import listen_to_rewriting
    from relay.debuggers.debugpy.debuggee.probe.hooks.limitations import can
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt

_listening: list[bool] = []


def watch_failures(on: bool, roots: list[str]) -> dict[str, Any]:
    """Stop at what ends a test, a thread, a task, a request, a job or the process; or do not.

    roots: the directories of the program's own code. `cannot` lists the ends that this
    interpreter does not report.
    """
    on = on and can("failures")  # else it is one of the session's limitations
    own_roots(roots)
    failures_stop(on)
    cannot: list[str] = []
    if on and not _listening:
        _listening.append(True)
        for name, listen_to in (
            ("pytest", listen_to_pytest),
            ("tests", listen_to_tests),
            ("doctest", listen_to_doctest),
            ("testtools", listen_to_testtools),
            ("runners", listen_to_runners),
            ("examples", listen_to_examples),
            ("steps", listen_to_steps),
            ("threads", listen_to_threads),
            ("tasks", listen_to_loops),
            ("twisted", listen_to_twisted),
            ("requests", listen_to_requests),
            ("jobs", listen_to_jobs),
            ("logs", listen_to_logs),
            ("rewritten tracebacks", listen_to_rewriting),
            ("process", listen_to_process),
            ("exits", listen_to_exits),
        ):
            if attempt(_done, listen_to, default=None) is None:
                cannot.append(name)
    return {"cannot": cannot}


def _done(listen_to: Any) -> bool:
    listen_to()
    return True
