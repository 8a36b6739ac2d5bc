"""All benchmarks in one go, as numbers and as pictures. Run `tox -e bench`.

    tox -e bench                    # all: more than half an hour, on a machine that does nothing else
    tox -e bench -- --only latency  # one, beside what is recorded of the others
    tox -e bench -- --compact       # some ratios, in twenty seconds, beside those recorded last

All writes `recorded.json` beside this file: each benchmark's numbers, or the table that it prints,
with how fast the machine was, and what could not be had with the reason. From it come the pictures
in `docs/pictures/`, which performance.md shows. `--pictures` draws them anew and measures nothing.

Compact runs say which ratio has fallen by more than a third since. Each is of the quickest sample
that either side has: of few, the median says how busy processor and disk were (a session is created
once its file is on the disk, mostly in 2 ms, and in 60 where others write). They never fail for that:
a machine may be busy throughout, and who reads it knows whether it was. They are recorded in the
environment that tox makes, as they are compared there: beside many packages the stock adapter takes up
to half as long again to start.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file, from anywhere

from benchmarks import passing_calls, unanswered_questions
from benchmarks.failure import BenchmarkError
from benchmarks.report import circumstances

HERE = Path(__file__).resolve().parent
RECORDED = HERE / "recorded.json"
PICTURES = HERE.parent / "docs" / "pictures"
PRINTED = {
    "questions": ("questions.py", "--only", "calls"),
    "captures": ("captures.py",),
    "frame trace": ("frame_trace.py",),
    "shell commands": ("shell_commands.py",),
    "processes": ("processes.py",),
    "waiters": ("waiters.py",),
    "crowd": ("crowd.py",),
    "surroundings": ("surroundings.py",),
    "floods": ("floods.py",),
    "attaches": ("attaches.py",),
    "perl adapter": ("perl_adapter.py",),
    "perl questions": ("perl_questions.py",),
    "full collections": ("full_collections.py",),
    "suites": ("suites.py", "--rounds", "1"),
}
"""Benchmarks that print tables, which are kept as they are."""

RATIOS = f"ratios of Python {sys.version_info.major}.{sys.version_info.minor}"
"""The part that has them: those of another version say nothing, as 3.11 has no `sys.monitoring`."""

COMPACT_WAYS = ("plain", "sys.settrace", "trace of share", "calls", "watch")
FALLEN = 2 / 3
"""Of the recorded ratio: what is below is said."""


def speed() -> float:
    """Milliseconds of a million additions in a loop: how fast the machine is now, best of five."""
    found = []
    for _ in range(5):
        started, total = time.perf_counter(), 0
        for number in range(1_000_000):
            total += number
        found.append(time.perf_counter() - started)
    return min(found) * 1000


# Measuring ---------------------------------------------------------------------------------


def script(name: str, *options: str) -> str:
    """What a benchmark prints. Raises BenchmarkError."""
    argv = [sys.executable, str(HERE / name), *options]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchmarkError(f"{name}: {' '.join(done.stderr.split())[-300:]}")
    return done.stdout


def written_by(name: str, *options: str) -> Any:
    """The numbers that a benchmark writes. Raises BenchmarkError."""
    with tempfile.TemporaryDirectory(prefix="relay-bench-") as scratch:
        file = Path(scratch) / "numbers.json"
        script(name, *options, "--json", str(file))
        return json.loads(file.read_text())


def questions(rounds: int, *, compact: bool = False) -> dict[str, Any]:
    """What each way adds to an event of the program, in µs, and what a run takes, in s."""
    ways, peers = (COMPACT_WAYS, ()) if compact else (None, tuple(unanswered_questions.PEERS))
    costs = unanswered_questions.measure(sys.executable, rounds, peers, ways)
    events = {way: costs.per_event(way) for way in costs.seconds if way != "plain"}
    return {"event_us": events, "run_s": costs.runs, "absent": costs.absent}


def benchmarks() -> dict[str, Callable[[], Any]]:
    """What is measured, by name."""
    return {
        RATIOS: measured_ratios,
        "latency": partial(written_by, "latency.py"),
        "answers": partial(written_by, "agent_cost.py"),
        "unanswered": partial(questions, 3),
        "passing": partial(passing_calls.passing, sys.executable, 2),
        **{name: partial(script, *words) for name, words in PRINTED.items()},
    }


def measure(parts: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """Each as far as it can be had here; others stay as they are recorded."""
    known = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    document = {"parts": known.get("parts", {}), "circumstances": circumstances()}
    for name, part in parts.items():
        before = speed()
        try:
            found, why = part(), None
        except (BenchmarkError, OSError, subprocess.SubprocessError) as error:
            found, why = None, str(error)
        machine = {"million_additions_ms": [round(before, 1), round(speed(), 1)]}
        when = circumstances()["date"]
        document["parts"][name] = {"date": when, **machine, "absent": why, "found": found}
        print(f"{name}: {why or 'measured'}", flush=True)
    return document


# Comparing ---------------------------------------------------------------------------------


def ratios(latency: Any, asked: Any) -> dict[str, float]:
    """How many times quicker than stock debugpy, or cheaper than `sys.settrace`, by what is done."""
    found = {}
    for result in latency["results"]:
        for row in result["operations"]:
            if row["stock"] is not None:
                quickest = row["stock"]["p5"] / row["relay"]["p5"]
                found[f"{row['operation']}, stock debugpy ÷ relay"] = quickest
    events = asked["event_us"]
    for way in COMPACT_WAYS[2:]:
        if way in events:  # what costs nothing has no ratio
            found[f"{way}, sys.settrace ÷ relay"] = events["sys.settrace"] / max(events[way], 0.05)
    return found


def compared(now: Mapping[str, float], before: Mapping[str, float]) -> list[str]:
    """A line for each ratio; what has fallen by more than a third begins with FELL."""
    lines = []
    for name, ratio in now.items():
        known = before.get(name)
        since = "not recorded" if known is None else f"{known:.1f} recorded"
        mark = "FELL " if known is not None and ratio < known * FALLEN else "     "
        lines.append(f"{mark}{name}: {ratio:.1f} ({since})")
    return lines


def measured_ratios() -> dict[str, float]:
    """Those of a compact run: few samples, and so compared with others of few."""
    few = ("--no-pauses", "--rounds", "12", "--launches", "6")
    found = ratios(written_by("latency.py", *few), questions(1, compact=True))
    return {name: round(ratio, 2) for name, ratio in found.items()}


def compact() -> None:
    """Print how the ratios are beside those recorded last."""
    before = speed()
    now = measured_ratios()
    parts = json.loads(RECORDED.read_text())["parts"] if RECORDED.exists() else {}
    known = parts.get(RATIOS) or {"found": {}}
    print(f"{RATIOS}. A million additions took {before:.0f} and {speed():.0f} ms", end="")
    recorded = known.get("million_additions_ms")
    print(f", {recorded[0]:.0f} and {recorded[1]:.0f} when recorded." if recorded else ".")
    print("\n".join(compared(now, known["found"] or {})), flush=True)


# Drawing -----------------------------------------------------------------------------------


def pictures(document: Mapping[str, Any]) -> None:
    """Draw what was measured."""
    PICTURES.mkdir(exist_ok=True)
    found = {name: part["found"] for name, part in document["parts"].items()}
    if known := found.get(RATIOS):
        stock = {name: ratio for name, ratio in known.items() if ", stock" in name}
        bars = {name.partition(", stock")[0]: ratio for name, ratio in stock.items()}
        draw("latency", "Times as long under stock debugpy", bars)
    if asked := found.get("unanswered"):
        draw("questions", "µs that an open question adds to an event", asked["event_us"])
    if passing := found.get("passing"):
        bars = {kind.replace("_", " "): cost["added"] for kind, cost in passing.items()}
        draw("passing", "µs that a call takes longer which goes by", bars)
    if answers := found.get("answers"):
        bars = {f"{one['tool']}, {one['task']}": one["bytes"] for one in answers if one["done"]}
        draw("answers", "Bytes of answer until the bug is seen", bars)


def draw(name: str, title: str, bars: Mapping[str, float]) -> None:
    """One picture: a bar for each, with its number, the first on top. Nothing in it is fetched."""
    import pygal

    chart = pygal.HorizontalBar(
        title=title,
        js=(),
        show_legend=False,
        print_values=True,
        disable_xml_declaration=True,
        no_prefix=True,
        explicit_size=True,
        width=800,
        height=90 + 26 * len(bars),
        value_formatter=lambda value: f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}",
        style=pygal.style.CleanStyle(font_family="sans-serif", value_font_size=12),
    )
    chart.x_labels = list(bars)[::-1]
    chart.add("", list(bars.values())[::-1])
    (PICTURES / f"{name}.svg").write_text(chart.render(is_unicode=True) + "\n")


# From the command line ---------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--compact", action="store_true", help="some ratios, beside those recorded")
    parser.add_argument("--only", action="append", choices=benchmarks(), help="these alone")
    parser.add_argument("--pictures", action="store_true", help="draw what is recorded")
    given = parser.parse_args(arguments)
    if given.compact:
        compact()
        return
    if not given.pictures:
        chosen = {n: one for n, one in benchmarks().items() if n in (given.only or benchmarks())}
        document = measure(chosen)
        RECORDED.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    pictures(json.loads(RECORDED.read_text()))


if __name__ == "__main__":
    main()
