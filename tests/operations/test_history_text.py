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


LIBRARY = "/opt/v/lib/python3.12/site-packages/_pytest/python.py"


@pytest.mark.parametrize(
    ("callers", "shown"),
    [
        ([("test_a", "t.py", 3), *[("call", LIBRARY, n) for n in range(16)]], "t.py:3 in test_a < (16 library frames)"),
        ([("cb", "a.py", 1), ("run", LIBRARY, 2), ("go", "a.py", 3)], ":1 in cb < (1 library frame) < :3 in go"),
        ([(f"f{n}", "a.py", n) for n in range(5)], ":0 in f0 < :1 in f1 < :2 in f2 < … 2 more"),
        ([("run", "<frozen runpy>", 88), ("exec", LIBRARY, 2)], "(2 library frames)"),
    ],
)  # fmt: skip
def test_callers_of_libraries_are_counted(callers: list[tuple[str, str, int]], shown: str) -> None:
    root = "/home/me/shop"
    frames = [
        {"function": function, "path": path if path[0] in "/<" else f"{root}/{path}", "line": line}
        for function, path, line in [("put", "a.py", 7), *callers]
    ]
    write = {"old": None, "new": "1", "location": frames[0] | {"column": 0}, "function": "put"}
    found = History.model_validate({
        "expression": "x", "value": "1", "complete": True, "how": "rerun", "runs": 2,
        "writes": [write | {"stack": frames}],
    })  # fmt: skip
    assert history_text(found, root, 2000).splitlines()[2] == f"      from {shown}"


def test_of_a_write_by_a_library_the_line_that_had_it_written_is_told() -> None:
    frames = [
        {"function": "setter", "path": LIBRARY, "line": 110},
        {"function": "__setattr__", "path": LIBRARY, "line": 9},
        {"function": "fill", "path": "/shop/a.py", "line": 3, "source": "self.total = 3"},
        {"function": "main", "path": "/shop/a.py", "line": 8},
    ]
    write = {
        "old": None, "new": "3", "location": frames[0] | {"column": 0}, "function": "setter",
        "source": "model.__dict__[name] = val", "stack": frames,
    }  # fmt: skip
    found = History.model_validate({
        "expression": "x", "value": "3", "complete": True, "how": "rerun", "runs": 2, "writes": [write],
    })  # fmt: skip
    assert history_text(found, "/shop", 2000).splitlines()[1:] == [
        "  (none) -> 3  _pytest/python.py:110 in setter: model.__dict__[name] = val",
        "      for a.py:3 in fill: self.total = 3",
        "      from :8 in main",
    ]


def test_writes_without_room_are_counted_with_how_to_see_them() -> None:
    def write(number: int) -> dict[str, object]:
        frame = {"function": "put", "path": "/shop/a.py", "line": number}
        return {
            "old": str(number - 1), "new": str(number), "location": frame | {"column": 0},
            "function": "put", "stack": [frame],
        }  # fmt: skip

    found = History.model_validate({
        "expression": "x", "value": "9", "complete": True, "how": "rerun", "runs": 2,
        "writes": [write(number) for number in range(9, 0, -1)],
    })  # fmt: skip
    text = history_text(found, "/shop", 200, more=": raise --max-chars")
    *_, last = text.splitlines()
    shown = text.count(" -> ")
    assert len(text.encode()) <= 200
    assert last == f"… {9 - shown} more writes: raise --max-chars"
    assert "more write" not in history_text(found, "/shop", 2000, more=": raise --max-chars")
