"""The `relay` command for shells: sessions of a server, driven word by word.

shell            what all session commands share: which session, what is shown, exit codes
caller           who gives a command: a shell, by its directory, environment, terminal and server
local_client     the blocking client within the server's own process
served           commands that the server carries out for the quick half of a shell
memory           which session was last used in a directory
places           `FILE:LINE` and functions on a command line
program_words    the words that name a program
adapter_option   `--adapter`: which debugger a program gets
complaint        an error as the shell says it
actions          what to do next, in commands and options
starting         `relay start`, `attach`, `restart`, `sessions`
running          `relay continue`, `step`, `until`, `pause`, `where`
stop_display     the program let go, and what happens next shown
inspecting       `relay eval`, `stack`, `locals`, `break`
watch            `relay watch`
why              `relay why`
hang             `relay hang`
streams          `relay output`, `input`
ending           `relay end`, `stop`
run              `relay run`: one program, one run in this very process, and its parts
diff             `relay diff`: two runs compared
agent            `relay agent`: the relay made known to clients of agents, and their hook
adapters         `relay adapters`: which debuggers there are
doctor           `relay doctor`: whether everything is there that the relay needs
fault_report     `relay doctor --report`: what a report of a fault needs
completion       `relay completion`: the words of the command, for a shell to complete
"""
