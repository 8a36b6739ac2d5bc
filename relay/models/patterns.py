"""What texts of requests must look like, and how a refusal says it: a regular expression tells few people.

Knows no request.
"""

from __future__ import annotations

from collections.abc import Mapping

from relay.models.adapters import ADAPTER_NAME
from relay.models.places import FUNCTION_NAME

NO_NUL = r"^[^\x00]*$"
"""No path, argument or environment variable can hold NUL, and no source text may."""

DOTTED_NAME = r"^[^\W\d]\w*(\.[^\W\d]\w*)*$"
"""Identifiers with dots between them, of any alphabet."""

VARIABLE_NAME = r"^[^=\x00]+$"
"""Of an environment."""

ABSOLUTE_PATH = r"^(/|[A-Za-z]:[\\/])[^\x00]*$"
"""Of this system, or of Windows."""

HEADER_TEXT = r"^[ -~]+$"
"""Printable ASCII, which every header of HTTP can carry: a token is sent in one."""

PROFILE_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"

PATTERN_WORDS: Mapping[str, str] = {
    NO_NUL: "must not contain NUL characters",
    FUNCTION_NAME: 'must name a function, such as "Cart.total" or "cart.py:Cart.total"',
    DOTTED_NAME: 'must be a name, such as "ValueError" or "shop.errors.SoldOut"',
    VARIABLE_NAME: 'must name an environment variable, such as "LEVEL"',
    ABSOLUTE_PATH: 'must be an absolute path, such as "/srv/shop"',
    PROFILE_NAME: 'must begin with a letter or digit, and have only those, ".", "_" and "-"',
    ADAPTER_NAME: 'must be a name of at most 32 small letters, digits, "_" and "-", such as "python"',
}
