"""Two runs of a program compared: each recorded call by call, then matched."""
