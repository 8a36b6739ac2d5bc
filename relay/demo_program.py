"""A small shop with a bug, for `relay demo` to find. Standard library only."""

import json

PRICES = {"apple": 0.5, "bread": 2.25, "cheese": 7.9}


def parse_order(text: str) -> list[tuple[str, int]]:
    order = json.loads(text)
    return [(line["item"], line["quantity"]) for line in order["lines"]]


def line_total(item: str, quantity: int) -> float:
    price = PRICES[item]
    return price * quantity


def order_total(lines: list[tuple[str, int]], discount: float) -> float:
    total = 0.0
    for item, quantity in lines:
        total = line_total(item, quantity)
    return total - total * discount


def main() -> None:
    text = """{"lines": [
        {"item": "apple", "quantity": 10},
        {"item": "bread", "quantity": 2},
        {"item": "cheese", "quantity": 1}
    ]}"""
    lines = parse_order(text)
    print(f"{len(lines)} lines ordered")
    total = order_total(lines, discount=0.1)
    expected = (10 * 0.5 + 2 * 2.25 + 7.9) * 0.9
    if abs(total - expected) > 0.005:
        raise ValueError(f"the order costs {expected:.2f}, but we asked for {total:.2f}")
    print("the total is right")


if __name__ == "__main__":
    main()
