"""The run-to-breakpoint tool API.

calls          its five calls
spoken_values  values in words that no language owns
"""
