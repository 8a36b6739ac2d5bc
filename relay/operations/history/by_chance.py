"""What two runs of one program have otherwise by chance: where objects lie, and the names of temporary folders. Pure."""

from __future__ import annotations

import re

ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")
"""Where an object lies, as many a `__repr__` says it: in each run elsewhere."""

ID = r"(?:9[34]\d{12}|1[34]\d{13})"
"""The same as `id` says it, in a pattern."""

_ID = re.compile(rf"(?<![\w.]){ID}(?![\w.])")

_FOLDER = re.compile(r"(?<=/)(?:tmp[a-z0-9_]{8}(?![a-z0-9_])|(pytest-of-[^/'\"]+/pytest-)\d+)")
"""As `tempfile` names one; and as pytest does, which counts its runs."""


def without_chance(text: str) -> str:
    """The text as it would be in any run."""
    return _FOLDER.sub(r"\1", _ID.sub("0", ADDRESS.sub("0x", text)))
