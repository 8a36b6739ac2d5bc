"""Names that are unknown, and what may have been meant."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from relay.models.complaints import complaints, unknown
from relay.models.creating import CreateSession
from relay.models.ending import RestartRequest
from relay.models.launch import LaunchRequest


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


def test_one_that_a_name_goes_on_from_is_meant_before_one_with_an_equal_word() -> None:
    assert "did you mean 'python'?" in unknown("python_path", ["args", "python", "python_args"])
    assert "did you mean 'python_args'?" in unknown("python_arg", ["python", "python_args"])


@pytest.mark.parametrize("name", ["python_path", "python", "interpreter"])
def test_the_interpreter_is_found_where_it_belongs(name: str) -> None:
    meant = "did you mean 'python_path' of the session, as POST /sessions has it?"
    for model, given, field in (
        (LaunchRequest, {"script": "app.py", name: "python3"}, name),
        (RestartRequest, {name: "python3"}, name),
        (CreateSession, {"launch": {"script": "app.py", name: "python3"}}, f"launch.{name}"),
    ):
        with pytest.raises(ValidationError) as refused:
            model.model_validate(given)
        (found,) = complaints(refused.value, model, given)
        assert (found["field"], meant in found["message"]) == (field, True)


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
