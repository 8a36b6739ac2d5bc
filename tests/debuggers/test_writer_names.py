"""Which code may give away the dict of an object: then any dict may be what holds its attributes.

A program that only reads there, as the asserts that pytest rewrites do, is recorded at less cost.
"""

from __future__ import annotations

import dis
from typing import Any

import pytest

from relay.debuggers.debugpy.debuggee.probe import entry as _entry

probe: Any = _entry

READS = (
    "vars(o).items()",
    "vars(o)",
    "for name in vars(o): pass",
    "for name in o.__dict__: pass",
    "'a' in locals()",
    "'a' not in o.inner.__dict__",
    "assert 'a' in __import__('builtins').locals(), name",
    "o.__dict__[name]",
    "o.__dict__['a'] = 1",
    "del vars(o)['a']",
    "globals()['a'] = globals()['b']",
)
GIVES_AWAY = (
    "d = vars(o)",
    "fill(o.__dict__)",
    "fill(globals())",
    "vars(o) in seen",
    "vars(o) == other",
    "name in [vars(o)]",
    "d = vars(o.inner(name).more)",
    "d = vars(o[name])",
    "d = vars(make(name)[name])",
    "look = vars; d = look(o)",
    "kept[name] = o.__dict__",
    "'a' in fill(locals())",
    "f(**vars(o))(vars(o))",
)


@pytest.mark.parametrize("source", READS)
def test_what_is_only_read_is_not_given_away(source: str) -> None:
    assert not gives_away(source)


@pytest.mark.parametrize("source", GIVES_AWAY)
def test_what_other_code_may_have_then_is_given_away(source: str) -> None:
    assert gives_away(source)


def gives_away(source: str) -> object:
    function = f"def function(o, name, fill, seen, kept):\n    {source}\n"
    for code in (compile(source, "<code>", "exec"), code_of_function(function)):
        found = list(dis.get_instructions(code))
        outcome = probe.hands_on_namespace(found)
    return outcome


def code_of_function(source: str) -> Any:
    module = compile(source, "<code>", "exec")
    return next(one for one in module.co_consts if hasattr(one, "co_code"))
