"""What lies on the stack at a store, also where it was copied or moved there: by an augmented assignment."""

from __future__ import annotations

from typing import Any

import pytest

from relay.debuggers.debugpy.debuggee.probe import entry as _entry

probe: Any = _entry

CART = ("global", "cart")
ROWS = ("attribute", CART, "rows")
STORES: dict[str, tuple[str, list[Any]]] = {
    "cart.total = x": ("STORE_ATTR", [CART]),
    "cart.total += x": ("STORE_ATTR", [CART]),
    "cart.total -= f(x, 2) * 3": ("STORE_ATTR", [CART]),
    "cart.rows[x] = f(1)": ("STORE_SUBSCR", [("local", "x"), ROWS]),
    "cart.rows[x] += 1": ("STORE_SUBSCR", [("local", "x"), ROWS]),
    "cart.rows[0] *= x.y[2]": ("STORE_SUBSCR", [("constant", 0), ROWS]),
    "cart.rows[1], y = 2, 3": ("STORE_SUBSCR", [("constant", 1), ROWS]),
}


def stored_to(statement: str, operation: str, depth: int) -> Any:
    names: dict[str, Any] = {}
    exec(f"def function(x, f):\n {statement}", names)
    code = names["function"].__code__
    (site,) = [n for n, one in enumerate(probe.facts_of(code)[0]) if one.opname == operation]
    return probe.stacked(code, site, depth)


@pytest.mark.parametrize("statement", STORES)
def test_what_a_statement_stores_to_is_known(statement: str) -> None:
    operation, below = STORES[statement]
    found = [stored_to(statement, operation, depth) for depth in range(len(below))]
    assert found == below


def test_where_two_ways_lead_to_a_store_nothing_is_known() -> None:
    assert stored_to("(cart or x).total = 1", "STORE_ATTR", 0) == probe.UNKNOWN
