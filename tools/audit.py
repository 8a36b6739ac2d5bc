"""Ask whether what the relay needs has known vulnerabilities, by pip-audit.

    tox -e audit

Ends with 1 if there are any. Where the index of advisories cannot be had, it says that nothing was
audited and ends with 0: no answer is none, and no reason to refuse a change.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tools.requirements import RELAY, needed

SECONDS = 25.0
"""For all of it; an index that does not answer would else be waited for with each package."""


def main() -> int:
    """Print what was found, and return the exit code."""
    pinned = {str(name): one.version for name, one in needed().items() if name != RELAY}
    code, text = verdict(_asked(pinned), len(pinned))
    print(text)
    return code


def _asked(pinned: dict[str, str]) -> str | None:
    """What pip-audit answers, as JSON; None if it did not."""
    with tempfile.TemporaryDirectory(prefix="relay-audit-") as folder:
        listed = Path(folder) / "requirements.txt"
        listed.write_text("".join(f"{name}=={version}\n" for name, version in pinned.items()))
        command = [sys.executable, "-m", "pip_audit", "--requirement", str(listed), "--no-deps"]
        command += ["--disable-pip", "--format", "json", "--progress-spinner", "off"]
        try:
            done = subprocess.run(
                [*command, "--timeout", "5"], capture_output=True, text=True, timeout=SECONDS
            )
        except subprocess.TimeoutExpired:
            return None
    return done.stdout if done.returncode in (0, 1) else None


def verdict(answer: str | None, expected: int) -> tuple[int, str]:
    """The exit code, and what is to be said, of an answer about so many distributions."""
    try:
        told: list[dict[str, Any]] = json.loads(answer or "")["dependencies"]
    except (ValueError, KeyError, TypeError):
        return 0, "not audited: pip-audit has no answer; is the index of advisories to be had?"
    audited = [one for one in told if "skip_reason" not in one]
    if told and not audited:
        return 0, f"not audited: none of {expected} could be looked up: {told[0]['skip_reason']}"
    lines = [
        f"{one['name']} {one['version']}: {fault['id']}, corrected in "
        f"{', '.join(fault.get('fix_versions') or ()) or 'no release'}"
        for one in audited
        for fault in one["vulns"]
    ]
    faults = len(lines)
    lines += [
        f"not audited: {one['name']}: {one['skip_reason']}" for one in told if one not in audited
    ]
    lines.append(f"{len(audited)} of {expected} audited, {faults} known vulnerabilities")
    return int(faults > 0), "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
