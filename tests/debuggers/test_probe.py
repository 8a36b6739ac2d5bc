"""How the probe shows values: Python's own text where it fits, and no harm done to any object."""

from __future__ import annotations

import array
import ast
import asyncio
import base64
import collections
import ctypes
import dataclasses
import enum
import functools
import gc
import itertools
import json
import os
import re
import socket
import sqlite3
import sys
import threading
import time
import types
import unittest.mock
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from werkzeug.local import Local

from relay.debuggers.debugpy import probe_calls
from relay.debuggers.debugpy.debuggee.probe import entry as probe

Answer = dict[str, Any]


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    ask("release")


class Holder:
    """Gives the probe a real frame with one local."""

    def __init__(self, value: Any) -> None:
        self.frame = self._stop(value)

    @staticmethod
    def _stop(it: Any) -> types.FrameType:
        return sys._getframe()


def ask(do: str, **arguments: Any) -> Answer:
    request = json.dumps({"do": do, **arguments})
    return probe_calls.decode(str(probe.call(request)))


def show(value: Any, **arguments: Any) -> Answer:
    """The value as the one local of a frame."""
    # Kept while the probe looks for its id.
    probe_frame = Holder(value).frame
    _frames[id(probe_frame)] = probe_frame
    try:
        answer = ask("snapshot", frames=[id(probe_frame)], **arguments)
    finally:
        del _frames[id(probe_frame)]
    (variable,) = answer["frames"][0]["variables"]
    assert variable["name"] == "it"
    return dict(variable)


_frames: dict[int, types.FrameType] = {}


@pytest.fixture(autouse=True)
def _frames_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    live = probe._live_frames  # type: ignore[attr-defined]
    monkeypatch.setattr(probe, "_live_frames", lambda: itertools.chain(_frames.values(), live()))


def children(variable: Answer, **arguments: Any) -> list[Answer]:
    answer = ask("variables", ref=variable["variables_reference"], **arguments)
    assert "error" not in answer, answer
    return list(answer["variables"])


def pairs(variables: list[Answer]) -> dict[str, str]:
    return {v["name"]: v["value"] for v in variables}


class Point(NamedTuple):
    x: int
    y: int


@dataclasses.dataclass
class Job:
    name: str
    size: int = 0
    secret: str = dataclasses.field(default="s", repr=False)


class Color(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = 1


class Slots:
    __slots__ = ("a", "unset")

    def __init__(self) -> None:
        self.a = 1


class ListChild(list[int]):
    pass


WHOLE = [
    None,
    True,
    1,
    -5,
    1.5,
    2j,
    float("nan"),
    "text",
    "quo'te",
    "é\n",
    "",
    b"by\x00",
    bytearray(b"x"),
    [],
    [1, [2, "a"], (3,)],
    (),
    (1, 2),
    set(),
    {1},
    frozenset(),
    frozenset({2}),
    {},
    {"a": 1, 2: None},
    collections.deque([1, 2], maxlen=3),
    collections.deque([1]),
    collections.OrderedDict(a=1),
    collections.OrderedDict(),
    collections.defaultdict(list, a=[1]),
    collections.Counter("aab"),
    collections.Counter(),
    collections.ChainMap({"a": 1}),
    types.SimpleNamespace(a=1, b="x"),
    types.MappingProxyType({"a": 1}),
    {"a": 1}.keys(),
    {"a": 1}.values(),
    {"a": 1}.items(),
    collections.OrderedDict(a=1).keys(),
    range(3),
    range(0, 10, 2),
    slice(1, 2),
    array.array("i", [1, 2]),
    array.array("d", [1.5, 2.5]),
    Point(1, 2),
    Job("j"),
    Color.RED,
    Level.LOW,
    ListChild([1]),
    ValueError("no"),
    ValueError(1, 2),
    KeyError("k"),
    OSError(2, "gone"),
    functools.partial(print, 1),
    len,
    Point,
    int,
    types,
    ...,
    NotImplemented,
    10**100,
    sqlite3.connect,
    object,
    Path("/x"),
]


@pytest.mark.parametrize("value", WHOLE, ids=lambda v: f"{type(v).__name__}")
def test_what_fits_is_pythons_own_repr(value: Any) -> None:
    variable = show(value)
    assert variable["value"] == repr(value)
    assert variable["type"] == type(value).__name__
    assert "truncated" not in variable


def test_recursive_containers_read_as_in_python() -> None:
    loop: list[Any] = [1]
    loop.append(loop)
    table: dict[str, Any] = {}
    table["me"] = table
    assert show(loop)["value"] == repr(loop)
    assert show(table)["value"] == repr(table)


def test_million_items() -> None:
    big = list(range(1_000_000))
    variable = show(big)
    assert variable["value"] == "[0, 1, 2, ... (1000000 items)]"
    assert variable["truncated"] is True
    assert variable["length"] == variable["indexed_variables"] == 1_000_000
    assert pairs(children(variable, start=999_998)) == {"999998": "999998", "999999": "999999"}
    assert [v["name"] for v in children(variable, count=3)] == ["0", "1", "2"]


@pytest.mark.parametrize(
    "big",
    [
        list(range(300_000)),
        dict.fromkeys(range(300_000)),
        set(range(300_000)),
        collections.deque(range(300_000)),
        tuple(range(300_000)),
        array.array("i", range(300_000)),
        range(10**30),
        dict.fromkeys(range(300_000)).keys(),
        collections.Counter(range(300_000)),
        types.MappingProxyType(dict.fromkeys(range(300_000))),
    ],
    ids=lambda v: type(v).__name__,
)
def test_huge_containers_are_not_written_out(big: Any) -> None:
    start = time.process_time()
    variable = show(big)
    last = ask("variables", ref=variable["variables_reference"], start=299_990)["variables"]
    assert time.process_time() - start < 1
    assert len(variable["value"]) <= 1000
    assert len(last) == (100 if isinstance(big, range) else 10)


def test_last_page_of_a_dict_comes_in_order() -> None:
    variable = show({i: str(i) for i in range(1000)})
    page = children(variable, start=995)
    assert pairs(page) == {str(i): repr(str(i)) for i in range(995, 1000)}
    assert variable["named_variables"] == 1000
    assert variable["indexed_variables"] == 0


def test_long_text() -> None:
    variable = show("x" * 5000)
    assert variable["value"] == "'" + "x" * 1000 + "...'"
    assert variable["truncated"] is True
    assert variable["length"] == 5000
    assert show("x" * 1000)["value"] == repr("x" * 1000)
    assert len(show("\x00" * 5000)["value"]) < 1020


def test_bytes_come_as_base64_too() -> None:
    variable = show(b"\x00\xff" * 1000, max_value=10)
    assert base64.b64decode(variable["base64"]) == b"\x00\xff" * 5
    assert variable["length"] == 2000
    assert variable["truncated"] is True
    assert variable["variables_reference"] == 0


def test_long_values_inside_share_the_room() -> None:
    variable = show(["a" * 5000, "b" * 5000, 3])
    assert variable["value"].startswith("['aaa")
    assert "'bbb" in variable["value"]
    assert variable["value"].endswith(", 3]")
    assert len(variable["value"]) < 1100


def test_huge_integers() -> None:
    digits = show(10**100_000)
    assert digits["value"].endswith("(about 100001 digits)")
    assert digits["truncated"] is True
    assert show(-(10**100_000))["value"].startswith("-0x")
    middling = show(10**2000)
    assert middling["value"].startswith("1000")
    assert len(middling["value"]) == 1000


def test_deep_nesting() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    variable = show(deep)
    assert variable["truncated"] is True
    assert len(variable["value"]) < 100
    while deep:
        deep = deep.pop()  # else freeing it needs the depth


def test_repr_that_raises() -> None:
    class Angry:
        def __repr__(self) -> str:
            raise ValueError("not me")

    value = Angry()
    text = show(value)["value"]
    assert text == f"<Angry object at {hex(id(value))} (repr raised ValueError: not me)>"
    assert show([value, 1])["value"] == f"[{text}, 1]"


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, RecursionError, GeneratorExit])
def test_repr_that_raises_worse(error: type[BaseException]) -> None:
    class Angry:
        def __repr__(self) -> str:
            raise error

    assert f"(repr raised {error.__name__})" in show(Angry())["value"]


def test_repr_that_is_no_text() -> None:
    class Odd:
        def __repr__(self) -> str:
            return 5  # type: ignore[return-value]

    class Shout(str):
        __slots__ = ()

    class Fine:
        def __repr__(self) -> str:
            return Shout("fine")

    assert "repr raised TypeError" in show(Odd())["value"]
    assert show(Fine())["value"] == "fine"


def test_repr_runs_once() -> None:
    calls = []

    class Counting:
        def __repr__(self) -> str:
            calls.append(1)
            return "c" * 900

    show([Counting(), "x" * 900])
    assert len(calls) == 1


class Liar:
    """Everything about it raises or misleads; nothing of it may be asked."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(f"asked for {name}")

    def __len__(self) -> int:
        raise AssertionError("asked for its length")

    def __iter__(self) -> Iterator[Any]:
        raise AssertionError("iterated")

    def __eq__(self, other: object) -> bool:
        raise AssertionError("compared")

    def __hash__(self) -> int:
        raise AssertionError("hashed")

    def __bool__(self) -> bool:
        raise AssertionError("asked for its truth")

    def __repr__(self) -> str:
        return "liar"


def test_liar_is_not_asked() -> None:
    liar = Liar()
    object.__setattr__(liar, "hidden", 1)
    variable = show(liar)
    assert variable["value"] == "liar"
    assert pairs(children(variable)) == {"hidden": "1"}


def test_lying_subclasses_of_builtins() -> None:
    class Lst(list[int]):
        def __len__(self) -> int:
            raise AssertionError

        def __iter__(self) -> Any:
            raise AssertionError

        def __getitem__(self, key: Any) -> Any:
            raise AssertionError

    class Dct(dict[Any, Any]):
        def items(self) -> Any:
            raise AssertionError

        def __len__(self) -> int:
            raise AssertionError

        def __getitem__(self, key: Any) -> Any:
            raise AssertionError

        def __missing__(self, key: Any) -> Any:
            raise AssertionError

    items = show(Lst([7]))
    assert items["value"] == "[7]"
    assert pairs(children(items)) == {"0": "7"}
    table = show(Dct(a=1))
    assert table["value"] == "{'a': 1}"
    assert pairs(children(table)) == {"'a'": "1"}


def test_class_that_claims_to_be_another() -> None:
    class Proxy:
        @property  # type: ignore[misc]
        def __class__(self) -> Any:
            raise AssertionError("asked for its class")

        @property
        def __dict__(self) -> Any:  # type: ignore[override]
            raise AssertionError("asked for its dict")

        def __init__(self) -> None:
            self.true = 1

    variable = show(Proxy())
    assert variable["type"] == "Proxy"
    assert pairs(children(variable)) == {"true": "1"}


def test_metaclass_that_lies() -> None:
    class Meta(type):
        def __eq__(cls, other: object) -> bool:
            raise AssertionError

        def __hash__(cls) -> int:
            raise AssertionError

        def __getattribute__(cls, name: str) -> Any:
            raise AssertionError(name)

        def __instancecheck__(cls, instance: object) -> bool:
            raise AssertionError

        def __repr__(cls) -> str:
            return "lying class"

    cls = Meta("Odd", (), {"a": 1})
    assert show(type.__call__(cls))["type"] == "Odd"
    assert show(cls)["value"] == "lying class"


def test_properties_do_not_run() -> None:
    class Lazy:
        def __init__(self) -> None:
            self._rows = [1]

        @property
        def rows(self) -> Any:
            raise AssertionError("a property ran")

    (row,) = children(show(Lazy()))
    assert (row["name"], row["presentation_hint"]["visibility"]) == ("_rows", "private")


def test_attributes_in_order_and_slots() -> None:
    class Both(Slots):
        def __init__(self) -> None:
            super().__init__()
            self.z = 1
            self.b = 2

    assert [v["name"] for v in children(show(Both()))] == ["z", "b", "a"]
    assert pairs(children(show(Slots()))) == {"a": "1"}
    assert show(object())["variables_reference"] == 0


def test_keys_that_are_no_names() -> None:
    class Bag:
        pass

    bag = Bag()
    vars(bag)["not a name"] = 1
    vars(bag)[5] = 2  # type: ignore[index]
    vars(bag)["\udc80"] = 3
    found = children(show(bag))
    assert [v["name"] for v in found] == ["not a name", "5", "\\udc80"]
    assert not any("evaluate_name" in v for v in found)


def test_lone_surrogates_can_be_sent() -> None:
    class Odd:
        def __repr__(self) -> str:
            return "\udcff \U0001f600"

    variable = show(Odd())
    assert variable["value"] == "\\udcff \U0001f600"
    assert show("\udcff")["value"] == r"'\udcff'"


def test_circular_along_the_path() -> None:
    class Node:
        def __init__(self) -> None:
            self.next = self

    node = Node()
    variable = show(node)
    assert "circular" not in variable
    (inner,) = children(variable)
    assert inner["circular"] is True
    assert inner["value"] == "<circular: Node>"
    (again,) = children(inner)
    assert again["name"] == "next"
    shared: list[int] = [1]
    first, second = children(show([shared, shared]))
    assert "circular" not in first
    assert "circular" not in second


def test_named_things_show_names() -> None:
    assert pairs(children(show(Point(3, 4)))) == {"x": "3", "y": "4"}
    assert pairs(children(show(Job("j")))) == {"name": "'j'", "size": "0", "secret": "'s'"}
    assert pairs(children(show(Color.RED))) == {"name": "'RED'", "value": "1"}


def test_exceptions_show_what_caused_them() -> None:
    try:
        try:
            raise KeyError("inner")
        except KeyError as error:
            raise ValueError("outer") from error
    except ValueError as outer:
        caught = outer
    found = pairs(children(show(caught)))
    assert found["args"] == "('outer',)"
    assert found["__cause__"] == "KeyError('inner')"


def test_generators_are_not_advanced() -> None:
    def count() -> Iterator[int]:
        number = 41
        yield number
        number += 1
        yield number

    running = count()
    next(running)
    assert pairs(children(show(running))) == {"number": "41"}
    assert next(running) == 42
    letters = iter("ab")
    show(letters)
    assert next(letters) == "a"


def test_coroutines_are_not_awaited_and_not_warned_about() -> None:
    async def work() -> None:
        await asyncio.sleep(0)

    pending = work()
    show(pending)
    pending.close()


def test_defaultdict_gets_no_keys() -> None:
    table: Any = collections.defaultdict(list)
    show(table)
    assert not table


def test_mocks_proxies_and_dead_things() -> None:
    mock = unittest.mock.MagicMock(name="m")
    assert show(mock)["type"] == "MagicMock"
    assert mock.mock_calls == []
    local = Local()
    assert show(local("missing"))["type"] == "LocalProxy"
    alive: Any = type("Weak", (), {})()
    reference = weakref.ref(alive)
    assert pairs(children(show(reference)))["referent"] == repr(alive)
    del alive
    assert pairs(children(show(reference))) == {"referent": "None"}


def test_system_objects(tmp_path: Path) -> None:
    class Pair(ctypes.Structure):
        _fields_ = (("a", ctypes.c_int),)

    with (tmp_path / "f").open("w") as file, warnings.catch_warnings():
        warnings.simplefilter("error")
        for value in (
            file,
            threading.Lock(),
            threading.current_thread(),
            Pair(1),
            memoryview(b"ab"),
        ):
            variable = show(value)
            assert variable["value"] == repr(value)
            if variable["variables_reference"]:
                children(variable)


def test_sqlite_rows() -> None:
    database = sqlite3.connect(":memory:")
    database.row_factory = sqlite3.Row
    (row,) = database.execute("select 1 as a, 'x' as b")
    assert pairs(children(show(row))) == {"'a'": "1", "'b'": "'x'"}
    database.close()


def test_functions_classes_and_modules() -> None:
    def outer() -> Any:
        seen = 5
        return lambda a=1: (seen, a)

    inner = show(outer())
    assert inner["presentation_hint"] == {"kind": "method"}
    assert pairs(children(inner))["__closure__"].startswith("{'seen': <cell")
    assert show(Job)["presentation_hint"]["kind"] == "class"
    assert "size" in pairs(children(show(Job)))
    module = [v["name"] for v in children(show(probe_calls), count=1000)]
    assert "CONTEXT" in module
    assert "__builtins__" not in module
    assert module[-1] == "__bases__" or module[-1].startswith("__")


def test_evaluate_names() -> None:
    variable = show({"a": [Slots()]})
    (entry,) = children(variable)
    (item,) = children(entry)
    (attribute,) = children(item)
    assert attribute["evaluate_name"] == "it['a'][0].a"
    (odd,) = children(show({Color.RED: 1}))
    assert "evaluate_name" not in odd


def test_pages_by_filter() -> None:
    class Tagged(list[int]):
        pass

    tagged = Tagged([5, 6])
    tagged.tag = "t"  # type: ignore[attr-defined]
    variable = show(tagged)
    assert (variable["named_variables"], variable["indexed_variables"]) == (1, 2)
    assert list(pairs(children(variable))) == ["0", "1", "tag"]
    assert list(pairs(children(variable, filter="named"))) == ["tag"]
    assert list(pairs(children(variable, filter="indexed"))) == ["0", "1"]
    assert list(pairs(children(variable, start=1, count=1))) == ["1"]
    assert list(pairs(children(variable, start=2))) == ["tag"]
    assert children(variable, start=3) == []


def test_page_stays_within_its_budget() -> None:
    variable = show(["x" * 1000] * 1000)
    answer = ask("variables", ref=variable["variables_reference"], count=1000, max_chars=10_000)
    assert 5 < len(answer["variables"]) < 15
    assert answer["next"] == len(answer["variables"])
    assert answer["total"] == 1000


def test_references_are_never_given_twice() -> None:
    first = show([1])["variables_reference"]
    assert first >= 1000
    ask("release")
    assert ask("variables", ref=first)["error"]["kind"] == "stale_reference"
    second = show([1])["variables_reference"]
    assert second > first
    assert ask("variables", ref=second, stop=10**9)["error"]["kind"] == "stale_reference"
    ask("variables", ref=1, stop=10**9)


def test_references_hold_objects_only_until_release() -> None:
    class Big:
        def __init__(self) -> None:
            self.content = 1

    def look() -> weakref.ref[Big]:
        value = Big()
        show(value)
        return weakref.ref(value)

    gone = look()
    assert gone() is not None
    ask("release")
    gc.collect()  # the frame of `show` refers to itself
    assert gone() is None


def test_the_same_variable_keeps_its_reference() -> None:
    variable = show([[1]])
    first = children(variable)[0]["variables_reference"]
    assert children(variable)[0]["variables_reference"] == first


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"do": "nothing"}', '{"do": "scopes"}', "null"])
def test_nonsense_is_answered(text: str) -> None:
    assert "error" in probe_calls.decode(str(probe.call(text)))


@pytest.mark.parametrize(
    "text", ["", "None", "AttributeError('x')", "[1]", "{}", "'{\"ok\":true}'"]
)
def test_decode_refuses_what_is_no_answer(text: str) -> None:
    with pytest.raises(ValueError, match="not an answer"):
        probe_calls.decode(text)


def test_expressions_are_plain_python() -> None:
    text = probe_calls.expression(
        "evaluate", expression="a['@LINE@'] + x.__len__() + 'é\\'\"\udc80'", frame=5, call=3
    )
    assert text.isascii()
    assert "@LINE@" not in text
    assert ".__len" not in text
    call = text.partition(".call(")[2][:-1]
    request = json.loads(eval(call))
    assert request["expression"] == "a['@LINE@'] + x.__len__() + 'é\\'\"\udc80'"


WAYS: dict[str, Callable[[], Any]] = {
    "as text": lambda: nullcontext(probe_calls.injection()),
    "as code": lambda: nullcontext(probe_calls.injection(0)),
    "as code of -O": lambda: nullcontext(probe_calls.injection(1)),
    "from memory": lambda: probe_calls.fetching(0),
    "from memory, of -O": lambda: probe_calls.fetching(1),
}


@pytest.mark.parametrize("way", WAYS)
def test_injection_builds_a_probe_and_leaves_no_names(
    monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    host = types.ModuleType("pydevd")
    monkeypatch.setitem(sys.modules, "pydevd", host)
    link = socket.socket()
    writer = types.SimpleNamespace(sock=link)
    host.get_global_debugger = lambda: types.SimpleNamespace(writer=writer)  # type: ignore[attr-defined]
    space: dict[str, Any] = {}
    before = set(sys.modules)
    look = probe_calls.seen(eval(probe_calls.look(), space))
    assert look == (False, probe_calls.OWN_BYTECODE, sys.flags.optimize)
    with link:
        assert link.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    writer.sock = None
    with WAYS[way]() as expression:
        assert probe_calls.decode(eval(expression, space))["ok"] is True
    assert probe_calls.seen(eval(probe_calls.look(), space)).is_present
    assert set(space) == {"__builtins__"}
    assert set(sys.modules) == before
    answer = probe_calls.decode(str(eval(probe_calls.expression("modules", frames=[]), space)))
    assert answer["modules"] == {}
    call = host._debug_relay_probe.call.__code__
    assert call.co_filename == "<debug relay>/probe/entry.py"


def test_only_the_very_file_of_the_relay_is_fetched(tmp_path: Path) -> None:
    with probe_calls.fetching(0) as expression:
        before = set(os.listdir("/proc/self/fd"))
        path = re.findall("'(/proc/[0-9]+/fd/[0-9]+)'", expression)[0]
        content = Path(path).read_bytes()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)  # nobody writes to it: whoever opened it would wait for good
    (tmp_path / "shorter").write_bytes(content[:-1])
    (tmp_path / "other").write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    for name in ("absent", "pipe", "shorter", "other"):
        asked = expression.replace(path, str(tmp_path / name))
        assert probe_calls.decode(eval(asked, {})) == {"ok": False}
    assert set(os.listdir("/proc/self/fd")) <= before


# Evaluating, without a debugger


def in_frame(expression: str, context: str = "watch") -> tuple[Answer, int, list[int]]:
    number, items = 1, [1, 2, 3]
    answer = ask("evaluate", frame=id(sys._getframe()), expression=expression, context=context)
    return answer, number, items


def test_evaluate_sees_locals_in_nested_scopes() -> None:
    assert in_frame("[i + number for i in items]")[0]["result"] == "[2, 3, 4]"
    assert in_frame("(lambda: number)()")[0]["result"] == "1"
    assert in_frame("Point(number, 2).y")[0]["result"] == "2"


def test_statements_stick() -> None:
    assert in_frame("number = 5", "repl")[1] == 5
    assert in_frame("(number := 6)")[1] == 6
    answer, number, items = in_frame("items.append(9); number += 1\nnumber * 2", "repl")
    assert (answer["result"], number, items) == ("4", 2, [1, 2, 3, 9])


def test_statements_only_in_the_repl() -> None:
    error = in_frame("number = 5")[0]["error"]
    assert (error["kind"], error["line"]) == ("syntax", 1)
    assert in_frame("1 +", "repl")[0]["error"]["kind"] == "syntax"
    assert in_frame("\x00")[0]["error"]["kind"] == "syntax"
    assert in_frame("return 1", "repl")[0]["error"]["kind"] == "syntax"


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("missing", "NameError: name 'missing' is not defined"),
        ("1/0", "ZeroDivisionError: division by zero"),
        ("exit()", "SystemExit"),
        ("(_ for _ in ()).throw(KeyboardInterrupt)", "KeyboardInterrupt"),
    ],
)
def test_exceptions_are_answers(expression: str, text: str) -> None:
    assert in_frame(expression)[0]["exception"].startswith(text)


def test_private_names_are_mangled_as_in_the_class() -> None:
    class Vault:
        def __init__(self) -> None:
            self.__key = 7

        def open(self) -> Answer:
            frame = id(sys._getframe())
            return ask("evaluate", frame=frame, expression="self.__key + 1")

    assert Vault().open()["result"] == "8"


def test_a_closure_variable_changed_by_the_expression_stays_changed() -> None:
    count = 0

    def bump() -> int:
        nonlocal count
        count += 1
        return count

    answer = ask("evaluate", frame=id(sys._getframe()), expression="bump()")
    assert (answer["result"], count) == ("1", 1)


MODULE_NUMBER = 1


def test_globals_change_where_the_frame_reads_them() -> None:
    frame = id(sys._getframe())
    ask("evaluate", frame=frame, expression="MODULE_NUMBER = 2", context="repl")
    assert MODULE_NUMBER == 2
    ask("evaluate", frame=frame, expression="global FRESH\nFRESH = 3", context="repl")
    assert globals().pop("FRESH") == 3
    ask("evaluate", frame=frame, expression="MODULE_NUMBER = 1", context="repl")


def test_set_variable() -> None:
    number, items, table, point = 1, [1, 2], {"a": 1, Color.RED: 2}, Slots()
    frame = id(sys._getframe())
    scope = ask("scopes", frame=frame)["scopes"][0]["variables_reference"]
    by_name = {v["name"]: v for v in ask("variables", ref=scope)["variables"]}
    assert list(by_name) == ["number", "items", "table", "point", "frame", "scope"]

    def change(name: str | None, child: str, value: str) -> Answer:
        ref = scope if name is None else by_name[name]["variables_reference"]
        return ask("set_variable", ref=ref, name=child, expression=value, frame=frame)

    assert change(None, "number", "items[0] + 40")["value"] == "41"
    assert change("items", "1", "'x'")["value"] == "'x'"
    assert change("table", "'a'", "10")["value"] == "10"
    assert change("table", repr(Color.RED), "20")["value"] == "20"
    assert change("point", "a", "[5]")["indexed_variables"] == 1
    changed: Any = (number, items, table, point.a)
    assert changed == (41, [1, "x"], {"a": 10, Color.RED: 20}, [5])
    assert change("items", "7", "1")["error"]["kind"] == "not_found"
    assert change("items", "0", "1/0")["exception"].startswith("ZeroDivisionError")
    assert change("items", "0", "x = 1")["error"]["kind"] == "syntax"


def test_tuple_items_cannot_be_set() -> None:
    variable = show((1,))
    assert children(variable)[0]["presentation_hint"]["attributes"] == ["readOnly"]
    answer = ask("set_variable", ref=variable["variables_reference"], name="0", expression="2")
    assert answer["exception"].startswith("TypeError")


def test_numpy_like_arrays_are_paged() -> None:
    numpy = pytest.importorskip("numpy")
    big = numpy.arange(1_000_000)
    variable = show(big)
    assert variable["indexed_variables"] == 1_000_000
    assert children(variable, start=999_999, count=1)[0]["value"] == repr(big[-1])


@contextmanager
def masked_passwords() -> Iterator[None]:
    ask("configure", redact=["*password*"])
    try:
        yield
    finally:
        ask("configure")


def test_columns_with_one_name_are_told_apart_and_masked_each() -> None:
    pandas = pytest.importorskip("pandas")
    rows = [["hunter2", 1, "hunter3", 2]]
    frame = pandas.DataFrame(rows, columns=["password", "n", "password", "n"])
    with masked_passwords():
        variable = show(frame)
        columns = [one for one in children(variable) if one["type"] == "Series"][:4]
    assert "hunter" not in str([variable, columns])
    assert variable["value"].split() == ["n", "n", "0", "1", "2"]
    paths = [one["evaluate_name"] for one in columns]
    assert [eval(path, {"it": frame}).iloc[0] for path in paths] == rows[0]


def test_a_polars_frame_has_columns_and_hides_what_is_secret() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"n": [1, 2], "password": ["hunter2", "hunter3"]})
    with masked_passwords():
        variable = show(frame)
        numbers, secret, *attributes = children(variable)
        items = children(numbers)[:2]
    assert "hunter" not in str([variable, numbers, secret, attributes, items])
    assert variable["length"] == 2
    assert [one["name"] for one in attributes][:2] == ["dtypes", "shape"]
    assert [eval(one["evaluate_name"], {"it": frame}) for one in items] == [1, 2]


@pytest.mark.parametrize("library", ["sqlite3", "sqlalchemy"])
def test_a_row_of_a_database_has_columns_and_hides_what_is_secret(library: str) -> None:
    query = "SELECT 1 AS id, 'hunter2' AS password, 3 AS id"
    if library == "sqlite3":
        base = sqlite3.connect(":memory:")
        base.row_factory = sqlite3.Row
        row = base.execute(query).fetchone()
        base.close()
    else:
        sqlalchemy = pytest.importorskip("sqlalchemy")
        engine = sqlalchemy.create_engine("sqlite://")
        with engine.connect() as connection:
            row = connection.execute(sqlalchemy.text(query)).first()
        engine.dispose()
    with masked_passwords():
        variable = show(row)
        columns = children(variable)[:3]
    assert "hunter" not in str([variable, columns])
    assert [one["name"] for one in columns] == ["'id'", "'password'", "'id'"]
    assert [one["value"] for one in columns] == ["1", "***", "3"]
    assert [eval(one["evaluate_name"], {"it": row}) for one in columns] == [1, "hunter2", 3]


@pytest.mark.parametrize("do", ["hover", "evaluate"])
def test_what_an_expression_raises_tells_no_secret(do: str) -> None:
    found, password = {"ann": 1}, "hunter2"
    ask("configure", redact=["*password*"])
    try:
        answer = ask(do, frame=id(sys._getframe()), expression="found[password]")
    finally:
        ask("configure")
    assert answer["exception"] == "KeyError: ***"
    assert password not in str(answer)
    assert password not in found


EVERY_PART: Any = probe
"""All parts of the probe."""


def test_a_table_that_is_cut_keeps_its_shape_and_dtype() -> None:
    numpy = pytest.importorskip("numpy")
    grid = numpy.arange(10_000.0).reshape(100, 100)
    for room in (60, 240):
        text, cut, _ = EVERY_PART.text_of(grid, EVERY_PART.plan_of(grid), room)
        assert text.startswith("shape (100, 100), float64: array([[")
        assert (len(text) <= room, cut) == (True, True)
    few = numpy.arange(3)
    assert EVERY_PART.text_of(few, EVERY_PART.plan_of(few), 240)[0] == "array([0, 1, 2])"


def test_an_answer_is_filled_with_items_whatever_holds_them() -> None:
    for many in ({n: n for n in range(200)}, list(range(500)), tuple(range(500))):
        few, cut, _ = EVERY_PART.text_of(many, EVERY_PART.plan_of(many), 1000)
        assert len(few) < 60
        text, cut, _ = EVERY_PART.text_of(many, EVERY_PART.plan_of(many), 1000, fills=True)
        assert cut
        assert 950 < len(text) <= 1000
        assert text[1:-1].endswith(f", ... ({len(many)} items)")
    nested = [list(range(1000))] * 300
    text, _, _ = EVERY_PART.text_of(nested, EVERY_PART.plan_of(nested), 1000, fills=True)
    assert text.startswith("[[0, 1, 2, ... (1000 items)], [0, 1, 2, ... (1000 items)], ")
    assert len(text) <= 1000


def test_a_file_is_parsed_once_and_only_for_code_that_may_expect_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A suite with many failures asks for the same files again and again, and these are long."""
    parse = unittest.mock.Mock(wraps=ast.parse)
    program = tmp_path / "program.py"
    program.write_text(
        "def expecting(error):\n"
        "    if error:\n"
        "        with suppress(KeyError):\n"
        "            raise error\n"
        "def beside(error):\n"
        "    with suppress(KeyError):\n"
        "        pass\n"
        "    raise error\n"
        "def given(error, raises):\n"
        "    with raises(KeyError):\n"
        "        raise error\n"
        "def plain(error):\n"
        "    raise error\n"
    )
    namespace: dict[str, Any] = {"suppress": lambda _: nullcontext()}
    exec(compile(program.read_text(), str(program), "exec"), namespace)
    monkeypatch.setattr(probe, "is_user_code", lambda _: True)
    monkeypatch.setattr(ast, "parse", parse)

    def asked(function: str, error: Exception, *more: Any) -> bool:
        with pytest.raises(type(error)) as caught:
            namespace[function](error, *more)
        traceback: Any = caught.value.__traceback__
        return bool(probe.is_expected(error, traceback.tb_next))  # type: ignore[attr-defined]

    assert not asked("plain", KeyError("a"))
    assert parse.call_count == 0
    assert asked("expecting", KeyError("b"))
    assert not asked("expecting", ValueError("c"))
    assert not asked("beside", KeyError("d"))
    assert asked("given", KeyError("e"), namespace["suppress"])
    assert parse.call_count == 1
