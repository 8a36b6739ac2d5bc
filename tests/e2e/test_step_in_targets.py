"""Of several calls in a line, one is chosen to step into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.api import Api, Refused
from tests.e2e.test_interpreters import VERSIONS, bare
from tests.programs import Program

Write = Callable[..., Program]

SHOP = """
    class Cart:
        total = 0

        def add(self, amount):
            self.total += amount  # @add
            return self.total

    def price(number):
        return number * 2  # @price

    def discount(number):
        return number - 1  # @discount

    def buy(cart):
        cart.add(price(discount(4)))  # @calls
        return cart.total == 6 or price(1)  # @last

    buy(Cart())
    print("end")  # @end
"""


async def at_the_calls(api: Api, shop: Program, mark: str = "calls", **more: Any) -> Any:
    session = await api.session(**more)
    await session.breakpoint(shop.text, shop.line(mark))
    await session.launch(shop.text)
    return session


async def target(session: Any, name: str) -> int:
    """The id of the call of this function, however the interpreter lets it be labelled."""
    targets = (await session.get("/step-in-targets"))["targets"]
    return next(int(one["id"]) for one in targets if one["label"].split("(")[0].endswith(name))


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_chosen_call_is_stepped_into(api: Api, program: Write, version: str) -> None:
    shop = program(SHOP)
    session = await at_the_calls(api, shop, python_path=bare(version))
    assert "step_in_targets" in (await session.get())["extras"]
    for name in ("discount", "price", "add"):
        chosen = await target(session, name)
        stepped = await session.post("/step-into", target_id=chosen, wait=30)
        place = stepped["current_location"]
        assert (place["function"].rpartition(".")[2], place["line"]) == (name, shop.line(name))
        assert stepped["stop_reason"] == "step"
        await session.post("/step-out", wait=30)
    await session.delete()


async def test_a_call_that_is_never_made_lets_the_function_end(api: Api, program: Write) -> None:
    shop = program(SHOP)
    session = await at_the_calls(api, shop, "last")
    stepped = await session.post("/step-into", target_id=await target(session, "price"), wait=30)
    assert stepped["current_location"]["function"] == "<module>"
    await session.delete()


@pytest.mark.parametrize("version", VERSIONS)
async def test_calls_with_keywords_and_stars_are_listed(
    api: Api, program: Write, version: str
) -> None:
    shop = program("""
        def named(*values, **more):
            return len(values)  # @named

        def starred(*values, **more):
            return len(values)  # @starred

        def plain(value):
            return value  # @plain

        def buy(bread, more):
            return len("é") + plain(named(1, bread=2)) + starred(*bread, **more)  # @calls

        buy([1], {"milk": 1})
    """)
    session = await at_the_calls(api, shop, python_path=bare(version))
    for name in ("named", "plain", "starred"):
        chosen = await target(session, name)
        stepped = await session.post("/step-into", target_id=chosen, wait=30)
        place = stepped["current_location"]
        assert (place["function"].rpartition(".")[2], place["line"]) == (name, shop.line(name))
        await session.post("/step-out", wait=30)
    await session.delete()


async def test_an_id_is_one_of_the_present_stop(api: Api, program: Write) -> None:
    shop = program(SHOP)
    session = await at_the_calls(api, shop)

    async def refusal(**body: Any) -> str:
        with pytest.raises(Refused) as refused:
            await session.post("/step-into", **body)
        assert refused.value.code == "INVALID_REQUEST"
        assert "List the calls" in refused.value.details["suggestion"]
        return str(refused.value)

    assert "none of the calls that were listed" in await refusal(target_id=0)
    chosen = await target(session, "price")
    assert "none of the calls" in await refusal(target_id=99)
    assert (await session.post("/step-into", wait=30))["current_location"]["function"] == "discount"
    assert "none of the calls" in await refusal(target_id=chosen)
    assert (await session.get("/step-in-targets"))["targets"] == []
    await session.delete()


async def test_perl_cannot(api: Api, program: Write) -> None:
    source = program("my $n = 1;\nprint $n;\n", "main.pl")
    session = await api.session(adapter="perl")
    await session.launch(source.text, stop_on_entry=True)
    for refused in (session.get("/step-in-targets"), session.post("/step-into", target_id=1)):
        with pytest.raises(Refused) as told:
            await refused
        assert told.value.code == "NOT_SUPPORTED"
    await session.delete()
