"""The MCP face: the operations as a few tools for agents, over stdio and over HTTP.

tools             the table of tools, and how each is shown in `tools/list`
tools_v0          the other table: the calls of the tool API
tables            both, by name
arguments         what each tool takes
places            FILE:LINE as agents write it
calls             tools that start, drive and end programs: call to operation, result to text
breakpoint_calls  the tool of breakpoints
inspecting        the tool that looks
tracing           the tool that answers instead of steps
resources         what a client may attach to a conversation
prompts           tasks that a person gives by name
texts             answers that keep to their bound
failures          errors as an agent can use them
actions           what to do next, in calls of the tools
server            the table as a server of the MCP SDK
messages          what a client has sent as one message, or what is wrong with it
stdio             its transport on standard input and output
http              its transport over HTTP
managers          the SDK's session manager for it, in a nursery of ours
command           `relay mcp`

Only `server`, `messages`, `stdio` and `managers` import the SDK, when the face is first used: that
takes half a second. So `http` loads `managers` at the first request.
"""
