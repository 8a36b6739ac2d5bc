"""The line protocol: newline-delimited JSON on standard input and output.

lines       bytes to lines, lines to commands, events to bytes; no IO
changes     which variables a step has changed; no IO
debugger    the conversation: commands, and between them what has happened
program     one program: what each command does, and what is reported of it
inspection  stacks and variables in the protocol's words
actions     what to do next, in commands of the protocol
server      standard input and output, signals, and the end
command     `relay stdio` and `relay ez`
"""
