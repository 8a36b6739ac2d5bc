"""Where a program hangs: who waits for what, and who holds it."""
