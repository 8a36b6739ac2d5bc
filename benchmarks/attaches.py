"""How long it takes to attach to a program that runs, by its process id and by the port of its debugger.

One program computes and one sleeps, each without a debugger for the first way, and under `python -m debugpy --listen` for the
second. Each attach is to a process of its own, in a new session of one relay, and is left by its end.

    python benchmarks/attaches.py [--rounds 5]
"""

from __future__ import annotations

import argparse
import signal
import socket
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file, from anywhere

from benchmarks.failure import BenchmarkError, Deadline, expect
from benchmarks.processes import started
from benchmarks.relay_side import Http, running_relay

PROGRAMS = {
    "computes": "while True:\n    sum(range(100))\n",
    "sleeps": "import time\nwhile True:\n    time.sleep(0.05)\n",
}
WAYS = ("pid", "port")
SETTLE_SECONDS = 0.3
"""The program is in the midst of it by then."""


def measure(rounds: int) -> dict[tuple[str, str], list[float]]:
    """By way and program, how long each attach took; the first of each kind is left out."""
    found: dict[tuple[str, str], list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="relay-bench-") as scratch:
        directory = Path(scratch)
        for name, text in PROGRAMS.items():
            (directory / f"{name}.py").write_text(text)
        with running_relay(sys.executable, directory) as relay:
            for turn in range(rounds + 1):
                for way in WAYS:
                    for name in PROGRAMS:
                        taken = _attach(relay.http, directory / f"{name}.py", way)
                        if turn:
                            found.setdefault((way, name), []).append(taken)
    return found


def _attach(http: Http, program: Path, way: str) -> float:
    log = program.with_suffix(".log")
    port = _free_port()
    listening = ["-m", "debugpy", "--listen", f"127.0.0.1:{port}"] if way == "port" else []
    argv = [sys.executable, "-X", "frozen_modules=off", *listening, str(program)]
    with started(argv, cwd=program.parent, log=log, ending=signal.SIGKILL) as process:
        if way == "port":
            _until_open(port)
        time.sleep(SETTLE_SECONDS)
        target: dict[str, Any] = {"pid": process.pid}
        if way == "port":
            target = {"host": "127.0.0.1", "port": port}
        path = "/sessions/" + http.post("/sessions")["session_id"]
        began = time.perf_counter()
        answer = http.post(f"{path}/attach", **target)
        taken = time.perf_counter() - began
        expect(answer["status"] == "running", f"relay: {answer} where a running program was due")
        http.delete(path)
        return taken


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def _until_open(port: int) -> None:
    deadline = Deadline("debugpy: its port")
    while deadline.left() > 0:
        try:
            # To connect would be to be its client.
            with socket.socket() as one:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
                one.bind(("127.0.0.1", port))
        except OSError:
            return
        time.sleep(0.05)
    raise BenchmarkError("debugpy does not listen")


def table(found: dict[tuple[str, str], list[float]]) -> str:
    """Milliseconds, by way and program."""
    lines = [
        "| attach by | a program that | median, ms | worst, ms |",
        "| --- | --- | ---: | ---: |",
    ]
    for (way, name), taken in found.items():
        median, worst = (1000 * one for one in (statistics.median(taken), max(taken)))
        lines.append(f"| {way} | {name} | {median:.0f} | {worst:.0f} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    print(table(measure(parser.parse_args().rounds)))


if __name__ == "__main__":
    main()
