"""`pytest --relay`: pytest hands its own command line over to `relay run --on-exception`.

What a report shows is known to a debugger that was there when the exception was raised, and to
nobody later. So the run begins anew beneath one, before anything of the project was imported.

Every pytest of an environment imports this: nothing that pytest has not imported already.
PYTEST_DONT_REWRITE
"""

from __future__ import annotations

import os
import sys

import pytest

TYPE_CHECKING = False  # that of `typing` would be an import
if TYPE_CHECKING:
    import argparse
    from collections.abc import Generator, Sequence

_ON = "--relay"
_OFF = "--no-relay"
_SCRIPTS = frozenset({"pytest", "py.test"})
_NOT_HERE = (
    "no reports, since a program calls pytest and cannot be begun anew; "
    "use: relay run --on-exception -- PROGRAM"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Two options: what `addopts` switch on, a command line can switch off."""
    group = parser.getgroup("relay", "debug relay")
    group.addoption(
        _ON,
        action="store_true",
        help="Run under the debugger, and print a report of each failure: stack and locals where "
        "it was raised. Exceptions that a test expects are left out.",
    )
    group.addoption(_OFF, action="store_false", dest="relay", help="Not, whatever addopts say.")


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None]:
    """Hand over while nothing of the project is imported, and no output is captured."""
    if _is_wanted(early_config.known_args_namespace):
        words = _command_line([str(arg) for arg in early_config.invocation_params.args])
        if words is not None:
            _become(words)
    yield


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """What was asked for here and cannot be done is an error. Raises pytest.UsageError."""
    if _is_wanted(config.option) and _ON in config.invocation_params.args:
        raise pytest.UsageError(f"{_ON}: {_NOT_HERE}")


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Where addopts ask for it, a program that calls pytest does without."""
    return [f"relay: {_NOT_HERE}"] if _is_wanted(config.option) else []


def _is_wanted(options: argparse.Namespace) -> bool:
    # Under a debugger, the relay's or another, the failures are its own.
    return bool(options.relay) and "pydevd" not in sys.modules


def _command_line(given: Sequence[str]) -> list[str] | None:
    """What follows the interpreter's name to run this once more, without us; None if that is not known.

    Not where a program calls `pytest.main()`: it would be begun anew, with all that it has done.
    """
    folder, name = os.path.split(sys.argv[0])
    is_command = name in _SCRIPTS or (
        name == "__main__.py" and os.path.basename(folder) == "pytest"
    )
    own = sys.orig_argv[1 : len(sys.orig_argv) - len(given)]
    if not is_command or sys.argv[1:] != list(given) or [*own, *given] != sys.orig_argv[1:]:
        return None
    # Before the others: behind them `--` may stand.
    return [*own, _OFF, *_without_option(given)]


def _without_option(given: Sequence[str]) -> list[str]:
    end = given.index("--") if "--" in given else len(given)
    return [word for word in given[:end] if word != _ON] + list(given[end:])


def _become(words: Sequence[str]) -> None:
    """This process as the relay, which ends as the tests do."""
    # -P: a `relay` in the current directory is none of ours.
    relay = [sys.executable, "-P", "-m", "relay", "run", "--on-exception"]
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os.execv(sys.executable, [*relay, "--python", sys.executable, "--", *words])
