"""The room that does IO with debuggees: real processes, real pipes."""
