"""Requests read into typed arguments, or refused with everything that is wrong with them.

Knows bytes, query strings and the models' types. Knows no operation and no response.
Source: contract, section 1.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from itertools import islice
from typing import Any, NoReturn, TypeVar, get_origin
from urllib.parse import parse_qsl

from pydantic import BaseModel, ValidationError

from relay.errors import InvalidParameter, InvalidRequest, MissingParameter, UnsupportedMediaType
from relay.models.complaints import Complaint, bounded, complaints, summary

Model = TypeVar("Model", bound=BaseModel)

MOST_PARAMETERS = 1000
"""Query parameters looked at; no model has as many fields."""

MOST_VALUES = 100_000
"""Values in a body. Each that is wrong costs half a kilobyte and a microsecond until it is refused,
and ten megabytes hold a million: the relay would answer nobody else for seconds."""

_INTEGER = re.compile(r"-?[0-9]{1,18}", re.ASCII)


def read_body(model: type[Model], raw: bytes, content_type: str | None) -> Model:
    """The body as a model; an absent one counts as `{}`.

    Raises UnsupportedMediaType, or InvalidRequest with every complaint.
    """
    if raw:
        _check_media_type(content_type)
    raw = raw or b"{}"
    check_extent(raw)
    try:
        body = model.model_validate_json(raw)
    except ValidationError as error:
        _refuse_body(error, model, raw)
    _check_json(raw)
    return body


def _check_media_type(content_type: str | None) -> None:
    kind, _, parameters = (content_type or "").partition(";")
    kind = kind.strip().lower()
    if kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json")):
        _check_charset(parameters)
        return
    shown = f"not {bounded(kind)}" if kind else "and this one has none"
    raise UnsupportedMediaType(
        f"a body must have the content type application/json, {shown}", content_type=bounded(kind)
    )


_CHARSET = re.compile(r'(?:^|;)\s*charset\s*=\s*"?([^";\s]*)', re.IGNORECASE)
_UTF_8 = ("", "utf-8", "utf8", "us-ascii", "ascii")
"""ASCII is a part of it, and no name is none."""


def _check_charset(parameters: str) -> None:
    """JSON has no charset but UTF-8: a body that claims another one would be read as what it is not."""
    named = _CHARSET.search(parameters)
    if named is not None and named[1].lower() not in _UTF_8:
        charset = bounded(named[1])
        raise UnsupportedMediaType(
            f"a body of JSON must be UTF-8, not {charset}",
            suggestion="Send it as UTF-8, and leave out charset or name utf-8",
            charset=charset,
        )


def check_extent(raw: bytes) -> None:
    """Refuse a body of too many values, by its commas: nearly every one has too few anyhow.

    Raises InvalidRequest.
    """
    if raw.count(b",") < MOST_VALUES:
        return
    last = next(islice(_UP_TO_COMMA.finditer(raw), MOST_VALUES - 1, None), None)
    if last is not None and last[0].endswith(b","):
        raise _bad_body(f"the body has more than {MOST_VALUES} values", raw)


_UP_TO_COMMA = re.compile(rb'(?:[^,"]++|"(?:[^"\\]++|\\.)*+"?)*+(?:,|\Z)', re.DOTALL)
"""Up to a comma that is in no string, or to the end: so each byte is looked at once."""


def _check_json(raw: bytes) -> None:
    """Refuse what pydantic's parser lets through: NaN, Infinity, and a name given twice.

    JSON has no such numbers, and of two values nobody knows which one was meant. Nearly every
    body is cleared by its text, and so is parsed once.
    """
    if _is_plain(raw):
        return
    try:
        _STRICT.decode(raw.decode())
    except _NoNumberError as error:
        raise _not_json(f"JSON has no {error}", raw) from None


def _is_plain(raw: bytes) -> bool:
    """Whether valid JSON has each name once at most, and no constant of JavaScript."""
    if b"\\" in raw or b"NaN" in raw or b"Infinity" in raw:
        return False
    names = [name for name in _STRING.findall(raw) if name]
    return len(names) == len(set(names))


_STRING = re.compile(rb'("[^"]*")(?=\s*:)|"[^"]*"')
"""A string in which nothing is escaped; its group is empty unless it is a name."""


class _NoNumberError(Exception):
    """The text is a number of JavaScript, but none of JSON."""


def _no_number(constant: str) -> NoReturn:
    raise _NoNumberError(constant)


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) == len(pairs):
        return unique
    counts = Counter(name for name, _ in pairs)
    twice = [
        Complaint(field=name, message="is given more than once", value=bounded(unique[name]))
        for name, count in counts.items()
        if count > 1
    ]
    raise InvalidRequest(summary(twice), errors=twice)


_STRICT = json.JSONDecoder(parse_constant=_no_number, object_pairs_hook=_unambiguous)


def _refuse_body(error: ValidationError, model: type[BaseModel], raw: bytes) -> NoReturn:
    first = error.errors(include_url=False)[0]
    if first["type"] == "json_invalid":
        raise _not_json(_parser_message(first["ctx"]["error"], raw), raw)
    given = json.loads(raw)
    if not isinstance(given, dict):
        raise _bad_body("the body must be a JSON object", raw)
    found = complaints(error, model, given)
    raise InvalidRequest(summary(found), errors=_named(found, error, "body"))


def _named(found: list[Complaint], error: ValidationError, whole: str) -> list[Complaint]:
    """The complaints, each with a field: what is said of fields that do not go together is of the whole.

    It is the last then, since it is said where each by itself is right. A field may be called "".
    """
    if error.errors(include_url=False)[0]["loc"]:
        return found
    *others, last = found
    return [*others, {**last, "field": whole}]


def _parser_message(message: str, raw: bytes) -> str:
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        return f"it is not UTF-8 (byte {error.start})"
    return message


def _not_json(why: str, raw: bytes) -> InvalidRequest:
    return _bad_body(f"the body is not valid JSON: {why}", raw)


def _bad_body(message: str, raw: bytes) -> InvalidRequest:
    return InvalidRequest(
        message, errors=[Complaint(field="body", message=message, value=bounded(raw))]
    )


def read_query(model: type[Model], raw: bytes) -> Model:
    """The query string as a model; lists are separated by commas or given again and again.

    Raises InvalidParameter with every complaint, or MissingParameter if parameters are
    absent and nothing else is wrong.
    """
    given, found = _parse_query(model, raw)
    try:
        values = model.model_validate(given, strict=False)
    except ValidationError as error:
        kind = MissingParameter if _only_absent(error, found) else InvalidParameter
        found += complaints(error, model, given)
        raise kind(summary(found), errors=_named(found, error, "query")) from None
    if found:
        raise InvalidParameter(summary(found), errors=found)
    return values


class _Nothing(BaseModel, extra="forbid"):
    pass


def refuse_query(raw: bytes) -> None:
    """Check the query string of a route that takes none; raises InvalidParameter."""
    read_query(_Nothing, raw)


def _parse_query(model: type[BaseModel], raw: bytes) -> tuple[dict[str, Any], list[Complaint]]:
    given: dict[str, Any] = {}
    repeated: dict[str, Complaint] = {}
    for name, value in _pairs(raw):
        if _takes_list(model, name):
            given.setdefault(name, []).extend(value.split(",") if value else [])
        elif name in given:
            repeated[name] = Complaint(
                field=name, message="is given more than once", value=bounded(value)
            )
        else:
            given[name] = value
    return given, list(repeated.values())


def _pairs(raw: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            raw.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=MOST_PARAMETERS,
        )
    except UnicodeDecodeError:
        raise _bad_parameter("query", "is not valid UTF-8", raw) from None
    except ValueError:
        raise _bad_parameter("query", f"has over {MOST_PARAMETERS} parameters", raw) from None


def _takes_list(model: type[BaseModel], name: str) -> bool:
    field = model.model_fields.get(name)
    return field is not None and _is_list(field.annotation)


def _is_list(annotation: Any) -> bool:
    members = getattr(annotation, "__args__", ())
    return get_origin(annotation) is list or any(get_origin(member) is list for member in members)


def _only_absent(error: ValidationError, repeated: list[Complaint]) -> bool:
    kinds = {item["type"] for item in error.errors(include_url=False)}
    return not repeated and kinds == {"missing"}


def read_path(types: Mapping[str, type], given: Mapping[str, str]) -> dict[str, str | int]:
    """The path parameters; raises InvalidParameter for a number that is none."""
    return {
        name: _read_integer(name, given[name]) if kind is int else given[name]
        for name, kind in types.items()
    }


def _read_integer(name: str, text: str) -> int:
    if _INTEGER.fullmatch(text) is None:
        fix = f"Put a whole number in the place of {{{name}}} in the path"
        raise _bad_parameter(name, "must be a whole number", text, suggestion=fix)
    return int(text)


def _bad_parameter(
    name: str, message: str, value: str | bytes, *, suggestion: str | None = None
) -> InvalidParameter:
    return InvalidParameter(
        f"{name}: {message}",
        suggestion=suggestion,
        errors=[Complaint(field=name, message=message, value=bounded(value))],
    )
