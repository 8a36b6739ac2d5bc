"""The tree of the program's own calls, or a stream of them: recorded, folded and bounded."""
