"""Faces translate between the operations and one kind of client, and do nothing else.

Each knows operations and its own clients. Each refuses to know a session's inside, and any other
face. Which of them HTTP carries is said by `relay.serving`, which commands there are by
`relay.command_line`.

http      REST, streams of events, OpenAPI and the documentation page
mcp       tools for agents, over stdio and HTTP
cli       the `relay` command for shells
stdio     the line protocol on standard input and output
dap       editors that join a session beside the agent
tool      the run-to-breakpoint tool API
ui        the page for people, a client of the API
common    what several of them share
"""
