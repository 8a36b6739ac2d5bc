"""Why and where the program stops, what a stop says of itself, and how threads run on from it.

breakpoints       lines and conditions, in the program's frames; hits are counted here
direct_questions  breakpoints that are asked without pydevd
functions         function breakpoints, by qualified names
function_names    which function a qualified name means
asked_expressions  values of conditions and captures, quickly
captures          what expressions were worth at each hit of a breakpoint that never stops
arrivals          threads that meet a breakpoint as they are to stand for another's stop
entry_stop        the stop at the first line of own code
steps             stops that pydevd misses or makes twice: 3.12 and later
jumps             the next line, set by a client
step_targets      the calls of a line that a step may go into: 3.11 and later
raises            exception breakpoints: by type, by condition, once a raise
expected          whether the program waits for the exception, as in a `with`
exceptions        the exception of a stop: message, causes, traceback
stop_places       where a stop is, said ahead of it by the thread that stops
own_stops         threads that meet breakpoints together: one stop at a time
all_threads       all threads held for a stop, and let run on
resumes           resumes that pydevd reports too late, or not at all
threads           which threads are stopped, and how one runs on alone
"""
