"""What of the sessions survives the relay: their definitions and breakpoints, on disk.

    breakpoints.json    {"format": 1, "sessions": {session id: [breakpoint, …]}}
    sessions/ID.json    {"created_at": …, "definition": the document, without breakpoints}
    lock                held while a relay keeps its sessions here

Whoever waited for `keep` loses nothing when the relay is killed the moment after. Knows
which files say what. Refuses to know when a session changes. Source: contract, section 7.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import trio
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, field_validator
from pydantic_core import to_json

from relay.models.definition import Definition
from relay.session.definition import as_json, describe, spec_of
from relay.session.session import Session
from relay.session.state.breakpoints import Breakpoint
from relay.state_files import DIRECTORY_MODE, FILE_MODE, remove, set_aside, write_whole

if sys.platform != "win32":  # there, two relays on one state directory cannot be seen apart
    import fcntl

log = logging.getLogger("relay.store")

LOCK_SECONDS = 1.0
"""How long a relay that just ends may take to let go of its state directory."""

_SESSION_FILE = re.compile(r"(?P<id>sess_(?:[a-z0-9]{1,16}-)?[0-9a-f]{8})\.json", re.ASCII)
_BREAKPOINT_ID = re.compile(r"bp_[1-9][0-9]{0,17}", re.ASCII)
_BREAKPOINTS = TypeAdapter(list[Breakpoint], config=ConfigDict(defer_build=True))


class _KeptSession(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)

    created_at: datetime
    definition: Definition


class _KeptBreakpoints(BaseModel):
    model_config = ConfigDict(defer_build=True)

    format: Literal[1]
    sessions: dict[str, list[Breakpoint]]

    @field_validator("sessions")
    @classmethod
    def _are_sound(cls, sessions: dict[str, list[Breakpoint]]) -> dict[str, list[Breakpoint]]:
        for breakpoint in (b for own in sessions.values() for b in own):
            if _BREAKPOINT_ID.fullmatch(breakpoint.id) is None:
                raise ValueError(f"{breakpoint.id!r} is no id of a breakpoint")
            spec_of(breakpoint)  # raises unless a client could have asked for it
        return sessions


@dataclass(frozen=True, slots=True)
class KeptSession:
    """A session as it was found on disk."""

    id: str
    created_at: datetime
    definition: Definition
    breakpoints: list[Breakpoint]


class Store:
    """The state directory of one relay. Made by `open_store`, released by `close`."""

    # Invariants: _definitions and _breakpoints say what shall be on disk; what is named in
    # _unwritten is not yet. Changes are numbered; those up to _written are on disk.

    def __init__(self, directory: Path, lock: int) -> None:
        self._directory = directory
        self._lock_fd = lock
        self._definitions: dict[str, bytes] = {}
        self._breakpoints: dict[str, bytes] = {}
        self._unwritten: set[str] = set()
        self._changes = 0
        self._written = 0
        self._writing = trio.Lock()

    # Reading -----------------------------------------------------------------------

    def load(self) -> list[KeptSession]:
        """Every session that is kept, oldest first. Blocks. Damaged files are set aside.

        What only a newer relay can read stays on disk as it is.
        """
        self._sweep()
        breakpoints = self._load_breakpoints()
        found = []
        for path in self._session_files():
            session_id = path.name.removesuffix(".json")
            kept = _read(path, _KeptSession)
            own = [replace(b, hit_count=0) for b in breakpoints.get(session_id, [])]
            if kept is not None:
                found.append(KeptSession(session_id, kept.created_at, kept.definition, own))
            elif own and path.exists():
                self._breakpoints[session_id] = _breakpoints_json(own)
        for one in found:
            self._definitions[one.id] = _definition_json(one.created_at, one.definition)
            if one.breakpoints:
                self._breakpoints[one.id] = _breakpoints_json(one.breakpoints)
        return sorted(found, key=lambda one: one.created_at)

    def _load_breakpoints(self) -> Mapping[str, list[Breakpoint]]:
        kept = _read(self._breakpoints_path, _KeptBreakpoints)
        return kept.sessions if kept is not None else {}

    def _session_files(self) -> list[Path]:
        try:
            paths = list(self._sessions_path.iterdir())
        except FileNotFoundError:
            return []
        except OSError as error:
            log.warning("cannot read %s: %s; starting fresh", self._sessions_path, error)
            return []
        return [path for path in paths if _SESSION_FILE.fullmatch(path.name)]

    def _sweep(self) -> None:
        """Remove what a relay that was killed had only half written."""
        for folder in (self._directory, self._sessions_path):
            for path in folder.glob(".*.new"):
                with contextlib.suppress(OSError):
                    path.unlink()

    @property
    def _breakpoints_path(self) -> Path:
        return self._directory / "breakpoints.json"

    @property
    def _sessions_path(self) -> Path:
        return self._directory / "sessions"

    # Writing -----------------------------------------------------------------------

    async def keep(self, session: Session) -> None:
        """Have the session on disk as it is now; returns when it is.

        A disk that refuses is logged and tried again with the next change: debugging
        goes on. Not interrupted by cancellation.
        """
        definition = describe(session, with_breakpoints=False)
        self._put(self._definitions, session.id, _definition_json(session.created_at, definition))
        # An owner is gone when the relay is: what is only its own does not come back.
        breakpoints = [replace(b, others=()) for b in session.breakpoints if not b.owner]
        if breakpoints or session.id in self._breakpoints:  # else there is nothing to write
            self._put(self._breakpoints, session.id, _breakpoints_json(breakpoints))
        await self.flush()

    async def forget(self, session: Session) -> None:
        """Have nothing of the session on disk; returns when it is so."""
        for part in (self._definitions, self._breakpoints):
            if part.pop(session.id, None) is not None:
                self._changed(part, session.id)
        await self.flush()

    def _put(self, part: dict[str, bytes], session_id: str, data: bytes) -> None:
        if part.get(session_id) != data:
            part[session_id] = data
            self._changed(part, session_id)

    def _changed(self, part: dict[str, bytes], session_id: str) -> None:
        self._changes += 1
        self._unwritten.add(session_id if part is self._definitions else "")

    async def flush(self) -> None:
        """Write what is not on disk yet. Those who ask meanwhile share the next writing."""
        upto = self._changes
        with trio.CancelScope(shield=True):
            async with self._writing:
                if self._written < upto or self._unwritten:
                    await self._write()

    async def _write(self) -> None:
        upto, names = self._changes, frozenset(self._unwritten)
        self._unwritten.clear()
        jobs = [self._job(name) for name in sorted(names, reverse=True)]
        try:
            await trio.to_thread.run_sync(_write_all, jobs)
        except OSError as error:
            self._unwritten |= names
            log.error("cannot write to %s: %s; changes may be lost", self._directory, error)
        else:
            self._written = upto

    def _job(self, name: str) -> tuple[Path, bytes | None]:
        if name:
            return self._sessions_path / f"{name}.json", self._definitions.get(name)
        sessions = b",\n".join(b'"%b": %b' % (i.encode(), b) for i, b in self._breakpoints.items())
        return self._breakpoints_path, b'{"format": 1, "sessions": {\n%b\n}}\n' % sessions

    def close(self) -> None:
        """Let another relay keep its sessions here."""
        os.close(self._lock_fd)


def open_store(directory: Path) -> Store | None:
    """The state directory, made if need be, for this relay alone. Blocks.

    None, with a warning, when it cannot be used or another relay does: then nothing is kept.
    """
    directory = directory.expanduser()
    try:
        directory.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
        lock = os.open(directory / "lock", os.O_RDWR | os.O_CREAT, FILE_MODE)
    except OSError as error:
        log.warning("cannot use %s: %s; sessions will not be kept", directory, error)
        return None
    if not _locked(lock):
        os.close(lock)
        log.warning("another relay uses %s; sessions will not be kept", directory)
        return None
    return Store(directory, lock)


def _locked(fd: int) -> bool:
    """Whether the lock is ours. It ends with the process, however that ends."""
    if sys.platform == "win32":
        return True
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        else:
            return True


def _read(path: Path, model: type[Any]) -> Any:
    """The file as a model; None if there is none, or it was damaged and set aside."""
    try:
        return model.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        set_aside(path, error.strerror)
    except ValidationError as error:
        first, *others = error.errors(include_url=False, include_input=False)
        if all(one["type"] == "extra_forbidden" for one in (first, *others)):
            _leave(path, ".".join(map(str, first["loc"])))
            return None
        place = ".".join(map(str, first["loc"]))  # of a file that is no JSON there is none
        set_aside(path, f"{place}: {first['msg']}" if place else first["msg"])
    except ValueError as error:
        set_aside(path, error)
    return None


def _leave(path: Path, unknown: str) -> None:
    """Say why a session is not there, though its file is whole."""
    log.warning(
        "%s has what this version of the relay does not know (%s): it is left as it is, for the one that wrote it",
        path,
        unknown,
    )


def _write_all(jobs: list[tuple[Path, bytes | None]]) -> None:
    for path, data in jobs:
        if data is None:
            remove(path)
        else:
            write_whole(path, data)


def _definition_json(created_at: datetime, definition: Definition) -> bytes:
    document = as_json(definition)
    del document["breakpoints"]
    return to_json({"created_at": created_at, "definition": document}, indent=2)


def _breakpoints_json(breakpoints: list[Breakpoint]) -> bytes:
    # How often one was hit belongs to the run, and must not cost a writing.
    return _BREAKPOINTS.dump_json([replace(b, hit_count=0) for b in breakpoints])
