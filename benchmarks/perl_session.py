"""The same questions as to the Perl adapter, asked over HTTP of a session of the relay."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.failure import PATIENCE_SECONDS, expect
from benchmarks.perl_questions import CHILDREN, INNER, OUTER, PAGE, STACK, STEP, VARIABLES, Clock
from benchmarks.relay_side import Http, running_relay

Json = dict[str, Any]


class PerlSession:
    """A session that stands at a breakpoint of the program."""

    def __init__(self, http: Http, program: Path, line: int) -> None:
        self._http = http
        created = http.post(
            "/sessions",
            adapter="perl",
            breakpoints=[{"file": str(program), "line": line}],
            launch={"script": str(program), "wait": int(PATIENCE_SECONDS)},
        )
        expect(created["status"] == "paused", f"relay: {created}")
        self._path = f"/sessions/{created['session_id']}"

    def one_round(self, clock: Clock) -> None:
        """Each question once, at a stop that nobody has looked at before."""
        step = clock.time(STEP, lambda: self._http.post(f"{self._path}/step-over"))
        expect(step["stop_reason"] == "step", f"relay: {step}")
        stack = clock.time(STACK, lambda: self._get("/stacktrace"))["frames"]
        scopes = [self._scope(frame) for frame in (0, len(stack) - 1)]
        clock.time(VARIABLES, lambda: self._get(f"/variables?variables_reference={scopes[0]}"))
        rows = self._get(f"/variables?variables_reference={scopes[1]}")["variables"]
        many = next(row for row in rows if row["name"] == "@many")["variables_reference"]
        page = f"/variables?variables_reference={many}&start=0&count={PAGE}"
        shown = clock.time(CHILDREN, lambda: self._get(page))["variables"]
        expect(len(shown) == PAGE, f"relay: {len(shown)} children, not {PAGE}")
        clock.time(INNER, lambda: self._evaluate("$q + 1", 0))
        clock.time(OUTER, lambda: self._evaluate("$n + 1", 1))

    def _get(self, path: str) -> Json:
        return self._http.get(self._path + path)

    def _scope(self, frame: int) -> int:
        scopes = self._get(f"/scopes?frame_id={frame}")["scopes"]
        reference: int = scopes[0]["variables_reference"]
        return reference

    def _evaluate(self, expression: str, frame: int) -> Json:
        body = {"expression": expression, "frame_id": frame}
        return self._http.post(f"{self._path}/evaluate", **body)

    def close(self) -> None:
        """Ends it, and the program."""
        self._http.delete(self._path)


@contextmanager
def perl_session(python: str, folder: Path, program: Path, line: int) -> Iterator[PerlSession]:
    """In a relay of its own, stopped at the line."""
    with running_relay(python, folder) as relay:
        session = PerlSession(relay.http, program, line)
        yield session
        session.close()
