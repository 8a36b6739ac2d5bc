"""Write what a release is made of: an SBOM and a list of licences, beside the wheel in dist/.

    tox -e sbom

Installs the relay, and nothing else, into an environment of its own: what is listed is what a user
gets today. `sbom.cdx.json` is CycloneDX, `licenses.md` a table. Ends with 1 if a distribution is
missing from either, or has no licence that its metadata names.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from collections.abc import Set
from pathlib import Path
from typing import Any

from packaging.utils import NormalizedName, canonicalize_name

from tools.requirements import RELAY

ROOT = Path(__file__).resolve().parents[1]
SBOM, LICENSES = "sbom.cdx.json", "licenses.md"

WITH_IT = ("setuptools", "pip")
"""What a new environment comes with, and the relay does not need."""


def main() -> int:
    """Write both files, and return the exit code."""
    folder = ROOT / "dist"
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="relay-sbom-") as made:
        python, installed = _environment(Path(made))
        sbom = _sbom(python, installed[RELAY])
        (folder / LICENSES).write_text(_licenses(python, "markdown"))
        licensed = json.loads(_licenses(python, "json"))
    (folder / SBOM).write_text(json.dumps(sbom, indent=2) + "\n")
    faults = missing(set(installed), sbom, licensed)
    print(
        "\n".join([*faults, f"{len(installed)} distributions: {SBOM} and {LICENSES} in {folder}"])
    )
    return int(bool(faults))


def missing(
    installed: Set[NormalizedName], sbom: dict[str, Any], licensed: list[dict[str, str]]
) -> list[str]:
    """What either of them does not say of a distribution, in words."""
    listed = {sbom["metadata"]["component"]["name"], *(one["name"] for one in sbom["components"])}
    licences = {canonicalize_name(one["Name"]): one["License"] for one in licensed}
    unlisted = installed - set(map(canonicalize_name, listed))
    unknown = {name for name in installed if licences.get(name, "UNKNOWN") == "UNKNOWN"}
    return [
        *(f"{name}: not in the SBOM" for name in sorted(unlisted)),
        *(f"{name}: no licence is known" for name in sorted(unknown)),
    ]


def _environment(folder: Path) -> tuple[Path, dict[NormalizedName, str]]:
    """The interpreter of a new environment, and what is in it: the relay and what it needs."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    pip = [str(python), "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", str(ROOT)], check=True)
    told = json.loads(subprocess.check_output([*pip, "list", "--format", "json"], text=True))
    subprocess.run([*pip, "uninstall", "--quiet", "--yes", *WITH_IT], check=True)
    installed = {canonicalize_name(one["name"]): one["version"] for one in told}
    return python, {name: one for name, one in installed.items() if name not in WITH_IT}


def _sbom(python: Path, version: str) -> dict[str, Any]:
    """As the library makes it, with the relay's own version: that stands in no file."""
    about = ["--pyproject", str(ROOT / "pyproject.toml"), "--output-reproducible"]
    sbom: dict[str, Any] = json.loads(_run("cyclonedx_py", "environment", *about, str(python)))
    sbom["metadata"]["component"]["version"] = version
    return sbom


def _licenses(python: Path, kind: str) -> str:
    return _run("piplicenses", "--python", str(python), "--format", kind, "--with-urls")


def _run(module: str, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", module, *words], stdout=subprocess.PIPE, check=True, text=True
    )
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
