"""Debuggers that are an adapter of their own: what plain DAP can answer, and how they are started.

adapter           a debugger that is a command which speaks DAP, as it is described, with its templates
debugger          what a session asks of one
start             the adapter as a guarded process, and the first words with it
handshake         from a link to a program that runs
program_sessions  an adapter that asks for a session of each process
launch            a program launched under it
attach            a program that runs, attached to
adapter_input     the standard input of a program whose adapter has it
inspector         what plain DAP can answer of a stopped program
values            values as an adapter says them, a page at a time
data_breakpoints  data breakpoints of an adapter that knows them
"""
