"""Test runners that are not in the relay's own environment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.api import Api
from tests.failures.runs import run
from tests.programs import Program
from tests.virtual_environments import made

Write = Callable[..., Program]


@pytest.fixture
def python(environments: Path) -> str:
    """One that has all of them."""
    return made(environments, "mamba==0.11.3 expects vedro TestSlide xdoctest pytest")


XDOCTEST = '''
    import pytest

    def twice(number):
        """
        Example:
            >>> twice(2)
            4
            >>> number = 3
            >>> print(twice(number))  # @other
            7

        Example:
            >>> # xdoctest: +SKIP
            >>> twice()

        Example:
            >>> passes = 1
            >>> def later(text):
            ...     return twice(text) - 1
            >>> later("a")  # @raises
        """
        return number * 2

    def expected():
        """
            >>> 1 / 0
            Traceback (most recent call last):
            ZeroDivisionError: division by zero
        """
'''


@pytest.mark.parametrize("runner", ["xdoctest", "pytest"])
async def test_examples_of_xdoctest(api: Api, program: Write, python: str, runner: str) -> None:
    """They stand in lines of the file, whose names its code has not."""
    module = program(XDOCTEST, "shop.py")
    own = {"module": "xdoctest", "args": ["shop.py"]}
    options = ["-q", "-p", "no:cacheprovider", "--xdoctest", "--xdoctest-style=google"]
    item = {"module": "pytest", "args": [*options, "shop.py"]}
    launch = own if runner == "xdoctest" else item
    found = await run(api, python, cwd=str(module.path.parent), **launch)
    other, raises = found.stops
    assert other.what == ("test", "GotWantException", module.line("other"))
    assert other.locals == {"want": "'7'", "got": "'6\\n'"}
    assert "expected '7', got '6\\n'" in other.view["explanation"]
    assert other.view["current_location"]["path"] == module.text
    assert [name for name in found.tests if name] == ["shop.py::twice:0", "shop.py::twice:2"]
    assert raises.what == ("test", "TypeError", module.line("raises"))
    assert found.exit_code == 1


VEDRO = """
    import vedro
    from vedro import catched, params

    class Scenario(vedro.Scenario):
        @params(1, 2)
        @params(2, 5)
        def __init__(self, number, wanted):
            self.number, self.wanted = number, wanted

        async def when_it_is_sold(self):
            self.left = self.number + 1

        def then_it_is_gone(self):
            left = self.left
            assert left == self.wanted  # @wanted

    @vedro.skip
    class Skipped(vedro.Scenario):
        def then_it_fails(self):
            1 / 0

    class Expected(vedro.Scenario):
        def when_it_fails(self):
            with catched(ValueError) as self.caught:
                int("x")

        def then_it_is_known(self):
            assert self.caught.type is ValueError

    attempts = []

    class Again(vedro.Scenario):
        def when_it_is_tried_again(self):
            attempts.append(1)
            if len(attempts) == 1:
                raise OSError

    class Raises(vedro.Scenario):
        def given_nothing(self):
            {}["bread"]  # @raises
"""


async def test_scenarios_of_vedro(api: Api, program: Write, python: str) -> None:
    """One that fails and is tried again with success has not failed."""
    suite = program(VEDRO, "scenarios/sells.py")
    args = ["run", "--no-color", "--reruns", "2", "--order-stable"]
    folder = str(suite.path.parents[1])
    found = await run(api, python, module="vedro", args=args, cwd=folder)
    assert {(stop.test, stop.what) for stop in found.stops} == {
        ("scenarios/sells.py::Scenario#2", ("test", "AssertionError", suite.line("wanted"))),
        ("scenarios/sells.py::Raises", ("test", "KeyError", suite.line("raises"))),
    }
    assert len(found.stops) == 2
    named = {stop.test: stop for stop in found.stops}
    assert named["scenarios/sells.py::Scenario#2"].locals["left"] == "3"
    assert found.exit_code == 1


MAMBA = """
    from expects import equal, expect, raise_error
    from mamba import _it, after, before, context, description, it

    with description("Shop") as self:
        with before.each:
            self.number = 2

        with it("adds"):
            expect(self.number + 1).to(equal(3))

        with it("adds more"):
            more = self.number + 2
            expect(more).to(equal(5))  # @more

        with it("expects"):
            expect(lambda: 1 / 0).to(raise_error(ZeroDivisionError))

        with _it("is pending"):
            1 / 0

        with context("when closed"):
            with it("sells nothing"):
                [][self.number]  # @nothing

    with description("Closing"):
        with after.all:
            raise OSError("locked")  # @closing

        with it("passes"):
            pass
"""


async def test_examples_of_mamba(api: Api, program: Write, python: str) -> None:
    suite = program(MAMBA, "spec/shop_spec.py")
    command = Path(python).with_name("mamba")
    found = await run(
        api, python, script=str(command), args=["spec"], cwd=str(suite.path.parents[1])
    )
    assert [(stop.test, stop.what) for stop in found.stops] == [
        ("Shop, it adds more", ("test", "AssertionError", suite.line("more"))),
        ("Shop, when closed, it sells nothing", ("test", "IndexError", suite.line("nothing"))),
        ("Closing", ("test", "OSError", suite.line("closing"))),
    ]
    assert found.stops[0].locals["more"] == "4"
    assert found.exit_code == 1


TESTSLIDE = """
    from testslide.dsl import context

    @context
    def shop(context):
        @context.before
        def open_it(self):
            self.number = 3

        @context.example
        def sells(self):
            self.assertEqual(self.number, 3)

        @context.example
        def sells_more(self):
            number = self.number
            self.assertEqual(number, 4)  # @more

        @context.example
        def expects(self):
            with self.assertRaises(ZeroDivisionError):
                1 / 0

        @context.xexample
        def skipped(self):
            1 / 0

        @context.sub_context
        def closing(context):
            @context.after
            def lock(self):
                raise RuntimeError("locked")  # @lock

            @context.example
            def both(self):
                {}["bread"]  # @both
"""


async def test_examples_of_testslide(api: Api, program: Write, python: str) -> None:
    """Of one that fails in itself and in a hook both are shown."""
    suite = program(TESTSLIDE, "test_shop.py")
    command = Path(python).with_name("testslide")
    found = await run(
        api, python, script=str(command), args=["test_shop.py"], cwd=str(suite.path.parent)
    )
    assert [(stop.test, stop.what) for stop in found.stops] == [
        ("shop: sells more", ("test", "AssertionError", suite.line("more"))),
        ("shop, closing: both", ("test", "KeyError", suite.line("both"))),
        ("shop, closing: both", ("test", "RuntimeError", suite.line("lock"))),
    ]
    assert found.stops[0].locals["number"] == "3"
    assert found.exit_code == 1


async def test_what_a_test_runs_by_another_runner_is_its_own_business(
    api: Api, program: Write, python: str
) -> None:
    program(XDOCTEST, "shop.py")
    suite = program(
        """
        import xdoctest

        def test_examples():
            summary = xdoctest.doctest_module("shop.py", command="all", verbose=0)
            assert summary["n_failed"] == 2
            assert summary["n_passed"] == 2, summary  # @passed
        """,
        "test_examples.py",
    )
    args = ["-q", "-p", "no:cacheprovider", "test_examples.py"]
    found = await run(api, python, module="pytest", args=args, cwd=str(suite.path.parent))
    assert [stop.what for stop in found.stops] == [("test", "AssertionError", suite.line("passed"))]
