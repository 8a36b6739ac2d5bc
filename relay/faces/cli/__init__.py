"""The `relay` command for shells: sessions of a server, driven word by word.

shell           what all commands share: which session, what is shown, exit codes
memory          which session was last used in a directory
starting, running, inspecting, streams, ending   the commands
run, run_*      one run in this very process: its options, breakpoints, streams, stops and end
agent           the relay made known to clients of agents, and their hook
diff            two runs compared
doctor          whether everything is there that the relay needs
"""
