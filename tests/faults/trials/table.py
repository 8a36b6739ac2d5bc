"""The table of all faults."""

from __future__ import annotations

from tests.faults.trials.endings import ENDINGS
from tests.faults.trials.killings import KILLINGS
from tests.faults.trials.looks import LOOKS
from tests.faults.trials.surroundings import SURROUNDINGS

FAULTS = [*KILLINGS, *ENDINGS, *LOOKS, *SURROUNDINGS]

SAMPLE = frozenset(
    {
        "debuggee killed: at flood",
        "program ends: segmentation fault in a thread",
        "program leaves others: a family, and crashes",
    }
)
"""How a program ends by force, in three ways that take a second each: for those who have no hour."""
