"""The relay's token reaches nothing that runs code of others, whatever way it is started."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from relay import Settings
from tests.e2e.api import Api
from tests.e2e.conftest import running_relay
from tests.e2e.test_standby import standing_by
from tests.perl import driver
from tests.programs import Program
from tests.relays import environment

SECRET = "hush-hush-hush"
NAMES = ("RELAY_TOKEN", "relay_token")
"""A setting may be written in any case."""

ADAPTER = str(Path(__file__).with_name("odd_adapter.py"))

PARENT = "open(f'/proc/{os.getppid()}/environ').read()"
NAMED = "[n for n, v in os.environ.items() if 'hush' in v or 'TOKEN' in n.upper()]"
SEEN = f"import os; assert 'hush' not in {PARENT}; print({NAMED})"
PROGRAM = f"""
    import subprocess, sys
    class Kept:
        pass
    def made():
        return len(sys.argv)
    kept = Kept()
    made()
    kept.value = 7
    {SEEN}
    sys.stdout.flush()
    subprocess.run([sys.executable, "-c", {SEEN!r}])
    print(kept.value)  # @end
"""

Write = Callable[..., Program]


class Witness:
    """An executable in place of another, which notes its environment first."""

    def __init__(self, path: Path, real: str) -> None:
        self.path = path
        self._seen = path.with_suffix(".seen")
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'#!/bin/sh\nenv >> "{self._seen}"\nexec "{real}" "$@"\n')
        path.chmod(0o755)

    def check(self) -> None:
        """It was run, and never with the secret."""
        assert SECRET not in self._seen.read_text()


@pytest.fixture
async def api(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Api]:
    """A relay that was started with a token in its environment, and needs none."""
    entry = {"command": [str(settings.project_root / "adapter"), ADAPTER]}
    settings = Settings(**settings.model_dump() | {"adapters": {"odd": entry}})
    for name in NAMES:
        monkeypatch.setenv(name, SECRET)
    async with running_relay(settings) as api:
        yield api


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
async def test_launches_restarts_and_children(
    api: Api, program: Write, tmp_path: Path, mode: str
) -> None:
    script = program(PROGRAM)
    witness = Witness(tmp_path / "python", sys.executable)
    session = await api.session(python_path=str(witness.path))
    debugged = {"debug_subprocesses": True} if mode != "adapter" else {}
    told = await session.launch(script.text, launch_mode=mode, **debugged)
    assert told["status"] == "terminated", told
    await session.post("/restart", wait=30)
    assert (await session.printed()).count("[]") == 4
    witness.check()


async def test_what_is_given_on_purpose_is_passed_on(api: Api, program: Write) -> None:
    session = await api.session()
    await session.launch(program(PROGRAM).text, env={"RELAY_TOKEN": "another"})
    assert "['RELAY_TOKEN']" in await session.printed()


async def test_a_debuggee_on_standby(
    program: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = program(PROGRAM)
    async with standing_by(tmp_path) as relay:
        for name in NAMES:
            monkeypatch.setenv(name, SECRET)
        await (await relay.session()).launch(script.text)
        await relay.one_waits()
        session = await relay.session()
        await session.launch(script.text)
        assert relay.served == 1
        assert (await session.printed()).count("[]") == 2


async def test_an_adapter_of_another_language(api: Api, program: Write, tmp_path: Path) -> None:
    witness = Witness(tmp_path / "adapter", sys.executable)
    session = await api.session(adapter="odd")
    await session.launch(program("one\n", "odd.txt").text)
    witness.check()


@pytest.mark.skipif(shutil.which("perl") is None, reason="perl is not installed")
async def test_perl(api: Api, program: Write, tmp_path: Path) -> None:
    script = program(r'print join(",", grep { /TOKEN/i } keys %ENV), "|\n";', "main.pl")
    session = await api.session(adapter="perl")
    await session.launch(script.text)
    assert await session.printed() == "|\n"
    async with driver.adapter() as client:  # as an editor starts it, without a session
        await client.start(script)
        await client.ask("configurationDone")
        await client.end()
        assert client.printed("stdout") == b"|\n"


@pytest.mark.parametrize(
    "words",
    [
        ["run", "--", "main.py"],
        ["run", "--break", "main.py:END", "--why", "kept.value", "--", "main.py"],
        ["diff", "--", "main.py", ":::", "main.py", "again"],
        ["diff", "--rev", "HEAD", "--", "main.py"],
    ],
)
def test_commands_that_run_a_program(tmp_path: Path, words: list[str]) -> None:
    script = Program.write(tmp_path / "work" / "main.py", PROGRAM)
    git("init", "-q", folder=script.path.parent)
    git("add", ".", folder=script.path.parent)
    git("commit", "-qm", "all", folder=script.path.parent)
    witness = Witness(tmp_path / "python", sys.executable)
    hook = Witness(script.path.parent / ".git" / "hooks" / "post-checkout", "true")
    secrets = dict.fromkeys(NAMES, SECRET) | {"RELAY_PYTHON_PATH": str(witness.path)}
    words = [word.replace("END", str(script.line("end"))) for word in words]
    done = subprocess.run(
        [sys.executable, "-m", "relay", *words],
        cwd=script.path.parent,
        env=environment(tmp_path / "state") | secrets | {"TMPDIR": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode in (0, 1), done  # 1: the two runs differ
    witness.check()
    if "--rev" in words:
        hook.check()


def git(*words: str, folder: Path) -> None:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, env=dict(os.environ))
