"""KeptTexts: the texts of large values that were written before, for values that have not changed.

Knows values by their ids, and by how they were written (`looks.py`) whether an id is still that of
the same value. Refuses to know how a text is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.calls.looks import Looks, are_unchanged
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt

_MOST_KEPT_TEXTS = 2000  # values whose texts are kept
_MOST_WAITS = 63  # for a value that is another one each time
_MOST_MET = 20_000  # values that were written once


class _KeptText:
    """The text of a value that was written before, and how it was written."""

    __slots__ = ("kept", "steps", "text", "to_wait", "waits")

    def __init__(self, text: str, looks: Looks | None) -> None:
        self.waits = self.to_wait = 0
        self.text = ""
        self.keep(text, looks)

    def is_of(self, value: Any) -> bool:
        """Whether the value would be written so again."""
        if self.steps is None or not attempt(are_unchanged, self.steps, value, default=False):
            return False
        self.waits = 0
        return True

    def wants_looks(self) -> bool:
        """Whether to note how the value is written; seldom where that has never been of use."""
        self.to_wait -= 1
        return self.to_wait < 0

    def keep(self, text: str, looks: Looks | None) -> None:
        """It was written anew; looks: how, None if that was not noted."""
        is_same, self.text = text == self.text, text
        self.steps: Any = None
        self.kept: Any = None  # alive, for the steps
        if looks is None:
            self.to_wait = self.to_wait // 2 if is_same else self.to_wait
            return
        self.to_wait, self.waits = self.waits, min(4 * self.waits + 1, _MOST_WAITS)
        found = looks.kept()
        if found is not None:
            self.steps, self.kept = found


class _KeptTexts:
    """Of one value at a time: `text_of`, and if that is None, `wants_looks`, then `keep` or `drop`."""

    def __init__(self) -> None:
        self._texts: dict[int, _KeptText] = {}  # by the id of the value
        self._met: set[int] = set()  # ids of those written once: most are arguments of one call

    def text_of(self, value: Any) -> str | None:
        """Its text, if it would be written so again."""
        known = self._texts.get(id(value))
        return known.text if known is not None and known.is_of(value) else None

    def wants_looks(self, value: Any) -> bool:
        """Whether to note how it is written now: not at the first time."""
        known = self._texts.get(id(value))
        return id(value) in self._met if known is None else known.wants_looks()

    def keep(self, value: Any, text: str, looks: Looks | None) -> None:
        """It was written anew, and is large; looks: how, None if that was not noted."""
        known = self._texts.get(id(value))
        if known is not None:
            known.keep(text, looks)
        elif id(value) in self._met:
            if len(self._texts) >= _MOST_KEPT_TEXTS:
                self._texts.clear()
            self._texts[id(value)] = _KeptText(text, looks)
        else:
            if len(self._met) >= _MOST_MET:
                self._met.clear()
            self._met.add(id(value))

    def drop(self, value: Any) -> None:
        """It is small, and its id may have been that of another one."""
        self._texts.pop(id(value), None)
        self._met.discard(id(value))

    def forget_all(self) -> None:
        """Nothing is compared any more, or other names are secret."""
        self._texts.clear()
        self._met.clear()


kept_texts = _KeptTexts()
