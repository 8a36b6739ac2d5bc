"""Writes to the program's state: data breakpoints, which stop at one, and the history of writes."""
