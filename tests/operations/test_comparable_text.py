"""What two runs have printed alike, wherever each of them ran."""

from __future__ import annotations

from relay.operations.compare.comparable_text import comparable_output
from relay.operations.compare.moments import Moments

MOMENTS = Moments(0, 0)


def printed(text: str, cwd: str) -> str:
    return comparable_output(text, (cwd,), MOMENTS, cwd)


def test_a_library_is_the_same_file_from_wherever_pytest_names_it() -> None:
    lines = [
        printed("../v/lib/python3.12/site-packages/yaml/a.py:1\n", "/home/me/project"),
        printed("../../home/me/v/lib/python3.12/site-packages/yaml/a.py:1\n", "/srv/tree"),
    ]
    assert lines == ["/home/me/v/lib/python3.12/site-packages/yaml/a.py:1\n"] * 2


def test_another_path_is_what_the_program_has_printed() -> None:
    for text in ("../data/prices.csv\n", "see ../.. or ../a/lib\n", "../lib/python-docs/x\n"):
        assert printed(text, "/home/me/project") == printed(text, "/srv/tree") == text
