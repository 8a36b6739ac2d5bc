"""For every test: nothing may be left behind, neither a process nor a descriptor."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import leftovers


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
