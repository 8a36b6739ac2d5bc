"""The tap: every byte, in order, and no more takes than there are turns between the streams."""

from __future__ import annotations

from relay.process.tap import Piece, Tap


async def test_what_waits_of_one_stream_is_taken_together() -> None:
    """A test runner prints a dot at a time; to pass on each by itself costs more than the test."""
    tap = Tap()
    for category, data in (("stdout", b"."), ("stdout", b"."), ("stderr", b"!"), ("stdout", b"F")):
        tap.put(category, data)
    assert await tap.take() == Piece("stdout", b"..")
    assert await tap.take() == Piece("stderr", b"!")
    tap.put("stdout", b".")
    assert await tap.take() == Piece("stdout", b"F.")
    tap.close()
    assert await tap.take() is None
    await tap.dealt_with()
