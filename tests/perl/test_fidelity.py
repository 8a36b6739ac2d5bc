"""The program does not notice: output and exit code are those without the debugger."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
import trio

from tests.perl.driver import Refused, adapter
from tests.programs import Program

NOTICES = """
    #!/usr/bin/perl -w
    use strict;
    use Carp qw(carp cluck longmess);
    use B ();
    $| = 0;
    print join(' ', sort keys %INC), "|@ARGV|$0|", __FILE__, "\\n@INC\\n";
    print "descriptor ", do { open my $f, '<', $0; fileno $f }, "\\n";
    print join(',', grep { defined $SIG{$_} } 'INT', '__DIE__', '__WARN__'), "\\n";
    sub where { return join ' ', map { defined $_ ? $_ : 'undef' } (caller 1)[0 .. 5], (caller 2)[3] }
    sub context { return wantarray ? 'list' : defined wantarray ? 'scalar' : 'void' }
    sub deep {
        my @r = where(@_);    # @deep
        return "@r " . context();
    }
    print scalar(deep(1, 2)), "\\n";    # @call
    my @list = deep(3);
    my $anon = sub { carp "from anon"; return longmess("trace") };
    print $anon->('x');
    eval "die 'in a string eval'"; print $@;
    eval { die { code => 5 } }; print $@->{code}, "\\n";
    warn "warned\\n";
    my %h = map { $_ => 1 } 'a' .. 'e';
    my ($first) = each %h;
    my $left = 0;    # @look
    $left++ while each %h;
    print "left $left\\n";
    my $number = 12;
    print B::svref_2object(\\$number)->FLAGS & 0x400 ? "string\\n" : "number\\n";    # @flags
    sub lv : lvalue { $h{lv} }
    lv() = 7; print "$h{lv}\\n";
    my $pid = fork;
    if (!$pid) { print "child\\n"; exit 4 }
    waitpid $pid, 0; print "status ", $? >> 8, "\\n";
    my $reaped = 0;
    $SIG{CHLD} = sub { $reaped++ };
    my $quiet = 1;    # @quiet
    print "reaped $reaped, left ", wait(), "\\n";
    print `echo from a shell`;
    my $line = <STDIN>; print "read $line";
    print while <DATA>;
    printf STDERR "%s\\n", "\\xff\\xfe raw";
    sub Guard::DESTROY { print "guard $_[0]{n}\\n" }
    my $guard = bless { n => 1 }, 'Guard';
    our $late = bless { n => 2 }, 'Guard';
    END { print "end $?\\n"; $? = 9 if $? == 3 }
    undef $guard;
    $! = 3;
    exit 3;
    __END__
    data line
"""

TOOLS = [
    ("pod2text", ["{pod2text}"]),
    ("corelist", ["Data::Dumper"]),
    ("json_pp", []),
    ("prove", ["--version"]),
    ("shasum", ["{pod2text}", "/no/such/file"]),
]


def plainly(
    program: str, args: list[str], stdin: bytes, env: Mapping[str, str] | None = None
) -> tuple[int, bytes, bytes]:
    done = subprocess.run(
        ["perl", program, *args],
        input=stdin,
        env={**os.environ, **(env or {})},
        capture_output=True,
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr


async def test_a_curious_program_prints_the_same_while_it_is_stopped_stepped_and_looked_at(
    tmp_path: Path,
) -> None:
    program = Program.write(tmp_path / "notices.pl", NOTICES)
    expected = plainly(program.text, ["a", "b c"], b"input\n")
    assert expected[0] == 9
    async with adapter() as perl:
        await perl.start(program, args=["a", "b c"], stdin="input\n")
        await perl.ask("setExceptionBreakpoints", filters=[])
        await perl.places(program, "deep", "call", "look", "flags", "quiet")
        await perl.ask("configurationDone")
        await perl.stop()
        for _ in range(2):
            _, frames = await perl.move("continue")
            assert frames[0]["line"] == program.line("deep")
            await perl.move("next")
            await perl.move("stepOut")
            await perl.ask("stackTrace", threadId=1)
        for mark in ("look", "flags", "quiet"):
            _, frames = await perl.move("continue")
            assert frames[0]["line"] == program.line(mark)
            for row in (await perl.locals(frames[0])).values():
                if row["variablesReference"]:
                    await perl.children(row)
            assert await perl.value("$h{a}") == "1"
            if mark != "look":
                assert await perl.value('"$number"') == "12"
        await perl.ask("continue", threadId=1)
        code = await perl.end()
        assert perl.printed("stdout").decode() == expected[1].decode()
        assert perl.printed("stderr") == expected[2]
        assert code == expected[0]


@pytest.mark.parametrize(("tool", "arguments"), TOOLS, ids=[name for name, _ in TOOLS])
async def test_real_programs_print_the_same(tool: str, arguments: list[str]) -> None:
    path = shutil.which(tool)
    assert path is not None, f"{tool} comes with Perl"
    args = [one.format(pod2text=shutil.which("pod2text")) for one in arguments]
    stdin = '{"b": ["é", 1], "a": null}'
    expected = plainly(path, args, stdin.encode())
    async with adapter() as perl:
        await perl.start(Path(path), args=args, stdin=stdin)
        await perl.ask("configurationDone")
        code = await perl.end()
        assert (code, perl.printed("stdout"), perl.printed("stderr")) == expected


SURROUNDINGS = """
    print map { "$_=$ENV{$_}\\n" } sort keys %ENV;
    print `env | sort`;
    system $^X, '-d', '-e', 'print "debugged\\n"';
    print "status $?\\n";
"""


@pytest.mark.parametrize("own", [None, "", "BEGIN { print qq{its own\\n} } sub DB::DB { }"])
async def test_the_environment_is_the_users_for_the_program_and_its_children(
    tmp_path: Path, own: str | None
) -> None:
    """And so is Perl's debugger, for a child that asks for it."""
    program = Program.write(tmp_path / "surroundings.pl", SURROUNDINGS)
    env = {"_": "the same", "PERLDB_OPTS": "NonStop=1 LineInfo=/dev/null"}
    if own is not None:
        env["PERL5DB"] = own
    expected = plainly(program.text, [], b"", env)
    assert b"status " in expected[1]
    async with adapter() as perl:
        await perl.start(program, env=env, stdin="")
        await perl.ask("configurationDone")
        code = await perl.end()
        assert perl.printed("stdout").decode() == expected[1].decode()
        assert (code, perl.printed("stderr")) == (expected[0], expected[2])


async def test_what_cannot_start_or_compile_says_why(tmp_path: Path) -> None:
    broken = Program.write(tmp_path / "broken.pl", "use strict;\nmy $x = ;\n")
    expected = plainly(broken.text, [], b"")
    async with adapter() as perl:
        await perl.start(broken)
        await perl.ask("configurationDone")
        assert await perl.end() == 255
        assert perl.printed("stderr") == expected[2]
    async with adapter() as perl:
        with pytest.raises(Refused, match="Cannot start /no/perl: No such file"):
            await perl.start(broken, perlPath="/no/perl")
    async with adapter() as perl:
        with pytest.raises(Refused, match="ended with 2 before the program started"):
            await perl.start(broken, perlPath="/bin/sh")


FIRST_LINES = {
    "lines": '#!{perl} -ln\nmy $x = uc $_;\nprint "<$x>";    # @in\n',
    "printed": "#!{perl} -wp\ns/l/L/;\n$_ .= join ',', grep /Relay/, keys %INC;    # @in\n",
    "environment": '#!{perl} -n\nprint "[", $ENV{PERL5DB} // "none", "]";    # @in\n',
    "tainted": '#!{perl} -Tw\nmy $path = $ENV{PATH};\nprint "${^TAINT}\\n";    # @in\n'
    "system $path;\n",
}


@pytest.mark.parametrize("name", FIRST_LINES)
async def test_switches_of_the_first_line_are_as_the_system_takes_them(
    tmp_path: Path, name: str
) -> None:
    perl_path = shutil.which("perl") or "perl"
    text = FIRST_LINES[name].replace("{perl}", perl_path)
    program = Program.write(tmp_path / f"{name}.pl", text)
    program.path.chmod(0o755)
    with trio.fail_after(60):
        expected = await trio.run_process(
            [program.text],
            stdin=b"one\nlast\n",
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
    async with adapter() as perl:
        await perl.start(program, stdin="one\nlast\n")
        await perl.places(program, "in")
        await perl.ask("configurationDone")
        _, [frame] = await perl.stop()
        assert frame["line"] == program.line("in")
        await perl.places(program)
        await perl.ask("continue", threadId=1)
        assert await perl.end() == expected.returncode
        assert perl.printed("stdout") == expected.stdout
        assert perl.printed("stderr") == expected.stderr


OBJECTS = """
    package Failure;
    sub new { return bless { number => $_[1] }, $_[0] }
    sub DESTROY { print "destroyed $_[0]{number}\\n" }
    package main;
    eval { die Failure->new(1) };
    my $looked = 1;    # @failed
    $@ = '';
    print "forgotten\\n";
    sub taken { my $failure = shift; return within() }
    sub within {
        return 1;    # @within
    }
    taken(Failure->new(2));
    print "over\\n";
"""


async def test_objects_end_when_they_do_without_a_debugger(tmp_path: Path) -> None:
    program = Program.write(tmp_path / "objects.pl", OBJECTS)
    expected = plainly(program.text, [], b"")
    async with adapter() as perl:
        await perl.start(program)
        await perl.ask("setExceptionBreakpoints", filters=["caught", "uncaught"])
        await perl.places(program, "failed", "within")
        await perl.ask("configurationDone")
        for _ in range(3):
            _, frames = await perl.stop()
            for frame in frames:
                await perl.locals(frame)
            await perl.ask("continue", threadId=1)
        assert await perl.end() == 0
        assert perl.printed("stdout").decode() == expected[1].decode()


HANDLERS = """
    $SIG{__DIE__} = sub { print "outer: $_[0]" };
    my $begun = 1;    # @begun
    sub bare {
        local $SIG{__DIE__};
        return 1;    # @bare
    }
    bare();
    eval { die "after bare\\n" };
    sub own {
        local $SIG{__DIE__} = sub { print "inner: $_[0]" };
        return 1;    # @own
    }
    own();
    eval { die "after own\\n" };
    print "over\\n";    # @over
    eval { die "at last\\n" };
"""


async def test_a_handler_that_local_brings_back_is_the_one_that_was_there(tmp_path: Path) -> None:
    program = Program.write(tmp_path / "handlers.pl", HANDLERS)
    expected = plainly(program.text, [], b"")
    assert expected[1].count(b"outer: ") == 3
    async with adapter() as perl:
        await perl.start(program)
        await perl.ask("setExceptionBreakpoints", filters=["uncaught"])
        await perl.places(program, "begun", "bare", "own", "over")
        await perl.ask("configurationDone")
        for mark in ("begun", "bare", "own", "over"):
            await perl.stop()
            if mark == "over":
                await perl.ask("setExceptionBreakpoints", filters=[])
            await perl.ask("continue", threadId=1)
        assert await perl.end() == 0
        assert perl.printed("stdout") == expected[1]


THREADS = """
    use strict;
    use threads;
    sub work {
        my ($number) = @_;
        my $twice = $number * 2;    # @thread
        die "in a thread\\n" if $number == 3;
        return $twice;
    }
    my @threads = map { threads->create(\\&work, $_) } 1 .. 3;    # @create
    my @given = map { $_->join } @threads;    # @join
    print "@given\\n";    # @print
"""


@pytest.mark.skipif(
    b"usethreads='define'" not in subprocess.check_output(["perl", "-V:usethreads"]),
    reason="this perl has no threads",
)
@pytest.mark.parametrize("move", ["continue", "next", "stepIn"])
async def test_threads_of_the_program_run_on_beside_it(tmp_path: Path, move: str) -> None:
    """They have no stops: there is one link, and it is the program's."""
    program = Program.write(tmp_path / "threads.pl", THREADS)
    expected = plainly(program.text, [], b"")
    assert expected[1] == b"2 4\n"
    stops = []
    async with adapter() as perl:
        await perl.start(program)
        await perl.ask("setExceptionBreakpoints", filters=["caught", "uncaught"])
        await perl.places(program, "create", "thread", "join", "print")
        await perl.ask("configurationDone")
        while await perl.either("stopped", "exited") == "stopped":
            frames = (await perl.ask("stackTrace", threadId=1))["stackFrames"]
            stops.append([frame["line"] for frame in frames])
            await perl.locals(frames[0])
            await perl.ask(move, threadId=1)
        assert perl.printed("stdout") == expected[1]
        assert perl.printed("stderr") == expected[2]
    assert [program.line("thread")] not in [lines[:1] for lines in stops]
    places = [[program.line(mark)] for mark in ("create", "join", "print")]
    assert [lines for at, lines in enumerate(stops) if lines not in stops[:at]] == places


CONTEXTS = """
    use List::Util qw(first reduce uniq);
    sub context { return wantarray ? 'list' : defined wantarray ? 'scalar' : 'void' }
    sub kinds { context(); my $one = context(); my @many = context(); return ($one, @many) }
    sub distinct { my @all = uniq map { lc } @_; return @all }
    sub passed { return uniq @_ }
    sub sum { return scalar(@_), reduce { $a + $b } @_ }
    my $begun = 1;    # @begun
    my @kinds = kinds();
    my @distinct = distinct('a', 'A', 'b');
    my @passed = passed(2, 2, 3);
    my $count = passed(2, 2, 3, 4);
    my @sum = sum(1 .. 4);
    my $first = first { context() && $_ gt 'a' } @distinct;
    print "$_\\n" for "@kinds", "@distinct", "@passed", $count, "@sum", $first;
"""


@pytest.mark.parametrize("moves", [["next"], ["next", "stepIn"], ["stepIn", "stepIn", "stepOut"]])
async def test_subs_that_are_stepped_over_have_the_context_of_their_call(
    tmp_path: Path, moves: list[str]
) -> None:
    """Those in C, too."""
    program = Program.write(tmp_path / "contexts.pl", CONTEXTS)
    expected = plainly(program.text, [], b"")
    assert expected[1] == b"scalar list\na b\n2 3\n3\n4 10\nb\n"
    stops = 0
    async with adapter() as perl:
        await perl.start(program)
        await perl.places(program, "begun")
        await perl.ask("configurationDone")
        while await perl.either("stopped", "exited") == "stopped":
            await perl.ask(moves[stops % len(moves)], threadId=1)
            stops += 1
        assert perl.printed("stdout") == expected[1]
    assert stops >= 8
