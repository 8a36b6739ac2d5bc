"""BegunAhead: the debuggee of a launch that is still to be asked for, of a relay not yet imported.

For a process that will launch one program and knows so from its first moment on. Imports a small
part of what a hub does.
"""

from __future__ import annotations

import math
import os

import trio

from relay.debuggers.ahead import begin_python
from relay.quick_shell import DEFAULT_STATE_DIR
from relay.session.standby import Standby


class BegunAhead(Standby):
    """A standby for one launch. The nursery is its owner's; cancelling it ends what was not taken."""

    def __init__(self, nursery: trio.Nursery) -> None:
        super().__init__(nursery, most=1, minutes=math.inf, renews=False)

    def begin(self, python_path: str) -> None:
        """Begin a Python program in this process's own directory and environment."""
        given = os.environ.get("RELAY_STATE_DIR", DEFAULT_STATE_DIR)
        state_dir = os.path.abspath(os.path.expanduser(given))
        self._nursery.start_soon(begin_python, self, python_path, os.getcwd(), state_dir)
