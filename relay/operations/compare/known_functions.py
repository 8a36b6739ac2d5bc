"""Which functions of a run the tree of the other has, too: one that is new there is no other branch."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from relay.operations.compare.recorded_calls import Function, RecordedRun


def known_functions(run: RecordedRun, other: RecordedRun) -> Callable[[int], bool]:
    """Whether a function of a run, by its number, is in the tree of the other: in the same tree, all are."""
    if run.has_tree_of(other):
        return all_functions
    called = {function.key for function in other.functions.values()}
    known = {
        number: function.key in called or _is_in_files_of(other, function)
        for number, function in run.functions.items()
    }
    return known.__getitem__


def all_functions(function: int) -> bool:
    """Of two runs of one tree."""
    return True


def _is_in_files_of(run: RecordedRun, function: Function) -> bool:
    """Whether the function is in the counterpart of its file, though the run has not called it."""
    if run.libraries and function.is_comprehension:
        return False  # inlined by one of the two Pythons
    places = [os.path.join(folder, function.path) for folder in (run.root, *run.libraries)]
    return any(_is_defined(place, function.name) for place in places)


def _is_defined(path: str, name: str) -> bool:
    bare = name.rpartition(".")[2]
    if not bare.isidentifier():
        return True  # a lambda: nobody knows
    with suppress(OSError):
        source = Path(path).read_text("utf-8", "replace")
        return re.search(rf"\bdef[ \t]+{bare}\b", source) is not None
    return False
