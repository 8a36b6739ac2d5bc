"""What an installed relay needs: itself and every distribution below it, as installed here.

Knows the metadata of distributions. What tests and tools brought is not among them.
"""

from __future__ import annotations

from importlib.metadata import Distribution, distribution

from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

RELAY = canonicalize_name("debug-relay")


def needed(root: str = RELAY) -> dict[NormalizedName, Distribution]:
    """Every distribution that `root` needs, itself too, by its canonical name.

    Raises PackageNotFoundError if one is not installed.
    """
    found: dict[NormalizedName, Distribution] = {}
    asked: set[tuple[str, str]] = set()
    open_ones = [(root, "")]
    while open_ones:
        name, extra = open_ones.pop()
        if (name, extra) in asked:
            continue
        asked.add((name, extra))
        one = found.setdefault(canonicalize_name(name), distribution(name))
        for line in one.requires or ():
            wanted = Requirement(line)
            if wanted.marker is None or wanted.marker.evaluate({"extra": extra}):
                open_ones += [(wanted.name, chosen) for chosen in ("", *wanted.extras)]
    return dict(sorted(found.items()))
