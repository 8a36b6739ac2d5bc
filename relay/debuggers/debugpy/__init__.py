"""Python programs under debugpy, started on the best of three rungs.

debugger.py     what sessions and verbs call
rungs.py        argv, environment and DAP arguments of each rung
launching.py    a start on each rung; fast_debuggee.py  a process that waits for its program
interpreter.py  what a Python executable says about itself; interpreter_query.py  asks it
debuggee/       runs in the program: debugger, probe, static questions about its source
probe_calls.py  asks the probe: how a call is spelled, and how it is sent to where it is not
about.py        the debugpy that the relay itself carries, and the versions that it works with
"""
