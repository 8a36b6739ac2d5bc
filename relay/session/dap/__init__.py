"""DAP with the debugger of one process.

connection           the link: requests out, responses and events in
dap_log              the last messages of all links
event_handler        events, in order, into the session's own words
stack, exception_stop   what is asked at a stop before it is announced
breakpoint_sync, capture_sync   what the debugger is to stop for, and to record
recording_sync       what a process is to record from its beginning
last_words           what only a process knows, heard before another one kills it
breakpoint_events    what is learned of breakpoints while the program runs
"""
