"""What carries several relays, `deploy/`: with a real HAProxy, and read."""
