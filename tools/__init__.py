"""Programs that write files of this repository, and those that look at what is released."""
