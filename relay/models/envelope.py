"""The envelope around every answer: success, data, error, meta.

Knows its shape, the time and what makes a request id acceptable. Knows no route, no
status and no socket. The data is JSON already when it comes here and is spliced in as
it is. Source: API section 2.1 and 2.4, contract section 1.
"""

from __future__ import annotations

import json
import re
import uuid
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, Field
from pydantic_core import PydanticSerializationError, to_json

from relay.errors import RelayError

REQUEST_ID_LENGTH = 128
_PRINTABLE = re.compile(rf"[\x20-\x7e]{{1,{REQUEST_ID_LENGTH}}}")


class Meta(BaseModel):
    """Which request was answered, and when."""

    request_id: str = Field(description="The client's X-Request-ID, or one made up for it")
    timestamp: datetime = Field(description="UTC with milliseconds")


class ErrorBody(BaseModel):
    """What went wrong, for programs (code, details) and for people (message)."""

    code: str = Field(description="One of the error catalog, stable across versions")
    message: str
    details: dict[str, Any] = Field(
        description="Facts about the error; `suggestion` is always among them",
        json_schema_extra={
            "required": ["suggestion"],
            "properties": {"suggestion": {"type": "string"}},
        },
    )


class ErrorEnvelope(BaseModel):
    """Every answer that is no success."""

    success: Literal[False]
    data: None
    error: ErrorBody
    meta: Meta


def choose_request_id(offered: str | None) -> str:
    """The client's id if it is 1 to 128 printable ASCII characters, else a new UUID v4."""
    if offered is not None and _PRINTABLE.fullmatch(offered):
        return offered
    return str(uuid.uuid4())


def now() -> str:
    """The present moment as the wire spells it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def success(data: BaseModel, request_id: str) -> bytes:
    """The envelope around a result."""
    return success_json(dump(data), request_id)


def success_json(data: bytes, request_id: str) -> bytes:
    """The envelope around a result that is JSON already."""
    return b'{"success":true,"data":%b,"error":null,%b}' % (data, _meta(request_id))


def failure(error: RelayError, request_id: str, **shown: Any) -> bytes:
    """The envelope around an error; `shown` are details that the face adds or says otherwise."""
    details = {**error.details, **shown}
    body = {"code": error.code, "message": error.message, "details": details}
    return b'{"success":false,"data":null,"error":%b,%b}' % (dump_plain(body), _meta(request_id))


def _meta(request_id: str) -> bytes:
    meta = f'"meta":{{"request_id":{json.dumps(request_id)},"timestamp":"{now()}"}}'
    return meta.encode()


def dump(model: BaseModel) -> bytes:
    """The model as JSON. A text that UTF-8 cannot carry is shown with `?` in its place."""
    try:
        return model.model_dump_json().encode()
    except (PydanticSerializationError, UnicodeEncodeError):
        return _dump_lossy(_plain(model))


def dump_plain(value: Any) -> bytes:
    """Any value as JSON: what JSON does not know is shown by its `str`, NaN as null."""
    try:
        return to_json(value, fallback=str, inf_nan_mode="null")
    except (PydanticSerializationError, UnicodeEncodeError):
        return _dump_lossy(value)


def _plain(model: BaseModel) -> dict[str, Any]:
    try:
        return model.model_dump(mode="json")
    except (PydanticSerializationError, UnicodeEncodeError):  # a name holds the odd text
        return model.model_dump()


def _dump_lossy(value: Any) -> bytes:
    return to_json(_encodable(value), fallback=str, inf_nan_mode="null")


def _encodable(value: Any) -> Any:
    """The value with lone surrogates gone, which alone keep a text out of UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_encodable(str(key)): _encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(item) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return _encodable(str(value))
