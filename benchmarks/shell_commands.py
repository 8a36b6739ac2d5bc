"""How long a command takes in a shell, beside the start of Python itself. Run `python benchmarks/shell_commands.py`.

Each command is a process of its own, as an agent starts it: the installed `relay`, a server in the
background, a program at a breakpoint. They take turns with `python -c pass`, and the table has
medians, in milliseconds and in times of that.

    python benchmarks/shell_commands.py [--rounds 20]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file, from anywhere

from benchmarks.failure import expect

ONE_COMMAND_SECONDS = 60
PYTHON = "python -c pass"

PROGRAM = """\
def total(numbers):
    result = 0
    for number in numbers:
        result += number  # the stop
    return result


print(total(range(10)))
print("the stop of relay run")
"""

COMMANDS = {
    PYTHON: [sys.executable, "-c", "pass"],
    "relay --version": ["relay", "--version"],
    "relay step --help": ["relay", "step", "--help"],
    "relay sessions": ["relay", "sessions"],
    "relay eval": ["relay", "eval", "result + number"],
    "relay locals": ["relay", "locals"],
    "relay stack": ["relay", "stack"],
    "relay where": ["relay", "where"],
    "relay step": ["relay", "step"],
    "relay continue": ["relay", "continue"],
    "relay start": ["relay", "start", "--break", "app.py:4", "app.py"],
    "relay run": ["relay", "run", "--break", "app.py:9", "--", "app.py"],
}
"""In this order. `relay start` begins the session of the next round, and ends that of this one first."""


def measure(rounds: int) -> dict[str, list[float]]:
    """Seconds of each command, of which the first round is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    with tempfile.TemporaryDirectory(prefix="relay-shell-") as scratch:
        (Path(scratch) / "app.py").write_text(PROGRAM)
        environment = {**os.environ, "RELAY_STATE_DIR": f"{scratch}/state", "RELAY_PORT": "0"}
        for name in ("RELAY_URL", "RELAY_SESSION", "PYTHONDONTWRITEBYTECODE"):
            environment.pop(name, None)
        run(COMMANDS["relay start"], scratch, environment)
        try:
            for number in range(rounds + 1):
                for name, command in COMMANDS.items():
                    if name == "relay start":
                        run(["relay", "end"], scratch, environment)
                    before = time.perf_counter()
                    run(command, scratch, environment)
                    if number:
                        seconds[name].append(time.perf_counter() - before)
        finally:
            run(["relay", "stop"], scratch, environment)
    return seconds


def run(command: Sequence[str], directory: str, environment: Mapping[str, str]) -> None:
    """One command; raises BenchmarkError unless it ends well."""
    script = Path(sysconfig.get_path("scripts")) / command[0]
    words = [str(script) if command[0] == "relay" else command[0], *command[1:]]
    done = subprocess.run(
        words,
        cwd=directory,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=ONE_COMMAND_SECONDS,
    )
    expect(done.returncode == 0, f"{' '.join(command)}: {done.stderr or done.stdout}")


def table(seconds: Mapping[str, Sequence[float]]) -> str:
    """In Markdown."""
    alone = statistics.median(seconds[PYTHON])
    lines = ["| command | ms | times `python -c pass` |", "| --- | --- | --- |"]
    for name, found in seconds.items():
        median = statistics.median(found)
        lines.append(f"| `{name}` | {median * 1000:.0f} | {median / alone:.1f} |")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=20, help="runs of each command")
    print(table(measure(parser.parse_args().rounds)))


if __name__ == "__main__":
    main()
