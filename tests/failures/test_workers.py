"""Processes that run a part of the program: they stop at what fails in them, without being asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.api import Api, Refused
from tests.failures.runs import run, run_tests
from tests.programs import Program

Write = Callable[..., Program]

SENT_NONE = (
    "locals: of another process or thread, which sent none; a breakpoint at this line stops there"
)


async def test_workers_of_xdist(api: Api, program: Write) -> None:
    suite = program(
        """
        import pytest

        @pytest.mark.parametrize("number", range(4))
        def test_even(number):
            rest = number % 2
            assert not rest  # @assert
    """,
        "test_even.py",
    )
    broken = program("import nowhere  # @import\n", "test_broken.py")
    options = ["-n", "2", "--continue-on-collection-errors"]
    found = await run_tests(api, *options, suite.text, broken.text, debug_subprocesses="auto")
    # Each worker collects, and the run reports it once.
    collection = found.stops.pop(0)
    assert (collection.test, collection.line) == ("test_broken.py", broken.line("import"))
    assert sorted(map(str, found.tests)) == [
        "test_even.py::test_even[1]",
        "test_even.py::test_even[3]",
    ]
    assert {stop.line for stop in found.stops} == {suite.line("assert")}
    assert {stop.locals["rest"] for stop in found.stops} == {"1"}
    assert "2 failed, 2 passed, 1 error" in await found.session.printed()


@pytest.mark.parametrize("runner", ["twisted.trial", "zope.testrunner"])
async def test_workers_of_other_runners(api: Api, program: Write, runner: str) -> None:
    """`-j 2`: each worker is a Python of its own, started by its command line."""
    suites = [
        program(
            """
            import unittest

            class Shop(unittest.TestCase):
                def test_total(self):
                    total = 2
                    self.assertEqual(total, 3)  # @assert

                def test_empty(self):
                    self.assertFalse([])
        """,
            f"test_{name}.py",
        )
        for name in ("shop", "store")
    ]
    folder = str(suites[0].path.parent)
    args = {
        "twisted.trial": ["-j", "2", "--temp-directory=trial", "test_shop", "test_store"],
        "zope.testrunner": ["-j", "2", "--path", folder, "--tests-pattern", "^test_"],
    }[runner]
    found = await run(
        api,
        module=runner,
        args=args,
        cwd=folder,
        env={"PYTHONPATH": folder},
        debug_subprocesses="auto",
    )
    assert sorted(map(str, found.tests)) == [
        "test_shop.Shop.test_total",
        "test_store.Shop.test_total",
    ]
    for stop in found.stops:
        assert stop.what == ("test", stop.exception["type"], suites[0].line("assert"))
        assert stop.locals["total"] == "2"
    assert found.exit_code == 1


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
async def test_processes_of_multiprocessing(api: Api, program: Write, method: str) -> None:
    fails = program(f"""
        import multiprocessing
        import subprocess
        import sys

        def work(number):
            return 1 / number  # @work

        if __name__ == "__main__":
            context = multiprocessing.get_context({method!r})
            process = context.Process(target=work, args=(0,), name="worker")
            process.start()
            process.join()
            # A program of its own is none of the session's, unless it was asked for.
            subprocess.run([sys.executable, "-c", "1 / 0"])
            sys.exit(process.exitcode)
    """)
    found = await run(api, script=fails.text, debug_subprocesses="auto")
    (stop,) = found.stops
    assert stop.what == ("process", "ZeroDivisionError", fails.line("work"))
    assert (stop.view["ends_name"], stop.locals) == ("worker", {"number": "0"})
    assert found.exit_code == 1


async def test_jobs_of_a_pool_that_nobody_asks(api: Api, program: Write) -> None:
    """The exception has come from another process: its place is known, its locals are not."""
    fails = program("""
        import concurrent.futures
        import multiprocessing

        def work(number):
            return 1 / number  # @work

        if __name__ == "__main__":
            context = multiprocessing.get_context("fork")
            with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
                try:
                    pool.submit(work, 0).result()
                except ZeroDivisionError:
                    pass
                lost = pool.submit(work, 0)
            with context.Pool(1) as pool:
                job = pool.apply_async(work, (0,))
                job.wait()
                asked = pool.apply_async(work, (0,))
                asked.wait()
                assert not asked.successful()
                try:
                    asked.get()
                except ZeroDivisionError:
                    pass
    """)
    found = await run(api, script=fails.text, debug_subprocesses="auto")
    line = fails.line("work")
    assert sorted(stop.what for stop in found.stops) == [
        ("future", "ZeroDivisionError", line),
        ("job", "ZeroDivisionError", line),
    ]
    for stop in found.stops:
        assert stop.frames[0]["moved_on"] is True
        assert stop.locals == {}
        assert stop.exception["chain"] == []
        assert SENT_NONE in stop.report


ASKED_OF_A_POOL = """
    import concurrent.futures
    import multiprocessing

    def work(number):
        return 1 / number  # @work

    if __name__ == "__main__":
        context = multiprocessing.get_context("fork")
        with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
            asked = pool.submit(work, 0)
            asked.result()  # @asked
"""


async def test_what_is_asked_of_locals_that_are_not_here_is_refused_with_the_reason(
    api: Api, program: Write
) -> None:
    fails = program(ASKED_OF_A_POOL)
    session = await api.session()
    await session.launch(fails.text, stop_on_exception="uncaught", wait=30)
    lost = "work ran in another process or thread, and only its lines came from there"
    told = (await session.evaluate("number"))["error"]
    assert told.startswith("NameError: name 'number' is not known: ")
    assert lost in told
    assert (await session.evaluate("1 + len('ab')"))["result"] == "3"
    for route in ("/data-breakpoints", "/history"):
        with pytest.raises(Refused) as refused:
            await session.post(route, expression="number")
        assert refused.value.code == "INVALID_REQUEST"
        assert lost in refused.value.message


async def test_no_line_of_a_document_has_variables_to_watch(api: Api, tmp_path: Path) -> None:
    (tmp_path / "example.txt").write_text(">>> 1 + 1\n3\n")
    session = await api.session()
    args = ["-q", "-p", "no:cacheprovider", "--doctest-glob=*.txt", "example.txt"]
    where = {"args": args, "cwd": str(tmp_path)}
    await session.post("/launch", module="pytest", stop_on_exception="uncaught", wait=30, **where)
    assert (await session.evaluate("got"))["result"] == "'2\\n'"
    for route in ("/data-breakpoints", "/history"):
        with pytest.raises(Refused) as refused:
            await session.post(route, expression="got")
        assert "is a place in a file, and no code that runs" in refused.value.message


async def test_a_thread_that_sends_the_text_of_its_traceback_is_not_told_as_a_process(
    api: Api, program: Write
) -> None:
    """As joblib does with its backend of threads, in the very words of its backend of processes."""
    fails = program("""
        import traceback
        from concurrent.futures import ThreadPoolExecutor
        from concurrent.futures.process import _RemoteTraceback

        def work(number):
            return 1 / number  # @work

        def sent(number):
            try:
                return work(number)
            except ZeroDivisionError as error:
                error.__cause__ = _RemoteTraceback(f'\\n{traceback.format_exc()}')
                return error.with_traceback(None)

        with ThreadPoolExecutor() as pool:
            raise pool.submit(sent, 0).result()
    """)
    found = await run(api, script=fails.text)
    (stop,) = found.stops
    assert stop.what == ("process", "ZeroDivisionError", fails.line("work"))
    assert SENT_NONE in stop.report


async def test_an_error_of_a_pool_is_shown_where_its_process_raised_it(
    api: Api, program: Write
) -> None:
    fails = program(ASKED_OF_A_POOL)
    found = await run(api, script=fails.text)
    (stop,) = found.stops
    assert stop.what == ("process", "ZeroDivisionError", fails.line("work"))
    assert (stop.frames[0]["moved_on"], stop.locals) == (True, {})
    asking = next(f for f in stop.frames if f["line"] == fails.line("asked"))
    assert asking["name"] == "<module>"
    assert found.exit_code == 1


async def test_the_program_behind_a_reloader(api: Api, program: Write) -> None:
    fails = program("""
        import os
        import threading
        from werkzeug._reloader import run_with_reloader

        def work(number):
            return 1 / number  # @work

        def main():
            thread = threading.Thread(target=work, args=(0,))
            thread.start()
            thread.join()
            os._exit(4)

        if __name__ == "__main__":
            run_with_reloader(main, reloader_type="stat")
    """)
    found = await run(api, script=fails.text, debug_subprocesses="auto")
    (stop,) = found.stops
    assert stop.what == ("thread", "ZeroDivisionError", fails.line("work"))
    assert found.exit_code == 4


async def test_the_program_behind_a_reloader_that_starts_its_command_anew(
    api: Api, program: Write
) -> None:
    fails = program("""
        import os
        import threading

        import bottle

        def work(number):
            return 1 / number  # @work

        class Server(bottle.ServerAdapter):
            def run(self, handler):
                thread = threading.Thread(target=work, args=(0,))
                thread.start()
                thread.join()
                os._exit(4)

        bottle.run(server=Server, reloader=True, quiet=True)
    """)
    found = await run(api, script=fails.text, debug_subprocesses="auto")
    (stop,) = found.stops
    assert stop.what == ("thread", "ZeroDivisionError", fails.line("work"))
    assert found.exit_code == 4
