"""What request models are made of: the strict base and the texts that are safe to use.

Knows what no request may hold, whatever its noun. Knows no noun.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    GetJsonSchemaHandler,
    StringConstraints,
    model_validator,
)
from pydantic_core import CoreSchema

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
    no boolean. null for an optional field is its absence, but for those in `null_says`. A face
    whose values all arrive as text validates with `strict=False`.
    """

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        validate_default=False,
        defer_build=True,
    )

    null_says: ClassVar[frozenset[str]] = frozenset()
    """Optional fields for which null is not the same as leaving the field out."""

    elsewhere: ClassVar[Mapping[str, str]] = {}
    """Names that clients look for here, and which field of another request is meant."""

    @model_validator(mode="before")
    @classmethod
    def _forget_nulls(cls, given: Any) -> Any:
        """Leave out what is null and may be absent: `model_fields_set` does not name it."""
        if not isinstance(given, dict) or None not in given.values():
            return given
        absent = {
            key
            for name, field in cls.model_fields.items()
            if not field.is_required() and name not in cls.null_says
            for key in (name, field.alias)
        }
        return {k: value for k, value in given.items() if value is not None or k not in absent}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """The schema, in which null may stand for every field that may be absent."""
        schema = handler(core_schema)
        resolved = handler.resolve_ref_schema(schema)
        required = resolved.get("required", [])
        for name, field in resolved.get("properties", {}).items():
            if name not in required:
                resolved["properties"][name] = _or_null(field)
        return schema


_ABOUT_FIELD = frozenset(
    {
        *("title", "description", "default", "examples", "deprecated"),
        *("hint", "brief", "unlisted"),  # for the list of tools (`faces/mcp/tools.py`)
    }
)
"""What the schema of a field says of the field; all else is about the value."""


def _or_null(field: dict[str, Any]) -> dict[str, Any]:
    """The schema of a field that may be null, too."""
    null = {"type": "null"}
    members = field.get("anyOf")
    if members is not None:
        return field if null in members else {**field, "anyOf": [*members, null]}
    value = {name: part for name, part in field.items() if name not in _ABOUT_FIELD}
    about = {name: part for name, part in field.items() if name in _ABOUT_FIELD}
    return {"anyOf": [value, null], **about}
