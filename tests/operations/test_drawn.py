"""Which digits in texts may be ids that are drawn by lot."""

from __future__ import annotations

import itertools

import pytest

from relay.operations.compare.drawn import PlacesOfIds, found_ids, without_ids


def places_of(text: str) -> PlacesOfIds:
    """Of a run that has this text only."""
    places = PlacesOfIds()
    if (found := found_ids(text)) is not None:
        places.note(found)
    return places


def compared(text: str, drawn: set[str]) -> str:
    found = found_ids(text)
    return without_ids(text, drawn) if found is not None and found.are_to_go(drawn) else text


@pytest.mark.parametrize(
    ("one", "other", "is_drawn"),
    [
        ("worker=1f2e3d4c5b6a7988", "worker=99aabbccddee0011", True),
        ("hash=-123456789012345678", "hash=-998877665544332211", True),
        (
            "at=Fraction(5437512345678901, 137438953472)",
            "at=Fraction(339844521604931, 8589934592)",
            True,
        ),
        ("at=Fraction(1, 137438953472)", "at=Fraction(3, 8589934592)", False),
        ("('127.0.0.1', 43211)", "('127.0.0.1', 51234)", True),
        ("total=1.68268155807e-59", "total=3.13682681558e-33", False),
        ("total=-1.6826815580767188e+16", "total=-1.3033399546736773e+16", False),
        ("total=0.123456789012345", "total=0.543219876543210", False),
        ("count=1234", "count=5678", False),
    ],
)
def test_only_what_may_be_an_id_is_drawn(one: str, other: str, is_drawn: bool) -> None:
    assert compared(one, set()) == one
    drawn = places_of(one).drawn(places_of(other))
    assert bool(drawn) is is_drawn
    assert ("<id>" in compared(one, drawn)) is is_drawn


@pytest.mark.parametrize(
    ("looks_otherwise", "one", "other"),
    [
        ("_hash=<time>", "_hash=-998877665544332211", "_hash=123456789012345678"),
        ("_hash=-<time>", "_hash=998877665544332211", "_hash=-123456789012345678"),
        ("node=<id>", "node=205554443332", "node=105554443332"),
        ("request_id=<time>, n=3", "request_id=17, n=3", "request_id=1234, n=3"),
        (
            "at=Fraction(<time>)",
            "at=Fraction(5437512345678901, 137438953472)",
            "at=Fraction(339844521604931, 8589934592)",
        ),
    ],
)
def test_a_drawn_number_that_looks_like_a_moment_or_an_address_is_an_id(
    looks_otherwise: str, one: str, other: str
) -> None:
    for pair in itertools.combinations((looks_otherwise, one, other), 2):
        drawn = places_of(pair[0]).drawn(places_of(pair[1]))
        shown = {compared(text, drawn) for text in (looks_otherwise, *pair)}
        assert len(shown) == 1, (pair, shown)
