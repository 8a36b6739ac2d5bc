"""What a program said of its failure, of all that it has printed."""

from __future__ import annotations

import pytest

from relay.operations.compare.failure_words import failure_words, last_line_without_warnings

WARNING = "/x/core.py:658: UserWarning: '*' has changed\n  warnings.warn(\n"
OF_PYTEST = """\
F.F                                                                      [100%]
=================================== FAILURES ===================================
    def test_total():
>       assert total([1]) == 2
E       assert 1 == 2
E        +  where 1 = total([1])

test_cart.py:4: AssertionError
=========================== short test summary info ============================
FAILED test_cart.py::test_total - assert 1 == 2
FAILED test_cart.py::test_tax - assert 3 == 4
2 failed, 1 passed in 0.12s
"""
NOT_COLLECTED = """\
==================================== ERRORS ====================================
________________________ ERROR collecting test_cart.py _________________________
ImportError while importing test module '/x/test_cart.py'.
E   ModuleNotFoundError: No module named 'cart._version'
=========================== short test summary info ============================
ERROR test_cart.py
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
"""
OF_UNITTEST = """\
F
======================================================================
FAIL: test_total (__main__.CartTest.test_total)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/x/test_cart.py", line 6, in test_total
    self.assertEqual(total([1]), 2)
AssertionError: 1 != 2

----------------------------------------------------------------------
Ran 1 test in 0.000s

FAILED (failures=1)
"""
TRACEBACK = (
    'Traceback (most recent call last):\n  File "/x.py", line 1, in <module>\nx.Broken: no\n'
)


@pytest.mark.parametrize(
    ("stdout", "stderr", "said"),
    [
        (OF_PYTEST, WARNING, "FAILED test_cart.py::test_total - assert 1 == 2"),
        (OF_PYTEST.partition("====== short")[0], WARNING, "assert 1 == 2"),
        (NOT_COLLECTED, WARNING, "ERROR test_cart.py - ModuleNotFoundError: No module named 'cart._version'"),
        ("no tests ran in 0.01s\n", "ERROR: file or directory not found: x\n\n" + WARNING, "ERROR: file or directory not found: x"),
        ("no tests ran in 0.01s\n", WARNING, "no tests ran in 0.01s"),
        ("", OF_UNITTEST + WARNING, "AssertionError: 1 != 2"),
        ("", "KeyError: 'a'\n\nDuring handling:\nshop.CartError: 1\nException ignored in x\n", "shop.CartError: 1"),
        ("", TRACEBACK + WARNING, "x.Broken: no"),
        ("", "usage: shop [-h]\nshop: error: unrecognized arguments: -x\n", "shop: error: unrecognized arguments: -x"),
        ("half\nall\n", "too early\n", "too early"),
        ("half\nall\n", "", "all"),
        ("", "", ""),
    ],
)  # fmt: skip
def test_the_line_that_says_what_failed_is_found(stdout: str, stderr: str, said: str) -> None:
    assert failure_words(stdout, stderr) == said


def test_of_what_went_well_the_last_line_but_for_warnings_is_shown() -> None:
    assert last_line_without_warnings("loaded\n" + WARNING) == "loaded"
    assert last_line_without_warnings(WARNING) == ""
