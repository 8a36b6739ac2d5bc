"""`relay watch` and `relay run --watch`: every change of a value, in a few lines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.cli.conftest import Shell
from tests.programs import Program

SHOP = """
    class Cart:
        def __init__(self):
            self.total = 0

        def add(self, price):
            self.total += price

        def discount(self, rate):
            self.total = self.total * rate / 100
            return self.total

    cart = Cart()
    prices = {"apple": 2}
    rates = memoryview(bytearray(b"12"))
    breakpoint()
    cart.add(40)
    cart.discount(10)

    class Till:
        opened = 0

    till = Till()
    till.name = "front"
    type(till).opened += 1  # @class
"""


def test_a_session_stops_when_a_value_changes(shell: Shell) -> None:
    script = Program.write(shell.directory / "shop.py", SHOP)
    shell("start", "--", script.text)
    assert shell("watch") == "nothing is watched\n"
    assert shell("watch", "--if", "new < old", "cart.total") == "data_1  cart.total  if new < old\n"
    shell.run("watch", "nobody", code=1)
    assert shell("watch", "cart") == "data_2  cart\n", "what is refused takes no number"
    assert shell("watch", "-d", "data_2") == "data_2 deleted\n"
    noted = "what changes within the dict is no change of prices: watch its items, such as prices['apple']"
    assert shell("watch", "prices") == f"data_3  prices  {noted}\n"
    shell("watch", "-d", "data_3")
    noted = "what changes within the memoryview is no change of rates"  # an array's items are in C
    assert shell("watch", "rates") == f"data_4  rates  {noted}\n"
    shell("watch", "-d", "data_4")
    stopped = shell("continue")
    assert "cart.total changed: shop.py:10 in discount\n40 -> 4.0, written at shop.py:9" in stopped
    assert shell.json("watch")["data_breakpoints"][0]["verified"] is True
    refused = shell.run("watch", "nobody", code=1)
    assert "There is no variable nobody" in refused.stderr
    shell("end")


def test_one_run_shows_each_change(tmp_path: Path) -> None:
    shop = Program.write(tmp_path / "shop.py", SHOP.replace("breakpoint()", "print('set')"))
    command = [sys.executable, "-m", "relay", "run", "--watch", "Cart.__init__:self.total"]
    command += ["--watch", "shop.py:14:nobody['a']", "--watch", "Cart.empty:self.total"]
    command += ["--watch", f"shop.py:{shop.line('class')}:till.opened"]
    ran = subprocess.run(
        [*command, "--", "shop.py"],
        cwd=tmp_path, env={**os.environ}, capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "set\n"
    heads = [line for line in ran.stderr.splitlines() if " -> " in line or line.startswith("[")]
    assert heads == [
        "[stop 1] self.total changed: shop.py:3 in __init__",
        "nothing -> 0, written at shop.py:3 in __init__",
        "[not watched] \"nobody['a']\": NameError: name 'nobody' is not defined",
        "[stop 2] self.total changed: shop.py:6 in add",
        "0 -> 40, written at shop.py:6 in add",
        "[stop 3] self.total changed: shop.py:10 in discount",
        "40 -> 4.0, written at shop.py:9 in discount",
        "[watched] till.opened: this Till has none of its own yet:"
        " writes to Till.opened are not seen, watch that too",
        "[end] exit code 0, 3 stops",
    ]
    never = "never hit: Cart.empty (no Python function of this name, if there is one, was called)"
    assert f"{never}\n" in ran.stderr
    within = "items and attributes of a value are watched by their own names"
    assert f"never changed: till.opened ({within})\n" in ran.stderr
    ran = subprocess.run(
        [*command[:4], "--json", *command[4:6], "--", "shop.py"],
        cwd=tmp_path, env={**os.environ}, capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    changes = [row["change"] for row in rows if row["type"] == "stop"]
    assert [(one["old"], one["new"]) for one in changes] == [
        (None, "0"),
        ("0", "40"),
        ("40", "4.0"),
    ]
    assert changes[2]["location"] == {"path": "shop.py", "line": 9, "function": "discount"}


FILLED = """
    import sys
    sys.path.append("site-packages")
    from setter import assign

    class Order:
        def __init__(self):
            self.total = 0

        def fill(self, total):
            assign(self, "total", total)  # @assign

    order = Order()
    order.fill(3)  # @fill
    print("over")
"""

SETTER = """
    def put(owner, name, value):
        owner.__dict__[name] = value  # @put
        return owner

    def assign(owner, name, value):
        return put(owner, name, value)
"""


def test_what_a_library_wrote_is_shown_where_the_program_had_it_written(tmp_path: Path) -> None:
    program = Program.write(tmp_path / "filled.py", FILLED)
    setter = Program.write(tmp_path / "site-packages" / "setter.py", SETTER)
    place = f"filled.py:{program.line('fill')}:order.total"
    ran = subprocess.run(
        [sys.executable, "-m", "relay", "run", "--watch", place, "--eval", "total", "--", "filled.py"],
        cwd=tmp_path, env={**os.environ}, capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (0, "over\n"), ran.stderr
    here = program.line("assign")
    head, change, *shown = ran.stderr.splitlines()
    assert head == f"[stop 1] order.total changed: filled.py:{here} in fill, frame 2"
    assert change == f"0 -> 3, written at setter.py:{setter.line('put')} in put"
    assert f'>{here}     assign(self, "total", total)  # @assign' in shown
    assert "eval total = 3" in shown
    assert "stack: (2 library frames) < fill filled.py" in ran.stderr


PROCESSES = """
    import os, subprocess, sys

    class Till:
        opened = 0

    till = Till()
    till.opened = 1  # @made
    def work():
        till.opened += 1
    if sys.argv[1:] == ["fork"]:
        if (pid := os.fork()) == 0:
            work()
            os._exit(0)
        os.waitpid(pid, 0)
    elif sys.argv[1:]:
        subprocess.run([sys.executable, __file__])
    else:
        work()
"""


def test_what_never_changed_may_have_done_so_in_another_process(tmp_path: Path) -> None:
    """A debugged fork has the watch; what was started anew has not, nor what nobody debugs."""
    program = Program.write(tmp_path / "till.py", PROCESSES)
    place = f"till.py:{program.line('made') + 1}:till.opened"
    of_one = "--watch is of the process that comes first to its place, and of its forks that are debugged"
    unseen = "1 process ran without the debugger: a fork"
    for option, kind, end in (
        ("--children", "fork", "[end] exit code 0, 1 stop"),
        ("--no-children", "fork", f"{unseen}; {of_one}"),
        ("--children", "start", f"1 child process was debugged, too; {of_one}"),
    ):
        ran = subprocess.run(
            [sys.executable, "-m", "relay", "run", option, "--watch", place, "--", "till.py", kind],
            cwd=tmp_path, env={**os.environ}, capture_output=True, text=True, timeout=90,
        )  # fmt: skip
        assert ran.stderr.splitlines()[-1] == end
        assert ("never changed: till.opened" in ran.stderr) is (end != "[end] exit code 0, 1 stop")


def test_what_another_debugger_stops_for_is_not_said_to_be_unchanged(tmp_path: Path) -> None:
    """DAP does not say what has changed, and Delve not even which data breakpoint it was."""
    adapter = [sys.executable, str(Path(__file__).parents[1] / "e2e" / "odd_adapter.py"), "watches"]
    state = tmp_path / "state"
    state.mkdir()
    (state / "config.json").write_text(json.dumps({"adapters": {"odd": {"command": adapter}}}))
    (tmp_path / "odd.txt").write_text("one\ntwo\nthree\n")
    ran = subprocess.run(
        [sys.executable, "-m", "relay", "run", "--adapter", "odd", "--watch", "odd.txt:1:n", "--", "odd.txt"],
        cwd=tmp_path, env={**os.environ, "RELAY_STATE_DIR": str(state)},
        capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    assert "[stop 1] data_breakpoint: odd.txt:" in ran.stderr
    assert "never changed" not in ran.stderr
