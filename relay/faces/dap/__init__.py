"""The DAP face: an editor joins a session beside the agent, as if the relay were a debug adapter.

editor       one editor: requests in, responses and events out
views        what the relay answers, as DAP says it
placing      the editor's breakpoints beside everybody else's; data_placing: what it watches
event_writer the session's events, as they come
face         requests, carried out through the relay's API
command      `relay dap`
"""
