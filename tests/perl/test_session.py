"""Whole sessions, as a client leads them, by the letter of the specification."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.perl.driver import Body, Peer, Refused, adapter
from tests.programs import Program

SUMS = """
    #!/usr/bin/perl
    use strict;
    use warnings;
    our $version = 7;
    my %conf = (name => 'x', list => [1, 2, 3]);
    my @stack = map { { id => $_, tags => [1 .. $_] } } 1 .. 3;
    my $long = "caf\\x{e9} \\x{1F600}" x 500;
    my $bytes = "na\\xc3\\xafve";
    my %odd = ("k'q" => 1, "\\x{e9}" => \\\\"deep", obj => bless({ a => 1 }, 'Point'));
    my ($undef, $pattern, $handle) = (undef, qr/a.b/i, \\*STDOUT);
    my $code = sub { my ($x) = @_; return $x * 2 };
    my @many = (0 .. 4999);
    sub add {
        my ($x, $y) = @_;
        my $sum = $x + $y;
        return $sum;    # @sum
    }
    sub outer {
        my ($n) = @_;
        my $r = add($n, 2);    # @call
        return $r * 2;    # @back
    }
    my $total = 0;    # @start
    for my $i (1 .. 3) {
        $total += outer($i);    # @loop
    }
    my $caught = eval { die { code => 7 } };    # @caught
    my $text = eval "my \\$inside = 5;\\n\\$inside + add(2, 3)";
    sub fact {
        my $n = shift;
        return 1 if $n < 2;    # @base
        my $less = fact($n - 1);
        return $n * $less;
    }
    fact(3);
    print "total $total\\n";
    my $line = <STDIN>;
    print STDERR "got $line";
    while (1) { last if !-e $0 }
    $! = 0;
    die "boom\\n";    # @die
"""


async def test_the_fifteen_requests_answer_as_specified(tmp_path: Path) -> None:
    program = Program.write(tmp_path / "sums.pl", SUMS)
    async with adapter() as perl:
        capabilities = await perl.ask("initialize", adapterID="perl-rs", clientID="test")
        for name in ("ConfigurationDoneRequest", "EvaluateForHovers", "TerminateRequest"):
            assert capabilities[f"supports{name}"] is True
        await perl.event("initialized")
        early = await perl.places(program, "sum")
        assert early == [
            {
                "id": 1,
                "verified": False,
                "line": program.line("sum"),
                "column": 0,
                "message": "The file is not loaded yet",
            }
        ]
        launch: dict[str, Any] = {
            "program": program.text,
            "args": [],
            "cwd": str(tmp_path),
            "__restart": None,
        }
        await perl.ask("launch", **launch, perlPath="perl", env={"DEBUG": "1"}, includePaths=[])
        changed = await perl.event("breakpoint")
        assert changed["reason"] == "changed"
        assert changed["breakpoint"] == {
            "id": 1,
            "verified": True,
            "line": program.line("sum"),
            "column": 0,
        }
        await perl.ask("configurationDone")

        stopped, frames = await perl.stop()
        assert stopped == {
            "reason": "breakpoint",
            "threadId": 1,
            "preserveFocusHint": False,
            "allThreadsStopped": True,
            "hitBreakpointIds": [1],
        }
        assert (await perl.ask("threads"))["threads"] == [{"id": 1, "name": "Main Thread"}]
        assert [(f["name"], f["line"]) for f in frames] == [
            ("main::add", program.line("sum")),
            ("main::outer", program.line("call")),
            ("main", program.line("loop")),
        ]
        assert frames[0] == {
            "id": 1001,
            "name": "main::add",
            "source": {"path": program.text, "name": "sums.pl"},
            "line": program.line("sum"),
            "column": 0,
            "presentationHint": "normal",
        }
        page = await perl.ask("stackTrace", threadId=1, startFrame=1, levels=1)
        assert [f["id"] for f in page["stackFrames"]] == [1002]
        assert page["totalFrames"] == 3
        scopes = (await perl.ask("scopes", frameId=1001))["scopes"]
        assert [(s["name"], s["variablesReference"]) for s in scopes] == [
            ("Locals", 2001),
            ("Package", 2002),
        ]
        names = await perl.children(scopes[0])
        assert list(names) == ["@_", "$x", "$y", "$sum"]
        assert names["$sum"] == {
            "name": "$sum",
            "value": "3",
            "type": "scalar",
            "variablesReference": 0,
            "evaluateName": "$sum",
        }
        assert (await perl.children(scopes[1]))["$version"]["value"] == "7"
        # Each frame has its own variables, and expressions see them.
        assert (await perl.locals(frames[1]))["$n"]["value"] == "1"
        for frame, expression, value in (
            (frames[0], "$x + $y", "3"),
            (frames[1], "$n + 10", "11"),
            (frames[2], "$conf{list}[1] + $i", "3"),
        ):
            body = {"expression": expression, "frameId": frame["id"], "context": "watch"}
            assert await perl.ask("evaluate", **body) == {
                "result": value,
                "type": "scalar",
                "variablesReference": 0,
            }
        with pytest.raises(Refused) as refused:
            await perl.ask("evaluate", expression="$x = 42", frameId=1001)
        assert refused.value.text == "Side effects not allowed without allowSideEffects flag"
        assert refused.value.error == {
            "id": 1002,
            "format": "Expression '{expression}' requires side effects",
            "variables": {"expression": "$x = 42", "reason": "scalar assignment"},
            "showUser": True,
            "sendTelemetry": False,
        }
        assert await perl.value("$x = 42", allowSideEffects=True) == "42"
        assert await perl.value("$n = 5", frameId=1002, allowSideEffects=True) == "5"
        assert (await perl.locals(frames[1]))["$n"]["value"] == "5"

        # Motion: each command stops where it says.
        why, frames = await perl.move("stepOut")
        assert (why["reason"], frames[0]["line"]) == ("step", program.line("back"))
        why, frames = await perl.move("next")
        assert (why["reason"], frames[0]["name"]) == ("step", "main")
        await perl.places(program)
        await perl.move("stepIn")
        _, frames = await perl.move("next")
        assert (frames[0]["name"], frames[0]["line"]) == ("main::outer", program.line("call"))
        _, frames = await perl.move("next")
        assert frames[0]["line"] == program.line("back")
        with pytest.raises(Refused, match="frameId 1001"):
            await perl.ask("scopes", frameId=1001)
        await perl.ask("setExceptionBreakpoints", filters=["uncaught", "caught"])
        assert await perl.ask("continue", threadId=1) == {"allThreadsContinued": True}

        why, frames = await perl.stop()
        assert (why["reason"], frames[0]["line"]) == ("exception", program.line("caught"))
        info = await perl.ask("exceptionInfo", threadId=1)
        assert (info["exceptionId"], info["breakMode"]) == ("HASH", "always")
        await perl.ask("setExceptionBreakpoints", filters=["uncaught"])
        await perl.places(program, "sum", "base")
        why, frames = await perl.move("continue")
        assert [f["name"] for f in frames] == ["main::add", "eval STRING", "main"]
        source = await perl.ask("source", **frames[1]["source"])
        assert source["content"].startswith("my $inside = 5;\n")
        for _ in range(3):
            why, frames = await perl.move("continue")
        depths = [await perl.value("$n", frameId=frame["id"]) for frame in frames[:3]]
        assert depths == ["1", "2", "3"], "each recursion has variables of its own"
        await perl.ask("continue", threadId=1)
        assert await perl.ask("stdin", input="hello\n") == {"written": 6}
        while b"got hello" not in perl.printed("stderr"):
            await perl.event("output")
        await perl.ask("pause", threadId=1)
        why, frames = await perl.stop()
        assert why["reason"] == "pause"
        await perl.ask("continue", threadId=1)
        # Breakpoints are taken while the program runs.
        assert (await perl.places(program, "die"))[0]["verified"] is True
        program.path.unlink()
        why, frames = await perl.stop()
        assert (why["reason"], len(frames)) == ("breakpoint", 1)
        why, _ = await perl.move("next")
        assert (why["reason"], why["text"]) == ("exception", "boom\n")
        await perl.ask("continue", threadId=1)
        assert await perl.end() == 255
        assert perl.printed("stdout") == b"total 24\n"
        assert perl.printed("stderr") == b"got hello\nboom\n"
        with pytest.raises(Refused) as refused:
            await perl.ask("stackTrace", threadId=1)
        assert refused.value.number == 1006
        await perl.ask("disconnect", restart=False, terminateDebuggee=True)


READS_ALL = r"""
    my $begun = 1;
    local $/;
    my $all = <STDIN>;
    print join(",", map { length } $all =~ /(a+|b+|end|[\x80-\xff]+)/g), "\n";
"""

MUCH = 300_000
"""More than one pipe takes."""


async def test_input_that_a_standing_program_does_not_read_holds_up_nothing_else(
    tmp_path: Path,
) -> None:
    program = Program.write(tmp_path / "reads.pl", READS_ALL)

    async def sends(perl: Peer, text: str, *, eof: bool = False) -> int:
        return await perl.send({"command": "stdin", "arguments": {"input": text, "eof": eof}})

    async with adapter() as perl:
        await perl.start(program, stopOnEntry=True)
        await perl.ask("configurationDone")
        await perl.stop()
        lost = await sends(perl, "c" * MUCH)
        assert await perl.value("1 + 1") == "2"
        await perl.ask("restart")
        assert "closed" in (await perl.response(lost))["message"]
        await perl.stop()
        texts = ["a" * MUCH, "b" * MUCH, "end"]
        asked = [await sends(perl, text, eof=text == "end") for text in texts]
        await perl.ask("continue", threadId=1)
        answers = [await perl.response(one) for one in asked]
        assert [one["body"]["written"] for one in answers] == [MUCH, MUCH, 3]
        assert await perl.end() == 0
        assert perl.printed("stdout") == b"300000,300000,3\n"


async def test_the_input_of_a_launch_comes_first_and_whole(tmp_path: Path) -> None:
    program = Program.write(tmp_path / "reads.pl", READS_ALL)
    async with adapter() as perl:
        await perl.start(program, stopOnEntry=True, stdin="é" * 60_000)
        await perl.ask("configurationDone")
        await perl.stop()
        late = await perl.send({"command": "stdin", "arguments": {"input": "b", "eof": True}})
        await perl.ask("continue", threadId=1)
        assert "closed" in (await perl.response(late))["message"]
        assert await perl.end() == 0
        assert perl.printed("stdout") == b"120000\n"


async def test_values_are_shown_set_and_completed(tmp_path: Path) -> None:
    program = Program.write(tmp_path / "sums.pl", SUMS)
    async with adapter() as perl:
        await perl.start(program)
        await perl.places(program, "start")
        await perl.ask("configurationDone")
        _, [frame] = await perl.stop()
        seen = await perl.locals(frame)
        shown = {name: (row["value"], row["type"]) for name, row in seen.items()}
        assert shown["%conf"] == ("{2 keys}", "hash")
        assert shown["@stack"] == ("[3 items]", "array")
        assert shown["$bytes"] == ("naïve", "scalar")
        assert shown["$undef"] == ("undef", "scalar")
        assert shown["$pattern"] == ("qr/a.b/i", "scalar")
        assert shown["$handle"] == ("\\*main::STDOUT", "scalar")
        assert shown["$code"] == ("sub { my($x) = @_; return $x * 2; }", "code")
        long, kind = shown["$long"]
        assert kind == "scalar"
        assert len(long.encode()) <= 1024, "1 KB, and no half of an emoji"
        assert long.endswith("…")
        assert set(long[:-1]) == set("café 😀")
        assert seen["@many"]["indexedVariables"] == 5000

        odd = await perl.children(seen["%odd"])
        assert {name: row["evaluateName"] for name, row in odd.items()} == {
            "{k'q}": "$odd{'k\\'q'}",
            "{obj}": "$odd{'obj'}",
            "{é}": '$odd{"\\x{e9}"}',
        }
        assert odd["{obj}"]["value"] == "Point {1 keys}"
        deep = await perl.children(odd["{é}"])
        assert deep["$$"]["value"] == "\\deep"
        assert await perl.value(deep["$$"]["evaluateName"]) == "\\deep"
        second = (await perl.children(seen["@stack"]))["[1]"]
        tags = (await perl.children(second))["{tags}"]
        assert tags["evaluateName"] == "$stack[1]->{'tags'}"
        assert list(await perl.children(tags)) == ["[0]", "[1]"]
        some = await perl.children(seen["@many"], start=4990, count=5)
        assert [row["value"] for row in some.values()] == ["4990", "4991", "4992", "4993", "4994"]
        everything = await perl.children(seen["@many"])
        assert everything["…"]["value"] == "4000 more: ask with start and count"

        # An expression's value has children too, and they know how they are spelled.
        found = await perl.ask("evaluate", expression="[map { $_->{id} } @stack]")
        assert (found["result"], found["type"]) == ("[3 items]", "array")
        last = (await perl.children(found))["[2]"]
        assert (last["value"], await perl.value(last["evaluateName"])) == ("3", "3")

        scope = (await perl.ask("scopes", frameId=frame["id"]))["scopes"][0]
        reference = scope["variablesReference"]
        for place, name, value, expected in (
            (second["variablesReference"], "{id}", "40 + 2", "42"),
            (reference, "@many", "(1, 2)", "[2 items]"),
            (reference, "$undef", "{ a => 1 }", "{1 keys}"),
        ):
            body = {"variablesReference": place, "name": name, "value": value}
            assert (await perl.ask("setVariable", **body))["value"] == expected
        assert await perl.value("$stack[1]{id} + @many + $undef->{a}") == "45"
        changed = await perl.ask("setExpression", expression="$conf{name}", value="'y'")
        assert changed["value"] == "y"
        targets = (await perl.ask("completions", text="$conf{name} . $by", column=18))["targets"]
        assert targets == [{"label": "$bytes", "type": "variable", "start": 15, "length": 3}]

        await perl.ask("terminate")
        assert await perl.end() == 128 + 15
        assert (await perl.ask("disconnect")) == {}


async def test_what_comes_as_the_program_is_let_go_is_heard(tmp_path: Path) -> None:
    # The kernel sends no signal for what arrives before a waiting read has woken.
    program = Program.write(tmp_path / "spin.pl", "1 while -e $0;\ndie;    # @die\n")
    async with adapter() as perl:
        await perl.start(program)
        await perl.send({"command": "configurationDone"})
        for _ in range(20):
            await perl.ask("pause", threadId=1)
            await perl.stop()
            await perl.send({"command": "continue", "arguments": {"threadId": 1}})
            (placed,) = await perl.places(program, "die")
            assert placed["verified"] is True
        await perl.ask("disconnect", terminateDebuggee=True)


STEPS = """
    my $dir = shift;    # @first
    require "$dir/part.pl";    # @require
    do "$dir/part.pl";    # @do
    my $five = eval "my \\$two = 2;\\n\\$two + 3";    # @eval
    my $safe = eval { length $five };    # @block
    print "$five\\n";    # @last
"""


async def test_a_step_over_passes_files_and_string_evals_and_a_step_out_leaves_them(
    tmp_path: Path,
) -> None:
    program = Program.write(tmp_path / "steps.pl", STEPS)
    part = Program.write(tmp_path / "part.pl", "our $part = 1;    # @inside\n$part++;\n1;\n")
    async with adapter() as perl:
        await perl.start(program, stopOnEntry=True, args=[str(tmp_path)])
        await perl.ask("configurationDone")
        await perl.stop()
        for mark in ("require", "do", "eval", "block"):
            _, frames = await perl.move("next")
            assert [f["line"] for f in frames] == [program.line(mark)]
        _, frames = await perl.move("next")
        # An eval block is no frame: its statement is one of the program's own.
        assert [f["line"] for f in frames] == [program.line("block")]
        await perl.move("next")

        await perl.ask("restart")
        await perl.stop()
        await perl.move("next")
        for mark in ("do", "eval"):
            _, frames = await perl.move("stepIn")
            assert (len(frames), frames[0]["line"]) == (2, part.line("inside"))
            _, frames = await perl.move("stepOut")
            assert [f["line"] for f in frames] == [program.line(mark)]
        _, frames = await perl.move("stepIn")
        assert [f["name"] for f in frames] == ["eval STRING", "main"]
        _, frames = await perl.move("next")
        assert (len(frames), frames[0]["line"]) == (2, 2)
        _, frames = await perl.move("stepOut")
        assert [f["line"] for f in frames] == [program.line("block")]
        await perl.ask("continue", threadId=1)
        assert await perl.end() == 0


async def test_a_client_may_count_lines_and_columns_from_zero(tmp_path: Path) -> None:
    source = "my $first = 1;    # @first\nmy $second = 2;    # @second\nprint 3;    # @third\n"
    program = Program.write(tmp_path / "lines.pl", source)
    async with adapter() as perl:
        with pytest.raises(Refused, match="pathFormat must be path"):
            await perl.ask("initialize", pathFormat="uri")
        await perl.ask("initialize", linesStartAt1=False, columnsStartAt1=False)
        await perl.ask("launch", program=program.text)
        second, third = program.line("second") - 1, program.line("third") - 1
        placed = await perl.places(
            program, {"line": second, "logMessage": "here"}, third, {"line": 99}
        )
        assert [one["line"] for one in placed] == [second, third, 99]
        await perl.ask("configurationDone")
        _, [frame] = await perl.stop()
        assert frame["line"] == third
        (logged,) = [e for e in perl.events("output") if e["category"] == "console"]
        assert logged["line"] == second
        targets = (await perl.ask("completions", text="$sec", column=4))["targets"]
        assert targets == [{"label": "$second", "type": "variable", "start": 0, "length": 4}]


PACKAGES = """
    package Shape { sub new { bless { sides => $_[1] }, $_[0] } sub area { 0 } }
    package Square { our @ISA = 'Shape'; our $count = 1; sub grow { 1 } }
    package main;
    use List::Util qw(sum);
    our $level = 3;
    sub greet { my ($name) = @_; return "hi $name" }
    open LOG, '<', $0;
    my $square = Square->new(4);
    my ($plain, @list) = (1, 5, 6);
    my $end = 1;    # @end
"""


async def test_a_package_shows_its_subs_and_handles_and_names_are_completed(tmp_path: Path) -> None:
    program = Program.write(tmp_path / "packages.pl", PACKAGES)
    async with adapter() as perl:
        await perl.start(program)
        await perl.places(program, "end")
        await perl.ask("configurationDone")
        _, [frame] = await perl.stop()
        package = await perl.locals(frame, scope=1)
        greet = package["&greet"]
        assert (greet["type"], greet["value"]) == (
            "code",
            'sub { my($name) = @_; return "hi $name"; }',
        )
        assert "evaluateName" not in greet, "it would be a call"
        assert package["*LOG"]["value"] == "*main::LOG"
        assert "&sum" not in package, "it was imported"
        scope = (await perl.ask("scopes", frameId=frame["id"]))["scopes"][1]
        reference = scope["variablesReference"]
        with pytest.raises(Refused, match="cannot be written"):
            await perl.ask("setVariable", variablesReference=reference, name="&greet", value="1")

        listed = (await perl.locals(frame))["@list"]
        reference = listed["variablesReference"]
        for kind, names in (("indexed", ["[0]", "[1]"]), ("named", [])):
            body = await perl.ask("variables", variablesReference=reference, filter=kind)
            assert [row["name"] for row in body["variables"]] == names
        with pytest.raises(Refused, match="filter must be indexed or named"):
            await perl.ask("variables", variablesReference=reference, filter="other")

        for text, labels in (
            ("$square->", ["area", "grow", "new"]),
            ("Square->gr", ["grow"]),
            ("$plain->", []),
            ("$square->{sides}->", []),
            ("1 + $le", ["$level"]),
            ("Shape::", ["Shape::area", "Shape::new"]),
            ("$Square::c", ["$Square::count"]),
            ("&gr", ["&greet"]),
        ):
            body = await perl.ask("completions", text=text, column=len(text) + 1)
            assert (text, [one["label"] for one in body["targets"]]) == (text, labels)


ARGUMENTS = """
    package Counter;
    sub TIESCALAR { return bless [0], $_[0] }
    sub FETCH { print "asked\\n"; return ++$_[0][0] }
    package main;
    tie my $tied, 'Counter';
    sub within {
        my @taken = map { "x$_" } 1 .. 5;
        return scalar @taken;    # @within
    }
    sub shifted { my $first = shift; return within() + @_ }
    sub shared { return &within }
    sub around { return shared(@_, 7) }
    my $anonymous = sub { shift; my $own = 5; return within() + @_ };
    shifted("a" . time, 'b', 'c');
    shifted(1, $tied);
    around(6);
    $anonymous->("b" . time, 'd');
    print "over\\n";
"""


async def test_the_arguments_of_an_outer_frame_are_what_it_has_left(tmp_path: Path) -> None:
    """Not what it was called with; where that cannot be known, nothing is said."""
    program = Program.write(tmp_path / "arguments.pl", ARGUMENTS)
    async with adapter() as perl:
        await perl.start(program)
        await perl.places(program, "within")
        await perl.ask("configurationDone")

        async def arguments(frame: Body) -> list[str]:
            rows = await perl.children((await perl.locals(frame))["@_"])
            return [row["value"] for row in rows.values()]

        _, frames = await perl.stop()
        assert await arguments(frames[1]) == ["b", "c"]
        assert await perl.value("scalar(@_) . $_[0]", frameId=frames[1]["id"]) == "2b"
        _, frames = await perl.move("continue")
        assert await arguments(frames[1]) == ["tied to Counter"]
        _, frames = await perl.move("continue")
        assert [await arguments(frame) for frame in frames[:3]] == [["6", "7"], ["6", "7"], ["6"]]
        assert await perl.value('"@_"', frameId=frames[1]["id"]) == "6 7"
        _, frames = await perl.move("continue")
        assert frames[1]["name"] == "main::__ANON__"
        assert "@_" not in await perl.locals(frames[1])
        for expression, why in (
            ("$_[0]", "@_ of this frame is not known"),
            ("scalar @_", "@_ of this frame is not known"),
            ("$own + 1", "the variables of this frame are not known: "),
        ):
            with pytest.raises(Refused) as refused:
                await perl.value(expression, frameId=frames[1]["id"])
            assert refused.value.text.startswith(why)
        assert await perl.value("$main::nothing // 'none'", frameId=frames[1]["id"]) == "none"
        await perl.ask("continue", threadId=1)
        assert await perl.end() == 0
        assert perl.printed("stdout") == b"over\n", "the tie was not asked"


DEEP = """
    no warnings 'recursion';
    sub down {
        my ($n) = @_;
        if ($n == 0) {
            my $bottom = 1;    # @bottom
            return 0;    # @return
        }
        my $below = down($n - 1);
        return $below + 1;    # @up
    }
    print down(20_000), "\\n";
"""


async def test_a_deep_stack_is_listed_and_stepped_in(tmp_path: Path) -> None:
    program = Program.write(tmp_path / "deep.pl", DEEP)
    async with adapter() as perl:
        await perl.start(program)
        await perl.places(program, "bottom")
        await perl.ask("configurationDone")
        await perl.event("stopped")
        body = await perl.ask("stackTrace", threadId=1)
        assert [frame["name"] for frame in body["stackFrames"]] == ["main::down"] * 20_001 + [
            "main"
        ]
        assert len({frame["id"] for frame in body["stackFrames"]}) == body["totalFrames"]
        for command, mark in (("next", "return"), ("next", "up"), ("stepOut", "up")):
            await perl.ask(command, threadId=1)
            await perl.event("stopped")
            top = await perl.ask("stackTrace", threadId=1, levels=1)
            assert top["stackFrames"][0]["line"] == program.line(mark)
        assert top["totalFrames"] == 20_000


ENDLESS = """
    no warnings 'recursion';
    sub down {
        my ($n) = @_;
        return $n if $n == 0;    # @bottom
        my $below = down($n - 1);
        return $below;    # @up
    }
    sub begin { return down(60_000) }
    my $found = begin();
    print "over\n";    # @over
"""


async def test_of_a_stack_that_hardly_ends_the_beginning_is_listed(tmp_path: Path) -> None:
    """A recursion without end is paused within seconds: it never was."""
    program = Program.write(tmp_path / "endless.pl", ENDLESS)
    async with adapter() as perl:
        await perl.start(program)
        await perl.ask(
            "setBreakpoints",
            source={"path": program.text},
            breakpoints=[{"line": program.line("bottom"), "condition": "$n == 0"}],
        )
        await perl.ask("configurationDone")
        await perl.event("stopped")
        body = await perl.ask("stackTrace", threadId=1)
        *shown, last = body["stackFrames"]
        assert {frame["name"] for frame in shown} == {"main::down"}
        assert last["presentationHint"] == "label"
        found = re.fullmatch(r"and (\d+) more calls", last["name"])
        assert found is not None, last
        calls = 60_001 + 1  # and begin's
        assert len(shown) + 1 + int(found[1]) == calls + 1  # the main program is a record, too
        await perl.ask("next", threadId=1)
        await perl.event("stopped")
        (top,) = (await perl.ask("stackTrace", threadId=1, levels=1))["stackFrames"]
        assert top["line"] == program.line("up")
        await perl.ask("continue", threadId=1)
        assert await perl.end() == 0
