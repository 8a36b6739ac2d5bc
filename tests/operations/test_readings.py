"""Which recorded runs are read anew: those of which a text may have the number of a later run's process."""

from __future__ import annotations

import json
import mmap
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relay.operations.compare.moments import WHOLE
from relay.operations.compare.readings import may_have_id

PID = "13364"


def has_id(texts: list[str], path: Path, *, is_ascii: bool = True) -> bool:
    """Whether any of the texts may have it, each in a line as of a call with that number."""
    lines = [json.dumps([int(PID), one, int(PID)], ensure_ascii=is_ascii) for one in texts]
    path.write_text("".join(f"{one}\n" for one in lines))
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
        return may_have_id(data, PID.encode())


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("13364", True),
        ("pid=13364,", True),
        ("at\n13364\n", True),
        ("ends with 13364.", True),
        ('"quoted" \\ 13364', True),
        ("\a.13364", True),
        ("133640", False),
        ("0.7133641", False),
        ("1.13364", False),
        ("13364.5", False),
        ("x13364", False),
        ("Fraction(7913364123, 4096)", False),
        ("", False),
    ],
)
def test_a_number_is_an_id_where_it_is_no_part_of_a_longer_one(
    text: str, may: bool, tmp_path: Path
) -> None:
    assert has_id(["one", text], tmp_path / "run.jsonl") is may


PIECES = st.one_of(st.text(max_size=4), st.sampled_from([PID, ".", "1.", '"', "\\", "\n", "\\n"]))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(PIECES, max_size=8), st.booleans())
def test_none_that_is_compared_as_an_id_is_missed(
    tmp_path: Path, pieces: list[str], is_ascii: bool
) -> None:
    text = "".join(pieces)
    if re.search(rf"{WHOLE}{PID}\b(?!\.\d)", text):
        assert has_id([text], tmp_path / "run.jsonl", is_ascii=is_ascii)
