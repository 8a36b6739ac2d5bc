"""The program under way: its start, its streams, its end, and how it is parted from."""
