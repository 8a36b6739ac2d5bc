"""Tasks that a person gives to an agent by name: what it is to do with the tools.

Knows texts. Knows nothing of the SDK, and of the hub.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from relay.errors import InvalidRequest
from relay.models.complaints import unknown

HOW_TO_REPORT = (
    "Report the cause as FILE:LINE and one sentence, the values that show it, the steps from there "
    "to the symptom, and what you did not check. End the session with debug_end. Change no file."
)


_NAME = re.compile(r"\{(\w+)\}")


class Argument(NamedTuple):
    """A value that the person gives."""

    name: str
    description: str


class Prompt(NamedTuple):
    """One task; `{name}` in its text is an argument."""

    title: str
    description: str
    arguments: tuple[Argument, ...]
    text: str


PROMPTS: Mapping[str, Prompt] = {
    "failing-test": Prompt(
        "Why does this test fail?",
        "Find the root cause of a failing test, with the debugger",
        (Argument("test", "The test as pytest knows it: tests/test_cart.py::test_total"),),
        "Find out why the test {test} fails. Run it by debug_run module=pytest with "
        'args=["-q", TEST]: without breakpoints the failure is a stop where it was raised. There, '
        "ask which value is wrong, and debug_trace what=why who wrote it. ",
    ),
    "wrong-value": Prompt(
        "Where does this value come from?",
        "Find who wrote a value, and the value before it, at a line of a program",
        (
            Argument("script", "The program that runs: app.py"),
            Argument("place", "Where the value is wrong: app.py:42"),
            Argument("expression", "What is wrong there: cart.total"),
        ),
        "At {place}, {expression} is wrong. Find out who set it. Run {script} by debug_run with that "
        "place as breakpoint, look at the value, and ask debug_trace what=why target=EXPRESSION; "
        "follow it to the first write that is wrong. ",
    ),
    "hang": Prompt(
        "Why does this process hang?",
        "Find what a process waits for, and who holds it",
        (Argument("pid", "The id of the process"),),
        "The Python process {pid} hangs. Attach by debug_attach, and ask debug_inspect what=hang: "
        "what each thread and task waits for, who holds it, and the circle if there is one. Detach "
        "by debug_end detach=true, so that it lives on. ",
    ),
}


def text_of(name: str, given: Mapping[str, str]) -> str:
    """The task with its arguments filled in; raises InvalidRequest with all that is wrong."""
    if name not in PROMPTS:
        raise InvalidRequest.of_field("name", unknown(name[:100], list(PROMPTS)), name[:100])
    prompt = PROMPTS[name]
    missing = [one.name for one in prompt.arguments if not given.get(one.name, "").strip()]
    if missing:
        errors = [{"field": field, "message": "is required", "value": None} for field in missing]
        raise InvalidRequest(f"{', '.join(missing)}: required", errors=errors)
    # Not by str.format: an argument may have braces, and stays as it is.
    return _NAME.sub(lambda match: given[match[1]].strip(), prompt.text) + HOW_TO_REPORT
