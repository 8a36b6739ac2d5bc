"""Perl programs, under the relay's own debug adapter (`relay perl-adapter`)."""

from __future__ import annotations

import sys

from relay.debuggers.standard.debugger import RAISED, UNCAUGHT, StandardDebugger
from relay.models.adapters import LAUNCH
from relay.perl.refusals import SIDE_EFFECTS, SYNTAX, UNREACHED
from relay.session.debugger import Ability

PERL = StandardDebugger(
    name="perl",
    languages=("Perl",),
    suffixes=(".pl", ".pm", ".t"),
    abilities=frozenset({Ability.ATTACH, Ability.FUNCTION_BREAKPOINTS, Ability.STDIN}),
    types={"array": "array", "hash": "map"},
    scalars=frozenset({"scalar"}),
    launch_template={**LAUNCH, "awaitCompilation": True},
    syntax_error=SYNTAX,
    unreached_error=UNREACHED,
    changing_error=SIDE_EFFECTS,
    command=(sys.executable, "-m", "relay.perl"),
    attach_template={"host": "{host}", "port": "{port}", "pathMapping": "{path_mapping}"},
    filters={RAISED: ("caught", "uncaught"), UNCAUGHT: ("uncaught",)},
    stdin_request="stdin",
)
