"""The relay's side of the probe: expressions that call it, and its answers as dictionaries.

Knows how a call is spelled inside a DAP `evaluate`, and what each call takes. Refuses to know
how it is sent, and does nothing but text (`injection` reads the probe's own source, once).

Send every expression with the context `CONTEXT`. With a `frameId` the call runs on the
suspended thread, as the program's own code would; without, on pydevd's thread, also while the
program runs. Where a frame shadows `__import__` or has no builtins, the answer is not JSON:
`decode` raises ValueError, and the same expression without `frameId` works.
"""

from __future__ import annotations

import binascii
import functools
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from relay.adapters.python.probe import PARTS

CONTEXT = "clipboard"
"""The one `evaluate` context in which pydevd hands over a result whole."""

_PROBE = "__import__('sys').modules['pydevd']._debug_relay_probe"

_INJECTION = """\
(lambda sys, zlib, binascii, json: (lambda host, mark, parts: '{"ok": true, "fresh": false}'
 if getattr(getattr(host, '_debug_relay_probe', None), 'FINGERPRINT', None) == mark else
 (lambda probe: (
  [exec(compile(text, '<debug relay>/' + name, 'exec', 0, True), probe.__dict__)
   for name, text in json.loads(zlib.decompress(binascii.a2b_base64(parts)).decode())],
  setattr(probe, 'FINGERPRINT', mark),
  setattr(host, '_debug_relay_probe', probe),
  '{"ok": true, "fresh": true}')[-1])(type(sys)('_debug_relay_probe'))
 )(sys.modules['pydevd'], %MARK%, %PARTS%)
)(__import__('sys'), __import__('zlib'), __import__('binascii'), __import__('json'))"""


class Answer(dict[str, Any]):
    """An answer of the probe: {"ok": true, …} or {"error": {"kind", "message", …}}.

    Kinds: "stale_reference", "stale_frame", "not_found", "syntax" (with line, offset, text),
    "interrupted", "request" (asked wrongly), "internal".
    """

    @property
    def error_kind(self) -> str | None:
        """Why there is no answer, or None if there is one."""
        error = self.get("error")
        return str(error["kind"]) if isinstance(error, dict) else None


def injection(sources: Sequence[tuple[str, str]] | None = None) -> str:
    """An expression that puts the probe into a debuggee; to be sent without `frameId`.

    Does nothing where the same probe is there already, and leaves no name behind. Its result is
    JSON for `decode`: {"ok": true, "fresh": bool}.

    sources: (file name, text) of the probe's files in order; by default the packaged ones.
    """
    return _packaged_injection() if sources is None else _injection(tuple(sources))


@functools.cache
def _packaged_injection() -> str:
    here = Path(__file__).parent
    names = [f"probe/{name}.py" for name in (*PARTS, "entry")]
    return _injection(tuple((name, (here / name).read_text("utf-8")) for name in names))


def _injection(sources: tuple[tuple[str, str], ...]) -> str:
    raw = json.dumps(sources).encode()
    parts = binascii.b2a_base64(zlib.compress(raw, 9), newline=False).decode("ascii")
    text = _INJECTION.replace("%MARK%", str(zlib.crc32(raw))).replace("\n", "")
    return text.replace("%PARTS%", repr(parts))


def expression(
    do: str, *, call: int | str | None = None, stop: int | None = None, **arguments: Any
) -> str:
    """The expression for any call.

    call: an id by which `interrupt` can find the call while it runs.
    stop: the number of the present stop; references of lower stops die.
    """
    request = {"do": do, "call": call, "stop": stop, **arguments}
    text = json.dumps({key: value for key, value in request.items() if value is not None})
    # pydevd replaces "@LINE@" in expressions, and treats ".__" specially when one fails.
    text = text.replace("@", "\\u0040").replace(".__", ".\\u005f_")
    return f"{_PROBE}.call({text!r})"


def scopes(frame: int, *, call: int | None = None, stop: int | None = None) -> str:
    """Locals and globals of a frame: `scopes`, each with reference and count."""
    return expression("scopes", call=call, stop=stop, frame=frame)


def variables(
    ref: int,
    *,
    start: int = 0,
    count: int = 100,
    filter: str | None = None,
    max_value: int = 1000,
    max_chars: int = 500_000,
    call: int | None = None,
    stop: int | None = None,
) -> str:
    """A page of children: `variables`, `total`, counts, and `next`, where the next page starts.

    filter: "named" or "indexed"; max_value: characters of one value; max_chars: of the page,
    which is shorter than `count` if need be.
    """
    return expression(
        "variables",
        call=call,
        stop=stop,
        ref=ref,
        start=start,
        count=count,
        filter=filter,
        max_value=max_value,
        max_chars=max_chars,
    )


def evaluate(
    text: str,
    frame: int | None,
    *,
    context: str = "watch",
    max_value: int = 1000,
    call: int | None = None,
    stop: int | None = None,
) -> str:
    """A result like a variable, or `exception`. Only the context "repl" may run statements.

    Without a frame it is evaluated in the globals of `__main__`, on pydevd's thread.
    """
    return expression(
        "evaluate",
        call=call,
        stop=stop,
        expression=text,
        frame=frame,
        context=context,
        max_value=max_value,
    )


def set_variable(
    ref: int,
    name: str,
    text: str,
    *,
    frame: int | None = None,
    max_value: int = 1000,
    call: int | None = None,
    stop: int | None = None,
) -> str:
    """Gives the child `name` of `ref` a new value; the variable as it is then, or `exception`."""
    return expression(
        "set_variable",
        call=call,
        stop=stop,
        ref=ref,
        name=name,
        expression=text,
        frame=frame,
        max_value=max_value,
    )


def snapshot(
    frames: Sequence[int],
    *,
    max_value: int = 1000,
    max_chars: int = 100_000,
    max_variables: int = 100,
    call: int | None = None,
    stop: int | None = None,
) -> str:
    """`frames` with their locals, `return_values` and `exception` of the first, in one answer."""
    return expression(
        "snapshot",
        call=call,
        stop=stop,
        frames=list(frames),
        max_value=max_value,
        max_chars=max_chars,
        max_variables=max_variables,
    )


def exception(frame: int, *, call: int | None = None, stop: int | None = None) -> str:
    """`exception`: what the frame's stop is about, or null."""
    return expression("exception", call=call, stop=stop, frame=frame)


def return_values(
    frame: int, *, max_value: int = 1000, call: int | None = None, stop: int | None = None
) -> str:
    """`return_values`: what calls from this frame gave back during the last step."""
    return expression("return_values", call=call, stop=stop, frame=frame, max_value=max_value)


def modules(frames: Sequence[int]) -> str:
    """`modules`: the module's name by frame id, as text."""
    return expression("modules", frames=list(frames))


def release() -> str:
    """Lets go of every reference; send it before the program runs on."""
    return expression("release")


def install() -> str:
    """Mends what a debuggee lacks that was not started by the relay's bootstrap."""
    return expression("install")


def interrupt(target: int | str) -> str:
    """Interrupts the call with that id; to be sent without `frameId`. `interrupted`: was there."""
    return expression("interrupt", target=target)


def refine_exceptions(*, user_code_only: bool = True, first_raise_only: bool = True) -> str:
    """One stop for each raised exception. Say it again after each setExceptionBreakpoints."""
    return expression(
        "refine_exceptions", user_code_only=user_code_only, first_raise_only=first_raise_only
    )


def decode(result: str) -> Answer:
    """The answer in the `result` of an evaluate response, ready to be sent as UTF-8.

    Raises ValueError if it is no answer of the probe: the probe is not there, or the frame hides
    the builtins.
    """
    try:
        found = json.loads(result)
    except ValueError:
        raise ValueError(f"not an answer of the probe: {result[:200]}") from None
    if not isinstance(found, dict) or not ("ok" in found or "error" in found):
        raise ValueError(f"not an answer of the probe: {result[:200]}")
    # Only an escape can stand for half a surrogate pair, which UTF-8 cannot carry.
    return Answer(_whole(found) if "\\ud" in result else found)


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return value
