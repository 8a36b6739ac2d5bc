"""The MCP face: the operations as a few tools for agents, over stdio and over HTTP.

- `tools`: the table of tools, and how each is shown in `tools/list`; `tools_v0`: the other table
- `arguments`: what each tool takes; `places`: FILE:LINE as agents write it
- `calls`, `breakpoint_calls`, `inspecting`: tool call to operation, result to text
- `resources`, `prompts`: what a client may attach, and tasks that a person gives by name
- `texts`: answers that keep to their bound; `failures`: errors as an agent can use them
- `server`: the table as a server of the MCP SDK
- `stdio`, `http`: its two transports; `command`: `relay mcp`

Only `server`, `stdio` and what `http` loads later import the SDK, when the
face is first used: that takes half a second.
"""
