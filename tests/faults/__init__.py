"""Clients, programs and surroundings that do wrong to a real relay: none of them may harm others.

- `relay_process`: the server under attack, its memory, descriptors and log; `short_limits` runs it
- `test_bad_requests`: halves, trickles, floods, contradictions, and bodies that are no use
- `test_bad_readers`: crowds, clients that leave, and clients that do not read
- `test_generated`: requests by lot from the OpenAPI document, on `sessions_in_states`
- `test_trials`: faults by lot, of which `trials` has the table; `test_damaged_state`: what a relay starts on
- `test_soak`: users by lot on every face, of which `soak` is the command
- `test_clock_jumps`: a machine's clock that is set while sessions live, as by `set_clock`
- `test_the_end`: SIGTERM with all of them connected
"""
