"""Files that may have been meant by one that does not exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay.operations.paths import similar_files

FILES = [
    "app.py",
    "cart.py",
    "notes.txt",
    "src/shop/cart.py",
    "src/shop/price.py",
    "tests/test_cart.py",
]


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("ap.py", ["app.py"]),
        ("app", ["app.py"]),
        ("apple.py", ["app.py"]),
        ("note.txt", ["notes.txt"]),
        ("cart.txt", ["cart.py"]),
        ("zoo.py", []),  # equal in nothing but .py
        ("src/shop/crat.py", ["src/shop/cart.py"]),
        ("scr/shop/cart.py", ["src/shop/cart.py"]),
        ("src/shp/price.py", ["src/shop/price.py"]),
        ("test/test_cart.py", ["tests/test_cart.py"]),
        ("nowhere/deep/cart.py", ["cart.py"]),
        ("nowhere/crat.py", []),  # of another folder, and of another name
        ("app.py/x.py", []),
        ("CART.py", ["cart.py"]),
        ("App.PY", ["app.py"]),
        ("src/SHOP/cart.py", ["src/shop/cart.py"]),
    ],
)
def test_what_is_proposed_is_near_by_its_folder_and_by_its_name(
    tmp_path: Path, asked: str, meant: list[str]
) -> None:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert similar_files(str(tmp_path / asked)) == [str(tmp_path / name) for name in meant]
