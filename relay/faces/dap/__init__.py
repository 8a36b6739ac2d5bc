"""The DAP face: an editor joins a session beside the agent, as if the relay were a debug adapter.

editor        one editor: requests in, responses and events out
face          requests, carried out through the relay's API
views         what the relay answers, as DAP says it
placing       the editor's breakpoints beside everybody else's
data_placing  its data breakpoints
event_writer  the session's events, as they come
actions       what is wrong and what to do next, in an editor's words
strangers     who may be an editor on a port
serving       the face as a process: one editor on stdin and stdout, any number on a port
command       `relay dap`
"""
