"""What two runs differ in, in a few lines. Pure but for the file of the calls' texts."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import chain, zip_longest
from typing import NamedTuple

from relay.operations.compare.differences import Comparison, Difference
from relay.operations.compare.fitting import CUT, around, clip, fitted
from relay.operations.compare.matching import below
from relay.operations.compare.recorded_calls import (
    OPEN,
    RAISED,
    STOPPED,
    EndedCall,
    RecordedRun,
    Texts,
)
from relay.operations.compare.recorded_run import Ran

Known = tuple[Callable[[int], bool], Callable[[int], bool]]

Lines = tuple[str | None, str | None]
"""A line of each side; None where it prints no more."""

MOST_CALLERS = 3

COMPILED_OTHERWISE = "compiled modules are this tree's in both, though their sources differ"


class Compared(NamedTuple):
    """Both runs: as they were recorded, as they went, and what each knows of the functions of the other."""

    runs: tuple[RecordedRun, RecordedRun]
    ran: tuple[Ran, Ran]
    knows: Known
    by_chance: str
    """In words, of which calls it is known that chance decides them."""
    ends_differ: bool
    """Whether the exit codes do, and each side has ended so as often as it ran."""
    printed: Lines | None = None
    """The first lines that they print otherwise, masked, if chance has not done it."""


def comparison_text(found: Comparison, both: Compared) -> str:
    """Within the bound of an answer."""
    if found.first is not None:
        text = _difference(found, found.first, both)
    elif found.change is not None:
        text = _change(found.change, both)
    elif found.matched and any(found.alone):
        text = _made_by_one(found, both)
    else:
        text = _nothing(found, both)
    first = found.first
    if both.ends_differ and found.matched and (first is None or first.is_end):
        text = f"exit codes differ: {_exit_codes(both.ran)}\n{text}"
    if both.ran[1].side.is_compiled_otherwise:
        text += f"\n{COMPILED_OTHERWISE}"
    return fitted(text, [one.side.name for one in both.ran])


def _difference(found: Comparison, first: Difference, both: Compared) -> str:
    """The first call whose outcome or branch differs, and what may be behind that."""
    lines = ["first call that differs: " + _place(first.one, both.runs[0]), *_sides(first, both)]
    if found.parting is not None:
        lines.append(
            "before it, other calls are made by " + _place(found.parting.one, both.runs[0])
        )
        lines += _sides(found.parting, both)
    elif found.change is not None:
        lines.append(
            "before it, arguments are changed otherwise by "
            + _place(found.change.one, both.runs[0])
        )
        lines += _sides(found.change, both)
    else:
        lines += _callers(both.runs[0], first.one)
        if found.branch is not None:
            lines.append(
                "below it, other calls are made by " + _place(found.branch.one, both.runs[0])
            )
            lines += _by_default(found.branch.one, found.branch.other, both)
            lines += _branches(found.branch, both)
    next_one = next_without_options(found, both)
    if next_one is not None:
        lines.append("next that gives no options: " + _place(next_one.one, both.runs[0]))
        lines += _sides(next_one, both)
    lines.append(f"{found.differing} of {found.matched} calls with equal arguments differ")
    if found.by_chance:
        lines[-1] += f"; {len(found.by_chance)} more do so {both.by_chance}"
    return "\n".join(lines) + _cut(both) + _in_brief(both)


def _change(change: Difference, both: Compared) -> str:
    """The first call that changed its arguments otherwise, where nothing else differs."""
    lines = ["first call that differs: " + _place(change.one, both.runs[0]), *_sides(change, both)]
    lines += _callers(both.runs[0], change.one)
    lines.append("no result, exception or branch differs" + _ends(both))
    return "\n".join(lines) + _cut(both) + _in_brief(both)


def _made_by_one(found: Comparison, both: Compared) -> str:
    """The first of the calls that only one run has made; of either run."""
    lines = []
    for run, calls, ran in zip(both.runs, found.alone, both.ran, strict=True):
        if calls:
            count = f"first of {len(calls)} calls" if len(calls) > 1 else "a call"
            lines.append(f"{count} that only {ran.side.in_words} makes: {_place(calls[0], run)}")
            lines += _arguments(run.texts(calls[0]))
            lines += _callers(run, calls[0]) or ["called by no function that is compared"]
        elif both.ends_differ and ran.exit_code and ran.last_words:
            # It has perhaps not come so far: a file is missing in a revision, say.
            lines.append(f"{ran.side.name} said: {clip(ran.last_words, 150)}")
    lines.append(f"no call of both differs: {_counts(found, both)}{_ends(both)}")
    return "\n".join(lines) + _cut(both) + _unseen(*both.ran)


def _place(call: EndedCall, run: RecordedRun) -> str:
    about = run.functions[call.function]
    return f"{about.name} at {about.path}:{about.line}"


def _sides(found: Difference, both: Compared) -> list[str]:
    """What the call was given, and what it did in either run."""
    runs, ran, *_ = both
    one, other = runs[0].texts(found.one), runs[1].texts(found.other)
    given = [*_arguments(one), *_by_default(found.one, found.other, both)]
    if found.is_branch:
        return [*given, *_branches(found, both)]
    if found.is_change:
        return [*given, *_changes(one, other, ran)]
    shown = [
        f"{ran[0].side.name}: {_outcome(one, other)}",
        f"{ran[1].side.name}: {_outcome(other, one)}",
    ]
    ended = [(each.kind, each.outcome, each.yields, each.yielded) for each in (one, other)]
    return [*given, *shown, *(["what differs is masked"] if ended[0] == ended[1] else [])]


def _changes(one: Texts, other: Texts, ran: tuple[Ran, Ran]) -> list[str]:
    """The first argument that is not the same at the end."""
    places = sorted({*one.changed, *other.changed})
    differing = [at for at in places if one.changed.get(at) != other.changed.get(at)]
    if not differing:
        return ["it changes its arguments; what differs is masked"]
    at = differing[0]
    name, begun = one.function.arguments[at], one.arguments[at]
    texts = [each.changed.get(at) for each in (one, other)]
    shown = []
    for text, beside, each in zip(texts, reversed(texts), ran, strict=True):
        what = f"leaves {name} as it was"
        if text is not None:
            what = f"leaves {name}={around(text, begun if beside is None else beside, 110)}"
        shown.append(f"{each.side.name}: {what}")
    return shown


def next_without_options(found: Comparison, both: Compared) -> Difference | None:
    """What is told beside the first, where that is no news."""
    first = found.first
    if first is None or not _gives_options(first, both):
        return None
    return next((one for one in found.later if not _follows(one, first, both)), None)


def _gives_options(one: Difference, both: Compared) -> bool:
    """Whether it says what the commands were given, as a parser of arguments does: no news."""
    return not one.is_branch and both.runs[0].texts(one.one).outcome.startswith("<Namespace ")


def _follows(one: Difference, first: Difference, both: Compared) -> bool:
    """Whether a later difference is but a caller of the first, or options again."""
    above: EndedCall | None = first.one
    while above is not None and above.number != one.one.number:
        above = both.runs[0].caller(above)
    return above is not None or _gives_options(one, both)


def _arguments(texts: Texts) -> list[str]:
    shown = [f"{name}={clip(text, 70)}" for name, text in texts.given]
    if not shown:
        return []
    part = clip(", ".join(texts.in_part), 40)
    return [
        "  with " + clip(", ".join(shown), 200) + (f" ({part} compared in part)" if part else "")
    ]


def _by_default(one: EndedCall, other: EndedCall, both: Compared) -> list[str]:
    """Which defaults tell two calls apart that were given the same."""
    if one.arguments == other.arguments:
        return []
    pair = [run.texts(call) for run, call in zip(both.runs, (one, other), strict=True)]
    values = [dict(zip(texts.function.arguments, texts.arguments, strict=False)) for texts in pair]
    shown = []
    for name in dict.fromkeys(chain(*values)):
        texts = [each.get(name) for each in values]
        if texts[0] == texts[1]:
            continue
        said = [
            f"{'no such parameter' if text is None else clip(text, 40)} in {ran.side.name}"
            for ran, text in zip(both.ran, texts, strict=True)
        ]
        shown.append(f"default of {name}: {', '.join(said)}")
    return ["  " + clip("; ".join(shown), 150)]


def _outcome(texts: Texts, beside: Texts) -> str:
    """How the call ended; of a generator also what it gave, unless that is equal and an exception ended it."""
    is_answer = texts.kind not in (RAISED, STOPPED)
    gave_otherwise = (texts.yields, texts.yielded) != (beside.yields, beside.yielded)
    if not ((texts.yields or beside.yields) and (is_answer or gave_otherwise)):
        return _end(texts, beside, 120)
    if not texts.yields:
        return f"yields nothing, {_end(texts, beside, 60, then='then ')}"
    gave = around(_gave(texts), _gave(beside), 80)
    return f"yields {texts.yields}: {gave}, {_end(texts, beside, 60, then='then ')}"


def _gave(texts: Texts) -> str:
    """The values of a generator."""
    return ", ".join(texts.yielded) + (f", {CUT}" if texts.yields > len(texts.yielded) else "")


def _end(texts: Texts, beside: Texts, width: int, then: str = "") -> str:
    """then: what leads on from the values that were yielded."""
    if texts.kind == OPEN:
        return "is not over at the end"
    if texts.kind == RAISED:
        return f"{then}raised {_exception(texts, beside)} at line {texts.line}"
    if texts.kind == STOPPED:
        return f"{then or 'ended by '}{_exception(texts, beside)}"
    if beside.kind == texts.kind:
        return f"{then or '→ '}{around(texts.outcome, beside.outcome, width)}"
    return f"{then or '→ '}{clip(texts.outcome, width)}"


def _exception(texts: Texts, beside: Texts) -> str:
    """Type and message, and where these are equal, what else the exception stores."""
    head, _, stored = texts.outcome.partition("\n")
    other, _, beside_stored = beside.outcome.partition("\n")
    if head != other or stored == beside_stored:
        return clip(head, 110)
    return f"{clip(head, 60)} with {around(stored, beside_stored, 120) or 'nothing else'}"


def _branches(first: Difference, both: Compared) -> list[str]:
    """The first call that only one of them made there."""
    runs, ran, knows, *_ = both
    calls = [
        below(run, call.number, known)
        for run, call, known in zip(runs, first[:2], knows, strict=True)
    ]
    keys = [
        [(run.functions[one.function].key, one.arguments) for one in called]
        for run, called in zip(runs, calls, strict=True)
    ]
    pairs = zip(*keys, strict=False)
    at = next((i for i, (a, b) in enumerate(pairs) if a != b), min(map(len, keys)))
    equal = f", after {at} equal call{'' if at == 1 else 's'}" if at else ""
    made = [
        run.texts(called[at]) if at < len(called) else None
        for run, called in zip(runs, calls, strict=True)
    ]
    shown = []
    for texts, beside, one in zip(made, reversed(made), ran, strict=True):
        what = "calls no more"
        if texts is not None:
            what = f"calls {texts.function.name}({_given_beside(texts, beside)})"
        shown.append(f"{one.side.name}: {what}{equal}")
    return shown


def _given_beside(texts: Texts, beside: Texts | None) -> str:
    """What a call was given; where that reads as what the other was given, the argument that differs, by its name."""
    shown = _given(texts)
    if beside is not None and shown == _given(beside):
        for (name, text), (_, other) in zip(texts.given, beside.given, strict=False):
            if text != other:
                return f"{name}={around(text, other, 80)}"
    return shown


def _given(texts: Texts) -> str:
    return clip(", ".join(clip(text, 40) for _, text in texts.given), 80)


def _callers(run: RecordedRun, call: EndedCall) -> list[str]:
    names: list[str] = []
    while (above := run.caller(call)) is not None and len(names) < MOST_CALLERS:
        names.append(run.functions[above.function].name)
        call = above
    return [clip("called by " + ", ".join(names), 120)] if names else []


def _nothing(found: Comparison, both: Compared) -> str:
    ends = _ends(both)
    if not found.matched:
        return (
            "no call with equal arguments is in both runs: nothing can be compared"
            f"{_others(found, both)}{_cut(both)}{ends}{_unseen(*both.ran)}"
        )
    return (
        f"no call differs{_but_for(found, both)}: {_counts(found, both)}{_in_part(found)}"
        f"{_others(found, both)}{_cut(both)}{ends}{_unseen(*both.ran)}{_printed(both)}"
        f"{_in_brief(both)}"
    )


def _printed(both: Compared) -> str:
    """That the programs did not print the same, though nothing that they called says why."""
    if both.printed is None:
        return ""
    one, other = both.printed
    lines = ["", "but what they print differs:"]
    for text, beside, ran in zip((one, other), (other, one), both.ran, strict=True):
        shown = "prints no more" if text is None else around(text, beside or "", 120)
        lines.append(f"{ran.side.name}: {shown or 'an empty line'}")
    return "\n".join([*lines, *(["what differs is masked"] if one == other else [])])


def differing_lines(one: Sequence[str], other: Sequence[str]) -> Lines | None:
    """The first lines that differ of what two runs have written to each stream; None if no line does."""
    pairs = chain.from_iterable(
        zip_longest(text.splitlines(), beside.splitlines())
        for text, beside in zip(one, other, strict=True)
    )
    return next((pair for pair in pairs if pair[0] != pair[1]), None)


def _counts(found: Comparison, both: Compared) -> str:
    calls = " and ".join(str(run.count) for run in both.runs)
    return f"{found.matched} with equal arguments, of {calls}"


def _others(found: Comparison, both: Compared) -> str:
    """Of calls that are not compared with an equal one, as the runs have made them otherwise."""
    said = []
    if found.by_default:
        count, (one, other) = len(found.by_default), found.by_default[0]
        which = _by_default(one, other, both)[0].strip()
        said.append(f"; {count} with other defaults (first {_place(one, both.runs[0])}: {which})")
    if found.unequal:
        count, first = len(found.unequal), _place(found.unequal[0][0], both.runs[0])
        said.append(f"; {count} with other arguments (first {first})")
    for run, calls in zip(both.runs, found.alone_by_chance, strict=True):
        if calls:
            said.append(f"; how often {_place(calls[0], run)} is called differs {both.by_chance}")
            break
    return "".join(said)


def _but_for(found: Comparison, both: Compared) -> str:
    if not found.by_chance:
        return ""
    first = _place(found.by_chance[0].one, both.runs[0])
    count = len(found.by_chance)
    return f" but for {count} {both.by_chance} (first {first})"


def nothing_called(one: Ran) -> str:
    """Of a run that has called nothing that could be compared."""
    said = f"; it said: {clip(one.last_words, 150)}" if one.last_words else ""
    what = f"{one.side.name} called no function of its own code below {one.side.root}"
    if one.complaint:
        what = f"in {one.side.in_words} {clip(one.complaint, 200)}"
    elif one.is_lost and not one.was_killed:
        left = f"it left at once, as os._exit does (exit code {one.exit_code})"
        return f"nothing to compare: what {one.side.in_words} called, if anything, is lost: {left}{said}"
    elif one.unmet:
        what = f"in {one.side.in_words} {clip(one.unmet, 300)}"
    elif one.was_killed:
        killer = _exit_code(one.exit_code)
        return f"nothing to compare: {killer} ended {one.side.in_words} before a call was recorded{said}"
    return f"nothing to compare: {what} (exit code {one.exit_code}){said}{_unseen(one)}"


def _unseen(*ran: Ran) -> str:
    """The processes whose calls nobody compares: those of the first run that had some."""
    one = next((one for one in ran if one.unseen), None)
    if one is None:
        return ""
    remedy = ": -n 0 has pytest-xdist run the tests there" if one.has_xdist else ""
    return f"; {one.unseen}; only calls of the first process are compared{remedy}"


def _ends(both: Compared) -> str:
    codes = [one.exit_code for one in both.ran]
    if any(one.late for one in both.ran):
        return ""  # none is known of both
    if codes[0] == codes[1]:
        return _both_failed(both.ran[0]) if codes[0] else ""
    return "" if both.ends_differ else f"; exit codes {_exit_codes(both.ran)}, by chance"


def _exit_codes(ran: tuple[Ran, Ran]) -> str:
    return ", ".join(f"{_exit_code(one.exit_code)} in {one.side.name}" for one in ran)


def _exit_code(code: int | None) -> str:
    """A number, or the name of the signal that has ended the program."""
    if code is not None and code < 0:
        with suppress(ValueError):
            return signal.Signals(-code).name
    return str(code)


def _in_part(found: Comparison) -> str:
    return f"; {found.in_part} compared in part, being too large" if found.in_part else ""


def _in_brief(both: Compared) -> str:
    """Of which calls all was compared that their values store, if it was not of all."""
    whole = both.runs[0].whole
    if whole is None:
        return ""
    return f"\nvalues were compared whole in calls {whole[0]} to {whole[1]}, else in brief"


def _both_failed(one: Ran) -> str:
    """Equal runs that went wrong, of a wrong argument say, have perhaps not come to what differs."""
    said = f": {clip(one.last_words, 150)}" if one.last_words else ""
    return f"; both ended with exit code {one.exit_code}{said}"


def _cut(both: Compared) -> str:
    for one in both.ran:
        if one.complaint:
            return f"; in {one.side.in_words} {clip(one.complaint, 200)}"
    is_cut = any(run.is_cut for run in both.runs)
    return "; the runs go on beyond what was compared" if is_cut else ""
