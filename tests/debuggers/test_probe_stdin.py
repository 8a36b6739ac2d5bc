"""The watched standard input is as plain Python's in every way but one: it says who waits."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from relay.debuggers.debugpy.debuggee import probe
from tests.debuggers.bootstrap_runner import PYENV

PROBE = Path(probe.__file__).with_name("process") / "stdin.py"
VERSIONS = ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13"]
INTERPRETERS = [p for v in VERSIONS for p in sorted(PYENV.glob(f"{v}.*/bin/python"))[-1:]]

WATCH = f"""
def _attempt(function, *arguments, default=None):
    return function(*arguments)

_space = {{"__name__": "probe", "debugger": lambda: None, "attempt": _attempt}}
with open({str(PROBE)!r}, encoding="utf-8") as _file:
    exec(compile(_file.read(), {str(PROBE)!r}, "exec"), _space)
_told = []
_space["_report_input"] = _told.append
assert _space["watch_stdin"]() is True
"""

LOOKS = """
import io, os, sys
streams = sys.stdin, sys.stdin.buffer, sys.stdin.buffer.raw
for stream in streams:
    print(repr(stream), stream.fileno(), stream.isatty(), stream.closed, stream.mode)
    print(stream.name, stream.readable(), stream.seekable(), isinstance(stream, io.FileIO))
print(type(sys.stdin), type(sys.stdin.buffer), sys.stdin is sys.__stdin__)
text = sys.stdin
print(text.encoding, text.errors, text.line_buffering, text.newlines, text.write_through)
"""

READS = """
import sys
import time
print(repr(input()), repr(sys.stdin.readline()), repr(sys.stdin.read(3)))
print(sys.stdin.readable(), repr(next(sys.stdin)))
print(repr(sys.stdin.buffer.readline()), sys.stdin.buffer.read1(2))
print(len(sys.stdin.read()), repr(sys.stdin.read()), repr(sys.stdin.buffer.read()))
try:
    input()
except EOFError as error:
    print("EOF", error)
sys.stdin.close()
for read in (sys.stdin.readline, sys.stdin.buffer.read, input):
    try:
        read()
    except ValueError as error:
        print(error)
"""
GIVEN = "first\nzw\u00f6lf\nabc\nde\n\r\nrest\r\nxyz\n".encode() + b"\xff\xfe" + b"long " * 100_000


def run(python: Path, code: str, given: bytes) -> str:
    done = subprocess.run(
        [str(python), "-c", code],
        input=given,
        capture_output=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": ""},
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.mark.parametrize(
    "python", INTERPRETERS or [Path(sys.executable)], ids=lambda path: path.parts[-3]
)
def test_the_program_finds_the_stdin_that_it_knows(python: Path) -> None:
    for program in (LOOKS, READS):
        assert run(python, WATCH + program, GIVEN) == run(python, program, GIVEN)


def test_every_way_of_reading_says_when_it_waits() -> None:
    ways = ["input()", "sys.stdin.readline()", "next(sys.stdin)", "sys.stdin.buffer.readline()"]
    ways += ["sys.stdin.buffer.raw.read(3)", "sys.stdin.buffer.peek()", "sys.stdin.read()"]
    for way in ways:
        code = WATCH + f"import sys\n{way}\nprint(_told)"
        with subprocess.Popen(
            [sys.executable, "-c", "print('up', flush=True)\n" + code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stdout.readline() == b"up\n"
            _until_asleep(process.pid)
            process.stdin.write(b"line\n")
            process.stdin.close()
            told = process.stdout.read().decode().strip()
        # A read to the end may wait once more, for the end.
        assert told in ("[True, False]", "[True, False, True, False]"), way
        # What is there already is read without a word.
        assert run(Path(sys.executable), code, b"line\n").strip() == "[]", way


def _until_asleep(pid: int) -> None:
    """Until the process waits in a read."""
    end = time.monotonic() + 30
    while "pipe" not in Path(f"/proc/{pid}/wchan").read_text():
        assert time.monotonic() < end, "it never read"
