"""Hit conditions of breakpoints: how they are written, whatever counts the hits."""

from __future__ import annotations

import re

HIT_CONDITION_FORMS = "N, == N, > N, >= N, < N, <= N, % N, where N is a positive whole number"

_HIT_CONDITION = re.compile(r"\s*(==|>=|<=|>|<|%|)\s*([0-9]{1,18})\s*")


def check_hit_condition(text: str) -> str | None:
    """What is wrong with a hit condition, or None."""
    try:
        canonical_hit_condition(text)
    except ValueError as error:
        return str(error)
    return None


def canonical_hit_condition(text: str) -> str:
    """A hit condition as operator, then number, nothing between.

    Raises ValueError, with a message that lists the forms, for anything else.
    """
    match = _HIT_CONDITION.fullmatch(text)
    if match is None or int(match[2]) == 0:
        raise ValueError(f"{text[:80]!r} is no hit condition; the forms are {HIT_CONDITION_FORMS}")
    # Through int: "05" is no number to every evaluator.
    return f"{match[1] or '=='}{int(match[2])}"
