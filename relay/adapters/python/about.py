"""Which debugger the relay itself carries for Python programs."""

from __future__ import annotations

import importlib.util
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


@cache
def debugpy_version() -> str | None:
    """Version of the relay's own debugpy, or None if it is missing."""
    try:
        return version("debugpy")
    except PackageNotFoundError:
        return None


@cache
def debugpy_directory() -> Path:
    """The directory of the relay's own debugpy package; raises ImportError if it is missing."""
    spec = importlib.util.find_spec("debugpy")
    if spec is None or spec.origin is None:
        raise ImportError("debugpy is not installed beside the relay")
    return Path(spec.origin).parent
