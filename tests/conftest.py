"""For every test: nothing may be left behind, neither a process nor a descriptor."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from relay.staying_imports import imports_that_stay
from tests import environments, leftovers, relays

# How long an example takes says something about the machine, not about the code.
hypothesis.settings.register_profile(
    "busy", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("busy")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """What is imported and found here stays to the end: there is nothing for gc in it, ever."""
    with imports_that_stay():
        _import_a_share(session.config)
        return (yield)


def _import_a_share(config: pytest.Config) -> None:
    """Each worker begins with other files, when all are collected: pytest keeps what it compiles,
    and no worker compiles the same after a fresh checkout."""
    worker = getattr(config, "workerinput", None)
    if worker is None or not _are_all_collected(config):
        return
    number, count = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
    files = sorted(Path(__file__).parent.rglob("test_*.py"))
    for path in [path for path in files if not _is_left_out(path, config)][number::count]:
        name = ".".join(path.relative_to(config.rootpath).with_suffix("").parts)
        # Whatever is wrong with it is told when it is collected.
        with contextlib.suppress(Exception, pytest.skip.Exception):
            importlib.import_module(name)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """What the mark would leave out to the last test is not even imported."""
    return True if _is_left_out(collection_path, config) else None


def _is_left_out(path: Path, config: pytest.Config) -> bool:
    if config.option.markexpr != "not once" or not _are_all_collected(config):
        return False
    return environments.is_place_of_once(path)


def _are_all_collected(config: pytest.Config) -> bool:
    """No file is asked for by its name: who does so is told what becomes of it."""
    return config.args_source is pytest.Config.ArgsSource.TESTPATHS


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks the tests that one Python suffices for; leaves out those that wait for plain tox."""
    for item in items:
        if environments.suffices_once(item):
            item.add_marker("once")
    if change := os.environ.get("RELAY_TEST_SAMPLE"):
        now = environments.sample(items, change)
        chosen = set(now)
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = now


def pytest_configure() -> None:
    """Under xdist each worker has a mark of its own, and looks for its own only. Ctrl-C means what it
    usually does: a shell without job control ignores it for what it starts in the background, and so
    would each process that a test sends it to. Where a hook of git runs the tests, git in them takes the
    repositories that they make, and not the hook's."""
    leftovers.mark()
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_WORK_TREE"):
        os.environ.pop(name, None)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def debugged_tests_have_a_place_of_their_own(tmp_path_factory: pytest.TempPathFactory) -> None:
    """At its end a pytest clears away what earlier ones have left in the place that they share: one
    that is debugged would do so for this one, for a minute where whole suites have run before."""
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(tmp_path_factory.mktemp("debugged"))


@pytest.fixture(scope="session", autouse=True)
def programs_print_without_colours() -> None:
    """A machine that runs tests for many often forces them: what is printed here is compared."""
    for name in ("CLICOLOR_FORCE", "FORCE_COLOR", "PYTHON_COLORS", "PY_COLORS"):
        os.environ.pop(name, None)


@pytest.fixture(scope="session", autouse=True)
def debuggees_share_their_compiled_code(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Or each of thousands would make it anew, in a state directory of its own."""
    relays.share_compiled_code(tmp_path_factory.mktemp("code"))


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Fails the test that leaves a process or a descriptor behind, and kills the process."""
    watch = leftovers.Leftovers()
    yield
    found = watch.find()
    if found:
        pytest.fail("left behind:\n" + "\n".join(found), pytrace=False)
