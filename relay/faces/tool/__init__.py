"""The run-to-breakpoint tool API: five calls, over HTTP at /tool/v0 and for other faces.

calls       the table of calls: model, operation, method and path
http        them as an ASGI app, which the HTTP face mounts
document    them as OpenAPI
"""

from relay.faces.tool.calls import CALLS

__all__ = ["CALLS"]
