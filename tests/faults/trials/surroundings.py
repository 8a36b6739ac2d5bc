"""State directories, interpreters and sources that fail, or change, under a session."""

from __future__ import annotations

import contextlib
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path

from tests.e2e.api import Refused
from tests.faults.trials.endings import ENDED
from tests.faults.trials.fault import Act, End, Fault, Moment
from tests.faults.trials.findings import Harm
from tests.faults.trials.looks import VALUE, looks_at_locals
from tests.faults.trials.trial import Trial

# The state directory -----------------------------------------------------------------------

Harmed = Callable[[Trial], AbstractContextManager[None]]


@contextlib.contextmanager
def full(trial: Trial) -> Iterator[None]:
    """No file of the relay's takes another byte."""
    pid = trial.lane.process.pid
    usual = resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    yield
    resource.prlimit(pid, resource.RLIMIT_FSIZE, usual)


@contextlib.contextmanager
def read_only(trial: Trial) -> Iterator[None]:
    """No file of it can be written, made or renamed, not by root either."""
    _chattr("+i", trial.lane.state)
    yield
    _chattr("-i", trial.lane.state)


@contextlib.contextmanager
def vanished(trial: Trial) -> Iterator[None]:
    """All of it is gone, and what was in it."""
    shutil.rmtree(trial.lane.state)
    yield


def _chattr(change: str, folder: Path) -> bool:
    command = ["chattr", "-R", change, str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@cache
def can_be_read_only() -> bool:
    """Whether this process may, and the file system knows how."""
    if shutil.which("chattr") is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        return _chattr("+i", Path(folder)) and _chattr("-i", Path(folder))


def refuses(harmed: Harmed) -> Act:
    """Sessions go on meanwhile; each that is changed after that is kept, with all before."""

    async def act(trial: Trial) -> None:
        with harmed(trial):
            await trial.lane.neighbour.step(trial.findings)
            other = await trial.lane.api.session(name="meanwhile")
            await other.breakpoint(trial.program.text, trial.program.line("stop"))
            stop = await other.launch(trial.program.text)
            if stop["status"] != "paused":
                trial.findings.add(Harm.REASON, f"a launch meanwhile led to {stop}")
        for item in (await trial.lane.api.get("/sessions"))["items"]:
            await trial.lane.api.post(f"/sessions/{item['session_id']}/watch", expression="1")
        await trial.check_killed_relay()

    return act


# The interpreter ---------------------------------------------------------------------------


def customized(text: str) -> Callable[[Trial], None]:
    """A sitecustomize.py in front of all other modules."""

    def prepare(trial: Trial) -> None:
        (trial.folder / "site").mkdir()
        (trial.folder / "site" / "sitecustomize.py").write_text(text)

    return prepare


@cache
def _imported_by_start() -> frozenset[str]:
    """The modules without which Python itself does not start."""
    command = [sys.executable, "-c", "import sys, mmap; print(*sys.modules)"]
    loaded = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()
    return frozenset(name.partition(".")[0] for name in loaded)


def trapped(folder: str, text: str) -> Callable[[Trial], None]:
    """Modules that are called as those of the standard library and of the debugger."""

    def prepare(trial: Trial) -> None:
        place = trial.folder / folder
        place.mkdir(exist_ok=True)
        ours = {"debugpy", "pydevd", "_pydev_bundle", "trio", "relay", "usercustomize"}
        for name in (sys.stdlib_module_names | ours) - _imported_by_start():
            (place / f"{name}.py").write_text(text)

    return prepare


def _with_site(name: str, prepare: Callable[[Trial], None], *ends: End) -> Fault:
    return Fault(
        "interpreter",
        name,
        ends,
        VALUE.format(does="return 'fine'"),
        Moment.STOP,
        looks_at_locals,
        prepare=prepare,
        launch={"env": {"PYTHONPATH": "site"}},
    )


async def edits(trial: Trial) -> None:
    """The source becomes another one while the program stands in it."""
    path = trial.program.path
    whole = path.read_text()
    line = trial.program.line("edited")
    await trial.session.post("/run-to", file=trial.program.text, line=line, wait=30)
    how = trial.lot.choice(("longer", "shorter", "broken", "binary", "gone"))
    if how == "gone":
        path.unlink()
    else:
        texts = {"longer": "# new\n" * 50 + whole, "shorter": "pass\n", "broken": "def ("}
        path.write_bytes(texts.get(how, "\0\xff").encode("latin-1"))
    try:
        for path_, body in (("/step-over", {"wait": 30}), ("/evaluate", {"expression": "beside"})):
            answer = await trial.session.post(path_, **body)
        stack = await trial.session.get("/stacktrace")
        if answer["result"] != "18" or stack["frames"][0]["line"] != line + 1:
            trial.findings.add(Harm.REASON, f"{how}: {answer}, {stack['frames'][0]}")
        with contextlib.suppress(Refused):  # there may be no such line now
            await trial.session.breakpoint(str(path), line)
        await trial.session.get("/report")
    finally:
        path.write_text(whole)
    trial.waiters.start("continue", trial.resume)


SURROUNDINGS = [
    Fault("state directory", "full", (), act=refuses(full), moment=Moment.STOP, own_relay=True),
    Fault(
        "state directory", "vanished", (), act=refuses(vanished), moment=Moment.STOP, own_relay=True
    ),
    _with_site("sitecustomize raises", customized("raise RuntimeError('no site')"), ENDED),
    _with_site("sitecustomize raises BaseException", customized("raise BaseException"), ENDED),
    _with_site("traps beside the script that raise", trapped(".", "raise SystemExit(9)"), ENDED),
    _with_site("traps beside the script that hang", trapped(".", "while True: pass"), ENDED),
    _with_site("traps on the path that raise", trapped("site", "raise RuntimeError"), ENDED),
    Fault(
        "sources",
        "edited under the stop",
        (ENDED,),
        "beside = 18  # @edited\nready = 2\nsay(5)\n",
        Moment.STOP,
        edits,
    ),
]
if can_be_read_only():
    SURROUNDINGS.append(
        Fault(
            "state directory",
            "read-only",
            (),
            act=refuses(read_only),
            moment=Moment.STOP,
            own_relay=True,
        )
    )
