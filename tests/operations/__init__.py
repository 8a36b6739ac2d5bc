"""The verbs, as far as they need no debuggee."""
