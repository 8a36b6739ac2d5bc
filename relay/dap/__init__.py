"""The Debug Adapter Protocol without IO: bytes in, happenings out.

    framing        bytes <-> messages, with a cap on their size
    conversation   sequence numbers and pending requests, in both directions
    lifecycle      the table of what a session may go through
    types          shapes of the messages, generated from the published schema

Imports the standard library and `relay.errors` only; knows no event loop, and
does not know which side of a conversation it is on.
"""

from relay.dap.conversation import Conversation, IncomingEvent, IncomingRequest, Message, Response
from relay.dap.framing import BrokenStream, Decoder, encode
from relay.dap.lifecycle import Happening, IllegalTransition, Lifecycle, Phase

__all__ = [
    "BrokenStream",
    "Conversation",
    "Decoder",
    "Happening",
    "IllegalTransition",
    "IncomingEvent",
    "IncomingRequest",
    "Lifecycle",
    "Message",
    "Phase",
    "Response",
    "encode",
]
