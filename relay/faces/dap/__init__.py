"""The DAP face: an editor joins a session beside the agent, as if the relay were a debug adapter.

editor         one editor: requests in, responses and events out
request_queue  its requests in turn, and those that it cancels
face           requests, carried out through the relay's API
arguments      what requests say, checked
starting       a launch configuration, as the relay's requests have it
views          what the relay answers, as DAP says it
placing        the editor's breakpoints beside everybody else's
data_placing   its data breakpoints
exceptions     what it wants of exceptions
inspector      frames and values that it looks at, by numbers of its own
motions        requests by which the program goes on, or stops
sources        modules, and sources that it cannot read by itself
event_writer   the session's events, as they come
actions        what is wrong and what to do next, in an editor's words
strangers      who may be an editor on a port
serving        the face as a process: one editor on stdin and stdout, any number on a port
command        `relay dap`
"""
