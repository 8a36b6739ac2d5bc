"""The tap: every byte, in order, and no more takes than there are turns between the streams."""

from __future__ import annotations

import trio

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


async def test_what_was_put_so_far_is_dealt_with_though_more_comes_without_an_end() -> None:
    """Else a program that prints for ever would never be told of, nor ended at its time."""
    tap = Tap()
    tap.put("stdout", b".")
    async with trio.open_nursery() as nursery:

        async def pass_on() -> None:
            while await tap.take():
                tap.put("stdout", b".")
                await trio.lowlevel.checkpoint()

        nursery.start_soon(pass_on)
        with trio.fail_after(10):
            await tap.dealt_with()
        nursery.cancel_scope.cancel()
