"""`relay perl-adapter`: the command line of the Perl debug adapter."""

from __future__ import annotations

import sys

import click


@click.command("perl-adapter", short_help="Speak DAP on stdin and stdout, for Perl programs.")
@click.option(
    "--library", is_flag=True, help="Print the directory for perl -I (to attach), and exit."
)
@click.option(
    "--no-seccomp", is_flag=True, help="Evaluate as where the system has no seccomp: no calls."
)
def perl_adapter(library: bool, no_seccomp: bool) -> None:
    """A debug adapter for Perl 5.22 and newer, for any client of the Debug Adapter Protocol.

    \b
    To attach to a program, start it with the hook and attach to that port:
      perl -I"$(relay perl-adapter --library)" -d:RelayHook=listen,127.0.0.1:5000 app.pl
    """
    from relay.perl.program import LIBRARY
    from relay.perl.stdio import main

    if library:
        click.echo(str(LIBRARY))
        return
    sys.exit(main(seccomp=not no_seccomp))
