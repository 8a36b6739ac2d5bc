"""Resume, pause, step, run to a line, one thread at a time, trace a call.

stepping    resume, pause and step: sent, and the stop or end awaited
run_to      run to a line, and set the next line
threads     one thread at a time
trace       one call, line by line: the verb
trace_tree  its record as a tree, loops folded
trace_text  that as text, within a budget
traced_sources  what its lines say, and where their statements begin
uncalled    what may be meant by the name of a function that was never called
calls       the tree of own calls: the verb
joined_calls  those of several processes as one
calls_text  that as text, within a budget
unmet_focus  why nothing of what was named was called
recording   what both verbs have in common: how a recording is reached
output_tap  the program's streams passed through, byte for byte
"""
