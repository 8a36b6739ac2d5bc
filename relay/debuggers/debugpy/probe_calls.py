"""The relay's side of the probe: expressions that call it, and its answers as dictionaries.

Knows how a call is spelled inside a DAP `evaluate`. Refuses to know what each call takes, and how
it is sent; does nothing but text (`injection` reads the probe's own source, once).

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
from pathlib import Path
from typing import Any

from relay.debuggers.debugpy.debuggee.probe import PARTS

REQUEST = "relayProbe"
"""The request that takes a question as it is, where the relay has started the debuggee. On the
thread of a frame only."""

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


@functools.cache
def injection() -> str:
    """An expression that puts the probe into a debuggee; to be sent without `frameId`.

    Does nothing where the same probe is there already, and leaves no name behind. Its result is
    JSON for `decode`: {"ok": true, "fresh": bool}.
    """
    here = Path(__file__).parent / "debuggee"
    names = [f"probe/{name}.py" for name in (*PARTS, "entry")]
    raw = json.dumps([(name, (here / name).read_text("utf-8")) for name in names]).encode()
    parts = binascii.b2a_base64(zlib.compress(raw, 9), newline=False).decode("ascii")
    text = _INJECTION.replace("%MARK%", str(zlib.crc32(raw))).replace("\n", "")
    return text.replace("%PARTS%", repr(parts))


def question(
    do: str, *, call: int | str | None = None, stop: int | None = None, **arguments: Any
) -> str:
    """The text that the probe takes for any call; the same arguments as those of `expression`."""
    request = {"do": do, "call": call, "stop": stop, **arguments}
    return json.dumps({key: value for key, value in request.items() if value is not None})


def expression(
    do: str, *, call: int | str | None = None, stop: int | None = None, **arguments: Any
) -> str:
    """The expression for any call.

    call: an id by which `interrupt` can find the call while it runs.
    stop: the number of the present stop; references of lower stops die.
    """
    text = question(do, call=call, stop=stop, **arguments)
    # pydevd replaces "@LINE@" in expressions, and treats ".__" specially when one fails.
    text = text.replace("@", "\\u0040").replace(".__", ".\\u005f_")
    return f"{_PROBE}.call({text!r})"


def decode(result: str) -> dict[str, Any]:
    """The answer in the `result` of an evaluate response, ready to be sent as UTF-8.

    It is {"ok": true, …} or {"error": {"kind", "message", …}}. Kinds: "stale_reference",
    "stale_frame", "not_found", "syntax" (with line, offset, text), "interrupted", "request" (asked
    wrongly), "internal".

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
    return _whole(found) if "\\ud" in result else found


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return value
