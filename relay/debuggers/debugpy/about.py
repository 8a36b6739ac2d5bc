"""debugpy: the versions that the relay works with, and which one the relay itself carries."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from relay.debuggers.debugpy.debuggee.pydevd.load import SUPPORTED, is_supported, numbers

DEBUGGER = "debugpy"
SUPPORTED_DEBUGGER = ",".join(
    sign + ".".join(map(str, version if sign == ">=" else version[:2]))
    for sign, version in zip((">=", "<"), SUPPORTED, strict=True)
)
"""The range of versions as pip takes it."""

INSTALL_COMMAND = f"{sys.executable} -m pip install '{DEBUGGER}{SUPPORTED_DEBUGGER}'"


def health() -> dict[str, Any]:
    """What `/health` says of the debugger. Source: API section 3.1."""
    return {"debugpy_available": debugpy_version() is not None}


def information() -> dict[str, Any]:
    """What `/info` says of the debugger. Source: API section 3.1."""
    found = debugpy_version()
    return {
        "debugpy_version": found,
        "debugpy_range": SUPPORTED_DEBUGGER,
        "debugpy_supported": is_supported_debugger(found),
    }


@cache
def debugpy_version() -> str | None:
    """Version of the relay's own debugpy, or None if it is missing."""
    try:
        return version("debugpy")
    except PackageNotFoundError:
        return None


def is_supported_debugger(version: str | None) -> bool:
    """Whether the relay knows a debugpy of that version; None stands for none."""
    return version is not None and is_supported(numbers(version))


def is_too_old(version: str) -> bool:
    """Whether it is older than any that the relay can work with. Newer ones may do."""
    found = numbers(version)
    return found is not None and found < SUPPORTED[0]


@cache
def debugpy_directory() -> Path:
    """The directory of the relay's own debugpy package; raises ImportError if it is missing."""
    spec = importlib.util.find_spec("debugpy")
    if spec is None or spec.origin is None:
        raise ImportError("debugpy is not installed beside the relay")
    return Path(spec.origin).parent
