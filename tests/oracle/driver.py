"""Ordinary work for the standard library, one chapter a module. Run as `driver.py CHAPTER…`.

Everything runs twice: the first time fills the caches (of `re`, of `functools`), so that the
second is the same with and without a debugger. What is recorded begins at `begin`.
Only what every Python from 3.11 on has.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import bisect
import calendar
import collections
import configparser
import contextlib
import copy
import csv
import difflib
import fractions
import functools
import gc
import heapq
import html.parser
import io
import json
import json.decoder
import json.encoder
import json.scanner
import posixpath
import random
import shlex
import statistics
import string
import sys
import textwrap
import tokenize
import types
import urllib.parse
from collections.abc import Callable, Generator, Iterator
from typing import Any


def pure(module: types.ModuleType, *accelerators: str) -> Any:
    """The module as it is without its C accelerators."""
    saved = {name: sys.modules.pop(name, None) for name in (*accelerators, module.__name__)}
    for name in accelerators:
        sys.modules[name] = None  # type: ignore[assignment]
    try:
        return __import__(module.__name__)
    finally:
        for name, known in saved.items():
            if known is not None:
                sys.modules[name] = known
            else:
                sys.modules.pop(name, None)


heapq_py = pure(heapq, "_heapq")
bisect_py = pure(bisect, "_bisect")


def json_encode() -> None:
    document = {"name": "relay", "sizes": [1, 2.5, None, True], "more": {"é": [], "k": {}}}
    encoder = json.encoder.JSONEncoder(indent=2, sort_keys=False)
    "".join(encoder.iterencode(document))
    make = json.encoder._make_iterencode(  # type: ignore[attr-defined]
        {}, str, json.encoder.py_encode_basestring_ascii, None, repr, ":", ",", True, False, False
    )
    "".join(make([1, "two", {"three": 3.5, "four": (4, [])}], 0))


def json_decode() -> None:
    text = '{"name": "re\\u006cay", "list": [1, -2.5e3, null, {"t": true}], "empty": {}}'
    decoder = json.decoder.JSONDecoder()
    decoder.parse_object = json.decoder.JSONObject  # type: ignore[attr-defined]
    decoder.parse_array = json.decoder.JSONArray  # type: ignore[attr-defined]
    decoder.parse_string = json.decoder.py_scanstring  # type: ignore[attr-defined]
    decoder.memo = {}  # type: ignore[attr-defined]
    decoder.scan_once = json.scanner.py_make_scanner(decoder)  # type: ignore[attr-defined]
    decoder.decode(text)
    for broken in ('{"a": }', "[1, 2", '{"a" 1}', '"open'):
        with contextlib.suppress(ValueError):
            decoder.decode(broken)


def wrap() -> None:
    text = "The quick brown fox, surprisingly, jumps over an extraordinarily-lazy dog. " * 2
    textwrap.fill(text, 30, initial_indent="* ", subsequent_indent="  ")
    textwrap.shorten(text, 40, placeholder="...")
    textwrap.dedent("    one\n      two\n    three\n")
    textwrap.indent("one\n\ntwo\n", "> ")


def diff() -> None:
    before = ["one\n", "two\n", "three\n", "four\n"]
    after = ["zero\n", "one\n", "tree\n", "four\n"]
    list(difflib.unified_diff(before, after, "before", "after"))
    list(difflib.ndiff(before, after))
    difflib.get_close_matches("relay", ["delay", "replay", "x"], n=2)


def arguments() -> None:
    parser = argparse.ArgumentParser(prog="tool", description="A tool.", exit_on_error=False)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--level", "-l", type=int, default=1, choices=[1, 2, 3])
    parser.add_argument("--verbose", "-v", action="store_true")
    parser.parse_args(["a.txt", "-l", "2", "-v"])
    parser.parse_args(["--level=3", "a", "b"])
    with contextlib.suppress(argparse.ArgumentError):
        parser.parse_args(["--level", "many"])
    parser.format_usage()


def tokens() -> None:
    source = "def f(a, *b):\n    '''doc'''\n    return {a: 1.5e3}  # end\n"
    list(tokenize.generate_tokens(io.StringIO(source).readline))
    tokenize.untokenize(list(tokenize.generate_tokens(io.StringIO("x = 1\n").readline)))
    tokenize.detect_encoding(io.BytesIO(b"# coding: latin-1\n").readline)


def tables() -> None:
    rows = list(csv.DictReader(io.StringIO("a,b\n1,2\n3\n5,6,7\n"), restkey="rest", restval="none"))
    out = io.StringIO()
    writer = csv.DictWriter(out, ["a", "b"], extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows[:2])
    csv.Sniffer().sniff("a;b;c\n1;2;3\n4;5;6\n")


def heaps() -> None:
    heap = [5, 3, 8, 1, 9, 2]
    heapq_py.heapify(heap)
    heapq_py.heappush(heap, 4)
    while heap:
        heapq_py.heappop(heap)
    list(heapq_py.merge([1, 4, 7], [2, 5], [3], reverse=False))
    heapq_py.nsmallest(2, [5, 1, 4, 2], key=lambda value: -value)
    for value in (0, 3, 9):
        bisect_py.insort([1, 3, 5], value)


def settings() -> None:
    config = configparser.ConfigParser(interpolation=configparser.ExtendedInterpolation())
    config.read_string(
        "[base]\nroot = /tmp\nflag = yes\n[app]\npath = ${base:root}/app\ncount = 3\nlong = a\n  b\n"
    )
    config.get("app", "path")
    config.getint("app", "count")
    config.getboolean("base", "flag")
    config.get("app", "absent", fallback=None)
    for broken in ("[a]\n[a]\n", "no section\n"):
        with contextlib.suppress(configparser.Error):
            configparser.ConfigParser().read_string(broken)
    config.write(io.StringIO())


def numbers() -> None:
    half, third = fractions.Fraction(1, 2), fractions.Fraction("1/3")
    (half + third) * third - half / third
    [half < third, half == 0.5, hash(third), round(third, 2), int(half), str(third)]
    fractions.Fraction(3.25).limit_denominator(10)
    with contextlib.suppress(ZeroDivisionError):
        fractions.Fraction(1, 0)


def figures() -> None:
    data = [1, 2.5, 4, 4, 5.75]
    statistics.mean(data)
    statistics.median(data)
    statistics.pstdev(data)
    statistics.multimode(data)
    statistics.quantiles(data, n=4)
    with contextlib.suppress(statistics.StatisticsError):
        statistics.mean([])


def unparse() -> None:
    source = (
        "@d\nclass A(B, k=1):\n  async def f(self, *, a=1):\n    async with x as y:\n"
        "      return [i for i in y if i > 1]\nwith a:\n  try:\n    pass\n  finally:\n    b = f'{c!r:>3}'\n"
    )
    ast.unparse(ast.parse(source))
    ast.dump(ast.parse("x = 1"), indent=1)
    ast.literal_eval("{'a': [1, (2, -3)]}")


def copies() -> None:
    cyclic: list[Any] = [1, {"a": (2, [3])}]
    cyclic.append(cyclic)
    copy.deepcopy(cyclic)
    copy.copy(collections.OrderedDict(a=1))
    collections.ChainMap({"a": 1}, {"b": 2})["b"]
    collections.Counter("abracadabra").most_common(2)
    (collections.Counter("aab") + collections.Counter("abc")).total()


def texts() -> None:
    shlex.split("run --name 'a b' \"c d\" e\\ f # x", comments=True)
    string.Template("$who likes ${what} $$").safe_substitute(who="she")
    string.Formatter().format("{0:>{1}} {name!r}", "a", 5, name="b")
    str(urllib.parse.urlsplit("https://user@host:80/p;x?q=1#f").port)
    urllib.parse.urlencode({"a": "b c", "d": ["e"]}, doseq=True)
    posixpath.normpath("/a/./b/../c//d")
    posixpath.relpath("/a/b", "/a/c")


class Links(html.parser.HTMLParser):
    """Collects what a page links to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name == "href"]


def pages() -> None:
    links = Links()
    links.feed("<p class=x>a &amp; <a href='/b'>b</a><br/><!-- c --><a href=d>")
    links.close()


def dates() -> None:
    month = calendar.TextCalendar(firstweekday=0)
    month.formatmonth(2024, 2)
    list(month.itermonthdays2(2023, 5))
    calendar.monthrange(2024, 2)


def counting(limit: int) -> Generator[int, int | None, int]:
    total = 0
    for number in range(limit):
        try:
            sent = yield number
            total += sent or 1
        finally:
            total += 0
    return total


def delegating() -> Iterator[int]:
    inner = yield from counting(2)
    yield inner
    yield from (number * 2 for number in range(2))


@contextlib.contextmanager
def noted(notes: list[str]) -> Iterator[None]:
    notes.append("in")
    try:
        yield
    except KeyError as error:
        notes.append(str(error))
    finally:
        notes.append("out")


def twice(function: Callable[[int], int]) -> Callable[[int], int]:
    @functools.wraps(function)
    def doubled(value: int) -> int:
        return function(value) * 2

    return doubled


@twice
@functools.cache
def shifted(
    value: int,
) -> int:
    return value + 1


def unwinding(depth: int) -> int:
    if depth == 0:
        raise KeyError("deep")
    try:
        return unwinding(depth - 1)
    finally:
        depth += 1


def control() -> None:
    """The corners of control flow: what is hard for whoever counts lines."""
    generator = delegating()
    numbers = [next(generator)]
    numbers += list(generator)
    closed = counting(3)
    next(closed)
    closed.send(5)
    closed.close()
    notes: list[str] = []
    shelf: dict[str, str] = {}
    with noted(notes), noted(notes):
        numbers.append(1)
        numbers.append(len(shelf["inside"]))
    with contextlib.suppress(KeyError):
        unwinding(2)
    squares = {n: [m * m for m in range(n)] for n in range(3)}
    pairs = sorted(squares, key=lambda n: -n)
    # fmt: off
    while pairs: pairs.pop()  # noqa: E701
    # fmt: on
    for index, number in enumerate(numbers):
        if index == 1:
            continue
        if number > 3:
            break
    else:
        numbers.clear()
    match numbers:
        case [first, *_] if first > 100:
            number = 1
        case [0, *rest]:
            number = len(rest)

    class Local:
        value = shifted(number)

        def __enter__(self) -> None:
            self.value += 1

        def __exit__(self, *error: object) -> bool:
            return True

    with Local():
        assert number > 1000, number
    shifted(
        number,
    )


async def ticking(count: int) -> int:
    total = 0
    async for tick in ticks(count):
        total += tick
    return total


async def ticks(count: int) -> Any:
    for tick in range(count):
        await asyncio.sleep(0)
        yield tick


async def gathered() -> list[int]:
    async with contextlib.AsyncExitStack() as stack:
        stack.callback(int)
        return [await ticking(2), await ticking(1)]


def asynchronous() -> None:
    coroutine = gathered()
    try:
        while True:
            coroutine.send(None)
    except StopIteration as end:
        repr(end.value)


def games() -> None:
    chance = random.Random(7)
    deck = list(range(5))
    chance.shuffle(deck)
    chance.sample(deck, 2)
    chance.choices(deck, [1, 2, 3, 4, 5], k=2)
    chance.gauss(0, 1)


CHAPTERS = {
    chapter.__name__: chapter
    for chapter in (
        json_encode,
        json_decode,
        wrap,
        diff,
        arguments,
        tokens,
        tables,
        heaps,
        settings,
        numbers,
        figures,
        unparse,
        copies,
        texts,
        pages,
        dates,
        control,
        asynchronous,
        games,
    )
}


def begin() -> None:
    """Where a recording begins."""
    gc.collect()
    gc.disable()  # @begin


def main(names: list[str]) -> None:
    for name in names:
        CHAPTERS[name]()
    begin()
    for name in names:
        CHAPTERS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
