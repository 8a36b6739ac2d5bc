"""A debug adapter for Perl: a program of its own, speaking DAP on stdin and stdout.

    command.py      the `relay perl-adapter` command
    stdio.py        the adapter as a process
    conversation.py requests, answered one after the other, to the end of the client's stream
    adapter.py      what each request does, and which events the client gets of the program
    requests.py     checks of what a client asks, before anything is done
    numbering.py    where the client counts lines and columns from
    breakpoints.py  breakpoints on lines: what the client wants and where it ended up
    functions.py    the same on subs
    placing.py      both, as the program takes them
    handles.py      frame ids and variable references: numbers that die when the program goes on
    inspection.py   stack, scopes, variables, expressions
    client.py       the client's side: requests in, responses and events out
    event_bodies.py shapes of what the client receives
    run.py          one run of a program, from its start to its end
    program.py      the perl process: its start, its output, its certain end
    hook.py         the link to the code inside of the program
    source.py       why a line of Perl has no code
    refusals.py     errors with the numbers 1001 to 1009
    lib/            the code inside of the program, in Perl

Imports the protocol, the standard library and trio; nothing else of the relay.
"""
