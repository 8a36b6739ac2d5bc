"""`relay run`: one program, one run in this very process.

command      the command and its options
options      what a run is to do
ahead        the debuggee started while the relay is imported
program      from its options to its exit code: settings, signals, errors
one_run      the run itself: what is asked of the operations, and when
breakpoints  its breakpoints, set before the program starts
watches      `--watch`: data breakpoints set where it is said
trace        `--trace`: one call of a function
calls        `--calls`: own functions called from stop to stop
why          `--why`: who wrote a value
hang         what a run that is ended waits for
failures     `--on-exception`: each failure once, all of them named
streams      what the program prints and reads, in order with the stops
writers      the run as text, or as JSON lines
end          its exit code, and what is said of the end
offer        runs that a server carries out for shells of its user
"""
