"""Which tests one Python suffices for: what they try does not depend on the relay's own.

Knows the places and the parameters of such tests; conftest.py gives them the mark `once`. Refuses
to know how an environment is made: tox.ini runs those with the mark in one environment, and those
without it on each Python, so that every test runs in at least one (test_environments.py). Knows,
too, which tests are a sample that is enough for each change.
"""

from __future__ import annotations

import math
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest

TESTS = Path(__file__).parent

PLACES = (
    # They read source text or pages.
    *("docs", "debuggers/test_probe_names.py", "session/test_ownership.py"),
    *(
        "test_actions.py",
        "test_dependencies.py",
        "test_environments.py",
        "test_layers.py",
        "test_tools.py",
        "test_words.py",
    ),
    # Other programs: benchmarks, clients, adapters, and debuggees of each Python.
    *("benchmarks", "deploy", "editor", "oracle", "perl", "versions"),
    *("debuggers/test_probe_live.py", "debuggers/test_traps.py", "e2e/test_traps.py"),
    *("e2e/test_data_checks.py", "e2e/test_mocked_functions.py", "e2e/test_signal_handlers.py"),
    *("e2e/test_configured_adapters.py", "e2e/test_interpreters.py", "e2e/test_more_adapters.py"),
    *("e2e/test_odd_adapters.py", "e2e/test_perl_attach.py", "e2e/test_perl_sessions.py"),
    "e2e/test_perl_compilation.py",
    *("e2e/test_seed_clients.py", "test_add_a_debugger.py", "test_add_a_verb.py"),
    # What a request may say, in which state it is refused, and what is answered and kept.
    *("e2e/test_api_shapes.py", "e2e/test_bad_input.py", "e2e/test_bad_state.py"),
    "e2e/test_bodies.py",
    *("e2e/test_breakpoint_profiles.py", "e2e/test_config_routes.py", "e2e/test_events.py"),
    "e2e/test_holding.py",
    *("e2e/test_inspect_redaction.py", "e2e/test_metrics.py", "e2e/test_redacted_credentials.py"),
    *("e2e/test_report.py", "e2e/test_session_definition.py", "e2e/test_session_expiry.py"),
    *("e2e/test_session_persistence.py", "e2e/test_session_status.py", "e2e/test_tool_api.py"),
    "debuggers/test_probe_credentials.py",
    # Words and options of the faces, for questions that e2e asks over HTTP on each Python. Every
    # face is tried on each by test_demo.py, test_run_ahead.py, mcp/test_stdio.py and
    # stdio/test_conversations.py.
    *(
        "agents",
        "cli",
        "client",
        "http",
        "logs",
        "ui",
        "mcp/test_calls.py",
        "mcp/test_first_generation.py",
        "mcp/test_hangs.py",
        "mcp/test_http.py",
        "mcp/test_protocols.py",
        "mcp/test_recorded_clients.py",
        "mcp/test_resources.py",
    ),
    *("mcp/test_tools.py", "mcp/test_watch.py", "mcp/test_why.py", "stdio/test_lines.py"),
    *("test_add_a_face.py", "test_cli.py", "test_diff.py", "test_run.py", "test_run_calls.py"),
    *("test_faces_children.py", "test_faces_errors.py", "test_faces_interpreter.py"),
    "test_faces_ways.py",
    # The relay's own processes, streams and ends, whatever is debugged.
    *("e2e/test_embedding.py", "e2e/test_embedding_cancelled.py", "e2e/test_input.py"),
    *("e2e/test_killed_relay.py", "e2e/test_output.py", "e2e/test_own_secrets.py"),
    *("e2e/test_processes.py", "e2e/test_sse.py"),
    *("e2e/test_session_ending.py", "e2e/test_standby.py", "e2e/test_start_faults.py"),
    "e2e/test_teardown.py",
    *("session/test_guardian.py", "session/test_process.py"),
    # What clients do wrong, and what is asked for by lot.
    "faults",
    # Libraries whose failures are heard of by their own hooks, as those of runners are.
    "failures/test_frameworks.py",
    # How long ten programs take that are debugged at once.
    "e2e/test_in_time.py",
)
"""Below tests/: folders and files of which one environment runs everything."""

DEBUGGEES = frozenset({"python", "tracing", "version"})
"""Parameters that say which interpreter the debuggee has, whatever the relay's own is."""

STOCK_RUNGS = frozenset({"plain", "adapter"})
"""The rungs of the launch ladder on which debugpy starts itself, as its own users start it.

What there is of ours, `fast` has too. `e2e/test_interpreters.py` launches on each, on each Python.
"""

ON_EACH_RUNG = ("e2e/test_first_session.py",)
"""Below tests/: where every Python runs every rung."""

SLOW_RUNG = "adapter"
"""The last rung of the launch ladder: a launch takes three processes, and as long as eight others."""

SLOW_RUNG_SAMPLE = (
    *("e2e/test_execution.py", "e2e/test_first_session.py", "e2e/test_killed_relay.py"),
    *("e2e/test_session_ending.py", "failures/test_python.py", "oracle/test_oracle.py"),
)
"""Below tests/: what is enough of the slow rung for each change. Plain tox runs all of it."""

WHOLE_SESSIONS = (
    *("benchmarks/", "cli/", "debuggers/", "deploy/", "e2e/", "editor/", "failures/", "faults/"),
    *("mcp/", "oracle/", "perl/", "stdio/", "ui/", "versions/"),
    *("docs/test_docs.py::test_commands_do", "test_diff", "test_faces", "test_run"),
)
"""Below tests/: what launches programs, nine tenths of all time. Each change tries a sample of it."""

SAMPLED = 12
"""Of so many parameter sets of a test, the sample holds one."""

SAMPLED_PLAIN = 7
"""Of so many tests without parameters, the sample holds one."""

SAMPLED_FEW = 2
"""Of so many tests with parameters, but no more sets than SAMPLED, the sample holds one."""

OLDEST = (3, 11)
"""The Python of the relay for which the sample holds what the sample of the others leaves."""

_PLACES = tuple(f"{TESTS / place}" for place in PLACES)
_ON_EACH_RUNG = tuple(f"{TESTS / place}" for place in ON_EACH_RUNG)
_SLOW_RUNG_SAMPLE = tuple(f"{TESTS / place}" for place in SLOW_RUNG_SAMPLE)


def suffices_once(item: pytest.Item) -> bool:
    """Whether the outcome of this test is the same on each Python that the relay may have."""
    parameters = _parameters(item)
    if is_place_of_once(item.path) or not DEBUGGEES.isdisjoint(parameters):
        return True
    rung = parameters.get("rung", parameters.get("mode"))
    return rung in STOCK_RUNGS and not str(item.path).startswith(_ON_EACH_RUNG)


def is_place_of_once(path: Path) -> bool:
    """Whether it is a file or a folder all of whose tests one Python suffices for."""
    return str(path).startswith(_PLACES)


def sample(items: Sequence[pytest.Item], change: str) -> list[pytest.Item]:
    """What each change tries of these tests on this Python: another change tries others."""
    places = tuple(f"{TESTS.name}/{place}" for place in WHOLE_SESSIONS)
    drawn: set[str] = set()
    sampled: dict[tuple[str, bool], list[str]] = {}
    for item in items:
        if not item.nodeid.startswith(places):
            drawn.add(item.nodeid)
        elif not _is_of_slow_rung(item) or str(item.path).startswith(_SLOW_RUNG_SAMPLE):
            test = item.nodeid.partition("[")[0], suffices_once(item)
            sampled.setdefault(test, []).append(item.nodeid)
    for (name, is_once), sets in sampled.items():
        if len(sets) <= SAMPLED:
            of = SAMPLED_PLAIN if sets == [name] else SAMPLED_FEW
            if not is_drawn(name, change, of):
                continue
        python = sys.version_info[:2]
        drawn |= draw(sets, change) if is_once else dealt(sets, change, python)
    return [item for item in items if item.nodeid in drawn]


def draw(names: Sequence[str], change: str, pythons: int = 1) -> set[str]:
    """Of the parameter sets of one test as many as so many Pythons try: one at least."""
    share = math.ceil(len(names) * pythons / SAMPLED)
    return set(sorted(names, key=lambda name: _lot(change, name))[:share])


def is_drawn(test: str, change: str, of: int) -> bool:
    """Whether the sample, which holds one of so many such tests, holds this one, on one Python."""
    return _lot(change, test) % of == 0


def dealt(names: Sequence[str], change: str, python: tuple[int, int]) -> set[str]:
    """What this Python gets of those that two draw: the oldest one gets what the newest does not."""
    ordered = sorted(draw(names, change, 2))
    first = _lot(change, ordered[0]) // SAMPLED_PLAIN % 2  # what is_drawn does not ask of the lot
    return set(ordered[first ^ (python == OLDEST) :: 2])


def _lot(change: str, name: str) -> int:
    return zlib.crc32(f"{change} {name}".encode())


def _is_of_slow_rung(item: pytest.Item) -> bool:
    parameters = _parameters(item)
    return parameters.get("rung", parameters.get("mode")) == SLOW_RUNG


def _parameters(item: pytest.Item) -> dict[str, object]:
    call = getattr(item, "callspec", None)
    return call.params if call is not None else {}
