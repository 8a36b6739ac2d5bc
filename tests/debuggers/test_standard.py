"""StandardDebugger: templates of launch arguments, exception filters, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay.debuggers.known import known_debuggers
from relay.debuggers.perl import PERL
from relay.debuggers.standard.adapter import filled
from relay.debuggers.standard.debugger import StandardDebugger
from relay.errors import NotSupported
from relay.models.adapters import OWN_ADAPTERS
from relay.session.debugger import Ability

KNOWN = known_debuggers({})
PAGES = Path(__file__).parents[2] / "docs/how-to"
VALUES = {"program": "/a/b.go", "args": ["x", 1], "stop_on_entry": True, "env": {"A": "{args}"}}


def test_a_placeholder_alone_is_the_value_itself_and_within_a_text_its_spelling() -> None:
    template = {
        "program": "{program}",
        "deep": [{"args": "{args}", "stop": "{stop_on_entry}"}],
        "name": "Debug {program}!",
        "mode": "exec",
        "port": 3,
        "unknown": "{other}",
    }
    assert filled(template, VALUES) == {
        "program": "/a/b.go",
        "deep": [{"args": ["x", 1], "stop": True}],
        "name": "Debug /a/b.go!",
        "mode": "exec",
        "port": 3,
        "unknown": "{other}",
    }


def test_a_value_is_not_taken_for_a_template() -> None:
    assert filled({"env": "{env}"}, VALUES) == {"env": {"A": "{args}"}}
    values = {"program": "/{args}/{cwd}", "cwd": "/x", "args": "no"}
    assert filled("{program}", values) == "/{args}/{cwd}"
    assert filled("{cwd}: {program} {{args}}", values) == "/x: /{args}/{cwd} {no}"


TARGET = {
    "pid": None,
    "host": "h",
    "port": 5,
    "path_mappings": None,
    "path_mapping": {"/here": "/there"},
}
BY_PID = {**TARGET, "pid": 4, "host": None, "port": None}


def test_what_an_attach_does_not_say_is_left_out() -> None:
    template = {
        "connect": {"host": "{host}", "port": "{port}"},
        "processId": "{pid}",
        "mappings": "{path_mappings}",
        "stop": False,
    }
    both = StandardDebugger(name="both", attach_template=template)
    assert both.attach_arguments(TARGET) == {"connect": {"host": "h", "port": 5}, "stop": False}
    assert both.attach_arguments(BY_PID) == {"processId": 4, "stop": False}
    assert PERL.attach_arguments(TARGET) == {
        "host": "h",
        "port": 5,
        "pathMapping": {"/here": "/there"},
    }


def test_an_attach_that_the_template_has_no_place_for_is_refused() -> None:
    with pytest.raises(NotSupported, match="the perl adapter cannot attach by a process id"):
        PERL.attach_arguments(BY_PID)
    with pytest.raises(NotSupported, match="cannot attach by host and port"):
        StandardDebugger(name="x", attach_template={"pid": "{pid}"}).attach_arguments(TARGET)
    with pytest.raises(NotSupported, match="launch it"):
        StandardDebugger(name="bare").attach_arguments(TARGET)


def test_filters_are_translated_and_named_once() -> None:
    assert PERL.exception_filters(("uncaught", "userUnhandled")) == ["uncaught"]
    assert PERL.exception_filters(("raised", "uncaught")) == ["caught", "uncaught"]
    assert StandardDebugger(name="bare").exception_filters(("raised",)) == []


@pytest.mark.parametrize(
    ("program", "name"),
    [("a.pl", "perl"), ("/t/x.t", "perl"), ("a.py", "python"), ("a", "python"), ("pl", "python")],
)
def test_a_program_is_known_by_how_its_name_ends(program: str, name: str) -> None:
    assert KNOWN.for_program(program).name == name


def test_a_link_without_an_end_suits_what_it_leads_to(tmp_path: Path) -> None:
    link = tmp_path / "prove"
    link.symlink_to(tmp_path / "prove.pl")
    assert KNOWN.for_program(str(link)).name == "perl"
    assert KNOWN.for_program(str(tmp_path / "nothing")).name == "python"


@pytest.mark.parametrize(
    ("first", "name"),
    [
        ("#!/usr/bin/perl -w", "perl"),
        ("#! /usr/bin/env perl", "perl"),
        ("#!/usr/bin/env -S perl5.36 -T", "perl"),
        ("#!/usr/bin/env python3", "python"),
        ("#!/bin/sh", "python"),
        ("#!/opt/perl/bin/tool", "python"),
        ("# perl", "python"),
        ("", "python"),
    ],
)
def test_a_program_whose_name_says_nothing_is_known_by_its_first_line(
    tmp_path: Path, first: str, name: str
) -> None:
    for script in ("tool", "tool.cgi"):
        (tmp_path / script).write_text(f"{first}\nprint 1\n")
        assert KNOWN.for_program(str(tmp_path / script)).name == name
    (tmp_path / "tool.py").write_text(f"{first}\n")
    assert KNOWN.for_program(str(tmp_path / "tool.py")).name == "python"


def test_what_an_adapter_cannot_do_is_refused_by_name() -> None:
    KNOWN.default.require(Ability.TRACE, "trace a call")
    with pytest.raises(NotSupported, match="the perl adapter cannot trace a call"):
        PERL.require(Ability.TRACE, "trace a call")


def test_every_ability_that_an_adapter_may_lack_is_documented() -> None:
    text = "".join((PAGES / f"{name}.md").read_text() for name in ("perl", "other-debuggers"))
    assert [ability for ability in Ability if f"| `{ability}` |" not in text] == []
    assert KNOWN.names == list(OWN_ADAPTERS) == ["python", "perl"]
