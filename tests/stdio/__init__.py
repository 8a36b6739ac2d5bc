"""The line protocol: transcripts of whole conversations, and what comes in wrong."""
