"""`relay run` begins its debuggee before it is imported whole: which one, and what is left of it."""

from __future__ import annotations

import json
import os
import signal
import sys
import venv
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil
import pytest
import trio

from relay.begun_ahead import BegunAhead
from relay.config import Settings, variable_of
from relay.faces.cli.run import ahead
from relay.faces.cli.run.options import RunOptions
from relay.process.guardian import descendants
from relay.session.standby import Begin
from tests.e2e.served import until
from tests.programs import Program
from tests.relays import with_compiled_code

OWN = """
    import sys
    print("in", sys.executable)
"""


class Watched(BegunAhead):
    """What waits for the run, and is asked for."""

    def __init__(self, nursery: trio.Nursery) -> None:
        super().__init__(nursery)
        self.prepared = 0

    def prepare(self, key: object, begin: Begin) -> None:
        self.prepared += 1
        super().prepare(key, begin)


Run = Callable[..., tuple[int, Watched]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """run(script="app.py") runs it in this process; returns exit code and standby."""
    for name in ("VIRTUAL_ENV", *map(variable_of, Settings.model_fields)):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RELAY_STATE_DIR", str(with_compiled_code(tmp_path / "state")))
    monkeypatch.chdir(tmp_path)
    # What a test has written a moment ago is no change of what a process reads at its start.
    monkeypatch.setattr("relay.debuggers.debugpy.fast_debuggee.FILE_TIME_LAG", 0)

    def run(**options: object) -> tuple[int, Watched]:
        seen: list[Watched] = []

        def watched(nursery: trio.Nursery) -> Watched:
            seen.append(Watched(nursery))
            return seen[0]

        monkeypatch.setattr(ahead, "BegunAhead", watched)
        target = {name: options.pop(name) for name in ("script", "module") if name in options}
        before = set(descendants(os.getpid()))
        code = ahead.run(RunOptions(target=target, **options))  # type: ignore[arg-type]
        assert set(descendants(os.getpid())) <= before
        return code, seen[0]

    return run


@pytest.mark.parametrize("target", [{"script": "app.py"}, {"module": "app"}])
def test_the_run_takes_the_one_that_was_begun(
    run: Run, tmp_path: Path, capfd: pytest.CaptureFixture[str], target: dict[str, str]
) -> None:
    Program.write(tmp_path / "app.py", OWN)
    code, standby = run(**target)
    assert (code, standby.prepared, standby.served) == (0, 1, 1)
    assert capfd.readouterr().out == f"in {sys.executable}\n"


def test_it_is_one_of_the_environment_beside_the_program(
    run: Run, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    Program.write(tmp_path / "there" / "app.py", OWN)
    venv.create(tmp_path / "there" / ".venv", symlinks=True)
    code, standby = run(script="there/app.py")
    assert (code, standby.served) == (0, 1)
    assert capfd.readouterr().out == f"in {tmp_path / 'there' / '.venv' / 'bin' / 'python'}\n"


def test_a_wrong_guess_is_ended_and_the_program_is_run_as_the_settings_say(
    run: Run, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    Program.write(tmp_path / "app.py", OWN)
    venv.create(tmp_path / "other", symlinks=True)
    other = tmp_path / "other" / "bin" / "python"
    (tmp_path / "state" / "config.json").write_text(json.dumps({"python_path": str(other)}))
    code, standby = run(script="app.py")
    assert (code, standby.prepared, standby.served) == (0, 1, 0)
    assert capfd.readouterr().out == f"in {other}\n"


@pytest.mark.parametrize("options", [{"script": "absent.py"}, {"script": "app.txt"}])
def test_nothing_is_begun_for_what_is_no_python_program(
    run: Run, tmp_path: Path, options: dict[str, str]
) -> None:
    (tmp_path / "app.txt").write_text("print(1)")
    assert run(**options)[1].prepared == 0
    Program.write(tmp_path / "app.py", OWN)
    assert run(script="app.py", adapter="perl")[1].prepared == 0
    assert run(script="app.py", python="/nowhere/python")[1].prepared == 0


HEEDING = """
import signal
from relay.__main__ import main

# What a shell has begun in the background has it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""


def has_begun(relay: int) -> bool:
    """Whether this relay has a guardian; an import may have a process of its own for a moment."""
    for child in psutil.Process(relay).children():
        with suppress(psutil.Error):
            if f"debug-relay={relay}" in child.cmdline():
                return True
    return False


async def test_a_signal_while_the_relay_is_imported_leaves_nothing(tmp_path: Path) -> None:
    Program.write(tmp_path / "app.py", "import time; time.sleep(600)")
    command = [sys.executable, "-c", HEEDING, "run", "app.py"]
    with (tmp_path / "stderr").open("wb") as stderr:
        async with trio.open_nursery() as nursery:
            process: trio.Process = await nursery.start(
                partial(
                    trio.run_process,
                    command,
                    cwd=tmp_path,
                    env={**os.environ, "RELAY_STATE_DIR": str(tmp_path / "state")},
                    stderr=stderr,
                    check=False,
                )
            )
            await until(lambda: has_begun(process.pid), "nothing was begun")
            process.send_signal(signal.SIGINT)
            with trio.fail_after(90):
                code = await process.wait()
    assert code == 130, (tmp_path / "stderr").read_text()
    said = (tmp_path / "stderr").read_text()
    assert "Traceback" not in said
