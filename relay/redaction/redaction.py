"""Redaction: what a session's settings say of secrets, applied to what the relay itself shows.

Values are masked in the debuggee (see `probe/values/secrets.py`); output, arguments and environments here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relay.redaction.output_mask import OutputMask
from relay.redaction.rules import MASK, scrub, scrub_words, secret_names, without_credentials

_NAMING = ("evaluateName", "name", "expression")
"""Keys of what says whose the `value` beside it is."""


class Redaction:
    """Names that are secret, and whether credentials are masked wherever they stand."""

    def __init__(self, patterns: Sequence[str], credentials: bool) -> None:
        self.patterns, self.credentials = tuple(patterns), credentials
        self.is_secret = secret_names(patterns)

    def text(self, text: str) -> str:
        """A text of the program or of its debugger: what stands behind a secret name, too."""
        return self.line(scrub(text, self.is_secret))

    def line(self, text: str) -> str:
        """The same without a look at names: a line of source, say."""
        return without_credentials(text) if self.credentials else text

    def words(self, words: Sequence[str]) -> list[str]:
        """A command line, with the values of secret options masked."""
        return [self.line(word) for word in scrub_words(words, self.is_secret)]

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """An environment, with the values of secret variables masked."""
        return {
            name: MASK if value and self.is_secret(name) else self.line(value)
            for name, value in variables.items()
        }

    def data(self, value: Any) -> Any:
        """JSON: values of secret names, be they keys or in `{"name": …, "value": …}`, and all texts."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            if value and all(isinstance(item, str) for item in value):
                return self.words(value)
            return [self.data(item) for item in value]
        if not isinstance(value, dict):
            return value
        named = next((str(value[key]) for key in _NAMING if value.get(key)), "")
        return {
            key: MASK
            if item not in (None, "") and self.is_secret((key == "value" and named) or key)
            else self.data(item)
            for key, item in value.items()
        }

    def output_mask(self) -> OutputMask | None:
        """For one stream of output; None if nothing is masked in it."""
        return OutputMask() if self.credentials else None


REVEALING = Redaction((), credentials=False)
"""Masks nothing."""
