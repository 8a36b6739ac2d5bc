"""The programs of the sessions over HTTP serve here, too."""

from __future__ import annotations

from tests.e2e.conftest import program

__all__ = ["program"]
