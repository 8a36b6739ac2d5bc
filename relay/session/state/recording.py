"""Recording: one question to every process of a run, of one call or of a tree of calls.

Knows with what it is begun, where it was, and what those gave that ended. Refuses to know what is recorded,
and how a process is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class LastWords(NamedTuple):
    """What a process gave as it ended: it has taken its own record with it."""

    process: Mapping[str, Any]
    """As clients see it."""
    record: Mapping[str, Any]
    is_final: bool = True
    """False if it may have gone on for a while: it was asked as a signal came that it handles."""


class Recording:
    """Read its fields; its methods change them. Processes go by their numbers within the session."""

    # Invariant: who has last words has begun it.

    def __init__(self) -> None:
        self.wanted: Mapping[str, Any] | None = None
        """What the inspector takes to begin it; None if a process that joins is to begin none."""
        self.was_begun = False
        """In this run, in whatever process."""
        self.begun_in: dict[int, Mapping[str, Any]] = {}
        """The processes that were asked, as clients see them."""
        self.last_words: dict[int, LastWords] = {}
        self.is_held = False
        """Whether a stop has come since it was asked: what resumes the program ends it then, unless it asks again."""

    def begin(self, wanted: Mapping[str, Any] | None) -> None:
        """It is asked, in place of any before; of those that join, too, if there is something to begin it with."""
        self.wanted, self.was_begun, self.is_held = wanted, True, False
        self.begun_in.clear()
        self.last_words.clear()

    def ask_again(self) -> None:
        """The same is asked where it was under way: it goes on there."""
        self.is_held = False

    def begun(self, number: int, process: Mapping[str, Any]) -> None:
        """This process records, anew if it has done so before."""
        self.begun_in[number] = process
        self.last_words.pop(number, None)

    def not_begun(self, number: int) -> None:
        """This process has no room for it."""
        self.begun_in.pop(number, None)

    def hold(self) -> None:
        """The session has stopped."""
        self.is_held = True

    def end(self) -> None:
        """Nobody asks any more: who joins begins none."""
        self.wanted = None

    def keep(self, number: int, words: LastWords) -> None:
        """A process has ended, or is about to. What is not of this question is left out."""
        if number in self.begun_in:
            self.last_words[number] = words

    def forget(self) -> None:
        """A new run begins."""
        self.begin(None)
        self.was_begun = False
