"""Texts without what is no difference between two runs: addresses, ids, times, where a tree lies, and in which
line code stands. Pure.
"""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache

from relay.operations.compare.moments import WHOLE, Moments
from relay.operations.history.by_chance import ID

_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]{4,}|\b0x[0-9a-fA-F]{9,12}\b")
_UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_ID = re.compile(WHOLE + ID + r"\b(?!\.\d)")
_HASH = re.compile(WHOLE + r"(?:58[6-9]|59[0-3]|87[2-9])\d{10}\b(?!\.\d)")
"""Made of an address, of which it is the sixteenth part."""
_TEMPORARY = re.compile(r"/tmp/[^\s'\",;:()\[\]{}]*")

_CLASS_LINE = re.compile(r"('__firstlineno__': )\d+")
"""Since Python 3.13 the namespace of each class says where it begins."""
_TRACEBACK_LINE = re.compile(r"""(File \\?"[^"\n]*", line )\d+(?=, in )""")

_MAY_HAVE_NUMBERS = re.compile(r"\d\d(?::\d\d:|\d\d(?:-\d\d-|\.\d{3}|\d{6}))")
"""Where neither this nor `datetime.` is, there is no moment, id or hash. It is found in a tenth of
the time that it takes to look for each of them: most texts have none."""

_CLOCK_NAMES = re.compile(
    r"(?:^|_)(?:time|now|elapsed|duration|timestamp|clock|deadline|pid|tid|ident)(?:_?(?:ns|ms|s))?$"
)
_MOST_NAMES = 4096  # of arguments and functions: calls have few different ones
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_CLOCK_WORDS = ["time", "now", "elapsed", "duration", "clock", "deadline", "pid", "tid", "ident"]
_CLOCK_ATTRIBUTE = re.compile(
    r"(?<![A-Za-z0-9])((?:time|now|elapsed|duration|timestamp|clock|deadline|pid|tid|ident)"
    r"(?:_?(?:ns|ms|s))?)=-?\d+(?:\.\d+)?(?:e-?\d+)?"
)
_OF_LIBRARY = re.compile(
    r"(?<![\w./-])(?:\.\./)+(?=[^\s'\":]*/(?:python3\.\d+|(?:site|dist)-packages)/)[^\s'\":]+"
)
_PRINTED_TIME = re.compile(r"\b\d+(?:\.\d+)? ?(?:s|ms|sec|secs|seconds?)\b")


def comparable(text: str, roots: tuple[str, ...], moments: Moments) -> str:
    """A text without what is no difference."""
    for root in roots:
        text = text.replace(root, ".")
    if "datetime." in text or _MAY_HAVE_NUMBERS.search(text):
        text = moments.taken_out(text)
        text = _HASH.sub("<hash>", _ID.sub("<id>", text))
    if "0x" in text:
        text = _ADDRESS.sub("0x…", text)
    if text.count("-") >= 4:
        text = _UUID.sub("<id>", text)
    if "/tmp/" in text:
        text = _TEMPORARY.sub("<temporary>", text)
    if "__firstlineno__" in text:
        text = _CLASS_LINE.sub(r"\1<line>", text)
    if ", line " in text:
        text = _TRACEBACK_LINE.sub(r"\1<line>", text)
    if any(word in text for word in _CLOCK_WORDS):
        text = _CLOCK_ATTRIBUTE.sub(r"\1=<time>", text)
    return text


def is_of_clock(text: str, name: str) -> bool:
    """Whether it is a number that is called `now` or the like."""
    return _is_clock_name(name) and _NUMBER.fullmatch(text) is not None


@lru_cache(_MOST_NAMES)
def _is_clock_name(name: str) -> bool:
    return _CLOCK_NAMES.search(name) is not None


def comparable_output(text: str, roots: tuple[str, ...], moments: Moments, cwd: str) -> str:
    """What a program that ran in this directory has printed, without what is no difference.

    That is how long something took, too, and what lies between the directory and a library: pytest
    names files so.
    """
    if "../" in text:
        text = _OF_LIBRARY.sub(lambda found: posixpath.normpath(f"{cwd}/{found[0]}"), text)
    return _PRINTED_TIME.sub("<time>", comparable(text, roots, moments))
