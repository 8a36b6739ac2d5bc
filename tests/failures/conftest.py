"""A real relay, and programs to debug."""

from __future__ import annotations

from tests.e2e.conftest import api, program, settings

__all__ = ["api", "program", "settings"]
