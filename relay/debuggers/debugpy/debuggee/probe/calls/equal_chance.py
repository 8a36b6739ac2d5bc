"""Chance that several runs have in common: generators of random numbers which the program gives no seed.

`random.Random()` and what numpy makes without a seed begin with numbers of one sequence, in the place of
the system's; hypothesis remembers the examples that it is given. What asks the system itself (`os.urandom`,
`secrets`, `uuid4`) gets what it gets alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.calls.scattered import (
        INCREMENT,
        MULTIPLIER,
        STATE_MASK,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.imports import when_imported


class _Chance:
    """The sequence, while there is one."""

    def __init__(self) -> None:
        self.state: int | None = None
        self.is_drawn = False
        self.shared: Any = (
            None  # the generator behind the functions of `random`, with what it began with
        )
        self.put_back: list[Callable[[], None]] = []

    def bits(self, count: int) -> int:
        """The next number, of so many bits."""
        self.is_drawn = True
        found = 0
        for _ in range(-(-count // 32)):
            self.state = ((self.state or 0) * MULTIPLIER + INCREMENT) & STATE_MASK
            found = found << 32 | self.state >> 32
        return found & ((1 << count) - 1)


_chance = _Chance()


def share_chance(seed: int, examples: str) -> None:
    """Have generators that are made from now on begin as in every run with this seed.

    examples: the directory in which hypothesis finds what failed before, and notes what fails.
    """
    _chance.state, _chance.shared = seed, None
    _chance.bits(64)  # the first ones of seeds that are near are near
    _chance.is_drawn = False
    when_imported("random", _share_random)
    when_imported("numpy.random.bit_generator", _share_numpy)
    when_imported("hypothesis.configuration", lambda m: m.set_hypothesis_home_dir(examples))


def has_drawn() -> bool:
    """Whether the program has had such numbers, or may have had: a generator was made, or the shared one went on."""
    if _chance.shared is not None:
        generator, begun = _chance.shared
        _chance.is_drawn = _chance.is_drawn or generator.getstate() != begun
    return _chance.is_drawn


def give_back_chance() -> None:
    """New generators begin as the system has it."""
    if _chance.state is None:
        return
    has_drawn()
    _chance.state = _chance.shared = None
    while _chance.put_back:
        _chance.put_back.pop()()


def _share_random(module: Any) -> None:
    if _chance.state is None:
        return
    own: Any = module.Random.seed

    def seed(self: Any, a: Any = None, *more: Any, **named: Any) -> Any:
        if a is None and _chance.state is not None:
            a = _chance.bits(64)
        return own(self, a, *more, **named)

    seed.__doc__, seed.__qualname__ = own.__doc__, own.__qualname__
    shared, before = module._inst, module.seed
    module.Random.seed = seed
    _chance.put_back.append(lambda: setattr(module.Random, "seed", own))
    is_drawn, now = _chance.is_drawn, shared.seed
    now()
    _chance.is_drawn, _chance.shared = is_drawn, (shared, shared.getstate())
    if getattr(before, "__self__", None) is shared:
        module.seed = now
        _chance.put_back.append(lambda: setattr(module, "seed", before))


def _share_numpy(module: Any) -> None:
    if _chance.state is None:
        return
    own = module.randbits

    def randbits(k: int) -> int:
        return own(k) if _chance.state is None else _chance.bits(k)

    module.randbits = randbits
    _chance.put_back.append(lambda: setattr(module, "randbits", own))
