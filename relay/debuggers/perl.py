"""Perl programs, under the relay's own debug adapter (`relay perl-adapter`)."""

from __future__ import annotations

import sys

from relay.debuggers import Ability
from relay.debuggers.standard.adapter import RAISED, UNCAUGHT, StandardAdapter

PERL = StandardAdapter(
    name="perl",
    languages=("Perl",),
    suffixes=(".pl", ".pm", ".t"),
    can=frozenset({Ability.ATTACH, Ability.FUNCTION_BREAKPOINTS, Ability.STDIN}),
    types={"array": "array", "hash": "map"},
    scalars=frozenset({"scalar"}),
    command=(sys.executable, "-m", "relay.perl"),
    attach={"host": "{host}", "port": "{port}", "pathMapping": "{path_mapping}"},
    filters={RAISED: ("caught", "uncaught"), UNCAUGHT: ("uncaught",)},
    stdin_request="stdin",
)
