"""The documentation is complete, its links lead somewhere, and its commands do what it says."""
