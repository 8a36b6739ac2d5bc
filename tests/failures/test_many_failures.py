"""What many failures cost: what a stop finds out of the code of the runner, it finds out once."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import pytest

from tests.e2e.api import Api
from tests.failures.runs import run_tests
from tests.programs import Program

Write = Callable[..., Program]

COUNTED = """
    import collections
    import json
    import pathlib
    import sys

    import pytest

    calls = collections.Counter()

    def count(frame, event, arg):
        if event == "call":
            calls[frame.f_code.co_name] += 1

    def divide(n):
        return n / 0  # @raise

    @pytest.mark.parametrize("n", range(3))
    def test_fails(n):
        if n == 2:
            sys.setprofile(count)
        divide(n)

    def test_that_says_it():
        sys.setprofile(None)
        pathlib.Path(__file__).with_name("calls.json").write_text(json.dumps(calls))
"""


async def test_a_failure_after_the_first_finds_the_runner_known(api: Api, program: Write) -> None:
    suite = program(COUNTED, "test_counted.py")
    found = await run_tests(api, suite.text)
    assert [stop.line for stop in found.stops] == [suite.line("raise")] * 3
    traces = [stop.exception["traceback"] for stop in found.stops]
    assert len({text.replace(f"test_fails[{n}]", "") for n, text in enumerate(traces)}) == 1
    calls = json.loads(suite.path.with_name("calls.json").read_text())
    assert calls["exception_answer"] >= 1
    of_others = 3  # of what pytest itself does with the failure
    assert calls.get("_parse_exception_table", 0) <= of_others
    assert calls.get("_extract_caret_anchors_from_line_segment", 0) <= of_others
    assert calls.get("getline", 0) < 20


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="no trace function is set from there on")
async def test_what_the_debugger_does_at_a_failure_is_not_traced(api: Api, program: Write) -> None:
    fails = program("""
        def fail():
            raise ValueError

        fail()
    """)
    session = await api.session()
    answer = await session.post("/launch", script=fails.text, wait=60)
    assert answer["post_mortem"] is True
    evaluated = await session.post(
        "/evaluate", expression="__import__('sys').gettrace._debug_relay_original()"
    )
    assert evaluated["result"] == "None"
    answer = await session.post("/step-over", wait=60)  # where its thread is: at its end
    assert answer["status"] == "terminated"
