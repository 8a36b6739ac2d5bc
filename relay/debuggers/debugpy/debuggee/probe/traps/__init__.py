"""Breakpoints of lines and of data without tracing, mostly on Python 3.11: calls in the program's own bytecode.

instructions.py   a code as instructions: taken apart, and put together again
inserted.py       what was put into which code, and where
line_checks.py    looks whether something has changed, for codes that may write
assembly.py       a call put into a code wherever a line begins, or where it may have written
entrances.py      where a frame that is under way comes into such a code
beginnings.py     a call put in where a code begins, which gets it the rest
coming.py         what happens where a thread comes to one: that line, and no other, is traced
loaded_files.py   files of modules that are there as the program begins
trapped_codes.py  a code and its likenesses: which of them is the present one
under_way.py      frames that are running go on in codes of their own
late_traps.py     breakpoints that come while their function is running
placing.py        which codes have one: of files with breakpoints, as they are loaded or later
checking.py       which codes have one for data breakpoints: all that there are and may write
write_hooks.py    a look at the object that is written to, before each store: 3.12 and 3.13
"""
