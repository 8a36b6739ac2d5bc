"""Tasks and callbacks whose exception goes to the event loop's handler: nobody takes it.

trio and `asyncio.run` pass on what ends their main task: it ends the process, or what asked.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.failing import failed
    from relay.debuggers.debugpy.debuggee.probe.failures.imports import when_imported
    from relay.debuggers.debugpy.debuggee.probe.failures.listening import listen
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact


def listen_to_loops() -> None:
    when_imported("asyncio.base_events", _listen_to_asyncio)
    when_imported("uvloop", _listen_to_uvloop)


def _listen_to_asyncio(events: Any) -> None:
    listen(events.BaseEventLoop, "call_exception_handler", before=_at_handler)


def _at_handler(loop: Any, context: Any) -> None:
    subject = context.get("task") or context.get("future") or context.get("handle")
    name = getattr(subject, "get_name", None)
    words = exact(str(context.get("message") or "")).partition(":")[0]
    # The handler is called for what a request handler of a test's server raised, say.
    failed(context.get("exception"), "task", exact(str(name())) if name else words, expectable=True)


def _listen_to_uvloop(_: Any) -> None:
    """Its loops are compiled: what they do not hand to a handler of the program's, they log."""
    logger = sys.modules["logging"].getLogger("asyncio")
    listen(logger, "error", before=_at_log)


def _at_log(message: Any, *_: Any, **named: Any) -> None:
    about = named.get("exc_info")
    if type(about) is tuple and about[1] is not None:
        words = exact(str(message)).partition("\n")[0]
        failed(about[1], "task", words, tb=about[2], expectable=True)
