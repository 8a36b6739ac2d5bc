"""Secrets, known by their names: what is masked in values, texts and expressions.

Knows which names are secret, and masks text before it leaves the program: what is no text keeps no
secret. What shows by its own shape that it is a credential is known in `credentials.py`. The relay
imports this file too, for what it echoes itself; there nothing below "in the debuggee" is used.
"""

from __future__ import annotations

import ast
import re
import textwrap
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.attributes import own_dict, stored_attributes
    from relay.debuggers.debugpy.debuggee.probe.values.credentials import (
        credential_spans,
        without_credentials,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.tables import row_pairs, series_holds_text
    from relay.debuggers.debugpy.debuggee.probe.values.types import Plan, exact, plan_of

MASK = "***"
"""Stands for a value that is not shown."""

DEFAULT_PATTERNS = (
    "*password",
    "*passwords",
    "*passwd",
    "*passphrase",
    "pwd",
    "*secret",
    "*secrets",
    "*credential",
    "*credentials",
    "*token",
    "api_key",
    "access_key",
    "account_key",
    "secret_key",
    "private_key",
    "signing_key",
    "encryption_key",
    "authorization",
    "cookie",
)

_LONGEST_NAME = 200
_MOST_KNOWN = 10_000

# --------------------------------------------------------------------------- names

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BETWEEN_WORDS = re.compile(r"[\W_]+")
_BETWEEN_PARTS = re.compile(r"[^\w*]+|_+")


def is_pattern(text: str) -> bool:
    """Whether the text names anything: `*` alone would mask every value."""
    return any(character.isalnum() for character in text)


def secret_names(patterns: Iterable[str]) -> Callable[[str], bool]:
    """A test for names that end in one of the patterns; `*` stands for any part of a word.

    `api_key` matches API_KEY, apiKey, x-api-key, apikey and my_api_key_2, and neither
    api_keyboard nor api_key_length; `*token` matches accesstoken as well as access_token, and
    neither tokens nor token_offset.
    """
    regex = "|".join(_regex_of(pattern) for pattern in patterns if is_pattern(pattern))
    if not regex:
        return lambda name: False
    search = re.compile(f"(?:^|_)(?:{regex})_?[0-9]*$").search
    return lambda name: len(name) <= _LONGEST_NAME and search(_as_words(name)) is not None


def _as_words(name: str) -> str:
    """`X-ApiKey` as `x_api_key`."""
    return _BETWEEN_WORDS.sub("_", _HUMP.sub("_", name)).lower().strip("_")


def _regex_of(pattern: str) -> str:
    parts = _BETWEEN_PARTS.split(_HUMP.sub("_", pattern).lower())
    words = [re.escape(part).replace(r"\*", "[^_]*") for part in parts if part]
    return "_?".join(words)


# --------------------------------------------------------------------------- texts

# A name, what separates it from its value, and the value: as reprs, JSON, query strings, headers
# and code write them, in which `==` is one sign: its second half begins no value. Starts at the
# beginning of a word only, or long words would cost squares.
_PAIR = re.compile(
    r"""(?<![\w.-])-{0,2}([^\W\d][\w.-]{0,200})\\?['"]?\]?[ ]{0,2}(?:[!:+]?=+|:)(?!=)[ ]{0,2}"""
    r"""((?:Bearer|Basic|Digest|Token)[ ][^\s,;)}\]>'"]+"""
    r"""|[bfru]{0,2}'(?:[^'\\\n]|\\.)*'?|[bfru]{0,2}"(?:[^"\\\n]|\\.)*"?|\\".*?\\"|"""
    r"""[^\s,;)}\]>'"&]+)"""
)
# No text, or an empty one: a number, a word of Python or JSON, an object, a container, a call.
_NO_TEXT = re.compile(
    r"""None|True|False|null|true|false|''|""|\*\*\*"""
    r"""|[-+]?[0-9][0-9_]*(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|[<\[{(].*|[^\W\d][\w.]*[(\[].*""",
    re.DOTALL,
)
_OPTION = re.compile(r"--?([^\W\d][\w-]*)(=?)(.*)", re.DOTALL)


def scrub(text: str, is_secret: Callable[[str], bool]) -> str:
    """The text with MASK for what stands behind a secret name and `=` or `:`."""

    def masked(found: re.Match[str]) -> str:
        name, value = found.groups()
        if _NO_TEXT.fullmatch(value) or not is_secret(name):
            return found.group()
        return text[found.start() : found.start(2)] + MASK

    return _PAIR.sub(masked, text)


def scrub_words(words: Sequence[str], is_secret: Callable[[str], bool]) -> list[str]:
    """A command line with MASK for the values of secret options: `--token=x`, `--token x`."""
    shown: list[str] = []
    follows = False
    for word in words:
        option = _OPTION.fullmatch(word)
        secret = option is not None and is_secret(option.group(1))
        if follows and option is None:
            shown.append(MASK)
        elif option is not None and secret and option.group(2):
            shown.append(word[: option.start(3)] + MASK)
        else:
            shown.append(scrub(word, is_secret))
        follows = secret and option is not None and not option.group(2)
    return shown


_SHORTEST = 4
"""Characters of a secret that is looked for in texts; a shorter one is found everywhere."""


def without(text: str, values: Iterable[str]) -> str:
    """The text with MASK wherever it holds one of the values, as it is or as repr writes it."""
    for value in sorted(set(values), key=len, reverse=True):
        if len(value) >= _SHORTEST:
            text = text.replace(value, MASK).replace(repr(value)[1:-1], MASK)
    return text


# --------------------------------------------------------------------------- expressions


def names_in(expression: str) -> Iterator[str]:
    """Names, attributes, keys and the texts that are arguments of calls in an expression."""
    try:
        tree = ast.parse(textwrap.dedent(expression).strip())
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Subscript):
            # Python 3.8 wraps a simple index.
            yield from _constant_names([getattr(node.slice, "value", node.slice), node.slice])
        elif isinstance(node, ast.Call):
            yield from _constant_names(node.args)


def _constant_names(nodes: Iterable[Any]) -> Iterator[str]:
    for node in nodes:
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, bytes):
            value = value.decode("latin-1")
        if isinstance(value, str) and not any(mark.isspace() for mark in value):
            yield value


# --------------------------------------------------------------------------- in the debuggee


class _Secrets:
    """What is secret to the session that this probe answers, and whether a call may show it."""

    def __init__(self) -> None:
        self.matches: Callable[[str], bool] | None = None
        self.credentials = False
        self.known: dict[str, bool] = {}
        self.thread = threading.local()

    def configure(self, patterns: Sequence[str], credentials: bool) -> None:
        self.matches = secret_names(patterns) if any(map(is_pattern, patterns)) else None
        self.credentials = credentials
        self.known = {}

    def hidden(self) -> bool:
        """Whether anything is masked by its name in this call."""
        return self.matches is not None and not getattr(self.thread, "reveal", False)

    def hides_credentials(self) -> bool:
        """Whether anything is masked by its shape in this call."""
        return self.credentials and not getattr(self.thread, "reveal", False)

    def has(self, name: str) -> bool:
        found = self.known.get(name)
        if found is None:
            if len(self.known) >= _MOST_KNOWN:
                self.known.clear()
            matches = self.matches
            found = self.known[name] = matches is not None and matches(name)
        return found


_secrets = _Secrets()


def reveal_in_call(reveal: bool) -> None:
    """Whether what this thread answers next may show secrets."""
    _secrets.thread.reveal = reveal


def configure(redact: Sequence[str] = (), credentials: bool = False) -> dict[str, Any]:
    """Say which names are secret, and whether credentials are; nothing is masked before."""
    _secrets.configure(redact, credentials)
    return {}


def hides_credentials() -> bool:
    """Whether what looks like a credential is masked in this call."""
    return _secrets.hides_credentials()


def is_secret_name(name: Any) -> bool:
    """Whether what bears this name is masked; names are texts, also as bytes."""
    if type(name) is str and _secrets.known.get(name) is False:
        return False  # of nearly all
    if not _secrets.hidden():
        return False
    family = plan_of(name).family
    if family == "text":
        return str.__len__(name) <= _LONGEST_NAME and _secrets.has(exact(name))
    if family == "bytes" and type(name) is bytes and len(name) <= _LONGEST_NAME:
        return _secrets.has(name.decode("latin-1"))
    return False


def holds_text(value: Any, plan: Plan) -> bool:
    """Whether the value is text that may be secret: also a column of a frame may be."""
    if plan.family in ("text", "bytes"):
        return bool(plan.base.__len__(value))
    if plan.family in ("series", "index"):
        return attempt(series_holds_text, value, plan, default=True) is True
    return False


def hides(name: Any, value: Any) -> bool:
    """Whether the value is masked where it is called so."""
    return is_secret_name(name) and holds_text(value, plan_of(value))


def hides_second(parent: Any, position: Any) -> bool:
    """Whether this item is the value in a pair like (b"authorization", b"Bearer …")."""
    if position != 1 or type(parent) is not tuple or len(parent) != 2:
        return False
    return plan_of(parent[1]).family in ("text", "bytes") and hides(parent[0], parent[1])


def is_secret_expression(expression: str) -> bool:
    return _secrets.hidden() and any(map(is_secret_name, names_in(expression)))


def texts_named_in(expression: str, frame: Any) -> list[str]:
    """The secret texts among the variables that an expression names."""
    if frame is None or not _secrets.hidden():
        return []
    names = set(filter(is_secret_name, names_in(expression)))
    scopes = [attempt(lambda: list(frame.f_locals.items()), default=[])] if names else []
    scopes += [attempt(lambda: list(frame.f_globals.items()), default=[])] if names else []
    return secret_texts(pair for scope in scopes for pair in scope if pair[0] in names)


def clean(text: str) -> str:
    """What is secret in a text that the program wrote: by a name in it, or by its shape."""
    if _secrets.hidden():
        text = scrub(text, _secrets.has)
    return without_credentials(text) if _secrets.hides_credentials() else text


def clean_text(value: Any) -> Any:
    """A str, bytes or bytearray without credentials; the same object if there is none in it."""
    if not _secrets.hides_credentials():
        return value
    if plan_of(value).family == "text":
        return without_credentials(exact(value)) if credential_spans(exact(value)) else value
    shown = bytes(value).decode("latin-1")
    return without_credentials(shown).encode("latin-1") if credential_spans(shown) else value


def clean_repr(text: str, value: Any, plan: Plan) -> str:
    """The same in a repr of the program's own: the object's own secrets are known as well."""
    if not _secrets.hidden():
        return clean(text)
    pairs = list(attempt(stored_attributes, value, plan, default=[]))
    if plan.family == "row":
        pairs += attempt(row_pairs, value, default=[])
    nested = [attempt(_inner_pairs, item, default=[]) for _, item in pairs[:100]]
    values = secret_texts(pair for part in (pairs, *nested) for pair in part)
    return clean(without(text, values))


def _inner_pairs(value: Any) -> list[tuple[Any, Any]]:
    plan = plan_of(value)
    if plan.family == "mapping":
        return list(dict.items(value))[:100]
    return list(own_dict(value, plan).items())[:100] if plan.family == "object" else []


def secret_texts(pairs: Iterable[tuple[Any, Any]]) -> list[str]:
    """The texts among the values whose names are secret."""
    found = []
    for name, value in pairs:
        if not is_secret_name(name):
            continue
        family = plan_of(value).family
        if family == "text":
            found.append(exact(value))
        elif family == "bytes" and type(value) is bytes:
            found.append(value.decode("latin-1"))
    return found


def secrets_on_stack(tb: Any, most: int = 50) -> list[str]:
    """Secret texts in the locals of the frames that an exception went through."""
    found: list[str] = []
    if not _secrets.hidden():
        return found
    frames: list[Any] = []
    while tb is not None and len(frames) < most:
        frames.append(tb.tb_frame)
        tb = tb.tb_next
    frame = frames[0].f_back if frames else None
    while frame is not None and len(frames) < most:
        frames.append(frame)
        frame = frame.f_back
    for frame in frames:
        pairs = attempt(lambda f=frame: list(f.f_locals.items()), default=[])
        found += attempt(secret_texts, pairs, default=[])
    return found


def clean_answer(answer: dict[str, Any], values: Sequence[str], *keys: str) -> None:
    """Mask in these texts of an answer, and say so in it."""
    for key in keys:
        if type(answer.get(key)) is str:
            text = clean(without(answer[key], values))
            if text != answer[key]:
                answer[key], answer["redacted"] = text, True
