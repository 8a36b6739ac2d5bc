"""Places as they are written, and which functions a source defines."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from relay.models.places import NamedPlace, condition_and_text, is_file, parse_function, parse_place
from relay.operations.source_functions import SourceNames, functions_of

WORDS = st.from_regex(r"[^\W\d]\w{0,8}", fullmatch=True)
NAMES = st.lists(WORDS, min_size=1, max_size=4).map(".".join).filter(lambda name: not is_file(name))
FOLDERS = st.lists(st.from_regex(r"[\w .-]{1,8}", fullmatch=True), max_size=3)
FILES = st.tuples(FOLDERS, WORDS).map(lambda parts: "/".join([*parts[0], f"{parts[1]}.py"]))
CONDITIONS = st.sampled_from(
    [
        "qty > 3",
        "x[1:2]",
        "x[::2] == [1]",
        "lambda: 3",
        "f(lambda x: x)",
        "{1: 2}[a]",
        "a == 'x.py:3:'",
    ]
)
PARAMETERS = st.text(st.characters(exclude_characters="\n\0", codec="utf-8"), max_size=12)


@given(file=FILES, name=NAMES, between=st.sampled_from([":", "::"]), condition=CONDITIONS)
def test_a_function_with_its_file_is_read_whatever_stands_behind_it(
    file: str, name: str, between: str, condition: str
) -> None:
    whole = NamedPlace(file, function=name)
    spellings = [f"{file}{between}{name}", f"{file}::{name.replace('.', '::')}"]
    for spelling in spellings:
        assert parse_place(spelling) == whole
        assert parse_place(f"{spelling}:{condition}") == whole._replace(text=condition)
        assert parse_place(f"{spelling} if {condition}") == whole._replace(condition=condition)
    assert parse_place(whole.spelled) == whole


@given(name=NAMES, condition=CONDITIONS, line=st.integers(1, 10**9), file=FILES)
def test_lines_and_names_are_what_they_were(
    name: str, condition: str, line: int, file: str
) -> None:
    assert parse_place(name) == NamedPlace(function=name)
    assert parse_place(f"{name}:{condition}") == NamedPlace(function=name, text=condition)
    assert parse_place(f"{name} if {condition}") == NamedPlace(function=name, condition=condition)
    at = NamedPlace(file, line)
    assert parse_place(f"{file}:{line}") == at
    assert parse_place(f"{file}:{line}:{condition}") == at._replace(text=condition)
    assert parse_place(f"{file}:{line} if {condition}") == at._replace(condition=condition)
    assert (
        condition_and_text(f"{condition}:say {{x}}") == (condition, "say {x}") or ":" in condition
    )


@given(file=FILES, name=NAMES, parameter=PARAMETERS)
def test_the_id_of_a_test_has_its_parameter(file: str, name: str, parameter: str) -> None:
    assume("]" not in parameter)
    place = NamedPlace(file, function=name, parameter=parameter)
    assert parse_place(f"{file}::{name.replace('.', '::')}[{parameter}]") == place
    assert parse_function(place.spelled) == place


@given(st.text("ab./:[]<>\\ 1if\n=", max_size=24))
def test_whatever_is_read_is_read_again_as_the_same(text: str) -> None:
    found = parse_place(text)
    if found is None:
        return
    alone = found._replace(condition=None, text=None)
    assert parse_place(alone.spelled) == alone
    assert (found.line is None) != (found.function is None)
    assert found.condition is None or found.text is None


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("total:x == 'a.py:b'", NamedPlace(function="total", text="x == 'a.py:b'")),
        ("total:x == 'k:3:'", NamedPlace(function="total", text="x == 'k:3:'")),
        ("a.py:f:lambda:3", NamedPlace("a.py", function="f", text="lambda:3")),
        ("a.py:Cart:add", NamedPlace("a.py", function="Cart", text="add")),
        ("t.py::t[a]:x[0]", NamedPlace("t.py", function="t", parameter="a", text="x[0]")),
        ("t.py::t[a[0]]", NamedPlace("t.py", function="t", parameter="a[0]")),
        ("t.py::t[1::2-x:y]", NamedPlace("t.py", function="t", parameter="1::2-x:y")),
        ("a.py:f.<locals>.g", NamedPlace("a.py", function="f.<locals>.g")),
        (r"C:\p\a.py:f", NamedPlace(r"C:\p\a.py", function="f")),
        (r"tests\t.py::f", NamedPlace(r"tests\t.py", function="f")),
        ("./odd:dir/a.py:f", NamedPlace("./odd:dir/a.py", function="f")),
        ("bin/tool:main", NamedPlace("bin/tool", function="main")),
        ("lib/Cart.pm::total", NamedPlace("lib/Cart.pm", function="total")),
        ("script:3", NamedPlace("script", 3)),
        *[
            (text, None)
            for text in ("", ":", "::", ":3", "a.py", "a.py:", "a.py:4x", "a.py::3", "a b:c")
        ],
    ],
)
def test_no_text_means_two_places(text: str, place: NamedPlace | None) -> None:
    assert parse_place(text) == place


SOURCE = """
import functools
from base import Base
import other as there

def outer():
    global shared
    def inner():
        class Local:
            def method(self): return lambda: 0
        return Local
    def shared(): pass

if outer:
    async def chosen(): pass

class Cart(Base):
    @property
    def total(self): return [x for x in ()]
    @total.setter
    def total(self, value): pass
    @functools.lru_cache
    def kept(self): pass
    plus = kept

class Sub(Cart): pass
class Far(there.Unknown): pass
"""


def test_functions_have_the_names_that_python_gives_them() -> None:
    found = functions_of(SOURCE)
    assert [one.name for one in found] == [
        "outer",
        "outer.<locals>.inner",
        "outer.<locals>.inner.<locals>.Local.method",
        "shared",
        "chosen",
        "Cart.total",
        "Cart.total",
        "Cart.kept",
    ]
    lines = SOURCE.splitlines()
    begun = [lines[one.line - 1].strip() for one in found]
    assert begun[-3:] == ["@property", "@total.setter", "@functools.lru_cache"]


def test_a_name_that_is_not_defined_there_is_followed_to_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "base.py").write_text("from pkg import Root as Base\n")
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("from .root import *\nfrom .root import Root\n")
    root = tmp_path / "pkg" / "root.py"
    root.write_text("class Root:\n    def grow(self): pass\n")
    names = SourceNames(str(tmp_path / "shop.py"), SOURCE, [str(tmp_path)])
    for name in ("Cart.grow", "Sub.grow"):
        there = names.elsewhere(name)
        assert there is not None
        assert (there.path, there.name, there.line) == (str(root), "Root.grow", 2)
        assert there.is_inherited
    kept = names.elsewhere("Sub.plus")
    assert kept is not None
    assert (kept.path, kept.name) == (names.path, "Cart.kept")
    far = names.elsewhere("Far.grow")
    assert far is not None
    assert (far.path, far.name) == (None, "other.Unknown.grow")
    assert names.elsewhere("Cart.nothing") is None
    assert names.elsewhere("nothing") is None
    assert names.similar("Carts.kept")[0] == "Cart.kept"
