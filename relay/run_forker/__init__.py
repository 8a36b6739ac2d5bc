"""The process that `relay run` is forked from, where a server runs: imported whole, and idle.

Importing what a run needs takes longer than all the rest of a short one. So a server keeps a
process that has done it (`faces/cli/run/offer.py`), and the quick half of the shell hands a run over
to that, with its streams, directory and environment. Each run is a fork, in which `relay run` goes
on as in a process of its own: it does not know. One that comes after another from the same
surroundings finds its debuggee begun. What a fork cannot have as the shell's own child would is
refused, and the shell runs it itself.

    python -m relay.run_forker LISTENER MINUTES    LISTENER is an inherited descriptor

    __main__       imports, and serves
    forker         who asks, the runs that are under way, and the process's own life
    next_run       a fork with the debuggee of a run that nobody has asked for yet
    run_request    a run as its shell would make it, and how a fork becomes that process
"""
