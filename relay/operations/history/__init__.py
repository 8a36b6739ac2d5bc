"""Who wrote a value: the verb, and the second run that it takes.

history       the verb: from what was recorded, or from a second run
second_run    the same launch again, out of sight, up to the stop of the first
printed       what both runs have printed, compared
by_chance     what two runs have otherwise by chance: addresses, ids, names of temporary folders
recordings    `record` of a launch, as places that the inspector takes
history_text  the answer as text, within a budget
"""
