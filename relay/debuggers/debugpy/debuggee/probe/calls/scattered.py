"""Addresses that are others than those of a run before, for a run that shows what depends on them.

A set of objects that are hashed by their addresses, such as classes, has the order of these. The same
command allocates the same: so it has the same order in most runs, and another one as soon as an argument
is longer. Where the memory has gaps by lot, the order is by lot, too.
"""

from __future__ import annotations

from typing import Any

_POOLED = tuple(range(0, 480, 16))  # bytes, of the sizes that Python has pools for
_LARGEST = 4096  # bytes, to which the others are allocated: those of classes are among them
_OF_EACH_SIZE = 200
_OF_LARGEST = 1000
MULTIPLIER, INCREMENT, STATE_MASK = 6364136223846793005, 1442695040888963407, (1 << 64) - 1
"""Of a sequence by lot: each state is `state * MULTIPLIER + INCREMENT`, of which the upper half is drawn."""

_between_gaps: list[Any] = []


def scatter_addresses(seed: int) -> None:
    """Have objects that are made from now on lie where only another run with this seed has them."""
    state = seed & STATE_MASK

    def draw(bound: int) -> int:
        nonlocal state
        state = (state * MULTIPLIER + INCREMENT) & STATE_MASK
        return (state >> 33) % bound

    draw(2)  # the first ones of seeds that are near are near
    blocks = [bytes(size + 1) for size in _POOLED for _ in range(draw(_OF_EACH_SIZE) + 9)]
    blocks += [bytes(480 + draw(_LARGEST)) for _ in range(_OF_LARGEST)]
    for place in range(len(blocks) - 1, 0, -1):
        other = draw(place + 1)
        blocks[place], blocks[other] = blocks[other], blocks[place]
    _between_gaps[:] = blocks[::2]
    while blocks:  # one by one: the gap that was made last is filled first
        blocks.pop()


def gather_addresses() -> None:
    """The memory is the program's again."""
    _between_gaps.clear()
