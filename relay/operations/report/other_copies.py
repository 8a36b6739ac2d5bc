"""That a program has loaded another copy of a module than the file that a client names."""

from __future__ import annotations

import os

from relay.session.session import Session


def other_copy(session: Session, path: str | None) -> str | None:
    """What the program of this run had in place of the file, or of the package's folder, in words with the
    whole path; None where it has ended without saying so.
    """
    copies = session.program_run.copies
    copy = copies.get(os.path.realpath(path)) if copies and path is not None else None
    return None if copy is None else f"the program has the module {copy.module} from {copy.path}"
