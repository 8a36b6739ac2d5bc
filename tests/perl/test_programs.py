"""Programs that others wrote, from Debian: the debugger changes nothing of what they print.

And an oracle: what a tracer of a few lines sees of a run, the debugger shows, stop by stop.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pytest
import trio

from tests.perl.driver import Body, Peer, adapter

JSON = b'{"name": "caf\\u00e9", "list": [1, 2.5, null, {"deep": [true, false]}], "n": -3e5}'

POD = """
    =head1 NAME

    sums - adds B<numbers>, and L<perlpod/"Links">

    =over 4

    =item * one

    =item * C<two>

    =back

        verbatim   text

    =head2 Caf\xc3\xa9

    =cut
"""

UGLY = "sub add{my($x,$y)=@_;if($x>1){return $x+$y}else{\nreturn $y}}print add(1,2),qq{\\n};\n"


@dataclass(frozen=True)
class Use:
    """A program as it is used here; `package` is Debian's."""

    package: str
    args: Sequence[str] = ()
    stdin: bytes = b""


USES = {
    "ack": Use("ack", ["--nofilter", "--nocolor", "--sort-files", "-n", "add|=item", "."]),
    "exiftool": Use("libimage-exiftool-perl", ["-a", "-G1", "-FileSize", "-MIMEType", "page.pod"]),
    "perltidy": Use("perltidy", ["--standard-output", "--no-profile", "ugly.pl"]),
    "pod2text": Use("perl", ["page.pod"]),
    "json_pp": Use("perl", ["-json_opt", "pretty,canonical,utf8"], JSON),
}


SAME_ORDER = {"PERL_HASH_SEED": "0", "PERL_PERTURB_KEYS": "0"}
"""Two runs walk their hashes in the same order."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pod = re.sub(r"(?m)^    ", "", POD.replace("\xc3\xa9", "é"))
    (tmp_path / "page.pod").write_text(pod, encoding="utf-8")
    (tmp_path / "ugly.pl").write_text(UGLY)
    return tmp_path


def found(name: str) -> str:
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"{name} is not installed: apt-get install {USES[name].package}")
    return program


async def plain(program: str, use: Use, folder: Path) -> subprocess.CompletedProcess[bytes]:
    return await trio.run_process(
        [program, *use.args],
        stdin=use.stdin,
        cwd=folder,
        env={**os.environ, **SAME_ORDER},
        check=False,
        capture_stdout=True,
        capture_stderr=True,
    )


async def start(perl: Peer, program: str, use: Use, folder: Path) -> None:
    await perl.start(Path(program), args=list(use.args), cwd=str(folder), env=SAME_ORDER)
    text = use.stdin.decode("utf-8", "surrogateescape")
    await perl.ask("configurationDone")
    await perl.ask("stdin", input=text, eof=True)


@pytest.mark.parametrize("name", USES)
async def test_it_prints_and_ends_as_without_a_debugger(name: str, folder: Path) -> None:
    program, use = found(name), USES[name]
    expected = await plain(program, use, folder)
    assert expected.stdout, expected.stderr.decode()
    async with adapter() as perl:
        await start(perl, program, use, folder)
        assert await perl.end() == expected.returncode
        assert perl.printed("stdout") == expected.stdout
        assert perl.printed("stderr") == expected.stderr


# The oracle -----------------------------------------------------------------------------------

ORACLE = r"""
package DB;
my ($file, @names, $out);
sub import {
    ($file, my $told, @names) = map { split /,/ } $ENV{ORACLE};
    open $out, '>', $told or die;
    $^P = 0x22;
    $DB::single = 1;
}
sub DB {
    my ($package, $where, $line) = caller;
    return if $where ne $file || ${^GLOBAL_PHASE} ne 'RUN';
    my @was = ($@, $! + 0);
    my @row;
    for my $name (@names) {
        my @found = eval "no strict; no warnings; (\$$name)";
        my $text = ref $found[0] ? '' : defined $found[0] ? "$found[0]" : 'undef';
        utf8::encode($text) if utf8::is_utf8($text);
        push @row, ref $found[0] ? "$name=REF" : "$name=" . unpack 'H*', $text;
    }
    print $out join(' ', $line, @row), "\n";
    ($@, $!) = @was;
}
*Devel::Oracle::import = \&import;
1;
"""


@dataclass(frozen=True)
class Seen:
    """One statement: its line, and what each scalar held; None for a reference."""

    line: int
    values: dict[str, str | None]


def scalars(program: str) -> list[str]:
    return sorted(set(re.findall(r"\$([a-zA-Z]\w*)", Path(program).read_text("latin-1"))))


async def traced(program: str, use: Use, folder: Path) -> list[Seen]:
    """The statements of the program's own file, by an independent tracer."""
    (folder / "Devel").mkdir()
    (folder / "Devel" / "Oracle.pm").write_text(ORACLE)
    told = folder / "told"
    await trio.run_process(
        ["perl", f"-I{folder}", "-d:Oracle", program, *use.args],
        stdin=use.stdin,
        cwd=folder,
        env={
            **os.environ,
            **SAME_ORDER,
            "ORACLE": ",".join([program, str(told), *scalars(program)]),
        },
        check=False,
        capture_stdout=True,
        capture_stderr=True,
    )
    return [_seen(row.split(" ")) for row in told.read_text().splitlines()]


def _seen(words: list[str]) -> Seen:
    values: dict[str, str | None] = {}
    for word in words[1:]:
        name, _, code = word.partition("=")
        text = None if code == "REF" else bytes.fromhex(code).decode("utf-8", "replace")
        values[f"${name}"] = text
    return Seen(int(words[0]), values)


def visits(statements: list[Seen]) -> list[list[Seen]]:
    """Statements of one line after each other: Perl marks one of them to stop at."""
    return [list(group) for _, group in groupby(statements, key=lambda seen: seen.line)]


@pytest.mark.parametrize("name", ["json_pp", "pod2text"])
async def test_each_stop_and_each_scalar_is_what_a_tracer_sees(name: str, folder: Path) -> None:
    program, use = found(name), USES[name]
    oracle = visits(await traced(program, use, folder))
    assert len(oracle) > 10
    lines = [{"line": line} for line in sorted({group[0].line for group in oracle})]
    compared, visited = 0, -1
    async with adapter() as perl:
        await perl.start(Path(program), args=list(use.args), cwd=str(folder), env=SAME_ORDER)
        await perl.ask("setBreakpoints", source={"path": program}, breakpoints=lines)
        await perl.ask("configurationDone")
        text = use.stdin.decode("utf-8", "surrogateescape")
        await perl.ask("stdin", input=text, eof=True)
        while (frame := await next_stop(perl)) is not None:
            if visited < 0 or frame["line"] != oracle[visited][0].line:
                visited += 1
            assert frame["line"] == oracle[visited][0].line, f"stop {visited}"
            for variable, row in (await perl.locals(frame)).items():
                expected = [seen.values.get(variable) for seen in oracle[visited]]
                if all(text is not None and len(text) < 500 for text in expected):
                    assert row["value"] in expected, f"{variable} at stop {visited}"
                    compared += 1
            await perl.ask("continue", threadId=1)
    assert visited == len(oracle) - 1
    assert compared > len(oracle)


async def next_stop(perl: Peer) -> Body | None:
    """The innermost frame of the next stop; None at the end of the program."""
    if await perl.either("stopped", "exited") == "exited":
        return None
    frames: list[Body] = (await perl.ask("stackTrace", threadId=1, levels=1))["stackFrames"]
    return frames[0]
