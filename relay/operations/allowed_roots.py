"""Where the paths may lie that clients name: below `allowed_roots`, if the settings have any.

This keeps clients from files that they have no business with by mistake. It does not confine a
program that they launch: that can do whatever the relay's user can.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from relay.config import Settings
from relay.errors import InvalidRequest, RelayError
from relay.operations.paths import resolve
from relay.session.session import Session


def require_allowed(
    settings: Settings, field: str, path: str, refusal: type[RelayError] = InvalidRequest
) -> None:
    """Raise `refusal`, naming `field`, unless the absolute path lies where it may.

    Symbolic links count as where they lead to. Nothing need be there.
    """
    if not is_allowed(settings, os.path.realpath(path)):
        raise _refused(settings, field, path, refusal)


def require_allowed_interpreter(settings: Settings, path: str) -> None:
    """The same of an executable: that of the settings is always allowed, and a link that lies there.

    The interpreter of a virtual environment is a link out of it.
    """
    own = shutil.which(os.path.expanduser(settings.python_path)) or ""
    if os.path.abspath(path) in (os.path.abspath(own), os.path.abspath(sys.executable)):
        return
    folder, name = os.path.split(os.path.abspath(path))
    if not is_allowed(settings, os.path.join(os.path.realpath(folder), name)):
        raise _refused(settings, "python_path", path)


def first_allowed(settings: Settings, field: str, *paths: str) -> list[str]:
    """Those of the paths that are allowed; raises InvalidRequest if none is."""
    allowed = [path for path in paths if is_allowed(settings, os.path.realpath(path))]
    if not allowed:
        raise _refused(settings, field, paths[0])
    return allowed


def named_path(
    session: Session, field: str, path: str, refusal: type[RelayError] = InvalidRequest
) -> str:
    """What a client names, as an absolute path. Raises `refusal` for one that is not allowed."""
    found = meant_path(session, path)
    require_allowed(session.settings, field, found, refusal)
    return found


def meant_path(session: Session, path: str) -> str:
    """A path as the session's client means it: from project_root, or what is not there from the working
    directory that the launch names. A file that is named as the launch's script is that script."""
    root, launch = session.config.project_root, session.definition.launch
    found = resolve(path, root)
    if launch is None or launch.cwd is None:
        return found
    beside = resolve(path, resolve(launch.cwd, root))
    if path != launch.script and os.path.exists(found):
        return found
    return beside if os.path.exists(beside) else found


def is_allowed(settings: Settings, real_path: str) -> bool:
    """Whether a path without symbolic links lies below a root, if there are any."""
    roots = [os.path.realpath(root.expanduser()) for root in settings.allowed_roots]
    return not roots or any(Path(real_path).is_relative_to(root) for root in roots)


def _refused(
    settings: Settings, field: str, path: str, refusal: type[RelayError] = InvalidRequest
) -> RelayError:
    message = "lies outside of the allowed roots"
    roots = ", ".join(str(root) for root in settings.allowed_roots)
    return refusal.of_field(
        field,
        message,
        path[:200],
        text=f"{field}: {message}: {path[:200]}",
        suggestion=f"Give a path below {roots}; the setting allowed_roots says which there are",
    )
