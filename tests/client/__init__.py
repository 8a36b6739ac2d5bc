"""The Python clients: every route, both ways, against a real relay."""
