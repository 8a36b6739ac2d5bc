"""A command as a shell has it, `pytest -q` or `python3 -O app.py`: which Python runs which script.

A shell finds the command in PATH, and the system its interpreter in the first line. Here the
environment that a program would get by itself comes before PATH. Looks at files; only a shim of
pyenv's is run, to say what it stands for.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import click

from relay.environments import environment_python, is_installed_command
from relay.program_kinds import is_no_python

EXAMPLE = "app.py --flag, -m pytest tests/ or -X dev app.py"

SHIM_SECONDS = 5.0
"""How long pyenv may take to say what a shim stands for; it takes a twentieth of a second."""

_PYTHON = re.compile(r"(python|pypy)[0-9.]*t?(\.exe)?")
_SHIM = re.compile(r'^exec "(?P<pyenv>/[^"\n]*/pyenv)" exec "\$program" "\$@"$', re.MULTILINE)
_SHELLS = re.compile(rb"#!.*sh\b")
_ONLY_FOR_THE_SYSTEM = re.compile(rb"\x7fELF|#![^\n]*sh\b")
_VARIABLE = re.compile(r"[A-Za-z_]\w*=")
_FIRST_LINES = 4096
_FOLLOWED = "give --children, and each Python that it starts is debugged"
# What installers write where the interpreter's path is too long for a first line, or has blanks.
_EXEC = re.compile(r"""^'''exec' ["']?(/[^"'\n]+?)["']? "\$0" "\$@"$""", re.MULTILINE)
_PREFIXES = frozenset(
    {"env", "exec", "nice", "nohup", "stdbuf", "sudo", "time", "timeout", "xvfb-run"}
)
_RUNNERS = frozenset(
    {"conda", "hatch", "micromamba", "pdm", "pipenv", "pixi", "poetry", "rye", "uv"}
)


class PythonCommand(NamedTuple):
    """`words` name the program to Python; `python` is the interpreter that the command has, if any.

    A command that is none of Python's is named by its path.
    """

    python: str | None
    words: list[str]


def shell_command(
    words: Sequence[str],
    *,
    python: str | None,
    environment: Mapping[str, str],
    directory: str,
    children: bool = False,
) -> PythonCommand:
    """What a shell would run by these words, if they name no script of the program's own.

    python: the interpreter that was asked for. children: what it starts is debugged, so that it may be
    none of Python's. Raises click.UsageError for what cannot be debugged.
    """
    word = words[0] if words else ""
    if not word or word.startswith("-"):
        return PythonCommand(None, list(words))
    here = os.path.join(directory, word)
    if _PYTHON.fullmatch(os.path.basename(word)) and not _is_text(here):
        return _interpreter(words, python, environment, directory)
    if os.path.dirname(word):
        return _by_path(words, here, environment, children=children)
    if _is_program(here):
        return PythonCommand(None, list(words))
    found = _found(word, python, environment, directory)
    run_by = None if found is None else _interpreter_of(found, environment)
    if found is not None and run_by is not None:
        return _run_by(run_by, [found, *words[1:]])
    if found is not None and children and is_no_python(found):
        return PythonCommand(None, [found, *words[1:]])
    if found or word in _RUNNERS | _PREFIXES or _VARIABLE.match(word):
        raise click.UsageError(_foreign(words, found or word))
    return PythonCommand(None, list(words))


def command_in_path(word: str | None, environment: Mapping[str, str], directory: str) -> str | None:
    """What to say of a word that names no file of the directory, but a command of PATH.

    Of another debugger than Python's, which takes files.
    """
    if not word or os.path.dirname(word) or os.path.exists(os.path.join(directory, word)):
        return None
    path = environment.get("PATH", os.defpath).split(os.pathsep)
    found = (shutil.which(word, path=os.path.join(directory, place)) for place in path)
    place = next(filter(None, found), None)
    return None if place is None else f"{word} is no file here, but a command: name it {place}"


def _by_path(
    words: Sequence[str], path: str, environment: Mapping[str, str], *, children: bool
) -> PythonCommand:
    """A file by its path is a program of its own, whatever its first line names: but for an
    installed command, which has its interpreter, and what only the system can run."""
    run_by = _interpreter_of(path, environment)
    if run_by is not None:
        return (
            _run_by(run_by, words) if is_installed_command(path) else PythonCommand(None, [*words])
        )
    # An extension may be that of another debugger's programs.
    is_a_command = os.path.splitext(path)[1] in ("", ".sh") and os.access(path, os.X_OK)
    if is_a_command and _ONLY_FOR_THE_SYSTEM.match(_beginning(path)) and not children:
        raise click.UsageError(_foreign(words, words[0]))
    return PythonCommand(None, [*words])


def _run_by(command: Sequence[str], words: Sequence[str]) -> PythonCommand:
    """An interpreter and its options, before a script and its arguments."""
    return PythonCommand(command[0], [*command[1:], *words])


def _interpreter(
    words: Sequence[str], python: str | None, environment: Mapping[str, str], directory: str
) -> PythonCommand:
    word = words[0]
    if os.path.dirname(word):
        found: str | None = os.path.normpath(os.path.join(directory, os.path.expanduser(word)))
    else:
        found = _found(word, None, environment, directory)
    if found is None or not os.access(found, os.X_OK):
        raise click.UsageError(f"{word}: there is no such interpreter")
    if python is not None:
        raise click.UsageError(f"the interpreter is named twice: --python {python}, and {word}")
    return PythonCommand(found, list(words[1:]))


def _is_text(path: str) -> bool:
    return os.path.isfile(path) and b"\0" not in _beginning(path)


def _is_program(path: str) -> bool:
    return os.path.isfile(path) or os.path.isfile(os.path.join(path, "__main__.py"))


def _found(
    name: str, python: str | None, environment: Mapping[str, str], directory: str
) -> str | None:
    """The file of this name that is meant; beside the relay's own Python only if there is no other."""
    own = python or environment_python(environment, [directory])
    beside = [] if own is None else [os.path.dirname(os.path.join(directory, own))]
    path = environment.get("PATH", os.defpath).split(os.pathsep)
    for place in [*beside, *path, os.path.dirname(sys.executable)]:
        found = shutil.which(name, path=os.path.join(directory, place))
        if found is not None:
            return _behind_shim(found, environment, directory)
    return None


def _behind_shim(path: str, environment: Mapping[str, str], directory: str) -> str:
    """What pyenv would run in the directory, if the file is one of its shims; else the file."""
    shim = _SHIM.search(_beginning(path).decode(errors="replace"))
    if shim is None:
        return path
    try:
        asked = subprocess.run(
            [shim["pyenv"], "which", os.path.basename(path)],
            env=dict(environment),
            cwd=directory,
            capture_output=True,
            text=True,
            timeout=SHIM_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return path
    return asked.stdout.strip() or path


def _interpreter_of(path: str, environment: Mapping[str, str]) -> list[str] | None:
    """The Python that the system would run the script by, with its options; None if it would not."""
    text = _beginning(path)
    if not text.startswith(b"#!"):
        return None
    first, _, rest = os.fsdecode(text)[2:].partition("\n")
    words = first.split()
    if len(words) == 1 and words[0] == "/bin/sh" and (found := _EXEC.match(rest)) is not None:
        words = [found[1]]
    if words and os.path.basename(words[0]) == "env":
        words = [word for word in words[1:] if word != "-S"]
        named = shutil.which(words[0], path=environment.get("PATH")) if words else None
        words = [named, *words[1:]] if named is not None else []
    if not words or not _PYTHON.fullmatch(os.path.basename(words[0])):
        return None
    return words


def _beginning(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_FIRST_LINES)
    except OSError:
        return b""


def _foreign(words: Sequence[str], path: str) -> str:
    """Why a command cannot be debugged, and what can."""
    word, what = words[0], f"{path} is no Python program"
    if word in _RUNNERS:
        return (
            f"{what}: leave `{' '.join(words[:2])}` out. The interpreter of an active environment or of a "
            f".venv here is found by itself, another one is named by --python. Or {_FOLLOWED}"
        )
    if word in _PREFIXES or _VARIABLE.match(word):
        followed = "" if _VARIABLE.match(word) else f"; or {_FOLLOWED}"
        return f"{what}: put it before `relay`, or leave it out{followed}"
    if _SHELLS.match(_beginning(path)) and not os.path.dirname(word):
        return f"{what}. If it runs a module of this name: -m {word}. Or {_FOLLOWED}"
    if _is_text(path) and not os.path.dirname(word):
        return f"{what}: one of another debugger is named by its path, with --adapter NAME: {path}"
    name = f"{what}: name the Python program that it starts, such as {EXAMPLE}; or {_FOLLOWED}"
    if os.path.dirname(word):
        return f"{name}; or the debugger that it has, by --adapter NAME"
    return f"{name}; a script in another language stands alone, too: app.pl --flag"
