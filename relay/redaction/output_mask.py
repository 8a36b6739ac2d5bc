"""OutputMask: what a program prints, without the credentials in it, however it comes in pieces.

Knows what came before, in one stream. Refuses to know what a credential looks like, and how long
the beginning of one is waited for.
"""

from __future__ import annotations

from relay.redaction.rules import (
    CREDENTIAL_MASK,
    credential_spans,
    last_word_from,
    open_key_from,
    open_password,
)


class OutputMask:
    """One stream. Call it with each piece of text, in order."""

    # Invariant: _before is the end of what was given, whatever of it was shown: all that a
    # credential which goes on in the next piece may begin with.

    def __init__(self) -> None:
        self._before = ""
        self._is_masked = False  # whether its last character was

    def __call__(self, text: str) -> str:
        """The piece as it may be shown; empty if a credential that was masked goes on in it.

        Of one whose beginning has been shown, for want of more, the rest is masked.
        """
        whole, at = self._before + text, len(self._before)
        spans = credential_spans(whole)
        password = open_password(whole)
        if password is not None and (not spans or spans[-1][1] <= password[0]):
            spans = [*spans, password]
        shown = _masked(whole, at, spans, self._is_masked)
        self._is_masked = bool(spans) and spans[-1][1] >= len(whole.rstrip("\n@"))
        self._before = whole[min(open_key_from(whole), last_word_from(whole)) :]
        return shown


def _masked(whole: str, at: int, spans: list[tuple[int, int]], goes_on: bool) -> str:
    """What follows `at`, with a mask for each span; none for one that was masked before."""
    pieces = []
    for start, end in spans:
        if end <= at:
            continue
        if start >= at:
            pieces += [whole[at:start], CREDENTIAL_MASK]
        elif not goes_on:
            pieces.append(CREDENTIAL_MASK)
        elif whole[at - 1] == whole[end : end + 1] == "\n":
            end += 1  # of a line of a key: there is one mask for all of them
        at = end
    return "".join([*pieces, whole[at:]]) if spans else whole[at:]
