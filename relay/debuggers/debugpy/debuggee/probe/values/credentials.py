"""Credentials, known by their shapes: cloud keys, tokens with known beginnings, private keys.

Knows how issuers write them, so that a text needs no name to be recognised. Refuses to guess: what
is merely long and random (a hash, a UUID, a picture in base64) is nobody's credential. The relay
imports this file too, for what programs print.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

CREDENTIAL_MASK = "***"
"""Stands for a credential; what surrounds it stays."""

LONGEST_OPEN = 4096
"""Characters of an unfinished credential that is waited for; longer ones are no credentials."""

LONGEST_KEY = 20_000
"""Characters of a private key."""

# --------------------------------------------------------------------------- shapes

# Not within a word; a repr writes a line's end as two characters, of which the last is a letter.
_START = r"(?:(?<![\w-])|(?<=\\[nrt]))"
_END = r"(?![A-Za-z0-9])"


class _Search:
    """A regular expression, compiled when it is first used: all of them take 20 ms of a start."""

    def __init__(self, expression: str) -> None:
        self._expression = expression
        self._compiled: re.Pattern[str] | None = None

    @property
    def pattern(self) -> re.Pattern[str]:
        if self._compiled is None:
            self._compiled = re.compile(self._expression)
        return self._compiled


class _Shape(_Search):
    """`hints`: one of them is in every text that the expression, whose group is secret, finds."""

    def __init__(self, hints: str, expression: str) -> None:
        super().__init__(expression)
        self.hints = tuple(hints.split())

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where it stands in the text."""
        if any(hint in text for hint in self.hints):
            for one in self.pattern.finditer(text):
                yield one.span(one.lastindex or 0)


_KEY_BEGINNING = "-----BEGIN"
# With its end in sight, or as far as there are lines of a key; a repr's lines are escaped.
_LINE_END = r"(?:[ \t]*(?:\\+r)?(?:\\+n|\r?\n)[ \t]*)"
_KEY_LINE = r"(?:[A-Za-z0-9+/=]+|(?:Proc-Type|DEK-Info|Version|Comment|Hash):[^\n\\]*)"
_WHOLE_LINE = _KEY_LINE + "(?=" + _LINE_END + r"|[ \t]*(?:['\"\\-]|\Z))"
_KEY = _Shape(
    "PRIVATE",
    r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:\s|\\+[rn])*((?:(?!-----)[\s\S]){16,20000}?)"
    r"(?:\s|\\+[rn])*-----END (?:[A-Z0-9]+ )*PRIVATE"
    f"|{_LINE_END}+({_WHOLE_LINE}(?:{_LINE_END}+{_WHOLE_LINE})*))",
)

_BY_BEGINNING = (
    _Shape("AKIA ASIA", _START + r"((?:AKIA|ASIA)[A-Z0-9]{16})" + _END),
    _Shape("AIza", _START + r"(AIza[\w-]{35})(?![\w-])"),
    _Shape("GOCSPX-", _START + r"(GOCSPX-[\w-]{24,})"),
    # Code hosts and registries of packages.
    _Shape("ghp_ gho_ ghu_ ghs_ ghr_", _START + r"(gh[pousr]_[A-Za-z0-9]{36,})"),
    _Shape("github_pat_", _START + r"(github_pat_\w{36,})"),
    _Shape(
        "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glimt- glagent- gloas-",
        _START + r"(gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent|oas)-[\w-]{20,}(?:\.[\w-]+)*)",
    ),
    _Shape("npm_", _START + r"(npm_[A-Za-z0-9]{36})" + _END),
    _Shape("pypi-Ag", _START + r"(pypi-Ag[\w-]{14,})"),
    _Shape("dckr_pat_", _START + r"(dckr_pat_[\w-]{20,})"),
    # Services.
    _Shape("xox", _START + r"(xox[abposre]-(?=[\w-]*[0-9])[\w-]{12,})"),
    _Shape("xapp-", _START + r"(xapp-[0-9]-[\w-]{20,})"),
    _Shape(
        "sk_live_ sk_test_ rk_live_ rk_test_",
        _START + r"([sr]k_(?:live|test)_[A-Za-z0-9]{10,})",
    ),
    _Shape("whsec_", _START + r"(whsec_[A-Za-z0-9+/=]{24,})"),
    _Shape("dop_v1_ doo_v1_ dor_v1_", _START + r"(do[opr]_v1_[a-f0-9]{64})" + _END),
    _Shape("shpat_ shpca_ shppa_ shpss_", _START + r"(shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32})" + _END),
    # Models.
    _Shape("sk-ant-", _START + r"(sk-ant-[\w-]{20,})"),
    _Shape(
        "sk-",
        _START + r"(sk-(?:(?:proj|svcacct|admin|None|or-v1)-[\w-]{20,}|[A-Za-z0-9]{32,}))",
    ),
    _Shape("hf_", _START + r"(hf_[A-Za-z0-9]{34})" + _END),
    # Signed and encrypted JSON, whoever issues it.
    _Shape(
        "eyJ",
        _START
        + r"(eyJ[\w-]{13,}\.(?:eyJ[\w-]{6,}\.[\w-]*|[\w-]*\.[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}))",
    ),
)
"""Those that are one word with a known beginning, of at least `SHORTEST_WORD` characters."""

_BY_MARKS = (
    _Shape(
        "ecret ECRET",
        r"(?i:aws_?secret_?(?:access_?)?key)\\?[\"']?[ ]{0,2}[:=][ ]{0,2}\\?[\"']?"
        r"([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
    ),
    _Shape(
        "+ASt +ABa +AMC ACDb",
        r"(?:(?<![A-Za-z0-9+/])|(?<=\\[nrt]))([A-Za-z0-9+/]{76}(?:\+ASt|\+ABa|\+AMC|ACDb)[A-Za-z0-9+/]{4}={1,2})",
    ),
    _Shape("JQQJ99", _START + r"([A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26})" + _END),
    _Shape("hooks.slack.com/", r"hooks\.slack\.com/services/(T\w{6,}/B\w{6,}/\w{16,})"),
    _Shape("SG.", _START + r"(SG\.[\w-]{20,32}\.[\w-]{16,64})"),
    _Shape("hvs.", _START + r"(hvs\.[\w-]{24,})"),
)
"""Those that hold a run of `_LONG_WORD` word characters somewhere."""

_OF_ANY_CHARACTERS = (
    _KEY,
    _Shape("ya29.", _START + r"(ya29\.[\w.-]{20,})"),
    _Shape("ountKey= cessKey=", r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/%]{40,}={0,2})"),
    _Shape(
        "Q~", r"(?:(?<![\w~.-])|(?<=\\[nrt]))([\w~.-]{3}[0-9]Q~[\w~.-]{31,34})(?![\w~-]|\.[\w~])"
    ),
    _Shape("sig=", r"[?&;]sig=([A-Za-z0-9%+/=]{40,})"),
    # Passwords in addresses.
    _Shape(
        "://",
        r"://[^\s:/?#@'\"<>\\\[\]]*:((?![{$*<]|%[(s])[^\s/?#'\"<>\\]+)@(?=[\w\[])",
    ),
)
"""Those that may have no run of word characters."""

# --------------------------------------------------------------------------- search

_SHORTEST_CREDENTIAL, SHORTEST_WORD, _LONG_WORD = 8, 17, 20
_WORD_BYTES = (
    bytes(byte if chr(byte).isalnum() or chr(byte) in "_-" else ord(" ") for byte in range(128))
    + b" " * 128
)
_RUN_BYTES = bytes(ord(" ") if byte == ord(" ") else ord("a") for byte in _WORD_BYTES)
_RUN = b"a" * SHORTEST_WORD
_HEADS = {
    head.encode()[:3]
    for shape in _BY_BEGINNING
    for hint in shape.hints
    # A repr writes a line's end as two characters, of which the last is a letter.
    for head in (hint, "n" + hint, "r" + hint, "t" + hint)
}


def credential_spans(text: str) -> list[tuple[int, int]]:
    """Where credentials stand in the text, as (start, end), in order and apart."""
    if len(text) < _SHORTEST_CREDENTIAL:
        return []
    found = [span for shape in _possible(text) for span in shape.spans(text)]
    return _apart(sorted(found)) if len(found) > 1 else found


def _possible(text: str) -> list[_Shape]:
    """What is worth looking for. Nearly all texts need one pass of fast searches to say none."""
    shapes = list(_OF_ANY_CHARACTERS)
    data = text.encode("latin-1", "replace")
    if _RUN not in data.translate(_RUN_BYTES):
        return shapes
    words = [word for word in data.translate(_WORD_BYTES).split() if len(word) >= SHORTEST_WORD]
    if not _HEADS.isdisjoint([word[:3] for word in words]):
        shapes.extend(_BY_BEGINNING)
    if any(map(_is_suspicious, words)):
        shapes.extend(_BY_MARKS)
    return shapes


def _is_suspicious(word: bytes) -> bool:
    """Long and with digits, unlike most identifiers; or `aws_secret_access_key`."""
    if len(word) < _LONG_WORD:
        return False
    return not word.translate(None, b"_-").isalpha() or b"secret" in word.lower()


def _apart(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those that overlap as one."""
    apart = spans[:1]
    for start, end in spans[1:]:
        if start < apart[-1][1]:
            apart[-1] = apart[-1][0], max(end, apart[-1][1])
        else:
            apart.append((start, end))
    return apart


def without_credentials(text: str) -> str:
    """The text with a mask for each credential in it; the same object if there is none."""
    spans = credential_spans(text)
    if not spans:
        return text
    pieces, at = [], 0
    for start, end in spans:
        pieces += [text[at:start], CREDENTIAL_MASK]
        at = end
    return "".join([*pieces, text[at:]])


# --------------------------------------------------------------------------- texts in pieces

_WITHIN_ONE_WORD = [
    hint
    for shape in (*_BY_BEGINNING, *_BY_MARKS[1:], *_OF_ANY_CHARACTERS[1:-1])
    for hint in shape.hints
]
_SEPARATORS = " \n\t\r'\"<>"


def _beginnings() -> _Search:
    """A text that ends in the first characters of a hint, at the start of a word."""
    beginnings = {hint[:size] for hint in _WITHIN_ONE_WORD for size in range(1, len(hint))}
    beginnings |= {_KEY_BEGINNING[:size] for size in range(1, len(_KEY_BEGINNING))}
    longest_first = sorted(map(re.escape, beginnings), key=len, reverse=True)
    return _Search(rf"(?:^|[^\w-])(?:{'|'.join(longest_first)})\Z")


_BEGINNING_AT_END = _beginnings()
_ADDRESS_AT_END = _Search(r"://[^\s/?#@]*\Z")
# What is no number is no port.
_PASSWORD_AT_END = _Search(
    r"://[^\s:/?#@'\"<>\\\[\]]*:((?![{$*<]|%[(s]|[0-9]*\Z)[^\s/?#'\"<>\\]+?)@?\Z"
)


def open_from(text: str) -> int:
    """Where a credential may begin that goes on beyond the text; its length if there is none."""
    key, start = open_key_from(text), last_word_from(text)
    if key < len(text):
        return key
    word = text[start:]
    is_open = bool(
        any(hint in word for hint in _WITHIN_ONE_WORD)
        or _BEGINNING_AT_END.pattern.search(word[-20:])
        or _ADDRESS_AT_END.pattern.search(word)
    )
    return start if is_open else len(text)


def open_password(text: str) -> tuple[int, int] | None:
    """Where a password stands that ends the text, in an address of which the host is to follow."""
    found = _PASSWORD_AT_END.pattern.search(text[-LONGEST_OPEN:]) if "://" in text else None
    if found is None:
        return None
    start = max(0, len(text) - LONGEST_OPEN)
    return start + found.start(1), start + found.end(1)


def last_word_from(text: str) -> int:
    """Where the word begins that may go on beyond the text; its length if there is none."""
    size = len(text)
    start = max(text.rfind(mark, max(0, size - LONGEST_OPEN)) for mark in _SEPARATORS) + 1
    return size if start == 0 and size > LONGEST_OPEN else start


def open_key_from(text: str) -> int:
    """Where a private key begins of which the end is not there; the text's length if none does."""
    size = len(text)
    start = text.rfind(_KEY_BEGINNING, max(0, size - LONGEST_KEY))
    if start >= 0 and "-----END" not in text[start:] and _is_open_key(text[start:]):
        return start
    return size


def _is_open_key(text: str) -> bool:
    """Whether what follows the beginning may still be the head or the lines of a private key."""
    head, newline, body = text.partition("\n")
    if not newline:
        return len(head) < 100
    lines = body.splitlines()
    return "PRIVATE KEY" in head and all(
        not line.strip() or re.fullmatch(_KEY_LINE, line.strip()) for line in lines
    )
