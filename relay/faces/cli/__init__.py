"""The `relay` command for shells: sessions of a server, driven word by word.

places          `FILE:LINE` and functions on a command line
program_words   the words that name a program
shell_command   a command as a shell has it: which Python runs which script
adapter_option  `--adapter`: which debugger a program gets
trace_bound     how a command says that it shows a part of a trace
signals         the signals that end a command, each once
complaint       an error as the shell says it
actions         what to do next, in commands and options
sessions        the commands of sessions, which a server holds: each is one request to it
run             `relay run`: one program, one run in this very process, and its parts
diff            `relay diff`: two runs compared
agent           `relay agent`: the relay made known to clients of agents, and their hook
adapters        `relay adapters`: which debuggers there are
doctor          `relay doctor`: whether everything is there that the relay needs
fault_report    `relay doctor --report`: what a report of a fault needs
completion      `relay completion`: the words of the command, for a shell to complete
"""
