"""Breakpoints without tracing, on Python 3.11: calls in the program's own bytecode.

assembly.py  a call put into a code wherever a line begins
coming.py    what happens where a thread comes to one: that line, and no other, is traced
placing.py   which codes have one: of files with breakpoints, as they are loaded or later
"""
