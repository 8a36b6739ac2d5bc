"""Debuggers that speak DAP and that `relay adapters` knows by name. Refuses to know sessions.

recipes        what config.json has to say of each
on_machine     which of them are here, and their versions
adapters_file  an entry of config.json, added and taken away byte for byte
"""
