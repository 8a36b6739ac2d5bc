"""Installing and uninstalling: a plan of changes to files first, all of it or nothing.

A plan reads everything and writes nothing; what cannot be read refuses the whole of it. Carrying
it out writes each file whole, in its own mode, through links, and never one that is as it should
be already.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from relay.agents import jsonc
from relay.agents.clients import AgentClient, Relay, Surroundings
from relay.agents.jsonc import NotJson, NotThatShape
from relay.agents.parts import Document, NameTaken, Needed, OwnFile
from relay.agents.record import FileRecord, Record, as_paths
from relay.agents.toml_tables import NotToml
from relay.state_files import write_whole

NEW_MODE = 0o644
BOM = "\ufeff"


class Refused(Exception):
    """Nothing was changed; says which file, why, and what to do."""


@dataclass
class Change:
    """What becomes of one file."""

    path: Path
    said: list[str]
    """What of ours is in it, a line each."""
    before: bytes | None
    after: bytes | None
    executable: bool = False
    left_alone: str = ""
    """Why a file that is there stays as it is."""

    @property
    def verb(self) -> str:
        """What is done, in a word."""
        if self.left_alone:
            return "left"
        if self.before == self.after:
            return "same"
        if self.before is None:
            return "new"
        return "remove" if self.after is None else "change"


@dataclass
class InstallPlan:
    """Everything that is to be done for some clients."""

    record: Record
    changes: dict[str, list[Change]] = field(default_factory=dict)
    """By the client's title."""

    def carry_out(self) -> None:
        """Do it. Raises OSError; what was done until then is remembered."""
        todo = [one for each in self.changes.values() for one in each]
        try:
            for change in todo:
                if change.verb in ("new", "change"):
                    self._write(change)
            for change in todo:
                if change.verb == "remove":
                    _target(change.path).unlink()
        finally:
            self.record.remove_directories()
            self.record.write()

    def _write(self, change: Change) -> None:
        path = _target(change.path)
        self.record.make_directory(path.parent)
        assert change.after is not None
        write_whole(path, change.after, _mode(path, executable=change.executable))


def install(
    clients: Iterable[AgentClient], at: Surroundings, relay: Relay, state_dir: Path
) -> InstallPlan:
    """The plan that gives these clients what they take. Raises Refused."""
    return _planned(clients, at, relay, state_dir, _put)


def uninstall(
    clients: Iterable[AgentClient], at: Surroundings, relay: Relay, state_dir: Path
) -> InstallPlan:
    """The plan that takes from these clients what is ours. Raises Refused."""
    return _planned(clients, at, relay, state_dir, _take)


def _planned(
    clients: Iterable[AgentClient],
    at: Surroundings,
    relay: Relay,
    state_dir: Path,
    changes: Callable[[Document | OwnFile, AgentClient, InstallPlan], Iterator[Change]],
) -> InstallPlan:
    plan = InstallPlan(Record.read(state_dir))
    for client in clients:
        parts = client.gets(at, relay)
        plan.changes[client.title] = [one for part in parts for one in changes(part, client, plan)]
    return plan


# One file --------------------------------------------------------------------------------


def _put(part: Document | OwnFile, client: AgentClient, plan: InstallPlan) -> Iterator[Change]:
    if isinstance(part, OwnFile):
        yield _put_own(part, client, plan)
        return
    before = _current(part.path, plan)
    known = plan.record.of(part.path)
    with _refusing(part.path):
        text, mark = _text(before)
        after = text
        if not text.strip():
            after, known.new, known.made = part.blank, before is None, [[]]
            known.blank = f"{mark}{text}"
        for one in part.parts:
            after, made = one.put(after)
            known.made += [list(path) for path in made if list(path) not in known.made]
    said = [one.said() for one in part.parts if not isinstance(one, Needed)]
    yield Change(part.path, said, before, f"{mark}{after}".encode())


def _put_own(part: OwnFile, client: AgentClient, plan: InstallPlan) -> Change:
    before, after = _current(part.path, plan), part.content.encode()
    change = Change(part.path, [part.what], before, after, part.executable)
    known = plan.record.files.get(str(part.path))
    if before not in (None, after) and (known is None or known.digest != _digest(before)):
        change.after = before
        change.left_alone = "it has been changed" if known else "it is not of this relay"
        return change
    known = plan.record.of(part.path)
    known.digest = _digest(after)
    if client.name not in known.clients:
        known.clients.append(client.name)
    return change


def _take(part: Document | OwnFile, client: AgentClient, plan: InstallPlan) -> Iterator[Change]:
    before = _current(part.path, plan)
    if isinstance(part, OwnFile):
        yield from _take_own(part, client, plan, before)
        return
    known = plan.record.files.pop(str(part.path), None) or FileRecord()
    if before is None:
        return
    with _refusing(part.path):
        text, mark = _text(before)
        after = text
        for one in part.parts:
            after = one.take(after) if after.strip() else after
        if part.blank and after.strip():
            after = jsonc.prune(after, as_paths(known.made))
    said = [one.said() for one in part.parts if not isinstance(one, Needed)]
    if [] in known.made and jsonc.is_empty(after):
        yield Change(part.path, said, before, None if known.new else known.blank.encode())
    elif after != text:
        yield Change(part.path, said, before, f"{mark}{after}".encode())


def _take_own(
    part: OwnFile, client: AgentClient, plan: InstallPlan, before: bytes | None
) -> Iterator[Change]:
    known = plan.record.files.get(str(part.path))
    if known is not None and client.name in known.clients:
        known.clients.remove(client.name)
    if before is None:
        plan.record.files.pop(str(part.path), None)
        return
    change = Change(part.path, [part.what], before, before)
    if known is not None and known.clients:
        change.left_alone = f"{', '.join(known.clients)} reads it, too"
    elif before == part.content.encode() or (known and known.digest == _digest(before)):
        change.after = None
        plan.record.files.pop(str(part.path), None)
    else:
        change.left_alone = "it has been changed" if known else "it is not of this relay"
        plan.record.files.pop(str(part.path), None)
    yield change


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Says of what cannot be changed which file it is, and what to do."""
    try:
        yield
    except (NotJson, NotToml, UnicodeDecodeError) as error:
        raise Refused(
            f"{path} cannot be read: {error}. Correct it, or name other clients by --client"
        ) from None
    except NotThatShape as error:
        raise Refused(f"{path}: {error}. Correct it, or name other clients by --client") from None
    except NameTaken as error:
        raise Refused(f"{path}: {error}. Take another name by --name") from None


def _current(path: Path, plan: InstallPlan) -> bytes | None:
    """The file, as it will be when what is planned for it so far is done."""
    planned = [one for each in plan.changes.values() for one in each if one.path == path]
    if planned:
        return planned[-1].after
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}") from None


def _text(data: bytes | None) -> tuple[str, str]:
    """A file's text, and the byte order mark before it if there is one."""
    text = (data or b"").decode("utf-8")
    return (text[1:], BOM) if text.startswith(BOM) else (text, "")


def _target(path: Path) -> Path:
    """The file itself, where the path is a link to it."""
    return path.resolve() if path.is_symlink() else path


def _mode(path: Path, *, executable: bool) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return (NEW_MODE | (0o111 if executable else 0)) & ~_umask()


def _umask() -> int:
    now = os.umask(0o077)
    os.umask(now)
    return now


def _digest(data: bytes | None) -> str:
    return hashlib.sha256(data or b"").hexdigest()
