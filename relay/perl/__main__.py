"""`python -m relay.perl`: the adapter without the `relay` command."""

from __future__ import annotations

import sys

from relay.perl.stdio import main

if __name__ == "__main__":
    sys.exit(main(seccomp="--no-seccomp" not in sys.argv[1:]))
