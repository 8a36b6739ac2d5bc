"""Frames, values, sources, tasks: what a stopped program is asked.

inspection    threads, stacks, scopes, and variables by reference
variables     variables of frames and scopes, children a page at a time; setting one
evaluation    an expression in a frame
lookup        hover, completions, the exception of the stop, modules
watches       watch expressions, with their present values
snapshot      all that a client would ask next, in one answer
running       the stack and locals of a thread that runs
tasks         tasks of asyncio and trio, and greenlets
source        source text of files and frames
highlighting  which parts of a source are keywords, strings and so on
"""
