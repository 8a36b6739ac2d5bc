"""What a fork is called: by the process that it is a fork of, by that one's other forks, and the other way round."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

PROGRAM = textwrap.dedent("""
    import os
    from relay.debuggers.debugpy.debuggee.probe import entry as probe

    parent, (come, go), (wait, end) = os.getpid(), os.pipe(), os.pipe()
    first = os.fork()
    if not first:
        os.close(end)
        os.read(wait, 1)
        os._exit(0)
    second = os.fork()
    if not second:
        named = [probe.process_name(pid).partition(" (")[2] for pid in (parent, first)]
        os.write(go, "\\n".join(named).encode())
        os._exit(0)
    os.close(go)
    print(os.read(come, 1000).decode())
    print(probe.process_name(first).partition(" (")[2])
    os.close(end)
    os.wait(), os.wait()
""")


def test_a_process_is_called_a_fork_of_the_one_that_it_is_a_fork_of() -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    assert run.stdout.splitlines() == [
        "of which this one is a fork)",
        "a fork of the same program)",
        "a fork of this one)",
    ]
