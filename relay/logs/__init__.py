"""What the relay says of itself while it works: one line for each request and each change of a session.

    records.py    an event with fields, as a record of the standard library's logging
    formats.py    a record as one line: text for people, JSON for programs
    stream.py     where lines go: standard error, and never a wait for who reads it
    recent.py     the newest records, for reports of faults
    setup.py      all of them put together, as the settings say

Records go through the standard library's logging, so a program that embeds the relay has them
where it has its own. Nothing here decides what is said.
"""
