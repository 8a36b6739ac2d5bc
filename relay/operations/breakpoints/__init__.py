"""Breakpoints, data breakpoints, captures and what stops at exceptions: set, show, change, remove."""
