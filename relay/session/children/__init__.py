"""Processes that the program starts: found, joined to the session, debugged with it."""
