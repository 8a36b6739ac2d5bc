"""`relay diff` of programs that draw their data at random: both runs draw the same, and that is no cause."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.debuggers.bootstrap_runner import installed_python
from tests.programs import Program
from tests.test_diff import Diff, diff, git

__all__ = ["diff"]

DATA = """
    import random
    import sys
    SOURCES

    def rounded(number, by):
        if "--new" in sys.argv and number % 7 == 0:
            return number
        return number - number % by

    def data():
        return DRAWN

    for number in data():
        rounded(int(number), 10)
"""


@pytest.mark.parametrize(
    ("source", "drawn", "version"),
    [
        ("", "[random.randrange(10**9) for _ in range(99)]", "3.8"),
        ("", "[random.randrange(10**9) for _ in range(99)]", "3.13"),
        ("", "random.Random().sample(range(10**9), 99)", "3.11"),
        ("", "[random.randrange(10**15) for _ in range(99)]", "3.12"),
        ("import numpy", "numpy.random.default_rng().integers(10**9, size=99)", None),
        ("import numpy", "numpy.random.randint(10**9, size=99)", None),
    ],
    ids=["shared, 3.8", "shared, 3.13", "of its own", "long", "numpy", "numpy's shared one"],
)
def test_data_at_random_is_the_same_in_both_runs(
    diff: Diff, tmp_path: Path, source: str, drawn: str, version: str | None
) -> None:
    Program.write(tmp_path / "main.py", DATA.replace("SOURCES", source).replace("DRAWN", drawn))
    python = [installed_python(version)] if version else []
    found = diff("--", *python, "main.py", ":::", *python, "main.py", "--new")
    assert found.stdout.startswith("first call that differs: rounded at main.py:"), found
    told = dict(line.split(": → ") for line in found.stdout.splitlines() if ": → " in line)
    named = [name for name in told if name.endswith("2")]
    assert int(told[named[0]]) % 7 == 0, found.stdout
    assert (
        "<id>" not in found.stdout
    )  # numbers of a run with another seed are no ids that are drawn by lot


def test_what_depends_on_random_numbers_differs_by_chance(diff: Diff, tmp_path: Path) -> None:
    """One side draws one more, so that all others are others; the cause would be anywhere."""
    program = """
    import random
    import sys

    def draw():
        return random.random()

    def priced(number):
        return number + ("--dear" in sys.argv)

    if "--more" in sys.argv:
        random.random()
    draw()
    priced(3)
    """
    Program.write(tmp_path / "main.py", program)
    equal = diff("--", "main.py", ":::", "main.py", "--more")
    assert equal.stdout == (
        "no call differs but for 1 where two runs of one side differ, too"
        " (first draw at main.py:4): 2 with equal arguments, of 2 and 2\n"
    )
    dear = diff("--", "main.py", ":::", "main.py", "--more", "--dear")
    assert dear.stdout.startswith("first call that differs: priced at main.py:"), dear


def test_a_function_of_random_arguments_that_draws_itself_differs_by_chance(
    diff: Diff, tmp_path: Path
) -> None:
    """One side draws one more before it; what it was given is the same in both."""
    program = """
    import random
    import sys

    own = random.Random(5)

    def rows():
        return [random.randrange(10**9) for _ in range(20)]

    def sample(numbers):
        return random.sample(numbers, 3)

    def seeded():
        return own.random()

    def total(numbers):
        return sum(numbers) + ("--dear" in sys.argv)

    numbers = rows()
    if "--more" in sys.argv:
        random.random()
    sample(numbers)
    sample(numbers[1:])
    if "--early" in sys.argv:
        own.random()
    seeded()
    total(numbers)
    """
    Program.write(tmp_path / "main.py", program)
    equal = diff("--", "main.py", ":::", "main.py", "--more")
    assert equal.stdout.startswith("no call differs but for 2 where two runs of"), equal
    assert "(first sample at main.py:9)" in equal.stdout, equal
    dear = diff("--", "main.py", ":::", "main.py", "--more", "--dear")
    assert dear.stdout.startswith("first call that differs: total at main.py:"), dear
    early = diff("--", "main.py", ":::", "main.py", "--more", "--early")
    assert early.stdout.startswith("first call that differs: seeded at main.py:"), early


@pytest.mark.parametrize("seeds", ["", "numpy.random.seed(5)"], ids=["by chance", "with a seed"])
def test_what_depends_on_numpys_numbers_differs_by_chance_unless_the_program_gives_a_seed(
    diff: Diff, tmp_path: Path, seeds: str
) -> None:
    program = f"""
    import sys
    import numpy

    def draw():
        return float(numpy.random.random())

    {seeds}
    if "--more" in sys.argv:
        numpy.random.random()
    draw()
    """
    Program.write(tmp_path / "main.py", program)
    found = diff("--", "main.py", ":::", "main.py", "--more")
    begin = "first call that differs: draw" if seeds else "no call differs but for 1 where two runs"
    assert found.stdout.startswith(begin), found


def test_two_runs_of_one_command_are_left_to_chance(diff: Diff, tmp_path: Path) -> None:
    program = """
    import random

    def draw():
        return random.random()

    draw()
    """
    Program.write(tmp_path / "main.py", program)
    found = diff("--", "main.py", ":::", "main.py")
    differs = "where two runs of this one command differ (first draw at main.py:3)"
    assert differs in found.stdout, found


def test_a_generator_with_a_seed_is_as_ever(diff: Diff, tmp_path: Path) -> None:
    program = """
    import random

    def facts():
        shared = random.Random.seed is type(random._inst).seed
        random.seed(5)
        numbers = random.random(), random.Random(5).random(), random.Random("5").random()
        return shared, random.seed.__self__ is random._inst, numbers

    FACTS = facts()
    print(FACTS)
    assert FACTS == (True, True, (0.6229016948897019, 0.6229016948897019, 0.35258858106537283)), FACTS
    """
    Program.write(tmp_path / "main.py", program)
    equal = diff("--", "main.py", ":::", "main.py", "x")
    assert equal.stdout == "no call differs: 1 with equal arguments, of 1 and 1\n", (
        equal
    )  # neither failed


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.11", "3.13"])
def test_the_function_that_gives_a_seed_is_as_ever(
    diff: Diff, tmp_path: Path, version: str
) -> None:
    program = """
    import inspect
    import random
    import sys
    import traceback
    import warnings

    def facts():
        seed = random.Random.seed
        yield inspect.signature(seed), inspect.signature(random.seed), seed.__defaults__
        yield seed.__module__, seed.__qualname__, inspect.getsource(seed), seed == random.seed.__func__
        for wrong in ((1, 2, 3), (object(), 2, 3)):
            try:
                random.seed(*wrong)
            except TypeError as error:
                yield str(error)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                random.seed(())
            except TypeError as error:
                yield str(error), [frame.name for frame in traceback.extract_tb(error.__traceback__)]
        yield [each.filename for each in warned]

    with open(sys.argv[1], "w") as file:
        print(*facts(), sep="\\n", file=file)
    """
    Program.write(tmp_path / "main.py", program)
    python = installed_python(version)
    subprocess.run([python, "main.py", "alone"], cwd=tmp_path, check=True)
    equal = diff("--", python, "main.py", "first", ":::", python, "main.py", "second")
    assert equal.returncode == 0, equal
    said = {name: (tmp_path / name).read_text() for name in ("alone", "first", "second")}
    assert said["first"] == said["second"] == said["alone"]


def test_forked_children_draw_numbers_of_their_own(diff: Diff, tmp_path: Path) -> None:
    """With those of their parent all of them would have the same: names, ports and keys that clash."""
    program = """
    import multiprocessing
    import random
    import sys
    from pathlib import Path

    def drawn():
        return random.random(), random.Random().random()

    if __name__ == "__main__":
        context = multiprocessing.get_context("fork")
        numbers = list(drawn())
        for _ in range(3):
            with context.Pool(1) as pool:
                numbers.extend(pool.apply(drawn))
        Path(sys.argv[1]).write_text(str(len(set(numbers))))
    """
    Program.write(tmp_path / "main.py", program)
    equal = diff("--", "main.py", "one", ":::", "main.py", "other")
    assert [(tmp_path / name).read_text() for name in ("one", "other")] == ["8", "8"]
    assert equal.stdout.startswith("no call differs: 1 with equal arguments"), equal


TESTS = """
    from hypothesis import given, settings
    from hypothesis.strategies import integers

    from sizes import blocks

    settings.load_profile("default")  # in CI, another one keeps no examples

    @given(integers(0, 10**12))
    def test_blocks_hold_what_they_are_for(size):
        assert blocks(size) * 512 >= size
"""


def test_hypothesis_gives_both_runs_the_examples_that_failed_before(
    diff: Diff, tmp_path: Path
) -> None:
    root = tmp_path / "repository"
    right = "def blocks(size):\n    return -(-size // 512)\n"
    sizes = Program.write(root / "sizes.py", right)
    Program.write(root / "test_sizes.py", TESTS)
    Program.write(root / ".gitignore", "__pycache__\n")
    git(tmp_path, "init", "-q", str(root))
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "right")
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_sizes.py")

    wrong_above = "def blocks(size):\n    return -(-size // 512) if size <= 10**11 else 0\n"
    Program.write(sizes.path, wrong_above)
    assert subprocess.run([sys.executable, *words], cwd=root, check=False).returncode == 1
    remembered = contents(root / ".hypothesis")
    assert any("examples" in path.parts for path in remembered)

    Program.write(sizes.path, right.replace("512)", "512) - (str(size).count('0') == 10)"))
    found = diff("--rev", "HEAD", "--", *words, cwd=root)
    assert found.stdout.splitlines()[:4] == [
        "first call that differs: blocks at sizes.py:1",
        "  with size=100000000001",
        "this tree: → 195312500",
        "HEAD: → 195312501",
    ], found
    assert contents(root / ".hypothesis") == remembered


def test_large_numbers_of_other_data_are_no_ids(diff: Diff, tmp_path: Path) -> None:
    """What a run with another seed draws says nothing of ids: each large number would be one."""
    drawn = "[random.randrange(10**15, 10**16) for _ in range(99)]"
    Program.write(tmp_path / "main.py", DATA.replace("SOURCES", "").replace("DRAWN", drawn))
    found = diff("--", "main.py", ":::", "main.py", "--new")
    assert found.stdout.startswith("first call that differs: rounded at main.py:"), found
    assert "two runs of one side differ" not in found.stdout


def test_what_hypothesis_makes_around_a_test_is_not_compared(diff: Diff, tmp_path: Path) -> None:
    """It closes over all that hypothesis knows, such as how long each example took; and each library is at one place."""
    root = tmp_path / "a" / "repository"
    Program.write(root / "sizes.py", "def blocks(size):\n    return -(-size // 512)\n")
    Program.write(root / "test_sizes.py", TESTS.replace("\n    @given", "\n\n    @given"))
    Program.write(root / ".gitignore", "__pycache__\n")
    git(tmp_path, "init", "-q", str(root))
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "right")
    found = diff("--rev", "HEAD", "--", "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=root)
    assert found.stdout == "no call differs: 200 with equal arguments, of 200 and 200\n", found


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
