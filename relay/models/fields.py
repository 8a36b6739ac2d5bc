"""What request models are made of: the strict base and the texts that are safe to use.

Knows what no request may hold, whatever its noun. Knows no noun.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints, model_validator

from relay.models.adapters import ADAPTER_NAME
from relay.models.patterns import NO_NUL

PATH_LENGTH = 4096
"""PATH_MAX on Linux: a longer path can name nothing."""

NAME_LENGTH = 255
"""NAME_MAX: the bytes of each name in it."""

AdapterName = Annotated[str, StringConstraints(pattern=ADAPTER_NAME)]
"""A name that an adapter of the relay may have."""

Text = Annotated[str, StringConstraints(pattern=NO_NUL)]
"""Any text without NUL."""


def nameable(path: str) -> str:
    """The path itself. Raises ValueError if no file can have it."""
    try:
        name = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise ValueError("has a lone surrogate, which no file's name can have") from None
    if len(name) >= PATH_LENGTH:
        raise ValueError(f"is longer than {PATH_LENGTH - 1} bytes: no file can have it")
    if max(map(len, name.split(b"/"))) > NAME_LENGTH:
        raise ValueError(f"has a name over {NAME_LENGTH} bytes in it: no file can have it")
    return path


PathText = Annotated[
    str,
    StringConstraints(pattern=NO_NUL, min_length=1, max_length=PATH_LENGTH),
    AfterValidator(nameable),
]
"""A path as a client writes it, not resolved: at most 4,095 bytes, 255 a name, without NUL."""


class StrictModel(BaseModel):
    """Base of every request, body or query.

    Unknown names are refused and nothing is converted: `"3"` is no number and `1` is
    no boolean. null for an optional field is its absence. A face whose values all arrive as
    text validates with `strict=False`.
    """

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        validate_default=False,
        defer_build=True,
    )

    null_is_absence: ClassVar[bool] = True
    """Whether null for a field whose default it is says the same as leaving the field out."""

    @model_validator(mode="after")
    def _forget_nulls(self) -> Self:
        """`model_fields_set` does not name those."""
        if self.null_is_absence:
            fields = type(self).model_fields
            for name in [name for name in self.model_fields_set if getattr(self, name) is None]:
                if fields[name].default is None:
                    self.model_fields_set.discard(name)
        return self
