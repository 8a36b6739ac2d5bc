"""What a value contains: how many items of which kind, and a page of them, taken without a copy.

Knows containers by their family. Refuses to know attributes, which are in `attributes.py`.
"""

from __future__ import annotations

import collections
import itertools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.members import Member, key_name
    from relay.debuggers.debugpy.debuggee.probe.values.tables import (
        frame_column,
        row_pairs,
        series_item,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.text import Text
    from relay.debuggers.debugpy.debuggee.probe.values.types import Plan, lookup, plan_of


def dict_items(value: Any) -> Any:
    """Items of a dict or a subclass in its own order, whatever it overrides."""
    if any(base is collections.OrderedDict for base in plan_of(value).mro):
        return collections.OrderedDict.items(value)
    return dict.items(value)


def content_size(value: Any, plan: Plan) -> tuple[int, int]:
    """(named, indexed) children that are content, not attributes."""
    family = plan.family
    if family in ("sequence", "iterable"):
        return 0, attempt(_length, value, plan, default=0)
    if family == "mapping":
        return dict.__len__(value), 0
    if family == "namedtuple":
        return tuple.__len__(value), 0
    if family in ("proxy", "row"):
        return attempt(len, value, default=0), 0
    if family == "dataframe":
        return attempt(lambda: len(value.columns), default=0), 0
    if family == "ndarray":
        return 0, attempt(_ndarray_length, value, plan, default=0)
    if family in ("series", "index"):
        return 0, attempt(len, value, default=0)
    return 0, 0


def _length(value: Any, plan: Plan) -> int:
    try:
        return int(plan.base.__len__(value))
    except OverflowError:  # a range longer than any index
        step = value.step
        steps = (value.stop - value.start + step - (1 if step > 0 else -1)) // step
        return max(0, int(steps))


def _ndarray_length(value: Any, plan: Plan) -> int:
    shape = plan.base.shape.__get__(value)
    return int(shape[0]) if shape else 0


def content_page(value: Any, plan: Plan, start: int, stop: int) -> list[Member]:
    """The content's children from start to stop, taken at the value, not from a copy."""
    family = plan.family
    if family == "mapping":
        return [_pair(key, item) for key, item in _slice_dict(value, start, stop)]
    if family == "proxy":
        return [_pair(k, v) for k, v in itertools.islice(value.items(), start, stop)]
    if family == "namedtuple":
        names = lookup(plan.mro, "_fields")
        items = list(zip(names, tuple.__iter__(value)))[start:stop]  # noqa: B905
        return [Member(name, item, "." + name) for name, item in items]
    if family == "row":
        found = row_pairs(value)[start:stop]
        return [
            _pair(key, item)._replace(path=f"[{i}]") for i, (key, item) in enumerate(found, start)
        ]
    if family == "dataframe":
        return [_frame_column(*frame_column(value, plan, i)) for i in range(start, stop)]
    if family == "series":
        labelled = [(i, series_item(value, plan, i)) for i in range(start, stop)]
        return [Member(key_name(label), item, path, i) for i, (label, item, path) in labelled]
    if family == "iterable":
        items = list(itertools.islice(plan.base.__iter__(value), start, stop))
        path = plan.base is collections.deque
    else:
        items = [plan.base.__getitem__(value, index) for index in range(start, stop)]
        path = True
    return [
        Member(str(i), item, f"[{i}]" if path else None, i) for i, item in enumerate(items, start)
    ]


def _frame_column(name: Any, column: Any, path: str | None) -> Member:
    member = _pair(name, column)
    return member if path is None else member._replace(path=path)


def _slice_dict(value: Any, start: int, stop: int) -> list[tuple[Any, Any]]:
    size, items = dict.__len__(value), dict_items(value)
    if start <= size // 2:
        return list(itertools.islice(items, start, stop))
    stop = min(stop, size)
    return list(itertools.islice(reversed(items), size - stop, size - start))[::-1]


def _pair(key: Any, value: Any) -> Member:
    literal = type(key) in (str, int, bool, float, bytes, type(None))
    text = Text(200)
    name = text.of(key)
    is_exact = literal and len(name) <= 200 and not text.masked
    return Member(name, value, f"[{name}]" if is_exact else None, key)
