"""The text of who wrote a value, from its facts alone."""

from __future__ import annotations

import pytest

from relay.models.history import NOT_DETERMINISTIC, History
from relay.operations.history.history_text import history_text

RECORD = "; relay start --record PLACE:EXPR takes no second run"


@pytest.mark.parametrize("said", ["ValueError: no such user", "ValueError: no such user."])
def test_what_the_program_said_last_may_end_as_a_sentence(said: str) -> None:
    found = History(
        expression="x", value="1", writes=[], complete=False, how="rerun", runs=2,
        reason=NOT_DETERMINISTIC, difference=f"the second run ended: {said}",
    )  # fmt: skip
    text = history_text(found, "/", 2000, record=RECORD)
    assert f"no such user{RECORD}" in text
    assert f"the second run ended: {said}" in history_text(found, "/", 2000)
