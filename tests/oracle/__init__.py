"""The oracle: what CPython's own tracing saw, against what the relay tells of the same run."""
