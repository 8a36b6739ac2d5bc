"""Whether the relay's files are still those that this process was started from.

A process goes on with the modules that it has imported. What it gives to programs and imports later it
reads from the disk, where an upgrade may have put another edition meanwhile: the two need not fit.
"""

from __future__ import annotations

import time
from pathlib import Path

from relay.errors import InternalError
from relay.quick.server import installed_version

REPLACED = "the relay's own files were replaced after it had started"
START_AGAIN = "End this relay and start it again"

_PACKAGE = Path(__file__).parent
_BEGAN = time.time()
_VERSION = installed_version()


def is_replaced() -> bool:
    """Whether another version is installed now, or a file was written since this process began.

    Looks at every file: to be asked once something has failed.
    """
    if installed_version() != _VERSION or not _PACKAGE.is_dir():
        return True
    return any(_is_newer(path) for path in _PACKAGE.rglob("*.py"))


def _is_newer(path: Path) -> bool:
    try:
        return path.stat().st_mtime > _BEGAN
    except OSError:
        return True


def own_fault(message: str, exception: BaseException, log_reference: str) -> InternalError:
    """The error for what this relay has not foreseen; with the reason where it is not itself any more."""
    replaced = is_replaced()
    return InternalError(
        f"{message}: {REPLACED}" if replaced else message,
        suggestion=START_AGAIN if replaced else None,
        exception=type(exception).__name__,
        log_reference=log_reference,
    )
