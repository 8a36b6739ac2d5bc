"""The run-to-breakpoint tool API over HTTP: five calls at /tool/v0.

http        the calls as an ASGI app, which `relay serve` mounts
document    the calls as OpenAPI

The calls themselves are in `faces/common/tool_calls.py`, since MCP offers them, too.
"""
