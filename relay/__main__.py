"""The `relay` command: the quick way where there is one, else the whole of it."""

from __future__ import annotations

import errno
import os
import sys

_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Why a stream takes no more: a full disk, say, or a terminal that is gone."""


def main() -> None:
    """Entry point of the `relay` command and of `python -m relay`."""
    from relay.import_path import import_own_first

    import_own_first()
    from relay.quick import shell

    try:
        code = shell.answer(sys.argv[1:])
        if code is None:
            from relay.command_line import cli

            cli(prog_name="relay")
    except OSError as error:
        if error.filename is not None:
            raise
        if error.errno == errno.ENOENT and _directory_is_gone():
            code = shell.refuse("this directory is gone: change to one that exists")
        elif error.errno in _UNWRITABLE:
            code = shell.unwritable(error.strerror)
        else:
            raise
    sys.exit(code)


def _directory_is_gone() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


if __name__ == "__main__":
    main()
