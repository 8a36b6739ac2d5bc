"""What threads and tasks wait for, found without a stop and without running the program's code."""
