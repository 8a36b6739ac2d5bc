"""The tables of pydevd's names: whole, without leftovers, and true of what is installed."""

from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path

from relay.debuggers.debugpy.debuggee import probe
from relay.debuggers.debugpy.debuggee.probe import entry
from relay.debuggers.debugpy.debuggee.probe.hooks.pydevd_names import NEEDS
from relay.debuggers.debugpy.debuggee.pydevd import child as pydevd_child
from relay.debuggers.debugpy.debuggee.pydevd import load as pydevd_load
from tests.debuggers.pydevd_uses import Uses, words_of_pydevd
from tests.sources import faults

HERE = Path(probe.__file__).parent
PROBE = [HERE / f"{part}.py" for part in (*probe.PARTS, "entry")]
START = [HERE.parent / "bootstrap.py"]
START += [HERE.parent / "pydevd" / f"{name}.py" for name in ("link", "hooks", "load", "child")]

words = functools.cache(words_of_pydevd)


def listed(tables: list[dict[str, str]]) -> set[str]:
    return {name for table in tables for found in table.values() for name in found.split()}


def classes(tables: list[dict[str, str]]) -> set[str]:
    return {place.partition(":")[2] for table in tables for place in table} - {""}


PROBE_TABLES = [need.names for need in NEEDS]
START_TABLES = [dict(pydevd_load.USED_NAMES), pydevd_child.USED_AFTER_FORK]
IN_PROBE = listed(PROBE_TABLES) | classes(PROBE_TABLES)
AT_START = listed(START_TABLES) | classes(START_TABLES)


def test_what_the_probe_uses_is_in_its_table() -> None:
    """If this fails: add the name to NEEDS in pydevd_names.py, to what it is for."""
    assert faults(PROBE, lambda path: Uses.of(path, words()) - IN_PROBE) == {}


def test_what_the_fast_start_uses_is_in_its_table() -> None:
    assert faults(START, lambda path: Uses.of(path, words()) - AT_START - IN_PROBE) == {}


def test_no_name_is_listed_that_nobody_uses() -> None:
    text = "\n".join(path.read_text() for path in PROBE if path.stem != "pydevd_names")
    assert {name for name in listed(PROBE_TABLES) if name not in text} == set()
    used = set().union(*(Uses.of(path, words()) for path in START))
    assert listed(START_TABLES) - used == set()


def test_a_use_is_found_however_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "part.py"
    file.write_text(
        "def f(py_db, thread):\n"
        "    manager = debugger().suspended_frames_manager\n"
        "    manager.get_frames_list(1)\n"
        "    getattr(thread, 'additional_info', None).pydev_step_cmd\n"
        "    patch(sys.modules['_pydevd_bundle.pydevd_api'].PyDevdAPI, 'request_step', g)\n"
        "    for one in py_db.created_pydb_daemon_threads: one._kill_received\n"
        "def g(stock):\n"
        "    class Mine(stock):\n"
        "        def on_thread_resume(self): self._lock\n"
    )
    assert Uses.of(file, words()) == {
        "suspended_frames_manager",
        "get_frames_list",
        "pydev_step_cmd",
        "PyDevdAPI",
        "request_step",
        "created_pydb_daemon_threads",
        "_kill_received",
        "on_thread_resume",
        "_lock",
    }


LOOK = """
import debugpy._vendored.force_pydevd, pydevd, importlib.machinery, sys, types
probe = types.ModuleType("_probe")
probe.__file__ = sys.argv[1]
exec(importlib.machinery.SourceFileLoader("e", sys.argv[1]).get_code("e"), vars(probe))
print(probe.unfit(), probe.limitations())
"""


def test_the_installed_debugger_has_them_all() -> None:
    options = ["-X", "frozen_modules=off", "-c", LOOK, str(entry.__file__)]
    done = subprocess.run(
        [sys.executable, *options], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "None []\n"


def test_each_purpose_is_asked_for_by_its_name() -> None:
    purposes = [need.purpose for need in NEEDS]
    assert len(set(purposes)) == len(purposes)
    text = "\n".join(path.read_text() for path in PROBE)
    asked = {
        one
        for one in purposes
        if f'apply_patch("{one}"' in text or f'purpose("{one}"' in text or f' can("{one}"' in text
    }
    assert set(purposes) - asked == {"values", "captures", "breakpoints"} - asked
