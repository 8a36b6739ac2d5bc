"""Ids of pytest's tests as it prints them: files are named from where it was started.

Its own ids count from its root, the directory of its settings. Under such an id nobody finds the
test who runs pytest in another directory.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact


class _TestRun:
    """The run of pytest whose tests are named."""

    config: Any = None


_test_run = _TestRun()


def name_tests_of(config: Any) -> None:
    """The settings of the run whose tests are named from now on."""
    _test_run.config = config


def test_id(about: Any) -> str:
    """Of a test, or of a report about one."""
    given = exact(str(about.nodeid))
    named: str = attempt(lambda: _from_start(given, about), default=given)
    return named


def _from_start(given: str, about: Any) -> str:
    config = _test_run.config
    root, start = str(config.rootpath), str(config.invocation_params.dir)
    file, colons, within = given.partition("::")
    if not file and colons:  # of a file beyond the root that was asked for: pytest leaves it out
        file = str(about.location[0])
    elif root == start:
        return given
    path = os.path.relpath(os.path.join(root, file), start) if file else ""
    return path.replace(os.sep, "/") + colons + within
