"""What travels: the requests and resources of the API, one file a noun.

Knows fields, bounds and their descriptions, from which the reference and OpenAPI are made. Refuses
to know how anything is done, and which face asks.

places                how lines and functions are written, for every face
fields, patterns, resource      the strict base of requests, its safe texts and what they look like; the base of results, pages
complaints            what pydantic refuses, as {field, message, value}
envelope              success, data, error and meta around each answer
creating, launch, definition      a session with all that it starts with; it as a document
sessions, status, ending          what is shown of it, in full and in short; how it ends
holding               who has taken it for itself
breakpoints, data_breakpoints, exceptions, profiles, captures, trace, calls     where it stops, or records instead
execution, run_to, threads, tasks       what runs and stops
inspection, variables, watches, lookup, history     what is asked at a stop
failure, hangs, report      what went wrong, who waits for whom, and where it all is in short
output, streams, timeline   what is printed, read and announced
dap_log               what the relay and a debugger said to each other
server, log, doctor, processes, adapters     the relay, this machine, and its debuggers
line_protocol, tool   bodies of two faces that are APIs of their own
"""
