"""A client names files of a checkout, and the program has the package that is installed: each answer says so."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api
from tests.programs import Program
from tests.relays import completed

SECONDS = 90

CART = """
    def total(prices):
        return sum(prices)  # @sum
"""

MAIN = """
    import sys

    sys.path.insert(0, "installed")
    from shop.cart import total

    print(total([1, 2]))  # @call
"""

NOT_LOADED = "src/shop/cart.py"

Run = Callable[..., str]


@pytest.fixture
def cart(tmp_path: Path) -> Program:
    """The package's one module as it lies in the sources; `installed` has a copy, which main.py imports."""
    Program.write(tmp_path / "main.py", MAIN)
    for folder in ("installed", "src"):
        (tmp_path / folder / "shop").mkdir(parents=True)
        (tmp_path / folder / "shop" / "__init__.py").touch()
        cart = Program.write(tmp_path / folder / "shop" / "cart.py", CART)
    return cart


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """run(python, "--break", …, "main.py"): what `relay run` reports, which passes on the program's exit code 0."""

    def ran(python: str, *words: str) -> str:
        argv = [sys.executable, "-m", "relay", "run", "--python", python, *words]
        done = completed(argv, tmp_path, SECONDS)
        assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr
        return done.stderr

    return ran


@pytest.fixture
def copy(tmp_path: Path) -> str:
    """What is said of the module."""
    return f"the program has the module shop.cart from {tmp_path}/installed/shop/cart.py"


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.12", "3.13"])
def test_a_breakpoint_is_never_hit_in_a_file_of_which_another_copy_is_loaded(
    run: Run, cart: Program, copy: str, version: str
) -> None:
    line, function = f"{NOT_LOADED}:{cart.line('sum')}", f"{NOT_LOADED}:total"
    said = run(installed_python(version), "--break", line, "--break", function, "main.py")
    assert said.endswith(f"never hit: {line} ({copy}); {function} ({copy})\n")


@pytest.mark.parametrize("until", [(), ("--until-result", "result")])
@pytest.mark.parametrize("version", ["3.8", "3.11", "3.12", "3.13"])
def test_no_call_is_traced_there(
    run: Run, cart: Program, copy: str, version: str, until: tuple[str, ...]
) -> None:
    option = f"{NOT_LOADED}:total"
    said = run(installed_python(version), "--trace", option, *until, "main.py")
    assert said.endswith(f"--trace {option}: no such call; {copy}\n")


@pytest.mark.parametrize("focus", [NOT_LOADED, f"{NOT_LOADED}:total", "src/shop"])
def test_nothing_there_was_called(
    run: Run, cart: Program, copy: str, tmp_path: Path, focus: str
) -> None:
    said = run(sys.executable, "--calls", focus, "main.py")
    of = "in" if focus == "src/shop" else "of"
    if focus == "src/shop":
        copy = f"the program has the module shop from {tmp_path}/installed/shop/__init__.py"
    assert f"[calls] 0 calls of 0 functions; nothing {of} {focus} was called: {copy}\n" in said


def test_the_same_file_by_another_path_is_no_copy(run: Run, cart: Program, tmp_path: Path) -> None:
    cart.path.unlink()
    cart.path.symlink_to(tmp_path / "installed" / "shop" / "cart.py")
    said = run(sys.executable, "--trace", f"{NOT_LOADED}:total:prices == [3]", "main.py")
    assert "the module" not in said


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
async def test_it_is_said_however_the_program_was_launched(
    api: Api, cart: Program, copy: str, tmp_path: Path, mode: str
) -> None:
    main = Program(tmp_path / "main.py")
    session = await api.session(project_root=str(tmp_path))
    await session.breakpoint(main.text, main.line("call"))
    await session.launch(main.text, cwd=str(tmp_path), launch_mode=mode)
    found = await session.post("/trace", function=f"{NOT_LOADED}:total", wait=SECONDS)
    assert found["reason"] == f"the program ended before the call; called: 0 times; {copy}"
