"""BegunAhead: the debuggee of a launch that is still to be asked for, of a relay not yet imported.

For a process that will launch one program and knows so from its first moment on. Imports a small
part of what a hub does.
"""

from __future__ import annotations

import math
import os
from collections.abc import Hashable

import trio

from relay.debuggers.ahead import begin_python
from relay.quick.server import DEFAULT_STATE_DIR
from relay.session.standby import Spare, Standby


class BegunAhead(Standby):
    """A standby for one launch. The nursery is its owner's; cancelling it ends what was not taken."""

    def __init__(self, nursery: trio.Nursery) -> None:
        super().__init__(nursery, most=1, minutes=math.inf, renews=False)
        self._decided: trio.Event | None = None

    def begin(self, python_path: str) -> None:
        """Begin a Python program in this process's own directory and environment."""
        given = os.environ.get("RELAY_STATE_DIR", DEFAULT_STATE_DIR)
        state_dir = os.path.abspath(os.path.expanduser(given))
        self._decided = trio.Event()
        self._nursery.start_soon(self._begin, self._decided, python_path, os.getcwd(), state_dir)

    async def _begin(self, decided: trio.Event, *what: str) -> None:
        await begin_python(self, *what)
        decided.set()

    async def take(self, key: Hashable) -> Spare | None:
        """As ever; but a launch may ask before it is known what is begun, and then waits for that."""
        if self._decided is not None:
            await self._decided.wait()
        return await super().take(key)
