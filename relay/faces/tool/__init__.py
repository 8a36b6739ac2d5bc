"""The run-to-breakpoint tool API: five calls, over HTTP at /tool/v0 and for other faces.

calls       the table of calls: model, operation, method and path
http        them as an ASGI app, which `relay serve` mounts
document    them as OpenAPI
"""

from relay.faces.common.tool_calls import CALLS

__all__ = ["CALLS"]
