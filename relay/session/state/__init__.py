"""What a session remembers of its program, as plain data: nothing is sent from here."""
