"""Children that a program ends by signals: told at the end of `relay run`, equal ones in one line."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.programs import Program
from tests.relays import environment


def run_with_children(
    program: Program, folder: Path, *options: str
) -> subprocess.CompletedProcess[str]:
    """`relay run` of it to its end."""
    return subprocess.run(
        [sys.executable, "-m", "relay", "run", "--children", *options, "--", program.text],
        env=environment(folder / "state"),
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


POOL = """
    import multiprocessing

    def work(begun):
        begun.put(1)
        multiprocessing.Event().wait()

    if __name__ == "__main__":
        begun = multiprocessing.SimpleQueue()
        workers = [multiprocessing.Process(target=work, args=[begun]) for number in range(7)]
        for worker in workers:
            worker.start()
            begun.get()
        for worker in workers:
            worker.terminate()
            worker.join()
        print(*[worker.pid for worker in workers])
"""


BROKEN = """
    import os
    from concurrent.futures import ProcessPoolExecutor

    def leaves():
        os._exit(7)

    if __name__ == "__main__":
        with ProcessPoolExecutor(2) as pool:
            pool.submit(leaves).result()
"""


def test_the_worker_that_has_broken_a_pool_is_told_beside_those_that_the_pool_has_ended(
    tmp_path: Path,
) -> None:
    program = Program.write(tmp_path / "pool.py", BROKEN)
    run = run_with_children(program, tmp_path, "--on-exception")
    told = run.stderr.partition("[end] ")[2].splitlines()[1:]
    ends = sorted(line.partition(" (pool.py) ")[2] for line in told)
    assert ends[0] == "exited with code 7", run.stderr
    assert set(ends[1:]) <= {"was ended by SIGTERM"}


DAEMON = """
    import os
    import time

    up, say_up = os.pipe()
    if os.fork():
        os.read(up, 1)
        os._exit(0)
    os.setsid()
    print(os.getpid(), flush=True)
    os.write(say_up, b".")
    time.sleep(60)
"""


def test_a_daemon_that_outlives_its_program_is_told_to_have_been_ended_with_it(
    tmp_path: Path,
) -> None:
    program = Program.write(tmp_path / "daemon.py", DAEMON)
    run = run_with_children(program, tmp_path)
    assert run.returncode == 0, run.stderr
    assert re.findall("^process .*$", run.stderr, re.MULTILINE) == [
        f"process {run.stdout.strip()} (daemon.py) was ended with the program"
    ]


def test_workers_that_are_terminated_are_one_line(tmp_path: Path) -> None:
    program = Program.write(tmp_path / "pool.py", POOL)
    run = run_with_children(program, tmp_path)
    assert run.returncode == 0, run.stderr
    told = re.findall("^process .*$", run.stderr, re.MULTILINE)
    pids = re.findall(r"\b\d{2,}\b", told[0])
    assert len(told) == 1
    assert set(pids) < set(run.stdout.split())
    assert told[0] == (
        f"process {pids[0]} (pool.py) was ended by SIGTERM; so were 6 others: "
        f"{', '.join(pids[1:6])}, … +1 more"
    )
