"""One folder or file for each debugger, with all that is special about it, its IO too.

    known.py        which debuggers a relay has
    ahead.py        which begins a debuggee before it is known what will be asked of it
    debugpy/        Python programs under debugpy; its `debuggee/` runs in the program
    perl.py         Perl programs, under the relay's own adapter (`relay/perl/`)
    configured.py   what config.json says of any other debugger that speaks DAP
    standard/       starts and asks whatever speaks DAP as a command

The rooms above know the protocol in `relay/session/debugger.py`, and none of these.
"""
