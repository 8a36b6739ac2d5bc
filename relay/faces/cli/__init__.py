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
run              `relay run`: one program, one run in this very process
run_options      what it is to do
run_ahead        the debuggee started while the relay is imported
run_program      the run itself: what is asked of the operations, and when
run_breakpoints  its breakpoints, set before the program starts
run_watches      `--watch`: data breakpoints set where it is said
run_trace        `--trace`: one call of a function
run_failures     `--on-exception`: each failure once, all of them named
run_streams      what the program prints and reads, in order with the stops
run_writers      the run as text, or as JSON lines
run_end          its exit code, and what is said of the end
run_offer        runs that a server carries out for shells of its user
diff             `relay diff`: two runs compared
agent            `relay agent`: the relay made known to clients of agents, and their hook
adapters         `relay adapters`: which debuggers there are
doctor           `relay doctor`: whether everything is there that the relay needs
fault_report     `relay doctor --report`: what a report of a fault needs
completion       `relay completion`: the words of the command, for a shell to complete
"""
