"""Why Perl gave up compiling, by its own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay.perl.compilation import source_fault
from tests.perl.driver import Refused, adapter
from tests.programs import Program

GIVEN_UP = "Execution of /a/b.pl aborted due to compilation errors.\n"

FAULTS = {
    "bare": (f'syntax error at /a/b.pl line 7, near "= ;"\n{GIVEN_UP}', 7, 'syntax error, near "= ;"'),
    "behind a warning": (
        '"my" variable $a masks earlier declaration in same scope at /a/b.pl line 2.\n'
        f"syntax error at /a/b.pl line 7, at EOF\n{GIVEN_UP}",
        7,
        "syntax error, at EOF",
    ),
    "of several, the first": (
        'Global symbol "$x" requires explicit package name at /a/b.pl line 3.\n'
        f'Global symbol "$y" requires explicit package name at /a/b.pl line 4.\n{GIVEN_UP}',
        3,
        'Global symbol "$x" requires explicit package name',
    ),
    "a message of another kind": (f"So it is at /a/b.pl line 5.\n{GIVEN_UP}", 5, "So it is"),
    "before a use": (
        "syntax error at /a/b.pl line 4, near \"= ;\"\n"
        "BEGIN not safe after errors--compilation aborted at /a/b.pl line 8.\n",
        4,
        'syntax error, near "= ;"',
    ),
    "too many": ("Missing x at /a/b.pl line 5.\n/a/b.pl has too many errors.\n", 5, "Missing x"),
    "what an END block prints": (f"syntax error at /a/b.pl line 7, at EOF\n{GIVEN_UP}bye\n", 7, "syntax error, at EOF"),
    "an end of a line elsewhere": (
        f'syntax error at /a/b.pl line 7, near "\f\u2028= ;"\n{GIVEN_UP}',
        7,
        'syntax error, near "\f\u2028= ;"',
    ),
    "at once": (
        "Can't find string terminator \"'\" anywhere before EOF at /a/b.pl line 2.\n",
        2,
        "Can't find string terminator \"'\" anywhere before EOF",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_the_source_has_its_first_place(name: str) -> None:
    words, line, message = FAULTS[name]
    fault = source_fault(words, "/a/b.pl")
    assert fault is not None
    assert (fault.file, fault.line, fault.message) == ("/a/b.pl", line, message)


OTHERS = {
    "nothing": "",
    "a missing module": "Can't locate X.pm in @INC at /a/b.pl line 1.\nBEGIN failed--compilation aborted at /a/b.pl line 1.\n",
    "a broken module": "syntax error at /a/X.pm line 3, near \"= ;\"\nCompilation failed in require at /a/b.pl line 1.\n"
    "BEGIN failed--compilation aborted at /a/b.pl line 1.\n",
    "another program": "syntax error at /a/c.pl line 1, at EOF\nExecution of /a/c.pl aborted due to compilation errors.\n",
    "a warning and exit": "not here at /a/b.pl line 3.\n",
    "a place of another file": "Can't find string terminator ')' anywhere before EOF at /a/c.pl line 2.\n",
    "CHECK": "Can't localize x at /a/b.pl line 1.\nCHECK failed--call queue aborted.\n",
    "no place": GIVEN_UP,
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_fault_of_the_source_is_none(name: str) -> None:
    assert source_fault(OTHERS[name], "/a/b.pl") is None


async def test_a_client_that_awaits_the_compilation_is_refused_a_broken_program(
    tmp_path: Path,
) -> None:
    """The others have launched it, and learn of its end."""
    module = Program.write(tmp_path / "Own.pm", "package Own;\nour $x = 1;    # @own\n1;\n")
    text = f"use lib '{tmp_path}';\nuse Own;\nmy $y = ;    # @bad\n"
    broken = Program.write(tmp_path / "broken.pl", text)
    async with adapter() as perl:
        await perl.ask("initialize")
        arguments = {"program": broken.text, "awaitCompilation": True}
        launch = await perl.send({"command": "launch", "arguments": arguments})
        await perl.ask("configurationDone")
        answer = await perl.response(launch)
        assert not answer["success"]
        refused = Refused(answer)
        facts = refused.error["variables"]
        assert (refused.number, facts["file"], facts["line"]) == (1009, broken.text, "3")
        assert facts["text"] == "my $y = ;    # @bad"
        assert b"aborted due to compilation errors" in perl.printed("stderr")
        with pytest.raises(Refused) as late:
            await perl.ask("pause")
        assert late.value.number == 1006
        assert not perl.events("terminated")
    async with adapter() as perl:
        await perl.start(broken)
        await perl.places(module, "own")
        await perl.ask("configurationDone")
        await perl.stop()
        await perl.ask("continue", threadId=1)
        assert await perl.end() == 255


async def test_a_program_that_stops_as_it_is_compiled_is_launched(tmp_path: Path) -> None:
    module = Program.write(tmp_path / "Own.pm", "package Own;\nour $x = 1;    # @own\n1;\n")
    main = Program.write(tmp_path / "main.pl", f"use lib '{tmp_path}';\nuse Own;\nprint 'ran';\n")
    async with adapter() as perl:
        await perl.ask("initialize")
        await perl.places(module, "own")
        arguments = {"program": main.text, "awaitCompilation": True}
        launch = await perl.send({"command": "launch", "arguments": arguments})
        await perl.ask("configurationDone")
        await perl.stop()
        assert (await perl.response(launch))["success"]
        await perl.ask("continue", threadId=1)
        assert await perl.end() == 0
        assert perl.printed("stdout") == b"ran"


@pytest.mark.parametrize("text", ["BEGIN { exit 3 }", "use Not::There;"])
async def test_an_end_is_told_after_the_beginning_and_the_configuration(
    tmp_path: Path, text: str
) -> None:
    ends = Program.write(tmp_path / "ends.pl", f"{text}\nprint 'ran';    # @last\n")
    async with adapter() as perl:
        await perl.start(ends)
        await perl.places(ends, "last")
        await perl.ask("setExceptionBreakpoints", filters=["uncaught"])
        assert not perl.events("exited")
        await perl.ask("configurationDone")
        assert await perl.end() == (3 if "exit" in text else 2)
