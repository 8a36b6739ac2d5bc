"""Values as texts that are compared: the text of a value that has not changed is not written again."""

from __future__ import annotations

import collections
import enum
import functools
import itertools
import subprocess
import sys
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any, NamedTuple

import pytest

from relay.debuggers.debugpy.debuggee.probe import entry

probe: Any = entry  # whose parts are run in its globals


class Plain:
    def __init__(self, **stored: Any) -> None:
        self.__dict__.update(stored)

    def method(self) -> None:
        pass


class Slots:
    __slots__ = ("kept", "other")


class Word(str):
    pass


class Table(dict[Any, Any]):
    pass


class Row(list[Any]):
    pass


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Pair(NamedTuple):
    left: Any
    right: Any


def closing(value: Any) -> Callable[[], Any]:
    return lambda: value


def defaulting(value: Any) -> Callable[..., Any]:
    return lambda first, given=value: given


def defaulting_by_name(value: Any) -> Callable[..., Any]:
    return lambda *, given=value: given


def wide(**stored: Any) -> Any:
    """With parts enough to be kept."""
    return Plain(many=[float(number) for number in range(20)], **stored)


def slots(value: Any) -> Slots:
    made = Slots()
    Slots.__dict__["kept"].__set__(made, value)
    return made


def caused(by: int) -> Exception:
    error = ValueError("as ever")
    error.__cause__ = KeyError(by)
    return error


def moved(number: int) -> collections.OrderedDict[int, int]:
    made = collections.OrderedDict({1: 1, 2: 2})
    made.move_to_end(number)
    return made


CHANGES: list[tuple[Any, Any]] = [
    (1, 2),
    (0.0, -0.0),
    (1, True),
    (1, 1.0),
    ("a", "b"),
    (b"a", b"b"),
    (bytearray(b"a"), bytearray(b"b")),
    ([1, [2, 3]], [[1, 2], 3]),
    ([[1], [2, 3]], [[1, 2], [3]]),
    ([1], (1,)),
    ({1: 2}, {2: 1}),
    ({1: 2, 3: 4}, {3: 4, 1: 2}),
    ({1, 2}, {1, 3}),
    (frozenset({1}), {1}),
    (list(range(300)), list(range(301))),
    (dict.fromkeys(range(300)), dict.fromkeys(range(301))),
    ([0] * 300, [0] * 301),
    ([*[0] * 300, 1], [*[0] * 300, 2]),
    ((*[0] * 300, 1), (*[0] * 300, 2)),
    ([*[0] * 300, [1]], [*[0] * 300, [2]]),
    (Plain(a=1), Plain(b=1)),
    (Plain(a=1), Plain(a=1, b=None)),
    (slots(1), slots(2)),
    (slots(None), Slots()),
    (Word("a"), Word("b")),
    (Table({1: 1}), Table({1: 2})),
    (Row([1]), Row([1, 1])),
    (Pair(1, 2), Pair(2, 1)),
    (Color.RED, Color.BLUE),
    (closing(1), closing(2)),
    (closing(1), closing),
    (defaulting(1), defaulting(2)),
    (defaulting_by_name([1]), defaulting_by_name([2])),
    (Plain(a=1).method, Plain(a=2).method),
    (ValueError(1), ValueError(2)),
    (ValueError(1), KeyError(1)),
    (caused(1), caused(2)),
    (collections.deque([1], 3), collections.deque([1], 4)),
    (collections.deque([1]), collections.deque([2])),
    (moved(1), moved(2)),
    (types.MappingProxyType({1: 1}), types.MappingProxyType({1: 2})),
    (types.SimpleNamespace(a=1), types.SimpleNamespace(a=2)),
    (functools.partial(print, 1), functools.partial(print, 2)),
    (date(2020, 1, 1), date(2020, 1, 2)),
    (Plain, Slots),
    (1 << 70, 1 << 71),
    ([[[1]]], [[[2]]]),
    ([[[[[1]]]]], [[[[[1, 2]]]]]),  # so deep that nothing but the size is shown
    ([[[[Row([1])]]]], [[[[Row([1, 1])]]]]),
    ([[[[Table({1: 1})]]]], [[[[Table()]]]]),
    ([[[[Plain()]]]], [[[[Slots()]]]]),  # nor that
    ([[[[Pair(1, 2)]]]], [[[[Plain()]]]]),
]


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    probe.kept_texts.forget_all()
    yield
    probe.kept_texts.forget_all()


def fresh(value: Any) -> str:
    """The text of a value of which nothing is known."""
    probe.kept_texts.forget_all()
    return str(probe.ample(value))


def kept(value: Any) -> str:
    """The same once it has been written so often that the text is kept."""
    return [str(probe.ample(value)) for _ in range(3)][-1]


@pytest.mark.parametrize(("one", "other"), CHANGES)
@pytest.mark.parametrize("place", ["here", "inside", "deep"])
def test_what_has_changed_is_written_again(one: Any, other: Any, place: str) -> None:
    """By what is stored in its place, and in place: then everything is found at its old address."""
    whole = wide(value=[one] if place == "inside" else {"deep": [Plain(value=one)]})
    if place == "here":
        whole.value = one

    def put(value: Any) -> None:
        if place == "here":
            whole.value = value
        elif place == "inside":
            whole.value[0] = value
        else:
            whole.value["deep"][0].value = value

    texts = fresh(whole)
    put(other)
    others = fresh(whole)
    if place == "here":
        assert texts != others
    put(one)
    assert fresh(whole) == kept(whole) == texts
    assert id(whole) in probe.kept_texts._texts
    put(other)
    assert probe.ample(whole) == others
    assert kept(whole) == others
    put(one)
    assert probe.ample(whole) == texts


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"zoom": 1}, {"zoom": 2}),
        ({"zoom": [Plain(a=1)]}, {"zoom": [Plain(a=2)]}),
        ({"zoom": Plain(a=1)}, {"zoom": Slots()}),
        ({"all": [Plain(a=1)] * 50, "zoom": 1}, {"all": [Plain(a=1)] * 50, "zoom": 2}),
    ],
)
def test_what_stands_behind_a_large_attribute_is_written_too(one: Any, other: Any) -> None:
    """Of a value that is too large to be written whole, each attribute has a part at least."""
    large = Plain(**{f"name{i}": Plain(many=[i] * 20) for i in range(20)})
    texts = [fresh(Plain(large=large, **each)) for each in (one, other)]
    assert texts[0] != texts[1]
    assert all(text.startswith("\0<Plain ") and "large=<Plain " in text for text in texts)
    whole = Plain(large=large, **one)
    assert kept(whole) == texts[0]
    whole.__dict__.update(other)
    assert probe.ample(whole) == texts[1]


@pytest.mark.parametrize("cls", [Row, Table])
def test_what_a_large_container_stores_beside_its_contents_is_written_too(cls: Any) -> None:
    """A class of the program's that extends one of Python's own."""
    whole = cls([(number, Plain(a=1, b=[2])) for number in range(150)])
    whole.position, whole.rest = 1, Plain()
    text = fresh(whole)
    end = "}" if cls is Table else "]"
    assert text.endswith(f"150 items{end}, position=1, rest=<Plain>)")
    assert kept(whole) == text
    whole.position = 2
    assert probe.ample(whole) == text.replace("position=1", "position=2") != text


def test_of_a_row_that_is_too_long_the_last_item_is_written_too() -> None:
    """And looked at, where it stores something else: a program adds at the end."""
    row: list[Any] = [Plain(name=i, parts=[i] * 10) for i in range(60)]
    whole = Plain(row=row, rest=[1])
    text = fresh(whole)
    assert "name=14, parts=[14, 14, 14, 14, 14, 14, 14, 14, 14, 14]>" in text
    assert text.endswith("60 items, last <Plain name=59, parts=[" + "59, " * 9 + "59]>]>")
    assert kept(whole) == text
    row[-1].name = 0
    assert probe.ample(whole) == text.replace("name=59", "name=0") != text
    row.append(None)
    assert probe.ample(whole) == fresh(whole) != text


def test_what_is_written_beyond_the_bound_has_one_itself() -> None:
    """Of each of many lists and containers of the program's only as much as all of them have room for."""
    rows = {f"row{i}": [list(range(i, i + 30)) for _ in range(9)] for i in range(150)}
    text = fresh(Plain(first=[0] * 40, **rows))
    assert 150 < text.count(",") < 500
    tables = {f"table{i}": Table({i: i}) for i in range(150)}
    for table in tables.values():
        table.__dict__.update({f"name{i}": i for i in range(50)})
    text = fresh(Plain(first=[0] * 40, **tables))
    assert 150 < text.count(",") < 500


def test_of_objects_in_a_set_that_is_too_large_none_is_written_by_chance() -> None:
    """They come in the order of their addresses."""

    def members() -> set[Any]:
        return {Plain(number=i, many=[i] * 60) for i in range(4)} | {Slots(), 1, "two"}

    shown = "{'two', 1, Plain, Plain, Plain, Plain, Slots}"
    made = [[members()] * 2 for _ in range(20)]
    assert {fresh(each) for each in made} == {f"\0[{shown}, 2 items, last {shown}]"}
    whole = made[0]
    text = kept(whole)
    assert text == fresh(whole)
    whole[0].remove("two")
    assert probe.ample(whole) == text.replace("'two', ", "") == fresh(whole)


def test_a_value_that_is_not_too_large_is_written_whole() -> None:
    many = list(range(150))
    whole = Plain(a=Plain(many=many), b=[Plain(c=1)], d=Plain(e=Plain(f=2)), g=3)
    shown = "a=<Plain many=[0, 1, 2,"
    assert fresh(whole).startswith(f"<Plain {shown}")
    assert fresh(whole).endswith("149]>, b=[<Plain c=1>], d=<Plain e=<Plain f=2>>, g=3>")


def test_what_is_in_a_cycle_and_what_stands_twice_is_written_as_it_was() -> None:
    whole = wide()
    whole.me, whole.one = whole, [whole.many, whole.many]
    text = fresh(whole)
    assert kept(whole) == text
    assert probe.kept_texts._texts[id(whole)].is_of(whole)
    whole.one[1] = whole
    assert probe.ample(whole) == fresh(whole) != text


def test_what_is_shown_in_many_places_is_looked_at_once() -> None:
    """And not written for that, where it lies so deep that its type or its size is all that is shown."""
    one = Row([1])
    whole = Plain(many=[[[[one, Plain()] * 10]]])
    assert kept(whole) == fresh(whole) == kept(whole)
    looked_at = probe.kept_texts._texts[id(whole)].steps[1]
    sizes = {look: len(texts) for _, _, look, texts in looked_at}
    assert sizes == {list.__len__: 2, type: 2}  # a single one is in its row twice
    one.append(2)
    assert probe.ample(whole) == fresh(whole)


def test_no_object_of_the_program_lives_longer() -> None:
    whole = wide(value=Plain(a=closing(Plain())))
    assert kept(whole) == fresh(whole) == kept(whole)
    inner, outer = weakref.ref(whole.value), weakref.ref(whole)
    whole.value = None
    assert inner() is None
    del whole
    assert outer() is None


SCATTERED = """
import sys
from relay.debuggers.debugpy.debuggee.probe.calls.scattered import scatter_addresses

if seed := int(sys.argv[1]):
    scatter_addresses(seed)
made = [type(f"T{number}", (), {}) for number in range(60)]
print([[one.__name__ for one in {*made[at : at + 3]}] for at in range(0, 60, 3)])
"""


def test_the_order_of_classes_in_sets_depends_on_the_seed_of_addresses() -> None:
    """As it comes, it is the same in run after run: a second run would not show that it is by chance."""

    def order(seed: int) -> str:
        command = [sys.executable, "-c", SCATTERED, str(seed)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    assert len({order(seed) for seed in range(4)}) == 4


def test_calls_are_counted_without_a_warning() -> None:
    """A program that has warnings raised, as suites of pytest do, would end the recording by it."""
    tree = probe.CallTree()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tree.total() == 0
        assert probe.next_number(itertools.count(41)) == 41
