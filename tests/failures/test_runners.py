"""Tests that fail, under the runners that people have."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.e2e.api import Api
from tests.failures.runs import LONGEST, run, run_tests
from tests.programs import Program

Write = Callable[..., Program]

PYTEST = """
    import unittest
    import warnings
    from unittest import mock

    import pytest
    from hypothesis import given, settings, strategies

    def half(number):
        rest = number % 2
        if rest:
            raise ValueError(f"{number} is odd")  # @half
        return number // 2

    @pytest.fixture
    def broken():
        raise KeyError("fixture")  # @fixture

    @pytest.fixture
    def leaves():
        yield
        raise KeyError("teardown")  # @teardown

    def test_expected():
        pytest.raises(ValueError, half, 1)
        with pytest.raises(ValueError):
            half(1)

    @pytest.mark.xfail
    def test_xfail():
        half(1)

    def test_skip():
        pytest.skip("not today")

    @settings(database=None)
    @given(strategies.integers())
    def test_hypothesis_passes(number):
        try:
            half(number)
        except ValueError:
            pass

    @settings(database=None)
    @given(strategies.integers())
    def test_hypothesis_fails(number):
        assert number < 100  # @hypothesis

    @pytest.mark.parametrize("number", [1, 2])
    def test_half(number):
        assert half(number) == 1

    def test_assertion():
        items = ["a", "b"]
        assert len(items) == 3  # @assert

    def test_fixture(broken):
        pass

    def test_teardown(leaves):
        pass

    class TestCases(unittest.TestCase):
        def test_expected(self):
            self.assertRaises(ValueError, half, 3)

        @unittest.expectedFailure
        def test_expected_failure(self):
            half(1)

        def test_fails(self):
            self.assertEqual(half(2), 2)  # @case

        def test_rounds(self):
            for number in range(3):
                with self.subTest(number=number):
                    self.assertNotEqual(number, 1)  # @round

    def test_exit():
        raise GeneratorExit  # @exit
"""


async def test_a_test_may_have_replaced_what_a_stop_is_made_with(api: Api, program: Write) -> None:
    """The number of the process, which says whether it is a fork, and the texts of the protocol."""
    suite = program(
        """
        import json
        import os

        def test_number(monkeypatch):
            monkeypatch.setattr(os, "getpid", lambda: 1)
            monkeypatch.setattr(json, "loads", dict)
            monkeypatch.setattr(json, "dumps", dict)
            number = os.getpid()  # @break
            assert number == 2  # @fail
    """,
        "test_number.py",
    )
    session = await api.session()
    await session.breakpoint(suite.text, suite.line("break"))
    args = ["-q", "-p", "no:cacheprovider", suite.text]
    at = await session.post("/launch", module="pytest", args=args, wait=LONGEST)
    assert (at["stop_reason"], at["current_location"]["line"]) == (
        "breakpoint",
        suite.line("break"),
    )
    at = await session.resume(wait=LONGEST, include=["exception"])
    assert (at["ends"], at["current_location"]["line"]) == ("test", suite.line("fail"))
    assert at["stop"]["exception"]["type"] == "AssertionError"


async def test_pytest(api: Api, program: Write) -> None:
    suite = program(PYTEST, "test_shop.py")
    found = await run_tests(api, suite.text)
    named = {str(stop.test): stop for stop in found.stops}
    assert {name: stop.line for name, stop in named.items()} == {
        "test_shop.py::test_hypothesis_fails": suite.line("hypothesis"),
        "test_shop.py::test_half[1]": suite.line("half"),
        "test_shop.py::test_assertion": suite.line("assert"),
        "test_shop.py::test_fixture": suite.line("fixture"),
        "test_shop.py::test_teardown": suite.line("teardown"),
        "test_shop.py::TestCases::test_fails": suite.line("case"),
        "test_shop.py::TestCases::test_rounds": suite.line("round"),
        "test_shop.py::test_exit": suite.line("exit"),
    }
    assert len(found.stops) == len(named)
    assert {stop.view["ends"] for stop in found.stops} == {"test"}
    assert named["test_shop.py::test_half[1]"].locals == {"number": "1", "rest": "1"}
    assert named["test_shop.py::test_hypothesis_fails"].locals == {"number": "100"}
    failed = named["test_shop.py::test_assertion"]
    assert failed.locals == {"items": "['a', 'b']"}  # and none of the names that pytest makes
    assert "len(['a', 'b'])" in failed.view["explanation"]
    assert "\nfails test_shop.py::test_assertion\n" in failed.report
    assert named["test_shop.py::test_fixture"].view["ends_name"] == "setup"
    a_round = named["test_shop.py::TestCases::test_rounds"]
    assert a_round.view["ends_name"] == "(number=1)"
    assert "\nfails test_shop.py::TestCases::test_rounds (number=1)\n" in a_round.report
    assert found.exit_code == 1


async def test_what_a_failed_test_has_left_dies_with_it_as_ever(api: Api, program: Write) -> None:
    program(
        """
        import gc
        import weakref

        import pytest

        left = []

        class Local:
            pass

        @pytest.mark.parametrize("number", range(6))
        def test_fails(number):
            local = Local()
            left.append(weakref.ref(local))
            raise ValueError(number)

        def test_nothing_is_left():
            gc.collect()
            assert [one() for one in left] == [None] * 6
        """,
        "test_left.py",
    )
    # This plugin keeps what has failed.
    found = await run_tests(api, "-p", "no:rerunfailures", "test_left.py")
    assert [stop.what[1] for stop in found.stops] == ["ValueError"] * 6


async def test_a_fixture_that_is_not_there(api: Api, program: Write) -> None:
    suite = program(
        """
        import pytest

        @pytest.fixture  # @fixture
        def price(shop):
            return 3

        def test_price(price):
            pass

        class TestPrices:
            def test_prices(self, prices):  # @test
                pass
        """,
        "test_shop.py",
    )
    found = await run_tests(api, suite.text)
    fixture, test = found.stops
    assert (fixture.line, test.line) == (suite.line("fixture"), suite.line("test"))
    assert fixture.view["explanation"] == "fixture 'shop' not found"
    assert test.view["explanation"] == "fixture 'prices' not found"


async def test_pytest_before_there_is_a_test(api: Api, program: Write) -> None:
    program("import nowhere  # @import\n", "test_import.py")
    broken = program("1 / 0  # @conftest\n", "sub/conftest.py")
    program("", "sub/test_never.py")
    found = await run_tests(api, str(broken.path.parents[1] / "test_import.py"))
    (stop,) = found.stops
    assert (stop.exception["type"], stop.test) == ("ModuleNotFoundError", "test_import.py")
    for where in (broken.path.parent, broken.path.parents[1]):  # before collection, and during it
        found = await run_tests(api, "--ignore=test_import.py", str(where))
        (stop,) = found.stops
        assert (stop.exception["type"], stop.line) == ("ZeroDivisionError", broken.line("conftest"))
    plugin = program("1 / 0  # @plugin\n", "broken_plugin.py")
    found = await run_tests(
        api, "-p", "broken_plugin", "test_never.py", cwd=str(plugin.path.parent)
    )
    (stop,) = found.stops
    assert stop.what == ("process", "ZeroDivisionError", plugin.line("plugin"))


UNFIT = """
    import pytest

    @pytest.fixture
    def price():
        return 3

    @pytest.fixture(scope="module")  # @scope
    def shop(price):
        return price

    @pytest.fixture  # @twice
    def twice():
        yield 1
        yield 2

    @pytest.fixture
    def library():
        return int("three")  # @library

    def test_scope(shop):
        pass

    def test_twice(twice):
        pass

    def test_library(library):
        pass

    @pytest.mark.parametrize("number, other", [1])  # @parameters
    def test_parameters(number, other):
        pass
"""


async def test_what_pytest_is_not_content_with_is_shown_there(api: Api, program: Write) -> None:
    """And not in pytest, where it is raised: none of the program's frames is in its traceback."""
    suite = program(UNFIT, "test_unfit.py")
    options = ("-p", "no:trio", "--continue-on-collection-errors")
    found = await run_tests(api, suite.text, *options)
    (collection,) = found.stops
    assert collection.what == ("test", "Failed", suite.line("parameters"))
    whole = suite.path.read_text()
    suite.path.write_text(whole.partition("@pytest.mark.parametrize")[0])
    found = await run_tests(api, suite.text, *options)
    assert [(stop.test, stop.view["ends_name"], stop.line) for stop in found.stops] == [
        ("test_unfit.py::test_scope", "setup", suite.line("scope")),
        ("test_unfit.py::test_twice", "teardown", suite.line("twice")),
        ("test_unfit.py::test_library", "setup", suite.line("library")),
    ]


AGAIN = """
    import pytest

    attempts = []

    @pytest.mark.flaky(reruns=2)
    def test_that_passes_at_last():
        attempts.append(1)
        assert len(attempts) == 3

    @pytest.mark.flaky(reruns=1)
    def test_that_never_passes():
        assert not attempts  # @never
"""


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["here", "xdist"])
async def test_an_attempt_that_another_follows_is_no_failure(
    api: Api, program: Write, workers: tuple[str, ...]
) -> None:
    tests = program(AGAIN, "test_again.py")
    found = await run_tests(api, tests.text, *workers, debug_subprocesses=True)
    (stop,) = found.stops
    assert stop.what == ("test", "AssertionError", tests.line("never"))
    assert stop.test == "test_again.py::test_that_never_passes"
    assert "1 failed, 1 passed, 3 rerun" in await found.session.printed()


OUTCOMES = """
    import pytest

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(item, call):
        outcome = yield
        report = outcome.get_result()
        if report.when != "call" or not report.failed:
            return
        if "known" in item.name:
            report.outcome = "passed"
        if "again" in item.name:  # as pytest-retry does it
            run = lambda: item.ihook.pytest_runtest_call(item=item)
            second = pytest.CallInfo.from_call(run, when="call")
            last = pytest.TestReport.from_item_and_call(item, second)
            report.outcome, report.longrepr = last.outcome, last.longrepr
"""


async def test_what_pytest_reports_in_the_end_has_failed(api: Api, program: Write) -> None:
    """Not what a plugin makes a success of, nor what a test that passes has left behind."""
    program(OUTCOMES, "conftest.py")
    tests = program(
        """
        import asyncio
        import concurrent.futures

        attempts = []
        kept = []

        def test_known():
            assert 0

        def test_again_passes():
            attempts.append(1)
            assert len(attempts) == 2

        def test_again_fails():
            attempts.append(1)
            number = len(attempts)
            assert number == 2  # @again

        def fail():
            raise KeyError("unasked")

        async def later():
            fail()

        def test_futures():
            with concurrent.futures.ThreadPoolExecutor() as pool:
                kept.append(pool.submit(fail))
                pool.submit(fail)

        def test_tasks():
            async def main():
                kept.append(asyncio.create_task(later()))
                await asyncio.sleep(0)
            asyncio.run(main())
    """,
        "test_outcomes.py",
    )
    found = await run_tests(api, tests.text)
    (stop,) = found.stops
    assert stop.test == "test_outcomes.py::test_again_fails"
    assert (stop.line, stop.locals) == (tests.line("again"), {"number": "4"})
    assert "1 failed, 4 passed" in await found.session.printed()


RUN_INSIDE = """
    import sys
    import threading
    import unittest
    import pytest

    pytest_plugins = "pytester"

    SUITE = '''
        import pytest
        def test_inner():
            number = 3
            assert number == 4
        @pytest.fixture
        def broken():
            yield
            raise KeyError("teardown")
        def test_teardown(broken):
            pass
    '''

    def test_a_plugin(pytester):
        pytester.makepyfile(SUITE)
        pytester.runpytest_inprocess("-p", "no:randomly").assert_outcomes(passed=1, failed=1, errors=1)

    def test_what_cannot_be_collected(pytester):
        pytester.makepyfile("import nowhere")
        pytester.runpytest_inprocess().assert_outcomes(errors=1)

    def test_a_conftest(pytester):
        pytester.makeconftest("import nowhere")
        assert pytester.runpytest_inprocess().ret == 4

    def test_in_another_thread(pytester):
        pytester.makepyfile(SUITE)
        pytester.makeconftest("")
        runs = []
        thread = threading.Thread(target=lambda: runs.append(pytester.runpytest_inprocess()))
        thread.start()
        thread.join()
        runs[0].assert_outcomes(passed=1, failed=1, errors=1)
        pytester.makeconftest("import nowhere")
        thread = threading.Thread(target=lambda: runs.append(pytester.runpytest_inprocess()))
        thread.start()
        thread.join()
        assert runs[1].ret == 4

    def test_a_runner():
        class Inner(unittest.TestCase):
            @classmethod
            def setUpClass(cls):
                raise KeyError("class")
            def test_never(self):
                pass

        suite = unittest.defaultTestLoader.loadTestsFromTestCase(Inner)
        assert suite.run(unittest.TestResult()).errors

    def test_a_runner_in_another_thread():
        class Inner(unittest.TestCase):
            def test_inner(self):
                self.assertEqual(3, 4)

        def run(results):
            suite = unittest.defaultTestLoader.loadTestsFromTestCase(Inner)
            results.append(suite.run(unittest.TestResult()))
            try:
                raise KeyError("told")
            except KeyError:
                results[-1].addError(Inner("test_inner"), sys.exc_info())

        results = []
        thread = threading.Thread(target=run, args=(results,))
        thread.start()
        thread.join()
        assert len(results[0].failures + results[0].errors) == 2

    def test_that_fails(pytester):
        pytester.makepyfile(SUITE)
        result = pytester.runpytest_inprocess("-k", "inner")
        assert result.ret == 0  # @outer

    def test_the_next():
        raise ValueError("next")  # @next
"""


async def test_a_run_inside_of_a_test_is_that_test_s_own_business(api: Api, program: Write) -> None:
    tests = program(RUN_INSIDE, "test_plugin.py")
    found = await run_tests(api, tests.text)
    outer, following = found.stops
    assert found.tests == ["test_plugin.py::test_that_fails", "test_plugin.py::test_the_next"]
    assert (outer.line, following.line) == (tests.line("outer"), tests.line("next"))
    (inner,) = outer.exception["chain"]
    assert (inner["relation"], inner["type"]) == ("earlier", "AssertionError")
    assert {"name": "number", "value": "3"}.items() <= inner["locals"][0].items()
    assert following.exception["chain"] == []


async def test_cases_that_a_case_of_unittest_runs(api: Api, program: Write) -> None:
    tests = program(
        """
        import unittest

        class Fixture(unittest.TestCase):
            @classmethod
            def setUpClass(cls):
                raise KeyError("class")

            def runTest(self):
                pass

        class Runner(unittest.TestCase):
            def test_runner(self):
                class Inner(unittest.TestCase):
                    def runTest(self):
                        for number in range(2):
                            with self.subTest(number=number):
                                self.assertTrue(number)

                result = unittest.TestResult()
                unittest.TestSuite([Inner(), Fixture()]).run(result)
                self.assertEqual(len(result.failures), 1)
                self.assertEqual(len(result.errors), 2)  # @outer
        """,
        "test_runner.py",
    )
    found = await run(api, module="unittest", args=["test_runner.Runner"])
    (stop,) = found.stops
    assert (stop.test, stop.line) == ("test_runner.Runner.test_runner", tests.line("outer"))
    assert [link["relation"] for link in stop.exception["chain"]] == ["earlier", "earlier"]


LIMITS = """
    import signal
    import time
    import pytest

    @pytest.mark.timeout(0.3)
    def test_that_hangs():
        time.sleep(60)  # @hangs

    @pytest.mark.timeout(60)
    def test_with_time_left():
        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0  # @left
"""


async def test_a_time_limit_holds_until_somebody_looks(api: Api, program: Write) -> None:
    tests = program(LIMITS, "test_limits.py")
    session = await api.session()
    options = ["-q", "-p", "no:cacheprovider", tests.text]
    about = {"module": "pytest", "args": options, "stop_on_exception": "uncaught"}
    at = await session.post("/launch", wait=60, **about)
    exception = (await session.get("/exception"))["exception"]
    assert (exception["type"], at["current_location"]["line"]) == ("Failed", tests.line("hangs"))
    at = await session.resume()
    assert at["current_location"]["line"] == tests.line("left")
    left = await session.evaluate("signal.getitimer(signal.ITIMER_REAL)[0]")
    assert left["result"] == "0.0"
    assert (await session.resume())["exit_code"] == 1


async def test_a_time_limit_holds_beside_coverage(api: Api, program: Write) -> None:
    """From Python 3.12 on the plugin asks `sys.monitoring` too, where the debugger is."""
    tests = program(LIMITS, "test_limits.py")
    args = ["run", "--data-file=coverage.data", "-m", "pytest", "-q", "test_limits.py"]
    found = await run(api, module="coverage", args=args, env={"COVERAGE_CORE": "ctrace"})
    assert [stop.line for stop in found.stops] == [tests.line("hangs"), tests.line("left")]
    assert found.exit_code == 1


async def test_pytest_called_by_a_program_and_behind_coverage(api: Api, program: Write) -> None:
    suite = program(
        """
        def test_wrong():
            number = 1
            assert number == 2  # @assert
    """,
        "test_wrong.py",
    )
    calls = program("""
        import sys
        import pytest

        sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "test_wrong.py"]))
    """)
    for launch in (
        {"script": calls.text},
        {
            "module": "coverage",
            "args": ["run", "--data-file=coverage.data", "-m", "pytest", "-q", "test_wrong.py"],
        },
    ):
        (stop,) = (await run(api, **launch)).stops
        assert (stop.test, stop.line) == ("test_wrong.py::test_wrong", suite.line("assert"))
        assert stop.locals == {"number": "1"}


async def test_the_tests_of_an_installed_package(api: Api, program: Write) -> None:
    """Modules of a package that is installed count as own, where its own tests are run."""
    program("", "site-packages/shop/__init__.py")
    suite = program(
        """
        def test_wrong():
            number = 1
            assert number == 2  # @assert
    """,
        "site-packages/shop/test_wrong.py",
    )
    places = str(suite.path.parents[1])
    found = await run_tests(api, "--pyargs", "shop", env={"PYTHONPATH": places})
    (stop,) = found.stops
    assert (stop.line, stop.locals) == (suite.line("assert"), {"number": "1"})


CHECKS = """
    import pytest
    from pytest_check import check

    def check_price(price):
        check.equal(price, 3, "bread")  # @function

    def test_checks():
        check_price(5)
        for price in (2, 3, 4):
            with check:
                assert price == 3  # @block
        raise KeyError(price)  # @raise

    def test_expected():
        with check.raises(KeyError):
            raise KeyError("milk")

    @pytest.mark.xfail
    def test_xfail():
        check.equal(1, 2)

    attempts = []

    @pytest.mark.flaky(reruns=1)
    def test_again():
        attempts.append(1)
        check.equal(len(attempts), 2)
"""


async def test_each_check_that_lets_its_test_go_on(api: Api, program: Write) -> None:
    """What it was is told when the test has failed by it, with the locals that it saw."""
    suite = program(CHECKS, "test_checks.py")
    found = await run_tests(api, suite.text)
    bread, cheap, dear, last = found.stops
    assert [cheap.what, dear.what] == [("test", "AssertionError", suite.line("block"))] * 2
    assert [cheap.locals, dear.locals] == [{"price": "2"}, {"price": "4"}]
    assert "assert 4 == 3" in dear.view["explanation"]
    assert (bread.line, bread.locals) == (suite.line("function"), {"price": "5"})
    assert bread.frames[1]["name"] == "test_checks"
    assert last.what == ("test", "KeyError", suite.line("raise"))
    assert set(found.tests) == {"test_checks.py::test_checks"}
    printed = await found.session.printed()
    assert f"test_checks.py:{suite.line('function')} in check_price()" in printed
    assert "1 failed, 2 passed, 1 xfailed, 1 rerun" in printed


async def test_a_thread_in_a_test_stops_once(api: Api, program: Write) -> None:
    """pytest has a hook of its own for threads, and turns what it hears into a warning."""
    suite = program(
        """
        import threading

        def work():
            raise ValueError("thread")  # @thread

        def test_thread():
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
    """,
        "test_thread.py",
    )
    found = await run_tests(api, suite.text)
    (stop,) = found.stops
    assert stop.what == ("thread", "ValueError", suite.line("thread"))
    assert found.exit_code == 0


WARNINGS = """
    import threading

    class Shop:
        def __del__(self):
            price = 3
            raise KeyError(price)  # @del

    def read():
        return open(__file__).read()  # @open

    def work(price):
        raise ValueError(price)  # @thread

    async def later():
        pass

    def test_del():
        Shop()

    def test_files():
        for _ in range(3):
            read()

    def test_never_awaited():
        price = 5
        later()  # @dropped
        price = 6

    def test_thread():
        thread = threading.Thread(target=work, args=(4,))
        thread.start()
        thread.join()

    def test_returns():  # @returns
        return 1

    async def test_async():  # @async
        pass
"""


async def test_what_a_warning_of_pytest_speaks_of_fails_the_test(api: Api, program: Write) -> None:
    """Each is one stop, at what it speaks of; a thread that ends is one before that."""
    suite = program(WARNINGS, "test_shop.py")
    found = await run_tests(api, "-W", "error", "-p", "no:trio", suite.text)
    assert [(stop.test, *stop.what) for stop in found.stops] == [
        ("test_shop.py::test_del", "test", "KeyError", suite.line("del")),
        ("test_shop.py::test_files", "test", "ResourceWarning", suite.line("open")),
        ("test_shop.py::test_never_awaited", "test", "RuntimeWarning", suite.line("dropped")),
        (None, "thread", "ValueError", suite.line("thread")),
        ("test_shop.py::test_thread", "test", "ValueError", suite.line("thread")),
        ("test_shop.py::test_returns", "test", "PytestReturnNotNoneWarning", suite.line("returns")),
        ("test_shop.py::test_async", "test", "Failed", suite.line("async")),
    ]
    at_end, files, dropped, _, thread, *_ = found.stops
    assert (at_end.locals["price"], thread.locals) == ("3", {"price": "4"})
    words = [str(stop.view["explanation"]) for stop in (at_end, files, dropped, thread)]
    unraisable = "PytestUnraisableExceptionWarning: Exception ignored "
    ignored = ["<function Shop.__del__ at ", "<_io.FileIO ", "<coroutine object later at "]
    for text, name in zip(words, ignored, strict=False):
        assert text.startswith(unraisable)
        assert name in text.splitlines()[0]
    assert "\nand 2 more: ResourceWarning: unclosed file <" in words[1]
    assert words[3].startswith("PytestUnhandledThreadExceptionWarning: Exception in thread ")
    assert (files.view["group"]["number"], files.view["group"]["of"]) == (1, 3)
    assert files.frames[0]["name"] == "read"
    assert [frame["name"] for frame in dropped.frames if frame.get("inner")] == [
        "_warn_unawaited_coroutine"
    ]


DROPPED_BY_THE_DEBUGGER = """
    import _thread, gc, threading
    import debugpy

    # What a thread of the debugger's does in which a garbage collection begins.
    DEBUGGER = '''
    def collect(collected):
        gc.collect()
        collected.set()

    class Shop:
        def __del__(self):
            raise KeyError("bread")
    '''
    exec(compile(DEBUGGER, debugpy.__file__, "exec"), globals())

    def test_dropped():
        shop, collected = Shop(), threading.Event()
        shop.itself = shop
        del shop
        _thread.start_new_thread(collect, (collected,))
        collected.wait()
"""


async def test_a_warning_of_what_the_debugger_has_dropped(api: Api, program: Write) -> None:
    """It has no place in the program: that of the warning itself is shown."""
    suite = program(DROPPED_BY_THE_DEBUGGER, "test_shop.py")
    found = await run_tests(api, "-W", "error", "-p", "no:trio", suite.text)
    (stop,) = found.stops
    assert stop.test == "test_shop.py::test_dropped"
    assert stop.what[1] == "PytestUnraisableExceptionWarning"
    assert stop.frames


UNITTEST = """
    import unittest

    def half(number):
        rest = number % 2
        if rest:
            raise ValueError(number)  # @half
        return number // 2

    class Cases(unittest.TestCase):
        def test_expected(self):
            self.assertRaises(ValueError, half, 3)
            with self.assertRaisesRegex(ValueError, "5"):
                half(5)

        @unittest.expectedFailure
        def test_expected_failure(self):
            half(1)

        def test_skip(self):
            self.skipTest("not today")

        def test_half(self):
            self.assertEqual(half(7), 3)

        def test_rounds(self):
            for number in range(4):
                with self.subTest(number=number):
                    half(number)  # @round

    class Fixture(unittest.TestCase):
        @classmethod
        def setUpClass(cls):
            raise KeyError("class")  # @class

        def test_never(self):
            pass

    if __name__ == "__main__":
        unittest.main()
"""


async def test_unittest(api: Api, program: Write) -> None:
    suite = program(UNITTEST, "test_cases.py")
    module = {"module": "unittest", "args": ["test_cases"]}
    for launch, name in (({"script": suite.text}, "__main__"), (module, "test_cases")):
        found = await run(api, **launch)
        half, first, second, fixture = found.stops
        assert half.what == ("test", "ValueError", suite.line("half"))
        assert half.locals == {"number": "7", "rest": "1"}
        assert half.test == f"{name}.Cases.test_half"
        assert [first.test, second.test] == [
            f"{name}.Cases.test_rounds (number=1)",
            f"{name}.Cases.test_rounds (number=3)",
        ]
        assert [first.locals["number"], second.locals["number"]] == ["1", "3"]
        assert first.frames[1]["line"] == suite.line("round")
        assert fixture.line == suite.line("class")
        assert found.exit_code == 1


async def test_unittest_finds_what_cannot_be_imported(api: Api, program: Write) -> None:
    broken = program("import nowhere  # @import\n", "test_broken.py")
    named = await run(api, module="unittest", args=["test_broken.Missing"])
    found = await run(api, module="unittest", args=["discover"])
    by_nose2 = await run(api, module="nose2")
    for one in (named, found, by_nose2):
        (stop,) = one.stops
        assert stop.exception["type"] == "ModuleNotFoundError"
        assert stop.line == broken.line("import")


async def test_what_cannot_be_parsed_is_shown_where_it_is_wrong(api: Api, program: Write) -> None:
    broken = program("class Cart:\n    def total(:  # @wrong\n        pass\n", "test_broken.py")
    for module, args in (
        ("unittest", ["discover"]),
        ("nose2", []),
        ("twisted.trial", [broken.text]),
    ):
        (stop,) = (await run(api, module=module, args=args)).stops
        assert stop.exception["type"] == "SyntaxError"
        assert stop.view["current_location"]["path"].endswith("test_broken.py"), module
        assert stop.line == broken.line("wrong")


async def test_a_module_that_exits_as_pytest_collects_it(api: Api, program: Write) -> None:
    leaves = program("import sys\n\nsys.exit(4)  # @exit\n", "test_leaves.py")
    (stop,) = (await run_tests(api, "test_leaves.py")).stops
    assert stop.what == ("process", "SystemExit", leaves.line("exit"))


async def test_a_debugger_left_in_the_code_that_finds_no_input(api: Api, program: Write) -> None:
    """pdb raises when its input is over: the test has failed as by any other exception."""
    left = program(
        """
        import bdb

        def total():
            raise bdb.BdbQuit  # @quit

        def test_total():
            assert total() == 2
        """,
        "test_left.py",
    )
    (stop,) = (await run_tests(api, "test_left.py")).stops
    assert stop.what == ("test", "BdbQuit", left.line("quit"))
    assert stop.test == "test_left.py::test_total"


async def test_a_warning_names_the_place_that_it_names_without_a_debugger(
    api: Api, program: Write
) -> None:
    """It counts callers: a function that is listened to has one more."""
    suite = program(
        """
        import unittest, warnings

        class Cart(unittest.TestCase):
            def test_total(self):
                warnings.warn("of the caller's caller", DeprecationWarning, stacklevel=4)
        """,
        "test_cart.py",
    )
    found = await run(api, module="unittest", args=[suite.path.name])
    assert found.exit_code == 0
    printed = (await found.session.get("/output", category="stderr"))["entries"]
    text = "".join(entry["output"] for entry in printed)
    assert "unittest/case.py" in text.partition("of the caller's caller")[0]


AROUND_RUN = """
    import pickle, sys, unittest

    class Around(unittest.TestCase):
        # As Django's: what is set up and taken down around `run` is told by the class itself.
        def __call__(self, result=None):
            try:
                if self._testMethodName == "test_not_set_up":
                    raise KeyError("before")  # @before
                super().__call__(result)
                if self._testMethodName == "test_not_taken_down":
                    raise OSError("behind")  # @behind
            except Exception:
                result.addError(self, sys.exc_info())

        def test_good(self):
            pass

        def test_bad(self):
            self.fail("once")  # @bad

        def test_not_set_up(self):
            pass

        def test_not_taken_down(self):
            pass

    class Inner(unittest.TestCase):
        def test_inner(self):
            result = unittest.TestResult()
            Around("test_not_taken_down")(result)
            self.assertEqual(len(result.errors), 1)

    class Merged(unittest.TestSuite):
        # As of a process of its own, whose results are told here.
        def run(self, result, debug=False):
            super().run(result, debug)
            told = pickle.loads(pickle.dumps(KeyError("elsewhere")))
            result.addError(Around("test_good"), (type(told), told, None))
            return result

    def load_tests(loader, tests, pattern):
        return Merged(tests)
"""


async def test_what_a_case_tells_of_around_its_run(api: Api, program: Write) -> None:
    suite = program(AROUND_RUN, "test_around.py")
    found = await run(api, module="unittest", args=["test_around"])
    assert [(stop.test, *stop.what[1:]) for stop in found.stops] == [
        ("test_around.Around.test_bad", "AssertionError", suite.line("bad")),
        ("test_around.Around.test_not_set_up", "KeyError", suite.line("before")),
        ("test_around.Around.test_not_taken_down", "OSError", suite.line("behind")),
    ]


async def test_a_module_that_cannot_be_imported_in_a_worker(api: Api, program: Write) -> None:
    """Django sends the case that stands for it to a process forked before, by pickle."""
    broken = program("import nowhere  # @import\n", "test_broken.py")
    suite = program(
        """
        import pickle, unittest

        case = next(iter(unittest.defaultTestLoader.loadTestsFromNames(["test_broken"])))
        case = next(iter(case)) if isinstance(case, unittest.TestSuite) else case
        error = case._exception
        case._exception = pickle.loads(pickle.dumps(error))
        unittest.TextTestRunner().run(case)
        """,
        "run_case.py",
    )
    (stop,) = (await run(api, script=suite.text)).stops
    assert stop.exception["type"] == "ModuleNotFoundError"
    assert stop.line == broken.line("import")


DOCTEST = '''
    def half(number):
        """
        >>> half(4)
        2
        >>> half(6)  # @other
        4
        >>> half(0)
        Traceback (most recent call last):
        ZeroDivisionError
        """
        if not number:
            raise ZeroDivisionError
        return number // 2

    def double(number):
        """
        >>> double(None)
        0
        """
        return number * 2  # @double

    def later(number):
        """
        >>> def share(text):
        ...     size = len(text)
        ...     return size / 0  # @example
        >>> share("ab")
        4
        """
'''


async def test_doctest_of_pytest(api: Api, program: Write) -> None:
    module = program(DOCTEST, "halves.py")
    program("def test_x(:\n", "test_broken.py")
    options = ["--doctest-modules", "--continue-on-collection-errors"]
    found = await run_tests(api, *options, "halves.py", "test_broken.py")
    broken, again, double, half, example = (
        found.stops
    )  # as a module of tests, and as one of examples
    assert again.line == broken.line
    assert (broken.exception["type"], broken.line) == ("SyntaxError", 1)
    assert broken.view["current_location"]["path"].endswith("test_broken.py")
    assert double.what == ("test", "TypeError", module.line("double"))
    assert half.what == ("test", "DocTestFailure", module.line("other"))
    assert half.locals == {"want": "'4\\n'", "got": "'3\\n'"}
    assert half.view["explanation"] == "expected '4\\n', got '3\\n'"
    assert example.what == ("test", "ZeroDivisionError", module.line("example"))
    assert example.view["current_location"]["path"].endswith("halves.py")
    assert example.locals == {"text": "'ab'", "size": "2"}
    names = ["double", "half", "later"]
    assert found.tests[2:] == [f"halves.py::halves.{name}" for name in names]
    assert "3 failed, 2 errors" in await found.session.printed()


async def test_doctest_of_a_module_and_of_unittest(api: Api, program: Write) -> None:
    module = program(DOCTEST, "halves.py")
    suite = program("""
        import doctest
        import unittest
        import halves

        def load_tests(loader, tests, ignore):
            tests.addTests(doctest.DocTestSuite(halves))
            return tests

        unittest.main()
    """)
    expected = [
        ("test", "TypeError", module.line("double")),
        ("test", "DocTestFailure", module.line("other")),
        ("test", "ZeroDivisionError", module.line("example")),
    ]
    for launch in ({"module": "doctest", "args": [module.text]}, {"script": suite.text}):
        found = await run(api, **launch)
        assert [stop.what for stop in found.stops] == expected
        assert found.tests == ["halves.double", "halves.half", "halves.later"]


RUNS_A_TEST = """
    A guide to tests
    ================

    >>> prices = {}
    >>> prices["tea"]  # @first
    >>> import unittest
    >>> class Case(unittest.TestCase):
    ...     def test_passes(self):
    ...         pass
    >>> result = unittest.TestResult()
    >>> _ = Case("test_passes").run(result)
    >>> result.testsRun
    2
"""


async def test_an_example_that_fails_before_another_runs_a_test(api: Api, program: Write) -> None:
    document = program(RUNS_A_TEST, "guide.rst")
    suite = program("""
        import doctest
        import unittest

        def load_tests(loader, tests, ignore):
            return doctest.DocFileSuite("guide.rst")

        unittest.main()
    """)
    found = await run(api, script=suite.text)
    (stop,) = found.stops
    assert stop.what == ("test", "KeyError", document.line("first"))
    assert stop.test == "guide_rst"


DOCUMENT = """
    A share
    =======

    >>> 2 + 2  # @other
    5

    >>> def share(number):
    ...     return 1 / number
    >>> share(0)  # @raises
    >>> share(0)
    Traceback (most recent call last):
    ZeroDivisionError: division by zero
"""


async def test_a_document_under_sybil(api: Api, program: Write) -> None:
    program(
        """
        from sybil import Sybil
        from sybil.parsers.rest import DocTestParser

        pytest_collect_file = Sybil(parsers=[DocTestParser()], patterns=["*.rst"]).pytest()
        """,
        "conftest.py",
    )
    document = program(DOCUMENT, "share.rst")
    found = await run_tests(api, "-p", "no:doctest", document.text)
    other, raises = found.stops
    assert other.what == ("test", "SybilFailure", document.line("other"))
    assert raises.what == ("test", "ZeroDivisionError", document.line("raises"))
    assert other.view["current_location"]["path"].endswith("share.rst")


async def test_doctest(api: Api, program: Write) -> None:
    module = program('''
        def half(number):
            """
            >>> half(4)
            2
            >>> half("x")
            >>> half(0)
            Traceback (most recent call last):
            ZeroDivisionError
            """
            if not number:
                raise ZeroDivisionError
            return number // 2  # @half

        import doctest
        doctest.testmod()
    ''')
    found = await run(api, script=module.text)
    (stop,) = found.stops
    assert stop.what == ("test", "TypeError", module.line("half"))
    assert stop.locals == {"number": "'x'"}


async def test_a_test_that_fails_and_raises_nothing_is_in_the_report(
    api: Api, program: Write
) -> None:
    program(
        """
        import unittest

        class Cart(unittest.TestCase):
            @unittest.expectedFailure
            def test_mended(self):
                pass
        """,
        "test_mended.py",
    )
    done = await run(api, module="unittest", args=["test_mended"])
    assert (done.stops, done.exit_code != 0) == ([], True)
    report = (await done.session.get("/report"))["report"]
    assert "[no stop] test_mended.Cart.test_mended: unexpected success" in report.splitlines()


async def test_tests_are_named_from_where_pytest_was_started(api: Api, program: Write) -> None:
    """As pytest prints them; its own ids count from the directory of its settings."""
    suite = program("def test_fails():\n    assert 0  # @fails\n", "all/tests/test_shop.py")
    program("import nowhere\n", "all/tests/test_none.py")
    program("[pytest]\nxfail_strict = true\n", "all/tests/pytest.ini")
    program(
        """
        import pytest

        @pytest.mark.xfail
        def test_passes():
            pass
        """,
        "all/tests/test_passing.py",
    )
    home = suite.path.parents[1]
    options = ("tests", "--continue-on-collection-errors")
    found = await run_tests(api, *options, cwd=str(home))
    assert sorted(map(str, found.tests)) == ["tests/test_none.py", "tests/test_shop.py::test_fails"]
    report = (await found.session.get("/report", max_chars=4000))["report"]
    assert "tests/test_passing.py::test_passes: [XPASS(strict)]" in report
    workers = {"cwd": str(home), "debug_subprocesses": True}
    found = await run_tests(api, "-n", "1", "tests/test_shop.py", **workers)
    assert found.tests == ["tests/test_shop.py::test_fails"]
    (home / "pytest.ini").write_text("[pytest]\n")
    (home / "tests" / "pytest.ini").unlink()
    found = await run_tests(api, "test_shop.py", cwd=str(suite.path.parent))
    assert found.tests == ["test_shop.py::test_fails"]


async def test_a_test_beyond_the_root_is_named_with_its_file(api: Api, program: Write) -> None:
    """pytest leaves the file out."""
    program("", "installed/shop/tests/__init__.py")
    program("", "installed/shop/__init__.py")
    suite = program("def test_fails():\n    assert 0\n", "installed/shop/tests/test_shop.py")
    root = program("[pytest]\n", "work/pytest.ini").path.parent
    path = str(suite.path.parents[2])
    args = ("--pyargs", "shop.tests.test_shop")
    found = await run_tests(api, *args, cwd=str(root), env={"PYTHONPATH": path})
    assert found.tests == ["../installed/shop/tests/test_shop.py::test_fails"]
