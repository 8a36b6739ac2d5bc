"""What Hypercorn and quart-trio do otherwise than a debugger's server needs.

Each file names what it waits for, with the issue where that is reported, or what would have to be.
`tests/http/test_upstream.py` has a test for each, which asks the libraries as they come and fails
when one has repaired it: then the file can go.

- `hypercorn_http1`: answers without a body, protocol upgrades, heads sent apart from bodies, and
  answers only after all that woke with them have been looked at
- `hypercorn_stream`: a channel for each body, and hang-ups that only a listening app notices
- `hypercorn_plain`: a parser in Python for every request
- `hypercorn_idle`: a task for each pause between two requests
- `hypercorn_turn`: clients that ask ahead and then leave unnoticed
- `hypercorn_disconnect`: a disconnect after each finished answer
- `hypercorn_sockets`: an inheritable listener, and sends that no cancellation ends
- `quart_connection`: two tasks a request, and two messages for one body
"""
