"""Whole sessions over HTTP, on real debuggees."""
