"""Which directories hold the program's own code: its project, where it runs, and its script's."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relay.session.session import Session


def own_roots(session: Session) -> list[str]:
    """The directories, absolute and without repetition; what is installed in them is not its own."""
    roots = [session.config.project_root]
    if session.launched is not None:
        roots.append(session.launched.cwd)
        if session.launched.script:
            roots.append(os.path.dirname(session.launched.script))
    return list(dict.fromkeys(root for root in roots if root))
