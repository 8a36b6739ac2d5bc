"""The process that runs are forked from: imported whole, and idle."""

from __future__ import annotations

import socket
import sys

from relay.run_forker.forker import Forker
from relay.staying_imports import imports_that_stay


def main() -> None:
    """Serve; in a fork, run."""
    with imports_that_stay():
        from relay.faces.cli.run import ahead, calls, command, program, trace, why  # noqa: F401

    listener = socket.socket(fileno=int(sys.argv[1]))
    task = Forker(listener, float(sys.argv[2]) * 60).serve()
    if task is not None:
        task()


if __name__ == "__main__":
    main()
