"""Clients that do wrong, against a real `relay serve`: none of them may harm the others.

- `relay_process`: the server under attack, its memory, descriptors and log; `short_limits` runs it
- `test_bad_requests`: halves, trickles, floods, contradictions, and bodies that are no use
- `test_bad_readers`: crowds, clients that leave, and clients that do not read
- `test_generated`: requests by lot from the OpenAPI document, on `sessions_in_states`
- `test_the_end`: SIGTERM with all of them connected
"""
