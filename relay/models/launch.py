"""Launch and attach: requests and results. Source: API section 3.3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from relay.models.execution import ExecutionResult, Waiting
from relay.models.fields import PathText, StrictModel, Text
from relay.models.patterns import ABSOLUTE_PATH, VARIABLE_NAME
from relay.models.resource import Resource, left_out

LaunchMode = Literal["fast", "plain", "adapter"]
EnvironmentName = Annotated[str, StringConstraints(pattern=VARIABLE_NAME, max_length=4096)]
AbsolutePath = Annotated[str, StringConstraints(pattern=ABSOLUTE_PATH, max_length=4096)]


class Limits(StrictModel):
    """What the program may use, as the system bounds it; what is absent is bounded as the relay is.

    Of each process by itself, but for `processes`. The debugger inside counts as the program's.
    """

    cpu_seconds: int | None = Field(
        None,
        ge=1,
        le=10**9,
        description="Processor time; at its end comes SIGXCPU, a second later SIGKILL",
    )
    memory_mb: int | None = Field(
        None,
        ge=128,
        le=2**40,
        description="Private memory in MiB, of which the debugger takes up to 80; beyond it is MemoryError",
    )
    processes: int | None = Field(
        None,
        ge=16,
        le=2**22,
        description="Processes and threads, besides those that the user has at the start",
    )
    open_files: int | None = Field(
        None, ge=32, le=2**30, description="Descriptors open at once; beyond it is OSError EMFILE"
    )


_OF_SESSION = "of the session, as POST /sessions has it"


class LaunchRequest(Waiting):
    elsewhere: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("python", "python_path", "interpreter"), f"'python_path' {_OF_SESSION}"),
        **{name: f"{name!r} {_OF_SESSION}" for name in ("adapter", "project_root")},
    }

    script: PathText | None = Field(
        None,
        description="Program file; give this or `module`. With `debug_subprocesses` true it may be no Python "
        "program, such as `/usr/bin/make`: then what it starts is debugged",
    )
    module: Text | None = Field(
        None, min_length=1, max_length=1024, description="Module to run, like `python -m`"
    )
    args: list[Text] = Field([], description="The program's arguments")
    cwd: PathText | None = Field(None, description="Working directory; default project_root")
    env: dict[EnvironmentName, Text] = Field(
        {}, description="Environment variables laid over the relay's own"
    )
    stop_on_entry: bool | None = Field(
        None, description="Pause at the program's first line; default: the session's"
    )
    stop_on_exception: bool | Literal["uncaught", "raised"] = Field(
        "uncaught",
        description="true and uncaught: at what ends a test, a thread, a request or the process; "
        "raised: where it is raised, in user code",
    )
    console: Literal["internalConsole", "integratedTerminal", "externalTerminal"] = Field(
        "internalConsole", description="internalConsole gives pipes, integratedTerminal a terminal"
    )
    python_args: list[Text] = Field([], description="Arguments of the interpreter itself")
    stdin_inputs: list[Text] = Field(
        [], description="Lines for standard input, queued before the program begins"
    )
    debug_subprocesses: bool | Literal["auto"] = Field(
        False,
        description="Debug the Python processes that the program starts, too; auto: if there are "
        "breakpoints and the debugger can, else the workers of multiprocessing, pytest-xdist and of servers "
        "where exceptions stop",
    )
    record: list[Text] = Field(
        [],
        max_length=20,
        description="PLACE:EXPR, with FILE:LINE or a function as the place: keep a log, from the "
        "start, of who writes what EXPR names there, so that `history` needs no second run",
    )
    launch_mode: LaunchMode | None = Field(
        None, description="Force one way of starting the debuggee; default: the best that fits"
    )

    limits: Limits = Field(
        Limits(), description="What the program may use: for Python programs. With any, no standby"
    )
    standby: bool = Field(
        True,
        description="Whether a debuggee that was started ahead may run the program, where the relay "
        "keeps any",
    )

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        if (self.script is None) == (self.module is None):
            raise ValueError("give either script or module, not both and not neither")
        return self


class Program(Resource):
    """What was launched: `script` or `module` is there, not both."""

    script: str | None = left_out()
    module: str | None = left_out()
    args: list[str]
    cwd: str
    env: dict[str, str]


class LaunchedProgram(Resource):
    script: str | None = left_out()
    module: str | None = left_out()
    args: list[str]
    cwd: str


class LaunchResult(ExecutionResult):
    pid: int
    program: LaunchedProgram
    launch_mode: str = Field(description="fast, plain or adapter")
    python_path: str | None = left_out("The interpreter, if it is not the relay's own")


class PathMapping(StrictModel):
    """Two names of one directory. Everything the relay shows and takes is local."""

    local_root: PathText = Field(description="Here; relative paths start from project_root")
    remote_root: AbsolutePath = Field(description="As the target sees it, in a container say")


class AttachRequest(StrictModel):
    pid: int | None = Field(None, ge=1, le=2**31 - 1, description="Process to attach to")
    host: Text = Field("localhost", min_length=1, max_length=255, description="debugpy's host")
    port: int | None = Field(None, ge=1, le=65535, description="Port of `debugpy --listen`")
    connect_timeout: int = Field(10, ge=1, le=300, description="Seconds")
    path_mappings: list[PathMapping] = Field(
        [], max_length=100, description="Where the target has its files, if not where we do"
    )

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        if (self.pid is None) == (self.port is None):
            raise ValueError("give either pid or port, not both and not neither")
        return self


class ChildProcess(Resource):
    """A process that an attached program had started before."""

    pid: int
    command: list[str]


class AttachResult(Resource):
    session_id: str
    status: str
    attached: Literal[True] = True
    pid: int | None
    host: str | None
    port: int | None
    child_processes: list[ChildProcess] | None = left_out(
        "Processes of the same language below one that was attached to by pid: no session debugs them"
    )
