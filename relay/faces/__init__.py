"""Faces translate between the operations and one kind of client, and do nothing else."""
