"""The benchmarks, kept working."""
