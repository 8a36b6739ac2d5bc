"""`relay diff`: the first own call of two runs that went otherwise."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from relay.config import load_settings
from relay.faces.cli.diff import say_that_it_takes_long
from relay.operations.compare import side_runs, two_runs, without_chance
from relay.operations.compare.recorded_run import run_recorded
from relay.operations.compare.sides import sides_of_commands
from tests.debuggers.bootstrap_runner import installed_python
from tests.programs import Program
from tests.relays import environment

SECONDS = 90

CART = """
    import os
    import sys
    import threading
    import time
    from fractions import Fraction

    class Cart:
        def __init__(self, rate):
            self.rate, self.items, self.made = rate, [], time.time()

        def add(self, name, count):
            self.items.append((name, count))
            return object(), id(self), os.getpid()

        def total(self):
            return round(sum(price(name) * count for name, count in self.items), 2)

    def price(name):
        return discounted({"apple": 3, "pear": 4}[name])

    def discounted(value):
        if "--sale" in sys.argv:
            log(value)
            return value / 2  # @sale
        return value

    def log(value):
        pass

    def audit(name):
        if "--audit" in sys.argv:
            log(name)

    def check(value):
        if "--broken" in sys.argv:
            raise ValueError("broken")  # @broken
        return {"b", "a", "c"} | {value}

    def at(now):
        return time.time()

    def since(start):
        return start[0]

    def main():
        cart = Cart(2)
        cart.add("apple", 1); at(time.time())
        since((time.monotonic_ns(), {"t": time.perf_counter()}, Fraction(time.monotonic())))
        worker = threading.Thread(target=audit, args=("plum",))
        worker.start(); worker.join()
        check("x")
        print(cart.total())

    main()
"""

TREES = """
    import os, traceback

    HERE = os.path.dirname(os.path.abspath(__file__))

    def traced():
        try:
            long_message()
        except ValueError:
            return traceback.format_exc() + "x" * 600

    def long_message():
        raise ValueError(f"in {HERE}: " + "y" * 300)

    def key():
        raise KeyError(os.path.join(HERE, "z" * 40))

    def stored():
        error = ValueError((os.path.join(HERE, "z" * 60), 1), HERE + "q" * 380)
        raise error

    def encoded():
        return (HERE + "b" * 500).encode()

    def short():
        return HERE + "e" * 399

    traced()
    for function in (key, stored):
        try:
            function()
        except (KeyError, ValueError):
            pass
    encoded()
    short()
"""

UNFINISHED = """
    import sys

    OTHER = len(sys.argv) > 1

    class Shop:
        def __init__(self):
            self.at_work = work(self)

        def resume(self, number):
            return self.at_work.send(number)

    def price(number):
        return number + OTHER * (number == 3)

    def work(shop):
        number = yield 0
        while True:
            number = yield price(number)

    def opened():
        return Shop()

    def counted(number):
        yield number
        yield number
        yield 3

    shop = opened()
    shop.resume(None)
    if "early" in sys.argv:
        counter = counted(5)
        list(counter) if "over" in sys.argv else next(counter)
    else:
        shop.resume(2), shop.resume(3)
        if OTHER:
            shop.at_work.close()
"""

Diff = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def diff(tmp_path: Path) -> Diff:
    """diff("--rev", …) runs `relay diff` in the directory of the program."""

    def ran(
        *words: str, cwd: Path = tmp_path, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "relay", "diff", *words],
            cwd=cwd,
            env=_environment(tmp_path) | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    return ran


def _environment(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path / ".state") | {"TMPDIR": str(_made(tmp_path))}


def _made(path: Path) -> Path:
    temporary = path / ".tmp"
    temporary.mkdir(exist_ok=True)
    return temporary


def git(directory: Path, *words: str) -> str:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", "-C", str(directory), *who, *words], capture_output=True, text=True, check=True
    )
    return done.stdout


def test_of_calls_that_differ_the_one_that_ended_first_is_shown(diff: Diff, tmp_path: Path) -> None:
    cart = Program.write(tmp_path / "main.py", CART)
    sale = diff("--", "main.py", ":::", "main.py", "--sale")
    assert (sale.returncode, sale.stderr) == (1, "")
    assert sale.stdout.splitlines() == [
        f"first call that differs: discounted at main.py:{cart.line('sale') - 3}",
        "  with value=3",
        "1: → 3",
        "2: → 1.5",
        "called by price, Cart.total, main",
        "3 of 10 calls with equal arguments differ",
    ]
    focused = diff("--focus", "main.py:price", "--", "main.py", ":::", "main.py", "--sale")
    assert focused.stdout.splitlines()[0] == (
        f"first call that differs: price at main.py:{cart.line('sale') - 6}"
    )
    broken = diff("--", "main.py", ":::", "main.py", "--broken")
    assert broken.returncode == 1
    assert broken.stdout.splitlines()[1:4] == [
        "  with value='x'",
        "1: → {'a', 'b', 'c', 'x'}",
        f"2: raised ValueError: broken at line {cart.line('broken')}",
    ]
    audit = diff("--", "main.py", "--audit", ":::", "main.py", "--sale")
    assert audit.stdout.splitlines()[1:4] == [
        "  with name='plum'",
        "1: calls log('plum')",
        "2: calls no more",
    ]
    assert all(len(one.stdout.encode()) <= 701 for one in (sale, broken, audit))


CHANGES = """
    import sys
    import time
    import unittest

    class Stock:
        def __init__(self):
            self.left, self.log = {"apple": 3}, []
            self.call_time = time.perf_counter()

        def take(self, name, count):  # @take
            self.noted(name)
            self.left[name] -= count * (2 if "--twice" in sys.argv else 1)

        def noted(self, name):
            name = [name]
            self.log += name

        def empty(self):
            return not self.left["apple"]

    class StockTest(unittest.TestCase):
        def test_apart(self):
            time.sleep(0.001)

        def test_stock(self):  # @test
            stock = Stock()
            stock.take("apple", 1)
            print(stock.left if "--quiet" not in sys.argv else "")
            if "--test" in sys.argv:
                self.assertEqual(2, stock.left["apple"])  # @assert
                stock.empty()

    if __name__ == "__main__":
        words = sys.argv[1:]
        unittest.main(argv=sys.argv[:1])
"""


def test_a_call_that_changes_its_arguments_otherwise_differs_where_no_outcome_says_why(
    diff: Diff, tmp_path: Path
) -> None:
    stock = Program.write(tmp_path / "stock.py", CHANGES)
    place = f"Stock.take at stock.py:{stock.line('take')}"
    take = [
        "  with self=<Stock call_time=<time>, left={'apple': 3}, log=[]>, name='apple', count=1",
        "1: leaves self=<Stock call_time=<time>, left={'apple': 2}, log=['apple']>",
        "2: leaves self=<Stock call_time=<time>, left={'apple': 1}, log=['apple']>",
    ]
    printed = diff("--", "stock.py", ":::", "stock.py", "--twice")
    assert (printed.returncode, printed.stderr) == (1, "")
    assert printed.stdout.splitlines() == [
        f"first call that differs: {place}",
        *take,
        "called by StockTest.test_stock",
        "no result, exception or branch differs",
    ]
    tested = diff("--", "stock.py", "--test", ":::", "stock.py", "--test", "--twice")
    assert tested.returncode == 1
    shown = tested.stdout.splitlines()
    assert shown[:1] + shown[2:-1] == [
        f"first call that differs: StockTest.test_stock at stock.py:{stock.line('test')}",
        "1: → None",
        f"2: raised AssertionError: 2 != 1 at line {stock.line('assert')}",
        f"before it, arguments are changed otherwise by {place}",
        *take,
    ]
    assert all(len(one.stdout.encode()) <= 701 for one in (printed, tested))


LONG_TEXTS = """
    import sys

    class Catalogue:
        def __init__(self):
            self.words = ["a word among many of this catalogue"] * 3
            self.count = 0

        def fill(self, first, second, third):  # @fills
            self.count += 2 if "--twice" in sys.argv else 1
            filled(self.count)

    def filled(count):
        pass

    def what_the_catalogue_has(first, second, third):  # @reads
        return ["what this catalogue has " + "told of itself " * 4, catalogue.count, first]

    catalogue = Catalogue()
    texts = [letter * 60 for letter in "abc"]
    catalogue.fill(*texts)
    what_the_catalogue_has(*texts)
"""


def test_of_an_answer_that_is_too_long_each_line_keeps_its_beginning(
    diff: Diff, tmp_path: Path
) -> None:
    """What the earlier call has left is what explains the difference, and stands near the end."""
    Program.write(tmp_path / "catalogue.py", LONG_TEXTS)
    done = diff("--", "catalogue.py", ":::", "catalogue.py", "--twice")
    shown = done.stdout.splitlines()
    assert len(done.stdout.encode()) <= 701
    assert [line.partition(" ")[0] for line in shown] == [
        "first",
        "",  # with what
        "1:",
        "2:",
        "before",
        "",
        "1:",
        "2:",
        "1",  # of so many calls
    ]
    assert shown[6].startswith("1: leaves self=<Catalogue count=1, ")
    assert shown[7].startswith("2: leaves self=<Catalogue count=2, ")


def test_of_an_answer_that_is_too_long_no_place_is_cut(diff: Diff, tmp_path: Path) -> None:
    name = "where_the_catalogue_of_this_shop_is_filled_with_all_that_it_has_to_sell.py"
    program = Program.write(tmp_path / name, LONG_TEXTS)
    done = diff("--", name, ":::", name, "--twice")
    shown = done.stdout.splitlines()
    assert len(done.stdout.encode()) <= 701
    assert [line for line in shown if " at " in line] == [
        f"first call that differs: what_the_catalogue_has at {name}:{program.line('reads')}",
        "before it, arguments are changed otherwise by "
        f"Catalogue.fill at {name}:{program.line('fills')}",
    ]
    assert shown[6].startswith("1: leaves self=<Catalogue count=1")


TURNS = """
    import sys

    def feed(queue, need):
        queue.append(need)
        yield
        queue.append("over")

    def main():  # @main
        queue = []
        turns = [feed(queue, 1), feed(queue, 3 if "--more" in sys.argv else 2)]
        for turn in turns * 2:
            next(turn, None)

    main()
"""


def test_what_is_changed_behind_the_place_where_the_runs_part_explains_nothing(
    diff: Diff, tmp_path: Path
) -> None:
    """The first generator ends when the second has put another number into the queue of both."""
    turns = Program.write(tmp_path / "main.py", TURNS)
    done = diff("--", "main.py", ":::", "main.py", "--more")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines() == [
        f"first call that differs: main at main.py:{turns.line('main')}",
        "1: calls feed([1], 2), after 1 equal call",
        "2: calls feed([1], 3), after 1 equal call",
        "1 of 2 calls with equal arguments differ",
    ]


OPTIONS = """
    import argparse

    def options():
        parser = argparse.ArgumentParser()
        parser.add_argument("--other", action="store_true")
        return parser.parse_args()

    def order():
        return list({"apple", "pear", "plum", "fig", "quince", "medlar"})

    def header(number):
        return "use ghp_" + ("a1B2" if OTHER else "z9Y8") * 9

    def main():
        global OTHER
        OTHER = options().other
        order()
        header(1)

    main()
"""


def test_options_are_not_all_that_is_told_and_credentials_are_masked_and_hashes_have_one_seed(
    diff: Diff, tmp_path: Path
) -> None:
    source = Program.write(tmp_path / "main.py", OPTIONS)
    done = diff("--", "main.py", ":::", "main.py", "--other", PYTHONHASHSEED="random")
    assert (done.returncode, done.stderr) == (1, "")
    line = source.path.read_text().splitlines().index
    assert done.stdout.splitlines() == [
        f"first call that differs: options at main.py:{line('def options():') + 1}",
        "1: → <Namespace other=False>",
        "2: → <Namespace other=True>",
        "called by main",
        f"next that gives no options: header at main.py:{line('def header(number):') + 1}",
        "  with number=1",
        "1: → 'use ***'",
        "2: → 'use ***'",
        "what differs is masked",
        "2 of 4 calls with equal arguments differ",
    ]


def test_what_is_masked_by_its_name_is_compared_all_the_same(diff: Diff, tmp_path: Path) -> None:
    Program.write(
        tmp_path / "lexer.py",
        """
        import sys

        BUG = "--bug" in sys.argv

        def next_token(at):
            return f"of {at} {BUG}"

        def size(token):
            return len(token)

        size("longer" if BUG else "long")
        size({"token": b"1"}["token"])
        next_token(1)
        """,
    )
    done = diff("--", "lexer.py", ":::", "lexer.py", "--bug")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines() == [
        "first call that differs: next_token at lexer.py:5",
        "  with at=1",
        "1: → ***",
        "2: → ***",
        "what differs is masked",
        "1 of 2 calls with equal arguments differ",
    ]


def test_a_tuple_of_one_item_is_written_as_python_writes_it(diff: Diff, tmp_path: Path) -> None:
    program = Program.write(
        tmp_path / "rows.py",
        """
        import sys

        class Row(tuple):
            pass

        def size(row, *rest):
            return len(sys.argv)

        size((1,), Row([2]), (3, (4,)))
    """,
    )
    compared = diff(program.path.name, ":::", program.path.name, "more")
    assert "  with row=(1,), rest=(Row((2,)), (3, (4,)))\n" in compared.stdout


def test_two_scripts_are_one_program_whatever_they_are_called(diff: Diff, tmp_path: Path) -> None:
    Program.write(tmp_path / "main.py", CART)
    cheap = Program.write(tmp_path / "cheap" / "sale.py", CART.replace('"--sale" in sys.argv', "1"))
    done = diff("--", "main.py", ":::", "./cheap/../cheap/sale.py")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines()[:4] == [
        f"first call that differs: discounted at main.py:{cheap.line('sale') - 3}",
        "  with value=3",
        "1: → 3",
        "2: → 1.5",
    ]


def test_calls_that_only_defaults_tell_apart_are_compared_and_the_defaults_named(
    diff: Diff, tmp_path: Path
) -> None:
    source = """
        def price(name, tax={tax}, *, sign="€"{more}):
            return {result}

        def rate(value={value}):
            return 1

        rate()
        price("pear", 0.5)
        price("pear")
    """
    for name, parts in {
        "one": {"tax": 0.1, "result": "len(name)", "more": "", "value": 1},
        "two": {"tax": 0.5, "result": "len(name)", "more": ", rounds=None", "value": 1},
        "other": {"tax": 0.5, "result": "len(name) + tax", "more": "", "value": "0 + 1"},
    }.items():
        Program.write(tmp_path / f"{name}.py", source.format(**parts))
    equal = diff("--", "one.py", ":::", "two.py")
    assert (equal.returncode, equal.stderr) == (0, "")
    assert equal.stdout == (
        "no call differs: 3 with equal arguments, of 3 and 3; 2 with other defaults (first price at "
        "one.py:1: default of rounds: no such parameter in 1, None in 2)\n"
    )
    other = diff("--", "one.py", ":::", "other.py")
    assert other.returncode == 1
    assert other.stdout.splitlines() == [
        "first call that differs: price at one.py:1",
        "  with name='pear', tax=0.5, sign='€'",
        "1: → 4",
        "2: → 4.5",
        "2 of 3 calls with equal arguments differ",
    ]
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "one.py")
    git(tmp_path, "commit", "-q", "-m", "one")
    text = source.format(tax=0.9, result="len(name) + tax", more="", value=1)
    Program.write(tmp_path / "one.py", text.replace(", 0.5", ""))
    revised = diff("--rev", "HEAD", "--focus", "one.py:price", "--", "one.py")
    assert revised.stdout.splitlines()[:5] == [
        "first call that differs: price at one.py:1",
        "  with name='pear', tax=0.9, sign='€'",
        "  default of tax: 0.9 in this tree, 0.1 in HEAD",
        "this tree: → 4.9",
        "HEAD: → 4",
    ]


def test_a_revision_that_git_cannot_check_out_is_refused_with_what_git_has_to_do(
    diff: Diff, tmp_path: Path
) -> None:
    Program.write(tmp_path / "one.py", "print(1)")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "one.py")
    git(tmp_path, "commit", "-q", "-m", "one")
    lost = git(tmp_path, "rev-parse", "HEAD:one.py").strip()
    (tmp_path / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    done = diff("--rev", "HEAD", "--", "one.py")
    assert done.returncode == 2, done
    assert "git made no worktree of HEAD: " in done.stderr
    assert "`git worktree add --detach DIRECTORY HEAD` has to work here" in done.stderr


def test_addresses_ids_and_times_are_no_difference(diff: Diff, tmp_path: Path) -> None:
    Program.write(tmp_path / "main.py", CART)
    done = diff("--", "main.py", ":::", "main.py", "--unknown")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "no call differs: 10 with equal arguments, of 10 and 10\n"


def test_a_hash_that_an_object_keeps_is_no_other_argument(diff: Diff, tmp_path: Path) -> None:
    """It is made of the class's address, and differs in each run; what the object is made of counts."""
    source = """
        import sys

        class Table:
            def __init__(self, name):
                self.name = name
                self._hash = hash((Table, name))

            def __hash__(self):
                return self._hash

        def column(table):  # @column
            return table.name + "_ids" if "--plural" in sys.argv else table.name + "_id"

        def query(names):
            return [column(Table(name)) for name in names]

        query(["apple", "pear"])
    """
    script = Program.write(tmp_path / "main.py", source)
    done = diff("--", "main.py", "--plural", ":::", "main.py")
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert lines[0] == f"first call that differs: column at main.py:{script.line('column')}"
    assert lines[2:5] == ["1: → 'apple_ids'", "2: → 'apple_id'", "called by query"]
    assert lines[-1] == "3 of 5 calls with equal arguments differ"


def test_a_drawn_number_that_looks_like_a_moment_in_one_run_is_no_other_argument(
    diff: Diff, tmp_path: Path
) -> None:
    source = """
        import random
        import sys
        import time

        class Table:
            def __init__(self, name, number):
                self.name = name
                self._hash = number

        def column(table):  # @column
            return table.name + "_ids" if "--plural" in sys.argv else table.name + "_id"

        def began(at):
            pass

        began(time.time_ns())
        drawn = random.SystemRandom().randrange(2 * 10**18, 9 * 10**18)
        looks_like_now = -time.time_ns()
        column(Table("apple", looks_like_now if "--plural" in sys.argv else drawn))
        began(time.time_ns())
    """
    script = Program.write(tmp_path / "main.py", source)
    done = diff("--", "main.py", "--plural", ":::", "main.py")
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert lines[0] == f"first call that differs: column at main.py:{script.line('column')}"
    assert lines[2:4] == ["1: → 'apple_ids'", "2: → 'apple_id'"]
    assert lines[-1] == "1 of 4 calls with equal arguments differ"


def test_before_what_reads_a_state_stands_the_call_that_gave_another_argument_on_its_way_there(
    diff: Diff, tmp_path: Path
) -> None:
    """What ended first reads what was stored; and what was the first to leave something else only stored it."""
    source = """
        import sys

        TEXT = "Curse your sudden but inevitable betrayal"
        FIELDS, DONE = [], []

        class Input:
            def __init__(self):
                self.value = TEXT
                FIELDS.append(self)

            def delete_word(self):  # @parts
                at = self.value.rindex(" ") + ("--fixed" in sys.argv)
                self.delete(at, len(self.value))

            def delete(self, begin, end):
                self.value = self.value[:begin] + self.value[end:]
                Message().sent()

        class Message:
            def sent(self):
                self.sender = FIELDS[0]
                DONE.append(self)

        def got():  # @reads
            return DONE.pop().sender.value

        field = Input()
        field.delete_word()
        got()
    """
    script = Program.write(tmp_path / "main.py", source)
    done = diff("--", "main.py", ":::", "main.py", "--fixed")
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert lines[0] == f"first call that differs: got at main.py:{script.line('reads')}"
    assert lines[3] == (
        f"before it, other calls are made by Input.delete_word at main.py:{script.line('parts')}"
    )
    assert [line.rpartition("…,")[2] for line in lines[5:7]] == [" 32, 41)", " 33, 41)"]


DRAWN = """
    import os
    import sys

    NAMES = {names}

    class Worker:
        def __init__(self, key):
            self.key = key
            self.pool_id = os.urandom(4).hex() + "a1"
            self.address = "127.0.0.1:%d" % (40000 + os.getpid() % 20000)

    def label(worker, name):  # @label
        return name + "_ids" if NAMES else name + "_id"

    def labels(worker):
        return [label(worker, "apple"), label(worker, "pear")]

    labels(Worker({key}))
    """


def test_ids_that_two_runs_of_one_side_have_drawn_are_no_other_argument(
    diff: Diff, tmp_path: Path
) -> None:
    """The object that each call is given has a token of its run; without that it is the same in all."""
    for name, names in [("one.py", "True"), ("two.py", "False")]:
        source = DRAWN.replace("{names}", names).replace("{key}", repr("0123abcd4567"))
        script = Program.write(tmp_path / name, source)
    done = diff("--", "one.py", ":::", "two.py")
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert lines[0] == f"first call that differs: label at one.py:{script.line('label')}"
    assert "0123abcd4567" in lines[1]
    assert "pool_id='<id>'" in lines[1]
    assert lines[2:4] == ["1: → 'apple_ids'", "2: → 'apple_id'"]


def test_a_digest_that_each_run_of_a_side_has_is_another_argument(
    diff: Diff, tmp_path: Path
) -> None:
    """It has the shape of what is drawn by lot, and differs in the two sides for a cause."""
    source = """
        import os
        import sys

        class Worker:
            def __init__(self, key):
                self.key = key
                self.pool_id = os.urandom(4).hex() + "a1"

        def key():  # @key
            return "0123abcd4567" if sys.argv[1:] else "89abcdef0123"

        def label(worker):
            return worker.key

        label(Worker(key()))
    """
    script = Program.write(tmp_path / "main.py", source)
    done = diff("--", "main.py", ":::", "main.py", "x")
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert lines[0] == f"first call that differs: key at main.py:{script.line('key')}"
    assert lines[1:3] == ["1: → '89abcdef0123'", "2: → '0123abcd4567'"]
    assert lines[-1].startswith("1 of ")


def test_hashes_of_objects_are_no_difference_and_fractions_that_look_like_ids_or_times_are(
    diff: Diff, tmp_path: Path
) -> None:
    source = """
        import sys

        class Key:
            pass

        def mark(key):
            return hash(key), object.__hash__(sys.stdout)

        def share():
            return 0.1634567890123456 if "--sale" in sys.argv else 0.1534567890123456

        def ratio():
            return 1.93123456789012 if "--sale" in sys.argv else 1.94123456789012

        mark(Key())
        share()
        ratio()
    """
    Program.write(tmp_path / "main.py", source)
    done = diff("--", "main.py", "--sale", ":::", "main.py")
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "first call that differs: share at main.py:9"
    assert "1: → 0.1634567890123456" in lines
    assert lines[-1] == "2 of 3 calls with equal arguments differ"


MOMENTS = """
    import datetime as dates
    import os
    import sys
    import time
    import uuid

    BUG = "--bug" in sys.argv
    EAST = dates.timezone(dates.timedelta(hours=2))
    FAR = int(sys.argv[1])  # the hour is another one now

    def now():
        moment = dates.datetime.now()
        return moment, moment.time(), dates.datetime.now(EAST), moment.isoformat(), str(moment)

    def clock():
        return time.time(), time.time_ns(), int(time.time() + 300 * 86400), time.strftime("%H:%M:%S")

    def names():
        return str(object()), hex(id(object())), os.getpid(), str(uuid.uuid4())

    def due(day):
        return day + dates.timedelta(days=30, hours=BUG)

    def text(day):
        return (day + dates.timedelta(hours=BUG)).isoformat(" ")

    def span(seconds):
        return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60 + BUG:02}"

    def color(number):
        return hex(number + BUG)

    def number():
        return 1600000000 + BUG

    def opened():
        return dates.time(FAR, 30 + BUG)

    now(), clock(), names()
    day = dates.datetime(2020, 1, 31, 5)
    due(day), text(day), span(3600 * FAR), color(0xAABBCC), number(), opened()
"""


BY_CHANCE = """
    import os
    import sys

    RATE = float(sys.argv[1])

    class State:
        pass

    def drawn():
        return os.urandom(8)  # @drawn

    def numbered(count):
        states = {State() for _ in range(count)}
        for number, state in enumerate(states):
            state.number = number
        return sum(1 for state in states if id(state) % 64 == 0), drawn()

    def price(count):
        return count * RATE

    def shop(count):
        return price(count), numbered(count)

    shop(100)
"""


def test_what_two_runs_of_one_side_differ_in_is_left_out(diff: Diff, tmp_path: Path) -> None:
    program = Program.write(tmp_path / "shop.py", BY_CHANCE)
    place = f"first drawn at shop.py:{program.line('drawn') - 1}"
    for words, why in (
        (["2", "--same"], "where two runs of command 1 differ, too"),
        (["2"], "where two runs of this one command differ"),
    ):
        found = diff("--", "shop.py", "2", ":::", "shop.py", *words)
        assert found.returncode == 0, found
        assert found.stdout.startswith("no call differs but for ")
        assert f"{why} ({place})" in found.stdout

    found = diff("--", "shop.py", "2", ":::", "shop.py", "3")
    assert found.returncode == 1, found
    lines = found.stdout.splitlines()
    assert lines[0].startswith("first call that differs: price at shop.py:")
    assert [line.strip() for line in lines[2:4]] == ["1: → 200.0", "2: → 300.0"]
    assert lines[-1].endswith(" more do so where two runs of one side differ, too")


BY_COUNT = """
    import sys
    from pathlib import Path

    def take(stock):
        stock.append(amount)

    count = Path("count")
    runs = len(count.read_text()) if count.exists() else 0
    count.write_text("x" * (runs + 1))
    amount = {2: 1}.get(runs, 2) if "--chance" in sys.argv else len(sys.argv)
    take([])
    print(sys.argv[1:])
"""


def test_a_third_run_of_a_side_shows_that_chance_decides_what_a_call_changes(
    diff: Diff, tmp_path: Path
) -> None:
    """The third and the fourth run record it, one of each side: only the fifth shows that it is no
    matter of sides. Each run counts itself, as chance does not what a test needs."""
    Program.write(tmp_path / "take.py", BY_COUNT)
    chance = diff("--", "take.py", "--chance", ":::", "take.py", "--chance", "--more")
    assert (chance.returncode, chance.stderr) == (0, "")
    head, *printed = chance.stdout.splitlines()
    assert head == "no call differs: 1 with equal arguments, of 1 and 1"
    assert printed[0] == "but what they print differs:", "their options"
    assert len((tmp_path / "count").read_text()) == 5
    (tmp_path / "count").unlink()
    cause = diff("--", "take.py", ":::", "take.py", "--more")
    assert (cause.returncode, cause.stderr) == (1, "")
    assert cause.stdout.splitlines()[1:] == [
        "  with stock=[]",
        "1: leaves stock=[1]",
        "2: leaves stock=[2]",
        "no result, exception or branch differs",
    ]
    assert len((tmp_path / "count").read_text()) == 6


MADE_BY_ONE = """
    import sys
    from pathlib import Path

    def price(name, *names, tags=(), **more):
        return name

    def shop(words):
        for word in words:
            price(word, tags=())

    def by_lot():
        pass

    price("apple")
    if "--more" in sys.argv:
        price("pear")
        price("plum", "fig")
    shop(sys.argv[2:])
    if "--lot" in sys.argv:
        with Path("count").open("a") as file:  # another number in each run
            file.write("x")
    for _ in Path("count").read_text() if "--lot" in sys.argv else "x":
        by_lot()
"""


def test_calls_that_only_one_run_makes_are_a_difference(diff: Diff, tmp_path: Path) -> None:
    shop = Program.write(tmp_path / "shop.py", MADE_BY_ONE)
    place = f"price at shop.py:{shop.path.read_text().splitlines().index('def shop(words):') - 2}"
    more = diff("--", "shop.py", "--plain", ":::", "shop.py", "--more")
    assert (more.returncode, more.stderr) == (1, "")
    assert more.stdout.splitlines() == [
        f"first of 2 calls that only command 2 makes: {place}",
        "  with name='pear', tags=()",
        "called by no function that is compared",
        "no call of both differs: 3 with equal arguments, of 3 and 5",
    ]
    both = diff("--", "shop.py", "--plain", "fig", ":::", "shop.py", "--more")
    assert (both.returncode, both.stderr) == (1, "")
    assert both.stdout.splitlines()[:4] == [
        f"a call that only command 1 makes: {place}",
        "  with name='fig', tags=()",
        "called by shop",
        f"first of 2 calls that only command 2 makes: {place}",
    ]
    other = diff("--", "shop.py", "--plain", "fig", ":::", "shop.py", "--plain", "nut")
    assert (other.returncode, other.stderr) == (0, "")
    at = shop.path.read_text().splitlines().index("def shop(words):") + 1
    assert other.stdout == (
        f"no call differs: 2 with equal arguments, of 4 and 4; 2 with other arguments (first shop at shop.py:{at})\n"
    )
    lot = diff("--", "shop.py", "--lot", ":::", "shop.py", "--lot", "--more")
    assert (lot.returncode, lot.stderr) == (1, "")
    assert lot.stdout.startswith("first of 3 calls that only command 2 makes: price at")
    assert "by_lot" not in lot.stdout
    same = diff("--", "shop.py", "--lot", ":::", "shop.py", "--lot")
    assert same.returncode == 0
    assert "; how often by_lot at shop.py:" in same.stdout
    assert "is called differs where two runs of this one command differ" in same.stdout


def test_moments_of_the_runs_are_no_difference_and_other_dates_and_numbers_are(
    diff: Diff, tmp_path: Path
) -> None:
    Program.write(tmp_path / "main.py", MOMENTS)
    far = str((time.gmtime().tm_hour + 12) % 24)
    equal = diff("--", "main.py", far, ":::", "main.py", far, "--unknown", TZ="Asia/Kolkata")
    assert (equal.returncode, equal.stderr) == (0, "")
    assert equal.stdout == "no call differs: 9 with equal arguments, of 9 and 9\n"
    done = diff("--", "main.py", far, "--bug", ":::", "main.py", far, TZ="UTC")
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("first call that differs: due at main.py:")
    assert lines[2] == "1: → datetime.datetime(2020, 3, 1, 6, 0)"
    assert lines[-1] == "6 of 9 calls with equal arguments differ"


def test_numbers_of_any_length_are_compared(diff: Diff, tmp_path: Path) -> None:
    source = """
        import sys
        from fractions import Fraction

        BUG = "--bug" in sys.argv

        def power(digits):
            return 10 ** (digits - 1) + BUG

        def text(digits):
            return str(power(4000)) + "0" * (digits - 4000)

        def dates():
            return f"datetime.datetime(2020, {power(30)}, 1)", f"datetime.time({power(30)}, 1)"

        for digits in 18, 19, 20, 320, 4000:
            power(digits)
        text(5000), Fraction(power(400), 3), dates()
    """
    Program.write(tmp_path / "main.py", source)
    equal = diff("--", "main.py", ":::", "main.py", "--unknown")
    assert (equal.returncode, equal.stderr) == (0, "")
    done = diff("--", "main.py", "--bug", ":::", "main.py")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("first call that differs: power at main.py:")


def test_a_number_that_is_by_chance_that_of_a_process_is_equal_in_both(
    diff: Diff, tmp_path: Path
) -> None:
    source = """
        import os
        from pathlib import Path

        def number():
            return int(first.read_text())

        first = Path("first")
        if not first.exists():
            first.write_text(str(os.getpid()))
        number()
    """
    Program.write(tmp_path / "main.py", source)
    done = diff("--", "main.py", ":::", "main.py", "--unknown")
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        "no call differs: 1 with equal arguments, of 1 and 1\n",
        "",
    )


def test_equal_runs_that_both_failed_say_so(diff: Diff, tmp_path: Path) -> None:
    source = "import sys\n\ndef main():\n    return 'usage:\\u2028 x'\n\nsys.exit(main())\n"
    Program.write(tmp_path / "main.py", source)
    done = diff("--", "main.py", ":::", "main.py", "--unknown")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "no call differs: 1 with equal arguments, of 1 and 1; both ended with exit code 1: usage:\u2028 x\n"
    )


def test_equal_calls_whose_programs_end_otherwise_are_a_difference_unless_by_chance(
    diff: Diff, tmp_path: Path
) -> None:
    source = """
        import os, sys

        def main(number):
            return 1

        main(1)
        if sys.argv[1] == "killed":
            os.kill(os.getpid(), 9)
        for number in range(600):
            main(number)
        if sys.argv[1] == "kill":
            os.kill(os.getpid(), 9)
        if sys.argv[1] == "in turn":
            with open("count", "a+") as file:
                file.write("+")
            sys.exit(os.stat("count").st_size % 2)
        sys.exit(int(sys.argv[1]))
    """
    Program.write(tmp_path / "main.py", source)
    for other, said, code in (
        ("3", "exit codes differ: 0 in 1, 3 in 2\nno call differs: 601 with equal", 1),
        ("kill", "exit codes differ: 0 in 1, SIGKILL in 2\nno call differs: 601 with equal", 1),
        (
            "killed",
            "exit codes differ: 0 in 1, SIGKILL in 2\nfirst of 600 calls that only command 1 makes: ",
            1,
        ),
    ):
        done = diff("--", "main.py", "0", ":::", "main.py", other)
        assert (done.returncode, done.stdout[: len(said)]) == (code, said)
    done = diff("--", "main.py", "in turn", ":::", "main.py", "0")
    assert done.stdout == (
        "no call differs: 601 with equal arguments, of 601 and 601; exit codes 1 in 1, 0 in 2, by chance\n"
    )
    assert done.returncode == 0


def test_why_one_side_did_not_come_as_far_is_said(diff: Diff, tmp_path: Path) -> None:
    """A file that is made at the installation, and so is no part of a revision."""
    root = tmp_path / "repository"
    Program.write(root / "shop" / "__init__.py", "def opened(): pass\n\nopened()\n")
    Program.write(
        root / "shop" / "prices.py", "from shop.made import RATE\ndef price(n): return n * RATE\n"
    )
    test = "from shop.prices import price\n\ndef test_price():\n    assert price(2) == 6\n"
    Program.write(root / "test_prices.py", test)
    git(tmp_path, "init", "-q", str(root))
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "all")
    Program.write(root / "shop" / "made.py", "RATE = 3\n")
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_prices.py")
    done = diff("--rev", "HEAD", "--", *words, cwd=root)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines() == [
        "exit codes differ: 0 in this tree, 2 in HEAD",
        "a call that only this tree makes: test_price at test_prices.py:3",
        "called by no function that is compared",
        "HEAD said: ERROR test_prices.py - ModuleNotFoundError: No module named 'shop.made'",
        "no call of both differs: 1 with equal arguments, of 3 and 1",
    ]


def test_modules_that_git_ignores_are_there_in_a_revision_too(diff: Diff, tmp_path: Path) -> None:
    """As those that an installation in place makes: `_version.py`, or what is compiled."""
    root = tmp_path / "repository"
    Program.write(root / "shop" / "__init__.py", "")
    prices = Program.write(
        root / "shop" / "prices.py",
        """
        import importlib.util

        from shop._version import RATE

        def price(n):
            return n * RATE

        def has_compiled():
            return importlib.util.find_spec("shop.fast") is not None
        """,
    )
    Program.write(root / "main.py", "from shop.prices import *\nprint(price(2), has_compiled())\n")
    Program.write(root / ".gitignore", "_version.py\n*.so\nbuilt/\n")
    Program.write(root / "shop" / "fast.c", "int one;\n")
    git(tmp_path, "init", "-q", str(root))
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "all")
    made = Program.write(root / "shop" / "_version.py", "RATE = 3\n")
    for folder in ("shop", "built"):
        Program.write(root / folder / "fast.so", "")

    equal = diff("--rev", "HEAD", "--", "main.py", cwd=root)
    assert (equal.returncode, equal.stderr) == (0, "")
    assert equal.stdout == "no call differs: 2 with equal arguments, of 2 and 2\n"

    Program.write(root / "shop" / "fast.c", "int two;\n")
    # Longer: of a module of the same second and size, Python runs what it has compiled of the one before.
    Program.write(prices.path, prices.path.read_text().replace("n * RATE", "(n + RATE)"))
    done = diff("--rev", "HEAD", "--", "main.py", cwd=root)
    assert done.stdout.splitlines() == [
        "first call that differs: price at shop/prices.py:5",
        "  with n=2",
        "this tree: → 5",
        "HEAD: → 6",
        "1 of 2 calls with equal arguments differ",
        "compiled modules are this tree's in both, though their sources differ",
    ]
    assert made.path.read_text() == "RATE = 3\n"


def test_what_is_staged_stays_so_where_a_hook_of_git_compares(diff: Diff, tmp_path: Path) -> None:
    """It was lost: the tree of the revision was made with the index that git names to its hooks."""
    root = tmp_path / "repository"
    Program.write(root / "main.py", "def price(n):\n    return n\n\nprice(2)\n")
    Program.write(root / "sub" / "old.py", "")
    git(tmp_path, "init", "-q", str(root))
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "all")
    Program.write(root / "main.py", "def price(n):\n    return n + 1\n\nprice(2)\n")
    Program.write(root / "sub" / "new.py", "")
    git(root, "add", "-A")
    staged = git(root, "status", "--porcelain")
    # As of a worktree of its own: elsewhere git names both in words that hold in the root alone.
    hook = {"GIT_INDEX_FILE": str(root / ".git" / "index"), "GIT_DIR": str(root / ".git")}
    for words, cwd in ((["main.py"], root), (["../main.py"], root / "sub")):
        done = diff("--rev", "HEAD", "--", *words, cwd=cwd, **hook)
        assert "HEAD: → 2" in done.stdout, done.stderr
        assert git(root, "status", "--porcelain") == staged


def test_where_two_trees_lie_makes_no_difference_in_texts_that_are_cut(
    diff: Diff, tmp_path: Path
) -> None:
    """What is left out of a text is so before it is cut, and before its characters are counted."""
    root = tmp_path / "a_longer_name_than_that_of_the_other_tree"
    Program.write(root / "main.py", TREES)
    git(tmp_path, "init", "-q", str(root))
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "all")
    done = diff("--rev", "HEAD", "--", "main.py", cwd=root)
    said = (
        "no call differs: 6 with equal arguments, of 6 and 6; 1 compared in part, being too large\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")
    Program.write(root / "main.py", TREES.replace('HERE + "q"', 'HERE + "-q"'))
    done = diff("--rev", "HEAD", "--", "main.py", cwd=root)
    assert done.stdout.startswith("first call that differs: stored at main.py:")


WRITTEN_ELSEWHERE = """
    import asyncio, inspect, logging, os, sys, traceback, warnings

    class Kept(logging.Handler):
        def emit(self, record):
            seen(record)

    def seen(record):
        return [record]

    def stack():
        return traceback.extract_stack()

    def caller():
        return inspect.stack()[1]

    def shown():
        return "".join(traceback.format_stack())

    def warned():
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            warnings.warn("old")
        return found

    class Shown:
        pass

    def namespace():
        return dict(vars(Shown))

    def loop():
        async def main():
            return asyncio.get_running_loop()

        return asyncio.run(main(), debug=True)

    def root():
        return os.path.basename(os.path.dirname(os.path.abspath(__file__)))

    def price(n):
        return n

    log = logging.getLogger("app")
    log.addHandler(Kept())
    log.warning("hello %s", 1)
    stack(), caller(), shown(), warned(), namespace(), loop(), root(), price(3)
"""


@pytest.mark.parametrize("version", ["3.9", "3.12", "3.13"])
def test_where_code_stands_is_no_difference(diff: Diff, tmp_path: Path, version: str) -> None:
    """Neither the lines that the standard library notes in what it makes, nor the name of the root."""
    root = tmp_path / "repository"
    Program.write(root / "main.py", WRITTEN_ELSEWHERE)
    git(tmp_path, "init", "-q", str(root))
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "all")
    python = installed_python(version)
    further = WRITTEN_ELSEWHERE.replace("    import asyncio", "    # Further\n    import asyncio")
    Program.write(root / "main.py", further)
    done = diff("--rev", "HEAD", "--", python, "main.py", cwd=root)
    assert done.stdout.startswith("no call differs: 11 with equal arguments, of 11 and 11")
    Program.write(root / "main.py", further.replace("return n\n", "return n + 1\n"))
    done = diff("--rev", "HEAD", "--", python, "main.py", cwd=root)
    assert done.stdout.startswith("first call that differs: price at main.py:"), done.stdout


def test_generators_that_are_not_over_as_the_program_ends_are_compared(
    diff: Diff, tmp_path: Path
) -> None:
    """What they have called is matched, whatever call has resumed them, and so is what they gave."""
    Program.write(tmp_path / "main.py", UNFINISHED)
    done = diff("--", "main.py", ":::", "main.py", "x")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines()[:5] == [
        "first call that differs: price at main.py:12",
        "  with number=3",
        "1: → 3",
        "2: → 4",
        "called by work, Shop.resume",
    ]
    done = diff("--", "main.py", "early", ":::", "main.py", "early", "over")
    assert done.stdout.splitlines()[:4] == [
        "first call that differs: counted at main.py:23",
        "  with number=5",
        "1: yields 1: 5, is not over at the end",
        "2: yields 3: 5, 5, 3, then None",
    ]
    same = diff("--", "main.py", "early", ":::", "main.py", "early", "x")
    assert same.stdout == "no call differs: 5 with equal arguments, of 5 and 5\n"


def test_what_a_function_closes_over_counts_as_an_argument(diff: Diff, tmp_path: Path) -> None:
    """The lambda was told, which does what it always does."""
    code = Program.write(
        tmp_path / "main.py",
        """
        import sys

        def longest(count):  # @longest
            pick = max if len(sys.argv) < 2 else min
            found = {one: pick(one, 3) for one in range(count)}
            return max(found, key=lambda one: found[one])

        longest(6)
        """,
    )
    done = diff("--", "main.py", ":::", "main.py", "x")
    head = f"first call that differs: longest at main.py:{code.line('longest')}"
    assert done.stdout.splitlines()[:4] == [head, "  with count=6", "1: → 5", "2: → 3"]


def test_what_a_function_closes_over_stands_behind_its_arguments(
    diff: Diff, tmp_path: Path
) -> None:
    """Also where it has no value yet."""
    Program.write(
        tmp_path / "main.py",
        """
        import sys

        class Base:
            def __init__(self):
                super().__init__()  # closes over its class, as each such method does

        def outer():
            def inner(count, *rest):
                return count + rate + len(sys.argv) if count else late
            rate = 2
            try:
                inner(0)
            except NameError:
                pass
            late = 3
            return inner(4)

        Base()
        outer()
        """,
    )
    done = diff("--", "main.py", ":::", "main.py", "x")
    assert done.stdout.splitlines()[1:4] == [
        "  with count=4, late=3, rate=2",
        "1: → 7",
        "2: → 8",
    ]
    assert "2 of 4 calls" in done.stdout


def test_a_generator_that_gives_nothing_is_told_so(diff: Diff, tmp_path: Path) -> None:
    source = """
        import sys

        def given():
            if len(sys.argv) > 1:
                raise KeyError("x")
            yield 5

        try:
            list(given())
        except KeyError:
            pass
    """
    Program.write(tmp_path / "main.py", source)
    done = diff("--", "main.py", ":::", "main.py", "x")
    assert done.stdout.splitlines()[1].startswith("1: yields 1: 5, then None")
    assert done.stdout.splitlines()[2].startswith("2: yields nothing, then raised KeyError: 'x' at")


def test_a_generator_that_gives_more_has_nothing_masked(diff: Diff, tmp_path: Path) -> None:
    """The first three values, which are kept, were equal, and so it was said of what differs."""
    source = """
        import sys

        def given(count):
            while len(sys.argv) + 3 > count:
                yield 5
                count += 1

        list(given(0))
    """
    Program.write(tmp_path / "main.py", source)
    done = diff("--", "main.py", ":::", "main.py", "x")
    assert done.stdout.splitlines()[2:] == [
        "1: yields 4: 5, 5, 5, …, then None",
        "2: yields 5: 5, 5, 5, …, then None",
        "1 of 1 calls with equal arguments differ",
    ]


def test_a_generator_that_was_closed_earlier_is_not_what_went_otherwise(
    diff: Diff, tmp_path: Path
) -> None:
    """How far it comes is decided by whom it serves; it ends before that does, and was the answer."""
    source = """
        import sys

        def numbers():
            try:
                for number in (1, 2, 3, 4):
                    yield seen(number)
            finally:
                seen(0)

        def seen(number):
            return number

        def first():
            for number in numbers():
                if number > len(sys.argv):
                    return number

        first()
    """
    Program.write(tmp_path / "main.py", source)
    done = diff("--", "main.py", ":::", "main.py", "x")
    assert done.stdout.splitlines()[0].startswith("first call that differs: first at main.py:")
    assert "1 of 5 calls with equal arguments differ" in done.stdout, done.stdout


def test_a_generator_that_was_closed_earlier_is_told_where_nothing_else_differs(
    diff: Diff, tmp_path: Path
) -> None:
    source = """
        import sys

        def numbers(at_most):
            try:
                for number in range(at_most):
                    yield number
            finally:
                at_most = 0

        for number in numbers(5):
            if number == len(sys.argv):
                break
    """
    Program.write(tmp_path / "main.py", source)
    done = diff("--", "main.py", ":::", "main.py", "2")
    assert done.stdout.splitlines()[0].startswith("first call that differs: numbers at main.py:")
    assert done.stdout.splitlines()[2:4] == [
        "1: yields 2: 0, 1, then GeneratorExit",
        "2: yields 3: 0, 1, 2, then GeneratorExit",
    ]


def test_a_generator_that_was_closed_and_has_given_something_else_differs(
    diff: Diff, tmp_path: Path
) -> None:
    source = """
        import sys

        def numbers():
            try:
                for number in (1, 2, 3):
                    yield number * len(sys.argv)
            finally:
                del number

        def first_above(limit):
            for number in numbers():
                if number > limit:
                    return number

        first_above(3)
    """
    Program.write(tmp_path / "main.py", source)
    done = diff("--", "main.py", ":::", "main.py", "x")
    assert done.stdout.splitlines()[0].startswith("first call that differs: numbers at main.py:")


def test_what_a_generator_gave_is_told_where_an_exception_ends_it_in_both_runs(
    diff: Diff, tmp_path: Path
) -> None:
    """What it ends by is equal then, and says nothing of what differs."""
    code = Program.write(
        tmp_path / "main.py",
        """
        import sys

        def closed(number):
            yield number + len(sys.argv)
            yield "two"

        def fails(number):
            yield from ["same" * 40 + str(number + len(sys.argv))]
            raise KeyError(number)  # @fails

        def main():
            if "fails" in sys.argv:
                try:
                    sorted(fails(1))
                except KeyError:
                    return
            generator = closed(1)
            next(generator)
            generator.close()

        main()
        """,
    )
    done = diff("--", "main.py", ":::", "main.py", "x")
    # From 3.13 on one that stands at a plain `yield` is closed without going on: no event says so.
    end = "then GeneratorExit" if sys.version_info < (3, 13) else "is not over at the end"
    assert done.stdout.splitlines()[2:4] == [f"1: yields 1: 2, {end}", f"2: yields 1: 3, {end}"]
    done = diff("--", "main.py", "fails", ":::", "main.py", "fails", "x")
    ends = [line[-40 - len(str(code.line("fails"))) :] for line in done.stdout.splitlines()[2:4]]
    end = f"', then raised KeyError: 1 at line {code.line('fails')}"
    assert ends[0].endswith(f"same3{end}"), done.stdout
    assert ends[1].endswith(f"same4{end}"), done.stdout


def test_a_function_that_the_end_of_an_iterator_leaves_returns_nothing(
    diff: Diff, tmp_path: Path
) -> None:
    Program.write(
        tmp_path / "main.py",
        """
        import sys

        def first(numbers):
            return next(iter(numbers[len(sys.argv):])) if "x" in sys.argv else StopIteration

        try:
            first([1, 2])
        except StopIteration:
            pass
        """,
    )
    done = diff("--", "main.py", ":::", "main.py", "x")
    assert done.stdout.splitlines()[2:4] == [
        "1: → <class StopIteration>",
        "2: ended by StopIteration",
    ]


def test_of_two_trees_the_first_other_branch_below_the_call_that_differs_is_told(
    diff: Diff, tmp_path: Path
) -> None:
    """What a call gives differs by a global, which nobody compares: below it, one has called otherwise."""
    root = tmp_path / "repository"
    before = """
        FOUND = []

        def note(number):
            FOUND.append(number)

        def check(number):
            if number > 2:
                note(number)

        def valid(number):
            check(number)
            return not FOUND

        valid(1)
        valid(2)
    """
    Program.write(root / "main.py", before)
    git(tmp_path, "init", "-q", str(root))
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "right")
    Program.write(root / "main.py", before.replace("number > 2", "number >= 2"))
    done = diff("--rev", "HEAD", "--", "main.py", cwd=root)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines() == [
        "first call that differs: valid at main.py:10",
        "  with number=2",
        "this tree: → False",
        "HEAD: → True",
        "below it, other calls are made by check at main.py:6",
        "this tree: calls note(2)",
        "HEAD: calls no more",
        "1 of 4 calls with equal arguments differ",
    ]


def test_below_the_call_that_differs_the_first_that_gave_other_arguments_is_told(
    diff: Diff, tmp_path: Path
) -> None:
    """What `between` gives is an iterator, into which nobody looks: it is another, but that shows in `shown` only."""
    root = tmp_path / "repository"
    before = """
        def some(first, last, reverse):
            numbers = range(first, last)
            return iter(sorted(numbers, reverse=reverse))

        def between(first, last, reverse=False):  # @between
            return some(first, last, reverse)

        def shown():  # @shown
            return list(between(1, 3))

        shown()
    """
    code = Program.write(root / "main.py", before)
    git(tmp_path, "init", "-q", str(root))
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "right")
    Program.write(root / "main.py", before.replace("reverse=False", "reverse=True"))
    done = diff("--rev", "HEAD", "--", "main.py", cwd=root)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines() == [
        f"first call that differs: shown at main.py:{code.line('shown')}",
        "this tree: → [2, 1]",
        "HEAD: → [1, 2]",
        f"below it, other calls are made by between at main.py:{code.line('between')}",
        "  default of reverse: True in this tree, False in HEAD",
        "this tree: calls some(1, 3, True)",
        "HEAD: calls some(1, 3, False)",
        "1 of 2 calls with equal arguments differ",
    ]


def test_a_tree_is_compared_with_a_revision_which_leaves_nothing_behind(
    diff: Diff, tmp_path: Path
) -> None:
    root = tmp_path / "repository"
    library = Program.write(root / "src" / "shop" / "prices.py", "def price(n): return n * 3\n")
    Program.write(root / "src" / "shop" / "__init__.py", "")
    script = Program.write(
        root / "bin" / "sell.py", "from shop.prices import price\nprint(price(2), __file__)\n"
    )
    git(tmp_path, "init", "-q", str(root))
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "right")
    git(root, "tag", "v1")
    library.path.write_text(
        "def price(n): return _rate(n) * n\n\ndef _rate(n):\n    return 3 if n < 2 else 4\n"
    )
    installed = root / ".venv" / "bin" / "sell"
    Program.write(installed, f"#!{sys.executable}\nfrom shop.prices import price\nprice(2)\n")
    installed.chmod(0o755)
    (installed.parent / "python").symlink_to(sys.executable)
    for words in (["bin/sell.py"], [script.text], [".venv/bin/sell"]):
        done = diff("--rev", "v1", "--", *words, cwd=root)
        assert (done.returncode, done.stderr) == (1, "")
        assert done.stdout.splitlines() == [
            "first call that differs: price at src/shop/prices.py:1",
            "  with n=2",
            "this tree: → 8",
            "v1: → 6",
            "1 of 1 calls with equal arguments differ",
        ]
    library.path.write_text("def price(n): return n * _rate(n)\n\n\ndef _rate(n):\n    return 3\n")
    same = diff("--rev", "v1", "--", "sell.py", cwd=root / "bin")
    assert (same.returncode, same.stdout) == (
        0,
        "no call differs: 1 with equal arguments, of 2 and 1\n",
    )
    for focus in (f"{library.text}:price", "../src/shop/prices.py::price"):
        part = diff("--rev", "v1", "--focus", focus, "--", "sell.py", cwd=root / "bin")
        assert part.stdout == "no call differs: 1 with equal arguments, of 1 and 1\n", focus
    added = Program.write(root / "bin" / "new.py", "def f(): return 1\nprint(f())\n")
    missing = diff("--rev", "v1", "--", "bin/new.py", cwd=root)
    assert (missing.returncode, missing.stderr) == (2, "")
    assert missing.stdout.startswith("v1 was not run: ")
    assert "it has no bin/new.py. Commit it, or have it outside of the repository" in missing.stdout
    text = script.path.read_text().replace("price(2)", "price(1)")
    for beyond in (Program.write(tmp_path / "beyond.py", text).text, "../beyond.py"):
        both = diff("--rev", "v1", "--", beyond, cwd=root)
        assert both.stdout == "no call differs: 1 with equal arguments, of 2 and 1\n", beyond
    nowhere = diff("--rev", "v1", "--", "bin/none.py", cwd=root)
    assert nowhere.stdout.startswith("this tree was not run: No such script")
    unknown = diff("--rev", "--force", "--", added.text, cwd=root)
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "git knows no revision --force" in unknown.stderr
    owned = {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
    foreign = diff("--rev", "v1", "--", "bin/new.py", cwd=root, **owned)
    assert (foreign.returncode, "dubious ownership" in foreign.stderr) == (2, True)
    outside = diff("--rev", "v1", "--", script.text)
    assert (outside.returncode, outside.stdout) == (2, "")
    assert "is in no git repository" in outside.stderr
    assert len(git(root, "worktree", "list").splitlines()) == 1
    assert list((tmp_path / ".tmp").iterdir()) == []


def test_where_calls_part_what_they_are_given_is_shown_from_where_it_differs(
    diff: Diff, tmp_path: Path
) -> None:
    Program.write(
        tmp_path / "fill.py",
        """
        import sys

        def fill(name, places):
            return None

        def order(count):
            fill("shelf", [0] * 40 + [count if "--all" in sys.argv else 1])

        order(3)
        """,
    )
    done = diff("--", "fill.py", ":::", "fill.py", "--all")
    one, other = [line for line in done.stdout.splitlines() if line[1:3] == ": "]
    assert re.fullmatch(r"1: calls fill\(places=….*, 0, 1\]\)", one), one
    assert re.fullmatch(r"2: calls fill\(places=….*, 0, 3\]\)", other), other


def test_the_interpreter_of_a_tree_is_no_difference_from_a_revision_that_runs_with_it(
    diff: Diff, tmp_path: Path
) -> None:
    """As where pytest prints its interpreter, which lies in the tree's .venv and in no revision."""
    root = tmp_path / "repository"
    Program.write(
        root / "tell.py",
        "import sys\ndef tell(path): return path\nprint(tell(sys.executable), tell(__file__))\n",
    )
    python = root / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    Program.write(root / ".venv" / "pyvenv.cfg", f"home = {Path(sys.executable).parent}\n")
    git(tmp_path, "init", "-q", str(root))
    git(root, "add", "tell.py")
    git(root, "commit", "-q", "-m", "right")
    done = diff("--rev", "HEAD", "--", "tell.py", cwd=root)
    assert (done.returncode, done.stdout) == (
        0,
        "no call differs: 2 with equal arguments, of 2 and 2\n",
    )


def test_before_what_only_reads_the_call_is_named_that_has_left_it_otherwise(
    diff: Diff, tmp_path: Path
) -> None:
    root = tmp_path / "repository"
    till = Program.write(
        root / "till.py",
        """
        told = []

        class Till:
            def __init__(self):
                self.waiting = [1, 2, 3]

            def notify(self, n):
                while n:
                    one = self.waiting.pop(0)
                    if one > 1:
                        n -= 1
                        tell(one)

        def tell(one):
            told.append(one)

        def report():
            return list(told)

        Till().notify(2)
        report()
        """,
    )
    git(tmp_path, "init", "-q", str(root))
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "right")
    git(root, "tag", "v1")
    right = "            if one > 1:\n                n -= 1\n"
    wrong = "            n -= 1\n            if one > 1:\n"
    till.path.write_text(till.path.read_text().replace(right, wrong))
    done = diff("--rev", "v1", "--", "till.py", cwd=root)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines() == [
        "first call that differs: report at till.py:17",
        "this tree: → [2]",
        "v1: → [2, 3]",
        "before it, arguments are changed otherwise by Till.notify at till.py:7",
        "  with self=<Till waiting=[1, 2, 3]>, n=2",
        "this tree: leaves self=<Till waiting=[3]>",
        "v1: leaves self=<Till waiting=[]>",
        "1 of 4 calls with equal arguments differ",
    ]


def test_the_order_of_sets_does_not_depend_on_which_tree_was_compiled_before(
    diff: Diff, tmp_path: Path
) -> None:
    root = tmp_path / "repository"
    words = ", ".join(f'"word{number}"' for number in range(40))
    Program.write(root / "words.py", "def wrong(:\n")
    Program.write(root / "order.py", f"def order(number):\n    return [*{{{words}}}]\n")
    script = """
        import order
        try:
            import words
        except SyntaxError as error:
            frames = error.__traceback__

        def depth(traceback):
            return 0 if traceback is None else 1 + depth(traceback.tb_next)

        order.order(1), print(depth(frames))
    """
    Program.write(root / "main.py", script)
    git(tmp_path, "init", "-q", str(root))
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "all")
    seed = os.environ | {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": ""}
    plain = subprocess.run(
        [sys.executable, "main.py"], cwd=root, env=seed, check=True, capture_output=True, text=True
    )
    assert plain.stdout == "1\n"
    assert list((root / "__pycache__").glob("order.*"))
    done = diff("--rev", "HEAD", "--", "main.py", cwd=root)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout == "no call differs: 3 with equal arguments, of 3 and 3\n"


def test_what_a_killed_comparison_has_left_is_taken_away_by_the_next(
    diff: Diff, tmp_path: Path
) -> None:
    root, mark = tmp_path / "repository", tmp_path / "mark"
    script = Program.write(
        root / "sell.py",
        """
        import sys, time
        def price(number):
            if len(sys.argv) > 1:
                open(sys.argv[1], "w").close()
                time.sleep(600)
            return number
        price(1)
        """,
    )
    git(tmp_path, "init", "-q", str(root))
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "all")
    git(root, "worktree", "add", "-q", str(tmp_path / "mine"))
    command = [sys.executable, "-m", "relay", "diff", "--rev", "HEAD", "--", script.text, str(mark)]
    env = _environment(tmp_path)
    with subprocess.Popen(
        command, cwd=root, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    ) as slow:
        end = time.monotonic() + SECONDS
        while not mark.exists():
            assert slow.poll() is None
            assert time.monotonic() < end
        beside = diff("--rev", "HEAD", "--", script.text, cwd=root)
        assert (beside.returncode, beside.stdout.split(":")[0]) == (0, "no call differs")
        assert len(git(root, "worktree", "list").splitlines()) == 3, "one is in use"
        slow.kill()
    assert len(git(root, "worktree", "list").splitlines()) == 3
    after = diff("--rev", "HEAD", "--", script.text, cwd=root)
    assert (after.returncode, after.stderr) == (0, "")
    assert [line.split()[0] for line in git(root, "worktree", "list").splitlines()] == [
        str(root),
        str(tmp_path / "mine"),
    ]
    assert list((tmp_path / ".tmp").glob("relay-diff-*")) == []


HANGS = """
    import sys, time

    def price(number):
        if "--hang" in sys.argv:
            open(sys.argv[1], "w").close()
            time.sleep(600)  # @sleep
        return number

    price(1)
"""


def test_a_run_that_takes_longer_than_it_was_given_is_ended_and_says_where_it_stood(
    diff: Diff, tmp_path: Path
) -> None:
    program = Program.write(tmp_path / "sell.py", HANGS)
    mark = str(tmp_path / "mark")
    done = diff("--timeout", "3", "--", "sell.py", mark, ":::", "sell.py", mark, "--hang")
    assert (done.returncode, done.stderr) == (124, "")
    lines = done.stdout.splitlines()
    ended = r"command 2 was ended by --timeout after [\d.]+ s; nothing is compared"
    assert re.fullmatch(ended, lines[0])
    assert f"sell.py:{program.line('sleep')} in price: time.sleep(600)" in done.stdout
    assert "number = 1" in done.stdout
    assert list((tmp_path / ".tmp").iterdir()) == []


ENDLESS = """
    import sys
    import threading

    def price(number):
        return number * (3 if "--new" in sys.argv and number == 5 else 2)

    def sell(number):
        cost = price(number)
        if cost == 15 or "--endless" in sys.argv and number == 9:
            threading.Event().wait()  # @waits
        return cost

    def main():
        price(5)
        for number in range(10):
            sell(number)

    main()
"""


def test_runs_that_do_not_end_are_compared_as_far_as_both_have_come(
    diff: Diff, tmp_path: Path
) -> None:
    program = Program.write(tmp_path / "sell.py", ENDLESS.replace("        price(5)\n", ""))
    done = diff("--timeout", "3", "--", "sell.py", ":::", "sell.py", "--new")
    assert (done.returncode, done.stderr) == (1, ""), done.stdout
    # `sell(5)` and `main` are not over in the second run: what they have called is compared.
    assert done.stdout.startswith(
        "first call that differs: price at sell.py:4\n  with number=5\n1: → 10\n2: → 15\n"
        "called by sell, main\n1 of 11 calls with equal arguments differ; "
        "the runs go on beyond what was compared\ncommand 2 was ended by --timeout after "
    )
    assert " s; what is called later is not compared\n" in done.stdout
    assert f"sell.py:{program.line('waits')} in sell: threading.Event().wait()" in done.stdout

    same = diff("--timeout", "3", "--", "sell.py", "--endless", ":::", "sell.py", "--endless", "1")
    lines = same.stdout.splitlines()
    assert (same.returncode, same.stderr) == (124, ""), same.stdout
    assert lines[0] == (
        "no call differs: 19 with equal arguments, of 19 and 19; the runs go on beyond what was compared"
    )
    ended = r"command 1 was ended by --timeout after [\d.]+ s and command 2 was ended by --timeout after [\d.]+ s"
    assert re.fullmatch(f"{ended}: what is called later is not compared", lines[1])
    assert len(lines) == 2


def test_of_two_runs_one_of_which_hangs_the_call_is_told_that_has_left_its_arguments_otherwise(
    diff: Diff, tmp_path: Path
) -> None:
    """No result differed, and what calls leave was looked for only of runs that had ended by themselves."""
    source = """
        import sys
        import threading

        class Job:
            def __init__(self):
                self.ready = threading.Event()
                self.is_prepared = False

        def prepare(job):
            if len(sys.argv) > 1:
                job.is_prepared = True

        def wait(job):
            if not job.is_prepared:
                job.ready.wait()  # @waits

        def main():
            job = Job()
            prepare(job)
            wait(job)

        main()
    """
    program = Program.write(tmp_path / "main.py", source)
    done = diff("--timeout", "2", "--", "main.py", ":::", "main.py", "x")
    lines = done.stdout.splitlines()
    assert done.returncode == 1, done.stdout
    assert lines[0].startswith("first call that differs: prepare at main.py:")
    assert lines[2] == "1: leaves job as it was"
    assert lines[3].startswith("2: leaves job=<Job is_prepared=True"), lines[3]
    assert f"main.py:{program.line('waits')} in wait: job.ready.wait()" in done.stdout


def test_a_call_that_is_not_over_is_not_taken_for_its_counterpart_elsewhere(
    diff: Diff, tmp_path: Path
) -> None:
    """The calls of one that is not over stood beside those that nobody made, and differed from them."""
    Program.write(tmp_path / "sell.py", ENDLESS)
    done = diff("--timeout", "3", "--", "sell.py", ":::", "sell.py", "--new")
    assert done.stdout.startswith(
        "first call that differs: price at sell.py:4\n  with number=5\n1: → 10\n2: → 15\n"
        "called by main\n2 of 12 calls with equal arguments differ; "
    ), done.stdout


def test_a_signal_says_which_run_it_has_ended_and_where_that_stood(tmp_path: Path) -> None:
    root, mark = tmp_path / "repository", tmp_path / "mark"
    program = Program.write(root / "sell.py", HANGS.replace('"--hang" in sys.argv', "HANG"))
    git(tmp_path, "init", "-q", str(root))
    hangs = program.path.read_text()
    program.path.write_text("HANG = True\n" + hangs)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "hangs")
    program.path.write_text("HANG = False\n" + hangs)
    with subprocess.Popen(
        [sys.executable, "-m", "relay", "diff", "--rev", "HEAD", "--", "sell.py", str(mark)],
        cwd=root,
        env=_environment(tmp_path),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as slow:
        end = time.monotonic() + SECONDS
        while not mark.exists():
            assert slow.poll() is None
            assert time.monotonic() < end
            time.sleep(0.02)
        slow.send_signal(signal.SIGTERM)
        out, complaint = slow.communicate(timeout=SECONDS)
    assert (slow.returncode, out) == (128 + signal.SIGTERM, "")
    lines = complaint.splitlines()
    assert lines[0].startswith("relay: HEAD was ended by SIGTERM after ")
    assert f"    sell.py:{program.line('sleep')} in price: time.sleep(600)" in complaint
    assert lines[-1] == "the worktree of HEAD is gone"
    assert len(git(root, "worktree", "list").splitlines()) == 1
    assert list((tmp_path / ".tmp").iterdir()) == []


def test_without_git_a_revision_cannot_be_compared(diff: Diff, tmp_path: Path) -> None:
    Program.write(tmp_path / "one.py", "def f(x): return x\nf(1)\n")
    done = diff("--rev", "v1", "--", "one.py", PATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no git" in done.stderr
    assert "Install git, or compare two commands" in done.stderr
    both = diff("--", "one.py", ":::", "one.py", PATH=str(tmp_path))
    assert both.returncode == 0, both.stderr


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--", "main.py"], "expected -- CMD1 ::: CMD2"),
        (["--", "main.py", ":::"], "there is no program"),
        (["--rev", "v1", "--", "main.py", ":::", "main.py"], "expected --rev REV -- CMD"),
        (["--", "main.py", ":::", "a.py", ":::", "b.py"], "expected -- CMD1 ::: CMD2"),
    ],
)
def test_what_are_no_two_runs_is_refused(diff: Diff, words: list[str], complaint: str) -> None:
    done = diff(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert complaint in done.stderr


def test_what_cannot_be_compared_is_said(diff: Diff, tmp_path: Path) -> None:
    Program.write(tmp_path / "one.py", "def f(x): return x\nf(1)\n")
    Program.write(tmp_path / "none.py", "import sys\nsys.exit('too early')\n")
    Program.write(tmp_path / "broken.py", "def f(:\n")
    for words, said in (
        (["one.py", ":::", "absent.py"], "command 2 was not run: "),
        (["broken.py", ":::", "one.py"], "command 1 was not run: "),
        (["one.py", ":::", "none.py"], "nothing to compare: 2 called no function of its own code"),
        (["one.py", ":::", "one.py", ":::"], ""),
    ):
        done = diff("--", *words)
        assert done.returncode == 2, words
        assert done.stdout.startswith(said)
    done = diff("--focus", "no/such.py", "--", "one.py", ":::", "one.py")
    assert (done.returncode, "there is no file or folder" in done.stdout) == (2, True)
    done = diff("--focus", "nosuch,onn", "--", "one.py", ":::", "one.py", "--more")
    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout == (
        "nothing to compare: in command 1 no function of a module nosuch was called: there are "
        "broken, none, one; no function of a module onn was called: did you mean one? (exit code 0)\n"
    )


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ("os._exit(3)", "3"),
        ("os.kill(os.getpid(), 9)", "SIGKILL"),
        ("os.abort()", "SIGABRT"),
        ("ctypes.string_at(0)", "SIGSEGV"),
    ],
)
@pytest.mark.parametrize("count", [9, 900])
def test_the_call_in_which_one_program_is_gone_is_the_difference(
    diff: Diff, tmp_path: Path, how: str, code: str, count: int
) -> None:
    """Its last calls were lost, and those that were not over with them: nothing could be compared."""
    Program.write(
        tmp_path / "leaves.py",
        f"""
        import ctypes
        import os
        import sys
        def half(n):
            return n // 2
        def last(n):
            if len(sys.argv) > 1:
                {how}
            return n
        def main():
            for n in range({count}):
                half(n)
            last([n])
            half(n)
        main()
        """,
    )
    told = (
        "first call that differs: last at leaves.py:6\n"
        f"  with n=[{count - 1}]\n"
        f"1: {{}}\n2: {{}}\ncalled by main\n2 of {count + 2} calls with equal arguments differ\n"
    )
    ended, gone = f"→ [{count - 1}]", "is not over at the end"
    done = diff("--", "leaves.py", ":::", "leaves.py", "now")
    codes = f"exit codes differ: 0 in 1, {code} in 2\n"
    assert (done.returncode, done.stdout) == (1, codes + told.format(ended, gone))
    done = diff("--", "leaves.py", "now", ":::", "leaves.py")
    codes = f"exit codes differ: {code} in 1, 0 in 2\n"
    assert (done.returncode, done.stdout) == (1, codes + told.format(gone, ended))
    done = diff("--", "leaves.py", "now", ":::", "leaves.py", "now")
    assert done.stdout.startswith(f"no call differs: {count + 2} with equal arguments")


def test_a_program_that_is_gone_with_many_open_calls_has_told_of_them(
    diff: Diff, tmp_path: Path
) -> None:
    """More than the tail has room for: the innermost ones count."""
    Program.write(
        tmp_path / "deep.py",
        """
        import os
        import sys
        sys.setrecursionlimit(20_000)
        def down(n, text):
            if n:
                return down(n - 1, text)
            if len(sys.argv) > 1:
                os._exit(3)
        down(9_000, "x" * 60)
        """,
    )
    done = diff("--", "deep.py", ":::", "deep.py", "now")
    assert "first call that differs: down at deep.py:4\n  with n=0, text=" in done.stdout


def test_that_what_is_printed_differs_is_said_beside_equal_calls_unless_by_chance(
    diff: Diff, tmp_path: Path
) -> None:
    Program.write(
        tmp_path / "prints.py",
        """
        import os
        import sys
        import time
        def half(n):
            return n // 2
        half(4)
        print("begun")
        if "--streams" in sys.argv:
            sys.stdout.flush()
        print("to stderr", file=sys.stderr, flush=True)
        if "--chance" in sys.argv:
            print(os.getpid(), time.time_ns())
        print(f"<object at {id(half):#x}> took {time.perf_counter():.6f} s")
        print("sale" if "--sale" in sys.argv else "whole", "price")
        if "--more" in sys.argv:
            print("more")
        """,
    )
    equal = "no call differs: 1 with equal arguments, of 1 and 1"
    but = "\nbut what they print differs:\n"
    for options, said in (
        (["--sale"], f"{but}1: whole price\n2: sale price"),
        (["--more"], f"{but}1: prints no more\n2: more"),
        (["--streams"], ""),
        (["--chance"], ""),
    ):
        one = ["--chance"] if options == ["--chance"] else []
        done = diff("--", "prints.py", *one, ":::", "prints.py", *options)
        assert (done.returncode, done.stdout) == (0, f"{equal}{said}\n"), options


def test_it_is_said_how_pytest_xdist_runs_tests_in_the_first_process(
    diff: Diff, tmp_path: Path
) -> None:
    text = "def price(n): return n * 2\ndef test_price(): assert price(2) == 4\n"
    (tmp_path / "test_price.py").write_text(text)
    command = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
    done = diff("--", *command, "-n", "1", ":::", *command, "-n", "1")
    said = "are compared: -n 0 has pytest-xdist run the tests there\n"
    assert (done.returncode, done.stdout.endswith(said)) == (2, True), done.stdout
    done = diff("--", *command, "-n", "0", ":::", *command, "-n", "0")
    assert done.stdout.startswith("no call differs: 2 with equal arguments"), done.stdout


def test_processes_whose_calls_are_not_compared_are_said(diff: Diff, tmp_path: Path) -> None:
    Program.write(
        tmp_path / "pool.py",
        """
        import multiprocessing, sys

        def work(number):
            return number * factor

        def main():
            process = multiprocessing.get_context("fork").Process(target=work, args=(2,))
            process.start()
            process.join()

        if __name__ == "__main__":
            factor = int(sys.argv[1])
            main()
        """,
    )
    unseen = (
        "1 process ran without the debugger: a fork; only calls of the first process are compared"
    )
    done = diff("--", "pool.py", "2", ":::", "pool.py", "3")
    assert (done.returncode, done.stdout) == (
        0,
        f"no call differs: 1 with equal arguments, of 1 and 1; {unseen}\n",
    )
    done = diff("--focus", "pool.py:work", "--", "pool.py", "2", ":::", "pool.py", "3")
    assert (done.returncode, done.stdout.endswith(f"; {unseen}\n")) == (2, True)


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_what_arguments_become_is_read_without_a_change_of_locals_that_the_program_has(
    diff: Diff, tmp_path: Path, version: str
) -> None:
    Program.write(
        tmp_path / "given.py",
        """
        import sys

        def tools(base, items):
            double = base * 2
            items.append(base)
            early = locals()
            late = double + 1
            return early

        def frames(base, items):
            double = base * 2
            return caught(items)

        def caught(items):
            return sys._getframe(1).f_locals

        def used():
            found = tools(2, [])
            assert "double" in found, "gone"
            assert "late" not in found or sys.version_info < (3, 12), "came"
            frames(2, [])
            return len(sys.argv)

        used()
        """,
    )
    python = installed_python(version)
    done = diff("--python", python, "--", "given.py", ":::", "given.py", "--more")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("first call that differs: used at given.py")
    assert "1: \u2192 1\n2: \u2192 2\n" in done.stdout


def test_a_run_that_stops_by_itself_goes_on_and_what_is_not_compared_is_said(
    diff: Diff, tmp_path: Path
) -> None:
    Program.write(
        tmp_path / "stops.py",
        """
        import sys

        def first():
            return 1

        def second():
            return len(sys.argv)

        first()
        breakpoint()
        second()
        """,
    )
    done = diff("--", "stops.py", ":::", "stops.py", "--more")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("no call differs: 1 with equal arguments")
    assert "the runs go on beyond what was compared" in done.stdout


def test_what_an_object_stores_counts_whichever_method_has_stored_it(
    diff: Diff, tmp_path: Path
) -> None:
    Program.write(
        tmp_path / "lazy.py",
        """
        import sys

        class Cart:
            def __init__(self):
                self.reset()

            def reset(self):
                self.total = 5 if "--bug" in sys.argv else 0

            def add(self, number):
                self.total += number
                return self

        def main():
            cart = Cart()
            cart.add(3)
            return cart

        main()
        """,
    )
    lazy = diff("--", "lazy.py", ":::", "lazy.py", "--bug")
    assert (lazy.returncode, lazy.stderr) == (1, "")
    assert lazy.stdout.splitlines()[:3] == [
        "first call that differs: main at lazy.py:14",
        "1: → <Cart total=3>",
        "2: → <Cart total=8>",
    ]
    assert lazy.stdout.splitlines()[3:6] == [
        "before it, arguments are changed otherwise by Cart.reset at lazy.py:7",
        "  with self=<Cart>",
        "1: leaves self=<Cart total=0>",
    ]
    Program.write(
        tmp_path / "outside.py",
        """
        import sys

        class Node:
            pass

        def parse(text, token):
            node = Node()
            node.value = int(text) + ("--bug" in sys.argv)
            return node

        def evaluate(node, token):
            return node.value * 2

        evaluate(parse("4", "s3"), "s3")
        """,
    )
    outside = diff("--", "outside.py", ":::", "outside.py", "--bug")
    assert (outside.returncode, outside.stderr) == (1, "")
    first, _, *rest = outside.stdout.splitlines()
    assert first == "first call that differs: parse at outside.py:6"
    assert rest == [
        "1: → <Node value=4>",
        "2: → <Node value=5>",
        "1 of 1 calls with equal arguments differ",
    ], "not evaluate, whose argument is another, although one of its arguments is a secret"


ERRORS = """
    import sys

    LAST = sys.argv[1]

    class Invalid(ValueError):
        path = ()

        def above(self, *path):
            self.path = [*path, *self.path]
            return self

    def checked(given):
        raise Invalid("required").above("a", LAST)

    def passed_on(given):
        try:
            raise Invalid("required").above("a")
        except Invalid as error:
            error.above(LAST)
            raise

    def raised_again(given):
        try:
            raise Invalid("required").above(LAST)
        except Invalid:
            try:
                raise KeyError(LAST)
            except KeyError:
                pass
            raise

    def raised_later(given):
        try:
            raise Invalid("required")
        except Invalid as error:
            yield
            error.above(LAST)
            raise

    class Above:
        def __enter__(self):
            pass

        def __exit__(self, kind, error, traceback):
            error.above(LAST)

    def ended_with(given):
        with Above():
            raise Invalid("required")

    def in_one_line(given):
        try: raise Invalid("required")
        except Invalid as error: error.above(LAST); raise

    def caused(given):
        raise Invalid("required") from KeyError(LAST)

    def noted(given):
        error = Invalid("required")
        error.add_note(LAST)
        raise error

    def explained(given):
        raise Invalid("required" + chr(10) + LAST)

    def handled(given):
        try:
            raise KeyError(LAST)
        except KeyError as error:
            raise Invalid("required", error.__traceback__)

    def came_of(given):
        try:
            raise KeyError if LAST == "b" else IndexError
        except LookupError:
            raise Invalid("required")

    def came_of_no_matter(given):
        try:
            raise KeyError if LAST == "b" else IndexError
        except LookupError:
            raise Invalid("required") from None

    for function in (handled, checked, passed_on, raised_again, raised_later, ended_with, in_one_line, caused, noted, explained, came_of, came_of_no_matter):
        try:
            list(function(1))
        except Invalid:
            pass
"""


def test_what_an_exception_stores_counts_as_the_contents_of_other_values_do(
    diff: Diff, tmp_path: Path
) -> None:
    """What it was raised in the handling of by its type only: the interpreter adds that."""
    errors = Program.write(tmp_path / "errors.py", ERRORS)
    line = errors.path.read_text().splitlines().index
    shown = {
        "checked": ("path=['a', 'b']", "path=['a', 'c']"),
        "passed_on": ("path=['b', 'a']", "path=['c', 'a']"),
        "raised_again": ("path=['b']", "path=['c']"),
        "raised_later": ("path=['b']", "path=['c']"),
        "ended_with": ("path=['b']", "path=['c']"),
        "in_one_line": ("path=['b']", "path=['c']"),
        "caused": ("__cause__=KeyError('b')", "__cause__=KeyError('c')"),
        "noted": ("__notes__=['b']", "__notes__=['c']"),
        "explained": ("args=('required\\nb',)", "args=('required\\nc',)"),
        "came_of": ("__context__=<KeyError>", "__context__=<IndexError>"),
    }
    done = diff("--", "errors.py", "b", ":::", "errors.py", "c")
    assert (done.returncode, done.stderr) == (1, "")
    stored = shown["checked"]
    at = line('    raise Invalid("required").above("a", LAST)') + 1
    assert done.stdout.splitlines() == [
        f"first call that differs: checked at errors.py:{at - 1}",
        "  with given=1",
        f"1: raised Invalid: required with {stored[0]} at line {at}",
        f"2: raised Invalid: required with {stored[1]} at line {at}",
        "10 of 15 calls with equal arguments differ",
    ]
    for name in list(shown)[1:]:
        done = diff("--focus", f"errors.py:{name}", "--", "errors.py", "b", ":::", "errors.py", "c")
        found = done.stdout.splitlines()
        assert [text.partition(" with ")[2].partition(" at ")[0] for text in found[2:4]] == [
            *shown[name]
        ]


KINDS = """
    import array, collections, functools, sqlite3, sys, types

    BUG = "--bug" in sys.argv

    class Lying:
        def lie(self, *_):
            sys.exit("code of the program has run")

        items = __iter__ = __len__ = __getitem__ = __getattribute__ = __eq__ = __repr__ = lie

        def __hash__(self):
            return self.lie() if told else 1

    class Table(Lying, dict): pass
    class Row(Lying, list): pass
    class Queue(Lying, collections.deque): pass
    class Word(Lying, str): pass
    class Ordered(collections.OrderedDict): pass
    class Slots: __slots__ = ("kept", "__kept__")
    told = False
    lying = object.__new__(Lying)
    by_lies = Ordered({lying: BUG})
    told = True
    class Wide(collections.namedtuple("Wide", "a b c d e f")): pass

    def kept(value, **stored):
        for name, item in stored.items():
            object.__setattr__(value, name, item)
        return value

    def filled(value, add, *items):
        add(value, *items)
        return value

    def closing(number):
        return lambda: number

    def row():
        with sqlite3.connect(":memory:") as base:
            base.row_factory = sqlite3.Row
            found = base.execute("select ?", (int(BUG),)).fetchone()
        base.close()
        return found

    MAKERS = [
        lambda: collections.OrderedDict(a=1, b=2 + BUG),
        lambda: collections.OrderedDict([(1, 2), (3, 4)][:: -1 if BUG else 1]),
        lambda: by_lies,
        lambda: filled(collections.defaultdict(list), dict.__setitem__, 1, [BUG]),
        lambda: collections.Counter("aab" + "b" * BUG),
        lambda: collections.deque([1, BUG]),
        lambda: filled(Table(), dict.__setitem__, "a", BUG),
        lambda: kept(filled(Table(), dict.__setitem__, "a", 1), extra=BUG),
        lambda: filled(Row(), list.append, BUG),
        lambda: filled(Queue(), collections.deque.append, BUG),
        lambda: Word("x" + "y" * BUG),
        lambda: array.array("i", [1, BUG]),
        lambda: array.array("i", range(1000)) + array.array("i", [BUG]),
        lambda: b" " * 500 + bytes([BUG]),
        lambda: bytearray([BUG]),
        lambda: memoryview(bytes([BUG])),
        lambda: types.SimpleNamespace(kept=BUG),
        lambda: types.MappingProxyType({1: BUG}),
        lambda: kept(Slots(), kept=BUG),
        lambda: kept(Slots(), __kept__=BUG),
        lambda: Wide(1, 2, 3, 4, 5, BUG),
        lambda: functools.partial(print, BUG),
        lambda: closing(int(BUG)),
        lambda: lambda first, given=int(BUG): given,
        lambda: lambda *, given=int(BUG): given,
        lambda: kept(ValueError(1, 2, 3), why=BUG),
        lambda: (1 << 5000) + BUG,
        lambda: {1: BUG}.items(),
        lambda: {} if BUG else set(),
        row,
    ]
    for make in MAKERS + LIBRARIES:
        make()
"""

OF_LIBRARIES = """
    import numpy, pandas, pydantic

    class Model(pydantic.BaseModel, extra="allow"):
        kept: int

    LIBRARIES = [
        lambda: numpy.arange(3) + BUG,
        lambda: numpy.arange(1000)[::2] + BUG,
        lambda: numpy.array([{1: BUG}], dtype=object),
        lambda: numpy.int64(BUG),
        lambda: numpy.ma.masked_array([1, 2], mask=[False, BUG]),
        lambda: pandas.DataFrame({"a": [1, 2 + BUG], "b": ["x", "y"]}),
        lambda: pandas.Series([1, 2], index=["u", "w" if BUG else "v"]),
        lambda: pandas.Index([1, 2 + BUG]),
        lambda: Model(kept=BUG),
        lambda: Model(kept=1, more=BUG),
    ]
"""


@pytest.mark.parametrize("libraries", [(), ("numpy", "pandas", "pydantic")])
def test_contents_count_of_every_kind_of_value_and_no_code_of_the_program_runs(
    diff: Diff, tmp_path: Path, libraries: tuple[str, ...]
) -> None:
    if not all(map(find_spec, libraries)):
        pytest.skip("numpy, pandas or pydantic is not installed")
    of_libraries = OF_LIBRARIES if libraries else "    LIBRARIES = []\n"
    source = KINDS.replace("    MAKERS = [", of_libraries + "    MAKERS = [")
    Program.write(tmp_path / "kinds.py", source.replace("MAKERS + ", "") if libraries else source)
    made = 10 if libraries else 30
    same = diff("--", "kinds.py", ":::", "kinds.py", "--unknown")
    assert (same.returncode, same.stderr) == (0, "")
    assert same.stdout.startswith("no call differs: ")
    assert ";" not in same.stdout, "neither in part, nor ended by a lie"
    other = diff("--", "kinds.py", ":::", "kinds.py", "--bug")
    assert (other.returncode, other.stderr) == (1, "")
    assert other.stdout.splitlines()[-1].startswith(f"{made} of "), other.stdout


def test_what_is_compared_in_part_is_said(diff: Diff, tmp_path: Path) -> None:
    Program.write(
        tmp_path / "large.py",
        """
        import sys

        def summed(numbers, factor):
            return sum(numbers) * factor

        def deep():
            return [[[[[["--bug" in sys.argv]]]]]]

        numbers = list(range(1000))
        numbers[-2] += "--far" in sys.argv
        summed(numbers, 2)
        deep()
        """,
    )
    unseen = diff("--", "large.py", ":::", "large.py", "--bug")
    assert (unseen.returncode, unseen.stderr) == (0, "")
    assert unseen.stdout == (
        "no call differs: 2 with equal arguments, of 2 and 2; 2 compared in part, being too large\n"
    )
    named = diff("--", "large.py", ":::", "large.py", "--far")
    assert (named.returncode, named.stderr) == (1, "")
    assert named.stdout.splitlines()[0] == "first call that differs: summed at large.py:3"
    assert named.stdout.splitlines()[1].endswith("…, factor=2 (numbers compared in part)")


async def test_a_comparison_that_takes_long_says_what_makes_it_shorter(
    autojump_clock: trio.testing.MockClock, capsys: pytest.CaptureFixture[str]
) -> None:
    await say_that_it_takes_long()
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("relay: at work for 60 s: each call is recorded")
    assert "--focus FILES" in shown.err


async def test_a_comparison_of_large_runs_is_given_up_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After Ctrl-C nobody waits for a thread that reads what the runs have recorded."""
    script = Program.write(tmp_path / "main.py", "def f(): return 1\nf()\n")
    reads, is_over = threading.Event(), threading.Event()

    def compared(*given: object) -> None:
        reads.set()
        is_over.wait(SECONDS)

    monkeypatch.setattr(without_chance.WithoutChance, "_compared", compared)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RELAY_STATE_DIR", str(tmp_path / ".state"))
    sides = await sides_of_commands({"script": script.text}, {"script": script.text})
    settings = load_settings(project_root=tmp_path)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(two_runs.compare_runs, settings, sides, [])
        assert await trio.to_thread.run_sync(reads.wait, SECONDS)
        began = time.monotonic()
        nursery.cancel_scope.cancel()
    took = time.monotonic() - began
    is_over.set()
    assert took < SECONDS / 2


SPOILT = """
    import sys

    class Order:
        def __init__(self):
            self.lines = [[n, str(n)] for n in range(30)]
            self.rates = {"tax": {"rates": [1, 1]}}

    def look(order, n):
        return n

    def spoil(order):  # @spoil
        order.rates["tax"]["rates"][1] = len(sys.argv)

    def price(order, n):  # @price
        return n * order.rates["tax"]["rates"][1]

    order = Order()
    for n in range(300):
        look(order, n)
    spoil(order)
    for n in range(300):
        look(order, n)
    print(price(order, 3))
    for n in range(300):
        look(order, n)
"""


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
async def test_where_all_is_too_much_calls_are_recorded_whole_around_what_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    """What `spoil` has changed is nowhere in a line of a value, and lies beyond the first calls looked at."""
    script = Program.write(tmp_path / "main.py", SPOILT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RELAY_STATE_DIR", str(tmp_path / ".state"))
    sides = await sides_of_commands({"script": script.text}, {"script": script.text, "args": ["x"]})
    settings = load_settings(project_root=tmp_path, python_path=installed_python(version))
    recorded = []

    async def run(*given: Any, **named: Any) -> Any:
        ran = await run_recorded(*given, **named)
        whole = read_whole(ran.stream)
        recorded.append((min(whole, default=0), max(whole, default=0)))
        return ran

    monkeypatch.setattr(side_runs, "run_recorded", run)
    answers = []
    for seconds in (60.0, -1.0):
        monkeypatch.setattr(side_runs, "WHOLE_SECONDS", seconds)
        monkeypatch.setattr(two_runs, "REACH", 20)
        answers.append(await two_runs.compare_runs(settings, sides, []))
    at_once, closer = (answer.text.splitlines() for answer in answers)
    assert all(answer.differs for answer in answers), answers
    assert at_once == closer[:-1]
    assert at_once[0] == f"first call that differs: spoil at main.py:{script.line('spoil')}"
    assert closer[-1] == "values were compared whole in calls 263 to 903, else in brief"
    of_all, price = 903, 603  # numbers of calls
    first = recorded.index((0, 0))
    assert set(recorded[:first]) == {(1, of_all)}
    assert recorded[first:] == [(0, 0)] * 2 + [(price - 20, price + 20)] * 4 + [(263, of_all)] * 4


async def test_what_differs_among_the_first_calls_that_are_whole_takes_no_closer_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call before it had other arguments. Nothing is before the first call, so no run was to show more;
    the same ones were made over and over."""
    script = Program.write(
        tmp_path / "main.py",
        """
        import sys

        class Order:
            def __init__(self):
                self.lines = [[n, str(n)] for n in range(60)]

        def begun(words):
            return None

        def price(order):  # @price
            return len(sys.argv)

        def look(order, n):
            order.lines[n % 60][0] = n

        order = Order()
        begun(sys.argv[1:])
        price(order)
        for n in range(2000):
            look(order, n)
        """,
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RELAY_STATE_DIR", str(tmp_path / ".state"))
    monkeypatch.setattr(side_runs, "WHOLE_SECONDS", 0.02)
    last = []

    async def run(*given: Any, **named: Any) -> Any:
        ran = await run_recorded(*given, **named)
        last.append(max(read_whole(ran.stream)))
        return ran

    monkeypatch.setattr(side_runs, "run_recorded", run)
    sides = await sides_of_commands({"script": script.text}, {"script": script.text, "args": ["x"]})
    answer = await two_runs.compare_runs(load_settings(project_root=tmp_path), sides, [])
    head = f"first call that differs: price at main.py:{script.line('price')}"
    assert answer.text.startswith(head), answer.text
    assert last[0] < 2000
    assert last == last[:1] * 4


def read_whole(stream: Path) -> list[int]:
    """The numbers of the calls that are recorded whole."""
    rows = [json.loads(line) for line in stream.read_bytes().splitlines()]
    return [row[0] for row in rows if isinstance(row[0], int) and row[0] > 0 and row[-1] == 1]


def test_code_counts_by_its_name_as_functions_do(diff: Diff, tmp_path: Path) -> None:
    """What is in it is the source: a registry of code objects is no other where a function was edited."""
    source = """
        def mark(function):
            note(function.__code__)
            return function

        def note(code):
            return code.co_name

        @mark
        def price(count):
            return count + 1

        price(3)
    """
    Program.write(tmp_path / "old.py", source)
    Program.write(tmp_path / "new.py", source.replace("count + 1", "count + 2"))
    found = diff("--", "old.py", ":::", "new.py")
    assert found.stdout.splitlines()[0].startswith("first call that differs: price at ")
    assert "1 of 3 calls with equal arguments differ" in found.stdout


def test_calls_of_threads_are_matched_by_the_arguments_that_are_equal(
    diff: Diff, tmp_path: Path
) -> None:
    """They begin in another order, and what they share is another: one was taken for its neighbour."""
    Program.write(
        tmp_path / "main.py",
        """
        import sys
        import threading

        def work(number, found):
            found.append(priced(number))

        def priced(number):
            return number * 2 + (number == 3 and len(sys.argv) > 1)

        found = []
        order = range(6) if len(sys.argv) == 1 else (2, 0, 4, 1, 5, 3)
        for number in order:
            thread = threading.Thread(target=work, args=(number, found))
            thread.start()
            thread.join()
        """,
    )
    done = diff("--", "main.py", ":::", "main.py", "more")
    told = "first call that differs: priced at main.py:7\n  with number=3\n1: → 6\n2: → 7\ncalled by work\n"
    assert (done.returncode, done.stdout[: len(told)]) == (1, told)


def test_a_command_may_have_variables_of_its_own(diff: Diff, tmp_path: Path) -> None:
    """They were refused, with the advice to put them before `relay`, which gives them to both."""
    Program.write(
        tmp_path / "main.py",
        """
        import os

        def rate(name):
            return os.environ.get(name)

        def order(names):
            return list(names)

        order({"ash", "birch", "cedar", "elm", "fir", "oak"})
        rate("RATE")
        """,
    )
    told = "first call that differs: rate at main.py:3\n  with name='RATE'\n1: → None\n2: → '3=4'\n"
    for own in (["RATE=3=4"], ["env", "RATE=3=4"]):
        done = diff("--", "main.py", ":::", *own, "main.py")
        assert (done.returncode, done.stdout[: len(told)]) == (1, told)
    done = diff("--", "RATE=1", "main.py", ":::", "RATE=1", "main.py")
    assert done.stdout == "no call differs: 2 with equal arguments, of 2 and 2\n"
    done = diff("--", "PYTHONHASHSEED=1", "main.py", ":::", "PYTHONHASHSEED=2", "main.py")
    assert done.stdout.startswith("first call that differs: order at main.py:6\n")


def test_a_program_that_forbids_writes_by_os_is_compared(diff: Diff, tmp_path: Path) -> None:
    """As blockbuster does within an event loop."""
    Program.write(
        tmp_path / "main.py",
        """
        import os
        import sys

        def refuse(*given):
            raise RuntimeError("no write here")

        def price(number):
            return number * 2 if number < 1400 or len(sys.argv) == 1 else 0

        write, os.write = os.write, refuse
        for number in range(1500):
            price(number)
        os.write = write
        """,
    )
    done = diff("--", "main.py", ":::", "main.py", "x")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines()[1:4] == ["  with number=1400", "1: → 2800", "2: → 0"]


def test_what_an_object_stores_behind_a_large_one_counts(diff: Diff, tmp_path: Path) -> None:
    """All of a large value is not compared, but of each of its attributes something is: `position`, behind `options`,
    which are too large by themselves. So it is `skip` that differs, and not who is given that position."""
    code = Program.write(
        tmp_path / "main.py",
        """
        import sys

        class Option:
            def __init__(self, number):
                self.names, self.number = [str(number)] * 9, number

        class Options:
            def __init__(self):
                self.default, self.others = Option(1), {n: Option(n) for n in range(40)}

        class Reader:
            def __init__(self, options):
                self.options, self.position = options, 0

            def skip(self):  # @skip
                self.position += len(sys.argv)

            def place(self):
                return self.position

        reader = Reader(Options())
        reader.skip()
        print(reader.place())
        """,
    )
    done = diff("--", "main.py", ":::", "main.py", "x")
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert lines[0] == f"first call that differs: Reader.skip at main.py:{code.line('skip')}"
    assert lines[1].startswith("  with self=<Reader options=<Options ")
    assert lines[1].endswith("(self compared in part)")
    assert lines[2].startswith("1: leaves self=")
    assert lines[2].endswith("position=1>")
    assert lines[3].startswith("2: leaves self=")
    assert lines[3].endswith("position=2>")
    assert lines[4:] == ["no result, exception or branch differs"]


def test_what_is_added_to_a_long_list_counts(diff: Diff, tmp_path: Path) -> None:
    """Not all of such a list is compared, but the last item is: `end` is seen to add another one, and it is not
    `shown`, which is given the list, that differs first."""
    code = Program.write(
        tmp_path / "main.py",
        """
        import sys

        class Token:
            def __init__(self, number):
                self.kind, self.text, self.places = "word", str(number), [number] * 9

        def end(tokens):  # @end
            tokens.append(Token(0))
            if len(sys.argv) == 1:
                tokens[-1].kind = "end"

        def shown(tokens):
            return [token.kind for token in tokens]

        tokens = [Token(number) for number in range(40)]
        end(tokens)
        print(shown(tokens))
        """,
    )
    done = diff("--", "main.py", ":::", "main.py", "x")
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert lines[0] == f"first call that differs: end at main.py:{code.line('end')}"
    assert lines[1].endswith(" (tokens compared in part)")
    assert "41 items, last <Token kind='end'," in lines[2]
    assert "41 items, last <Token kind='word'," in lines[3]
    assert lines[4:] == ["no result, exception or branch differs"]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="its trace function is lost there")
@pytest.mark.parametrize("is_generator", [False, True])
def test_a_recursion_without_end_is_recorded_to_its_end(
    diff: Diff, tmp_path: Path, is_generator: bool
) -> None:
    """Where the program has left no frames for the recording, it has some of its own. Generators call one another through C."""
    down = (
        "yield from [n] if n > 3 else down(n + step)" if is_generator else "return down(n + step)"
    )
    code = Program.write(
        tmp_path / "main.py",
        f"""
        import sys

        def down(n):  # @down
            step = len(sys.argv) - 1
            if n > 3 and not {is_generator}:
                return n
            {down}  # @deep

        def last(n):
            return n + len(sys.argv)

        def tried(limit):
            try:
                return list(down(0)) if {is_generator} else down(0)
            except RecursionError:
                return limit - sys.getrecursionlimit()

        print(tried(sys.getrecursionlimit()), last(1))
        """,
    )
    done = diff("--", "main.py", "x", ":::", "main.py")
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert lines[:2] == [
        f"first call that differs: down at main.py:{code.line('down')}",
        "  with n=0",
    ]
    assert lines[2] == ("1: yields 1: 4, then None" if is_generator else "1: → 4")
    assert "raised RecursionError: maximum recursion depth exceeded" in lines[3]
    assert lines[3].endswith(f" at line {code.line('deep')}")
    assert lines[4] == "called by tried"
    assert lines[5:] == ["3 of 3 calls with equal arguments differ"]
    assert diff("--", "main.py", ":::", "main.py").stdout.startswith("no call differs: ")
