"""The fixtures of the sessions over HTTP serve here, too."""

from __future__ import annotations

from tests.e2e.conftest import api, program, settings
from tests.virtual_environments import environments

__all__ = ["api", "environments", "program", "settings"]
