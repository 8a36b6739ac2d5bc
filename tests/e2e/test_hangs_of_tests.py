"""A test that hangs is named as its runner names it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.e2e.api import Api
from tests.e2e.test_hangs import Write, hang
from tests.e2e.test_interpreters import VERSIONS, bare

TESTS = """
    import threading
    import unittest

    class TestWaits(unittest.TestCase):
        def test_one(self):
            pass

        def test_two(self):
            threading.Event().wait(600)
"""


def under_way(report: dict[str, Any]) -> str | None:
    """What the main thread runs, where it waits for the event."""
    main = next(one for one in report["threads"] if one["name"] == "MainThread")
    waits = main["waits_for"]
    is_there = main["state"] == "blocked" and waits is not None and waits["kind"] == "event"
    return main.get("test") if is_there else None


@pytest.mark.parametrize("version", VERSIONS)
async def test_of_unittest(api: Api, program: Write, version: str) -> None:
    code = program(TESTS)
    session = await api.session(python_path=bare(version))
    words = [f"{code.path.stem}.TestWaits"]
    await session.post("/launch", module="unittest", args=words, cwd=str(code.path.parent), wait=0)
    report = await hang(session, under_way)
    assert under_way(report) == f"{code.path.stem}.TestWaits.test_two"
    assert f" MainThread in test {under_way(report)}: waits for " in report["report"]


FIXTURES = """
    import threading
    import unittest

    def wait():
        threading.Event().wait(600)

    def setUpModule():
        if "WHERE" == "setUpModule":
            wait()

    def tearDownModule():
        if "WHERE" == "tearDownModule":
            wait()

    class TestFirst(unittest.TestCase):
        @classmethod
        def setUpClass(cls):
            if "WHERE" == "TestFirst.setUpClass":
                wait()

        @classmethod
        def tearDownClass(cls):
            if "WHERE" == "TestFirst.tearDownClass":
                wait()

        def test(self):
            pass

    class TestSecond(unittest.TestCase):
        def test(self):
            pass
"""


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "where", ["setUpModule", "tearDownModule", "TestFirst.setUpClass", "TestFirst.tearDownClass"]
)
async def test_of_what_unittest_runs_around_tests(
    api: Api, program: Write, where: str, version: str
) -> None:
    code = program(FIXTURES.replace("WHERE", where))
    session = await api.session(python_path=bare(version))
    words = {"args": [code.path.stem], "cwd": str(code.path.parent)}
    await session.post("/launch", module="unittest", **words, wait=0)
    report = await hang(session, under_way)
    assert under_way(report) == f"{code.path.stem}.{where}"


@pytest.mark.parametrize("what", ["function", "case", "below the root"])
async def test_of_pytest(api: Api, program: Write, tmp_path: Path, what: str) -> None:
    code = program("""
        import threading

        import pytest

        @pytest.mark.parametrize("number", [1, 2])
        def test_waits(number):
            if number == 2:
                threading.Event().wait(600)
    """)
    if what == "case":
        code = program(TESTS)
    tests = tmp_path / "root" / "sub"
    tests.mkdir(parents=True)
    shutil.copy(code.path, tests / "test_it.py")
    (tests.parent / "pytest.ini").write_text("[pytest]\n")
    start = tests if what == "below the root" else tests.parent
    session = await api.session(project_root=str(tmp_path))
    args = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    await session.post("/launch", module="pytest", args=args, cwd=str(start), wait=0)
    report = await hang(session, under_way)
    place = "test_it.py" if what == "below the root" else "sub/test_it.py"
    name = "TestWaits::test_two" if what == "case" else "test_waits[2]"
    assert under_way(report) == f"{place}::{name}"
    await session.post("/terminate")
    words = [sys.executable, "-m", "pytest", *args, "--collect-only", str(under_way(report))]
    plainly = await trio.run_process(words, cwd=start, capture_stdout=True)
    assert b"1 test collected" in plainly.stdout


@pytest.mark.parametrize(
    "change", ["monkeypatch.setenv(name, 'a.py::other (call)')", "monkeypatch.delenv(name)"]
)
async def test_a_test_that_changes_the_environment_keeps_its_name(
    api: Api, program: Write, change: str
) -> None:
    code = program(f"""
        import threading

        name = "PYTEST_CURRENT_TEST"

        def test_waits(monkeypatch):
            {change}
            threading.Event().wait(600)
    """)
    session = await api.session()
    args = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", code.path.name]
    await session.post("/launch", module="pytest", args=args, cwd=str(code.path.parent), wait=0)
    report = await hang(session, under_way)
    assert under_way(report) == f"{code.path.name}::test_waits"


async def test_a_file_that_is_only_called_like_that_of_a_runner_runs_no_test(
    api: Api, program: Write, tmp_path: Path
) -> None:
    home = tmp_path / "like_unittest"
    home.mkdir()
    (home / "case.py").write_text(
        "import threading\n"
        "class Case:\n"
        "    _testMethodName = 'none'\n"
        "    def run(self):\n"
        "        threading.Event().wait(600)\n"
    )
    code = program(f"""
        import sys

        sys.path.insert(0, {str(home)!r})
        import case

        case.Case().run()
    """)
    session = await api.session()
    await session.launch(code.text, wait=0)

    report = await hang(session, lambda report: report["blocked"])
    assert [one.get("test") for one in report["threads"]] == [None]
