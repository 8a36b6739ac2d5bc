"""Breakpoints, captures and what stops at exceptions: set, show, change, remove."""
