"""The relay about itself, and the processes of this machine.

about      health, capabilities, settings, and the end of the server
doctor     whether everything is there that the relay needs, tried for real
log        the newest entries of the relay's own log
processes  Python processes that could be attached to
"""
