"""Stops: breakpoints and steps, what is said of a stop, and how threads run on from one."""
