"""Chance that several runs have in common: generators of random numbers which the program gives no seed.

`random.Random()` and what numpy makes without a seed begin with numbers of one sequence, in the place of
the system's; hypothesis remembers the examples that it is given. What asks the system itself (`os.urandom`,
`secrets`, `uuid4`) gets what it gets alone.
"""

from __future__ import annotations

import ast
import linecache
import os
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.calls.scattered import (
        INCREMENT,
        MULTIPLIER,
        STATE_MASK,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.imports import when_imported
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt

_MOST_GENERATORS = 10_000
_STAND_IN = "what gives a seed"  # in a source, where an object cannot stand


class _Chance:
    """The sequence, while there is one."""

    def __init__(self) -> None:
        self.state: int | None = None
        self.anew: int | None = None  # the number of the call from which on the numbers are others
        self.process = 0  # that has it
        self.is_drawn = False
        # The generator behind the functions of `random`, and what it began with.
        self.shared: Any = None
        # Generators that were given such a seed, by their ids, weakly.
        self.begun: dict[int, Any] = {}
        # Seeds the generator of numpy's functions, as long as the program has not.
        self.seed_numpy: Any = None
        self.put_back: list[Callable[[], None]] = []

    def bits(self, count: int) -> int:
        """The next number, of so many bits."""
        self.is_drawn = True
        found = 0
        for _ in range(-(-count // 32)):
            self.state = ((self.state or 0) * MULTIPLIER + INCREMENT) & STATE_MASK
            found = found << 32 | self.state >> 32
        return found & ((1 << count) - 1)

    def is_here(self) -> bool:
        """Whether there is a sequence, and this is no forked child: all of them would have the same numbers."""
        return self.state is not None and os.getpid() == self.process

    def given(self, generator: Any, seed: Any) -> Any:
        """The seed of a generator that is given this one."""
        if seed is not None or not self.is_here():
            self.begun.pop(id(generator), None)
            return seed
        if len(self.begun) < _MOST_GENERATORS:
            self.begun[id(generator)] = weakref.ref(generator)
        return self.bits(64)


_chance = _Chance()


def share_chance(examples: str, anew: int | None = None) -> None:
    """Have generators that are made from now on begin as in every run.

    examples: the directory in which hypothesis finds what failed before, and notes what fails. anew: the number
    of the call from whose beginning on they draw other numbers than those of every other run.
    """
    _chance.state, _chance.anew, _chance.process = INCREMENT, anew, os.getpid()
    _chance.shared, _chance.is_drawn = None, False
    when_imported("random", _share_random)
    when_imported("numpy.random.bit_generator", _share_numpy)
    when_imported("numpy.random", _note_seeds_of_numpy)
    when_imported("hypothesis.configuration", lambda m: m.set_hypothesis_home_dir(examples))


def has_drawn() -> bool:
    """Whether the program has had such numbers, or may have had: a generator was made, or the shared one went on."""
    if _chance.shared is not None:
        generator, begun = _chance.shared
        _chance.is_drawn = _chance.is_drawn or generator.getstate() != begun
    return _chance.is_drawn


def at_call(number: int) -> None:
    """The call with this number begins."""
    if number == _chance.anew and _chance.is_here():
        _draw_anew()


def _draw_anew() -> None:
    _chance.state = STATE_MASK ^ (_chance.state or 0)
    for generator in [found() for found in list(_chance.begun.values())]:
        if generator is not None:
            attempt(generator.seed)
    if _chance.seed_numpy is not None:
        attempt(_chance.seed_numpy, _chance.bits(32))


def give_back_chance() -> None:
    """New generators begin as the system has it."""
    if _chance.state is None:
        return
    has_drawn()
    _chance.state = _chance.shared = _chance.seed_numpy = None
    _chance.begun.clear()
    while _chance.put_back:
        _chance.put_back.pop()()


def _share_random(module: Any) -> None:
    """The function stays the one that it is, with its name, signature and source, and calls no other frame."""
    if _chance.state is None:
        return
    function = module.Random.seed
    own = function.__code__
    function.__code__ = _begun_with_a_seed(function)
    _chance.put_back.append(lambda: setattr(function, "__code__", own))
    shared, is_drawn = module._inst, _chance.is_drawn
    shared.seed()
    _chance.is_drawn, _chance.shared = is_drawn, (shared, shared.getstate())


def _begun_with_a_seed(function: Any) -> Any:
    """The code of `Random.seed` with a statement before its first: who gives it no seed gives it the next number.

    Made of its source in the class, as it names that by `super()`.
    """
    own = function.__code__
    tree = ast.parse("".join(linecache.getlines(own.co_filename, function.__globals__)))
    owner, defined = next(
        (owner, each)
        for owner in ast.walk(tree)
        if isinstance(owner, ast.ClassDef)
        for each in owner.body
        if isinstance(each, ast.FunctionDef) and each.lineno == own.co_firstlineno
    )
    generator, given = own.co_varnames[:2]
    first = ast.parse(f"{given} = {_STAND_IN!r}.given({generator}, {given})").body[0]
    for node in ast.walk(first):
        ast.copy_location(node, defined.body[-1])
    defined.body.insert(1 if ast.get_docstring(defined) is not None else 0, first)
    owner.body, owner.decorator_list = [defined], []
    made = compile(ast.Module([owner], []), own.co_filename, "exec", 0, True)
    for name in (owner.name, defined.name):
        made = next(
            each for each in made.co_consts if type(each) is type(own) and each.co_name == name
        )
    constants = tuple(_chance if each == _STAND_IN else each for each in made.co_consts)
    return made.replace(co_consts=constants)


def _share_numpy(module: Any) -> None:
    if _chance.state is None:
        return
    own = module.randbits

    def randbits(k: int) -> int:
        return _chance.bits(k) if _chance.is_here() else own(k)

    module.randbits = randbits
    _chance.put_back.append(lambda: setattr(module, "randbits", own))


def _note_seeds_of_numpy(module: Any) -> None:
    if _chance.state is None:
        return
    own = _chance.seed_numpy = module.seed

    def seed(*seeds: Any, **named: Any) -> None:
        _chance.seed_numpy = None
        own(*seeds, **named)

    seed.__doc__ = own.__doc__
    module.seed = seed
    _chance.put_back.append(lambda: setattr(module, "seed", own))
