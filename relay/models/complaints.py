"""Validation errors in the words of the contract: {field, message, value}, all at once.

Knows pydantic's error types and how clients spell a field (`breakpoints[0].line`).
Knows no request.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, TypedDict, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from relay.models.envelope import dump_plain
from relay.models.fields import StrictModel
from relay.models.patterns import PATTERN_WORDS

VALUE_LENGTH = 200
"""Characters of a refused value that are sent back."""

MOST_COMPLAINTS = 100
"""A batch of thousands can be wrong in every item; nobody reads more than these."""

_WORDING = {
    "missing": "is required",
    "string_type": "must be a string",
    "string_unicode": "must not have lone surrogates, which UTF-8 cannot carry",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be greater than {gt}",
    "less_than_equal": "must be at most {le}",
    "less_than": "must be less than {lt}",
    "string_too_long": "must have at most {max_length} characters",
    "too_short": "must have at least {min_length} items",
    "too_long": "must have at most {max_length} items",
}


class Complaint(TypedDict):
    """One thing that is wrong with a request."""

    field: str
    message: str
    value: Any


def complaints(error: ValidationError, model: type[BaseModel], given: Any) -> list[Complaint]:
    """What is wrong, one complaint a field; `given` is the value that was validated."""
    found: dict[str, Complaint] = {}
    for item in error.errors(include_url=False):
        field = _spell(item, given)
        if field in found:
            _add_alternative(found[field], _word(item, model))
        elif len(found) == MOST_COMPLAINTS:
            break  # members of a union complain of one field in a row
        else:
            found[field] = Complaint(field=field, message=_word(item, model), value=_value(item))
    return list(found.values())


def summary(found: Sequence[Complaint]) -> str:
    """The complaints in one sentence for people."""
    first = ": ".join(part for part in (found[0]["field"], found[0]["message"]) if part)
    return first if len(found) == 1 else f"{first} (and {len(found) - 1} more)"


def unknown(name: str, known: Sequence[str]) -> str:
    """The complaint about a name that does not exist, with the closest ones that do."""
    in_all = set.intersection(*map(_words, known)) if len(known) > 1 else set()
    close = difflib.get_close_matches(name, known, n=3)
    meant = [one for one in close if may_be_meant(name, one, in_all)]
    # One that it goes on from says more than one with an equal word and another beside it.
    near = next((one for one in meant if _is_part(name, one)), meant[0] if meant else None)
    return _unknown("" if near is None else repr(near), known)


def _unknown(meant: str, known: Sequence[str]) -> str:
    guess = meant and f"; did you mean {meant}?"
    return f"is unknown{guess} (known: {', '.join(known) or 'none'})"


def _words(name: str) -> set[str]:
    return set(name.lower().replace("-", "_").split("_"))


def may_be_meant(name: str, known: str, in_all: Collection[str] = ()) -> bool:
    """Whether a name may be a slip of a known one: both have a word in common, one begins with the
    other, or so few letters differ. in_all: words that all known ones have, and that say nothing.

    Alike in letters alone are `expression` and `session`, too.
    """
    if _words(name) & _words(known) - set(in_all) or _is_part(name, known):
        return True
    blocks = difflib.SequenceMatcher(None, name.lower(), known.lower()).get_matching_blocks()
    same = sum(block.size for block in blocks)
    return max(len(name), len(known)) - same <= max(1, min(len(name), len(known)) // 4)


def _is_part(name: str, known: str) -> bool:
    """Whether one begins with the other."""
    bare, other = (one.lower().replace("_", "") for one in (name, known))
    return bare.startswith(other) or other.startswith(bare)


def bounded(value: Any) -> Any:
    """The value as JSON can show it, at most 200 characters of it."""
    if isinstance(value, bytes):
        value = value[: 4 * VALUE_LENGTH].decode(errors="replace")
    if isinstance(value, str):
        return value if len(value) <= VALUE_LENGTH else value[: VALUE_LENGTH - 1] + "…"
    text = dump_plain(value).decode()
    return value if len(text) <= VALUE_LENGTH else text[: VALUE_LENGTH - 1] + "…"


def _add_alternative(complaint: Complaint, message: str) -> None:
    """A union complains once for each of its members."""
    if message not in complaint["message"]:
        complaint["message"] += f", or {message.removeprefix('must be ')}"


def _value(item: ErrorDetails) -> Any:
    # For an absent field pydantic shows what it is absent from.
    return None if item["type"] == "missing" else bounded(item["input"])


def _word(item: ErrorDetails, model: type[BaseModel]) -> str:
    kind, context = item["type"], item.get("ctx", {})
    if kind == "extra_forbidden":
        name, places = str(item["loc"][-1]), _places(model, item["loc"][:-1])
        known = sorted({one for place in places for one in _field_names(place)})
        elsewhere = _elsewhere(places, name)
        return unknown(name, known) if elsewhere is None else _unknown(elsewhere, known)
    if kind == "string_too_short":
        least = context["min_length"]
        return "must not be empty" if least == 1 else f"must have at least {least} characters"
    if kind == "string_pattern_mismatch" and context["pattern"] in PATTERN_WORDS:
        return PATTERN_WORDS[context["pattern"]]
    if kind in _WORDING:
        return _WORDING[kind].format_map({name: _round(x) for name, x in context.items()})
    return item["msg"].removeprefix("Value error, ")


def _round(bound: Any) -> Any:
    """Bounds of number fields are floats, also those that were written without a point."""
    return int(bound) if isinstance(bound, float) and bound.is_integer() else bound


def _spell(item: ErrorDetails, given: Any) -> str:
    """The error's place as the client sees it: names of union members are left out."""
    spelled, value, last = "", given, len(item["loc"]) - 1
    for index, part in enumerate(item["loc"]):
        if isinstance(part, int):
            spelled += f"[{part}]"
        elif _is_name(part, value) or (index == last and _names_absent(item, value)):
            spelled += f".{part}" if spelled else part
        else:
            continue
        value = _child(value, part)
    return spelled


def _is_name(part: str, value: Any) -> bool:
    return isinstance(value, Mapping) and part in value


def _names_absent(item: ErrorDetails, value: Any) -> bool:
    return isinstance(value, Mapping) and item["type"] == "missing"


def _child(value: Any, part: str | int) -> Any:
    try:
        return value[part]
    except (LookupError, TypeError):
        return None


def _places(model: type[BaseModel], path: Sequence[str | int]) -> list[Any]:
    """What may stand where the path leads, models and others."""
    places: list[Any] = [model]
    for part in path:
        places = [inner for place in places for inner in _inside(place, part)] or places
    return places


def _elsewhere(places: Sequence[Any], name: str) -> str | None:
    """What a field of this name is that belongs to another request."""
    models = [one for one in places if isinstance(one, type) and issubclass(one, StrictModel)]
    return next((one.elsewhere[name] for one in models if name in one.elsewhere), None)


def _field_names(place: Any) -> list[str]:
    if isinstance(place, type) and issubclass(place, BaseModel):
        return [field.alias or name for name, field in place.model_fields.items()]
    return []


def _inside(place: Any, part: str | int) -> list[Any]:
    if isinstance(place, type) and issubclass(place, BaseModel):
        field = place.model_fields.get(str(part))
        return list(_members(field.annotation)) if field else []
    return [member for inner in get_args(place) for member in _members(inner)]


def _members(annotation: Any) -> Iterator[Any]:
    """The annotation, or what a union or Annotated is made of."""
    origin = get_origin(annotation)
    if origin is Union or origin is UnionType:
        for member in get_args(annotation):
            yield from _members(member)
    elif origin is Annotated:
        yield from _members(get_args(annotation)[0])
    else:
        yield annotation
