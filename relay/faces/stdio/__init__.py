"""The line protocol: newline-delimited JSON on standard input and output.

lines       bytes to lines, lines to commands, events to bytes; no IO
changes     which variables a step has changed; no IO
debugger    one program: what each command does, and what is reported of the program
server      standard input and output, signals, and the end
command     `relay stdio` and `relay ez`
"""
