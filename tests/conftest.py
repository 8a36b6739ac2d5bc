"""For every test: nothing may be left behind, neither a process nor a descriptor."""

from __future__ import annotations

from collections.abc import Iterator

import hypothesis
import pytest

from tests import environments, leftovers

# How long an example takes says something about the machine, not about the code.
hypothesis.settings.register_profile(
    "busy", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("busy")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that one Python suffices for."""
    for item in items:
        if environments.suffices_once(item):
            item.add_marker("once")


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
