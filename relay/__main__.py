"""The `relay` command: the quick way where there is one, else the whole of it."""

from __future__ import annotations

import errno
import sys

_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Why a stream takes no more: a full disk, say, or a terminal that is gone."""


def main() -> None:
    """Entry point of the `relay` command and of `python -m relay`."""
    from relay.import_path import import_own_first

    import_own_first()
    from relay.quick import shell

    code = shell.answer(sys.argv[1:])
    if code is None:
        from relay.command_line import cli

        try:
            cli(prog_name="relay")
        except OSError as error:
            if error.filename is not None or error.errno not in _UNWRITABLE:
                raise
            code = shell.unwritable(error.strerror)
    sys.exit(code)


if __name__ == "__main__":
    main()
