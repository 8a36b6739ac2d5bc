"""What is special about one debugger: pure where it can be, in real debuggees where it matters."""
