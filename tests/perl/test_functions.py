"""Breakpoints on subs: by name, by package, before and after their files are loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.perl.driver import Peer, Refused, adapter
from tests.programs import Program

SHOP = """
    package Shop;

    sub new {
        my ($class, %given) = @_;  # @new
        return bless {%given}, $class;
    }

    sub price {  # no statement here
        # nor here
        my ($self, $count) = @_;  # @price
        return $self->{each} * $count;
    }

    1;
"""

MAIN = """
    use strict;
    use warnings;

    sub total {
        my ($shop, @counts) = @_;  # @total
        my $sum = 0;
        $sum += $shop->price($_) for @counts;
        return $sum;
    }

    sub short { return 7 }  # @short

    require Shop;
    my $shop = Shop->new(each => 3);
    print total($shop, 1, 2, 3), short(), "\\n";
"""


@pytest.fixture
def shop(tmp_path: Path) -> Program:
    return Program.write(tmp_path / "Shop.pm", SHOP)


@pytest.fixture
def main(tmp_path: Path, shop: Program) -> Program:
    return Program.write(tmp_path / "main.pl", MAIN)


async def start(peer: Peer, main: Program, *wanted: dict[str, Any]) -> list[dict[str, Any]]:
    await peer.start(main, includePaths=[str(main.path.parent)])
    return await named(peer, *wanted)


async def named(peer: Peer, *wanted: dict[str, Any]) -> list[dict[str, Any]]:
    body = await peer.ask("setFunctionBreakpoints", breakpoints=list(wanted))
    found: list[dict[str, Any]] = body["breakpoints"]
    return found


async def test_it_stops_at_the_first_statement_of_each(main: Program, shop: Program) -> None:
    async with adapter() as peer:
        names = ["total", "Shop::price", "&short", "no_such"]
        told = await start(peer, main, *({"name": name} for name in names))
        by_name = dict(zip(names, told, strict=True))
        assert [one["verified"] for one in told] == [True, False, True, False]
        assert by_name["total"]["source"] == {"path": main.text}
        assert by_name["total"]["line"] == main.line("total")
        assert by_name["no_such"]["message"] == "No sub of this name is known yet"
        await peer.ask("configurationDone")
        changed = (await peer.event("breakpoint"))["breakpoint"]
        assert changed["id"] == by_name["Shop::price"]["id"]
        assert (changed["source"]["path"], changed["line"]) == (shop.text, shop.line("price"))
        for name, line in (
            ("total", main.line("total")),
            *(("Shop::price", shop.line("price")),) * 3,
        ):
            why, frames = await peer.stop()
            assert (why["reason"], frames[0]["line"]) == ("function breakpoint", line)
            assert why["hitBreakpointIds"] == [by_name[name]["id"]]
            await peer.ask("continue", threadId=1)
        why, frames = await peer.stop()
        assert frames[0]["line"] == main.line("short")
        await peer.ask("continue", threadId=1)
        assert (await peer.event("exited"))["exitCode"] == 0
        assert peer.printed("stdout") == b"187\n"


async def test_conditions_hits_and_lines_beside_them(main: Program, shop: Program) -> None:
    async with adapter() as peer:
        wanted = {"name": "Shop.price", "condition": "$_[1] > 1", "hitCondition": "2"}
        (told,) = await start(peer, main, wanted)
        (line,) = await peer.places(shop, "price")
        assert line["id"] != told["id"]
        await peer.ask("configurationDone")
        hits = []
        for _ in range(3):
            why, _ = await peer.stop()
            hits.append((why["reason"], sorted(why["hitBreakpointIds"])))
            await peer.ask("continue", threadId=1)
        on_line = ("breakpoint", [line["id"]])
        assert hits == [on_line, on_line, ("function breakpoint", sorted([line["id"], told["id"]]))]
        await peer.event("exited")


async def test_set_and_taken_away_at_a_stop(main: Program, shop: Program) -> None:
    async with adapter() as peer:
        (total,) = await start(peer, main, {"name": "main::total"})
        await peer.ask("configurationDone")
        await peer.stop()
        again, price = await named(peer, {"name": "main::total"}, {"name": "Shop::price"})
        assert again == total, "what stays keeps its number"
        assert (price["verified"], price["line"]) == (True, shop.line("price"))
        why, frames = await peer.move("continue")
        assert frames[0]["name"] == "Shop::price"
        (line,) = await peer.places(shop, "price")
        assert await named(peer) == []
        why, _ = await peer.move("continue")
        assert (why["reason"], why["hitBreakpointIds"]) == ("breakpoint", [line["id"]])
        await peer.places(shop)
        await peer.ask("continue", threadId=1)
        await peer.event("exited")


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"name": "a b"}, "no name of a sub"),
        ({"name": ""}, "no name of a sub"),
        ({}, "no name of a sub"),
        ({"name": "total", "hitCondition": "0"}, "is not a number from 1 on"),
    ],
)
async def test_what_cannot_be_says_why_and_stops_nowhere(
    main: Program, wish: dict[str, Any], words: str
) -> None:
    async with adapter() as peer:
        (told,) = await start(peer, main, wish)
        assert not told["verified"]
        assert words in told["message"]
        await peer.ask("configurationDone")
        await peer.event("exited")
        assert not peer.events("stopped")


@pytest.mark.parametrize("breakpoints", ["total", [1], [{"name": 1}], [{"name": "a\0b"}]])
async def test_what_is_malformed_is_refused(main: Program, breakpoints: Any) -> None:
    async with adapter() as peer:
        await start(peer, main)
        with pytest.raises(Refused) as refused:
            await peer.ask("setFunctionBreakpoints", breakpoints=breakpoints)
        assert refused.value.number == 1004


async def test_a_restart_finds_them_anew(main: Program) -> None:
    async with adapter() as peer:
        await start(peer, main, {"name": "total"})
        await peer.ask("configurationDone")
        await peer.stop()
        await peer.ask("restart")
        why, frames = await peer.stop()
        assert (why["reason"], frames[0]["line"]) == ("function breakpoint", main.line("total"))


NAMED_IN_RUSSIAN = """
    use utf8;
    package Лавка;
    sub цена {
        my ($число) = @_;    # @price
        return $число * 2;
    }
    print цена(3), "\\n";
"""


async def test_the_name_of_a_sub_may_be_any_text(tmp_path: Path) -> None:
    program = Program.write(tmp_path / "shop.pl", NAMED_IN_RUSSIAN)
    async with adapter() as perl:
        await perl.start(program)
        await perl.ask("setFunctionBreakpoints", breakpoints=[{"name": "Лавка::цена"}])
        await perl.ask("configurationDone")
        stopped, frames = await perl.stop()
        assert stopped["reason"] == "function breakpoint"
        assert (frames[0]["name"], frames[0]["line"]) == ("Лавка::цена", program.line("price"))
