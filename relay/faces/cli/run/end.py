"""How a run of `relay run` ended: its exit code, and what is said of it, in facts and in words."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from relay.faces.cli.run.failures import Failures
from relay.operations.report.missed import (
    follows_children,
    losses_in_words,
    misspelt_in_words,
    never_hit,
    not_followed,
    not_known,
    unwatched,
    without_stop_as_facts,
    without_stop_in_words,
)

FAILED = 1
LATE = 124
"""Exit code at --timeout, as that of `timeout`."""

NOT_WITHIN = "items and attributes of a value are watched by their own names"

WATCHED_IN = (
    "--watch is of the process that comes first to its place, and of its forks that are debugged"
)


@dataclass(frozen=True)
class RunEnd:
    """What is known when it is over."""

    session: Any
    stops: int
    failures: Failures | None
    """Of a run that shows them."""
    interrupted: signal.Signals | None
    cut_short: bool
    """Whether it was ended at its last stop, as --until asks."""
    unanswered: str | None
    """What --trace asked for, if no such call came."""
    unchanged: Sequence[str] = ()
    """What --watch has watched, without a change."""
    unasked: Sequence[str] = ()
    """Options with a question about a stop, if none came."""
    late: float | None = None
    """Seconds of --timeout, if that has ended it."""
    has_calls: bool = False
    """Whether the calls of the program were shown."""
    similar: Mapping[str, str] = field(default_factory=dict)
    """Of functions that no source has and that were never called, the names that may be meant."""

    @property
    def exit_code(self) -> int:
        """What `relay run` exits with.

        The program's own code; 128 and its number for a signal, whether it ended the program or was
        sent to us; 0 at --until; LATE at --timeout; FAILED if the program's code is not known.
        """
        code: int | None = self.session.exit_code
        if self.interrupted is not None:
            return 128 + self.interrupted
        if self.cut_short:
            return 0
        if self.late is not None:
            return LATE
        if code is None:
            return FAILED
        return code if code >= 0 else 128 - code

    @property
    def _ended_by(self) -> str | None:
        """What ended it, unless it was the program itself."""
        if self.interrupted is not None:
            return self.interrupted.name
        if self.late is not None:
            return "timeout"
        return "until" if self.cut_short else None

    def summary(self) -> dict[str, Any]:
        """The end as fields of --json; one that there is nothing to say in may be left out."""
        session = self.session
        children = len(session.program_run.debugged)
        unseen, unsaid, losses = unwatched(session), not_known(session), session.program_run.losses
        return {
            "exit_code": self.exit_code,
            "ended_by": self._ended_by or session.reason,
            "stops": self.stops,
            **({"failures": self.failures.total} if self.failures is not None else {}),
            "never_hit": never_hit(session),
            **({"similar": dict(self.similar)} if self.similar else {}),
            **({"unanswered": self.unanswered} if self.unanswered else {}),
            **({"unchanged": list(self.unchanged)} if self.unchanged else {}),
            **(
                {"debugged_children": children}
                if children and (self.unchanged or self.unanswered or self.has_calls)
                else {}
            ),
            **({"unasked": list(self.unasked)} if self.unasked else {}),
            **({"unwatched": unseen} if unseen else {}),
            **({"not_known": unsaid} if unsaid else {}),
            **({"lost": [loss.words for loss in losses]} if losses else {}),
            **({"without_stop": untold} if (untold := self._without_stop()) else {}),
        }

    def _without_stop(self) -> list[dict[str, Any]]:
        if self.failures is None:
            return []
        return without_stop_as_facts(self.session)

    def words(self) -> list[str]:
        """The end as lines of text: how and after how many stops, then what was missed or lost."""
        session, failures = self.session, self.failures
        stops = f"{self.stops} stop{'' if self.stops == 1 else 's'}"
        words = [f"{self._how()}, {stops}", *losses_in_words(session)]
        if failures is not None:
            if failures.total > failures.distinct:
                words[0] += f", {failures.distinct} different"
            words += failures.repeats()
            words += without_stop_in_words(session)
        words += [self.unanswered] if self.unanswered else []
        if self.unchanged:
            words.append(f"never changed: {'; '.join(self.unchanged)} ({NOT_WITHIN})")
        if self.unasked:
            words.append(f"not asked, for want of a stop to ask at: {', '.join(self.unasked)}")
        missed = never_hit(session)
        if missed:
            words.append(f"never hit: {'; '.join(missed)}")
            words += [beside] if (beside := not_followed(session)) else []
        words += misspelt_in_words(self.similar)
        words += [unseen] if (unseen := self._unseen(is_missed=bool(missed))) else []
        words += [others] if (others := self._beside_watched(is_said=unseen is not None)) else []
        return words + ([unsaid] if (unsaid := not_known(session)) else [])

    def _unseen(self, *, is_missed: bool) -> str | None:
        """What ran without a debugger, where that leaves open what was asked for."""
        failures = self.failures
        python = unwatched(self.session, python_only=True)
        if python is not None and (self.unanswered or self.has_calls) and failures is None:
            remedy = "" if follows_children(self.session) else ": --children follows them"
            return f"{python}; calls there are not known{remedy}"
        ended_by_us = self.late is not None or self.interrupted is not None
        if python is not None and ended_by_us and failures is None:
            remedy = "; --children shows what each thread there waits for"
            return python if follows_children(self.session) else python + remedy
        python = python if failures is not None else None
        is_explained = bool(self.stops or self.session.program_run.without_stop or ended_by_us)
        is_unexplained = failures is not None and self.exit_code and not is_explained
        unseen = unwatched(self.session) if is_missed or is_unexplained else python
        if unseen is None or python is None:
            return unseen
        remedy = "" if follows_children(self.session) else ": --children follows them"
        return f"{unseen}; failures there are not known{remedy}"

    def _beside_watched(self, *, is_said: bool) -> str | None:
        """The processes in which what never changed may have done so: --watch is not of them.

        is_said: those without a debugger are named already.
        """
        if not self.unchanged:
            return None
        python = None if is_said else unwatched(self.session, python_only=True)
        ran = "; ".join(filter(None, (python, self._debugged_children())))
        return f"{ran}; {WATCHED_IN}" if ran else None

    def _debugged_children(self) -> str | None:
        """The processes in which nothing is traced, watched or counted, though they are debugged."""
        count = len(self.session.program_run.debugged)
        return (
            f"{count} child process{'es were' if count > 1 else ' was'} debugged, too"
            if count
            else None
        )

    def _how(self) -> str:
        if (by := self._ended_by) is not None:
            if self.late is not None:
                return f"ended by --timeout after {self.late:g} s"
            return "ended by --until" if by == "until" else f"ended by {by}"
        code = self.session.exit_code
        if code is None:
            return "the debugger did not report the exit code"
        known = {number.value: number.name for number in signal.Signals}
        name = f" ({known.get(-code, f'signal {-code}')})" if code < 0 else ""
        return f"exit code {self.exit_code}{name}"
