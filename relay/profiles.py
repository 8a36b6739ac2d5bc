"""Breakpoint profiles on disk: one file of the state directory.

Knows names and lists of JSON objects; what is in them, the models know. Everything here
blocks: call it in a worker thread. Source: contract, section 7.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from relay.state_files import set_aside, write_whole

FILE = "breakpoint-profiles.json"
FORMAT = 1

Profiles = dict[str, list[dict[str, Any]]]

_writing = threading.Lock()


def load(state_dir: Path) -> Profiles:
    """Every profile by name; a damaged file is moved aside, and there are none.

    Raises OSError if the file cannot be read.
    """
    path = state_dir.expanduser() / FILE
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}
    try:
        return _checked(json.loads(data))
    except ValueError as error:
        set_aside(path, error)
        return {}


def _checked(document: object) -> Profiles:
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise ValueError(f"no document of format {FORMAT}")
    profiles = document.get("profiles")
    if not isinstance(profiles, dict):
        raise ValueError("profiles is no object")
    for name, breakpoints in profiles.items():
        if not isinstance(breakpoints, list) or not all(isinstance(b, dict) for b in breakpoints):
            raise ValueError(f"profile {name!r} is no list of breakpoints")
    return profiles


def put(state_dir: Path, name: str, breakpoints: list[dict[str, Any]], *, only_new: bool) -> bool:
    """Keep a profile; False, and nothing changed, if `only_new` and the name is taken.

    Raises OSError if the file cannot be read or written; it is as it was.
    """
    with _writing:
        profiles = load(state_dir)
        if only_new and name in profiles:
            return False
        _save(state_dir, {**profiles, name: breakpoints})
        return True


def remove(state_dir: Path, name: str) -> bool:
    """Forget a profile; False if there is none of that name. Raises OSError."""
    with _writing:
        profiles = load(state_dir)
        if name not in profiles:
            return False
        del profiles[name]
        _save(state_dir, profiles)
        return True


def _save(state_dir: Path, profiles: Profiles) -> None:
    document = {"format": FORMAT, "profiles": profiles}
    text = json.dumps(document, indent=2, ensure_ascii=False)
    write_whole(state_dir.expanduser() / FILE, text.encode() + b"\n")
