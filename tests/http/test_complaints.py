"""Names that are unknown, and what may have been meant."""

from __future__ import annotations

import pytest

from relay.faces.common.complaints import unknown


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("nmae", "name", True),
        ("sesion", "session", True),
        ("session_id", "session", True),
        ("python", "python_args", True),
        ("timout", "timeout", True),
        ("maxChars", "max_chars", True),
        ("lines", "line", True),
        ("stop-on-entry", "stop_on_entry", True),
        ("expression", "session", False),
        ("value", "function", False),
        ("frame", "name", False),
        ("path", "wait", False),
        ("id", "wait", False),
    ],
)
def test_a_name_is_suggested_only_where_it_may_be_meant(name: str, known: str, meant: bool) -> None:
    said = unknown(name, [known])
    assert ("did you mean" in said) == meant
    assert said.endswith(f"(known: {known})")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("debug_step", None),
        ("debug_evaluate", "debug_eval"),
        ("debug_breakpoint", "debug_breakpoints"),
    ],
)
def test_a_word_that_all_names_have_makes_none_of_them_likely(name: str, meant: str | None) -> None:
    said = unknown(name, ("debug_run", "debug_eval", "debug_trace", "debug_breakpoints"))
    guess = f"; did you mean {meant!r}?" if meant else ""
    assert said.partition(" (known")[0] == f"is unknown{guess}"
