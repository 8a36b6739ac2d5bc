"""One call that creates, configures and starts. Source: contract, section 2; user story, 3.2."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from relay.models.breakpoints import BreakpointSpec, BreakpointView
from relay.models.exceptions import SetExceptionBreakpoints
from relay.models.execution import StopReport
from relay.models.fields import Text
from relay.models.launch import AttachRequest, ChildProcess, LaunchRequest
from relay.models.resource import left_out
from relay.models.sessions import SessionSettings, SessionView

_TARGET = frozenset({"pid", "host", "port"})


class CreateSession(SessionSettings):
    """A session, and optionally its breakpoints and its program."""

    breakpoints: list[BreakpointSpec] = Field(
        [], max_length=10_000, description="Set before the program starts; a bad one refuses all"
    )
    breakpoint_profiles: list[Text] = Field(
        [], max_length=100, description="Names of profiles whose breakpoints are set, too"
    )
    exception_breakpoints: SetExceptionBreakpoints | None = Field(
        None, description="Which exceptions stop the program"
    )
    launch: LaunchRequest | None = Field(None, description="Launch this at once")
    attach: AttachRequest | None = Field(None, description="Attach to this at once")
    mode: Literal["launch", "attach"] | None = Field(
        None, description="`attach` takes pid, or host and port, from here"
    )
    pid: int | None = Field(None, ge=1, le=2**31 - 1, description="With mode attach: the process")
    host: Text | None = Field(
        None, min_length=1, max_length=255, description="With mode attach: debugpy's host"
    )
    port: int | None = Field(
        None, ge=1, le=65535, description="With mode attach: port of `debugpy --listen`"
    )

    @model_validator(mode="after")
    def _one_start(self) -> Self:
        if self.launch is not None and self.attach is not None:
            raise ValueError("give launch or attach, not both")
        if self.mode == "attach":
            self._check_attach()
        elif any(getattr(self, name) is not None for name in _TARGET):
            raise ValueError('pid, host and port need mode "attach"')
        elif self.mode == "launch" and self.attach is not None:
            raise ValueError('attach does not go with mode "launch"')
        return self

    def _check_attach(self) -> None:
        if self.launch is not None:
            raise ValueError('launch does not go with mode "attach"')
        if self.attach is not None:
            if any(getattr(self, name) is not None for name in _TARGET):
                raise ValueError("give attach, or pid or port, not both")
        elif (self.pid is None) == (self.port is None):
            raise ValueError('mode "attach" needs either pid or port, not both and not neither')

    @property
    def target(self) -> AttachRequest | None:
        """What to attach to, in whichever way it was given."""
        if self.mode != "attach" or self.attach is not None:
            return self.attach
        given = {name: getattr(self, name) for name in _TARGET}
        return AttachRequest(**{name: value for name, value in given.items() if value is not None})


class CreatedSession(SessionView):
    """The session as it is when its program has been started, if one was asked for."""

    breakpoints: list[BreakpointView] | None = left_out("Those of the request, checked")
    stop: StopReport | None = left_out("What launch.include asked for")
    child_processes: list[ChildProcess] | None = left_out("As an attach by pid names them")
