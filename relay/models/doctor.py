"""What `relay doctor` found. Source: contract, section 8."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from relay.models.resource import Resource


class Check(Resource):
    """One thing that was looked at."""

    name: str
    status: Literal["ok", "warning", "broken"] = Field(
        description="warning: something cannot be done; broken: nothing can"
    )
    message: str
    remedy: str | None = Field(None, description="How to fix it; null if there is nothing to fix")

    @classmethod
    def found(cls, name: str, message: str) -> Check:
        """It is there and works."""
        return cls(name=name, status="ok", message=message)

    @classmethod
    def broken(cls, name: str, message: str, remedy: str) -> Check:
        """Nothing works without it."""
        return cls(name=name, status="broken", message=message, remedy=remedy)


class Diagnosis(Resource):
    """Everything that was looked at, and whether the relay can work."""

    ok: bool = Field(description="Whether nothing essential is broken")
    checks: list[Check]
