"""Breakpoints, data breakpoints, captures and what stops at exceptions: set, show, change, remove.

breakpoints            the verbs on breakpoints
placing                from a breakpoint as asked for to one that is checked
near_breakpoints       those that move to the nearest line with code
pending                those that wait for a file, and move with its text
code_lines             those that nothing can stop at, where a run is made for its stops
data_breakpoints       the verbs on data breakpoints
exception_breakpoints  which exceptions stop the program
exception_filters      which of them a debugger has no filter for
captures               captured values: read and clear
capture_table          which rows of them to show within a budget, and how
"""
