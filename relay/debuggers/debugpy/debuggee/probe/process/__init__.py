"""The debuggee as a process: what runs under guard, its children and forks, its input, its end."""
