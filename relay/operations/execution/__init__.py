"""Resume, pause, step, run to a line, one thread at a time, trace a call."""
