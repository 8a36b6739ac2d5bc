"""Launch a program, attach to one. Source: API section 3.3, contract section 2."""

from __future__ import annotations

import os
import re
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal

import trio

from relay.actions import Action, Advice, Suggestion
from relay.dap.lifecycle import Phase
from relay.environments import environment_python, free_hash_seed, own_environment
from relay.errors import (
    InvalidRequest,
    LaunchScriptNotFound,
    NotSupported,
)
from relay.models.launch import (
    AttachRequest,
    AttachResult,
    ChildProcess,
    LaunchedProgram,
    LaunchRequest,
    LaunchResult,
    Limits,
)
from relay.operations.allowed_roots import (
    first_allowed,
    require_allowed,
    require_allowed_interpreter,
)
from relay.operations.breakpoints.exception_filters import require_filters
from relay.operations.breakpoints.pending import check_again, look_out
from relay.operations.execution.stepping import present_as, until_settled
from relay.operations.history.recordings import recorded_places
from relay.operations.paths import resolve, similar_files
from relay.operations.report.python_commands import is_helper
from relay.operations.sessions.sessions import other_python
from relay.process.stdin_queue import QUEUE_BYTES
from relay.program_kinds import is_no_python
from relay.session.debuggee.attach_target import AttachTarget, Mappings
from relay.session.debuggee.launch_plan import LaunchPlan
from relay.session.debugger import Ability
from relay.session.definition import without_waiting
from relay.session.session import Session
from relay.session.source_analysis import launch_syntax_error
from relay.session.state.exception_breakpoints import ExceptionBreakpoints
from relay.session.state.journey import setting_of

MOST_QUEUED = QUEUE_BYTES // 2
"""Bytes of `stdin_inputs`; what is sent later finds room beside them."""

_COMMAND_LINE = re.compile(r"(-m|python[0-9.]*|pytest|\S+\.py)\s")


async def launch(session: Session, *, body: LaunchRequest) -> LaunchResult:
    """Launch a Python script or module under the debugger.

    Answers at once; with `wait`, at the first stop or exit. A script with a syntax
    error is refused, and the session can be launched again once it is corrected.
    """
    explicit = "stop_on_exception" in body.model_fields_set
    return await start_program(session, body, "launch", Phase.CREATED, new_exceptions=explicit)


async def check_launch(session: Session, body: LaunchRequest) -> None:
    """Raise what would keep this launch from being made. No program is started.

    The interpreter that the launch would take is the session's from then on, if none was named.
    """
    await session.debugger.launch(session, await _plan(session, body))


async def start_program(
    session: Session, body: LaunchRequest, verb: str, *phases: Phase, new_exceptions: bool
) -> LaunchResult:
    """Launch from one of `phases`; `new_exceptions`: also over exception breakpoints."""
    session.require_control(verb)
    session.require(verb, *phases)
    plan = await _plan(session, body)
    starters = await session.debugger.launch(session, plan)
    await check_again(session)
    look_out(session)
    await _require_still(session, verb, *phases)
    choose_exceptions(session, exception_filters(body), explicit=new_exceptions)
    session.definition.use_launch(without_waiting(body))
    session.start_soon(session.keep)  # while the program starts; the answer waits for both
    cursor = session.events.last_seq
    session.journey.begin(plan, setting_of(session.breakpoints, session.exceptions))
    try:
        await session.start(starters)
        await until_settled(session, body, cursor, default_wait=0.0)
    finally:
        await session.keep()
    assert session.launched is not None
    return await present_as(
        LaunchResult,
        session,
        body,
        cursor,
        pid=session.pid or 0,
        program=LaunchedProgram(
            script=plan.script,
            module=plan.module,
            args=session.redaction.words(plan.args),
            cwd=plan.cwd,
        ),
        launch_mode=session.launched.rung,
        python_path=other_python(session),
    )


async def _require_still(session: Session, verb: str, *phases: Phase) -> None:
    """Raise InvalidSessionState if the session has ended meanwhile; not where the asker has, too."""
    await trio.lowlevel.checkpoint_if_cancelled()
    session.require(verb, *phases)


def _check_options(session: Session, body: LaunchRequest) -> None:
    """Raise NotSupported for what the session's debugger has no use for."""
    adapter = session.debugger
    for given, ability, what in (
        (body.module is not None, Ability.MODULES, "launch a module by its name: give a script"),
        (body.launch_mode is not None, Ability.LAUNCH_MODES, "take a launch_mode"),
        (bool(body.python_args), Ability.LAUNCH_MODES, "take python_args"),
        (body.debug_subprocesses is True, Ability.CHILDREN, "debug subprocesses"),
        (bool(body.stdin_inputs), Ability.STDIN, "give the program any standard input"),
        (bool(body.record), Ability.TRACE, "record who writes a value"),
        (body.console == "integratedTerminal", Ability.TERMINAL, "give the program a terminal"),
        (body.limits != Limits(), Ability.LIMITS, "limit the program without limiting itself"),
    ):
        if given:
            adapter.require(ability, what)
    if body.stop_on_exception == "raised":  # the other word is what most clients say by default
        require_filters(adapter, exception_filters(body))


async def _plan(session: Session, body: LaunchRequest) -> LaunchPlan:
    _check_options(session, body)
    if body.console == "externalTerminal":
        raise NotSupported(
            "the relay cannot open a terminal window",
            suggestion='Use console "integratedTerminal": it gives the program a pseudo-terminal',
        )
    cwd = _working_directory(session, body.cwd)
    _choose_python(session, body, cwd)
    _check_python(session)
    children = _debugged_children(session, body)
    env = {**own_environment(), **body.env}
    limits = body.limits.model_dump(exclude_none=True)
    entry = session.config.stop_on_entry if body.stop_on_entry is None else body.stop_on_entry
    script = None if body.script is None else _script(session, body.script, cwd)
    named = body.script if _leads_to(body.script, cwd, script) else None
    is_command = False
    if script is not None:
        is_command = _may_be_command(session, body) and is_no_python(script)
        if is_command:
            _require_plain_command(body, script, entry)
            named = _word_of_command(script, env, named)
        else:
            await _check_syntax(session, script)
    return LaunchPlan(
        script=script,
        named=named,
        is_command=is_command,
        module=body.module,
        args=tuple(body.args),
        cwd=cwd,
        env=env,
        extra_env=dict(body.env),
        python_args=tuple(body.python_args),
        stop_on_entry=entry,
        terminal=body.console == "integratedTerminal",
        mode=body.launch_mode,
        stdin=_queued_lines(body.stdin_inputs),
        debug_subprocesses=children is not None,
        children_optional=body.debug_subprocesses == "auto",
        workers_only=children == "workers",
        hash_seed=free_hash_seed(env),
        recorded_places=await recorded_places(session, body.record),
        standby=body.standby,
        limits=limits,
    )


def _choose_python(session: Session, body: LaunchRequest, cwd: str) -> None:
    """Before anything is asked of the interpreter: that of the program, unless one was named."""
    config = session.config
    if config.python_given or not session.debugger.takes_python_path:
        return
    beside = []
    if body.script is not None:
        path = _first_existing(_script_places(session, body.script, cwd))
        beside = [os.path.dirname(path)] if path else []
    environment = {**os.environ, **body.env}
    found = environment_python(environment, [*beside, cwd, config.project_root])
    python = found or shutil.which(os.path.expanduser(session.settings.python_path))
    if python is not None:
        session.definition.configure(python_path=os.path.abspath(python))


def _check_python(session: Session) -> None:
    """Of sessions that were imported or restored, too."""
    if session.debugger.takes_python_path:
        require_allowed_interpreter(session.settings, session.config.python_path)


def _debugged_children(session: Session, body: LaunchRequest) -> Literal["all", "workers"] | None:
    """Which: with `auto` all where a breakpoint may be hit or calls are recorded, workers where a test may fail."""
    if body.debug_subprocesses != "auto":
        return "all" if body.debug_subprocesses else None
    if Ability.CHILDREN not in session.debugger.abilities:
        return None
    run = session.program_run
    is_recorded = run.wanted_calls is not None and run.wanted_calls.stream is None
    if (
        is_recorded
        or run.wanted_trace is not None
        or any(one.enabled for one in session.breakpoints)
    ):
        return "all"
    new = "stop_on_exception" in body.model_fields_set or not session.exceptions.chosen
    filters = exception_filters(body) if new else session.exceptions.filters
    return "workers" if filters else None


def _queued_lines(inputs: Sequence[str]) -> bytes:
    """Each entry as a line of its own; those that end with a newline are lines already."""
    data = "".join(text if text.endswith("\n") else text + "\n" for text in inputs).encode()
    if len(data) > MOST_QUEUED:
        message = f"at most {MOST_QUEUED} bytes in all, newlines included"
        raise InvalidRequest.of_field("stdin_inputs", message, len(data))
    return data


def _working_directory(session: Session, asked: str | None) -> str:
    cwd = resolve(asked or ".", session.config.project_root)
    require_allowed(session.settings, "cwd", cwd)
    if not os.path.isdir(cwd):
        message = "no such directory"
        raise InvalidRequest.of_field("cwd", message, asked, text=f"cwd: {message}: {cwd}")
    return cwd


def _may_be_command(session: Session, body: LaunchRequest) -> bool:
    """Whether what is no Python program is run as it is, since what it starts is to be debugged."""
    return session.debugger.takes_python_path and body.debug_subprocesses is True


def _require_plain_command(body: LaunchRequest, script: str, entry: bool) -> None:
    """Raise InvalidRequest for what only a Python program has."""
    for field, given in (
        ("python_args", body.python_args),
        ("launch_mode", body.launch_mode),
        ("stop_on_entry", entry),
    ):
        if given:
            message = (
                f"is for a Python program, and {script} is none: only what it starts is debugged"
            )
            raise InvalidRequest.of_field(field, message, given)


def _word_of_command(script: str, env: Mapping[str, str], named: str | None) -> str:
    """What the command is called by whom it asks: its name, where a shell finds it by that."""
    name = os.path.basename(script)
    return name if shutil.which(name, path=env.get("PATH")) == script else named or script


def _script(session: Session, asked: str, cwd: str) -> str:
    """The script's absolute path; relative ones are of cwd, else of the project."""
    places = first_allowed(session.settings, "script", *_script_places(session, asked, cwd))
    path = _first_existing(places)
    if path is None:
        similar = similar_files(places[0])
        raise LaunchScriptNotFound(
            f"No such script: {places[0]}",
            script=places[0],
            similar=similar,
            suggestion=_line_of_script(places) or _other_target(asked, similar),
        )
    return path


def _line_of_script(places: Sequence[str]) -> Suggestion | None:
    """What to do with FILE:LINE, where there is such a file."""
    for place in places:
        script, colon, line = place.rpartition(":")
        if colon and line.isdecimal() and os.path.isfile(script):
            return Action.BREAK_AT_LINE.of(script=script, line=line)
    return None


def _other_target(asked: str, similar: Sequence[str]) -> Suggestion | None:
    """What may have been meant by a script that does not exist."""
    if _COMMAND_LINE.match(asked):
        return Action.GIVE_SCRIPT
    if similar and (similar[0].endswith(".py") or not asked.isidentifier()):
        return f"Did you mean {similar[0]}?"
    return Action.GIVE_MODULE.of(module=asked) if asked.isidentifier() else None


def _leads_to(asked: str | None, cwd: str, script: str | None) -> bool:
    """Whether a Python that is started in `cwd` with this word runs that script."""
    return asked is not None and os.path.normpath(os.path.join(cwd, asked)) == script


def _script_places(session: Session, asked: str, cwd: str) -> list[str]:
    return [resolve(asked, cwd), resolve(asked, session.config.project_root)]


def _first_existing(places: Sequence[str]) -> str | None:
    return next((place for place in places if os.path.exists(place)), None)


def _is_source_file(path: str) -> bool:
    """Python runs a zip archive whatever it is called, and says itself what is wrong with one."""
    is_named_so = path.endswith((".pyc", ".pyz", ".zip"))
    return os.path.isfile(path) and not is_named_so and not zipfile.is_zipfile(path)


async def _check_syntax(session: Session, path: str) -> None:
    """Raise what is wrong with a file of source, where the debugger can say so beforehand."""
    if not _is_source_file(path) or Ability.CHECKS_SOURCE not in session.debugger.abilities:
        return
    try:
        analysis = await session.debugger.check_source(path, session.config.python_path)
    except OSError as error:
        raise LaunchScriptNotFound(
            f"Cannot read {path}: {error.strerror}",
            script=path,
            suggestion="Make the script readable for the relay's user",
        ) from None
    if (fault := analysis.syntax_error) is not None:
        suggestion = _other_language(session, path)
        raise launch_syntax_error("Python", path, fault, suggestion)


def _other_language(session: Session, path: str) -> Advice | None:
    name = session.debuggers.for_program(path).name
    if name != session.debugger.name:
        return Action.GIVE_ADAPTER.of(adapter=name)
    return Action.DEBUG_WHAT_IT_STARTS.of() if is_no_python(path) else None


def exception_filters(body: LaunchRequest) -> tuple[str, ...]:
    """What `stop_on_exception` of a launch says, as DAP's filters. Contract, section 10."""
    if body.stop_on_exception is False:
        return ()
    return ("raised",) if body.stop_on_exception == "raised" else ("uncaught",)


def choose_exceptions(session: Session, filters: tuple[str, ...], *, explicit: bool) -> None:
    """What a start says of exceptions; by default, what exception breakpoints say stays."""
    if explicit or not session.exceptions.chosen:
        session.definition.stop_at_exceptions(ExceptionBreakpoints(filters))


async def attach(session: Session, *, body: AttachRequest) -> AttachResult:
    """Attach to a running process.

    By the host and port on which its debugger listens, or by process id.
    """
    session.require_control("attach")
    session.require("attach", Phase.CREATED)
    session.debugger.require(Ability.ATTACH, "attach to a program that runs: launch it")
    target = AttachTarget(
        pid=body.pid,
        host=body.host,
        port=body.port,
        limit=body.connect_timeout,
        mappings=_mappings(session, body),
        env=own_environment(),
    )
    starter = session.debugger.attach(session, target)
    choose_exceptions(session, ("uncaught",), explicit=False)
    session.definition.use_attach(body)
    await session.keep()
    session.require("attach", Phase.CREATED)
    session.journey.begin(None, setting_of(session.breakpoints, session.exceptions))
    await session.start([starter])
    return AttachResult(
        session_id=session.id,
        status=session.phase.value,
        pid=session.pid,
        host=body.host if body.port else None,
        port=body.port,
        child_processes=await _undebugged_below(session, body.pid) or None,
    )


async def _undebugged_below(session: Session, pid: int | None) -> list[ChildProcess]:
    """The processes that one has started, by its process id here, and that nobody debugs.

    A server that reloads itself, or has workers, answers its requests in one of them.
    """
    if pid is None:
        return []
    below = partial(session.debugger.processes_below, pid)
    found = await trio.to_thread.run_sync(below, abandon_on_cancel=True)
    return [
        ChildProcess(pid=one.pid, command=session.redaction.words(one.command))
        for one in found
        if one.session_id is None and not is_helper(one.command)
    ]


def _mappings(session: Session, body: AttachRequest) -> Mappings:
    return [
        {
            "localRoot": resolve(mapping.local_root, session.config.project_root),
            "remoteRoot": mapping.remote_root,
        }
        for mapping in body.path_mappings
    ]
