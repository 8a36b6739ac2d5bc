"""CodeTable: facts by code object, each object for itself.

Codes that were made from one text are equal, in whatever file, and the interpreter has events for
each of them. To hash one takes a microsecond, too, and that of a file of ten thousand lines a millisecond.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MOST_LATEST = 4096


class CodeTable:
    """A mapping as far as it is needed. It keeps its codes alive, and so their ids their own."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[Any, Any]] = {}

    def __contains__(self, code: Any) -> bool:
        return id(code) in self._entries

    def __iter__(self) -> Iterator[Any]:
        return iter([code for code, _ in list(self._entries.values())])

    def __len__(self) -> int:
        return len(self._entries)

    def __setitem__(self, code: Any, fact: Any) -> None:
        self._entries[id(code)] = code, fact

    def get(self, code: Any, default: Any = None) -> Any:
        """The fact, or else `default`."""
        entry = self._entries.get(id(code))
        return default if entry is None else entry[1]

    def pop(self, code: Any) -> Any:
        """The fact, which is not kept any more; None if there was none."""
        entry = self._entries.pop(id(code), None)
        return None if entry is None else entry[1]

    def clear(self) -> None:
        """Forget the facts of all code objects, which may end then."""
        self._entries.clear()


class LatestCodes(CodeTable):
    """One that forgets all when it has many: of programs that compile for ever it keeps no more alive."""

    def __setitem__(self, code: Any, fact: Any) -> None:
        if len(self._entries) >= _MOST_LATEST:
            self._entries.clear()
        self._entries[id(code)] = code, fact


class AskedOnce:
    """A function of a code, and of whatever else says what about it: its answers are kept for the latest codes.

    Many frames run the same code, in threads and in recursions.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.answers = LatestCodes()

    def __call__(self, code: Any, *about: Any) -> Any:
        known = self.answers.get(code)
        if known is None:
            known = self.answers[code] = {}
        if about not in known:
            known[about] = self.function(code, *about)
        return known[about]
