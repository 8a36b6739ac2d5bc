"""Faults by lot, against real relays, with one checker for all of them: `python -m tests.faults.trials`.

- `fault`: what a fault is, and how a session may end by it
- `programs`: how programs are made, and what they say of what they have printed
- `killings`: relay, adapter, guardian and debuggee killed at each moment of a session
- `endings`: what programs do to themselves
- `looks`: values and expressions that do harm when they are looked at
- `surroundings`: state directories, interpreters and sources that fail
- `watched_relay`: the relay under trial, which says what tasks and threads it has; and broken ones
- `lane`: such a relay, a session beside those on trial, and what there is of it when all is well
- `waiters`: clients that wait
- `trial`: one fault in one session, and what was wrong after it
- `findings`: what was wrong, and the table of it
"""
