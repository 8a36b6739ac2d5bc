"""The suite: what the relay promises, shown on real debuggees."""
