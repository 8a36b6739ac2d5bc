"""The DAP face: editors in sessions that others have, too."""
