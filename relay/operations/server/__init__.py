"""The relay about itself, and the processes of this machine."""
