"""The relay's own log: lines, where they go, and what is said in them."""
