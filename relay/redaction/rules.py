"""The rules of redaction, of which the relay and the debuggee have one text.

The debuggee masks values with the same two files, and imports nothing of the relay. So they lie
with its other code; this module is the way to them for everybody else.
"""

from __future__ import annotations

from relay.debuggers.debugpy.debuggee.probe.values.credentials import (
    CREDENTIAL_MASK,
    credential_spans,
    last_word_from,
    open_from,
    open_key_from,
    open_password,
    without_credentials,
)
from relay.debuggers.debugpy.debuggee.probe.values.secrets import (
    DEFAULT_PATTERNS,
    MASK,
    is_pattern,
    scrub,
    scrub_words,
    secret_names,
)

__all__ = [
    "CREDENTIAL_MASK",
    "DEFAULT_PATTERNS",
    "MASK",
    "credential_spans",
    "is_pattern",
    "last_word_from",
    "open_from",
    "open_key_from",
    "open_password",
    "scrub",
    "scrub_words",
    "secret_names",
    "without_credentials",
]
