"""A debug adapter for Perl: a program of its own, speaking DAP on stdin and stdout.

command       the `relay perl-adapter` command
__main__      the same without the relay
stdio         the adapter as a process
conversation  requests, answered one after the other, to the end of the client's stream
adapter       what each request does, and which events the client gets of the program
requests      checks of what a client asks, before anything is done
numbering     where the client counts lines and columns from
breakpoints   breakpoints on lines: what the client wants and where it ended up
functions     the same on subs
placing       both, as the program takes them
handles       frame ids and variable references: numbers that die when the program goes on
inspection    stack, scopes, variables, expressions
client        the client's side: requests in, responses and events out
event_bodies  shapes of what the client receives
run           one run of a program, from its start to its end
program       the perl process: its start, its output, its certain end
hook          the link to the code inside of the program
source        why a line of Perl has no code
compilation   why Perl gave up compiling
refusals      errors with the numbers 1001 to 1010
lib/          the code inside of the program, in Perl

Imports the protocol, the standard library and trio; nothing else of the relay.
"""
