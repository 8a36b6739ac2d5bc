"""One call of the API without IO: a request to send, and how its answer is read.

Knows paths, query strings, JSON, the envelope and the catalog of errors. Knows no socket:
the blocking client and the asynchronous one share all of this.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, NoReturn, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, TypeAdapter, ValidationError

from relay.actions import Advice, from_wire
from relay.errors import (
    InvalidParameter,
    InvalidRequest,
    MethodNotAllowed,
    RelayError,
    RelayUnreachable,
    RouteNotFound,
    SessionExpired,
    SessionNotFound,
    catalog,
)
from relay.routes.endpoint import API, IN_QUERY

R = TypeVar("R")

DEFAULT_URL = "http://127.0.0.1:5679"
PLACEHOLDER = re.compile(r"\{(\w+)\}")

_CHECK_THE_URL = "Check the URL, or start a relay on another port: relay serve --port 0"

_WAITING = ("wait", "timeout", "connect_timeout")
"""Fields by which a request says how many seconds it may take."""


@dataclass(frozen=True)
class Call(Generic[R]):
    """A request, and how to read its answer. `path` is below /api/v1."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    body: bytes | None
    read: Callable[[Any], R]
    seconds: float = 0.0
    """How long the relay may wait on purpose, besides what the work takes."""
    bare: bool = False
    """JSON without an envelope is taken as it is: `/openapi.json` has none."""
    is_ours: bool = False
    """Whether path and fields are this version's own, and none that a caller has made up."""

    @property
    def headers(self) -> dict[str, str]:
        """What must be said about the body."""
        return {} if self.body is None else {"Content-Type": "application/json"}

    def answer(self, status: int, content_type: str, content: bytes) -> R:
        """What the answer says. Raises the RelayError that it holds."""
        if not content_type.startswith("application/json"):
            if status < 300 and content_type.startswith("text/"):
                return self.read(content.decode())
            raise _no_relay(f"it answered {status} with {content_type or 'no content type'}")
        return self.read(data_of(content, bare=self.bare))


def make_call(
    method: str, path: str, request: BaseModel | None, read: Callable[[Any], R]
) -> Call[R]:
    """The call for a request model: only what was set is sent."""
    fields = {} if request is None else request.model_dump(mode="json", exclude_unset=True)
    asks = method in IN_QUERY
    return Call(
        method=method,
        path=path,
        query=query_of(fields) if asks else (),
        body=None if asks or not fields else json.dumps(fields).encode(),
        read=read,
        seconds=_patience(request),
        is_ours=True,
    )


def raw_call(method: str, path: str, query: Mapping[str, Any] | None, body: Any) -> Call[Any]:
    """A call of any route, whose `data` is given as it is.

    The path is below /api/v1, or begins with it. It never leads to another server: an address of one
    would get the token.
    """
    path = "/" + path.removeprefix(API).lstrip("/")
    content = None if body is None else json.dumps(body).encode()
    given = [item for item in (query, body) if isinstance(item, Mapping)]
    seconds = sum(_seconds(item.get(name)) for item in given for name in _WAITING)
    return Call(
        method.upper(), path, query_of(query or {}), content, lambda data: data, seconds, bare=True
    )


def _patience(request: BaseModel | None) -> float:
    if request is None:
        return 0.0
    own = sum(_seconds(getattr(request, name, None)) for name in _WAITING)
    nested = (getattr(request, name, None) for name in ("launch", "attach"))
    return own + sum(_patience(item) for item in nested if isinstance(item, BaseModel))


def _seconds(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def query_of(fields: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Query parameters as text; what is None is left out."""
    return tuple((name, _text(value)) for name, value in fields.items() if value is not None)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ",".join(map(_text, value))
    return str(value)


def fill(path: str, values: Mapping[str, Any]) -> str:
    """The path with its placeholders filled in; a value cannot lead to another route."""
    return PLACEHOLDER.sub(lambda match: quote(str(values[match[1]]), safe=""), path)


def refuse(error: ValidationError, model: type[BaseModel] | None, given: Any) -> NoReturn:
    """What the request model refuses here, in the words in which the relay refuses it.

    `given` is what was validated; `model` is None for a request without fields.
    """
    from relay.models.complaints import complaints

    found = complaints(error, model or BaseModel, given)
    parts = ([item["field"], item["message"]] for item in found)
    message = "; ".join(": ".join(filter(None, part)) for part in parts)
    raise InvalidRequest(message, errors=found) from None


# Answers ------------------------------------------------------------------------------


@cache
def reader(result: Any) -> Callable[[Any], Any]:
    """How the data of an answer becomes a `result`.

    Fields that this version does not know are left out: the relay may be a newer one.
    """
    if result is str:
        return str
    adapter: TypeAdapter[Any] = TypeAdapter(result)

    def read(data: Any) -> Any:
        try:
            return adapter.validate_python(data, extra="ignore")
        except ValidationError as error:
            raise UnreadableAnswer(
                f"its answer is no {getattr(result, '__name__', result)}", data
            ) from error

    return read


def data_of(content: bytes, *, bare: bool = False) -> Any:
    """The data in an envelope; raises the error that it holds."""
    try:
        answer = json.loads(content)
        if bare and "success" not in answer:
            return answer
        if answer["success"]:
            return answer["data"]
        error = answer["error"]
        code, message, details = error["code"], error["message"], dict(error["details"])
    except (ValueError, KeyError, TypeError):
        raise _no_relay("its answer has no envelope") from None
    raise error_of(code, message, details, from_wire(details.pop("action", None)))


def error_of(
    code: str, message: str, details: dict[str, Any], advice: Advice | None = None
) -> RelayError:
    """The error of the catalog that an answer holds, as it is raised in the relay itself."""
    kind = catalog().get(code, RelayError)
    error = kind(message)
    error.details = details
    error.suggestion = advice or str(details.get("suggestion", ""))
    if kind is RelayError:  # of a newer relay: the code is kept all the same
        vars(error)["code"] = code
    return error


def harmless_at_the_end(failure: BaseException | None) -> tuple[type[RelayError], ...]:
    """Errors that may meet who deletes a session after a block which ended with this failure.

    Where the block has failed, that is what its caller has to know: a relay that cannot be reached
    any more is often why it did.
    """
    return (SessionNotFound, SessionExpired) if failure is None else (RelayError,)


def unreachable(place: str, why: str) -> RelayUnreachable:
    """The error to raise where nobody answers at `place`."""
    return RelayUnreachable(f"no relay answers at {place}: {why}", place=place)


def broken_off(place: str, why: str) -> RelayUnreachable:
    """The error to raise where somebody was there, but the answer did not come whole or not in time."""
    return RelayUnreachable(
        f"the relay at {place} did not answer: {why}",
        suggestion="See whether it still runs, and ask for the status: the request may have "
        "been carried out",
        place=place,
    )


def _no_relay(why: str) -> RelayUnreachable:
    return RelayUnreachable(f"what answers there is no relay: {why}", suggestion=_CHECK_THE_URL)


# Other versions -----------------------------------------------------------------------

VERSION: Call[Any] = raw_call("GET", "/health", None, None)
"""Asks a relay for its version, among other things."""


class UnreadableAnswer(RelayUnreachable):
    """An answer with the relay's envelope, in which this version finds not what it needs."""

    def __init__(self, why: str, data: Any) -> None:
        super().__init__(f"what answers there is no relay: {why}", suggestion=_CHECK_THE_URL)
        self.why, self.data = why, data


def may_be_of_another_version(call: Call[Any], error: RelayError) -> bool:
    """Whether a relay of this version would have answered the call otherwise, for all that is known."""
    if isinstance(error, UnreadableAnswer):
        return True
    if not call.is_ours:
        return False
    if isinstance(error, InvalidRequest | InvalidParameter):
        complaints = error.details.get("errors") or ()
        return any(str(one.get("message")).startswith("is unknown") for one in complaints)
    return isinstance(error, RouteNotFound | MethodNotAllowed)


def name_versions(error: RelayError, health: Any, place: str) -> None:
    """Have the error say that the relay which answered is of another version, if it is."""
    from relay import __version__ as own

    version = health.get("version") if isinstance(health, dict) else None
    if not isinstance(version, str) or version == own:
        return
    why = error.why if isinstance(error, UnreadableAnswer) else error.message
    error.message = f"the relay at {place} is of version {version}, this one is {own}: {why}"
    error.suggestion = (
        "End it with relay stop, which ends its programs, and ask again; or take the relay command "
        "of that version"
    )
    error.details = {**error.details, "version": version, "suggestion": error.suggestion}


def take_away(data: Any) -> Call[Any]:
    """Deletes the session that an answer tells of. Raises RelayUnreachable if it tells of none."""
    made = data.get("session_id") if isinstance(data, dict) else None
    if not isinstance(made, str):
        raise _no_relay("its answer names no session")
    return raw_call("DELETE", fill("/sessions/{id}", {"id": made}), None, None)
