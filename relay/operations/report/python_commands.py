"""Whether a command line runs Python, as far as its words and the head of its program say.

A process has ended when this is asked: only its command line is left of it.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

_PYTHON = re.compile(r"(python|pypy)[\d.]*t?")
_SHELLS = ("sh", "ash", "bash", "dash", "ksh", "zsh")
_LAUNCHERS = (
    "command",
    "env",
    "exec",
    "ionice",
    "nice",
    "nohup",
    "setsid",
    "stdbuf",
    "time",
    "timeout",
)
_KEYWORDS = ("!", "{", "do", "else", "if", "then", "until", "while")
_SEPARATORS = frozenset(";&|()\n")
# An option, a variable, or how long or how nice.
_OF_LAUNCHER = re.compile(r"-.*|\w+=.*|\d+(\.\d+)?[smhd]?")
_RUNS_NOTHING = (["--version"], ["-V"])
# Helpers of multiprocessing and loky that run no code of the program's.
_HELPERS = (".resource_tracker import main", ".semaphore_tracker import main")
_HEAD = 300
"""Bytes of a program in which its interpreter is named, also where that is too long for a `#!`."""


def runs_python(
    argv: Sequence[str], cwd: str, env: Mapping[str, str], *, by_itself: bool = False
) -> bool:
    """Whether code of somebody's runs in a Python here; `by_itself`: in this very process, and not in one that it starts.

    False where that is not known: a shell's script, or a program that starts others.
    """
    words = list(argv)
    while words:
        name = words[0].rpartition("/")[2]
        if _PYTHON.fullmatch(name):
            return words[1:] not in _RUNS_NOTHING and not is_helper(words)
        if by_itself and name in (*_SHELLS, *_LAUNCHERS):
            return False
        if name in _SHELLS:
            return any(runs_python(one, cwd, env) for one in _commands_of_shell(words))
        if name not in _LAUNCHERS:
            return _is_script_of_python(words[0], cwd, env)
        words = words[1:]
        while words and _OF_LAUNCHER.fullmatch(words[0]):
            del words[0]
    return False


def is_helper(argv: Sequence[str]) -> bool:
    """Whether it is one of multiprocessing's own, which run nothing of the program."""
    return any(helper in word for word in argv[1:] for helper in _HELPERS)


def _commands_of_shell(words: list[str]) -> list[list[str]]:
    """Those of `sh -c TEXT`, as far as they can be read."""
    option = next((n for n, word in enumerate(words) if re.fullmatch(r"-[a-z]*c", word)), None)
    if option is None or option + 1 >= len(words):
        return []
    reader = shlex.shlex(words[option + 1], posix=True, punctuation_chars=";&|()\n")
    reader.whitespace, reader.whitespace_split = " \t\r", True
    commands: list[list[str]] = [[]]
    try:
        for word in reader:
            if set(word) <= _SEPARATORS:
                commands.append([])
            elif commands[-1] or not (word in _KEYWORDS or re.fullmatch(r"\w+=.*", word)):
                commands[-1].append(word)
    except ValueError:  # a quotation that does not end
        pass
    return commands


def _is_script_of_python(program: str, cwd: str, env: Mapping[str, str]) -> bool:
    found = Path(cwd, program) if "/" in program else shutil.which(program, path=env.get("PATH"))
    if found is None:
        return False
    try:
        with open(found, "rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return False
    first, _, rest = head.partition(b"\n")
    return first.startswith(b"#!") and (b"python" in first or b"exec' " in rest.partition(b"\n")[0])
