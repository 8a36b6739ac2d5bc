"""Where a program stands, in a few lines of text."""
