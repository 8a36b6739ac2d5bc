"""Measurements of the relay beside what it replaces. Run `python benchmarks/latency.py --help`."""
