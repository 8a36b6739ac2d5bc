"""A server as the tests of the HTTP face have it."""

from __future__ import annotations

from tests.http.conftest import served

__all__ = ["served"]
