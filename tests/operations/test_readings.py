"""Which recorded runs are read anew: those of which a text may have the number of a later run's process."""

from __future__ import annotations

import json
import mmap
import re
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relay.operations.compare import readings
from relay.operations.compare.moments import WHOLE
from relay.operations.compare.readings import Readings, may_have_id
from relay.operations.compare.stream_reader import read_run

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


@pytest.mark.parametrize(("said", "count"), [("4711 apples", 2), ("some apples", 1)])
def test_a_number_counts_as_an_id_if_the_run_of_that_process_has_it(
    said: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a large run is read anew because it has that number by coincidence."""
    side: Any = SimpleNamespace(
        name="1", root="/one", roots=("/one",), libraries=(), script=None, env={}
    )

    def run(number: int, pid: int, text: str) -> Any:
        stream = tmp_path / f"{number}.jsonl"
        stream.write_text(
            f'[0,1,"f","f.py",1,["a"],0,0]\n[1,0,1,1,["{text}"],1,"None",0,0,[],[],1]\n'
        )
        return SimpleNamespace(
            pid=pid,
            stream=stream,
            side=side,
            began=time.time(),
            draws_alike=True,
            until=None,
            is_cut=False,
        )

    first, second = run(1, 3000, "4711 pears"), run(2, 4711, said)
    read: list[Path] = []

    def note(stream: Path, *given: Any, **named: Any) -> Any:
        read.append(stream)
        return read_run(stream, *given, **named)

    monkeypatch.setattr(readings, "read_run", note)
    runs = Readings(str, (side, side))
    runs.read(first)
    runs.read(first, second)
    assert read.count(first.stream) == count
