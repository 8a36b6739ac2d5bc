"""Breakpoints: where they land, when they stop, and in files that come later."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay.perl import source
from tests.perl.driver import Body, Refused, adapter
from tests.programs import Program

PLACES = """
    use strict;
    my $x = 1;

    # a comment    # @comment
    # another
    my $y = 2;    # @code

    =pod    # @pod

    Text \f \x85 \u2028 here

    more of it

    and more

    =cut

    my $text = <<'END' . <<~'REST';    # @heredoc
    one    # @inside
    two
    three
    four
    five
    six
    END
      rest    # @indented
      REST
    my $string = 'begins    # @quote
    inside    # @string
    a
    b
    c
    d
    ends' . q{
    {braces}
    };
    print $x + $y, "\\n";    # @print
    if ($x) {
        $y++;    # @block
    }
    # the last    # @last
    #
    #
    #
    #
    #
    #
    __END__
    nothing    # @data
"""


async def test_a_breakpoint_moves_forward_by_at_most_five_lines_or_says_why(
    tmp_path: Path,
) -> None:
    program = Program.write(tmp_path / "places.pl", PLACES)
    total = program.path.read_text().count("\n")
    async with adapter() as perl:
        await perl.start(program)
        places = {
            "comment": "code",
            "code": "code",
            "pod": source.POD,
            "inside": source.HEREDOC,
            "indented": "quote",
            "string": source.STRING,
            "last": source.COMMENT,
            "data": source.DATA,
            "print": "print",
            "block": "block",
        }
        told = dict(zip(places, await perl.places(program, *places), strict=True))
        for mark, expected in places.items():
            if not expected.startswith("Line "):
                assert (mark, told[mark]["line"]) == (mark, program.line(expected))
                assert told[mark]["verified"] is True
                assert "message" not in told[mark]
            else:
                assert (mark, told[mark]["message"]) == (mark, expected)
                assert (told[mark]["verified"], told[mark]["line"]) == (False, program.line(mark))
        [beyond] = await perl.places(program, total + 50)
        assert (beyond["verified"], beyond["message"]) == (False, source.BEYOND)
        assert (await perl.places(program, "code"))[0]["id"] not in {b["id"] for b in told.values()}
        await perl.ask("configurationDone")
        await perl.stop()
        await perl.ask("continue", threadId=1)
        assert await perl.end() == 0
        assert perl.printed("stdout") == b"3\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("my $s = 'it''s';\n# c\n", {2: source.COMMENT}),
        ("m{a\nb}x;\n1;", {2: source.STRING}),
        ("s/a/\nb/;\n1;", {2: source.STRING}),
        ("s{a}{\nb\n};\n1;", {2: source.STRING, 3: source.STRING}),
        ("my %h = (q => 1, y => 2);\n1;\n", {}),
        ("$x{s} = $h->{'y'} << 2;\n\n1;", {2: source.BLANK}),
        ("print <<A, <<B;\na\nA\nb\nB\n1;", dict.fromkeys(range(2, 6), source.HEREDOC)),
        ('my $r = \\"a";\n1; # it\'s\n2;', {}),
        ("$#a; $x = $# + 1;\n1;", {}),
        ("=head1 A\n\n=cut\n1;", dict.fromkeys((1, 2, 3), source.POD)),
        ("1; #\r \f \x1c \x85 \u2028\r\n\r\n1;\r\n", {2: source.BLANK}),
    ],
)
def test_the_reason_is_found_in_the_text(text: str, expected: dict[int, str]) -> None:
    assert source.reasons(text) == expected


LOOP = """
    use strict;
    use lib 'LIBRARY';
    my $sum = 0;
    for my $i (1 .. 10) {
        $sum += $i;    # @loop
    }
    require Later;
    Later::work($_) for 1 .. 2;
    our @seen = sort { $b <=> $a } 3, 1, 2;
    my $sorted = join ',', sort by_number @seen;    # @sorted
    print "$sum $sorted\\n";    # @end
    sub by_number {
        return $a <=> $b;    # @compare
    }
    sub DESTROY { }
    { my $guard = bless {}; }    # @guard
    print "over\\n";    # @over
"""

LATER = """
    package Later;
    sub work {
        my ($n) = @_;
        my %state = (n => $n);
        return \\%state;    # @work
    }
    1;
"""


async def test_conditions_hit_counts_log_messages_and_modules_loaded_later(tmp_path: Path) -> None:
    later = Program.write(tmp_path / "lib" / "Later.pm", LATER)
    program = Program.write(tmp_path / "loop.pl", LOOP.replace("LIBRARY", str(tmp_path / "lib")))
    async with adapter() as perl:
        await perl.ask("initialize")
        link = tmp_path / "link.pm"
        link.symlink_to(later.path)
        await perl.ask(
            "setBreakpoints", source={"path": str(link)}, breakpoints=[{"line": later.line("work")}]
        )
        await perl.ask("launch", program=program.text, stopOnEntry=True)
        points = await perl.places(
            program,
            {"line": "loop", "condition": "$i == 3 && @_ == 0"},
            {"line": "loop", "hitCondition": ">= 9"},
            {"line": "loop", "logMessage": "i={$i} {{ $sum }} {$nope}", "hitCondition": "%4"},
            {"line": "loop", "condition": "no_such_sub()", "hitCondition": "1"},
            {"line": "loop", "hitCondition": "often"},
        )
        assert [p["verified"] for p in points] == [True, True, True, True, False]
        assert "hitCondition" in points[4]["message"]
        ids = [p["id"] for p in points]
        await perl.ask("configurationDone")
        why, _ = await perl.stop()
        assert why["reason"] == "entry"
        why, _ = await perl.move("continue")
        assert why["hitBreakpointIds"] == [ids[3]], "a condition that dies stops, and says so"
        await perl.places(
            program,
            *[
                {"line": "loop", "condition": "$i == 3 && @_ == 0"},
                {"line": "loop", "hitCondition": ">= 8"},
                {"line": "loop", "logMessage": "i={$i} {{$sum}} {$nope}", "hitCondition": "%4"},
            ],
        )
        stops = [(await perl.move("continue"))[0]["hitBreakpointIds"] for _ in range(3)]
        again = ids[0]
        assert stops[0] == [again]
        assert await perl.value("$i") == "10"
        logged = [e for e in perl.events("output") if e["category"] == "console"]
        assert "no_such_sub" in logged[0]["output"]
        assert logged[1]["output"].startswith("i=5 ")
        assert logged[1]["source"] == {"path": program.text}
        assert logged[1]["line"] == program.line("loop")

        await perl.places(program, "sorted")
        why, frames = await perl.move("continue")
        assert (frames[0]["name"], frames[0]["source"]["path"]) == ("Later::work", str(later.path))
        assert (await perl.locals(frames[0]))["%state"]["value"] == "{1 keys}"
        await perl.ask("setBreakpoints", source={"path": str(link)}, breakpoints=[])
        _, frames = await perl.move("continue")
        assert frames[0]["line"] == program.line("sorted")
        # Over: neither the comparison nor the destructor is walked into.
        lines = [(await perl.move("next"))[1][0]["line"] for _ in range(4)]
        assert lines[0] == program.line("end")
        assert lines[-1] == program.line("over")
        nowhere = {"path": str(tmp_path / "none.pl")}
        with pytest.raises(Refused) as refused:
            await perl.ask("setBreakpoints", source=nowhere, breakpoints=[{"line": 1}])
        assert refused.value.number == 1007
        await perl.ask("restart")
        why, frames = await perl.stop()
        assert (why["reason"], len(frames)) == ("entry", 1)
        _, frames = await perl.move("continue")
        assert frames[0]["line"] == program.line("sorted")
        await perl.ask("continue", threadId=1)
        assert await perl.end() == 0
        assert perl.printed("stdout") == b"55 1,2,3\n" * 2 + b"over\n"


BUSY = """
    my @l = map { rand } 1 .. 40_000;
    $| = 1;
    print "go\\n";
    <STDIN>;
    @l = sort @l;    # one operation, which no signal interrupts
    my $after = 1;    # @after
    print "end\\n";
"""


async def test_a_busy_program_takes_breakpoints_as_soon_as_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relay.perl.placing.BREAKPOINT_SECONDS", 0.001)
    program = Program.write(tmp_path / "busy.pl", BUSY)
    async with adapter() as perl:
        await perl.start(program)
        await perl.ask("configurationDone")
        await perl.event("output")
        await perl.ask("stdin", input="now\n")
        [point] = await perl.places(program, "after")
        if not point["verified"]:  # it was within the operation, as nearly always
            assert point["message"].startswith("The program is busy")
            changed = (await perl.event("breakpoint"))["breakpoint"]
            assert changed == {**changed, "id": point["id"], "verified": True}
        why, _ = await perl.stop()
        assert why["hitBreakpointIds"] == [point["id"]]


async def test_files_that_come_by_do_have_breakpoints_each_time(tmp_path: Path) -> None:
    part = Program.write(tmp_path / "größe.pl", "our $size++;    # @size\n$size * 2;\n")
    main = """
        my $file = shift;
        sub other { my $n = shift; return $n }
        for my $turn (1 .. 3) {
            my $twice = do
                (other($file));
            print "$twice\\n";
        }
    """
    program = Program.write(tmp_path / "main.pl", main)
    async with adapter() as perl:
        await perl.start(program, args=[part.text])
        (placed,) = await perl.places(part, "size")
        assert placed["message"] == "The file is not loaded yet"
        await perl.ask("configurationDone")
        for turn in range(3):
            why, frames = await perl.stop()
            assert why["hitBreakpointIds"] == [placed["id"]]
            assert frames[0]["source"] == {"path": part.text, "name": "größe.pl"}
            assert await perl.value("$size // 0") == str(turn)
            await perl.ask("continue", threadId=1)
        assert await perl.end() == 0
        assert perl.printed("stdout") == b"2\n4\n6\n"
        assert [e["breakpoint"]["verified"] for e in perl.events("breakpoint")] == [True]


OWN = """
    package Own;
    our $made = "made";    # @top
    sub name { return $made }
    1;
"""


@pytest.mark.parametrize("how", ["use lib", "includePaths", "PERL5LIB"])
async def test_own_modules_are_stopped_at_as_they_load_wherever_they_lie(
    tmp_path: Path, how: str
) -> None:
    # Names of directories that perl's own have, too.
    module = Program.write(tmp_path / "opt" / "perl5" / "perl" / "Own.pm", OWN)
    library = str(module.path.parent)
    by_itself = f"use lib '{library}';\n" if how == "use lib" else ""
    program = Program.write(tmp_path / "main.pl", f"{by_itself}use Own;\nprint Own::name();\n")
    options: dict[str, Body] = {
        "use lib": {},
        "includePaths": {"includePaths": [library]},
        "PERL5LIB": {"env": {"PERL5LIB": f"/usr/share/perl5:{library}"}},
    }
    async with adapter() as perl:
        await perl.start(program, **options[how])
        [placed] = await perl.places(module, "top")
        assert placed["verified"], placed
        await perl.ask("configurationDone")
        why, frames = await perl.stop()
        assert why["hitBreakpointIds"] == [placed["id"]]
        assert frames[0]["line"] == module.line("top")
        await perl.ask("continue", threadId=1)
        assert await perl.end() == 0
        assert perl.printed("stdout") == b"made"


async def test_modules_that_perl_names_run_before_breakpoints_are_set(tmp_path: Path) -> None:
    """So that the program's own lines are known when they are: those of a library wait."""
    program = Program.write(tmp_path / "main.pl", "use File::Temp ();\nmy $x = 1;    # @own\n")
    async with adapter() as perl:
        await perl.start(program)
        [placed] = await perl.places(program, "own")
        assert placed["verified"]
        await perl.ask("configurationDone")
        await perl.stop()


RULES = """
    package Stubborn;
    use overload 'bool' => sub { die "no truth\\n" }, '""' => sub { die "no text\\n" };
    package main;
    use utf8;
    use v5.36;
    binmode STDOUT, ':utf8';
    my $stubborn = bless {}, 'Stubborn';
    sub greet ($word) {
        use integer;
        return "$word";    # @greet
    }
    say greet($_) for 'é', 'ü';
    sub plain { my $rest = shift;
        return "@_";    # @plain
    }
    say plain(1, 2);
"""


@pytest.mark.parametrize(
    ("condition", "stops"),
    [
        ('$word eq "é"', ["é"]),
        ('$word eq fc("Ü")', ["ü"]),
        ('10 / 4 == 2 && $word ne "é"', ["ü"]),
    ],
)
async def test_a_condition_follows_the_rules_of_its_line(
    tmp_path: Path, condition: str, stops: list[str]
) -> None:
    """`use utf8`, features and `use integer`, as an expression that is evaluated there does."""
    program = Program.write(tmp_path / "rules.pl", RULES)
    seen = []
    async with adapter() as perl:
        await perl.start(program)
        await perl.places(program, {"line": "greet", "condition": condition})
        await perl.ask("configurationDone")
        while await perl.either("stopped", "exited") == "stopped":
            await perl.ask("stackTrace", threadId=1)
            assert await perl.value(condition) == "1"
            seen.append(await perl.value("$word"))
            await perl.ask("continue", threadId=1)
        assert not [e for e in perl.events("output") if e["category"] == "console"]
    assert seen == stops


@pytest.mark.parametrize(
    ("condition", "why"),
    [("$wrod eq 'x'", 'Global symbol "$wrod"'), ("$stubborn", "no truth")],
)
async def test_a_condition_that_cannot_be_true_or_false_stops_and_says_why(
    tmp_path: Path, condition: str, why: str
) -> None:
    program = Program.write(tmp_path / "rules.pl", RULES)
    async with adapter() as perl:
        await perl.start(program)
        await perl.places(program, {"line": "greet", "condition": condition})
        await perl.ask("configurationDone")
        for _ in range(2):
            await perl.stop()
            await perl.ask("continue", threadId=1)
        assert await perl.end() == 0
        said = [e["output"] for e in perl.events("output") if e["category"] == "console"]
        assert len(said) == 2
        assert all(one.startswith(f"Condition '{condition}' failed: {why}") for one in said)
        assert perl.printed("stdout").decode() == "é\nü\n2\n"


async def test_a_log_message_has_the_arguments_and_characters_of_its_line(tmp_path: Path) -> None:
    program = Program.write(tmp_path / "rules.pl", RULES)
    async with adapter() as perl:
        await perl.start(program)
        await perl.places(
            program,
            {"line": "greet", "logMessage": "é {$word} {$stubborn}"},
            {"line": "plain", "logMessage": "{$rest} {$_[0]}"},
        )
        await perl.ask("configurationDone")
        assert await perl.end() == 0
        said = [e["output"] for e in perl.events("output") if e["category"] == "console"]
        assert said == ["é é {no text}\n", "é ü {no text}\n", "1 2\n"]


NUMBERS = """
    use lib (    # @use
    42,    # @number
    7,
    8,
    9,
    10,
    11,
    );
    use constant {
        INFINITE => 1,    # @infinite
    };
    print "@INC[0, 1]\\n";    # @print
"""


async def test_a_line_that_begins_with_a_number_is_no_statement(tmp_path: Path) -> None:
    """Perl keeps addresses of statements as numbers; to write to these would end the program."""
    program = Program.write(tmp_path / "numbers.pl", NUMBERS)
    async with adapter() as perl:
        await perl.start(program)
        found = await perl.places(program, "use", "number", "infinite")
        assert [one["verified"] for one in found] == [False, False, True]
        assert found[2]["line"] == program.line("print")
        await perl.ask("configurationDone")
        _, [frame] = await perl.stop()
        assert frame["line"] == program.line("print")
        await perl.ask("continue", threadId=1)
        assert await perl.end() == 0
        assert perl.printed("stdout") == b"42 7\n"
