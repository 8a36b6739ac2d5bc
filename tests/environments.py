"""Which tests one Python suffices for: what they try does not depend on the relay's own.

Knows the places and the parameters of such tests; conftest.py gives them the mark `once`. Refuses
to know how an environment is made: tox.ini runs those with the mark in one environment, and those
without it on each Python, so that every test runs in at least one (test_environments.py).
"""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).parent

PLACES = (
    "benchmarks",  # whether the benchmarks work
    "docs",  # the pages, command by command
    "editor",  # other programs' clients of the relay
    "oracle",  # the debuggee compared with a trace of it
    "perl",
    "versions",  # debuggees with other releases of debugpy
    "debuggers/test_probe_live.py",  # the probe in a debuggee of each Python
    "e2e/test_bad_input.py",  # what the models of requests refuse
    "e2e/test_configured_adapters.py",
    "e2e/test_interpreters.py",  # debuggees of each Python
    "e2e/test_more_adapters.py",
    "e2e/test_perl_attach.py",
    "e2e/test_perl_sessions.py",
    "http/test_openapi.py",
    "test_layers.py",  # reads source text
)
"""Below tests/: folders and files of which one environment runs everything."""

DEBUGGEES = frozenset({"python", "tracing", "version"})
"""Parameters that say which interpreter the debuggee has, whatever the relay's own is."""

SLOW_RUNG = "adapter"
"""The last rung of the launch ladder: debugpy's own adapter, which takes seconds to launch."""

_PLACES = tuple(f"{TESTS / place}" for place in PLACES)


def suffices_once(item: pytest.Item) -> bool:
    """Whether the outcome of this test is the same on each Python that the relay may have."""
    parameters = _parameters(item)
    return (
        str(item.path).startswith(_PLACES)
        or not DEBUGGEES.isdisjoint(parameters)
        or SLOW_RUNG in parameters.values()
    )


def _parameters(item: pytest.Item) -> dict[str, object]:
    call = getattr(item, "callspec", None)
    return call.params if call is not None else {}
