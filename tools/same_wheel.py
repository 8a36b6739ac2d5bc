"""Build the wheel twice, as two people would, and compare the bytes.

    tox -e wheel

Each from a clean checkout of the present commit, in another folder and with another umask, time zone,
locale and hash seed. What both have in common is the commit, and so its time, SOURCE_DATE_EPOCH.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Builder:
    """One of the two, and what is special about the machine."""

    folder: str
    umask: int
    zone: str
    language: str
    seed: str


BUILDERS = (
    Builder("a", 0o022, "UTC", "C", "1"),
    Builder("b/with a/longer path", 0o077, "Asia/Tokyo", "C.UTF-8", "2"),
)


def main() -> int:
    """Print the wheel's name and digest, or what differs; return the exit code."""
    with tempfile.TemporaryDirectory(prefix="relay-wheel-") as folder:
        first, second = (build(ROOT, Path(folder) / one.folder, one) for one in BUILDERS)
        faults = differences(first, second)
        digest = hashlib.sha256(first.read_bytes()).hexdigest()
        print("\n".join(faults) if faults else f"twice the same: {first.name} sha256:{digest}")
    return int(bool(faults))


def build(repository: Path, folder: Path, builder: Builder) -> Path:
    """The wheel of the repository's present commit, built in `folder`."""
    commit = _git(repository, "rev-parse", "HEAD")
    env = {
        **os.environ,
        "SOURCE_DATE_EPOCH": _git(repository, "log", "-1", "--format=%ct"),
        "TZ": builder.zone,
        "LC_ALL": builder.language,
        "PYTHONHASHSEED": builder.seed,
    }
    clone = ["git", "clone", "--quiet", "--no-checkout", str(repository), str(folder)]
    subprocess.run(clone, check=True, umask=builder.umask)
    checkout = ["git", "-c", "advice.detachedHead=false", "checkout", "--quiet", commit]
    subprocess.run(checkout, cwd=folder, check=True, umask=builder.umask)
    make = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run(make, cwd=folder, env=env, check=True, stdout=sys.stderr, umask=builder.umask)
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


def _git(repository: Path, *words: str) -> str:
    return subprocess.check_output(["git", *words], cwd=repository, text=True).strip()


def differences(first: Path, second: Path) -> list[str]:
    """In words, and by the files in them; nothing if both are the same byte for byte."""
    if first.name == second.name and first.read_bytes() == second.read_bytes():
        return []
    names = [] if first.name == second.name else [f"{first.name} is called {second.name}"]
    with zipfile.ZipFile(first) as one, zipfile.ZipFile(second) as other:
        inside = {info.filename: _facts(one, info) for info in one.infolist()}
        others = {info.filename: _facts(other, info) for info in other.infolist()}
    differ = sorted(name for name in inside.keys() | others if inside.get(name) != others.get(name))
    return [*names, *(f"{name} differs" for name in differ)] or ["their order differs"]


def _facts(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> tuple[object, ...]:
    return info.date_time, info.external_attr, info.compress_type, archive.read(info)


if __name__ == "__main__":
    sys.exit(main())
