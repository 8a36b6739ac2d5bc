"""For every test: nothing may be left behind, neither a process nor a descriptor."""

from __future__ import annotations

from collections.abc import Iterator

import hypothesis
import pytest

from tests import leftovers

# How long an example takes says something about the machine, not about the code.
hypothesis.settings.register_profile(
    "busy", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("busy")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The third rung takes seconds to launch, and most of it is debugpy's own code."""
    parser.addoption(
        "--spare-stock-adapter",
        action="store_true",
        help="leave out the tests that are repeated on the stock adapter; one Python runs them",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What is left out is told as deselected."""
    if config.getoption("--spare-stock-adapter"):
        spared = [item for item in items if "adapter" in _parameters(item)]
        items[:] = [item for item in items if item not in spared]
        config.hook.pytest_deselected(items=spared)


def _parameters(item: pytest.Item) -> list[object]:
    call = getattr(item, "callspec", None)
    return list(call.params.values()) if call is not None else []


def pytest_configure() -> None:
    """Under xdist each worker has a mark of its own, and looks for its own only."""
    leftovers.mark()


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Fails the test that leaves a process or a descriptor behind, and kills the process."""
    watch = leftovers.Leftovers()
    yield
    found = watch.find()
    if found:
        pytest.fail("left behind:\n" + "\n".join(found), pytrace=False)
