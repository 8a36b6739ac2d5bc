"""A debuggee that was started before its launch: what its program sees, and how it ends."""

from __future__ import annotations

import itertools
import json
import os
import re
import resource
import signal
import venv
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from relay import Hub, Settings, open_relay
from relay.debuggers.debugpy.fast_debuggee import FastDebuggee
from relay.faces.http.routes import ROUTES
from relay.faces.http.server import serve
from relay.process.guardian import descendants
from tests.debuggers.bootstrap_runner import VERSIONS, installed_python
from tests.e2e.api import Api, Session
from tests.e2e.served import alive, asks, served, until
from tests.programs import DAEMON, Program

FACTS = Path(__file__).with_name("standby_facts.py")
Write = Callable[..., Program]


class Relay(Api):
    """A relay that keeps debuggees on standby, and its hub."""

    hub: Hub

    @property
    def served(self) -> int:
        """Launches that went on with one."""
        assert self.hub.standby is not None
        return self.hub.standby.served

    def waiting(self) -> list[FastDebuggee]:
        assert self.hub.standby is not None
        return [spare for spare in self.hub.standby.waiting() if isinstance(spare, FastDebuggee)]

    async def one_waits(self) -> FastDebuggee:
        """The one that waits, once it does nothing else."""
        await until(lambda: any(map(asks, self.waiting())), "no debuggee came to wait")
        return self.waiting()[0]


@asynccontextmanager
async def standing_by(folder: Path, **more: Any) -> AsyncIterator[Relay]:
    settings = Settings(port=0, state_dir=folder / "state", project_root=folder, **more)
    shutdown = trio.Event()
    async with (
        open_relay(settings, persist=True, standby=True) as hub,
        trio.open_nursery() as nursery,
    ):
        url = await nursery.start(partial(serve, hub, settings, routes=ROUTES, shutdown=shutdown))
        async with Relay.connect(url) as api:
            api.hub = hub
            yield api
        hub.drain()
        shutdown.set()


@pytest.fixture
async def relay(tmp_path: Path) -> AsyncIterator[Relay]:
    async with standing_by(tmp_path) as relay:
        yield relay


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    """Path of one interpreter that can be debugged by the fast start."""
    return installed_python(request.param)


# --- what the program sees ------------------------------------------------------------------


async def ended(relay: Relay, script: str, *args: str, **more: Any) -> Session:
    """A session whose program has run to its end."""
    python = {"python_path": more.pop("python")} if "python" in more else {}
    session = await relay.session(**python)
    result = await session.launch(script, args=list(args), wait=60, stop_on_exception=False, **more)
    assert (result["status"], result["exit_code"]) == ("terminated", 0), await session.printed(
        "stderr"
    )
    return session


LAUNCHES: dict[str, dict[str, Any]] = {
    "pipes": {},
    "terminal": {"console": "integratedTerminal"},
    "options": {"python_args": ["-O", "-X", "utf8", "-W", "ignore::ImportWarning", "-I"]},
    "environment": {"env": {"PYTHONHASHSEED": "7", "LC_ALL": "C", "TZ": "Asia/Tokyo"}},
    "children": {"debug_subprocesses": True},
}


@pytest.mark.parametrize("name", LAUNCHES)
async def test_a_program_sees_the_same_with_and_without_standby(
    relay: Relay, tmp_path: Path, version: str, name: str
) -> None:
    await sees_the_same(relay, tmp_path, python=version, **LAUNCHES[name])


async def sees_the_same(relay: Relay, folder: Path, **more: Any) -> None:
    script = Program.write(folder / "facts.py", FACTS.read_text()).text
    results = [str(folder / f"facts_{number}.json") for number in range(2)]
    cold = await ended(relay, script, results[0], **more)
    await relay.one_waits()
    assert relay.served == 0
    warm = await ended(relay, script, results[1], **more)
    assert relay.served == 1
    one, other = map(seen, results)
    different = [f"{k}: {differing(one[k], other.get(k))}" for k in one if one[k] != other.get(k)]
    assert "\n".join(different) == ""
    assert set(one) == set(other)
    for category in ("stdout", "stderr"):
        assert await cold.printed(category) == await warm.printed(category)


async def test_a_launch_without_standby_leaves_none_waiting(relay: Relay, program: Write) -> None:
    await end_of(relay, program("print('end')").text, standby=False)
    assert relay.waiting() == []


ENDS = {
    "error": "def f():\n    return 1 / 0\nprint('first')\nf()\n",
    "exit": "import atexit, sys\natexit.register(print, 'last')\nsys.exit('bye')\n",
    "signal": "import os, signal\nprint('first')\nos.kill(os.getpid(), signal.SIGTERM)\n",
    "at once": "import os\nos.write(1, b'out')\nos._exit(5)\n",
    "fork": "import os, sys\nif os.fork():\n    print(os.wait()[1])\nelse:\n    sys.exit(4)\n",
    "input": "print(input('? '))\nprint(input())\n",
    "not there": None,
}


@pytest.mark.parametrize("name", ENDS)
async def test_a_program_ends_the_same_with_and_without_standby(
    relay: Relay, program: Write, tmp_path: Path, name: str
) -> None:
    source = ENDS[name]
    await end_of(relay, program("print('of the same kind')", "other.py").text)
    script = program(source or "no archive", "app.py" if source else "app.zip").text
    cold = await end_of(relay, script, standby=False)
    await relay.one_waits()
    warm = await end_of(relay, script)
    assert relay.served == 1
    assert warm == cold


async def end_of(relay: Relay, script: str, **more: Any) -> tuple[Any, ...]:
    session = await relay.session()
    result = await session.launch(
        script, wait=60, stop_on_exception=False, **more, stdin_inputs=["a", "b"]
    )
    printed = [await session.printed(category) for category in ("stdout", "stderr")]
    return result["status"], result["exit_code"], *printed


async def test_chance_is_chance_in_each_program(
    relay: Relay, program: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    script = program("import random\nprint(hash('text'), random.random())").text
    found = set()
    for _ in range(3):
        found.update((await end_of(relay, script))[2].split())
        await relay.one_waits()
    assert relay.served == 2
    assert len(found) == 6


async def test_a_run_from_standby_is_done_again_with_its_own_hash_seed(
    relay: Relay, program: Write
) -> None:
    source = "value = {}\nvalue['a'] = hash('text')\nvalue['a'] += 1\nprint(value)  # @stop\n"
    stop = program(source)
    await end_of(relay, stop.text)
    await relay.one_waits()
    session = await relay.session()
    await session.breakpoint(stop.text, stop.line("stop"))
    assert (await session.launch(stop.text))["status"] == "paused"
    assert relay.served == 1
    answer = await session.post("/history", expression="value['a']")
    assert answer["complete"], answer
    assert len(answer["writes"]) == 2


# --- which launches it serves ---------------------------------------------------------------

SURROUNDINGS = """
    import json, os, resource, sys
    umask = os.umask(0)
    facts = [os.environ.get("ADDED"), os.getcwd(), sys.flags.optimize, sys.stdin.isatty(), umask]
    print(json.dumps([*facts, resource.getrlimit(resource.RLIMIT_CORE)[0]]))
"""

OTHER_LAUNCHES: dict[str, dict[str, Any]] = {
    "environment": {"env": {"ADDED": "1"}},
    "working directory": {"cwd": "other"},
    "options": {"python_args": ["-O"]},
    "terminal": {"console": "integratedTerminal"},
    "hash seed": {"env": {"PYTHONHASHSEED": "3"}},
    "no standby": {"standby": False},
    "way": {"launch_mode": "plain"},
}


@pytest.mark.parametrize("name", OTHER_LAUNCHES)
async def test_another_kind_of_launch_starts_its_own(
    relay: Relay, program: Write, tmp_path: Path, name: str
) -> None:
    script, more = program(SURROUNDINGS).text, OTHER_LAUNCHES[name]
    (tmp_path / "other").mkdir()
    usual = await end_of(relay, script)
    await relay.one_waits()
    first = await end_of(relay, script, **more)
    assert relay.served == 0
    assert (first[2] != usual[2]) is (name not in ("hash seed", "no standby", "way"))


async def test_what_the_relay_hands_down_is_as_it_is_now(
    relay: Relay, program: Write, tmp_path: Path
) -> None:
    script = program(SURROUNDINGS).text
    usual = await end_of(relay, script)
    await relay.one_waits()
    umask = os.umask(0o71)
    try:
        changed = await end_of(relay, script)
    finally:
        os.umask(umask)
    assert relay.served == 0
    assert json.loads(changed[2])[4] == 0o71 != json.loads(usual[2])[4]
    await until(lambda: len(relay.waiting()) == 2, "one of each kind")
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (4096 if soft != 4096 else 0, hard))
    try:
        changed = await end_of(relay, script)
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))
    assert relay.served == 0
    assert json.loads(changed[2])[5] != json.loads(usual[2])[5]


BEFORE_THE_LIBRARY = """
import importlib.machinery, os, sys
sys.seen = "new"
own = os.path.dirname(os.__file__) + "/queue.py"
exec(importlib.machinery.SourceFileLoader("queue", own).get_code("queue"), globals())
"""

CHANGES: dict[str, tuple[str, str]] = {
    "a line of site": ("site/new.pth", "import sys; sys.seen = 'new'\n"),
    "an edited line of site": ("site/old.pth", "import sys; sys.seen = 'new'\n"),
    "a module that site loads": ("site/loaded.py", "import sys\nsys.seen = 'new'\n"),
    "a sitecustomize": ("path/sitecustomize.py", "import sys\nsys.seen = 'new'\n"),
    "a module before the library's": (
        "path/queue.py",
        BEFORE_THE_LIBRARY,
    ),
}


@pytest.mark.parametrize("name", CHANGES)
async def test_a_start_that_would_come_out_otherwise_is_made_anew(
    relay: Relay, program: Write, tmp_path: Path, name: str
) -> None:
    python = environment(tmp_path)
    script = program("import sys\nprint(getattr(sys, 'seen', 'old'))\nimport unrelated").text
    more = {"python": python, "env": {"PYTHONPATH": str(tmp_path / "path")}}
    assert await printed_by(relay, script, **more) == "old\n"
    await relay.one_waits()
    (tmp_path / "path" / "unrelated.py").write_text("print('loaded')\n")
    assert await printed_by(relay, script, **more) == "old\nloaded\n"
    assert relay.served == 1, "a file that no start reads has no say"
    await relay.one_waits()
    place, text = CHANGES[name]
    (tmp_path / place).write_text(text)
    assert await printed_by(relay, script, **more) == "new\nloaded\n"
    assert relay.served == 1


@pytest.mark.parametrize("name", CHANGES)
async def test_what_changes_while_one_is_being_loaded_is_seen(
    relay: Relay, program: Write, tmp_path: Path, name: str
) -> None:
    """It has passed by what changes then, and finds it as it is when it looks for the first time."""
    python = environment(tmp_path)
    script = program("import sys\nprint(getattr(sys, 'seen', 'old'))").text
    more = {"python": python, "env": {"PYTHONPATH": str(tmp_path / "path")}}
    assert await printed_by(relay, script, **more) == "old\n"
    await until(lambda: bool(relay.waiting()), "one is started")
    pid = relay.waiting()[0].process.pid
    # What is loaded after `site`, and before the debugger.
    await until(lambda: b"_socket" in Path(f"/proc/{pid}/maps").read_bytes(), "its first modules")
    os.kill(pid, signal.SIGSTOP)
    place, text = CHANGES[name]
    (tmp_path / place).write_text(text)
    os.kill(pid, signal.SIGCONT)
    await relay.one_waits()
    assert await printed_by(relay, script, **more) == "new\n"
    assert relay.served == 0


async def printed_by(relay: Relay, script: str, **more: Any) -> str:
    session = await relay.session(python_path=more.pop("python"))
    await session.launch(script, wait=60, stop_on_exception=False, **more)
    return await session.printed()


def environment(folder: Path) -> str:
    """A virtual environment whose site-packages is at hand as `site`; returns its Python."""
    venv.create(folder / "venv", symlinks=True)
    (folder / "path").mkdir()
    (found,) = (folder / "venv").glob("lib/python3*/site-packages")
    (folder / "site").symlink_to(found)
    (found / "old.pth").write_text("import loaded\n")
    (found / "loaded.py").write_text("")
    return str(folder / "venv" / "bin" / "python")


# --- how many, how long ---------------------------------------------------------------------


async def test_no_more_wait_than_are_wanted(tmp_path: Path, program: Write) -> None:
    script = program("pass").text
    async with standing_by(tmp_path, standby=2) as relay:
        kinds = [{"env": {"KIND": str(number)}} for number in range(3)]
        for number, kind in enumerate(kinds):
            await end_of(relay, script, **kind)
            await until(lambda n=number: len(relay.waiting()) == min(2, n + 1), "one for each kind")  # type: ignore[misc]
        await end_of(relay, script, **kinds[0])
        assert relay.served == 0, "the kind that was not asked for longest has none"
        await until(lambda: len(relay.waiting()) == 2, "the bound to be kept")
        await end_of(relay, script, **kinds[2])
        assert relay.served == 1


async def test_none_waits_where_none_is_wanted(tmp_path: Path, program: Write) -> None:
    async with standing_by(tmp_path, standby=0) as relay:
        await end_of(relay, program("pass").text)
        assert relay.hub.standby is None


async def test_one_that_nobody_asks_for_is_ended(tmp_path: Path, program: Write) -> None:
    async with standing_by(tmp_path, standby_minutes=0.02) as relay:
        await end_of(relay, program("pass").text)
        waiting = await relay.one_waits()
        pids = [waiting.process.pid, waiting.process.guardian_pid]
        await until(lambda: not alive(pids), "its end")
        assert relay.waiting() == []


# --- how it ends ----------------------------------------------------------------------------


@pytest.mark.parametrize("ready", [True, False], ids=["waits", "is being loaded"])
async def test_one_that_was_killed_is_passed_over(
    relay: Relay, program: Write, ready: bool
) -> None:
    script = program("print('ran')").text
    await end_of(relay, script)
    if ready:
        waiting = await relay.one_waits()
    else:
        await until(lambda: bool(relay.waiting()), "one is started")
        waiting = relay.waiting()[0]
    os.kill(waiting.process.pid, signal.SIGKILL)
    assert (await end_of(relay, script))[:3] == ("terminated", 0, "ran\n")
    assert relay.served == 0


async def test_one_that_does_not_answer_is_passed_over(
    relay: Relay, program: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relay.debuggers.debugpy.fast_debuggee.LOADING_SECONDS", 0)
    script = program("print('ran')").text
    await end_of(relay, script)
    waiting = await relay.one_waits()
    os.kill(waiting.process.pid, signal.SIGSTOP)
    assert (await end_of(relay, script))[:3] == ("terminated", 0, "ran\n")
    assert relay.served == 0
    pids = [waiting.process.pid, waiting.process.guardian_pid]
    await until(lambda: not alive(pids), "its end")


async def test_one_that_is_still_being_loaded_serves(relay: Relay, program: Write) -> None:
    script = program("print('ran')").text
    await end_of(relay, script)
    await until(lambda: bool(relay.waiting()), "one is started")
    assert (await end_of(relay, script))[:3] == ("terminated", 0, "ran\n")
    assert relay.served == 1


FAMILY = "import subprocess\nsubprocess.Popen(['sleep', '600'], start_new_session=True)\n" + DAEMON


async def running_family(relay: Api, program: Write) -> Session:
    session = await relay.session()
    await session.launch(program(FAMILY, "family.py").text, wait=0)
    await session.until_printed("ready")
    return session


async def test_all_of_a_program_from_standby_ends_with_its_session(
    relay: Relay, program: Write
) -> None:
    await end_of(relay, program("pass").text)
    waiting = await relay.one_waits()
    session = await running_family(relay, program)
    assert relay.served == 1
    below = alive(pid for pid, _ in descendants(waiting.process.guardian_pid))
    assert len(below) == 3, below
    await session.delete()
    assert alive(below) == {}


async def test_a_killed_relay_leaves_nothing_of_what_waits(tmp_path: Path, program: Write) -> None:
    async with served(tmp_path) as relay:
        script = program("pass").text
        await (await relay.api.session()).launch(script)
        await until(
            lambda: any("bootstrap" in line for line in relay.below().values()), "one waits"
        )
        await running_family(relay.api, program)
        await until(lambda: len(relay.below()) >= 6, f"not all began: {relay.below()}")
        below = relay.below()
        assert await relay.end(signal.SIGKILL) == -signal.SIGKILL
        await until(lambda: not alive(below), f"left behind: {alive(below)}", seconds=30)


async def test_nobody_else_is_to_debug_one_that_waits(relay: Relay, program: Write) -> None:
    await end_of(relay, program("pass").text)
    waiting = await relay.one_waits()
    shown: list[dict[str, Any]] = []
    while len(shown) % 200 == 0:  # a page ends the list that is not full
        shown += (await relay.get("/processes", offset=len(shown), limit=200))["items"]
    (found,) = [one for one in shown if one["pid"] == waiting.process.pid]
    assert found["attach"]["method"] is None


# --- the facts ------------------------------------------------------------------------------


def differing(one: str, other: str | None) -> str:
    """What only one of two facts has, item by item of lists."""
    lists = [json.loads(text) for text in (one, other) if text and text.startswith("[")]
    if len(lists) == 2:
        return "\n".join(
            f"{a}\n{b}" for a, b in itertools.zip_longest(*lists, fillvalue="nothing") if a != b
        )
    return f"{one}\n{other}"


def seen(path: str) -> dict[str, Any]:
    """By path within the facts; without addresses, and without what differs in any two runs."""
    found: dict[str, Any] = {}
    own = Path(path).name

    def flatten(value: Any, place: str) -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                flatten(item, f"{place}.{key}")
        else:
            text = re.sub(r"0x[0-9a-f]+", "0x", json.dumps(value)).replace(own, "facts.json")
            found[place] = re.sub(r'\\"fd\\": \d+', "fd", text)

    flatten(json.loads(Path(path).read_text()), "")
    return found
