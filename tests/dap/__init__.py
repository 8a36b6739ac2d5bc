"""The protocol code, alone: bytes, transcripts, tables. Starts no process."""
