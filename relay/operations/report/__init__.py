"""Where a program stands, in a few lines of text.

stop_report     what is gathered of a stop, or of the end
report_text     that as text, within a budget
recursion       calls that come again and again, told once
missed          breakpoints that were never hit, and processes that nobody watched
other_copies    that a program has another copy of a module than the file that was named
python_commands  whether a command line runs Python
blocked         threads that run no Python, of a program that does not stop
printed         what the program printed, as numbered text
printed_text    the same as a terminal would show it, within a budget
short_paths     paths as reports show them
"""
