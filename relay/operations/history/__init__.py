"""Who wrote a value: the verb, and the second run that it takes."""
