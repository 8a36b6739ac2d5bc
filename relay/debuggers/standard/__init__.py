"""Debuggers that are an adapter of their own: what plain DAP can answer, and how they are started."""
