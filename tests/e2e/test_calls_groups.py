"""What leaves an `except*` is what it has left of a group, with what its handlers have raised."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api
from tests.programs import Program

Write = Callable[..., Program]

GROUPS = """
    class Own(Exception):
        pass

    def several(number):
        raise ExceptionGroup("several", [ValueError(number), KeyError(number)])

    def in_part(number):
        try:
            several(number)  # @part
        except* ValueError:
            number = 0

    def by_nobody(number):
        try:
            several(number)  # @nobody
        except* OSError:
            number = 0

    def otherwise(number):
        try:
            several(number)
        except* ValueError:
            raise Own(number)

    def alone(number):
        try:
            raise Own(number)  # @alone
        except* ValueError:
            number = 0

    def alone_otherwise(number):
        try:
            raise ValueError(number)
        except* ValueError:
            raise Own(number)  # @again

    def wholly(number):
        try:
            several(number)
        except* (ValueError, KeyError):
            number = 0

    def nothing_else(number):
        try:
            several(number)
        except* ValueError:
            number = 0
        except* KeyError:
            raise Own(number)  # @nothing

    def every():
        for function in (
            in_part, by_nobody, otherwise, alone, alone_otherwise, wholly, nothing_else
        ):
            try:
                function(1)
            except Exception:
                pass

    every()  # @start
    print("end")  # @end
"""


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
async def test_what_except_star_leaves_of_a_group_is_no_part_that_was_handled(
    api: Api, program: Write, version: str
) -> None:
    """Python 3.11 tells nobody what it is: then its type is all that is said."""
    code = program(GROUPS)
    session = await api.session(python_path=installed_python(version))
    for place in ("start", "end"):
        await session.breakpoint(code.text, code.line(place))
    await session.launch(code.text)
    answer = await session.post("/calls", max_chars=4000, wait=30)
    told = [line[2:] for line in answer["text"].splitlines() if line.startswith("  ")]
    told = [line for line in told if not line.startswith(" ")]
    at, is_told = code.line, version != "3.11"
    group = "ExceptionGroup: several, [ValueError(1), KeyError(1)]"
    part = "ExceptionGroup: several, [KeyError(1)]" if is_told else "ExceptionGroup"
    joined = "ExceptionGroup: , [Own(1), ExceptionGroup('several', [KeyError(1)])]"
    assert told[0] == f"in_part(number=1) raised {part} at line {at('part')}"
    assert told[1] == f"by_nobody(number=1) raised at line {at('nobody')}"
    assert told[2].startswith(
        f"otherwise(number=1) raised {joined if is_told else 'ExceptionGroup'}"
    )
    assert told[3] == f"alone(number=1) raised Own: 1 at line {at('alone')}"
    assert told[4] == f"alone_otherwise(number=1) raised Own: 1 at line {at('again')}"
    assert told[5] == "wholly(number=1) → None"
    assert told[6] == f"nothing_else(number=1) raised Own: 0 at line {at('nothing')}"
    assert answer["text"].count(group) == 5, (
        "of `several` alone, whose exception passes through `by_nobody`"
    )
    assert "at line 0" not in answer["text"]


JOINED = """
    def joined(number):
        try:
            raise ExceptionGroup("several", [ValueError(number), KeyError(number)])
        except* ValueError:  # @except
            raise LookupError(number)
        return number

    def main():
        try:
            joined(1)  # @call
        except Exception as error:
            return str(error)

    print(main())  # @start
"""


@pytest.mark.parametrize("until", [None, "exception is not None"])
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
async def test_a_trace_ends_where_an_except_star_is_left_which_has_no_line_of_its_own(
    api: Api, program: Write, version: str, until: str | None
) -> None:
    code = program(JOINED)
    session = await api.session(python_path=installed_python(version))
    await session.breakpoint(code.text, code.line("start"))
    await session.launch(code.text)
    more = {} if until is None else {"until_result": until}
    found = await session.post("/trace", function="joined", tree=True, wait=30, **more)
    assert found["complete"], found["text"]
    assert found["tree"]["exception"]["type"] == "ExceptionGroup"
    text = found["tree"]["exception"]["text"]
    assert text.startswith(
        "ExceptionGroup:  (2 sub-exceptions)"
        if version != "3.11"
        else "ExceptionGroup: what except* has left, which Python 3.11 does not tell"
    )
    assert found["current_location"]["line"] == code.line("except")
    stack = (await session.get("/stacktrace"))["frames"]
    lines = [frame["line"] for frame in stack[:3]]
    assert lines == [code.line("except"), code.line("call"), code.line("start")]
