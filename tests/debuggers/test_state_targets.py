"""What an expression names in the program's state, and why something cannot be watched."""

from __future__ import annotations

import collections
import ctypes
import dataclasses
import sys
import threading
import types
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from relay.debuggers.debugpy.debuggee.probe import entry as _entry

probe: Any = _entry
RATE = 7
Span = collections.namedtuple("Span", "begin end")


@dataclasses.dataclass
class Line:
    price: int = 3
    parts: list[int] = dataclasses.field(default_factory=lambda: [1, 2, 3])


class Slotted:
    __slots__ = ("_hidden", "size", "unset")

    def __init__(self) -> None:
        self.size = 4
        self._hidden = 0

    @property
    def shown(self) -> int:
        return self._hidden


class Served:
    limit = 10
    nothing = None

    def __init__(self) -> None:
        self.kept = 1
        self.__private = 2

    def later(self) -> None:
        self.more = 3

    @property
    def computed(self) -> int:
        return self.kept

    def __getattr__(self, name: str) -> int:
        if name == "anything":
            return 1
        raise AttributeError(name)

    def here(self) -> types.FrameType:
        return sys._getframe()


class OwnLocal(threading.local):
    pass


class Late:
    def later(self) -> None:
        self.late = 1


class Reversed(list[int]):
    def __getitem__(self, index: Any) -> Any:
        return list.__getitem__(self, -index - 1)


class Ledger(dict[str, int]):
    def __getitem__(self, key: str) -> int:
        return -1


class Folded(dict[str, int]):
    def __getitem__(self, key: str) -> int:
        return dict.__getitem__(self, key.lower())

    def __setitem__(self, key: str, value: int) -> None:
        dict.__setitem__(self, key.lower(), value)


class Filled(dict[str, int]):
    def __missing__(self, key: str) -> int:
        return 0


class Attributes(dict[str, int]):
    def __init__(self, **items: int) -> None:
        super().__init__(**items)
        self.__dict__ = self


class Proxied:
    __slots__ = ("_target", "unset")

    def __init__(self, target: Any) -> None:
        self._target = target

    def __getattr__(self, name: str) -> Any:
        asked.append(name)
        return getattr(self._target, name)


class Private:
    __slots__ = ("__private_values__",)

    def __init__(self) -> None:
        self.__private_values__ = {"_count": 1}

    def __getattr__(self, name: str) -> Any:
        asked.append(name)
        return self.__private_values__[name]

    def set(self) -> None:
        self._count = 2  # type: ignore[misc]


class Watched:
    def __init__(self) -> None:
        self.size = 1

    def __getattribute__(self, name: str) -> Any:
        asked.append(name)
        return object.__getattribute__(self, name)


class Asked(type):
    def __getattr__(cls, name: str) -> int:
        asked.append(name)
        return 1


class Kind(metaclass=Asked):
    own = 1


class Loaded(types.ModuleType):
    @property
    def version(self) -> int:
        return 1


class Computed:
    def __get__(self, owner: Any, cls: Any) -> int:
        asked.append("computed")
        return 1


class Once:
    def __get__(self, owner: Any, cls: Any) -> int:
        asked.append("once")
        return owner.__dict__.setdefault("once", 1)  # type: ignore[no-any-return]


class Holder:
    given = Computed()
    once = Once()


class Column(Computed):
    def __set__(self, owner: Any, value: int) -> None:
        owner.__data__["rate"] = value


class Row:
    rate = Column()

    def __init__(self) -> None:
        self.__data__ = {"rate": 1}


class Named(Computed):
    def __set_name__(self, owner: type, name: str) -> None:
        self.kept = f"_{name}"

    def __set__(self, owner: Any, value: int) -> None:
        setattr(owner, self.kept, value)


class Bill:
    total = Named()

    def __init__(self) -> None:
        self.total = 1


class Point(ctypes.Structure):
    _fields_: ClassVar = [("x", ctypes.c_int)]


class Behind:
    """As proxies of werkzeug are, `flask.g` say."""

    __slots__ = ("_get_current_object",)
    _get_current_object: Any

    def __getattr__(self, name: str) -> Any:
        asked.append(name)
        return getattr(self._get_current_object(), name)


asked: list[str] = []


def computing() -> types.FrameType:
    """A frame whose locals have their values from code of the program."""
    proxy, private, watched = Proxied(Line()), Private(), Watched()
    ledger, folded, filled = Ledger(a=1), Folded(), Filled(a=1)
    folded["X"] = 1
    backwards, kept = Reversed((1, 2)), Attributes(x=1)
    local, module, loaded, holder = threading.local(), types.ModuleType("m"), Loaded("n"), Holder()
    own_local, row, behind = OwnLocal(), Row(), Behind()
    bill, point = Bill(), Point()
    users, listed = collections.UserDict(a=1), collections.UserList([1])
    behind._get_current_object = Line
    local.x = own_local.x = 1
    module.__getattr__ = asked.append  # type: ignore[method-assign]
    module.kept = 1  # type: ignore[attr-defined]
    asked.clear()
    frame = sys._getframe()
    if RATE < 0:
        print(module.late, proxy, private, watched, ledger, folded, filled, backwards, kept)
        print(bill, point, users, listed)
        print(
            row,
            behind,
            loaded,
            holder,
            local,
            own_local,
            module,
            proxy.price,
            private._count,
            Kind.more,
        )
    return frame


def stopped() -> types.FrameType:
    """A frame with one local of each kind."""
    line, slotted, served, thing = Line(), Slotted(), Served(), Late()
    tally, filled = collections.Counter("a"), Filled(a=1)
    listed: dict[str, list[int]] = collections.defaultdict(list)
    counts, pair, array = {"a": 1}, (1, 2), bytearray(b"x")
    queue, span = collections.deque([1]), Span(1, 2)
    shared = 5
    key = "a"
    space, names = vars(line), globals()

    def inner() -> int:
        return shared

    frame = sys._getframe()
    late: int
    if RATE < 0:
        late = 1
        print(late, line, slotted, served, counts, pair, array, queue, inner, key)
        print(thing, tally, filled, listed, space, names, span)
    return frame


@pytest.mark.parametrize(
    ("expression", "kind", "key", "value"),
    [
        ("line.price", "attribute", "price", 3),
        ("line . parts [ 0 ]", "list_item", 0, 1),
        ("slotted.size", "slot", "size", 4),
        ("slotted.unset", "slot", "unset", probe.ABSENT),
        ("served.kept", "attribute", "kept", 1),
        ("thing.late", "attribute", "late", probe.ABSENT),
        ("served.more", "attribute", "more", probe.ABSENT),
        ("Served.limit", "attribute", "limit", 10),
        ("counts[key]", "item", "a", 1),
        ("line.__dict__['price']", "attribute", "price", 3),
        ("space['price']", "attribute", "price", 3),
        ("names['RATE']", "global", "RATE", 7),
        ("sys.__dict__['path']", "global", "path", sys.path),
        ("counts['b']", "item", "b", probe.ABSENT),
        ("tally['b']", "item", "b", probe.ABSENT),
        ("filled['a']", "item", "a", 1),
        ("listed['a']", "item", "a", probe.ABSENT),
        ("RATE", "global", "RATE", 7),
        ("sys.path_hooks", "global", "path_hooks", sys.path_hooks),
        ("key", "local", "key", "a"),
        ("late", "local", "late", probe.ABSENT),
        ("inner.note", "refused", "This function has no attribute note", None),
    ],
)
def test_a_place_is_found_and_read(expression: str, kind: str, key: Any, value: Any) -> None:
    frame = stopped()
    if kind == "refused":
        with pytest.raises(probe.TroubleError) as refused:
            probe.resolve_target(expression, frame)
        assert key in refused.value.answer["error"]["message"]
        return
    target = probe.resolve_target(expression, frame)
    assert (target.kind, target.key, target.text) == (kind, key, expression)
    assert probe.read_target(target) == value
    assert (target.code is frame.f_code) == (kind == "local")


def test_a_variable_that_functions_share_is_their_cell() -> None:
    target = probe.resolve_target("shared", stopped())
    assert (target.kind, target.key, target.owner.cell_contents) == ("cell", "shared", 5)
    target.owner.cell_contents = 6
    assert probe.read_target(target) == 6

    def make() -> tuple[Callable[[], types.FrameType], Any]:
        count = 1

        def inner(one: int = 0, *, two: int = 0) -> types.FrameType:
            nonlocal count
            count += 1
            return sys._getframe()

        return inner, inner.__closure__

    inner, cells = make()
    assert probe.resolve_target("count", inner()).owner is cells[0]


def test_a_private_attribute_is_named_as_the_class_names_it() -> None:
    target = probe.resolve_target("self.__private", Served().here())
    assert (target.key, probe.read_target(target)) == ("_Served__private", 2)


def test_the_owner_is_kept_and_not_the_name() -> None:
    frame = stopped()
    target = probe.resolve_target("line.price", frame)
    target.owner.price = 9
    assert probe.read_target(target) == 9
    assert probe.dict_of_target(target) is target.owner.__dict__
    limit = probe.resolve_target("Served.limit", frame)
    assert probe.dict_of_target(limit)["limit"] == 10


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("len(pair)", "the result of a call"),
        ("line.price + 1", "worked out anew"),
        ("'text'", "a constant"),
        ("[line]", "a new object each time"),
        ("line.parts[0:1]", "a new list each time"),
        ("pair[0]", "tuple never changes: name what holds it, pair"),
        (
            "span.begin",
            "Span.begin is a field of a named tuple, and never changes: name the variable",
        ),
        ("array[0]", "set a breakpoint where array[0] may be written, with a condition"),
        ("queue[0]", "A value of type deque keeps its items in C code"),
        ("line.parts[-1]", "grown or shrunk: watch the one that it is now, line.parts[2]"),
        ("line.parts[3]", "has 3 items, and no index 3"),
        ("line.parts['a']", "no index"),
        ("counts[[]]", "no key of a dict"),
        (
            "served.computed",
            "computed by a property: watch the attribute that it reads, served.kept",
        ),
        (
            "slotted.shown",
            "computed by a property: watch the attribute that it reads, slotted._hidden",
        ),
        ("served.anything", "Served.__getattr__ computes it"),
        ("served.limit", "watch Served.limit, or served.__dict__['limit'] for one of its own"),
        ("served.nothing", "nothing is not in this Served but in its class: watch Served.nothing"),
        ("line.prise", "no attribute prise; there is price"),
        ("slotted.sizes", "keeps no attribute sizes"),
        ("queue.maxlen", "kept by C code, which does not say when it writes: set a breakpoint"),
        ("int.real", "cannot change"),
        ("Served.limits", "has no attribute limits; there is limit"),
        ("sys.pathe", "has no pathe; there is path"),
        ("served_", "no variable served_; there is served"),
        ("len", "Python's own names"),
    ],
)
def test_what_cannot_be_watched_is_refused_with_the_reason(expression: str, reason: str) -> None:
    with pytest.raises(probe.TroubleError) as refused:
        probe.resolve_target(expression, stopped())
    error = refused.value.answer["error"]
    assert error["kind"] == "unwatchable"
    assert reason in error["message"]


class Listed:
    def __init__(self) -> None:
        self._names, self.own = ["a", "b"], Line()

    @property
    def names(self) -> list[str]:
        return list(self._names)

    @property
    def all_names(self) -> tuple[str, ...]:
        return tuple(self.names)

    @property
    def kept(self) -> list[str]:
        return self._names

    @property
    def line(self) -> Line:
        return Line()

    def made(self) -> list[int]:
        return [1]


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        (
            "listed.names[0]",
            "Listed.names is computed by a property, which makes a new list each time: watch what it"
            " reads, listed._names",
        ),
        ("listed.all_names[0]", "makes a new tuple each time: watch what it reads, listed._names"),
        ("listed.line.price", "Listed.line is computed by a property, which makes a new Line"),
        ("listed.made()[0]", "listed.made() is a new list each time: name what it is made of"),
        ("Line().price", "Line() is a new Line each time"),
    ],
)
def test_a_place_in_an_object_that_is_made_anew_is_refused(expression: str, reason: str) -> None:
    """Nobody else writes there, so a history of it would be empty, and a watch never stop."""
    listed = Listed()
    frame = sys._getframe()
    with pytest.raises(probe.TroubleError) as refused:
        probe.resolve_target(expression, frame)
    assert reason in refused.value.answer["error"]["message"]
    for kept in ("listed.kept[0]", "vars(listed)['own'].price", "listed.__dict__['own'].parts[0]"):
        assert probe.read_target(probe.resolve_target(kept, frame)) in ("a", 3, 1)
    assert listed.names == ["a", "b"]


@pytest.mark.parametrize("name", ["limit", "nothing"])
def test_an_attribute_that_only_the_class_has_is_noted_whatever_its_value(name: str) -> None:
    served = Served()
    target = probe.resolve_target(f"served.__dict__[{name!r}]", sys._getframe())
    assert target.owner is served
    assert f"writes to Served.{name} are not seen" in probe.note_of_class(target)


def test_an_owner_that_cannot_be_had_is_what_it_raised() -> None:
    with pytest.raises(probe.TroubleError) as refused:
        probe.resolve_target("counts['none'].x", stopped())
    assert refused.value.answer["error"] == {"kind": "raised", "message": "KeyError: 'none'"}
    with pytest.raises(probe.TroubleError) as refused:
        probe.resolve_target("line.", stopped())
    assert refused.value.answer["error"]["kind"] == "syntax"


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        (
            "proxy.price",
            "Proxied.__getattr__ computes it; watch what it reads: proxy._target.price",
        ),
        ("proxy.unset", "proxy.unset is not stored: Proxied.__getattr__ computes it"),
        ("private._count", "watch what it reads: private.__private_values__['_count']"),
        (
            "watched.size",
            "Watched.__getattribute__ computes watched.size; watch what is kept: watched.__dict__['size']",
        ),
        ("Kind.more", "Kind.more is not stored: Asked.__getattr__ computes it"),
        ("module.late", "module.late is not stored: module.__getattr__ computes it"),
        ("loaded.version", "computed by a property"),
        ("holder.given", "Holder.given is computed by a Computed"),
        (
            "holder.once",
            "by a Once; watch what it reads, or what it keeps: holder.__dict__['once']",
        ),
        ("row.rate", "a Column: watch the attribute that it reads, row.__data__['rate']"),
        ("bill.total", "by a Named: watch the attribute that it reads, bill._total"),
        ("point.x", "Point.x is kept by C code, which does not say when it writes"),
        ("users['a']", "name the dict or list that it keeps them in, users.data['a']"),
        ("users['b']", "name the dict or list that it keeps them in"),
        ("listed[0]", "name the dict or list that it keeps them in, listed.data[0]"),
        ("behind.price", "watch what it reads: behind._get_current_object().price"),
        ("ledger['a']", "Ledger.__getitem__ computes ledger['a']"),
        ("folded['X']", "a breakpoint in Folded.__setitem__ sees it written"),
        ("filled['b']", "Filled.__missing__ computes it"),
        ("backwards[0]", "Reversed.__getitem__ computes backwards[0]"),
        ("kept.x", "cannot be watched as attributes; watch kept['x']"),
        ("local.x", "kept for each thread apart, by C code: this thread's is local.__dict__['x']"),
        ("own_local.x", "by C code: this thread's is own_local.__dict__['x']"),
    ],
)
def test_what_the_programs_code_computes_is_refused_and_not_run(
    expression: str, reason: str
) -> None:
    frame = computing()
    for may_come in (False, True):
        with pytest.raises(probe.TroubleError) as refused:
            probe.resolve_target(expression, frame, may_come)
        error = refused.value.answer["error"]
        assert error["kind"] == "unwatchable"
        assert reason in error["message"]
    assert asked == []


@pytest.mark.parametrize(
    "expression",
    ["proxy._target.price", "Kind.own", "module.kept", "kept['x']", "watched.__dict__['size']"],
)
def test_what_is_stored_beside_what_is_computed_is_a_place(expression: str) -> None:
    target = probe.resolve_target(expression, computing())
    assert probe.read_target(target) in (1, 3)


def test_the_dict_of_another_object_is_refused_where_a_proxy_in_c_shows_it() -> None:
    failure = ValueError()
    failure.code = 1  # type: ignore[attr-defined]
    part = probe.OwnerPart(failure, "failure")
    probe.refuse_borrowed_dict(part, "code", "failure.code", failure.__dict__)
    with pytest.raises(probe.TroubleError) as refused:
        probe.refuse_borrowed_dict(part, "code", "failure.code", {"code": 1})
    assert "failure.code is that of another object" in refused.value.answer["error"]["message"]
