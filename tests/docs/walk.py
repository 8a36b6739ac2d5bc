"""Runs the commands of a documentation page, and compares the answers that it shows.

A fenced block after `<!-- run -->` is run, those of a page one after another in one shell.
A block after `<!-- shows -->` is what the run block before it answers: JSON is compared
with the last answer's `data` (or `error`) and may leave out keys and the end of lists; a block
of `text` is compared with all that was printed. `…` in a text stands for anything.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import trio

from relay.process.ports import free_port
from tests.relays import environment

BLOCK = re.compile(
    r"^<!-- (?P<mark>run|shows) -->\n```(?P<language>\w+)\n(?P<text>.*?)^```$", re.M | re.S
)
FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S)
SEPARATOR = "---- end of block ----"
API = "http://127.0.0.1:5679"
DEBUGPY_PORT = "5678"
PAGE_SECONDS = 300

CURL = '''#!{python}
"""As much of curl as the documentation needs, for machines without it."""
import sys, urllib.error, urllib.request
method, headers, data, url, rest = None, {{}}, None, "", iter(sys.argv[1:])
for word in rest:
    if word == "-X":
        method = next(rest)
    elif word == "-H":
        name, _, value = next(rest).partition(":")
        headers[name] = value.strip()
    elif word == "-d":
        data = next(rest).encode()
    elif word != "-s":
        url = word
request = urllib.request.Request(url, data, headers, method=method)
opener = urllib.request.build_opener(urllib.request.ProxyHandler({{}}))
try:
    answer = opener.open(request)
except urllib.error.HTTPError as error:
    answer = error
sys.stdout.buffer.write(answer.read())
'''


@dataclass(frozen=True)
class Step:
    """One block to run, and what it is said to answer."""

    language: str
    code: str
    shown: str | None
    as_text: bool = False


def steps(page: str) -> list[Step]:
    """The blocks of a page that are run, in order."""
    found: list[Step] = []
    for block in BLOCK.finditer(page):
        if block["mark"] == "run":
            found.append(Step(block["language"], block["text"], None))
        else:
            assert found, "an answer is shown before anything was run"
            assert found[-1].shown is None, "two answers are shown for one block"
            as_text = found[-1].language == "python" or block["language"] == "text"
            found[-1] = Step(found[-1].language, found[-1].code, block["text"], as_text)
    return found


async def walk(page: str, directory: Path, url: str, *, stand_in: bool = False) -> None:
    """Run every block of the page in `directory` against the relay at `url`; compare."""
    todo = steps(page)
    script = "set -eu\n" + "".join(map(_as_shell, todo))
    script = script.replace(API, url).replace(DEBUGPY_PORT, str(free_port()))
    with trio.fail_after(PAGE_SECONDS):
        done = await trio.run_process(
            ["sh", "-c", script],
            cwd=directory,
            env=_environment(directory, stand_in=stand_in),
            stdin=DEVNULL,
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
    printed = done.stdout.decode().split(SEPARATOR + "\n")
    told = f"{done.stdout.decode()}\n{done.stderr.decode()}"
    assert done.returncode == 0, told
    assert len(printed) == len(todo) + 1, told
    for step, text in zip(todo, printed, strict=False):
        _compare(step, text)


def _as_shell(step: Step) -> str:
    if step.language == "python":
        run = "$RELAY/.venv/bin/python -W error - <<'END_OF_BLOCK'\n"
        return f"{run}{step.code}END_OF_BLOCK\necho '{SEPARATOR}'\n"
    assert step.language == "sh", f"cannot run {step.language}"
    return f"{step.code}echo '{SEPARATOR}'\n"


def _environment(directory: Path, *, stand_in: bool) -> dict[str, str]:
    home = directory / "installed"
    home.mkdir()
    # Where the page has the relay installed: `.venv` is this test's own environment.
    (home / ".venv").symlink_to(sys.prefix, target_is_directory=True)
    path = os.environ["PATH"]
    if stand_in or shutil.which("curl") is None:
        path = f"{_stand_in(home)}{os.pathsep}{path}"
    # Not the state directory of whoever runs the tests, who may have a server in the background.
    found = environment(home / "state")
    return {**found, "RELAY": str(home), "PATH": path, "NO_PROXY": "*", "no_proxy": "*"}


def _stand_in(home: Path) -> Path:
    curl = home / "bin" / "curl"
    curl.parent.mkdir()
    curl.write_text(CURL.format(python=sys.executable))
    curl.chmod(curl.stat().st_mode | stat.S_IXUSR)
    return curl.parent


# Comparing ------------------------------------------------------------------------------


def _compare(step: Step, printed: str) -> None:
    if step.shown is None:
        return
    if step.as_text:
        faults = differences(step.shown.strip(), printed.strip())
    else:
        faults = differences(json.loads(step.shown), _told(printed))
    assert not faults, "\n".join([f"after\n{step.code}", *faults, f"in\n{printed}"])


def _told(printed: str) -> Any:
    """What the last answer says: its data, or its error."""
    answer = answers(printed)[-1]
    return answer["data"] if answer["success"] else answer["error"]


def answers(printed: str) -> list[dict[str, Any]]:
    """The JSON documents that stand one after another in a text."""
    found, decoder, rest = [], json.JSONDecoder(), printed.strip()
    while rest:
        document, end = decoder.raw_decode(rest)
        found.append(document)
        rest = rest[end:].lstrip()
    return found


def differences(shown: Any, real: Any, where: str = "") -> list[str]:
    """Where the real answer is not as shown."""
    if isinstance(shown, dict) and isinstance(real, dict):
        return [
            fault
            for key, value in shown.items()
            for fault in differences(value, real.get(key), f"{where}.{key}")
        ]
    if isinstance(shown, list) and isinstance(real, list):
        pairs = zip(shown, [*real, *[None] * len(shown)], strict=False)
        return [
            fault
            for index, (one, other) in enumerate(pairs)
            for fault in differences(one, other, f"{where}[{index}]")
        ]
    if isinstance(shown, str) and isinstance(real, str) and _fits(shown, real):
        return []
    if type(shown) is type(real) and shown == real:
        return []
    return [f"{where or 'the answer'}: shown {shown!r}, really {real!r}"]


def _fits(shown: str, real: str) -> bool:
    pattern = ".*".join(map(re.escape, shown.split("…")))
    return re.fullmatch(pattern, real, re.DOTALL) is not None
