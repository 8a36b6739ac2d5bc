"""Interpreters with a debugpy of their own, and a relay that debugs them."""

from __future__ import annotations

from tests.e2e.conftest import api, program, settings
from tests.virtual_environments import environments, python_with

__all__ = ["api", "environments", "program", "python_with", "settings"]
