"""Who wrote a value, where the code that writes names neither a setter nor what it sets."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.e2e.api import Api
from tests.e2e.test_history import is_complete, stopped, why
from tests.e2e.test_history_recorded import python, recorded_at
from tests.programs import Program

__all__ = ["python"]  # a fixture

Write = Callable[..., Program]

UNNAMED = """
    mode = "idle"  # @idle
    _put = object.__setattr__

    class Seat:
        __slots__ = ("held",)

    class Job:
        state = None  # @none

    def sit(seat, value):
        _put(seat, "held", value)  # @sat

    def close(job, put=object.__setattr__):
        put(job, "state", 7)  # @closed

    def changer():
        change = type.__setattr__
        def inner(value):
            change(Job, "state", value)  # @changed
        return inner

    def configure(**given):
        for key, value in given.items():
            globals()[key] = value  # @configured

    def fill(space, values):
        space.update(values)  # @filled

    def store(space, value):
        space["state"] = value  # @stored

    def merge(space, values):
        space |= values  # @merged

    class Kit:
        def __init__(self):
            self.use = object.__setattr__

        def lift(self, seat, value):
            self.use(seat, "held", value)  # @lifted

    later = None

    def late(job, value):
        later(job, "state", value)  # @late

    def split(job, value):
        (  # @split
            setattr
        )(
            job,
            "state",
            value,
        )

    def by_text(seat, value):
        getattr(object, "__setattr__")(seat, "held", value)  # @by_text

    store({}, 1)
    fill({}, {})
    seat, job, change = Seat(), Job(), changer()
    seat.held = 4  # @held
    sit(seat, 0)
    sit(seat, 4)
    change(1)
    change(None)
    configure(mode="busy")
    configure(mode="idle")
    job.state = 1  # @begun
    fill(vars(job), {"state": 2})
    store(vars(job), 3)
    merge(vars(job), {"state": 4})
    close(job)
    job.state = 1  # @last
    kit = Kit()
    kit.lift(seat, 8)
    kit.lift(seat, 4)
    try:
        late(job, 0)
    except TypeError:
        later = object.__setattr__
    late(job, 5)
    late(job, 1)
    split(job, 6)
    split(job, 1)
    by_text(seat, 6)
    by_text(seat, 4)
    pass  # @here
"""
UNNAMED_WRITES: dict[str, list[tuple[str | None, str | None, str]]] = {
    "seat.held": [
        ("6", "4", "by_text"),
        ("4", "6", "by_text"),
        ("8", "4", "lifted"),
        ("4", "8", "lifted"),
        ("0", "4", "sat"),
        ("4", "0", "sat"),
        (None, "4", "held"),
    ],
    "Job.state": [("1", "None", "changed"), ("None", "1", "changed"), (None, "None", "none")],
    "mode": [
        ("'busy'", "'idle'", "configured"),
        ("'idle'", "'busy'", "configured"),
        (None, "'idle'", "idle"),
    ],
    "job.state": [
        ("6", "1", "split"),
        ("1", "6", "split"),
        ("5", "1", "late"),
        ("1", "5", "late"),
        ("7", "1", "last"),
        ("4", "7", "closed"),
        ("3", "4", "merged"),
        ("2", "3", "stored"),
        ("1", "2", "filled"),
        (None, "1", "begun"),
    ],
}


async def test_writers_by_other_names_and_dicts_that_are_namespaces_are_seen(
    api: Api, program: Write, python: str
) -> None:
    code = program(UNNAMED)
    session = await recorded_at(api, code, "here", *UNNAMED_WRITES, python=python)
    for expression, expected in UNNAMED_WRITES.items():
        await is_complete(session, code, expression, expected)


FIELDS = """
    from attrs import define, field, validators

    @define
    class Account:
        rate: int = field(validator=validators.instance_of(int))

    account = Account(4)  # @made
    account.rate = 0  # @closed
    account.rate = 4  # @opened
    pass  # @here
"""


async def test_the_setter_of_a_library_is_seen_by_whatever_name_it_has(
    api: Api, program: Write
) -> None:
    code = program(FIELDS)
    session = await stopped(api, code, "here")
    told = await why(session, "account.rate")
    lines = [
        next(f["line"] for f in one["stack"] if f["path"] == code.text) for one in told["writes"]
    ]
    assert [(one["old"], one["new"]) for one in told["writes"]] == [
        ("0", "4"),
        ("4", "0"),
        (None, "4"),
    ]
    assert lines == [code.line(mark) for mark in ("opened", "closed", "made")]
    assert told["complete"] is True, told


UNSURE = """
    from pydantic import BaseModel

    class Account(BaseModel):
        rate: int = 4

    class Box:
        pass

    account, box, first, second = Account.model_construct(), Box(), {}, {}
    space = account.__dict__
    del space["rate"]
    account.rate = 2  # @account
    box.rate = 1  # @box
    first["k"] = second["k"] = 1  # @items
    for value in (2, 1):
        list(map(first.__setitem__, ["k"], [value]))
    pass  # @before
    for value in (2, 1):
        list(map(setattr, [box], ["rate"], [value]))
    pass  # @here
"""


async def test_writes_that_may_have_gone_unseen_are_not_said_to_be_all(
    api: Api, program: Write
) -> None:
    code = program(UNSURE)
    expressions = ["account.rate", "box.rate", "first['k']", "second['k']"]
    session = await recorded_at(api, code, "before", *expressions)
    told = await why(session, "account.rate")
    assert (told["writes"][0]["new"], told["complete"]) == ("2", False)
    assert told["reason"] == "code in C of its class may have written, too"
    await is_complete(session, code, "box.rate", [(None, "1", "box")])
    await is_complete(session, code, "second['k']", [(None, "1", "items")])
    given = "what was given a function to write with, as by map(setattr, …), may have written, too"
    told = await why(session, "first['k']")
    assert (len(told["writes"]), told["complete"], told["reason"]) == (1, False, given)
    await session.breakpoint(code.text, code.line("here"))
    await session.post("/continue", wait=20)
    told = await why(session, "box.rate")
    assert (len(told["writes"]), told["complete"], told["reason"]) == (1, False, given)


REPLACES = """
    from collections import namedtuple

    pair = namedtuple("Pair", "left right")(1, 2)
    for left in range(10):
        pair = pair._replace(left=left)
        found = {}
        found["left"] = left  # @left
    pass  # @here
"""


async def test_the_dict_of_a_tuple_that_is_replaced_is_nobody_s_any_more(
    api: Api, program: Write
) -> None:
    code = program(REPLACES)
    session = await recorded_at(api, code, "here", "found['left']")
    await is_complete(session, code, "found['left']", [(None, "9", "left")])


REFUSED = """
    import types
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Frozen:
        rate: int

    class Owner:
        rate = 1  # @owner

    class Own:
        def __setattr__(self, name, value):
            object.__setattr__(self, name, value)

    def replace(thing):
        try:
            thing.__dict__ = {"rate": 5}
        except (AttributeError, TypeError):
            pass

    frozen, space, own = Frozen(1), types.SimpleNamespace(), Own()  # @frozen
    space.rate = 1  # @space
    own.rate = 1  # @own
    for thing in (frozen, space, Owner, own):
        replace(thing)
    pass  # @here
"""


async def test_a_dict_that_an_object_refuses_is_no_write(
    api: Api, program: Write, python: str
) -> None:
    """It was told as one, though the value was never there."""
    code = program(REFUSED)
    session = await recorded_at(
        api, code, "here", "frozen.rate", "space.rate", "Owner.rate", "own.rate", python=python
    )
    await is_complete(session, code, "frozen.rate", [(None, "1", "frozen")])
    await is_complete(session, code, "space.rate", [(None, "1", "space")])
    await is_complete(session, code, "Owner.rate", [(None, "1", "owner")])
    told = await why(session, "own.rate")
    assert told["value"] == "5"
    assert ([one["new"] for one in told["writes"]], told["complete"]) == (["1"], False)


BESIDE_ITEMS = """
    from collections import OrderedDict

    class Table(dict):
        pass

    ordered, table = OrderedDict(rate=0), Table()
    ordered.rate = 1  # @ordered
    ordered["rate"] = 2
    ordered.update(rate=3)
    vars(ordered)["rate"] = 4  # @through
    ordered |= {"rate": 5}
    table["rate"] = 6
    table.rate = 7  # @table
    table.setdefault("rate", 8)
    del table["rate"]
    pass  # @here
"""


async def test_items_of_a_dict_that_has_attributes_are_no_writes_to_these(
    api: Api, program: Write, python: str
) -> None:
    code = program(BESIDE_ITEMS)
    session = await recorded_at(api, code, "here", "ordered.rate", "table.rate", python=python)
    expected = [("1", "4", "through"), (None, "1", "ordered")]
    await is_complete(session, code, "ordered.rate", expected)
    await is_complete(session, code, "table.rate", [(None, "7", "table")])


GIVING = """
    class Box:
        pass

    box = Box()
    box.rate = 1  # @box
    {way}
    print("over")  # @here
"""


@pytest.mark.parametrize(
    "way",
    [
        "for put in [setattr]: put(box, 'rate', 2); put(box, 'rate', 1)",
        "kit = {'put': setattr}; kit['put'](box, 'rate', 2); kit['put'](box, 'rate', 1)",
        "[*map(__import__('operator').methodcaller('__setattr__', 'rate', 1), [box])]",
        "import sys; sys.path.append('site-packages'); import giver; giver.give(box)",
    ],
)
async def test_a_setter_that_goes_where_no_name_says_may_have_written(
    api: Api, program: Write, tmp_path: Path, way: str
) -> None:
    giver = """
        def give(box):
            list(map(setattr, [box] * 2, ["rate"] * 2, [2, 1]))
    """
    Program.write(tmp_path / "site-packages" / "giver.py", giver)
    code = program(GIVING.format(way=way))
    session = await recorded_at(api, code, "here", "box.rate", cwd=str(tmp_path))
    told = await why(session, "box.rate")
    assert (told["value"], told["complete"]) == ("1", False)
    assert "may have written, too" in told["reason"]


PROXIES = """
    from werkzeug.local import LocalProxy

    class Box:
        pass

    behind, box, shelf, stored = Box(), Box(), {}, {}
    proxy, items = LocalProxy(lambda: behind), LocalProxy(lambda: stored)
    box.rate = box.size = 1  # @box
    shelf["a"] = shelf["b"] = 1  # @shelf
    proxy.rate = 2
    setattr(proxy, "rate", 3)
    items["a"] = 2
    print("over")  # @here
"""


@pytest.mark.skipif(find_spec("werkzeug") is None, reason="werkzeug is not installed")
async def test_a_proxy_of_werkzeug_may_have_written_what_was_written_by_it(
    api: Api, program: Write
) -> None:
    """It has a setter in C of its own, so wherever Flask was imported nothing was known to be all."""
    code = program(PROXIES)
    asked = ["box.size", "box.rate", "shelf['b']", "shelf['a']"]
    session = await recorded_at(api, code, "here", *asked)
    await is_complete(session, code, "box.size", [(None, "1", "box")])
    await is_complete(session, code, "shelf['b']", [(None, "1", "shelf")])
    for expression in ("box.rate", "shelf['a']"):
        told = await why(session, expression)
        assert (len(told["writes"]), told["complete"]) == (1, False)
        assert "may have written, too" in told["reason"]
