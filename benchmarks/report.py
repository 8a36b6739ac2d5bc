"""The results as a Markdown table and as JSON, with what was promised beside them.

Knows the promises; a promise that is missed is shown, and is not a failure.
"""

from __future__ import annotations

import importlib.metadata
import math
import os
import platform
import statistics
import subprocess
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import measure
from benchmarks.failure import PATIENCE_SECONDS, BenchmarkError
from benchmarks.measure import AFTER_PAUSES, IN_A_ROW, OPERATIONS, Samples

# Stock's median divided by the relay's is to be at least this.
RATIOS = {
    measure.STEP: 15.0,
    measure.EVALUATE: 15.0,
    measure.VARIABLES: 15.0,
    **dict.fromkeys(IN_A_ROW, 30.0),
    measure.LAUNCH: 1.0,
}
# The relay's median is to be below this, in ms: our own promises, then the users' KPIs.
PROMISED_MS = {measure.CREATE: 50.0}
KPI_MS = {
    measure.CREATE: 500.0,
    measure.PLACE_1: 100.0,
    measure.STEP: 200.0,
    measure.VARIABLES: 300.0,
    measure.EVALUATE: 500.0,
    measure.STATUS: 50.0,
}
HEADER = [
    "operation",
    "stock median",
    "stock p95",
    "relay median",
    "relay p95",
    "stock ÷ relay",
    "promised",
    "KPI",
    "samples",
]
_DISTRIBUTIONS = ["debugpy", "trio", "hypercorn", "quart", "quart-trio", "pydantic"]
_NONE = "–"


@dataclass(frozen=True)
class Cell:
    """One side of one operation, in milliseconds.

    p5 is what the machine could do when it had nothing else to do.
    """

    p5: float
    median: float
    p95: float
    samples: int

    @classmethod
    def of(cls, seconds: list[float]) -> Cell | None:
        """None without samples. p5 and p95 are samples: so many percent are not above them."""
        if not seconds:
            return None
        ordered = sorted(value * 1000 for value in seconds)
        p5, p95 = (ordered[math.ceil(part * len(ordered)) - 1] for part in (0.05, 0.95))
        return cls(p5, statistics.median(ordered), p95, len(ordered))


@dataclass(frozen=True)
class Row:
    """One operation on both sides; stock has no status to poll."""

    operation: str
    stock: Cell | None
    relay: Cell | None

    @property
    def ratio(self) -> float | None:
        """Stock's median divided by the relay's."""
        if self.stock is None or self.relay is None:
            return None
        return self.stock.median / self.relay.median

    @property
    def promised(self) -> str:
        """The promise and whether it is kept; a dash where nothing is promised."""
        if self.operation in RATIOS and self.ratio is not None:
            least = RATIOS[self.operation]
            return f"≥ {least:g}× {_verdict(self.ratio >= least)}"
        return self._below(PROMISED_MS)

    @property
    def kpi(self) -> str:
        """The users' KPI and whether it is kept."""
        return self._below(KPI_MS)

    def _below(self, limits: dict[str, float]) -> str:
        if self.operation not in limits or self.relay is None:
            return _NONE
        limit = limits[self.operation]
        return f"< {limit:g} ms {_verdict(self.relay.median < limit)}"

    def columns(self) -> list[str]:
        """The cells of the table, in the header's order."""
        ratio = _NONE if self.ratio is None else _times(self.ratio)
        counted = self.relay or self.stock
        return [
            self.operation,
            *_numbers(self.stock),
            *_numbers(self.relay),
            ratio,
            self.promised,
            self.kpi,
            str(counted.samples if counted else 0),
        ]


def _verdict(kept: bool) -> str:
    return "kept" if kept else "MISSED"


def _numbers(cell: Cell | None) -> list[str]:
    return [_NONE, _NONE] if cell is None else [_milliseconds(cell.median), _milliseconds(cell.p95)]


def _milliseconds(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _times(ratio: float) -> str:
    return f"{ratio:.1f}" if ratio >= 1 else f"{ratio:.2g}"


def rows(samples: Samples, *, pauses: bool = True) -> list[Row]:
    """The table's rows, without `pauses` those of bursts. Raises BenchmarkError if the relay lacks
    samples of any."""
    table = [
        Row(name, Cell.of(samples.of(name, "stock")), Cell.of(samples.of(name, "relay")))
        for name in OPERATIONS
        if pauses or name not in (*AFTER_PAUSES, *IN_A_ROW)
    ]
    if missing := [row.operation for row in table if row.relay is None]:
        raise BenchmarkError(f"nothing was measured of {missing}")
    return table


@dataclass(frozen=True)
class Result:
    """One interpreter's table."""

    python: str
    python_version: str
    launch_modes: list[str]
    contention: float | None
    loop: float
    rows: list[Row]

    def markdown(self) -> str:
        """A heading, what it was measured in, and the table."""
        modes = ", ".join(self.launch_modes)
        lines = [HEADER, ["---", *["---:"] * (len(HEADER) - 1)], *(r.columns() for r in self.rows)]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        title = f"### Debuggee: Python {self.python_version}, launch mode {modes}"
        return f"{title}\n\nMilliseconds. {self._machine()}\n\n{table}\n"

    def _machine(self) -> str:
        loop = f"A million additions in a loop took {self.loop:.0f} ms."
        if self.contention is None:
            return loop
        return f"{loop} Some process waited for a CPU in {self.contention:.0f} % of the time."

    def as_json(self) -> dict[str, object]:
        """The same as data."""
        return {
            "python": self.python,
            "python_version": self.python_version,
            "launch_modes": self.launch_modes,
            "contention_percent": self.contention,
            "million_additions_ms": self.loop,
            "unit": "ms",
            "operations": [{**asdict(row), "ratio": row.ratio} for row in self.rows],
        }


def circumstances() -> dict[str, str]:
    """When, where and with what this was measured."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": f"{os.cpu_count()} × {_processor()}",
        "system": f"{platform.system()} {platform.release()}",
        "load": " ".join(f"{value:.2f}" for value in os.getloadavg()),
        "relay and stock adapter under": f"Python {platform.python_version()}",
        **{name: importlib.metadata.version(name) for name in _DISTRIBUTIONS},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def version_of(python: str) -> str:
    """The version of an interpreter. Raises BenchmarkError if it does not run."""
    script = "import platform; print(platform.python_version())"
    try:
        return subprocess.run(
            [python, "-c", script],
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=True,
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError) as error:
        raise BenchmarkError(f"{python} does not run: {error}") from error
