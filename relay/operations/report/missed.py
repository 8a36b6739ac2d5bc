"""What a run never came to, as far as that is known: its breakpoints, and processes nobody watched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from relay.models.launch import ChildProcess
from relay.models.places import path_and_name
from relay.operations.functions import shown_function
from relay.operations.report.other_copies import other_copy
from relay.operations.report.python_commands import is_helper, runs_python
from relay.operations.report.report_text import CUT, one_line
from relay.operations.report.short_paths import short_path
from relay.operations.similar_functions import similar_function
from relay.session.dap.breakpoint_events import NOT_LOADED_YET, UNKNOWN_FUNCTION
from relay.session.debugger import Ability
from relay.session.session import Session
from relay.session.state.breakpoints import Breakpoint
from relay.session.state.program_run import FailedWithoutStop, Loss

MOST_COMMANDS = 3
_OTHERS_NAMED = 5  # processes that were killed as another was
MOST_WITHOUT_STOP = 20
_OF_EXECNET = "exec(eval(sys.stdin.readline()))"
MAX_COMMAND = 60
"""Characters of one command line of a process that ran without the debugger."""


def never_hit(session: Session) -> list[str]:
    """The breakpoints in force that the program never came to, each with what may explain it."""
    return [
        _missed(session, breakpoint)
        for breakpoint in session.breakpoints
        if breakpoint.enabled
        and not breakpoint.hit_count
        and not _unknown(breakpoint)
        and not _was_killed_silently(session, breakpoint)
    ]


async def misspelt_functions(session: Session) -> dict[str, str]:
    """Of functions that no source has and that were never called, the names that may be meant.

    Of places of `record`, too, where nobody asks whether they were called.
    """
    plan = session.journey.plan
    places = () if plan is None else plan.recorded_places
    recorded = [place["function"] for place in places if "function" in place]
    unknown = [*_unknown_functions(session), *recorded]
    similar = {name: await similar_function(session, name) for name in unknown}
    return {name: one for name, one in similar.items() if one is not None}


def misspelt_in_words(similar: Mapping[str, str]) -> list[str]:
    """The same, a sentence for each."""
    return [f"no source has {name}; did you mean {one}?" for name, one in similar.items()]


def _unknown_functions(session: Session) -> list[str]:
    """The functions without a file, of breakpoints in force, that the program never called."""
    return [
        one.function
        for one in session.breakpoints
        if one.enabled and one.function and path_and_name(one.function)[0] is None
        if not one.verified and one.message == UNKNOWN_FUNCTION
    ]


def may_come(message: str | None) -> bool:
    """Whether a breakpoint that says so is bound only when the program loads what lies there."""
    return message == NOT_LOADED_YET


def not_known(session: Session) -> str | None:
    """The breakpoints of which nobody knows all hits, in words; None without any.

    What does not stop is counted in the process, which says so now and then: one that is killed
    takes the rest along.
    """
    known: dict[bool, list[str]] = {False: [], True: []}  # by whether it was hit
    for one in session.breakpoints:
        if one.enabled and one.verified and _was_killed_silently(session, one):
            known[bool(one.hit_count)].append(_missed(session, one))
    said = []
    if known[False]:
        said.append(f"killed before it said whether it came to: {'; '.join(known[False])}")
    if known[True]:
        said.append(f"killed, perhaps before it said all of: {'; '.join(known[True])}")
    return "; ".join(said) or None


def _was_killed_silently(session: Session, breakpoint: Breakpoint) -> bool:
    stops = breakpoint.log_message is None and breakpoint.capture is None
    if not breakpoint.verified or (stops and breakpoint.hit_condition is None):
        return False
    run = session.program_run
    was_killed = session.reason == "target_exited" and (session.exit_code or 0) < 0
    was_killed = was_killed and run.last_pid not in run.heard
    return was_killed or any(loss.pid not in run.heard for loss in run.losses)


def not_debugged(children: Sequence[ChildProcess], attach: str) -> list[str]:
    """Of a program that was attached to, the children that were not; `attach` attaches to a process.

    A server that reloads itself, or has workers, answers its requests in one of them.
    """
    shown = [
        f"not debugged: its child process {one.pid} ({_short(one.command)}); {attach}{one.pid} debugs it"
        for one in children[:MOST_COMMANDS]
    ]
    left = len(children) - len(shown)
    return [*shown, f"{CUT} +{left} more"] if left else shown


def _short(command: Sequence[str]) -> str:
    name = PurePath(command[0]).name if command else "?"
    return " ".join([name, *command[1:]])[:MAX_COMMAND]


def had_xdist_workers(session: Session) -> bool:
    """Whether workers of pytest-xdist ran without the debugger: as execnet starts them."""
    commands = [argv for argv in session.program_run.unwatched.values() if argv is not None]
    return any(_OF_EXECNET in word for argv in commands for word in argv)


def unwatched(session: Session, *, python_only: bool = False) -> str | None:
    """The processes of the run that the debugger did not see, in words; None if it saw all.

    What they came to, nobody knows: it belongs beside what was never hit. python_only: those that
    ran Python, as far as their command lines say.
    """
    run = session.program_run
    ran = [
        argv
        for argv in run.unwatched.values()
        if not (argv and is_helper(argv)) and (not python_only or _ran_python(session, argv))
    ]
    kinds = Counter(
        "a fork" if argv is None else " ".join(session.redaction.words(argv))[:MAX_COMMAND]
        for argv in ran
    )
    shown = [
        one if times == 1 else f"{one} ({times} times)"
        for one, times in kinds.most_common(MOST_COMMANDS)
    ]
    if len(kinds) > len(shown):
        shown.append(f"{CUT} +{len(kinds) - len(shown)} more")
    if run.ran_shell and (
        not python_only
        or any(_ran_python(session, ("sh", "-c", text)) for text in run.shell_commands)
    ):
        shown.append("what os.system ran")
    if not shown:
        return None
    count = len(ran)
    words = "processes" if count != 1 else "1 process"
    return f"{f'{count} ' if count > 1 else ''}{words} ran without the debugger: {'; '.join(shown)}"


def losses_in_words(session: Session) -> list[str]:
    """Processes that were killed, a line for all that were so in the same way: a pool that is terminated
    loses each of its workers.
    """
    alike: dict[str, list[Loss]] = {}
    for loss in session.program_run.losses:
        alike.setdefault(loss.words.replace(f"process {loss.pid} ", "", 1), []).append(loss)
    return [
        first.words + _and_others([str(one.pid) for one in others])
        for first, *others in alike.values()
    ]


def _and_others(pids: Sequence[str]) -> str:
    if not pids:
        return ""
    left_out = len(pids) - _OTHERS_NAMED
    named = ", ".join(pids[:_OTHERS_NAMED]) + (f", … +{left_out} more" if left_out > 0 else "")
    return f"; so {'were' if len(pids) > 1 else 'was'} {len(pids)} other{'s' * (len(pids) > 1)}: {named}"


def without_stop_in_words(session: Session) -> list[str]:
    """The tests that failed without anything raised, a line for each of the first, in the order of
    the run; none where there was none.
    """
    failed = session.program_run.without_stop
    lines = [
        f"[no stop] {f'{one.test}: ' if one.test else ''}{one_line(one.words)}{_at(session, one)}"
        for one in failed[:MOST_WITHOUT_STOP]
    ]
    left = len(failed) - len(lines)
    return [*lines, f"[no stop] {CUT} +{left} more"] if left else lines


def without_stop_as_facts(session: Session) -> list[dict[str, Any]]:
    """The same, all of them; `location` is as that of a stop, where a statement is known."""
    return [
        {"test": one.test, "message": one.words, **_located(session, one)}
        for one in session.program_run.without_stop
    ]


def _located(session: Session, failed: FailedWithoutStop) -> dict[str, Any]:
    if failed.path is None:
        return {}
    path = short_path(session, failed.path)
    return {"location": {"path": path, "line": failed.line, "function": failed.function}}


def _at(session: Session, failed: FailedWithoutStop) -> str:
    if failed.path is None:
        return ""
    return f", at {short_path(session, failed.path)}:{failed.line} in {failed.function}"


def not_followed(session: Session) -> str | None:
    """Where nobody tells what processes a program has, that what was never hit is of one only."""
    if Ability.CHILDREN in session.debugger.abilities:
        return None
    is_open = any(one.enabled and one.verified and not one.hit_count for one in session.breakpoints)
    return (
        "processes that it forks or starts, if any, run without the debugger" if is_open else None
    )


def _ran_python(session: Session, argv: Sequence[str] | None) -> bool:
    """Whether a process without the debugger did: a fork has, until it becomes another program. Where children
    are debugged, those of a shell's have been.
    """
    launched = session.launched
    if argv is None or launched is None:
        return argv is None
    by_itself = follows_children(session) and bool(session.program_run.debugged)
    return runs_python(argv, launched.cwd, launched.env, by_itself=by_itself)


def follows_children(session: Session) -> bool:
    """Whether each Python that the program starts is debugged, as far as it can be."""
    plan = session.journey.plan
    return plan is not None and plan.debug_subprocesses and not plan.workers_only


def _unknown(breakpoint: Breakpoint) -> bool:
    """A debugger that counts for itself reports its stops only: a log message is none."""
    return breakpoint.judged_by_adapter and breakpoint.verified and bool(breakpoint.log_message)


def _dotted_name(breakpoint: Breakpoint) -> str:
    """`shop.cart:total` is a function with a condition, and may have been meant as one of a module."""
    condition = breakpoint.condition or ""
    return f"; {breakpoint.function}.{condition} is one of it" if condition.isidentifier() else ""


def _named_file(breakpoint: Breakpoint) -> str | None:
    if breakpoint.function is None:
        return breakpoint.shown_path
    return path_and_name(breakpoint.function)[0]


def _missed(session: Session, breakpoint: Breakpoint) -> str:
    if breakpoint.function is not None:
        name = shown_function(session, breakpoint.function)
    else:
        name = f"{short_path(session, breakpoint.shown_path)}:{breakpoint.shown_line}"
    if (copy := other_copy(session, _named_file(breakpoint))) is not None:
        return f"{name} ({copy})"
    if not breakpoint.verified:
        is_python = Ability.CHECKS_SOURCE in session.debugger.abilities
        if breakpoint.message == UNKNOWN_FUNCTION and is_python:  # known with its first call
            other = _dotted_name(breakpoint)
            own = "" if "." in (breakpoint.function or "") else " in own code"
            return (
                f"{name} (no Python function of this name{own}, if there is one, was called{other})"
            )
        why = "; ".join(filter(None, (breakpoint.message, breakpoint.suggestion)))
        return f"{name} ({why or 'not verified'})"
    if breakpoint.condition is not None:
        return f"{name} (if {breakpoint.condition})"
    return name
