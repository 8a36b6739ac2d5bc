"""What a Python executable says about itself, asked once before a launch.

Knows the question, as a command line, and how to read the answer. Asks nothing itself: the
caller runs `query_argv` in the program's cwd and environment, and hands its output to `parse`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from relay.actions import Action
from relay.errors import LaunchFailed

MARK = "debug-relay-interpreter:"
OLDEST = (3, 8)
"""What the debugger supports at all, whatever the rung."""

# Runs on any Python from 2.7 on, and imports as little as it can: 20 ms instead of 50.
# Not under -I: the debuggee will see the user's site-packages, PYTHONPATH and .pth files, so the
# answer must too. Under -c, sys.path[0] is the cwd, which the debuggee will not have: it goes.
QUERY = """
import os, sys
if sys.path and sys.path[0] == "":
    del sys.path[0]
def places():
    found = [path for path in sys.path if path.rstrip("/\\\\").endswith("-packages")]
    try:
        import site
        found += site.getsitepackages()
        if site.ENABLE_USER_SITE:
            found.append(site.getusersitepackages())
    except Exception:
        pass
    return sorted(set(found)) + [os.path.join(sys.prefix, "pyvenv.cfg")]
def changed(path):
    try:
        return "%d" % os.stat(path).st_mtime_ns
    except Exception:
        return "null"
# Before it is looked what is there: what comes meanwhile counts as a change.
installed_in = [(path, changed(path)) for path in places()]
def version_of(name):
    try:
        from importlib.util import find_spec
        spec = find_spec(name)
        folder = list(spec.submodule_search_locations)[0]
        with open(folder + "/_version.py") as file:
            text = file.read()
        return text.split('"version": "')[1].split('"')[0]
    except Exception:
        return None
version = version_of("debugpy")
def has(name):
    try:
        from importlib.util import find_spec
        return find_spec(name) is not None
    except Exception:
        return False
implementation = getattr(sys, "implementation", None)
name = getattr(implementation, "name", "unknown")
def quote(text):
    if text is None:
        return "null"
    return '"%s"' % "".join("\\\\u%04x" % ord(c) if ord(c) < 65536 else
        "\\\\u%04x\\\\u%04x" % (0xD7C0 + (ord(c) >> 10), 0xDC00 + (ord(c) & 1023)) for c in text)
sys.stdout.write('\\n%s{"executable":%s,"prefix":%s,"implementation":%s,"debugpy":%s,"gevent":%s,"installed_in":[%s],"version":[%d,%d,%d]}\\n' % (
    "MARK", quote(sys.executable), quote(sys.prefix), quote(name), quote(version),
    "true" if has("gevent") else "false",
    ",".join("[%s,%s]" % (quote(path), stamp) for path, stamp in installed_in),
    sys.version_info[0], sys.version_info[1], sys.version_info[2]))
""".replace("MARK", MARK)


@dataclass(frozen=True)
class Interpreter:
    """One Python, as it sees itself.

    `executable` is `sys.executable`: a pyenv or other shim is already looked through.
    `debugpy_version` is None when the installed debugpy does not say it, or is missing.
    """

    executable: str
    version: tuple[int, int, int]
    implementation: str
    debugpy_version: str | None
    prefix: str
    has_gevent: bool = False
    installed_in: tuple[tuple[str, int | None], ...] = field(default=(), compare=False)
    """Files and directories that change as something is installed, with the time of their last
    change in nanoseconds; None: not there. Answers at two times are equal nonetheless."""

    @property
    def is_cpython(self) -> bool:
        return self.implementation == "cpython"


def query_argv(python_path: str, python_args: Sequence[str] = ()) -> list[str]:
    """The command that makes `python_path` answer; `python_args` as the program will get them."""
    return [python_path, *python_args, "-c", QUERY]


def parse(stdout: str | bytes, python_path: str = "") -> Interpreter:
    """The answer in `stdout`; what site hooks printed around it does not matter.

    Raises LaunchFailed when there is none.
    """
    text = stdout.decode("utf-8", "replace") if isinstance(stdout, bytes) else stdout
    _, mark, rest = text.rpartition(MARK)
    try:
        answer: dict[str, Any] = json.loads(rest.splitlines()[0]) if mark else {}
        major, minor, micro = answer["version"]
        return Interpreter(
            executable=str(answer["executable"]),
            version=(int(major), int(minor), int(micro)),
            implementation=str(answer["implementation"]),
            debugpy_version=answer["debugpy"],
            prefix=str(answer["prefix"]),
            has_gevent=answer.get("gevent") is True,
            installed_in=tuple((str(path), changed) for path, changed in answer["installed_in"]),
        )
    except (ValueError, KeyError, IndexError, TypeError):
        raise LaunchFailed(
            f"{python_path or 'python_path'} does not behave like a Python interpreter",
            suggestion=Action.GIVE_INTERPRETER.of(
                interpreter="an interpreter that runs `-c 'print(1)'`"
            ),
            python_path=python_path,
            answer="" if QUERY.strip() in text else text[-400:],  # an echo of our own code
        ) from None
