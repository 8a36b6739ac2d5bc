"""Restart, terminate, detach: requests and results. Source: user story, section 5.2."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from relay.dap.lifecycle import Phase
from relay.models.execution import Waiting
from relay.models.launch import LaunchRequest
from relay.models.resource import Resource

_TARGETS = {"script": "module", "module": "script"}


class RestartRequest(LaunchRequest):
    """Launch's fields, all optional: what is given is laid over the latest launch."""

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        if self.script is not None and self.module is not None:
            raise ValueError("give either script or module, not both")
        return self

    def over(self, last: LaunchRequest | None) -> LaunchRequest:
        """The launch to make. Raises ValueError if nothing says what to run."""
        fields: dict[str, Any] = {}
        if last is not None:
            kept = last.model_fields_set - Waiting.model_fields.keys()
            fields = {name: getattr(last, name) for name in kept}
        for name in self.model_fields_set:
            value = getattr(self, name)
            if name in _TARGETS:
                if value is None:
                    continue
                fields.pop(_TARGETS[name], None)
            fields[name] = value
        try:
            return LaunchRequest(**fields)
        except ValidationError:
            raise ValueError("give script or module: there is no launch to repeat") from None


class TerminatedResult(Resource):
    session_id: str
    status: Phase
    terminated: Literal[True] = True
    exit_code: int | None = Field(description="Negative: ended by that signal; null: not known")


class DetachedResult(Resource):
    session_id: str
    status: Phase
    detached: Literal[True] = True
    pid: int | None = Field(description="The process that lives on")
