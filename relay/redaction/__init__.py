"""What is kept from view: secret names, credentials by their shapes, and the masks over both.

    rules.py         which names are secret and what a credential looks like, as the debuggee has it
    output_mask.py   one stream of output, masked however it comes in pieces
    redaction.py     what the settings of a session say, applied to texts of the relay

Knows no session, no debugger and no face: every room above takes its masks from here.
"""
