"""Frames, values, sources, tasks: what a stopped program is asked."""
