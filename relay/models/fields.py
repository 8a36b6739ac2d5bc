"""What request models are made of: the strict base and the texts that are safe to use.

Knows what no request may hold, whatever its noun. Knows no noun.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

from relay.models.adapters import ADAPTER_NAME

PATH_LENGTH = 4096
"""PATH_MAX on Linux: a longer path can name nothing."""

NO_NUL = r"^[^\x00]*$"
"""No path, argument or environment variable can hold NUL, and no source text may."""


AdapterName = Annotated[str, StringConstraints(pattern=ADAPTER_NAME)]
"""A name that an adapter of the relay may have."""

Text = Annotated[str, StringConstraints(pattern=NO_NUL)]
"""Any text without NUL."""

PathText = Annotated[str, StringConstraints(pattern=NO_NUL, min_length=1, max_length=PATH_LENGTH)]
"""A path as a client writes it, not resolved: 1 to 4,096 characters without NUL."""


class StrictModel(BaseModel):
    """Base of every request, body or query.

    Unknown names are refused and nothing is converted: `"3"` is no number and `1` is
    no boolean. A face whose values all arrive as text validates with `strict=False`.
    """

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        validate_default=False,
        defer_build=True,
    )
