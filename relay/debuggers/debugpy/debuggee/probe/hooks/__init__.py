"""Where the probe takes hold of pydevd and of the interpreter: each hook set once, and given back."""
