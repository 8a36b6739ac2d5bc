"""The HTTP face over real sockets, with a small hub behind it."""
