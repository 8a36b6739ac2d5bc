"""Debuggees that are begun before the relay knows what it will be asked, or is imported whole.

Knows which debugger begins them, and imports no more of it than that takes.
"""

from __future__ import annotations

from relay.debuggers.debugpy.fast_debuggee import FastStart
from relay.debuggers.debugpy.interpreter_query import interpreter_of
from relay.debuggers.debugpy.rungs import Program
from relay.environments import free_hash_seed, own_environment
from relay.errors import RelayError
from relay.session.standby import Standby


async def begin_python(standby: Standby, python_path: str, cwd: str, state_dir: str) -> None:
    """Have a Python debuggee wait for a launch in `cwd` with the relay's own environment.

    A launch that needs another one does not take it. What cannot be begun is not: the launch says
    why.
    """
    try:
        interpreter = await interpreter_of(python_path)
    except RelayError:
        return
    environment = own_environment()
    seed = free_hash_seed(environment)
    program = Program("script", "", cwd, environment, hash_seed=seed)
    start = FastStart(interpreter, program, state_dir)
    if (kind := start.kind) is not None:
        standby.prepare(kind, start.begin)
