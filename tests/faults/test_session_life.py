"""A session's life by lot, against the real debugger: after each request it is where it should be.

`RELAY_TEST_FAULTS=1000 pytest tests/faults/test_session_life.py` goes through a hundred lives.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.faults.relay_process import RelayProcess, relay_process
from tests.programs import Program

LIVES = max(3, int(os.environ.get("RELAY_TEST_FAULTS", "0")) // 10)
MOVES = 25

LOOP = """
    import time

    def turn(count):
        return count + 1  # @turn

    count = 0  # @entry
    while True:
        count = turn(count)  # @loop
        time.sleep(0.002)
"""

STEPS = ("step-over", "step-into", "step-out")
LEGAL = {
    "created": {"launch"},
    "paused": {"continue", "evaluate", "terminate", "restart", *STEPS},
    "running": {"pause", "terminate", "restart"},
    "terminated": {"restart"},
}
"""What a session in each state takes, of what changes the state of the program or needs a stop."""
VERBS = sorted(set().union(*LEGAL.values()))
BODIES: dict[str, dict[str, Any]] = {"evaluate": {"expression": "count"}, "pause": {"wait": 30}}


class SessionLife(RuleBasedStateMachine):
    """One session in a relay that others have used before, and what it should be by now."""

    relay: RelayProcess
    program: Program

    @initialize()
    def create(self) -> None:
        self.path = self.relay.session()
        self.status = "created"
        self.has_breakpoint = False
        self.stops_on_entry = False
        self.cursor: str | None = None
        self.last_seq = 0

    def teardown(self) -> None:
        if hasattr(self, "path"):
            assert self.ask("DELETE", "")[0] == 200

    def ask(self, method: str, path: str, **body: Any) -> tuple[int, Any]:
        """Status and envelope; what is wrong with the relay itself fails here."""
        found, envelope = self.relay.call(method, self.path + path, json.dumps(body).encode())
        assert found < 500, envelope
        return found, envelope

    # What moves it

    @precondition(lambda self: "launch" in LEGAL[self.status])
    @rule(on_entry=st.booleans())
    def launch(self, on_entry: bool) -> None:
        self.stops_on_entry = on_entry
        self._begins("launch", script=self.program.text, stop_on_entry=on_entry)

    @precondition(lambda self: "restart" in LEGAL[self.status])
    @rule()
    def restart(self) -> None:
        self._begins("restart")

    def _begins(self, verb: str, **body: Any) -> None:
        stands = self.stops_on_entry or self.has_breakpoint
        self._moves(verb, "paused" if stands else "running", wait=30 if stands else 0, **body)

    @precondition(lambda self: self.status == "paused")
    @rule()
    def resume(self) -> None:
        if self.has_breakpoint:
            self._moves("continue", "paused", wait=30)
        else:
            self._moves("continue", "running", wait=0)

    @precondition(lambda self: self.status == "paused")
    @rule(verb=st.sampled_from(STEPS[:2]))
    def step(self, verb: str) -> None:
        self._moves(verb, "paused", wait=30)

    @precondition(lambda self: self.status == "running")
    @rule()
    def pause(self) -> None:
        self._moves("pause", "paused", wait=30)

    @precondition(lambda self: self.status in ("paused", "running"))
    @rule()
    def terminate(self) -> None:
        self._moves("terminate", "terminated")

    def _moves(self, verb: str, to: str, **body: Any) -> None:
        found, envelope = self.ask("POST", f"/{verb}", **body)
        assert found == 200, (verb, self.status, envelope)
        self.status = to

    # What does not

    @precondition(lambda self: self.status == "paused")
    @rule()
    def evaluate(self) -> None:
        found, envelope = self.ask("POST", "/evaluate", expression="1 + 1")
        assert (found, envelope["data"]["result"]) == (200, "2")

    @rule(verb=st.sampled_from(VERBS))
    def refuse(self, verb: str) -> None:
        if verb in LEGAL[self.status]:
            return
        body = {"script": self.program.text} if verb == "launch" else BODIES.get(verb, {})
        found, envelope = self.ask("POST", f"/{verb}", **body)
        # What was never launched cannot be launched as it was.
        expected = 400 if verb == "restart" else 409
        assert found == expected, (verb, self.status, envelope)
        assert envelope["error"]["details"]["suggestion"]

    @rule(mark=st.sampled_from(["turn", "loop"]))
    def set_breakpoint(self, mark: str) -> None:
        place = {"source": {"path": self.program.text}, "line": self.program.line(mark)}
        found, envelope = self.ask("POST", "/breakpoints", breakpoints=[place])
        assert found in (200, 201), envelope
        self.has_breakpoint = True
        if self.status == "running":  # it comes there by itself
            self._until_stopped()

    def _until_stopped(self) -> None:
        found, envelope = self.ask("POST", "/pause", wait=30)
        assert found in (200, 409), envelope  # it may be there already
        self.status = "paused"

    @rule()
    def clear_breakpoints(self) -> None:
        assert self.ask("DELETE", "/breakpoints")[0] == 200
        self.has_breakpoint = False

    # What holds always

    @invariant()
    def it_is_where_it_should_be(self) -> None:
        if not hasattr(self, "path"):
            return
        found, envelope = self.ask("GET", "")
        assert (found, envelope["data"]["status"]) == (200, self.status)

    @invariant()
    def its_events_have_no_gap(self) -> None:
        if not hasattr(self, "path"):
            return
        query = "?limit=1000" + (f"&cursor={self.cursor}" if self.cursor else "")
        found, envelope = self.ask("GET", f"/events{query}")
        assert found == 200, envelope
        page = envelope["data"]
        assert page["dropped"] == 0
        numbers = [event["seq"] for event in page["events"]]
        assert numbers == list(range(self.last_seq + 1, self.last_seq + 1 + len(numbers)))
        self.cursor, self.last_seq = page["next_cursor"], self.last_seq + len(numbers)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[type[SessionLife]]:
    with relay_process(tmp_path, "relay") as relay:
        SessionLife.relay = relay
        SessionLife.program = Program.write(tmp_path / "loop.py", LOOP)
        yield SessionLife
        assert relay.ends()[0] == 0
        assert "Traceback" not in relay.log()


def test_every_life_goes_as_the_table_says(machine: type[SessionLife]) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=LIVES,
            stateful_step_count=MOVES,
            deadline=None,
            database=None,
            derandomize="RELAY_TEST_FAULTS" not in os.environ,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        ),
    )
