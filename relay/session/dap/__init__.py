"""DAP with the debugger of one process: connection, handshake, events, breakpoints."""
