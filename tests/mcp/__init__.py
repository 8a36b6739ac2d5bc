"""The MCP face, driven by the official client."""
