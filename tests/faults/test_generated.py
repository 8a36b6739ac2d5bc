"""Requests made by lot from the OpenAPI document: each answer is as the document says.

Half of them fit the document, half do not, and all name a session that there is. `tox -e fuzz` makes
them; `tox -e soak` fifty times as many, other ones each time.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import requests
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from relay.faces.http.openapi import openapi
from relay.faces.http.routes import ROUTES
from relay.models.patterns import NO_NUL
from relay.routes.endpoint import API
from tests.faults.relay_process import SECONDS, RelayProcess, relay_process
from tests.faults.sessions_in_states import STATES, SessionsInStates

schemathesis = pytest.importorskip("schemathesis", reason="it is in the group `fuzz`")
checks = pytest.importorskip("schemathesis.specs.openapi.checks")

REQUESTS = int(os.environ.get("RELAY_TEST_REQUESTS", "2000"))
"""How many are made of all operations together."""

LEFT_OUT = {"POST /shutdown"}
"""It would be the last one; `tests/e2e` has it."""

CHECKS = [
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]

NOBODY = 2**22 + 1
"""No process has this id: Linux gives none above 2 ** 22."""

HARMLESS: dict[str, Any] = {"pid": NOBODY, "host": "127.0.0.1", "port": 1, "python_path": "python"}
"""Given instead of any other value: nothing of the machine's is attached to, called or run."""

PATIENCE = 0.02
"""Seconds for `wait` and `timeout`, which may be five minutes."""


def _document() -> dict[str, Any]:
    # To make texts that match this pattern takes ten times as long as all the rest.
    document = json.dumps(openapi(ROUTES)).replace(
        f'"pattern": {json.dumps(NO_NUL)}', '"title": ""'
    )
    loaded: dict[str, Any] = json.loads(document)
    return loaded


def _operations() -> list[Any]:
    found = [
        result.ok() for result in schemathesis.openapi.from_dict(_document()).get_all_operations()
    ]
    return [operation for operation in found if operation.label not in LEFT_OUT]


OPERATIONS = _operations()
PARTS = 4
EXAMPLES = max(1, REQUESTS // len(OPERATIONS))


@pytest.mark.parametrize("part", range(PARTS))
def test_answers_are_as_documented(part: int, tmp_path: Path) -> None:
    """In parts, which may be run side by side."""
    failures: list[Exception] = []
    with relay_process(tmp_path, "relay") as relay, requests.Session() as web:
        web.trust_env = False
        sessions = SessionsInStates(relay, tmp_path)
        for operation in OPERATIONS[part::PARTS]:
            try:
                _try(operation, relay, sessions, web)
            except (Exception, ExceptionGroup) as error:  # noqa: BLE001  all that is wrong is shown
                error.add_note(operation.label)
                failures.append(error)
        sessions.end_detached()
        log = relay.log()
        assert relay.ends()[0] == 0
    if failures:
        raise ExceptionGroup("not as documented", failures)
    assert "Traceback" not in log


def _try(
    operation: Any,
    relay: RelayProcess,
    sessions: SessionsInStates,
    web: requests.Session,
) -> None:
    url = f"http://127.0.0.1:{relay.port}{API}"
    cases = st.one_of(
        operation.as_strategy(generation_mode=schemathesis.GenerationMode.POSITIVE),
        operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE),
    )

    @settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        derandomize="RELAY_TEST_REQUESTS" not in os.environ,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases, state=st.sampled_from([*STATES]), fields=st.booleans())
    def answers(case: Any, state: str, fields: bool) -> None:
        _lead_somewhere(case, sessions.known(state), fields=fields)
        if operation.method != "get":
            sessions.may_have_changed()
        _check(case, web, url)

    try:
        answers()
    finally:
        sessions.tidy()


FEWEST_SESSIONS = 10
"""The relay must have room for those that are here."""


def _lead_somewhere(case: Any, known: dict[str, Any], *, fields: bool) -> None:
    """Put in what there is: in the path always, elsewhere where `fields` says so."""
    case.path_parameters.update(
        {name: known[name] for name in case.path_parameters if name in known}
    )
    for part in (case.query, case.body):
        if isinstance(part, dict):
            if fields:
                part.update({name: known[name] for name in part if name in known})
            _disarm(part)


def _disarm(part: Any) -> None:
    """Nothing waits for minutes, or reaches for what is not ours."""
    if isinstance(part, list):
        for item in part:
            _disarm(item)
    if isinstance(part, dict):
        for name, value in part.items():
            if name in HARMLESS and isinstance(value, (int, str)):
                part[name] = HARMLESS[name]
            elif name in {"wait", "timeout", "connect_timeout"} and isinstance(value, (int, float)):
                part[name] = min(value, PATIENCE)
            elif name == "max_sessions" and type(value) is int and value > 0:
                part[name] = max(value, FEWEST_SESSIONS)
            else:
                _disarm(value)


def _check(case: Any, web: requests.Session, url: str) -> None:
    answer = web.request(**case.as_transport_kwargs(base_url=url), stream=True, timeout=SECONDS)
    if answer.headers["Content-Type"].startswith("text/event-stream"):
        with answer:  # it has no end
            assert answer.status_code == 200
            assert next(answer.iter_content(None))
        return
    if answer.status_code >= 500:
        assert answer.json()["error"]["code"] != "INTERNAL_ERROR", case.as_curl_command()
    case.validate_response(answer, checks=CHECKS)
