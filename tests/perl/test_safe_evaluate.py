"""Looking at a program cannot change it: what is evaluated, what is refused, and that it stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay.perl import inspection
from tests.perl.driver import Peer, Refused, adapter
from tests.programs import Program

STATE = """
    use strict;
    use warnings;
    package Counter { sub new { bless { n => 0 }, shift } sub n { $_[0]{n} }
        sub bump { $_[0]{n}++; $_[0]{n} } }
    package Loud { use overload '""' => sub { $main::loud++; "loud" }; }
    package Tied { sub TIESCALAR { bless [] } sub FETCH { $main::fetched++; 1 } sub STORE { } }
    package main;
    our ($loud, $fetched, $touched) = (0, 0, 0);
    my ($x, $y, $name, $line) = (20, 22, 'alice', "a,b,c");
    my @list = (3, 1, 2);
    my %h = (one => 1, two => 2, three => 3);
    my $ref = { list => [1, [2, 3]], name => 'n' };
    my $counter = Counter->new;
    my $object = bless {}, 'Loud';
    tie my $tied, 'Tied';
    my $number = 42;
    my $pid = $$;
    my $pairs = \\[1, 2];
    my $file = $ENV{TOUCHED};
    sub double { return 2 * $_[0] }
    sub store { $touched++; $x = 0; @list = (); %h = (); return 'stored' }
    sub touch { open my $f, '>', $file or die "cannot: $!"; return 1 }
    sub child { return scalar `echo hello` }
    sub stdin { return scalar <STDIN> }
    sub chatter { print "chatter\\n"; return 1 }
    sub forks { return fork }
    sub by_size { $a <=> $b }
    sub compiles { eval $_[0] }
    sub leaves { require POSIX; POSIX::_exit(3) }
    sub deeper { return 1 + deeper(@_, 1) }
    my ($first) = each %h;
    "matched text" =~ /(m\\w+)/;
    sub state { no warnings; return join '|', $x, $y, $name, $line, "@list", (map { "$_=$h{$_}" } sort keys %h),
        $ref->{list}[1][0], scalar(@{$ref->{list}}), $counter->{n}, $loud, $fetched, $touched,
        $1, $0, "@ARGV", $@, $! + 0, $?, $, , $/, pos($line) // 'none', (-e $file ? 'file' : 'none'), unpack('H*', pack 'd', $number); }
    sub outer { my ($arg) = @_; return inner($arg . '!') }
    sub inner { my ($deep) = @_; return length $deep }    # @inner
    my $result = outer('word');
    my @rest;
    while (my ($key) = each %h) { push @rest, $key }
    print state(), "\\n", scalar(@rest), "\\n";
"""

ALLOWED = [
    ("1", "1"),
    ("$x + $y", "42"),
    ("$x . $name", "20alice"),
    ("$x ** 2 % 7", "1"),
    ("-$x", "-20"),
    ("$x > 1 && $name eq 'alice' ? 'yes' : 'no'", "yes"),
    ("!$x", ""),
    ("not 0", "1"),
    ("$undefined::x // 'none'", "none"),
    ("$list[0]", "3"),
    ("$list[-1]", "2"),
    ("$#list", "2"),
    ("scalar @list", "3"),
    ("@list", "[3 items]"),
    ("@list[0, 1]", "[2 items]"),
    ("%h", "{3 keys}"),
    ("$h{two}", "2"),
    ("@h{qw(one two)}", "[2 items]"),
    ("exists $h{nine}", ""),
    ("keys %h", "[3 items]"),
    ("values %h", "[3 items]"),
    ("$ref->{list}[1][1]", "3"),
    ("$$ref{name}", "n"),
    ("@{$ref->{list}}", "[2 items]"),
    ("ref $ref", "HASH"),
    ("defined $ref->{none}", ""),
    ("[1, 2, 3]", "[3 items]"),
    ("{ a => 1, b => 2 }->{b}", "2"),
    ("'a' x 3", "aaa"),
    ("join('-', @list)", "3-1-2"),
    ("join '', sort { $a <=> $b } @list", "123"),
    ("join '', reverse @list", "213"),
    ("join '', map { $_ * 2 } @list", "624"),
    ("(grep { $_ > 1 } @list)[0]", "3"),
    ("split /,/, $line", "[3 items]"),
    ("$name =~ /^al(.*)/ ? $1 : ''", "ice"),
    ("$name =~ s/a/o/r", "olice"),
    ("$name =~ tr/a-z//", "5"),
    ("$name =~ tr/a-z/A-Z/r", "ALICE"),
    ("$1", "matched"),
    ("($1, 7)[0]", "matched"),
    ("@{[$1 x 2]}", "[1 items]"),
    ("uc $name", "ALICE"),
    ("ucfirst lc 'ABC'", "Abc"),
    ("length $name", "5"),
    ("substr $name, 1, 3", "lic"),
    ("index $name, 'i'", "2"),
    ("sprintf '%03d', $x", "020"),
    ("sprintf('%s', \"$x-$y\")", "20-22"),
    ("ord 'A'", "65"),
    ("chr 0x1F600", "\U0001f600"),
    ("hex 'ff'", "255"),
    ("int 7.9", "7"),
    ("abs -3", "3"),
    ("sqrt 16", "4"),
    ("unpack 'n', pack 'n', 513", "513"),
    ("localtime(0) =~ /19(69|70)/ ? 1 : 0", "1"),
    ("time > 1_000_000", "1"),
    ("-e $0 ? 'there' : 'gone'", "there"),
    ("-d '/' ? 1 : 0", "1"),
    ("double($x)", "40"),
    ("&double(4)", "8"),
    ("main->can('double')->(5)", "10"),
    ("$counter->n", "0"),
    ("Counter->new->n", "0"),
    ("sub { $_[0] + 1 }->(2)", "3"),
    ('"$object"', "loud"),
    ("$tied", "1"),
    ("store()", "stored"),
    ("$counter->bump", "1"),
    ("join '', sort by_size @list", "123"),
    ("eval { die 'x' } ; 'after'", "after"),
    ("$number . ''", "42"),
    ("do { 1; 2 }", "2"),
    ("\\@list", "[3 items]"),
    ("\\&double", "sub { return 2 * $_[0]; }"),
    ("my $t", "undef"),
    ("$$ == $pid", "1"),
    ("$pairs", "\\[2 items]"),
    ("$$pairs", "[2 items]"),
]

REFUSED = [
    "$x = 1",
    "$x += 1",
    "$x .= 'a'",
    "$x ||= 5",
    "$x //= 5",
    "$x &&= 5",
    "$x **= 2",
    "$x x= 2",
    "$x <<= 1",
    "$x++",
    "--$x",
    "@list = ()",
    "($x, $y) = ($y, $x)",
    "$list[0] = 1",
    "$h{new} = 1",
    "my $t = 5",
    "local $x::y = 5",
    "push @list, 4",
    "pop @list",
    "shift @list",
    "unshift @list, 1",
    "splice @list, 0, 1",
    "delete $h{one}",
    "each %h",
    "undef $x",
    "undef @list",
    "chop $name",
    "chomp(my $t = $name)",
    "$name =~ s/a/b/",
    "$name =~ tr/a/b/",
    "substr($name, 0, 1, 'x')",
    "substr($name, 0, 1) = 'x'",
    "bless {}, 'X'",
    "tie my $t, 'Tied'",
    "map { $_++ } @list",
    "$_ .= 'x' for @list",
    "sub { $x += 1 }->()",
    "(map { sub { $_[0] .= 'x' } } 1)[0]->($name)",
    "print 'x'",
    "printf 'x'",
    "warn 'x'",
    "open my $f, '<', '/etc/passwd'",
    "<STDIN>",
    "`ls`",
    "qx(ls)",
    "system 'ls'",
    "exec 'ls'",
    "fork",
    "kill 9, $$",
    "exit",
    "unlink $0",
    "mkdir '/tmp/x'",
    "chdir '/'",
    "rename 'a', 'b'",
    "sleep 1",
    "alarm 1",
    "srand 1",
    "require Carp",
    "do './x.pl'",
    "eval '1'",
    "eval 'unlink $0'",
    "glob '*'",
    "opendir my $d, '.'",
    "socket my $s, 1, 1, 1",
    "syscall 39",
    "BEGIN { system 'ls' } 1",
    "touch()",
    "child()",
    "stdin()",
    "chatter() && forks()",
    "forks()",
    "compiles('$x = 1')",
    "compiles('unlink $0')",
    "leaves()",
    "deeper()",
    "getppid",
]
"""In each frame. The calls at the end are found out when they run, by the system."""


async def at_the_call(perl: Peer, program: Program, touched: Path) -> list[dict[str, int]]:
    await perl.start(program, env={"TOUCHED": str(touched)})
    await perl.places(program, "inner")
    await perl.ask("configurationDone")
    return (await perl.stop())[1]


async def refusal(perl: Peer, expression: str, **arguments: int) -> Refused:
    with pytest.raises(Refused) as refused:
        await perl.ask("evaluate", expression=expression, **arguments)
    return refused.value


async def test_a_table_of_expressions_is_evaluated_or_refused_and_changes_nothing(
    tmp_path: Path,
) -> None:
    program = Program.write(tmp_path / "state.pl", STATE)
    touched = tmp_path / "touched"
    async with adapter() as perl:
        frames = await at_the_call(perl, program, touched)
        here, main = (int(frames[n]["id"]) for n in (0, 2))
        before = await perl.value("state()", frameId=main)
        for expression, expected in ALLOWED:
            assert (expression, await perl.value(expression, frameId=main)) == (
                expression,
                expected,
            )
            assert await perl.value("state()", frameId=main) == before
        for expression in REFUSED:
            refused = await refusal(perl, expression, frameId=main)
            assert (expression, refused.number) == (expression, 1002)
            assert await perl.value("state()", frameId=main) == before
        # In the innermost frame and the middle one the same roads are taken.
        assert await perl.value("$deep . @_", frameId=here) == "word!1"
        assert await perl.value("$arg x 2", frameId=frames[1]["id"]) == "wordword"
        for frame in frames[:2]:
            for expression in ("$main::loud = 1", "system 'ls'", "touch()", "$_[0] .= 'x'"):
                assert (await refusal(perl, expression, frameId=frame["id"])).number == 1002
        assert (await refusal(perl, "$arg", frameId=here)).number == 1008
        assert "syntax error" in (await refusal(perl, "1 +")).text
        bracket = await refusal(perl, "};{")
        assert bracket.text == "it closes a bracket that it has not opened"
        for one in ("caller", "wantarray"):
            of_the_frame = await refusal(perl, f"({one})[0]" if one == "caller" else one)
            assert of_the_frame.text == f"{one} would tell of the expression, not of this frame"
        assert (await refusal(perl, "die 'oops'")).text == "oops"
        # Variables are read without asking the object or the tie.
        names = await perl.locals(frames[2])
        assert names["$tied"]["value"] == "tied to Tied"
        assert names["$object"]["value"] == "Loud {0 keys}"
        assert await perl.value("state()", frameId=main) == before
        assert not touched.exists()

        huge = await refusal(perl, "length('x' x 3_000_000_000)", frameId=main)
        assert huge.number == 1002
        endless = await refusal(perl, "1 while 1", frameId=main)
        assert (endless.number, endless.text) == (1003, "Evaluation timed out after 5 seconds")
        _, frames = await perl.move("stepOut")
        assert await perl.value("$1") == "matched", "the hook's own patterns do not show"
        assert await perl.value("(map { $1 } 1)[0]") == "matched"
        await perl.ask("continue", threadId=1)
        assert await perl.end() == 0
        # The iterator that `each` had begun went on where it was.
        assert perl.printed("stdout").decode() == f"{before.replace('word!', '')}\n2\n"


async def test_without_seccomp_calls_are_refused_and_said_to_be(tmp_path: Path) -> None:
    program = Program.write(tmp_path / "state.pl", STATE)
    async with adapter(seccomp=False) as perl:
        frames = await at_the_call(perl, program, tmp_path / "touched")
        main = int(frames[2]["id"])
        assert await perl.value("$x + @list", frameId=main) == "23"
        assert "Loud=HASH" in await perl.value('"$object"', frameId=main)
        for expression in ("double(1)", "$counter->n", "sort by_size @list", "touch()", "$tied"):
            refused = await refusal(perl, expression, frameId=main)
            assert refused.number == 1002
            assert "no seccomp" in refused.error["variables"]["reason"]
        assert (await refusal(perl, "$x = 1", frameId=main)).number == 1002
        assert (
            await refusal(perl, "last", frameId=main)
        ).text == 'Can\'t "last" outside a loop block'
        assert await perl.value("sub { $_[0] }", frameId=main) == "sub { $_[0]; }"
        assert await perl.value("double($x)", frameId=main, allowSideEffects=True) == "40"


async def test_side_effects_happen_where_they_are_allowed_and_are_ended_after_their_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspection, "EFFECT_SECONDS", 0.5)
    program = Program.write(tmp_path / "state.pl", STATE)
    async with adapter() as perl:
        frames = await at_the_call(perl, program, tmp_path / "touched")
        main = int(frames[2]["id"])
        allowed = {"frameId": main, "allowSideEffects": True}
        assert await perl.value("store()", **allowed) == "stored"
        assert await perl.value("@list = (7, 8)", **allowed) == "[2 items]"
        assert await perl.value("$list[1] + $x", frameId=main) == "8"
        kept = await perl.ask("evaluate", expression="[$counter->bump, 5]", **allowed)
        assert (await perl.children(kept))["[1]"]["value"] == "5"
        assert await perl.value("$counter->{n}", frameId=main) == "1"
        assert await perl.value("chatter()", **allowed) == "1"
        while b"chatter" not in perl.printed("stdout"):
            await perl.event("output")
        late = await refusal(perl, "$y++ while 1", **allowed)
        assert late.number == 1003
        assert int(await perl.value("$y", frameId=main)) > 22
        assert (await refusal(perl, "die { no => 'text' }", **allowed)).number == 1008
        await perl.ask("continue", threadId=1)
        assert await perl.end() == 0


LOOPS = """
    my ($n, $made) = (0, 0);
    sub made { return { number => ++$made } }
    OUTER: for my $i (1 .. 3) {
        for my $j (1 .. 3) {
            $n++;    # @inner
        }
    }
    print "$n $made\\n";    # @after
"""


async def test_no_expression_takes_the_program_elsewhere_or_doubles_it(tmp_path: Path) -> None:
    program = Program.write(tmp_path / "loops.pl", LOOPS)
    async with adapter() as perl:
        await perl.start(program)
        points = [{"line": "inner", "condition": f"$i == 1 && $j == 1 || {jump}"} for jump in JUMPS]
        await perl.places(program, points[0])
        await perl.ask("configurationDone")
        _, [frame] = await perl.stop()
        for jump, words in JUMPS.items():
            for allowed in (True, False):
                arguments = {"frameId": frame["id"], "allowSideEffects": allowed}
                refused = await refusal(perl, jump, **arguments)
                assert (jump, refused.number, refused.text) == (jump, 1008, words)
        # The child of a fork is no second debugger on the link.
        assert int(await perl.value("fork", allowSideEffects=True)) > 0
        assert await perl.value("$n") == "0"
        await perl.places(program, *points, "after")
        for _ in range(8):
            why, _ = await perl.move("continue")
            assert len(why["hitBreakpointIds"]) == len(JUMPS), (
                "conditions that fail stop, all of them"
            )
        await perl.places(program, "after")
        await perl.move("continue")
        assert await perl.value("$n") == "9"

        # What side effects gave is looked at and set as itself, not made once more.
        kept = await perl.ask("evaluate", expression="made()", allowSideEffects=True)
        reference = kept["variablesReference"]
        child = (await perl.children(kept))["{number}"]
        assert await perl.value(child["evaluateName"]) == "1"
        body = {"variablesReference": reference, "name": "{number}", "value": "7"}
        assert (await perl.ask("setVariable", **body))["value"] == "7"
        assert await perl.value(child["evaluateName"]) == "7"
        await perl.ask("continue", threadId=1)
        assert await perl.end() == 0
        assert perl.printed("stdout") == b"9 1\n"


JUMPS = {
    "last": 'Can\'t "last" outside a loop block',
    "next": 'Can\'t "next" outside a loop block',
    "last OUTER": 'Label not found for "last OUTER"',
}
