"""The `relay` command: the quick way where there is one, else the whole of it."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of the `relay` command and of `python -m relay`."""
    from relay.import_path import import_own_first

    import_own_first()
    from relay.quick import shell

    code = shell.answer(sys.argv[1:])
    if code is None:
        from relay.command_line import cli

        cli(prog_name="relay")
    sys.exit(code)


if __name__ == "__main__":
    main()
