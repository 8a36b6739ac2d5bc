"""The relay and the programs of the e2e tests."""

from tests.e2e.conftest import api, program, settings

__all__ = ["api", "program", "settings"]
