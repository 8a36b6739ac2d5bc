"""Trees of calls of several processes as one: what a process has called stands below its name. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

_FUNCTION, _ARGUMENTS, _GONE = 1, 2, 9
"""Where a row has what is changed here."""


def joined_calls(records: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """One record of all. records: of each process what it is called, and its record; that which has stopped first.

    The state is that of the first, or that it is still recorded.
    """
    functions: list[Mapping[str, Any]] = []
    numbers: dict[tuple[str, str, int], int] = {}
    rows: list[list[Any]] = []
    first = records[0][1]
    places: Counter[tuple[Any, ...]] = (
        Counter()
    )  # of functions; two lambdas of one line have the same
    for name, record in records:
        own: list[int] = []
        for function in record["functions"]:
            key = function["path"], function["name"], function["line"]
            if key not in numbers:
                numbers[key] = len(functions)
                functions.append(function)
            own.append(numbers[key])
        places |= Counter(map(tuple, record["places"]))
        if record["rows"] and record["rows"][0][_FUNCTION] >= 0:
            rows.append(_row_of_process(name))
        rows += [_renumbered(row, own, name) for row in record["rows"]]
    states = [record["state"] for _, record in records]
    complaints = [record["complaint"] for _, record in records if record["complaint"]]
    return {
        **first,
        "state": "recording" if first["state"] == "ended" and "recording" in states else states[0],
        "complaint": complaints[0] if complaints else None,
        "calls": sum(record["calls"] for _, record in records),
        "known": places.total(),
        "rows": rows,
        "functions": functions,
    }


def _renumbered(row: Sequence[Any], own: Sequence[int], name: str) -> list[Any]:
    """own: the common numbers of this process's functions. name: of the process, for its threads."""
    made = list(row)
    if row[_FUNCTION] < 0:
        thread = row[_ARGUMENTS][0]
        made[_ARGUMENTS] = [f"{name}, {thread}" if thread else name]
    else:
        made[_FUNCTION] = own[row[_FUNCTION]]
    made[_GONE] = [(own[function], count) for function, count in row[_GONE]]
    return made


def _row_of_process(name: str) -> list[Any]:
    """What the calls of its only thread stand below."""
    return [-1, -1, [name], 0, "", 0, 1, 0, [], [], 0]
