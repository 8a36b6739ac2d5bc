"""The relay with debugpy as old and as new as it may be, and older."""
