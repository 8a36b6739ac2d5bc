"""`relay stdio` and `relay ez`: the line protocol on standard input and output.

Imports the rest when it is used: `relay ez version` must answer at once.
"""

from __future__ import annotations

import json
import logging
import sys
from functools import partial

import click

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.command("stdio", context_settings=CONTEXT)
def stdio() -> None:
    """Debug one program by JSON lines on standard input and output.

    Each line in is a command, each line out an event. Ends with `terminate`, or when
    standard input closes; the program ends with it. The log goes to standard error.

    \b
    A session, line by line (› in, ‹ out, shortened):
      › {"type":"command","command":"initialize","params":{"file":"app.py"}}
      ‹ {"type":"event","event":"initialized","data":{"file":"app.py"}}
      › {"type":"command","command":"setBreakpoint","params":{"file":"app.py","line":7}}
      ‹ {"type":"event","event":"breakpointSet","data":{"file":"app.py","line":7,"id":1}}
      › {"type":"command","command":"start","params":{}}
      ‹ {"type":"event","event":"started","data":{}}
      ‹ {"type":"event","event":"stopped","data":{"reason":"breakpoint",...,"breakpointId":1}}
      › {"type":"command","command":"getVariables","params":{"frameIndex":0}}
      › {"type":"command","command":"terminate","params":{}}

    \b
    Commands: initialize, start, stepInto, stepOver, stepOut, continue, setBreakpoint,
    clearBreakpoint, getVariables, getStackTrace, evaluate, terminate.
    """
    sys.exit(_serve(None))


@click.group("ez", context_settings=CONTEXT)
def ez() -> None:
    """The line protocol as a debugger command that editors spawn.

    \b
      relay ez debugserver FILE    debug FILE, as `relay stdio` does
      relay ez version             print the version

    \b
    Put a script named `ez` on the PATH of the editor:
      #!/bin/sh
      exec relay ez "$@"
    """


@ez.command("version")
def version() -> None:
    """Print the version, and that is all."""
    from importlib.metadata import version as version_of

    click.echo(f"relay {version_of('debug-relay')} (line protocol)")


@ez.command("debugserver")
@click.argument("file", type=click.Path())
def debugserver(file: str) -> None:
    """Debug FILE: as `relay stdio`, with FILE initialized already.

    Announces `initialized` by itself; the client begins with `start`. The program's
    working directory is the present one. Exits with 1 if FILE cannot be read.
    """
    # Asked before anything else is imported: editors try an impossible FILE to know us by.
    if (why := _unreadable(file)) is not None:
        sys.exit(_refuse(why))
    sys.exit(_serve(file))


def _unreadable(file: str) -> str | None:
    try:
        with open(file, "rb"):
            return None
    except (OSError, ValueError) as error:
        return f"Error reading file: {file}: {getattr(error, 'strerror', None) or error}"


def _refuse(why: str) -> int:
    """Say it in the protocol, and to people."""
    message = {"type": "event", "event": "error", "data": {"message": why}}
    click.echo(json.dumps(message, separators=(",", ":")))
    click.echo(why, err=True)
    return 1


def _serve(file: str | None) -> int:
    import trio

    from relay.config import ConfigurationError, load_settings
    from relay.faces.common.own_streams import own_streams
    from relay.faces.stdio.server import converse
    from relay.models.line_protocol import InitializeParams

    logging.basicConfig(stream=sys.stderr, level="WARNING", format="relay: %(message)s")
    try:
        settings = load_settings()
    except ConfigurationError as error:
        raise click.ClickException(str(error)) from None
    program = None if file is None else InitializeParams.model_validate({"file": file})
    reading, writing = own_streams()

    trio.run(partial(converse, settings, reading, writing, program=program))
    return 0
