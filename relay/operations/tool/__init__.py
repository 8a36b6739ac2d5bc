"""The run-to-breakpoint tool API."""
