"""Scenarios and test cases whose steps fail, under behave and Robot Framework."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from tests.e2e.api import Api
from tests.failures.runs import run
from tests.programs import Program

FEATURE = """
    Feature: a cart

      Scenario: it is filled
        Given a cart
        When bread is added
        Then it holds 1

      Scenario: what is not sold is refused
        Given a cart
        Then milk is refused

      Scenario: it holds too much
        Given a cart
        When bread is added
        Then it holds 2

      Scenario: milk is not sold
        Given a cart
        When milk is added
        Then it holds 1

      Scenario: nobody wrote this step
        Given a cart that flies

      @broken
      Scenario: its hook fails
        Given a cart

      Scenario: steps of a step
        When milk is refused in steps
        When milk is added in steps

      @fixture.shop
      Scenario: its fixture is not left well
        Given a cart
"""

STEPS = """
    from behave import given, then, when

    PRICES = {"bread": 3}

    def price(item):
        return PRICES[item]  # @price

    @given("a cart")
    def given_cart(context):
        context.cart = []

    @when("{item} is added")
    def added(context, item):
        context.cart.append(price(item))

    @then("it holds {count:d}")
    def holds(context, count):
        assert len(context.cart) == count  # @holds

    @then("{item} is refused")
    def refused(context, item):
        try:
            price(item)
        except KeyError:
            return
        raise AssertionError(item)

    @when("{item} is added in steps")
    def added_in_steps(context, item):
        context.execute_steps(f"Given a cart\\nWhen {item} is added")

    @when("{item} is refused in steps")
    def refused_in_steps(context, item):
        try:
            added_in_steps(context, item)
        except AssertionError:
            return
"""

ENVIRONMENT = """
    from behave import fixture, use_fixture

    @fixture
    def shop(context):
        yield
        raise OSError("shop")  # @cleanup

    def before_tag(context, tag):
        if tag == "broken":
            raise LookupError(tag)  # @hook
        if tag == "fixture.shop":
            use_fixture(shop, context)
"""


async def test_steps_and_hooks_of_behave(api: Api, tmp_path: Path) -> None:
    features = tmp_path / "features"
    (features / "steps").mkdir(parents=True)
    (features / "cart.feature").write_text(dedent(FEATURE).lstrip())
    steps = Program.write(features / "steps" / "cart.py", STEPS)
    hooks = Program.write(features / "environment.py", ENVIRONMENT)

    done = await run(api, module="behave", args=["--no-color"], cwd=str(tmp_path))

    assert [stop.what for stop in done.stops] == [
        ("test", "AssertionError", steps.line("holds")),
        ("test", "KeyError", steps.line("price")),
        ("test", "LookupError", hooks.line("hook")),
        ("test", "KeyError", steps.line("price")),
        ("test", "OSError", hooks.line("cleanup")),
    ]
    lines = [None if test is None else int(test.partition(":")[2]) for test in done.tests]
    assert lines == [12, 17, 26, 29, 34]
    assert done.stops[0].locals["count"] == "2"
    assert done.stops[1].locals["item"] == "'milk'"
    assert done.exit_code == 1


async def test_hooks_of_a_feature_and_steps_that_are_not_written(api: Api, tmp_path: Path) -> None:
    """behave counts both among what has failed; a feature's hook has the place of the feature."""
    features = tmp_path / "features"
    (features / "steps").mkdir(parents=True)
    feature = """
        Feature: Cart
          Scenario: Later
            When that is written
    """
    (features / "cart.feature").write_text(dedent(feature).lstrip())
    step = """
        from behave import when
        from behave.api.pending_step import StepNotImplementedError

        @when("that is written")
        def written(context):
            raise StepNotImplementedError("later")  # @pending
    """
    steps = Program.write(features / "steps" / "cart.py", step)
    hook = """
        def after_feature(context, feature):
            raise OSError("closed")  # @hook
    """
    hooks = Program.write(features / "environment.py", hook)

    done = await run(api, module="behave", args=["--no-color"], cwd=str(tmp_path))

    assert [(stop.test, *stop.what[1:]) for stop in done.stops] == [
        ("features/cart.feature:2", "StepNotImplementedError", steps.line("pending")),
        ("features/cart.feature:1", "OSError", hooks.line("hook")),
    ]


SUITE = """
    *** Settings ***
    Library    cart.py

    *** Test Cases ***
    Filled
        Add    bread
    Expected
        Run Keyword And Expect Error    KeyError*    Add    milk
    Ignored
        Run Keyword And Ignore Error    Add    milk
    Skipped
        Skip    not today
    Not Sold
        Add    milk
    Two Things
        Run Keyword And Continue On Failure    Add    milk
        Refuse    eggs
    Its Teardown
        Add    bread
        [Teardown]    Refuse    bread
    No Keyword Of Ours
        Should Be Equal    1    2
    Tried Twice
        Wait Until Keyword Succeeds    2x    0s    Add    milk
    Took Too Long
        [Timeout]    0.3s
        Wait
"""

LIBRARY = """
    import threading

    PRICES = {"bread": 3}

    def add(item):
        return PRICES[item]  # @add

    def wait():
        item = "never"
        threading.Event().wait()  # @wait

    def refuse(item):
        raise AssertionError(f"{item} is sold")  # @refuse
"""


async def test_keywords_of_robot_framework(api: Api, tmp_path: Path) -> None:
    (tmp_path / "shop.robot").write_text(dedent(SUITE).lstrip())
    library = Program.write(tmp_path / "cart.py", LIBRARY)
    args = ["--output", "NONE", "--report", "NONE", "--log", "NONE", "shop.robot"]

    done = await run(api, module="robot", args=args, cwd=str(tmp_path))

    assert [(stop.test, *stop.what) for stop in done.stops] == [
        ("Shop.Not Sold", "test", "KeyError", library.line("add")),
        ("Shop.Two Things", "test", "KeyError", library.line("add")),
        ("Shop.Two Things", "test", "AssertionError", library.line("refuse")),
        ("Shop.Its Teardown", "test", "AssertionError", library.line("refuse")),
        ("Shop.Tried Twice", "test", "KeyError", library.line("add")),
        ("Shop.Took Too Long", "test", "TimeoutExceeded", library.line("wait")),
    ]
    items = [stop.locals["item"] for stop in done.stops]
    assert items == ["'milk'", "'milk'", "'eggs'", "'bread'", "'milk'", "'never'"]
    assert done.exit_code == 6


KEPT_AS_TEXT = """
    *** Settings ***
    Library    cart.py
    Suite Teardown    Refuse    all

    *** Keywords ***
    Put Away
        Add    bread
        [Teardown]    Refuse    bread
    Put All Away
        Put Away
        Add    bread
        [Teardown]    Add    milk

    *** Test Cases ***
    Teardown Of A Keyword
        Put Away
    And Of The One Around
        Put All Away
    Expected Otherwise
        Run Keyword And Expect Error    ValueError*    Add    eggs
    Expected Otherwise With A Teardown
        Run Keyword And Expect Error    ValueError*    Put Away
    Expected
        Run Keyword And Expect Error    KeyError*    Add    eggs
        Run Keyword And Expect Error    *bread is sold    Put Away
"""


async def test_what_robot_framework_keeps_as_text(api: Api, tmp_path: Path) -> None:
    """Failures of a keyword's own teardown, of one that was expected to fail in another way, and
    of the teardown of a suite, which has the suite's name.
    """
    (tmp_path / "shop.robot").write_text(dedent(KEPT_AS_TEXT).lstrip())
    library = Program.write(tmp_path / "cart.py", LIBRARY)
    args = ["--output", "NONE", "--report", "NONE", "--log", "NONE", "shop.robot"]

    done = await run(api, module="robot", args=args, cwd=str(tmp_path))

    add, refuse = library.line("add"), library.line("refuse")
    assert [(stop.test, *stop.what[1:], stop.locals["item"]) for stop in done.stops] == [
        ("Shop.Teardown Of A Keyword", "AssertionError", refuse, "'bread'"),
        ("Shop.And Of The One Around", "AssertionError", refuse, "'bread'"),
        ("Shop.And Of The One Around", "KeyError", add, "'milk'"),
        ("Shop.Expected Otherwise", "KeyError", add, "'eggs'"),
        ("Shop.Expected Otherwise With A Teardown", "AssertionError", refuse, "'bread'"),
        ("Shop", "AssertionError", refuse, "'all'"),
    ]
    assert done.stops[3].view["explanation"].startswith("Expected error 'ValueError*' but got")
