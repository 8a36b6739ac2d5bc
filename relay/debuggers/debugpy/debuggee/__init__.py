"""What runs in the debuggee, in whatever Python that is: the standard library only, Python 3.8+.

bootstrap.py      starts a program under pydevd, over one inherited socket
parts.py          the files here as modules, and where their code comes from
kept_file.py      a file that one start leaves for the next ones
code_store.py     the compiled code of the files here, all in one
module_store.py   that of the modules that a start imports
start_witness.py  whether one that starts now would come out the same
plain_program.py  runs it as plain Python would
pydevd/           the debugger itself: found, tamed, joined by children
probe/            answers about frames and values; parts of one namespace
children_site/    the first thing that a new interpreter of a child runs
source_lines.py   which lines have code, by the compiler of that interpreter
"""
